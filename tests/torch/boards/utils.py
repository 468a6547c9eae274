# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""What the problems of this folder share, as a set of problems in GPU MODE's format has it."""
import torch


def differences(received, expected, rtol, atol):
    if received.shape != expected.shape:
        return [f"the shape is {tuple(received.shape)} and should be {tuple(expected.shape)}"]
    wrong = (received - expected).abs() > atol + rtol * expected.abs()
    return [f"{int(wrong.sum())} elements differ"] if bool(wrong.any()) else []


def make_match_reference(reference, rtol=1e-5, atol=1e-8):
    def check(data, output):
        return "; ".join(differences(output, reference(data), rtol, atol))

    return check


def random_numbers(*shape, generator):
    return torch.randn(*shape, device="cuda", dtype=torch.float32, generator=generator)
