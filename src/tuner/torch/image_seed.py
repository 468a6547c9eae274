# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a first candidate for convolutions and elementwise operators on tensors of any shape. Stands behind seed.py in one script.

forward's operators are recorded while it runs. Convolutions become [[call]] entries of a launch plan. The elementwise operators
between them become kernels with one thread per element, which broadcast tensors as PyTorch does. If forward calls any other
operator, there is no seed. The text has the same placeholders as seed.py's.
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


class ImageTrace:
    """Records forward's operators as Elements. `sizes`: those at which it runs."""

    def __init__(self, leaves, sizes):
        self.known, self.keep, self.order, self.sizes = {}, [], [], sizes
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
            if list(result.shape) != list(arguments[0].shape) or result.dtype != arguments[0].dtype:
                raise NoSeed(f"{name} to another shape or dtype")
            if isinstance(self.element(arguments[0]), Element):
                return self.set(result, self.element(arguments[0]))
            raise NoSeed(f"{name} of a number")
        if name == "unsqueeze" and isinstance(self.element(arguments[0]), Element):
            element, at = self.element(arguments[0]), arguments[1] % result.dim()
            return self.set(result, Element("moved", [element], element.texts[:at] + ["1"] + element.texts[at:]))
        if name != "convolution" and name not in ELEMENTWISE:
            raise NoSeed(name)
        if str(result.dtype) != "torch.float32":
            raise NoSeed(f"{name}, whose result is not float32")
        if name == "convolution":
            input, weight = self.element(arguments[0]), self.element(arguments[1])
            bias = None if arguments[2] is None else self.element(arguments[2])
            if any(one is not None and one.op == "moved" for one in (input, weight, bias)):
                raise NoSeed("unsqueeze in front of a convolution")
            made, fields, transposed = convolved(input, weight, [input, weight, bias, *arguments[3:]])
            element = Element("convolution", [input, weight] + ([bias] if bias is not None else []), made, extra=(fields, transposed))
        else:
            op, made = elementwise(name, arguments, keywords, self.element)
            elements = [one for one in made if isinstance(one, Element)]
            rank = len(result.shape)
            padded = [["1"] * (rank - len(one.texts)) + one.texts for one in elements]
            texts = [next((one[axis] for one in padded if one[axis] != "1"), "1") for axis in range(rank)]
            if any(one[axis] not in ("1", texts[axis]) for one in padded for axis in range(rank)):
                raise NoSeed(f"{name} of extents that are told in different ways")
            element = Element(op, made, texts)
        self.order.append(element)
        self.set(result, element)


class ImageWriter:
    """Writes the seed's text."""

    def __init__(self):
        self.plan, self.code, self.step = "", "", 0

    def elements(self, root, out):
        """Writes a kernel that computes all elements of `root` and stores them in `out`."""
        pointers, sizes, lines, names = [], [], [], {}

        def size(text):
            if text not in sizes:
                sizes.append(text)
            return f"e{sizes.index(text)}"

        def index(element, of, at):
            """Returns C++ for the index into `element` that broadcasting gives for index `at` into a tensor with the extents `of`."""
            texts = ["1"] * (len(of) - len(element.texts)) + element.texts
            if texts == of:
                return at
            kept = [axis for axis, text in enumerate(texts) if text != "1"]
            if not kept:
                return "0"
            if any(text == "1" and of[axis] != "1" for axis, text in enumerate(texts) if kept[0] < axis < kept[-1]):
                raise NoSeed("a tensor that is spread along an axis between its own")
            inner = [text for text in of[kept[-1] + 1:] if text != "1"]
            outer = any(text != "1" for text in of[:kept[0]])
            found = f"({at} / {size(product(*inner))})" if inner else at
            return f"{found} % {size(element.count())}" if outer else found

        def value(element, of, at):
            if not isinstance(element, Element):
                return element
            if element.op == "moved":  # the same elements in the same order
                return value(element.arguments[0], element.arguments[0].texts, index(element, of, at))
            place = index(element, of, at)
            if (element, place) not in names:
                if element.place is not None:
                    if element.place not in pointers:
                        pointers.append(element.place)
                    text = f"p{pointers.index(element.place)}[{place}]"
                else:
                    text = ELEMENTWISE[element.op].format(*[value(one, element.texts, place) for one in element.arguments])
                names[element, place] = f"v{len(names)}"
                lines.append(f"  const float {names[element, place]} = {text};\n")
            return names[element, place]

        result = value(root, root.texts, "i")
        name = f"step_{self.step}"
        count = size(root.count())
        reads = "".join(f"const float* p{i}, " for i in range(len(pointers)))
        passed = "".join(f', "@{{d:{text}}}:i64"' for text in sizes)
        named = ", ".join(f'"{one}"' for one in pointers + [out])
        self.plan += (f'\n[[launch]]\nstep   = {self.step}\nkernel = "{name}"\ngrid   = ["ceil_div(@{{d:{root.count()}}}, 256)"]\nblock  = ["256"]\n'
                      f'args   = [{named}{passed}]\n')
        self.code += (f"\n// One thread an element.\n__global__ void {name}({reads}float* out, {', '.join(f'long long e{i}' for i in range(len(sizes)))}) {{\n"
                      f"  const long long i = blockIdx.x * 256LL + threadIdx.x;\n  if (i >= {count}) return;\n{''.join(lines)}  out[i] = {result};\n}}\n")
        self.step += 1

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


def image_seed_of(trial, expressions, inputs_named, state_named):
    """Returns (text, "") or ("", why there is no seed), as seed_of does."""
    try:
        traced, made = traced_forward(trial, lambda leaves: ImageTrace([(one, Element("leaf", [], texts, place)) for one, texts, place in leaves], trial.sizes),
                                      expressions, inputs_named, state_named)
        outputs = [traced.element(one) for one in made]
        if len({id(one) for one in outputs}) != len(outputs) or any(not isinstance(one, Element) or one.op in ("leaf", "moved") for one in outputs):
            raise NoSeed("an output that is an input, or given twice")
        read = {id(one) for element in traced.order if element.op == "convolution" for one in element.arguments}
        writer, workspaces = ImageWriter(), []
        for element in traced.order:
            if not (any(element is one for one in outputs) or id(element) in read or element.op == "convolution"):
                continue
            if any(element is one for one in outputs):
                number_of = next(i for i, one in enumerate(outputs) if one is element)
                out = "@{t:out out}" if len(outputs) == 1 else f"@{{t:out out{number_of}}}"
            else:
                out = f"scratch_{len(workspaces)}"
                workspaces.append((out, element.count()))
            (writer.convolution if element.op == "convolution" else writer.elements)(element, out)
            element.place = out
        scratch = "".join(f'[[workspace]]\nname  = "{name}"\nbytes = "@{{d:{product(count)} * 4}}"\n\n' for name, count in workspaces)
        how = "convolutions by a library's calls, and what stands between them by plain kernels" if "[[call]]" in writer.plan else "plain kernels"
        return (f"// A first version, made of forward's operators: {how}.\n/*hone\n"
                + (scratch + writer.plan).lstrip("\n").replace("\n\n\n", "\n\n") + "*/\n" + writer.code.lstrip("\n")), ""
    except NoSeed as reason:
        return "", str(reason)
    except Exception as error:  # an unforeseen form of an operator: the task is usable without a seed
        return "", f"{type(error).__name__}: {first_line(error)}"
