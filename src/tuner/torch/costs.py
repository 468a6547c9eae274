# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Says what each operator of a module costs at the file's sizes, and what fusing them could save. Stands behind problem.py and shapes.py in one script.

The module runs on PyTorch's meta device, so that costs are computed from shapes and not measured.
"""

MOST_COSTS = 8        # operators that a note names
WORTH_SAYING = 1.02   # a chain moves more bytes than its tensors have by at least this factor, or nothing is said of fusing it
VIEWS = {"detach", "view", "t", "transpose", "expand", "_unsafe_view", "reshape", "permute", "unsqueeze", "squeeze", "alias", "empty", "empty_like", "new_empty",
         "slice", "select", "split", "split_with_sizes", "unbind", "_reshape_alias", "as_strided", "chunk", "unfold", "diagonal", "empty_strided", "narrow"}


def costs_of(problem):
    """Returns ([(operator, bytes that it reads and writes, flops of products and convolutions)], bytes of the module's inputs, weights and outputs), in the
    order in which forward first calls them. Equal operators are added up."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils.flop_counter import flop_registry

    def size(*nests):
        leaves = {id(one): one for one in torch.utils._pytree.tree_leaves(nests) if torch.is_tensor(one)}
        # An expanded tensor has fewer elements in memory than its shape says.
        return sum(min(one.numel() * one.element_size(), one.untyped_storage().nbytes()) for one in leaves.values())

    found = {}

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, arguments=(), keywords=None):
            keywords = keywords or {}
            made = function(*arguments, **keywords)
            name = function.__name__.split(".")[0]
            if name not in VIEWS:
                one = found.setdefault(name, [0, 0, 0])
                one[0] += 1
                one[1] += size(made) + size(arguments, keywords)
                if function._overloadpacket in flop_registry:
                    one[2] += flop_registry[function._overloadpacket](*arguments, **keywords, out_val=made)
            return made

    with torch.device("meta"), torch.no_grad():
        cheap = CheapShapes("meta")
        with cheap:
            norm, torch.nn.functional.batch_norm = torch.nn.functional.batch_norm, cheap.norm  # it is an operator here, and costs something
            try:
                model, names = problem.build(problem.sizes)
                inputs = inputs_of(names)
                with Watch():
                    outputs = outputs_of(model(*inputs))
            finally:
                torch.nn.functional.batch_norm = norm
    own = size(inputs, outputs, list(state_of(model).values()))
    return [(name if count == 1 else f"{name} (x{count})", moved, flops) for name, (count, moved, flops) in found.items()], own


def quantity(number, unit):
    """Returns a number with three digits and a unit: 134 MB."""
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= factor:
            return f"{number / factor:.3g} {prefix}{unit}"
    return f"{number:.3g} {unit}"


def cost_notes(problem):
    """Returns the notes about the costs of a module's operators; []: the meta device does not say."""
    try:
        costs, own = costs_of(problem)
    except Exception:  # an operator that looks at values
        return []
    total = sum(moved for _, moved, _ in costs)
    if not costs:
        return []
    most = sorted(costs, key=lambda one: -one[1])[:MOST_COSTS]
    told = ", ".join(f"{name} {quantity(moved, 'B')}" + (f" and {quantity(flops, 'FLOP')}" if flops else "") for name, moved, flops in costs if (name, moved, flops) in most)
    more = f", {len(costs) - len(most)} others {quantity(total - sum(moved for _, moved, _ in most), 'B')}" if len(costs) > len(most) else ""
    notes = [f"what forward's operators read and write at the file's sizes, each by itself (computed): {told}{more}"]
    if total > WORTH_SAYING * own:
        notes.append(f"they move {quantity(total, 'B')}, and the module's inputs, weights and outputs have {quantity(own, 'B')}: what they hand to one another is the "
                     "rest, which a fused kernel need not move")
    return notes


