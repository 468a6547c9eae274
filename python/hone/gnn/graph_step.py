# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Captures a training step of PyTorch in a CUDA graph, over batches of hone.gnn.pyg.NeighborLoader. See docs/pyg.md."""
from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

import torch
from torch import distributed

from hone.gnn import step_probe
from hone.gnn.envelopes import Envelope, PaddedBatch
from hone.gnn.step_probe import CannotCapture
from hone.gnn.torch.norm import BatchNorm

__all__ = ["CannotCapture", "GraphStep"]

_CAPTURABLE = (torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam, torch.optim.RAdam, torch.optim.Adamax, torch.optim.RMSprop)
_WARM_UP = 3  # steps before a capture, in which libraries allocate their workspaces


def _check_functions(model: Any, optimizer: Any, losses: Any, before_step: Any) -> None:
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model: expected a torch.nn.Module, found {type(model).__name__}")
    for kind in (torch.nn.parallel.DistributedDataParallel, torch.nn.DataParallel):
        if isinstance(model, kind):
            raise CannotCapture(f"model: {kind.__name__} reduces gradients by calls of its own, which a captured step cannot contain: give the module inside it, "
                                "model=model.module with the optimizer made from its parameters, and group=\"world\"")
    for name, given in (("losses", losses), ("before_step", before_step)):
        if not callable(given) and (name == "losses" or given is not None):
            raise TypeError(f"{name}: expected a function, found {type(given).__name__}")
    if isinstance(optimizer, torch.optim.Optimizer):
        moved = {id(one) for group in optimizer.param_groups for one in group["params"]}
        if not any(id(one) in moved for one in model.parameters()):
            raise ValueError("optimizer: expected one that moves the model's parameters, and it has none of them; make it from model.parameters(), "
                             "after the model is on its device")


def _check_optimizer(optimizer: Any, device: torch.device) -> None:
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"optimizer: expected a torch.optim.Optimizer, found {type(optimizer).__name__}")
    name = type(optimizer).__name__
    if isinstance(optimizer, torch.optim.SGD):
        if any(group["momentum"] and group["dampening"] for group in optimizer.param_groups):
            raise CannotCapture("optimizer: SGD with dampening treats its first step apart; take dampening=0")
        return
    if not isinstance(optimizer, _CAPTURABLE):
        raise CannotCapture(f"optimizer: {name} is not one whose step is known to be capturable; take one of "
                            f"{', '.join(kind.__name__ for kind in _CAPTURABLE)} with capturable=True, or SGD")
    if device.type == "cuda" and not all(group.get("capturable") for group in optimizer.param_groups):
        raise CannotCapture(f"optimizer: {name} counts its steps on the host; make it with capturable=True")


class _Ranks:
    """The processes that train one model together, each on its share of the seeds. `group` is a process group of torch.distributed, or None: this
    process trains alone."""

    def __init__(self, group: Any, model: torch.nn.Module):
        self._group, self._parameters = group, [one for one in model.parameters() if one.requires_grad]
        self.several = group is not None
        self.count = 1
        if group is None:
            return
        if distributed.get_rank(group) < 0:
            raise ValueError("group: this process is not in it")
        self.count = distributed.get_world_size(group)
        first = distributed.get_global_rank(group, 0)
        with torch.no_grad():
            for tensor in (*model.parameters(), *model.buffers()):
                distributed.broadcast(tensor.detach(), first, group=group)

    def average_gradients(self) -> None:
        """Replaces each gradient by its mean over the processes. A parameter without a gradient here has one of zeros."""
        if not self.several:
            return
        by_kind: dict[torch.dtype, list[torch.Tensor]] = {}
        for parameter in self._parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            by_kind.setdefault(parameter.grad.dtype, []).append(parameter.grad)
        for gradients in by_kind.values():
            whole = torch.cat([one.reshape(-1) for one in gradients])
            distributed.all_reduce(whole, group=self._group)
            whole.div_(self.count)
            torch._foreach_copy_(gradients, [part.view_as(one) for part, one in zip(whole.split([one.numel() for one in gradients]), gradients)])


def _group_of(given: Any) -> Any:
    """Returns the process group that the argument `group` stands for; None if the process trains alone."""
    if isinstance(given, str) and given == "alone":
        return None
    if given is None:
        # The name is bound when it is read, so a process would train alone without notice.
        raise ValueError("group: expected a process group, found None, which torch.distributed.group.WORLD is before init_process_group; call "
                         "torch.distributed.init_process_group(...) first and give group=\"world\", or leave group out to train alone")
    if not distributed.is_available() or not distributed.is_initialized():
        raise ValueError("group: torch.distributed has no processes yet; call torch.distributed.init_process_group(...) first")
    if isinstance(given, str):
        if given != "world":
            raise ValueError(f"group: expected a process group, \"world\" or \"alone\", found {given!r}")
        return distributed.group.WORLD
    return given


class _State:
    """Everything that a training step changes, saved so that it can be restored after the steps that a capture takes. `gradients` are those that
    several steps add up."""

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, gradients: Sequence[torch.Tensor]):
        self._optimizer = optimizer
        self._kept = [(tensor, tensor.detach().clone()) for tensor in (*model.parameters(), *model.buffers(), *self._of_optimizer(), *gradients)]

    def _of_optimizer(self) -> list[torch.Tensor]:
        return [value for state in self._optimizer.state.values() for value in state.values() if isinstance(value, torch.Tensor)]

    @torch.no_grad()
    def restore(self) -> None:
        for tensor, value in self._kept:
            tensor.copy_(value)
        known = {id(tensor) for tensor, _ in self._kept}
        for tensor in self._of_optimizer():
            if id(tensor) not in known:
                tensor.zero_()  # the state of an optimizer that has made no step


class _Bucket:
    """An envelope, its tensors, and the steps captured with them: one that updates the model, and with accumulation one that does not."""

    def __init__(self, envelope: Envelope):
        self.envelope = envelope
        self.padded: PaddedBatch | None = None
        self.graphs: dict[bool, Any] = {}  # by whether the step updates the model
        self.losses: dict[bool, torch.Tensor] = {}

    @property
    def graph(self) -> Any:
        """Returns the captured step that updates the model; None before its capture."""
        return self.graphs.get(True)


class GraphStep:
    """Trains a PyTorch model with its optimizer on batches of a loader on a GPU. Forward, loss, backward and optimizer are one CUDA graph, which is
    launched once per batch.

    A CUDA graph has fixed shapes. Batches are therefore padded, hop by hop, to the sizes of the smallest of a few envelopes that holds them. Each
    envelope's graph is captured when it is first needed. A batch that no envelope holds is trained on by the same step, unpadded and without a graph.

    model: torch.nn.Module on the loader's device, in the mode (`train()`) in which it is trained.
    optimizer: Adam, AdamW, NAdam, RAdam, Adamax or RMSprop with `capturable=True`, or SGD without dampening.
    loader: hone.gnn.pyg.NeighborLoader with device="cuda"; without transform, `disjoint` and subgraph_type="induced". With a loader on
        the CPU the same padded steps are made without a graph, which is useful to try a model out.
    losses: function of a batch that returns one loss for each of `batch.batch_size` seeds, float [batch_size]; the step minimizes the mean
        over the seeds that are not padding. The function calls the model. The batch has the attributes of the loader's batches;
        `num_sampled_nodes` and `num_sampled_edges` are the envelope's, as `trim_to_layer` takes them. `n_id` and all other
        values of a padded row are those of an earlier batch.
    before_step: called between backward and optimizer, inside the graph; clips gradients, for example.
    factors: sizes of the envelopes as multiples of the largest of `trials` batches, hop by hop.
    tolerance: allowed difference of loss and gradients between a padded batch and the batch as it is, relative to their size.
    accumulate: number of batches of an update. Their gradients are added up, each divided by this number, and `before_step` and the optimizer follow the
        last one, so that an update is that of one batch as many times as large. The count goes on from one epoch to the next. A parameter that no
        batch reaches has a gradient of zeros.
    group: process group of torch.distributed for data-parallel training, or "world" for all processes, after init_process_group; "alone" for none. Each process makes a GraphStep on
        a loader of its share of the seeds (docs/pyg.md); all must make the same number of steps. The first process's parameters and buffers are
        copied to the others when the steps are made. Between backward and `before_step`, in the graph, gradients become their mean over the
        processes. All envelopes are then captured at once. On a GPU the group's backend must be NCCL. Buffers, such as running means, stay each process's own.

    Iterating makes one step for each batch of an epoch, and yields the batch's mean loss, a tensor without dimensions on the device, for which the
    host does not wait. `steps` counts the batches, `updates` the optimizer's steps, and `uncaptured` the batches that had no graph.

    The constructor tries the step. CannotCapture names the operation and module that cannot be captured, or the module through which padded rows
    change the result, and a remedy. ValueError, TypeError: an argument is wrong, or `lr` or another number of the optimizer was changed after the
    capture (give the learning rate as a tensor on the device: schedulers then change it in place). Only steps change parameters, buffers and the
    optimizer's state. Not thread-safe.
    """

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, loader: Any, losses: Callable[[Any], torch.Tensor], *,
                 before_step: Callable[[], Any] | None = None, factors: Sequence[float] = (1.02, 1.25), trials: int = 8, tolerance: float = 1e-2,
                 accumulate: int = 1, group: Any = "alone"):
        self.model, self.optimizer, self.loader, self._losses, self._before_step = model, optimizer, loader, losses, before_step
        _check_functions(model, optimizer, losses, before_step)
        self._check_loader()
        if trials < 1 or not factors or sorted(factors) != list(factors) or factors[0] < 1:
            raise ValueError(f"factors, trials: expected rising factors of at least 1 and at least one trial, found {factors!r} and {trials!r}")
        if isinstance(accumulate, bool) or not isinstance(accumulate, int) or accumulate < 1:
            raise ValueError(f"accumulate: expected a number of batches of at least 1, found {accumulate!r}")
        group = _group_of(group)
        samples = self._samples(trials)
        first = samples[0]
        self.device = first.edge_index.device
        _check_optimizer(optimizer, self.device)
        for name, parameter in model.named_parameters():
            if parameter.device != self.device:
                raise ValueError(f"model: its parameter {name} is on {parameter.device}, and the loader's batches are on {self.device}")
        if group is not None and self.device.type == "cuda" and "nccl" not in distributed.get_backend(group):
            raise CannotCapture(f"group: its backend is {distributed.get_backend(group)}, whose work on a GPU cannot be captured; make it with backend='nccl'")
        self._ranks = _Ranks(group, model)
        data = loader.data
        keys = [key for key, value in first if isinstance(value, torch.Tensor) and key not in ("edge_index", "n_id", "e_id", "input_id")]
        self._node_keys = [key for key in keys if data.is_node_attr(key)]
        self._edge_keys = [key for key in keys if not data.is_node_attr(key) and data.is_edge_attr(key)]
        sizes = [(batch.num_sampled_nodes, batch.num_sampled_edges) for batch in samples]
        self._buckets = [_Bucket(Envelope.of(loader.batch_size, sizes, factor)) for factor in factors]
        self._numbers = self._numbers_of_optimizer()
        self._training = model.training
        self._masked = any(isinstance(module, BatchNorm) for module in model.modules())
        self._pool: Any = None
        self.steps = self.updates = self.uncaptured = 0
        self._accumulate = accumulate
        small = self._buckets[0]
        small.padded = self._padded(small, first)
        step_probe.check(model, losses, samples[-1], small.padded, tolerance)
        self._sums: list[torch.Tensor] = []  # the gradients that several batches add up, at the same place for all captured steps
        if accumulate > 1:
            for parameter in model.parameters():
                if parameter.requires_grad:
                    parameter.grad = torch.zeros_like(parameter)
                    self._sums.append(parameter.grad)
        if group is not None and self.device.type == "cuda":
            # A capture makes steps, in which the processes take part together. Later they may need different envelopes in the same step.
            for bucket in self._buckets:
                bucket.padded = bucket.padded or self._padded(bucket, first)
                bucket.padded.fill(first)
                for updates in (True, False)[: 1 if accumulate == 1 else 2]:
                    self._capture(bucket, updates)

    @property
    def envelopes(self) -> list[Envelope]:
        """Returns the sizes to which batches are padded, the smallest first."""
        return [bucket.envelope for bucket in self._buckets]

    def __iter__(self) -> Iterator[torch.Tensor]:
        for batch in self.loader:
            yield self.step(batch)

    def __len__(self) -> int:
        return len(self.loader)

    def step(self, batch: Any) -> torch.Tensor:
        """Makes a step on one of the loader's batches. Returns its mean loss, without waiting for the device."""
        self._check_unchanged()
        self.steps += 1
        updates = self.steps % self._accumulate == 0
        self.updates += updates
        for bucket in self._buckets:
            if not bucket.envelope.holds(batch):
                continue
            if bucket.padded is None:
                bucket.padded = self._padded(bucket, batch)
            bucket.padded.fill(batch)
            if self.device.type != "cuda":
                self.uncaptured += 1
                return self._work(bucket.padded.data, bucket.padded.seed_mask, updates)
            if updates not in bucket.graphs:
                self._capture(bucket, updates)
            bucket.graphs[updates].replay()
            return bucket.losses[updates].clone()
        self.uncaptured += 1
        return self._work(batch, torch.ones(batch.batch_size, dtype=torch.bool, device=self.device), updates)

    def _check_loader(self) -> None:
        loader = self.loader
        for name in ("data", "batch_size", "num_neighbors", "_input"):
            if not hasattr(loader, name):
                raise TypeError(f"loader: expected a hone.gnn.pyg.NeighborLoader, found {type(loader).__name__}")
        for name, there in (("transform", loader.transform is not None), ("disjoint=True", loader.disjoint), ("subgraph_type='induced'", loader._induced)):
            if there:
                raise NotImplementedError(f"loader: a loader with {name} has no batches of a fixed form; make one without")
        if loader._input.numel() == 0:
            raise ValueError("loader: it has no seeds")

    def _samples(self, trials: int) -> list[Any]:
        """Returns batches of seeds from the whole list; the last one is short, as an epoch's last batch may be."""
        seeds, size = self.loader._input.numel(), min(self.loader.batch_size, self.loader._input.numel())
        order = torch.randperm(seeds, generator=torch.Generator().manual_seed(0))
        found = [self.loader(order.roll(-i * size)[:size]) for i in range(trials)]
        return [*found, self.loader(order[: max(1, size * 3 // 4)])]

    def _padded(self, bucket: _Bucket, like: Any) -> PaddedBatch:
        return PaddedBatch(bucket.envelope, like, self._node_keys, self._edge_keys, self._masked)

    def _work(self, batch: Any, mask: torch.Tensor, updates: bool) -> torch.Tensor:
        if not self._sums:
            self.optimizer.zero_grad(set_to_none=True)
        loss = step_probe.mean_of(self._losses, batch, mask)
        (loss / self._accumulate if self._sums else loss).backward()
        if not updates:
            return loss.detach()
        self._ranks.average_gradients()
        if self._before_step is not None:
            self._before_step()
        self.optimizer.step()
        if self._sums:
            torch._foreach_zero_(self._sums)
        return loss.detach()

    def _capture(self, bucket: _Bucket, updates: bool) -> None:
        padded, state = bucket.padded, _State(self.model, self.optimizer, self._sums)
        graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream(self.device)
        try:
            # The random state is restored afterwards: no other code draws in here, and what a warm-up step draws must not change the run.
            with torch.random.fork_rng([self.device]):
                side.wait_stream(torch.cuda.current_stream(self.device))
                with torch.cuda.stream(side):
                    for _ in range(_WARM_UP):
                        self._work(padded.data, padded.seed_mask, updates)
                torch.cuda.current_stream(self.device).wait_stream(side)
            if not self._sums:
                self.optimizer.zero_grad(set_to_none=True)
            # NCCL's watchdog asks for events on a thread of its own, which must not end the capture.
            mode = "thread_local" if self._ranks.several else "global"
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode=mode):
                bucket.losses[updates] = self._work(padded.data, padded.seed_mask, updates)
        except RuntimeError as error:
            if isinstance(error, torch.cuda.OutOfMemoryError):
                raise
            raise CannotCapture(f"the step could not be captured in a CUDA graph: {error}. Backward and optimizer must not wait for the device either; "
                                "CUDA_LAUNCH_BLOCKING=1 and set_sync_debug_mode('error') on an uncaptured step show where they do") from error
        finally:
            state.restore()
        if self._pool is None:
            self._pool = graph.pool()
        bucket.graphs[updates] = graph

    def close(self) -> None:
        """Frees the captured steps; the next step on a GPU captures anew. With `group`, call this before destroy_process_group: NCCL may wait for
        graphs that hold its communicator."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        for bucket in self._buckets:
            bucket.graphs.clear()
            bucket.losses.clear()
        self._pool = None

    def _numbers_of_optimizer(self) -> list[dict[str, Any]]:
        return [{key: value for key, value in group.items() if key != "params" and not isinstance(value, torch.Tensor)}
                for group in self.optimizer.param_groups]

    def _check_unchanged(self) -> None:
        for found, kept in zip(self._numbers_of_optimizer(), self._numbers):
            for key, value in kept.items():
                if found.get(key, value) != value:
                    raise ValueError(f"optimizer: {key} was {value!r} when the step was captured and is {found[key]!r} now, which the captured step would not see; "
                                     + ("make it a tensor: lr=torch.tensor(0.01, device='cuda')" if key == "lr" else "make another GraphStep"))
        if self.model.training != self._training:
            raise ValueError(f"model: it was captured in {'train' if self._training else 'eval'}() mode and is in the other now: switch back before the next step")
