# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Draws a module's constant weights. The referee and the stages have this file in their scripts, and draw the same numbers.

A module sets some weights to one number, such as the ones of a normalization. A submission that leaves such a weight out would be
right with the weights that both classes are made with. So these weights are drawn near that number, as the task draws them for
kernels, if the submission's parameters and buffers have the names and shapes of the module's.

`plan` below is {name: {"shape", "draw"}} for all parameters and buffers that are tensors of the task. "draw" says how the task draws
it, as in drawn_inputs.h; it is None if forward changes the tensor (running statistics) or if it holds no floating-point numbers.
"""
import zlib


def constant_of(tensor):
    """Returns the number that all elements of a floating-point tensor are, as a float; None: they differ, or it is another tensor."""
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return None
    flat = tensor.detach().flatten()
    first = flat[:1]
    if not bool((flat[:64] == first).all()) or not bool((flat == first).all()):  # most weights differ in their first elements
        return None
    return first.item()


def named_alike(model, plan):
    """Returns whether the module's parameters and buffers have the plan's names and shapes. Counters of calls do not count."""
    state = {name: tensor for name, tensor in state_of(model).items() if not counter(name, tensor)}
    return state.keys() == plan.keys() and all(list(tensor.shape) == plan[name]["shape"] for name, tensor in state.items())


def draw_constants(state, plan, seed):
    """Returns {name: tensor on the CPU}: new values for the constant tensors of `state` that the plan says how to draw.

    The values of a tensor depend on `seed`, its name and the plan alone, so that every process draws the same.
    """
    import torch
    drawn = {}
    for name, tensor in state.items():
        spec = plan.get(name, {}).get("draw")
        if spec is None or constant_of(tensor) is None:
            continue
        generator = torch.Generator().manual_seed((seed << 32) + zlib.crc32(name.encode()))
        shape, dtype = spec["shape"], getattr(torch, spec["dtype"])
        if spec["distribution"] == "uniform":
            values = torch.rand(shape, generator=generator) * (spec["high"] - spec["low"]) + spec["low"]
        elif spec["distribution"] == "normal":
            values = torch.randn(shape, generator=generator) * spec["scale"] + spec["offset"]
        else:
            continue
        drawn[name] = values.to(dtype)
    return drawn


def redraw(model, plan, seed):
    """Gives the module drawn values for its constant weights. Returns whether its names and shapes are the plan's; if not, nothing changes.

    load_state_dict() does it where it can, so that a module's own hooks see it.
    """
    import torch
    if not named_alike(model, plan):
        return False
    state = state_of(model)
    drawn = draw_constants(state, plan, seed)
    if drawn:
        model.load_state_dict(drawn, strict=False)
        with torch.no_grad():
            for name, values in drawn.items():  # also buffers that are no part of state_dict()
                state[name].copy_(values)
    return True


