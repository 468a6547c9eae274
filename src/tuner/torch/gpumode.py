# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a PyTorch problem of a folder in GPU MODE's format. Stands behind problem.py and definition.py in one script.

The folder holds task.yml, which lists files, tests and benchmarks, and reference.py with `generate_input(**case)`,
`check_implementation(data, output)` and, if the check is a comparison, the function whose result it compares with. The problem
that is made of them contains these files word for word, a class `Model` that calls that function, and a `get_inputs()` that
calls `generate_input`. The whole numbers of a case become its sizes.
"""
REFERENCE = "reference.py"
NOT_NEEDED = ("submission.py", "eval.py")
# A size is a multiple of the greatest power of two that all cases have in common, but of no more than the first if it is needed,
# and of no more than the second otherwise, so that hidden cases may differ from the listed ones.
MOST_MULTIPLE = 128
USUAL_MULTIPLE = 16
MOST_BOARD_BYTES = 1 << 20  # limit for one file of the problem


def read_yaml(path):
    """Returns the contents of a YAML file, which must be a mapping."""
    try:
        import yaml
    except ImportError as error:
        raise Refused(f"PyYAML could not be imported ({error}), and {path} is YAML: install it with `pip install pyyaml`") from error
    text = read_of_board(path)
    if text is None:
        raise Refused(f"{path} cannot be read: name a folder that holds a problem's task.yml")
    try:
        told = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise Refused(f"{path}:{mark.line + 1 if mark else 1}: {getattr(error, 'problem', None) or 'this is no YAML'}: mend the line") from error
    if not isinstance(told, dict):
        raise Refused(f"{path} is no mapping of keys to values, as a problem's task.yml is")
    return told


def read_of_board(path):
    """Returns the text of a file of the problem; None: it does not exist, or is where this process may not read."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read(MOST_BOARD_BYTES + 1)
    except OSError:
        return None
    if len(text) > MOST_BOARD_BYTES:
        raise Refused(f"{path} has more than {MOST_BOARD_BYTES} characters: is it a problem's file?")
    return text


class Board:
    """The contents of task.yml, checked: the cases, whose values are whole numbers and texts, and the files that reference.py may
    import."""

    def __init__(self, job):
        given = job["board"]
        self.folder = given["folder"]
        self.file = f"{self.folder}/task.yml"
        told = read_yaml(self.file)
        if told.get("lang", "py") != "py":
            raise Refused(f"{self.file} is a problem in {told['lang']}, whose reference is CUDA C++: give its kernel to hone new --from kernel.cu, or "
                          "take a problem with lang: py")
        if told.get("multi_gpu"):
            raise Refused(f"{self.file} is a problem over several GPUs, and tasks are of one: take another")
        self.name = given["name"]
        self.summary = f"the problem {self.name} in GPU MODE's format"  # the description in task.yml is not used: the problem's licence covers it
        self.files = {}
        for one in told.get("files") or []:
            if not isinstance(one, dict) or not isinstance(one.get("name"), str) or not isinstance(one.get("source"), str):
                raise Refused(f"{self.file}: an entry of 'files' has no name or no source: write {{\"name\": \"reference.py\", \"source\": \"reference.py\"}}")
            if one["source"].startswith("@") or one["name"] in NOT_NEEDED or not one["name"].endswith(".py"):
                continue
            text = read_of_board(os.path.join(self.folder, one["source"]))
            if text is None:
                raise Refused(f"{self.file} lists {one['source']}, and there is no such file in {self.folder}: give a whole checkout of the problem's repository")
            self.files[one["name"][:-3]] = text
        if "reference" not in self.files:
            raise Refused(f"{self.file} lists no reference.py among its files: it is what a kernel is compared with")
        self.timed = self.cases(told, "benchmarks")
        self.tests = self.cases(told, "tests")
        if not self.tests and not self.timed:
            raise Refused(f"{self.file} has neither tests nor benchmarks: a case names the arguments of generate_input")
        self.tests, self.timed = self.tests or self.timed, self.timed or self.tests
        self.read_reference()

    def cases(self, told, key):
        """Returns the cases under `key` of task.yml, without their seeds."""
        found = []
        for one in told.get(key) or []:
            if not isinstance(one, dict) or not all(isinstance(name, str) and name.isidentifier() for name in one):
                raise Refused(f"{self.file}: an entry of '{key}' is no case: write {{\"size\": 1024, \"seed\": 1}}")
            found.append({name: value for name, value in one.items() if name != "seed"})
        return found

    def read_reference(self):
        """Reads reference.py: the function to compare with, its inputs' names, the arguments of a case, tolerances."""
        where = f"{self.folder}/{REFERENCE}"
        try:
            self.tree = ast.parse(self.files["reference"])
        except SyntaxError as error:
            raise Refused(f"{where}:{error.lineno}: {error.msg}: it is not Python that {sys.version.split()[0]} reads; mend the line") from error
        functions = {one.name: one for one in self.tree.body if isinstance(one, ast.FunctionDef)}
        check = functions.get("check_implementation")
        for one in self.tree.body:
            if isinstance(one, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "check_implementation" for target in one.targets):
                check = one.value
        if "generate_input" not in functions or check is None:
            raise Refused(f"{where} lacks generate_input or check_implementation: GPU MODE's form has both")
        # Finds the function that the check compares with: the check passes it to another function, or calls it and it has "ref" in
        # its name.
        handed = {given.id for one in ast.walk(check) if isinstance(one, ast.Call)
                  for given in one.args + [keyword.value for keyword in one.keywords] if isinstance(given, ast.Name)}
        named = [name for name in sorted(names_in(check) & set(functions) - {"generate_input", "check_implementation"})
                 if len(functions[name].args.args) == 1 and (name in handed or "ref" in name)]
        if not named:
            raise Refused(f"{where}: check_implementation compares with no function of the inputs but asks for properties of the result: write a task "
                          "with [[property]] (task-format.md in the documentation) and its check as the oracle")
        self.compared = min(named, key=lambda name: ("ref" not in name, name))
        arguments = functions["generate_input"].args
        self.arguments = [one.arg for one in arguments.args + arguments.kwonlyargs]
        self.seeded = "seed" in self.arguments or arguments.kwarg is not None
        defaults = dict(zip([one.arg for one in reversed(arguments.args)], reversed(arguments.defaults)))
        for case in self.timed + self.tests:
            missing = [one for one in self.arguments if one not in case and one != "seed" and one not in defaults]
            if missing:
                raise Refused(f"{self.file}: the case {case} has no {missing[0]}, which generate_input takes: give it one")
        # Takes the names of the inputs from where the function unpacks its one argument: a, b = data.
        function = functions[self.compared]
        self.data = function.args.args[0].arg
        self.parts = []
        for one in ast.walk(function):
            if (isinstance(one, ast.Assign) and isinstance(one.value, ast.Name) and one.value.id == self.data and isinstance(one.targets[0], ast.Tuple)
                    and all(isinstance(name, ast.Name) for name in one.targets[0].elts)):
                self.parts = [name.id for name in one.targets[0].elts]
                break
        # Takes the comparison's tolerances if the check states them as numbers.
        self.tolerance = {}
        for one in ast.walk(check):
            if isinstance(one, ast.keyword) and one.arg in ("rtol", "atol") and isinstance(one.value, ast.Constant) and isinstance(one.value.value, (int, float)):
                self.tolerance.setdefault("max_" + one.arg, float(one.value.value))
        if "max_rtol" not in self.tolerance:
            self.tolerance = {}

    def varying(self):
        """Returns the arguments that are positive whole numbers in every case, which may be sizes."""
        cases = self.timed + self.tests
        return [name for name in cases[0] if all(type(case.get(name)) is int and case[name] > 0 for case in cases)]

    def common(self, name):
        """Returns the greatest power of two, up to MOST_MULTIPLE, that divides this argument in every case."""
        shared = math.gcd(*(case[name] for case in self.timed + self.tests))
        return min(shared & -shared, MOST_MULTIPLE)


# Python code that runs a problem's files in reference.py. The files place tensors on CUDA devices and draw from CUDA's generators.
# The judge instead decides where tensors are and in which precision the answer is computed, and draws the inputs itself.
BOARD_HEAD = '''

class _Files(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the problem's files from their texts above."""

    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name in _FILES else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile(_FILES[module.__name__], module.__name__ + ".py", "exec"), module.__dict__)


class _Generator(torch.Generator):
    """Stands in for torch.Generator, whose devices this machine may lack. Nothing is drawn from it."""

    def __new__(cls, device=None):
        return super().__new__(cls)


def _elsewhere(value):
    return isinstance(value, (str, torch.device)) and str(value).split(":")[0] == "cuda"


class _Here(torch.overrides.TorchFunctionMode):
    """Leaves out devices that the files name, and lets a precision take the place of the float dtypes that they name."""

    def __init__(self, dtype=None):
        super().__init__()
        self.dtype = dtype

    def __enter__(self):
        self.plain, torch.Generator = torch.Generator, _Generator
        return super().__enter__()

    def __exit__(self, *told):
        torch.Generator = self.plain
        return super().__exit__(*told)

    def __torch_function__(self, function, kinds, arguments=(), keywords=None):
        name = getattr(function, "__name__", "")
        keywords = {key: value for key, value in (keywords or {}).items() if not _elsewhere(value) and key != "generator"}
        if name == "cuda" and arguments and torch.is_tensor(arguments[0]):
            return arguments[0]
        kept = [one for one in arguments if not _elsewhere(one)]
        if name == "to" and len(kept) < len(arguments) and len(kept) == 1 and not keywords:
            return kept[0]
        if self.dtype is not None:
            if name in ("float", "half", "bfloat16") and kept and torch.is_tensor(kept[0]):
                return kept[0].to(self.dtype)
            narrow = lambda value: self.dtype if isinstance(value, torch.dtype) and value.is_floating_point and value != torch.float64 else value
            kept, keywords = [narrow(one) for one in kept], {key: narrow(value) for key, value in keywords.items()}
        return function(*kept, **keywords)


def _reference():
    """reference.py of the problem, run once for each run of this file."""
    global _loaded
    if _loaded is None:
        for name in _FILES:
            sys.modules.pop(name, None)
        sys.meta_path[:] = [_Files()] + [one for one in sys.meta_path if type(one).__name__ != "_Files"]
        with _Here():
            import reference
        _loaded = reference
    return _loaded


_loaded = None


def _generate():
    with _Here():
        return _reference().generate_input(**_case())


def _leaves(data):
    """Tensors and numbers of what generate_input gives, in order."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, (tuple, list)):
        return [leaf for one in data for leaf in _leaves(one)]
    return [data]


def _rebuilt(data, leaves):
    """The same structure with the next of `leaves` (an iterator) in each place."""
    if isinstance(data, dict):
        return {name: _rebuilt(one, leaves) for name, one in data.items()}
    if isinstance(data, (tuple, list)):
        made = [_rebuilt(one, leaves) for one in data]
        return type(data)(*made) if hasattr(data, "_fields") else type(data)(made)
    return next(leaves)
'''


def leaves_of(data):
    """Returns the tensors and numbers in nested tuples, lists and dicts, in order."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, (tuple, list)):
        return [leaf for one in data for leaf in leaves_of(one)]
    return [data]


def names_of(board, data, count):
    """Returns a name for each leaf of the inputs: the reference's names for them, a dict's keys, or numbered names."""
    import keyword
    if isinstance(data, dict) and len(data) == count:
        names = [str(name) for name in data]
    elif isinstance(data, (tuple, list)) and len(data) == count and len(board.parts) == count:
        names = list(board.parts)
    elif count == 1:
        names = [board.data]
    else:
        names = [f"input{i}" for i in range(count)]
    taken = set(board.varying())
    made = []
    for i, name in enumerate(names):
        if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_") or name in made:
            name = f"input{i}"
        made.append(name + "_in" if name in taken else name)
    return made


def board_text(board, case, names, tensors, buffers):
    """Returns the problem file at the sizes of `case`. `tensors`: indices of the leaves that are inputs; `buffers`: of those that the
    reference fills or does not read. The other leaves are numbers, which generate_input gives again at each size."""
    sizes = [name for name in board.varying()]
    head = (f"# The problem {board.name} in GPU MODE's format as a PyTorch problem, written by `hone new` from {board.folder}.\n"
            "# _FILES holds that folder's files word for word: their authors' licence governs them, and this file with them.\n"
            "import importlib.abc\nimport importlib.util\nimport sys\n\nimport torch\n\n")
    head += "".join(f"{name} = {case[name]}\n" for name in sizes)
    head += "\n_FILES = {\n" + "".join(f"    {name!r}: {text!r},\n" for name, text in board.files.items()) + "}\n"
    arguments = [f"{name!r}: {name}" if name in sizes else f"{name!r}: {value!r}" for name, value in case.items()]
    if board.seeded:
        arguments.append("'seed': 1")
    forward = ", ".join(names[i] for i in tensors)
    places = ", ".join(f"{names[i]}.clone()" if i in tensors else f"buffers[{buffers.index(i)}]" if i in buffers else f"leaves[{i}]"
                       for i in range(len(names)))
    return head + BOARD_HEAD + f'''

def _case():
    return {{{", ".join(arguments)}}}


class Model(torch.nn.Module):
    precision = None  # that of the reference unless the judge asks for another

    def to(self, *arguments, **keywords):
        for one in (*arguments, *keywords.values()):
            self.precision = one if isinstance(one, torch.dtype) else self.precision
        return super().to(*arguments, **keywords)

    def structure(self):
        """What generate_input gives, without values where that can be had."""
        if not hasattr(self, "_structure"):
            try:
                with torch.device("meta"):
                    self._structure = _generate()
            except Exception:
                self._structure = _generate()
        return self._structure

    def forward(self, {forward}):
        shape = self.structure()
        leaves, buffers = _leaves(shape), []
        for at in {buffers!r}:
            one = leaves[at]
            wide = self.precision if self.precision is not None and one.is_floating_point() else one.dtype
            buffers.append(torch.empty(one.shape, dtype=wide, device={names[tensors[0]]}.device))
        given = [{places}]
        with _Here(self.precision):
            made = _reference().{board.compared}(_rebuilt(shape, iter(given)))
        made = list(made.values()) if isinstance(made, dict) else list(made) if isinstance(made, (list, tuple)) else [made]
        return tuple(one.to(torch.uint8) if one.dtype == torch.bool else one for one in made)


def get_inputs():
    leaves = _leaves(_generate())
    return [leaves[at] for at in {tensors!r}]


def get_init_inputs():
    return []


def accepts(inputs, outputs):
    """Whether the problem's own check takes these outputs for these inputs, and what it says."""
    shape = _generate()
    leaves = _leaves(shape)
    for at, one in zip({tensors!r}, inputs):
        leaves[at] = one
    with _Here():
        told = _reference().check_implementation(_rebuilt(shape, iter(leaves)), outputs[0] if len(outputs) == 1 else tuple(outputs))
    return (bool(told[0]), str(told[1])) if isinstance(told, tuple) else (not told, str(told))
'''


def unread_leaves(leaves, tensors, run):
    """Returns which of the leaves `tensors` do not show in the reference's results: these stay the same to the bit whatever the leaf holds.
    `run(leaves)` returns the results' leaves."""
    import torch

    def outcome(at, value):
        given = [one.clone() if torch.is_tensor(one) else one for one in leaves]
        if at is not None:
            given[at].fill_(value)
        return [one.clone() for one in run(given)]

    def same(one, other):
        return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())

    try:
        usual = outcome(None, 0)
        return [at for at in tensors
                if all(len(usual) == len(one) and all(map(same, usual, one)) for one in (outcome(at, 0), outcome(at, 1)))]
    except Exception:  # the reference cannot do with such values, so it reads them
        return []


def untouched_memory(generate):
    """Returns what `generate` gives, and the addresses of the memory that torch.empty and its like made within it and nothing wrote to."""
    import torch
    made = {}

    class Watch(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, kinds, arguments=(), keywords=None):
            keywords = keywords or {}
            name = getattr(function, "__name__", "")
            result = function(*arguments, **keywords)
            if name in ("empty", "empty_like", "empty_strided", "new_empty") and torch.is_tensor(result):
                made[result.untyped_storage().data_ptr()] = result  # kept, so that no other tensor gets its address
            elif name == "__setitem__" or "out" in keywords or (name.endswith("_") and not name.endswith("__")):
                for one in (*arguments, *keywords.values()):
                    if torch.is_tensor(one):
                        made.pop(one.untyped_storage().data_ptr(), None)
            return result

    with Watch():
        data = generate()
    return data, {address for address, one in made.items() if one.numel() > 0}


def board_problem(job, notes):
    """Returns a folder in GPU MODE's format as a problem: the problem's text and what else describe.py needs, as problem_of does."""
    import torch
    board = Board(job)
    asked = job.get("sizes", {})
    for name in asked:
        if name not in board.varying():
            raise Refused(f"--case {name}={asked[name]}: {board.file} has no argument {name} that is a whole number in every case"
                          + (f"; it has {', '.join(board.varying())}" if board.varying() else ""))
    product = lambda case: math.prod(case[name] for name in board.varying())
    small = min(board.tests, key=product)
    timed = [{**board.timed[0], **asked}] if asked else sorted(board.timed, key=product, reverse=True)
    settings = {name: value for name, value in timed[0].items() if name not in board.varying()}
    # Runs the reference once at small sizes, to see which parts the inputs have and which of them the reference fills.
    probe = {**{name: value for name, value in small.items() if name in board.varying()}, **settings}
    names = {"torch": torch, "__name__": "hone_board"}
    try:
        exec(compile(board_text(board, probe, ["x"], [0], []), board.folder, "exec"), names)
        with torch.no_grad():
            data, untouched = untouched_memory(names["_generate"])
            leaves = leaves_of(data)
            with names["_Here"]():
                made = getattr(names["_reference"](), board.compared)(data)
        outputs = leaves_of(made)
    except Refused:
        raise
    except Exception as error:
        raise Refused(explain(error, f"{REFERENCE} of {board.folder} at {probe}")) from error
    for i, one in enumerate(leaves):
        if not torch.is_tensor(one) and not isinstance(one, (int, float, bool)) and one is not None:
            raise Refused(f"{board.folder}: generate_input gives a {type(one).__name__} as its part {i}: kernels take tensors and numbers; "
                          "write a PyTorch problem around it, and give that to --from")
    for one in outputs:
        if not torch.is_tensor(one):
            raise Refused(f"{board.folder}: {board.compared} returns a {type(one).__name__}: kernels write tensors")
    filled = [i for i, one in enumerate(leaves) if torch.is_tensor(one) and any(one is other for other in outputs)]
    tensors = [i for i, one in enumerate(leaves) if torch.is_tensor(one) and i not in filled]

    def again(given):
        with torch.no_grad(), names["_Here"]():
            return leaves_of(getattr(names["_reference"](), board.compared)(names["_rebuilt"](data, iter(given))))

    # At these small sizes an input may show in nothing, so only memory that nobody filled is left out.
    unread = [i for i in tensors if leaves[i].untyped_storage().data_ptr() in untouched]
    unread = unread_leaves(leaves, unread, again) if len(tensors) > len(unread) else []
    tensors = [i for i in tensors if i not in unread]
    if not tensors:
        raise Refused(f"{board.folder}: generate_input gives no tensor that {board.compared} reads: a kernel needs inputs")
    called = names_of(board, data, len(leaves))
    if filled:
        notes.append("results alone, not inputs: " + ", ".join(called[i] for i in filled) + ", which the reference fills and returns")
    if unread:
        notes.append("no inputs, for the reference does not read them: " + ", ".join(called[i] for i in unread))
    if len(tensors) + len(filled) + len(unread) < len(leaves):
        notes.append("numbers beside the tensors, which follow from the sizes as generate_input says: "
                     + ", ".join(f"{called[i]} = {one}" for i, one in enumerate(leaves) if not torch.is_tensor(one)) + f" at {probe}")
    if settings:
        notes.append("values follow no setting of the cases (" + ", ".join(f"{name} = {value}" for name, value in settings.items())
                     + " at the first): the judge draws its own")
    varying = board.varying()
    seen, shapes = set(), []
    for case in timed:
        key = tuple(case[name] for name in varying)
        if key not in seen:
            seen.add(key)
            shapes.append({name: case[name] for name in varying})
    if len(shapes) > MOST_TIMED:
        notes.append(f"{MOST_TIMED} of {len(shapes)} benchmarks are timed, from the largest to the smallest: --case times another")
        shapes = [shapes[round(i * (len(shapes) - 1) / (MOST_TIMED - 1))] for i in range(MOST_TIMED)]
    return {"text": board_text(board, {**timed[0], **shapes[0]}, called, tensors, filled + unread), "name": board.name, "constant": [], "outputs": None,
            "small": {name: small[name] for name in varying}, "multiples": {name: board.common(name) for name in varying},
            "values": {name: sorted({case[name] for case in board.timed + board.tests}) for name in varying},
            "timed": shapes[1:], "summary": board.summary, "scalars": {}, "tolerance": board.tolerance or None,
            "board": {"problem": board.name, "leaves": tensors, "filled": filled, "inputs": len(leaves)}}
