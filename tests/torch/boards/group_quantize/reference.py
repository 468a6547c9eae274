# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
import torch
from utils import differences, random_numbers


def generate_input(rows, width, group, spread, rounding, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    x = random_numbers(rows, width, generator=generator) * spread
    return {"x": x, "scaled": torch.empty(rows, width, device="cuda"), "scales": torch.empty(rows, width // group, device="cuda"),
            "limit": 127}


def reference(data):
    x, scaled, scales, limit = data["x"], data["scaled"], data["scales"], data["limit"]
    grouped = x.to(torch.float32).reshape(x.shape[0], scales.shape[1], -1)
    scales[...] = grouped.abs().amax(-1) / limit
    scaled[...] = (grouped / scales.unsqueeze(-1)).reshape(x.shape)
    return scaled, scales


def check_implementation(data, output):
    expected = reference(data)
    told = [one for mine, theirs in zip(output, expected) for one in differences(mine, theirs, 1e-3, 1e-3)]
    return not told, " | ".join(told)
