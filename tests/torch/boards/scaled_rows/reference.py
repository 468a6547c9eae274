# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
import torch
from task import input_t, output_t
from utils import make_match_reference, random_numbers


def generate_input(rows: int, width: int, seed: int) -> input_t:
    generator = torch.Generator(device="cuda")
    generator.manual_seed(seed)
    x, factors = random_numbers(rows, width, generator=generator).cuda(), random_numbers(rows, generator=generator).to("cuda") + 2
    return x, factors, torch.empty(rows, width, device="cuda")  # the last is memory that a submission may write to


def ref_kernel(data: input_t) -> output_t:
    x, factors, _ = data
    return x * factors[:, None]


check_implementation = make_match_reference(ref_kernel, rtol=1e-4, atol=1e-4)
