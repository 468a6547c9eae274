# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a first candidate for convolutions, products, reductions and elementwise operators on tensors of any shape. Stands behind seed.py and
reduce_seed.py in one script.

forward's operators are recorded while it runs. Convolutions and matrix products become [[call]] entries of a launch plan. The elementwise
operators between them become kernels with one thread per element, which broadcast tensors as PyTorch does, or a part of the kernel
of a reduction that reads them (reduce_seed.py). If forward calls any other operator, there is no seed. The text has the same
placeholders as seed.py's.
"""


class Element:
    """A tensor of the trace. `texts`: its extents as expressions over the file's sizes; `place`: the name of the plan's tensor that
    holds its elements; None: they have not been written."""

    def __init__(self, op, arguments, texts, place=None, extra=None):
        self.op, self.arguments, self.texts, self.place, self.extra = op, arguments, list(texts), place, extra

    def count(self):
        """Returns the number of elements as an expression."""
        return product(*[text for text in self.texts if text != "1"])


def shifted(text, by):
    """Returns the expression `text` plus a number, which is merged with a number at the end of the text."""
    found = re.fullmatch(r"(\w+) ([+-]) (\d+)", text)
    if found:
        text, by = found[1], by + int(found[2] + found[3])
    return f"{text} {'+' if by > 0 else '-'} {abs(by)}" if by else text


def convolved(input, weight, arguments):
    """Returns (extents of the result, fields of its [[call]], whether it is transposed); `arguments` as aten's operator takes them."""
    import torch
    _, _, bias, stride, padding, dilation, transposed, output_padding, groups = arguments
    axes = len(input.texts) - 2
    if axes not in (1, 2, 3) or len(weight.texts) != axes + 2:
        raise NoSeed("a convolution of more than three axes")
    every = [list(one) * axes if len(one) == 1 else list(one) for one in (stride, padding, dilation, output_padding)]
    if any(not isinstance(number, int) for one in every for number in one):
        raise NoSeed("a convolution whose padding has no number")
    outs = weight.texts[0] if not transposed else bias.texts[0] if bias is not None else product(weight.texts[1], *([str(groups)] if groups != 1 else []))
    made = [input.texts[0], outs]
    for size, kernel, step, pad, spread, more in zip(input.texts[2:], weight.texts[2:], *every):
        # The distance between the first and the last element of a kernel of k elements with dilation `spread`: spread * (k - 1).
        apart = str(spread * (int(kernel) - 1)) if kernel.isdigit() else f"{spread} * ({kernel} - 1)" if spread != 1 else f"({kernel} - 1)"
        if transposed:
            size = f"({shifted(size, -1)}) * {step}" if step != 1 else shifted(size, -1)
            made.append(shifted(f"{size} + {apart}" if apart != "0" else size, more + 1 - 2 * pad))
        else:
            more = 0 if step != 1 else 1
            size = shifted(size, 2 * pad - 1 - int(apart) + more) if apart.isdigit() else shifted(f"{size} - {apart}", 2 * pad - 1 + more)
            made.append(f"{parenthesized(size)} / {step} + 1" if step != 1 else size)
    fields = [("batch", input.texts[0]), ("in_channels", input.texts[1]), ("out_channels", outs), ("size", input.texts[2:]), ("kernel", weight.texts[2:]),
              ("stride", every[0]), ("padding", every[1]), ("dilation", every[2])]
    if transposed:
        fields += [("output_padding", every[3])]
    if groups != 1:
        whole = outs if transposed else input.texts[1]
        fields += [("groups", str(groups) if transposed and bias is None else f"{parenthesized(whole)} / {parenthesized(weight.texts[1])}")]
    return made, fields, transposed


def written(element):
    """Returns the element of the trace whose elements `element` has in the same order: itself, unless it is a view."""
    while element.op == "moved":
        element = element.arguments[0]
    return element


class ImageTrace(ReduceRecorder):
    """Records forward's operators as Elements. `sizes`: those at which it runs; `vary`: the names of those that the task varies."""

    def __init__(self, leaves, sizes, vary):
        self.known, self.keep, self.order, self.sizes, self.vary = {}, [], [], sizes, vary
        for tensor, element in leaves:
            self.set(tensor, element)

    def set(self, tensor, element):
        # An axis may have one element at these sizes and more at others: only the text "1" says that it is spread.
        if [evaluate_text(text, self.sizes) for text in element.texts] != list(tensor.shape):
            raise NoSeed("an extent that no expression gives")
        self.known[id(tensor)] = element
        self.keep.append(tensor)

    def element(self, tensor):
        if id(tensor) not in self.known:
            raise NoSeed("a tensor that forward makes of nothing")
        return self.known[id(tensor)]

    def record(self, name, arguments, keywords, result):
        """Records one operator of forward."""
        import torch
        if name == "lift_fresh":
            if result.numel() != 1 or not result.is_floating_point():
                raise NoSeed(name)
            self.keep.append(result)
            self.known[id(result)] = number(result.item())
            return
        if name in ALIASES or name == "_to_copy":
            element = self.element(arguments[0])
            if result.dtype != arguments[0].dtype or not isinstance(element, Element) or element.op == "turned":
                raise NoSeed(f"{name} to another dtype, or of a number")
            if list(result.shape) == list(arguments[0].shape):
                return self.set(result, element)
            return self.set(result, Element("moved", [element], moved_extents(element, result.shape, self.sizes)))
        if name in ("t", "transpose", "permute") and result.dim() == 2 and list(result.stride()) == list(reversed(arguments[0].stride())):
            element = self.element(arguments[0])
            return self.set(result, Element("turned", [element], element.texts[::-1]))
        if name in ("squeeze", "unsqueeze") and isinstance(self.element(arguments[0]), Element) and self.element(arguments[0]).op != "turned":
            element, rank = self.element(arguments[0]), max(result.dim(), arguments[0].dim())
            dims = arguments[1] if len(arguments) > 1 else [axis for axis in range(rank) if element.texts[axis] == "1"]
            dims = [one % rank for one in (dims if isinstance(dims, (list, tuple)) else [dims])]
            if name == "unsqueeze":
                return self.set(result, Element("moved", [element], element.texts[:dims[0]] + ["1"] + element.texts[dims[0]:]))
            return self.set(result, Element("moved", [element], [text for axis, text in enumerate(element.texts) if axis not in dims or text != "1"]))
        if name in REDUCING and not (name in ("max", "min") and len(arguments) > 1 and torch.is_tensor(arguments[1])):
            return self.reducing(name, arguments, keywords, result)
        if name in ("mm", "addmm", "bmm"):
            return self.product(name, arguments, keywords, result)
        if name != "convolution" and name not in ELEMENTWISE:
            raise NoSeed(name)
        if str(result.dtype) != "torch.float32":
            raise NoSeed(f"{name}, whose result is not float32")
        if name == "convolution":
            input, weight = self.element(arguments[0]), self.element(arguments[1])
            bias = None if arguments[2] is None else self.element(arguments[2])
            if any(one is not None and one.op in ("moved", "turned") for one in (input, weight, bias)):
                raise NoSeed("a view in front of a convolution")
            made, fields, transposed = convolved(input, weight, [input, weight, bias, *arguments[3:]])
            element = Element("convolution", [input, weight] + ([bias] if bias is not None else []), made, extra=(fields, transposed))
        else:
            op, made = elementwise(name, arguments, keywords, self.element)
            elements = [one for one in made if isinstance(one, Element)]
            if any(one.op == "turned" for one in elements):
                raise NoSeed(f"{name} of a transposed tensor")
            rank = len(result.shape)
            padded = [["1"] * (rank - len(one.texts)) + one.texts for one in elements]
            texts = [next((one[axis] for one in padded if one[axis] != "1"), "1") for axis in range(rank)]
            if any(one[axis] not in ("1", texts[axis]) for one in padded for axis in range(rank)):
                raise NoSeed(f"{name} of extents that are told in different ways")
            element = Element(op, made, texts)
        self.order.append(element)
        self.set(result, element)

    def product(self, name, arguments, keywords, result):
        """Records a matrix product."""
        if keywords:
            raise NoSeed(f"{name} with factors")
        bias, left, right = arguments if name == "addmm" else (None, *arguments)
        left, right, bias = self.element(left), self.element(right), None if bias is None else self.element(bias)
        if bias is not None and len(bias.texts) != 1:
            raise NoSeed("a product to which a matrix is added")
        factors = [(written(one.arguments[0] if one.op == "turned" else one), one.op == "turned") for one in (left, right)]
        batch = left.texts[0] if name == "bmm" else "1"
        texts = ([batch] if name == "bmm" else []) + [left.texts[-2], right.texts[-1]]
        element = Element("matmul", [one for one, _ in factors] + ([bias] if bias is not None else []), texts,
                          extra=(factors, (left.texts[-2], right.texts[-1], left.texts[-1], batch)))
        self.made(element, result)


class ImageWriter(ReduceWriter):
    """Writes the seed's text."""

    def __init__(self):
        self.plan, self.code, self.step, self.helpers, self.workspaces = "", "", 0, set(), []

    def workspace(self, count, width=4):
        """Adds a workspace of `count` elements, an expression, and returns its name."""
        self.workspaces.append((f"scratch_{len(self.workspaces)}", count, width))
        return self.workspaces[-1][0]

    def elements(self, root, out):
        """Writes a kernel that computes all elements of `root` and stores them in `out`."""
        body = Body()
        result = body.value(root, root.texts, "i")
        count = body.size(root.count())
        lines = "".join("  " + line for line in body.lines)
        self.kernel(body, f"ceil_div(@{{d:{root.count()}}}, 256)", out,
                    f"  const long long i = blockIdx.x * 256LL + threadIdx.x;\n  if (i >= {count}) return;\n{lines}  out[i] = {result};\n", "One thread an element.")

    def convolution(self, element, out):
        fields, transposed = element.extra
        self.plan += (f'\n[[call]]\nstep = {self.step}\nop = "convolution"\ninput = "{element.arguments[0].place}"\n'
                      f'weight = "{element.arguments[1].place}"\nout = "{out}"\n')
        if len(element.arguments) > 2:
            self.plan += f'bias = "{element.arguments[2].place}"\n'
        for key, told in fields:
            one = lambda text: f'"@{{d:{text}}}"' if isinstance(text, str) else f'"{text}"'
            self.plan += f"{key} = [{', '.join(one(text) for text in told)}]\n" if isinstance(told, list) else f"{key} = {one(told)}\n"
        if transposed:
            self.plan += "transposed = true\n"
        self.step += 1

    def matmul(self, element, out):
        (left, left_turned), (right, right_turned) = element.extra[0]
        m, n, k, batch = element.extra[1]
        self.plan += f'\n[[call]]\nstep = {self.step}\nop = "matmul"\na = "{left.place}"\nb = "{right.place}"\nout = "{out}"\n'
        self.plan += "".join(f'{key} = "@{{d:{text}}}"\n' for key, text in (("m", m), ("n", n), ("k", k), ("batch", batch)) if text != "1" or key != "batch")
        self.plan += ("transpose_a = true\n" if left_turned else "") + ("transpose_b = true\n" if right_turned else "")
        self.plan += f'bias = "{element.arguments[2].place}"\n' if len(element.arguments) > 2 else ""
        self.step += 1


def image_seed_of(trial, expressions, inputs_named, state_named, outputs_named):
    """Returns (text, "") or ("", why there is no seed), as seed_of does."""
    try:
        vary = {name for text in expressions.values() for name in re.findall(r"[A-Za-z_]\w*", text)}

        def start(leaves):
            return ImageTrace([(one, Element("leaf", [], texts, place)) for one, texts, place in leaves], trial.sizes, vary)

        traced, made = traced_forward(trial, start, expressions, inputs_named, state_named)
        outputs = [traced.element(one) for one in made]
        if any(not isinstance(one, Element) or one.op == "turned" for one in outputs):
            raise NoSeed("an output that is a number or transposed")
        outputs = [written(one) for one in outputs]
        if len({id(one) for one in outputs}) != len(outputs) or any(one.op == "leaf" for one in outputs):
            raise NoSeed("an output that is an input, or given twice")
        library = {"convolution", "matmul"}
        read = {id(one) for element in traced.order if element.op in library for one in element.arguments}
        writer = ImageWriter()
        for element in traced.order:
            if not (any(element is one for one in outputs) or id(element) in read or element.op not in ELEMENTWISE):
                continue
            if any(element is one for one in outputs):
                number_of = next(i for i, one in enumerate(outputs) if one is element)
                out = f"@{{t:out {outputs_named[number_of]}}}"
            elif element.op.startswith("arg"):
                raise NoSeed(f"{element.op} whose result is used")
            else:
                out = writer.workspace(element.count())
            if element.op in library:
                getattr(writer, element.op)(element, out)
            else:
                (writer.elements if element.op in ELEMENTWISE else writer.reducing)(element, out)
            element.place = out
        scratch = "".join(f'[[workspace]]\nname  = "{name}"\nbytes = "@{{d:{product(count)} * {width}}}"\n\n' for name, count, width in writer.workspaces)
        calls = "products and convolutions" if '"matmul"' in writer.plan and '"convolution"' in writer.plan else "products" if '"matmul"' in writer.plan else "convolutions"
        how = f"{calls} by a library's calls, and what stands between them by plain kernels" if "[[call]]" in writer.plan else "plain kernels"
        return (f"// A first version, made of forward's operators: {how}.\n/*hone\n"
                + (scratch + writer.plan).lstrip("\n").replace("\n\n\n", "\n\n") + "*/\n" + (writer.helper_text() + writer.code).lstrip("\n")), ""
    except NoSeed as reason:
        return "", str(reason)
    except Exception as error:  # an unforeseen form of an operator: the task is usable without a seed
        return "", f"{type(error).__name__}: {first_line(error)}"
