# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a first candidate's kernels for reductions, softmax, scans, group normalization and pooling. Stands before image_seed.py in one
script, which records forward's operators and has the class Element.

Axes are counted from 0; an axis whose extent is "1" for certain needs no index. Sums are made in double precision, because the first
version shall be right, not fast.
"""

# By aten's name: the first value of a reduction, its step for the value `v` of element `r`, and how two threads' results are joined.
REDUCTIONS = {
    "sum": ("double", "0.0", "best += v;", "Add"), "mean": ("double", "0.0", "best += v;", "Add"),
    "norm1": ("double", "0.0", "best += fabsf(v);", "Add"), "norm2": ("double", "0.0", "best += static_cast<double>(v) * v;", "Add"),
    "amax": ("float", "-INFINITY", "best = Larger()(best, v);", "Larger"), "amin": ("float", "INFINITY", "best = Smaller()(best, v);", "Smaller"),
    "argmax": ("Place", "{-INFINITY, -1}", "best = First()(best, {v, r});", "First"), "argmin": ("Place", "{-INFINITY, -1}", "best = First()(best, {-v, r});", "First"),
}
RESULTS = {"mean": "static_cast<float>(best / static_cast<double>(%s))", "norm2": "static_cast<float>(sqrt(best))", "argmax": "best.at", "argmin": "best.at"}
HELPERS = {  # in the order in which they are written
    "Add": "struct Add {\n  __device__ double operator()(double a, double b) const { return a + b; }\n};\n",
    "Larger": "// NaN is larger than all numbers, as in PyTorch.\nstruct Larger {\n  __device__ float operator()(float a, float b) const { return a > b || a != a ? a : b; }\n};\n",
    "Smaller": "// NaN is smaller than all numbers, as in PyTorch.\nstruct Smaller {\n  __device__ float operator()(float a, float b) const { return a < b || a != a ? a : b; }\n};\n",
    "Place": "struct Place {\n  float value;\n  long long at;\n};\n",
    "First": "// The place of the larger value (NaN is the largest), and of two equal ones the first.\nstruct First {\n  __device__ Place operator()(Place a, Place b) const {\n"
             "    if (a.at < 0 || b.at < 0) return a.at < 0 ? b : a;\n    if (a.value != a.value || b.value != b.value) {\n"
             "      const bool both = a.value != a.value && b.value != b.value;\n      return both ? (a.at < b.at ? a : b) : a.value != a.value ? a : b;\n    }\n"
             "    if (a.value == b.value) return a.at < b.at ? a : b;\n    return a.value > b.value ? a : b;\n  }\n};\n",
    "Joined": "// Joins a value of each thread of a block, for all of them.\ntemplate <typename T, typename Join>\n__device__ T Joined(T value, Join join) {\n  __shared__ T parts[256];\n"
              "  __syncthreads();\n  parts[threadIdx.x] = value;\n  __syncthreads();\n  for (int half = 128; half > 0; half /= 2) {\n"
              "    if (threadIdx.x < half) parts[threadIdx.x] = join(parts[threadIdx.x], parts[threadIdx.x + half]);\n    __syncthreads();\n  }\n  return parts[0];\n}\n",
}
PARTS = 1024  # blocks that reduce a whole tensor, before one block joins their results
POOLS = {"max_pool2d_with_indices", "max_pool3d_with_indices", "avg_pool2d", "avg_pool3d", "max_pool1d", "avg_pool1d"}
REDUCING = {"sum", "mean", "amax", "amin", "max", "min", "argmax", "argmin", "linalg_vector_norm", "_softmax", "_log_softmax", "cumsum", "cumprod", "native_group_norm", "native_layer_norm"} | POOLS


def moved_extents(element, shape, sizes):
    """Returns the expressions of the extents of a view with this shape, whose elements are in the same order."""
    before, at, texts = element.texts, 0, []
    counts = [evaluate_text(text, sizes) for text in before]
    for size in shape:
        taken, count = [], 1
        # A size that is 1 here may be more elsewhere: it belongs to the axis that it stands beside.
        while at < len(counts) and (count < size or (counts[at] == 1 and not taken)):
            if size > 1 and counts[at] == 1 and before[at] == "1":
                at += 1
                continue
            taken, count, at = taken + ([before[at]] if before[at] != "1" else []), count * counts[at], at + 1
            if size == 1:
                break
        if count != size:
            raise NoSeed("view to another shape")
        texts.append(product(*taken))
    if any(count != 1 for count in counts[at:]):
        raise NoSeed("view to another shape")
    return texts


class ReduceRecorder:
    """Records reducing operators for ImageTrace."""

    def called(self, value, *hints):
        """Returns the text of a whole number: a size that varies, has this number and has one of these words in its name, else the number."""
        names = [name for name, size in self.sizes.items() if name in self.vary and size == value and any(hint in name.lower() for hint in hints)]
        return names[0] if len(names) == 1 else str(value)

    def reducing(self, name, arguments, keywords, result):
        """Records an operator of REDUCING."""
        import torch
        input = self.element(arguments[0])
        if isinstance(input, Element) and input.op == "turned":
            raise NoSeed(f"{name} of a transposed tensor")
        rank = arguments[0].dim()
        given = list(arguments[1:]) + [None] * 8
        if not isinstance(input, Element) or rank == 0 or keywords.get("dtype") not in (None, torch.float32):
            raise NoSeed(f"{name} with a dtype, or of a number")
        if name == "native_group_norm":
            return self.group_norm(input, arguments, result)
        if name == "native_layer_norm":
            given = [self.element(one) for one in arguments[2:4] if one is not None]
            axes = len(arguments[1])
            return self.made(Element(name, [input] + given, input.texts, extra=(axes, number(arguments[4]), arguments[2] is not None, arguments[3] is not None)), result[0])
        if name in POOLS:
            return self.pool(name, input, arguments, result)
        axis = lambda one: one % rank
        if name in ("_softmax", "_log_softmax", "cumsum", "cumprod"):
            element = Element(name, [input], input.texts, extra=axis(given[0]))
            return self.made(element, result)
        kind = name
        if name == "linalg_vector_norm":
            if given[0] is not None and float(given[0]) not in (1.0, 2.0):
                raise NoSeed("a vector norm of another order than 1 and 2")
            kind, given = "norm1" if given[0] is not None and float(given[0]) == 1.0 else "norm2", given[1:]
        if name in ("max", "min") and isinstance(given[0], torch.Tensor):
            raise NoSeed(name)
        if name in ("max", "min"):
            kind = "a" + name
        dims = given[0]
        axes = list(range(rank)) if dims is None or dims == [] else sorted(axis(one) for one in (dims if isinstance(dims, (list, tuple)) else [dims]))
        keep = bool(keywords.get("keepdim", given[1]))
        texts = ["1" if i in axes else text for i, text in enumerate(input.texts)] if keep else [text for i, text in enumerate(input.texts) if i not in axes]
        if name in ("max", "min") and dims is not None:
            # The operator also gives the places; nothing is known of that tensor, so that forward must not use it.
            return self.made(Element(kind, [input], texts, extra=axes), result[0])
        if kind in ("argmax", "argmin") and len(axes) != 1:
            raise NoSeed(f"{name} over more than an axis")
        return self.made(Element(kind, [input], texts, extra=axes), result, "torch.int64" if kind.startswith("arg") else "torch.float32")

    def made(self, element, tensor, dtype="torch.float32"):
        if str(tensor.dtype) != dtype:
            raise NoSeed(f"{element.op}, whose result is not {dtype[6:]}")
        self.order.append(element)
        self.set(tensor, element)

    def group_norm(self, input, arguments, result):
        _, weight, bias, _, _, _, groups, eps = arguments
        given = [self.element(one) for one in (weight, bias) if one is not None]
        element = Element("native_group_norm", [input] + given, input.texts,
                          extra=(self.called(groups, "group"), number(eps), weight is not None, bias is not None))
        self.made(element, result[0])

    def pool(self, name, input, arguments, result):
        most = name.startswith("max")
        axes = int(name[name.index("pool") + 4])
        kernel, stride, padding = ([*one] if isinstance(one, (list, tuple)) else [one] for one in (list(arguments[1:4]) + [[], [0]])[:3]) if len(arguments) > 3 else (
            [*arguments[1]], [*arguments[2]] if len(arguments) > 2 else [], [0])
        rest = list(arguments[4:]) + [None] * 4
        dilation = ([*rest[0]] if rest[0] else [1]) if most else [1]
        ceil = rest[1] if most else rest[0]
        counted = True if most or rest[1] is None else bool(rest[1])
        if ceil or (not most and rest[2] is not None):
            raise NoSeed(f"{name} with ceil_mode or a divisor")
        spread = lambda one: list(one) * axes if len(one) == 1 else list(one)
        kernel, padding, dilation = spread(kernel), spread(padding), spread(dilation)
        stride = spread(stride) if stride else list(kernel)
        windows, texts = [], list(input.texts[:-axes])
        for size, wide, step, pad, apart in zip(input.texts[-axes:], kernel, stride, padding, dilation):
            window = [self.called(wide, "kernel", "pool"), self.called(step, "stride"), self.called(pad, "pad"), self.called(apart, "dilation")]
            if step == wide and not window[0].isdigit() and window[1].isdigit():
                window[1] = window[0]
            windows.append(window)
            wide, step, pad, apart = window
            reach = f"{product(apart, f'{wide} - 1')}" if apart != "1" else f"({wide} - 1)"
            if wide.isdigit() and apart.isdigit():
                reach = str(int(apart) * (int(wide) - 1))
            more = f" + 2 * {pad}" if pad != "0" else ""
            whole = f"{size}{more} - {reach} - 1" if reach != "0" else f"{size}{more} - 1"
            if reach.isdigit() and (pad.isdigit()):
                whole = shifted(size, 2 * int(pad) - int(reach) - 1)
            texts.append(f"({whole}) / {step} + 1" if step != "1" else f"{whole} + 1" if not reach.isdigit() or not pad.isdigit() else shifted(size, 2 * int(pad) - int(reach)))
        self.made(Element("max_pool" if most else "avg_pool", [input], texts, extra=(windows, counted)), result[0] if isinstance(result, (tuple, list)) else result)


class Body:
    """The pointers, sizes and lines of one kernel."""

    def __init__(self):
        self.pointers, self.sizes, self.lines, self.names = [], [], [], {}

    def size(self, text):
        if text.isdigit():
            return text
        if text not in self.sizes:
            self.sizes.append(text)
        return f"e{self.sizes.index(text)}"

    def pointer(self, place):
        if place not in self.pointers:
            self.pointers.append(place)
        return f"p{self.pointers.index(place)}"

    def index(self, element, of, at):
        """Returns C++ for the index into `element` that broadcasting gives for index `at` into a tensor with the extents `of`."""
        texts = ["1"] * (len(of) - len(element.texts)) + element.texts
        if texts == of:
            return at
        kept = [axis for axis, text in enumerate(texts) if text != "1"]
        if not kept:
            return "0"
        if any(text == "1" and of[axis] != "1" for axis, text in enumerate(texts) if kept[0] < axis < kept[-1]):
            return self.spread(texts, of, at, kept)
        inner = [text for text in of[kept[-1] + 1:] if text != "1"]
        outer = any(text != "1" for text in of[:kept[0]])
        found = f"({at} / {self.size(product(*inner))})" if inner else at
        return f"{found} % {self.size(element.count())}" if outer else found

    def spread(self, texts, of, at, kept):
        """Returns index() for an element that is spread along an axis between its own."""
        terms = []
        for axis in kept:
            inner, stride = product(*[text for text in of[axis + 1:] if text != "1"]), product(*[text for text in texts[axis + 1:] if text != "1"])
            one = f"({at} / {self.size(inner)})" if inner != "1" else at
            one = f"{one} % {self.size(of[axis])}" if any(text != "1" for text in of[:axis]) else one
            terms.append(f"{one} * {self.size(stride)}" if stride != "1" else one)
        return f"({' + '.join(terms)})"

    def value(self, element, of, at):
        """Returns C++ for an element's value at index `at` of a tensor with the extents `of`; adds the lines that it needs."""
        if not isinstance(element, Element):
            return element
        if element.op == "moved":  # the same elements in the same order
            return self.value(element.arguments[0], element.arguments[0].texts, self.index(element, of, at))
        place = self.index(element, of, at)
        if (element, place) not in self.names:
            if element.place is not None:
                text = f"{self.pointer(element.place)}[{place}]"
            else:
                text = ELEMENTWISE[element.op].format(*[self.value(one, element.texts, place) for one in element.arguments])
            self.names[element, place] = f"v{len(self.names)}"
            self.lines.append(f"const float {self.names[element, place]} = {text};\n")
        return self.names[element, place]

    def function(self, element, index):
        """Returns C++ of a function at(r) with the value of `element` at an index, which is C++ over `r`."""
        result = self.value(element, element.texts, "i")
        return f"  const auto at = [&](long long r) {{\n    const long long i = {index};\n{''.join('    ' + line for line in self.lines)}    return {result};\n  }};\n"


def strides(texts):
    """Returns the product of the extents behind each axis, as expressions."""
    return [product(*[text for text in texts[axis + 1:] if text != "1"]) for axis in range(len(texts))]


class ReduceWriter:
    """Writes the kernels of reducing operators for ImageWriter."""

    def along(self, body, texts, axes, outer, inner):
        """Returns C++ for the index of a tensor from an index `outer` over all other axes and `inner` over these."""
        terms = []
        for name, chosen in ((outer, [i for i in range(len(texts)) if i not in axes]), (inner, axes)):
            chosen = [i for i in chosen if texts[i] != "1"]
            # Axes that stand beside one another are one.
            groups = []
            for i in chosen:
                if groups and all(texts[k] == "1" for k in range(groups[-1][-1] + 1, i)):
                    groups[-1].append(i)
                else:
                    groups.append([i])
            for place, group in enumerate(groups):
                behind = product(*[texts[i] for other in groups[place + 1:] for i in other])
                extent, stride = product(*[texts[i] for i in group]), strides(texts)[group[-1]]
                one = f"({name} / {body.size(behind)})" if behind != "1" else name
                one = f"{one} % {body.size(extent)}" if place > 0 else one
                terms.append(f"{one} * {body.size(stride)}" if stride != "1" else one)
        return " + ".join(terms) or "0"

    def kernel(self, body, grid, out, code, comment, type="float"):
        """Adds a kernel of blocks of 256 threads, and its launch as the next step. `out`: (parameter's name, tensor)."""
        name = f"step_{self.step}"
        reads = "".join(f"const float* p{i}, " for i in range(len(body.pointers)))
        counts = "".join(f", long long e{i}" for i in range(len(body.sizes)))
        passed = "".join(f', "@{{d:{text}}}:i64"' for text in body.sizes)
        named = ", ".join(f'"{one}"' for one in body.pointers + [out])
        self.plan += f'\n[[launch]]\nstep   = {self.step}\nkernel = "{name}"\ngrid   = ["{grid}"]\nblock  = ["256"]\nargs   = [{named}{passed}]\n'
        self.code += f"\n// {comment}\n__global__ void {name}({reads}{type}* out{counts}) {{\n{code}}}\n"
        self.step += 1

    def need(self, *names):
        self.helpers |= set(names) | ({"Place"} if "First" in names else set())

    def reduction(self, element, out):
        kind, axes, input = element.op, element.extra, element.arguments[0]
        type, first, step, join = REDUCTIONS[kind]
        self.need(join, "Joined")
        texts = input.texts
        count = product(*[texts[i] for i in axes if texts[i] != "1"])
        others = [texts[i] for i in range(len(texts)) if i not in axes and texts[i] != "1"]
        body = Body()
        index = self.along(body, texts, axes, "o", "r")
        at = body.function(input, index)
        many = body.size(count)
        loop = f"  {type} best = {first};\n  for (long long r = BEGIN; r < {many}; r += STEP) {{\n    const float v = at(r);\n    {step}\n  }}\n"
        result = RESULTS.get(kind, "static_cast<float>(best)")
        result = result % many if "%s" in result else result
        store = "long long" if kind.startswith("arg") else "float"
        if not others and kind not in ("argmax", "argmin"):
            partial = self.workspace(str(PARTS), 8)
            head = "  const long long o = 0;\n" if re.search(r"\bo\b", index) else ""
            self.kernel(body, str(PARTS), partial, head + at + loop.replace("BEGIN", "blockIdx.x * 256LL + threadIdx.x").replace("STEP", f"{PARTS} * 256LL")
                        + f"  best = Joined(best, {join}());\n  if (threadIdx.x == 0) out[blockIdx.x] = best;\n", "A part of the tensor for each block.", type="double")
            last = Body()
            total = last.size(count) if kind == "mean" else ""
            result = RESULTS.get(kind, "static_cast<float>(best)")
            result = result % total if "%s" in result else result
            code = (f"  const double* parts = reinterpret_cast<const double*>(p0);\n  {type} best = {first};\n"
                    f"  for (int r = threadIdx.x; r < {PARTS}; r += 256) best = {join}()(best, static_cast<{type}>(parts[r]));\n"
                    f"  best = Joined(best, {join}());\n  if (threadIdx.x == 0) out[0] = {result};\n")
            last.pointer(partial)
            return self.kernel(last, "1", out, code, "Joins the parts.")
        results = product(*others)
        if texts[-1] != "1" and len(texts) - 1 not in axes:  # threads beside one another read elements beside one another
            bound = body.size(results)
            return self.kernel(body, f"ceil_div(@{{d:{results}}}, 256)", out, f"  const long long o = blockIdx.x * 256LL + threadIdx.x;\n  if (o >= {bound}) return;\n{at}"
                               + loop.replace("BEGIN", "0").replace("r += STEP", "++r") + f"  out[o] = {result};\n", "One thread for each result.", store)
        self.kernel(body, f"@{{d:{results}}}" if results != "1" else "1", out, "  const long long o = blockIdx.x;\n" + at + loop.replace("BEGIN", "threadIdx.x").replace("STEP", "256")
                    + f"  best = Joined(best, {join}());\n  if (threadIdx.x == 0) out[o] = {result};\n", "One block for each result.", store)

    def softmax(self, element, out):
        input, axis = element.arguments[0], element.extra
        texts = input.texts
        self.need("Add", "Larger", "Joined")
        body = Body()
        index = self.along(body, texts, [axis], "o", "r")
        at = body.function(input, index)
        many, others = body.size(texts[axis]), product(*[text for i, text in enumerate(texts) if i != axis and text != "1"])
        last = "expf(at(r) - most) / sum" if element.op == "_softmax" else "at(r) - most - logf(sum)"
        beside = axis != len(texts) - 1 and texts[-1] != "1"
        each = f"  for (long long r = {'0' if beside else 'threadIdx.x'}; r < {many}; {'++r' if beside else 'r += 256'}) "
        join = (lambda text, how: "") if beside else (lambda text, how: f"  {text} = Joined({text}, {how}());\n")
        code = (f"  float most = -INFINITY;\n{each}most = Larger()(most, at(r));\n{join('most', 'Larger')}  double total = 0.0;\n{each}total += expf(at(r) - most);\n"
                f"{join('total', 'Add')}  const float sum = static_cast<float>(total);\n{each}out[{index}] = {last};\n")
        if beside:
            bound = body.size(others)
            return self.kernel(body, f"ceil_div(@{{d:{others}}}, 256)", out, f"  const long long o = blockIdx.x * 256LL + threadIdx.x;\n  if (o >= {bound}) return;\n" + at + code,
                               "One thread for each line.")
        self.kernel(body, f"@{{d:{others}}}" if others != "1" else "1", out, "  const long long o = blockIdx.x;\n" + at + code, "One block for each line.")

    def scan(self, element, out):
        input, axis = element.arguments[0], element.extra
        body = Body()
        index = self.along(body, input.texts, [axis], "o", "r")
        at = body.function(input, index)
        many, others = body.size(input.texts[axis]), product(*[text for i, text in enumerate(input.texts) if i != axis and text != "1"])
        bound = body.size(others)
        first, sign = ("0.0", "+") if element.op == "cumsum" else ("1.0", "*")
        self.kernel(body, f"ceil_div(@{{d:{others}}}, 256)" if others != "1" else "1", out,
                    f"  const long long o = blockIdx.x * 256LL + threadIdx.x;\n  if (o >= {bound}) return;\n{at}  double made = {first};\n"
                    f"  for (long long r = 0; r < {many}; ++r) {{\n    made = made {sign} at(r);\n    out[{index}] = static_cast<float>(made);\n  }}\n", "One thread for each line.")

    def norm(self, element, out):
        """Writes a group normalization or a layer normalization over any number of axes."""
        groups, input = element.extra[0], element.arguments[0]
        self.need("Add", "Joined")
        body = Body()
        if element.op == "native_layer_norm":
            kept, normal = input.texts[:-groups], input.texts[-groups:]
            return self.normalized(body, input, "r", body.size(product(*[text for text in normal if text != "1"])), product(*[text for text in kept if text != "1"]), element, out)
        channels, pixels = input.texts[1], product(*[text for text in input.texts[2:] if text != "1"])
        each_group = f"{parenthesized(channels)} / {groups}" if groups != "1" else channels
        span = body.size(product(*([each_group] if each_group != "1" else []), *([pixels] if pixels != "1" else [])))
        channel = f"(begin + r) / {body.size(pixels)} % {body.size(channels)}" if pixels != "1" else f"(begin + r) % {body.size(channels)}"
        self.normalized(body, input, channel, span, product(*[text for text in (input.texts[0], groups) if text != "1"]), element, out)

    def normalized(self, body, input, weight, span, batch, element, out):
        """Writes the kernel of a normalization of `batch` runs of `span` elements; `weight`: C++ for the place in weight and bias."""
        _, eps, weighted, biased = element.extra
        at = body.function(input, "begin + r")
        rest = list(element.arguments[1:])
        scale = f" * {body.pointer(rest.pop(0).place)}[{weight}]" if weighted else ""
        shift = f" + {body.pointer(rest.pop(0).place)}[{weight}]" if biased else ""
        loop = f"  for (long long r = threadIdx.x; r < {span}; r += 256) "
        code = (f"  const long long begin = blockIdx.x * {'1LL * ' if span.isdigit() else ''}{span};\n{at}  double sum = 0.0, squares = 0.0;\n{loop}sum += at(r);\n"
                f"  const double mean = Joined(sum, Add()) / static_cast<double>({span});\n{loop}squares += (at(r) - mean) * (at(r) - mean);\n"
                f"  const double scale = rsqrt(Joined(squares, Add()) / static_cast<double>({span}) + {eps});\n"
                f"{loop}out[begin + r] = static_cast<float>((at(r) - mean) * scale){scale}{shift};\n")
        self.kernel(body, f"@{{d:{batch}}}" if batch != "1" else "1", out, code, "One block for each group.")

    def pool(self, element, out):
        windows, counted = element.extra
        input, most = element.arguments[0], element.op == "max_pool"
        axes = len(windows)
        body = Body()
        inputs, outputs = input.texts[-axes:], element.texts[-axes:]
        bound = body.size(element.count())
        lines, indent, behind = f"  const long long o = blockIdx.x * 256LL + threadIdx.x;\n  if (o >= {bound}) return;\n  long long rest = o;\n", "  ", ""
        for axis in reversed(range(axes)):
            lines += f"  const long long o{axis} = rest % {body.size(outputs[axis])};\n  rest /= {body.size(outputs[axis])};\n"
        at = body.function(input, "r")
        lines += at + f"  {'float best = -INFINITY' if most else 'double sum = 0.0'};\n" + ("" if most or counted else "  long long count = 0;\n")
        place = "rest"
        for axis, (wide, step, pad, apart) in enumerate(windows):
            name, size = f"i{axis}", body.size(inputs[axis])
            start = f"o{axis}" + (f" * {body.size(step)}" if step != "1" else "") + (f" - {body.size(pad)}" if pad != "0" else "")
            lines += (f"{indent}for (long long k{axis} = 0; k{axis} < {body.size(wide)}; ++k{axis}) {{\n{indent}  const long long {name} = {start} + k{axis}"
                      + (f" * {body.size(apart)}" if apart != "1" else "") + f";\n{indent}  if ({name} < 0 || {name} >= {size}) continue;\n")
            place = f"({place} * {size} + {name})"
            indent += "  "
            behind = indent[:-2] + "}\n" + behind
        if most:
            lines += f"{indent}const float v = at({place});\n{indent}if (v > best || v != v) best = v;\n"
        else:
            lines += f"{indent}sum += at({place});\n" + ("" if counted else f"{indent}++count;\n")
        count = " * ".join(body.size(wide) for wide, _, _, _ in windows) if counted else "count"
        lines += behind + f"  out[o] = {'best' if most else f'static_cast<float>(sum / static_cast<double>({count}))'};\n"
        self.kernel(body, f"ceil_div(@{{d:{element.count()}}}, 256)", out, lines, "One thread for each result.")

    def reducing(self, element, out):
        """Writes an operator of ReduceRecorder."""
        how = {"_softmax": self.softmax, "_log_softmax": self.softmax, "cumsum": self.scan, "cumprod": self.scan, "native_group_norm": self.norm, "native_layer_norm": self.norm,
               "max_pool": self.pool, "avg_pool": self.pool}.get(element.op, self.reduction)
        how(element, out)

    def helper_text(self):
        """Returns the functions that the kernels use."""
        return "".join("\n" + text for name, text in HELPERS.items() if name in self.helpers)
