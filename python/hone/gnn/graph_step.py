# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Captures a training step of PyTorch in a CUDA graph, over batches of hone.gnn.pyg.NeighborLoader. See docs/pyg.md."""
from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator, Sequence

try:
    import torch
    from torch import distributed
except ImportError as error:
    raise ImportError(f"hone.gnn.graph_step needs torch, which is installed apart from Hone ({error}): pip install torch torch_geometric", name=error.name) from error

from hone.gnn import step_probe
from hone.gnn.envelopes import Envelope, PaddedBatch
from hone.gnn.step_probe import CannotCapture
from hone.gnn.torch.norm import BatchNorm

__all__ = ["CannotCapture", "GraphStep"]

_CAPTURABLE = (torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam, torch.optim.RAdam, torch.optim.Adamax, torch.optim.RMSprop)
_WARM_UP = 3  # calls before a capture, in which libraries allocate their workspaces
_ALIGNED = 64  # elements: each gradient begins at a multiple of them in the tensor that it is a part of


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
    """Raises an error if the optimizer cannot make a step that is captured; on the CPU, if it cannot make one at all."""
    if isinstance(optimizer, step_probe.SCALER):
        raise CannotCapture(f"optimizer: {step_probe.GRAD_SCALER}")
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
    if device.type == "cpu" and any(group.get("capturable") for group in optimizer.param_groups):
        raise ValueError(f"optimizer: {name} with capturable=True steps on a GPU only, and the loader's batches are on the CPU; make it with capturable=False, "
                         "or the loader with device='cuda'")
    if device.type == "cuda" and not all(group.get("capturable") for group in optimizer.param_groups):
        raise CannotCapture(f"optimizer: {name} counts its steps on the host; make it with capturable=True")


def _check_numbers(factors: Any, trials: Any, tolerance: Any) -> list[float]:
    """Returns the factors as a list."""
    try:
        rising = [float(factor) for factor in factors]
    except (TypeError, ValueError) as error:
        raise TypeError(f"factors: expected rising factors of at least 1, found {factors!r}") from error
    if not rising or sorted(rising) != rising or not rising[0] >= 1:
        raise ValueError(f"factors: expected rising factors of at least 1, found {factors!r}")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise ValueError(f"trials: expected a number of batches of at least 1, found {trials!r}")
    if not isinstance(tolerance, (int, float)) or not tolerance > 0:
        raise ValueError(f"tolerance: expected a number above 0, found {tolerance!r}")
    return rising


class _Gradients:
    """Gradients of a model's parameters that keep their memory from step to step: parts of one tensor for each dtype, to which backward adds."""

    def __init__(self, model: torch.nn.Module):
        by_kind: dict[torch.dtype, list[torch.nn.Parameter]] = {}
        for parameter in model.parameters():
            if parameter.requires_grad:
                by_kind.setdefault(parameter.dtype, []).append(parameter)
        self.whole: list[torch.Tensor] = []
        self._parts: list[tuple[torch.nn.Parameter, torch.Tensor]] = []
        for dtype, parameters in by_kind.items():
            sizes = [-(-one.numel() // _ALIGNED) * _ALIGNED for one in parameters]
            self.whole.append(torch.zeros(sum(sizes), dtype=dtype, device=parameters[0].device))
            self._parts += [(one, part[: one.numel()].view(one.shape)) for one, part in zip(parameters, self.whole[-1].split(sizes))]

    def attach(self) -> None:
        """Makes these the parameters' gradients, also where zero_grad() has replaced them."""
        for parameter, part in self._parts:
            parameter.grad = part

    def zero(self) -> None:
        torch._foreach_zero_(self.whole)


class _Ranks:
    """The processes that train one model together, each on its share of the seeds. `group` is a process group of torch.distributed, or None: this
    process trains alone."""

    def __init__(self, group: Any, model: torch.nn.Module):
        self._group, self._model = group, model
        self.several = group is not None
        self.count = 1
        if group is None:
            return
        try:
            rank = distributed.get_rank(group)
        except Exception as error:
            raise TypeError(f"group: expected a process group, \"world\" or \"alone\", found {group!r:.60} ({error})") from error
        if rank < 0:
            raise ValueError("group: this process is not in it")
        self.count = distributed.get_world_size(group)

    def _gather(self, numbers: Sequence[int]) -> list[list[int]]:
        """Returns the numbers of every process. All processes must call it."""
        device = next(self._model.parameters()).device
        numbers_of_ranks = [torch.zeros(len(numbers), dtype=torch.int64, device=device) for _ in range(self.count)]
        distributed.all_gather(numbers_of_ranks, torch.tensor(numbers, dtype=torch.int64, device=device), group=self._group)
        return [one.tolist() for one in numbers_of_ranks]

    def fail(self) -> None:
        """Tells the processes that wait in `begin` that this one has no step."""
        if self.several:
            with contextlib.suppress(Exception):  # the error that this process has is what its user needs to see
                self._gather([-1, 0, 0])

    @torch.no_grad()
    def begin(self, batches: int, accumulate: int) -> list[int]:
        """Copies the first process's parameters and buffers to the others. Returns the number of batches of an epoch in every process.

        RuntimeError: another process called `fail`. ValueError: the processes would wait for each other later.
        """
        if not self.several:
            return [batches]
        own_numbers = [batches, accumulate, sum(one.numel() for one in self._model.parameters())]
        all_numbers = self._gather(own_numbers)
        for number, theirs in enumerate(all_numbers):
            if theirs[0] < 0:
                raise RuntimeError(f"group: process {number} of the group could not make its GraphStep; its own error says why")
            for what, own, other in (("accumulate: it", own_numbers[1], theirs[1]), ("model: its number of parameters", own_numbers[2], theirs[2])):
                if own != other:
                    raise ValueError(f"{what} is {own} here and {other} in process {number} of the group; expected the same in all")
        first = distributed.get_global_rank(self._group, 0)
        for tensor in (*self._model.parameters(), *self._model.buffers()):
            distributed.broadcast(tensor.detach(), first, group=self._group)
        return [theirs[0] for theirs in all_numbers]

    def add_up(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replaces each tensor by its sum over the processes. Never captured: NCCL demands that all processes launch a captured all-reduce by graphs of
        one capture, and they may have different envelopes in the same step. NCCL would also end no group whose work a graph holds."""
        for tensor in tensors:
            distributed.all_reduce(tensor, group=self._group)


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
    """Everything that a training step changes, saved so that it can be restored after the calls that a capture takes. `gradients` are those that
    keep their memory."""

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, gradients: Sequence[torch.Tensor]):
        self._optimizer = optimizer
        state = [tensor for _, tensor in self._of_optimizer()]
        self._kept = [(tensor, tensor.detach().clone()) for tensor in (*model.parameters(), *model.buffers(), *state, *gradients)]

    def _of_optimizer(self) -> list[tuple[str, torch.Tensor]]:
        return [(key, value) for state in self._optimizer.state.values() for key, value in state.items() if isinstance(value, torch.Tensor)]

    @torch.no_grad()
    def restore(self) -> None:
        for tensor, value in self._kept:
            tensor.copy_(value)
        known_ids = {id(tensor) for tensor, _ in self._kept}
        for key, tensor in self._of_optimizer():
            if id(tensor) not in known_ids:
                tensor.fill_(key == "mu_product")  # the state of an optimizer that has made no step: zeros, but for NAdam's product


def _can_capture(device: torch.device) -> bool:
    return device.type == "cuda"


class _Graph:
    """A call captured in a CUDA graph, after a few calls outside. `result` is what the captured call returned; a launch writes it anew."""

    def __init__(self, call: Callable[[], Any], device: torch.device, pool: Any, mode: str):
        self._graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream(device)
        # The random state is restored afterwards: no other code draws in here, and what the first calls draw must not change the run.
        with torch.random.fork_rng([device]):
            side.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(side):
                for _ in range(_WARM_UP):
                    call()
            torch.cuda.current_stream(device).wait_stream(side)
        with torch.cuda.graph(self._graph, pool=pool, capture_error_mode=mode):
            self.result = call()
        self.pool = self._graph.pool()

    def replay(self) -> None:
        """Launches the graph on the current stream."""
        self._graph.replay()


class _Bucket:
    """An envelope, its tensors, and the graph of a step with them."""

    def __init__(self, envelope: Envelope):
        self.envelope = envelope
        self.padded: PaddedBatch | None = None
        self.graph: _Graph | None = None


class GraphStep:
    """Trains a PyTorch model with its optimizer on batches of a loader on a GPU. Forward, loss, backward and optimizer are one CUDA graph, which is
    launched once per batch. With `accumulate` or `group` they are two graphs: the optimizer has its own.

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
    group: process group of torch.distributed for data-parallel training, or "world" for all processes, after init_process_group; "alone" for none.
        Each process makes a GraphStep on a loader of its share of the seeds (docs/pyg.md); all must make the same number of steps. The first process's
        parameters and buffers are copied to the others when the steps are made. Before `before_step`, gradients become their mean over the
        processes, by an all-reduce between the two graphs. Buffers, such as running means, stay each process's own.

    Iterating makes one step for each batch of an epoch, and yields the batch's mean loss, a tensor without dimensions on the device, for which the
    host does not wait. `steps` counts the batches, `updates` the optimizer's steps, and `uncaptured` the batches that had no graph.

    The constructor tries the step. CannotCapture names the operation and module that cannot be captured, or the module through which padded rows
    change the result, and a remedy. ValueError, TypeError: an argument is wrong, or `lr` or another number of the optimizer was changed after the
    capture (give the learning rate as a tensor on the device: schedulers then change it in place). Only steps change parameters, buffers and the
    optimizer's state. With `group`, the constructor raises ValueError or RuntimeError in all processes if one of them cannot make its steps, and
    iterating raises ValueError if their epochs have different numbers of batches. Not thread-safe.
    """

    def __init__(self, model: torch.nn.Module, optimizer: torch.optim.Optimizer, loader: Any, losses: Callable[[Any], torch.Tensor], *,
                 before_step: Callable[[], Any] | None = None, factors: Sequence[float] = (1.02, 1.25), trials: int = 8, tolerance: float = 1e-2,
                 accumulate: int = 1, group: Any = "alone"):
        self.model, self.optimizer, self.loader, self._losses, self._before_step = model, optimizer, loader, losses, before_step
        self._ranks = _Ranks(_group_of(group), model)
        try:
            _check_functions(model, optimizer, losses, before_step)
            self._check_loader()
            factors = _check_numbers(factors, trials, tolerance)
            if isinstance(accumulate, bool) or not isinstance(accumulate, int) or accumulate < 1:
                raise ValueError(f"accumulate: expected a number of batches of at least 1, found {accumulate!r}")
            self._prepare(factors, trials, tolerance, accumulate)
        except Exception:
            self._ranks.fail()
            raise
        self._batches = self._ranks.begin(len(loader), accumulate)

    @property
    def envelopes(self) -> list[Envelope]:
        """Returns the sizes to which batches are padded, the smallest first."""
        return [bucket.envelope for bucket in self._buckets]

    def __iter__(self) -> Iterator[torch.Tensor]:
        if len(set(self._batches)) > 1:
            raise ValueError(f"loader: its epoch has {', '.join(map(str, self._batches))} batches in the processes of the group, which would wait for each other; "
                             "give every process the same number of seeds (docs/pyg.md, \"In data-parallel training\")")
        for batch in self.loader:
            yield self.step(batch)

    def __len__(self) -> int:
        return len(self.loader)

    def step(self, batch: Any) -> torch.Tensor:
        """Makes a step on one of the loader's batches. Returns its mean loss, without waiting for the device."""
        self._check_unchanged()
        hops = len(self._buckets[0].envelope.edges)
        if len(getattr(batch, "num_sampled_edges", None) or ()) != hops:
            raise TypeError(f"batch: expected a batch of the loader, with the edges of {hops} hops in num_sampled_edges, found {batch!r:.200}")
        self.steps += 1
        bucket = next((candidate for candidate in self._buckets if candidate.envelope.holds(batch)), None)  # the smallest that holds it
        if bucket is not None:
            if bucket.padded is None:
                bucket.padded = self._padded(bucket, batch)
            bucket.padded.fill(batch)
        if bucket is None or not self._captures:
            self.uncaptured += 1
            mask = torch.ones(batch.batch_size, dtype=torch.bool, device=self.device) if bucket is None else bucket.padded.seed_mask
            loss = self._work(batch if bucket is None else bucket.padded.data, mask)
        else:
            if bucket.graph is None:
                bucket.graph = self._capture_step(bucket)
            bucket.graph.replay()
            loss = bucket.graph.result.clone()
        if self.steps % self._accumulate == 0:
            self.updates += 1
            if self._gradients is not None:
                self._update()
        return loss

    def _prepare(self, factors: Sequence[float], trials: int, tolerance: float, accumulate: int) -> None:
        """Tries the step on a few batches, and makes what the steps use."""
        model, loader = self.model, self.loader
        samples = self._samples(trials)
        first = samples[0]
        self.device = first.edge_index.device
        self._captures = _can_capture(self.device)
        _check_optimizer(self.optimizer, self.device)
        for name, parameter in model.named_parameters():
            if parameter.device != self.device:
                raise ValueError(f"model: its parameter {name} is on {parameter.device}, and the loader's batches are on {self.device}")
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
        step_probe.check(model, self._losses, samples[-1], small.padded, tolerance)
        # Where other work comes between backward and the optimizer, each has a graph, and gradients keep their place.
        self._gradients = _Gradients(model) if accumulate > 1 or self._ranks.several else None
        self._update_graph: _Graph | None = None
        if self._ranks.several and self._captures:
            # A step that cannot be captured must fail here, where the other processes are told.
            small.padded.fill(first)
            small.graph = self._capture_step(small)
            self._update_graph = self._capture(self._move)

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
        trial_loaders = [self.loader(order.roll(-i * size)[:size]) for i in range(trials)]
        return [*trial_loaders, self.loader(order[: max(1, size * 3 // 4)])]

    def _padded(self, bucket: _Bucket, like: Any) -> PaddedBatch:
        return PaddedBatch(bucket.envelope, like, self._node_keys, self._edge_keys, self._masked)

    def _work(self, batch: Any, mask: torch.Tensor) -> torch.Tensor:
        """Computes the loss, which it returns, and the gradients. Moves the parameters too, unless other work comes in between."""
        if self._gradients is None:
            self.optimizer.zero_grad(set_to_none=True)
        else:
            self._gradients.attach()
        loss = step_probe.mean_of(self._losses, batch, mask)
        (loss / self._accumulate if self._accumulate > 1 else loss).backward()
        if self._gradients is None:
            self._move()
        return loss.detach()

    def _move(self) -> None:
        """Moves the parameters by their gradients."""
        if self._ranks.several:
            torch._foreach_div_(self._gradients.whole, self._ranks.count)
        if self._before_step is not None:
            self._before_step()
        self.optimizer.step()
        if self._gradients is not None:
            self._gradients.zero()

    def _update(self) -> None:
        """Moves the parameters by the gradients that the last steps added up, of all processes."""
        if self._ranks.several:
            self._ranks.add_up(self._gradients.whole)
        if not self._captures:
            self._move()
            return
        if self._update_graph is None:
            self._update_graph = self._capture(self._move)
        self._update_graph.replay()

    def _capture_step(self, bucket: _Bucket) -> _Graph:
        return self._capture(lambda: self._work(bucket.padded.data, bucket.padded.seed_mask))

    def _capture(self, call: Callable[[], Any]) -> _Graph:
        state = _State(self.model, self.optimizer, [] if self._gradients is None else self._gradients.whole)
        try:
            # NCCL's watchdog asks for events on a thread of its own, which must not end the capture.
            graph = _Graph(call, self.device, self._pool, "thread_local" if self._ranks.several else "global")
        except RuntimeError as error:
            if isinstance(error, torch.cuda.OutOfMemoryError):
                raise
            raise CannotCapture(f"the step could not be captured in a CUDA graph: {error}. Backward and optimizer must not wait for the device either; "
                                "CUDA_LAUNCH_BLOCKING=1 and set_sync_debug_mode('error') on an uncaptured step show where they do") from error
        finally:
            state.restore()
        self._pool = self._pool or graph.pool
        return graph

    def _numbers_of_optimizer(self) -> list[dict[str, Any]]:
        return [{key: value for key, value in group.items() if key != "params" and not isinstance(value, torch.Tensor)}
                for group in self.optimizer.param_groups]

    def _check_unchanged(self) -> None:
        for current, captured in zip(self._numbers_of_optimizer(), self._numbers):
            for key, value in captured.items():
                if current.get(key, value) != value:
                    raise ValueError(f"optimizer: {key} was {value!r} when the step was captured and is {current[key]!r} now, which the captured step would not see; "
                                     + ("make it a tensor: lr=torch.tensor(0.01, device='cuda')" if key == "lr" else "make another GraphStep"))
        if self.model.training != self._training:
            raise ValueError(f"model: it was captured in {'train' if self._training else 'eval'}() mode and is in the other now: switch back before the next step")
