# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tries a training step before it is captured: do padded rows change its result, and must the host wait in it? Needs torch, but no GPU.
"""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from hone.gnn.envelopes import PaddedBatch
from hone.gnn.torch.edges import unchecked_ranges


class CannotCapture(RuntimeError):
    """The step cannot be captured, or would not give the same result when it is. The message says what to change."""


# Operations with a result whose size only the device knows, or whose result goes to the host.
_WAITING = {
    "aten::_local_scalar_dense": "it gives a number to the host (.item(), float(), bool(), if)",
    "aten::nonzero": "the size of its result is known to the device alone",
    "aten::masked_select": "the size of its result is known to the device alone",
    "aten::_unique2": "the size of its result is known to the device alone",
    "aten::unique_consecutive": "the size of its result is known to the device alone",
    "aten::unique_dim": "the size of its result is known to the device alone",
    "aten::repeat_interleave": "the size of its result is known to the device alone",
    "aten::bincount": "the size of its result is known to the device alone",
}
_SELF_LOOPS = ("APPNP", "GATConv", "GATv2Conv", "GCN2Conv", "GCNConv", "SGConv", "SSGConv", "SuperGATConv")


def _takes_a_mask(arguments: tuple) -> bool:
    indices = arguments[1] if len(arguments) > 1 else ()
    return any(isinstance(index, torch.Tensor) and index.dtype in (torch.bool, torch.uint8) for index in indices)


class _Watch(TorchDispatchMode):
    """Finds the first operation that cannot be captured, and the module that calls it."""

    def __init__(self, running: list[str], device: torch.device):
        super().__init__()
        self.running, self.device, self.found = running, device, None

    def __torch_dispatch__(self, operation: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        if self.found is None:
            name = operation._schema.name
            if name in ("aten::index", "aten::index_put_", "aten::_index_put_impl_"):
                # A masked assignment of a single number is dispatched as a masked_fill, which can be captured.
                why = "it selects by a mask, and how many it selects is known to the device alone" if _takes_a_mask(args) else None
            elif name == "aten::repeat_interleave" and kwargs.get("output_size") is not None:
                why = None
            elif name in ("aten::_to_copy", "aten::copy_") and self.device.type == "cuda":
                source = args[1] if name == "aten::copy_" else args[0]
                target_device = args[0].device if name == "aten::copy_" else torch.device(kwargs.get("device") or source.device)
                why = "it copies between the host and the GPU" if source.device.type != target_device.type else None
            else:
                why = _WAITING.get(name)
            if why is not None:
                self.found = name.replace("aten::", ""), list(self.running), why
        return operation(*args, **kwargs)


SCALER = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler  # the first since PyTorch 2.3
GRAD_SCALER = ("GradScaler decides on the host whether a step is made, which cannot be captured: leave it out and take bfloat16 "
               "(torch.autocast(\"cuda\", torch.bfloat16)), which needs none")


def _refuse_scaler(*_: Any, **__: Any) -> None:
    raise CannotCapture(f"losses: {GRAD_SCALER}")


@contextlib.contextmanager
def _named(model: torch.nn.Module, after: Callable[[str, Any], None] | None = None) -> Iterator[list[str]]:
    """Yields a list of the names of the model's modules that are running, the innermost last."""
    running: list[str] = []
    handles = []
    for path, module in model.named_modules():
        name = f"{path or 'the model'} ({type(module).__name__})"

        def enter(_m: Any, _i: Any, name: str = name) -> None:
            running.append(name)

        def leave(_m: Any, _i: Any, out: Any, name: str = name) -> None:
            if running:
                running.pop()
            if after is not None:
                after(name, out)

        handles += [module.register_forward_pre_hook(enter), module.register_forward_hook(leave)]
    try:
        yield running
    finally:
        for handle in handles:
            handle.remove()


@contextlib.contextmanager
def _unchanged(model: torch.nn.Module, device: torch.device) -> Iterator[None]:
    """Restores buffers (such as running statistics) and the random state afterwards. Meanwhile dropout does nothing, because what it drops depends on
    the number of rows."""
    buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]

    def kept(input: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        return input

    patches = [mock.patch.object(torch.nn.functional, name, kept) for name in ("dropout", "dropout1d", "alpha_dropout", "feature_alpha_dropout")]
    with torch.random.fork_rng([device] if device.type == "cuda" else []), contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        try:
            yield
        finally:
            with torch.no_grad():
                for buffer, value in buffers:
                    buffer.copy_(value)


def _gradients(losses: Callable[[Any], torch.Tensor], batch: Any, mask: torch.Tensor, parameters: list[torch.Tensor]) -> list[torch.Tensor]:
    loss = mean_of(losses, batch, mask)
    gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
    return [loss.detach(), *(torch.zeros_like(one) if gradient is None else gradient for one, gradient in zip(parameters, gradients))]


def mean_of(losses: Callable[[Any], torch.Tensor], batch: Any, mask: torch.Tensor) -> torch.Tensor:
    """Returns the mean loss over the seeds that the mask [batch_size] marks."""
    each = losses(batch)
    if not isinstance(each, torch.Tensor) or each.dim() == 0 or each.size(0) != mask.numel():
        found_type = f"shape {tuple(each.shape)}" if isinstance(each, torch.Tensor) else type(each).__name__
        raise ValueError(f"losses: expected a tensor with one loss for each of the {mask.numel()} seeds (reduction='none'), found {found_type}")
    if torch.is_grad_enabled() and not each.requires_grad:
        raise ValueError("losses: expected losses that depend on the model's parameters, found a tensor without a gradient (detach(), no_grad(), or "
                         "another model's result)")
    each = each.reshape(mask.numel(), -1).mean(1)
    return torch.where(mask, each, torch.zeros_like(each)).sum() / mask.sum()


def _distance(ours: list[torch.Tensor], theirs: list[torch.Tensor]) -> float:
    """Returns the largest relative distance. A gradient that is almost zero beside the others is compared relative to the others."""
    norms = [tensor.double().norm() for tensor in theirs]
    smallest_norm = 1e-4 * max(float(norm) for norm in norms)
    largest = 0.0
    for our, their, norm in zip(ours, theirs, norms):
        distance = float((our.double() - their.double()).norm()) / max(float(norm), smallest_norm, 1e-30)
        largest = max(largest, distance) if distance == distance else float("inf")  # NaN, which equals nothing, is the worst
    return largest


def check(model: torch.nn.Module, losses: Callable[[Any], torch.Tensor], batch: Any, padded: PaddedBatch, tolerance: float) -> None:
    """Raises CannotCapture if the step cannot be captured; otherwise changes nothing.

    batch: one that the envelope of `padded` holds. Loss and gradients of the batch as it is are compared with those of the padded batch. Its padded
    rows are filled with two kinds of garbage, one above and one below the batch's values.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    if not parameters:
        raise ValueError("model: none of its parameters requires a gradient")
    device = padded.device
    all_seeds = torch.ones(batch.batch_size, dtype=torch.bool, device=device)
    padded.fill(batch)
    padded.mark_nodes(batch)
    outputs: list[list[tuple[str, torch.Tensor, torch.Tensor]]] = []

    def keep(name: str, out: Any) -> None:
        """Keeps a random projection of those rows of the output that belong to nodes, and their norm. 12.9898 spreads the factors."""
        if isinstance(out, torch.Tensor) and out.dim() > 0 and out.size(0) in prefixes:
            rows = out.detach()[padded.node_mask[: out.size(0)]].double().flatten()
            outputs[-1].append((name, rows @ torch.arange(rows.numel(), device=device).mul(12.9898).sin().double(), rows.norm()))

    # Numbers of rows that a node-level tensor may have, trimmed to some hops or not.
    prefixes = {sum(padded.envelope.nodes[: i + 1]) for i in range(len(padded.envelope.nodes))} | {padded.batch_size}
    with _unchanged(model, device):
        with unchecked_ranges(), mock.patch.object(SCALER, "scale", _refuse_scaler), _named(model) as running, _Watch(running, device) as watch:
            loss = mean_of(losses, padded.data, padded.seed_mask)
        del loss
        if watch.found is not None:
            operation, where, why = watch.found
            place = where[-1] if where else "the function `losses`"
            remedy = "compute it without the host, or leave it out of the step"
            if any(f"({kind})" in one for one in where for kind in _SELF_LOOPS):
                remedy = "its layer replaces self-loops in every step: give add_self_loops=False, and add self-loops to the graph once"
            raise CannotCapture(f"{place} calls {operation}, which cannot be captured in a CUDA graph: {why}; {remedy}")
        unpadded = _gradients(losses, batch, all_seeds, parameters)
        losses_by_sign = []
        for sign in (1, -1):
            padded.spoil(batch, sign)
            outputs.append([])
            with _named(model, keep):
                losses_by_sign.append(_gradients(losses, padded.data, padded.seed_mask, parameters))
    worst = max(_distance(gradients, unpadded) for gradients in losses_by_sign)
    if worst <= tolerance:
        return
    with _unchanged(model, device):
        again = [_gradients(losses, padded.data, padded.seed_mask, parameters) for _ in range(2)]
    drawn = _distance(*again)
    if not drawn <= tolerance:
        raise CannotCapture(f"the step gives another result for the same batch, so that it cannot be tried: loss or gradients differ by {drawn:.2g} of their size from call to "
                            f"call, where {tolerance:.2g} is taken; the model or `losses` draws random numbers besides the dropout of torch.nn, which the trial leaves out; "
                            "take torch.nn.functional.dropout, or draw them before the step as an attribute of `data`")
    guilty = None
    # The first module whose output for the batch's own nodes depends on the garbage in the padded rows.
    for (name, with_high, norm), (_, with_low, _) in zip(*outputs):
        if not float((with_high - with_low).abs()) <= tolerance * max(float(norm), 1e-30):  # "not <=": NaN is guilty too
            guilty = name
            break
    where = f"{guilty} mixes rows of a batch" if guilty else "the model or its loss depends on how many rows a batch has"
    remedy = ("take a layer that treats rows one by one (LayerNorm) or knows padded rows (hone.gnn.torch.BatchNorm, called with the batch: norm(x, batch)), or leave GraphStep out" if guilty
              else "give one loss for each seed that depends on its own neighbors alone, or leave GraphStep out")
    raise CannotCapture(f"padded rows change the result: loss or gradients differ by {worst:.2g} of their size, where {tolerance:.2g} is taken; "
                        f"{where}; {remedy}")
