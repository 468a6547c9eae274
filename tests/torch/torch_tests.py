# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""torch_tests.py HONE PART…: tests PyTorch modules as tasks, on the simulated GPU.

PART is a problem of problems/, which becomes a task. A candidate is judged twice: right, and with a planted error, which must be
refused. The candidate is the problem's kernel in kernels/, on the simulated GPU, or without one the module itself as a ModelNew, in
a process of its own. Or PART is "bad_input", "package", "check", "masks", "tutorial", "apply", "hosted", "lifted", "search", "unseeded", "tolerances", "definitions",
"boards" or "soft_gate". Prints what fails and ends with 1.
"""
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

import host_library

HERE = os.path.dirname(os.path.abspath(__file__))

# By problem, what its task must say: its class, its slice, the dims that vary, the names of its tensors ("": any).
EXPECTED = {
    "gated_tanh": ("elementwise", "rows", "rows width", "x gate out"),
    "row_softmax": ("reduction", "rows", "rows width", "logits out"),
    "layer_norm": ("reduction", "tokens", "tokens features", "x norm_weight norm_bias out"),
    "linear_relu": ("gemm", "batch_size", "batch_size in_features out_features", "x fc_weight fc_bias out"),
    "column_mean": ("reduction", "batch_size", "batch_size length channels", "x out"),
    "conv_gelu": ("convolution", "batch_size", "batch_size in_channels out_channels height width", "image conv_weight conv_bias out"),
    "batch_norm": ("reduction", "", "batch_size channels pixels", "x norm_weight norm_bias norm_running_mean norm_running_var out"),
    "mean_and_spread": ("reduction", "rows", "rows width", "x out0 out1"),
    "scaled_residual": ("gemm", "tokens", "tokens features", "x scale project_weight out"),
    "small_mlp": ("gemm", "batch_size", "batch_size in_features hidden classes", ""),
    "attention_block": ("attention", "batch_size", "batch_size length embedding", ""),
    "embedding_sum": ("gather", "batch_size", "batch_size bag vocabulary width", "ids table_weight out"),
    "max_pool": ("reduction", "batch_size", "batch_size channels height width", "x out"),
    "half_swiglu": ("elementwise", "tokens", "tokens width", "gate up out"),
    "masked_choice": ("elementwise", "rows", "rows width", "x mask out0 out1"),
    "listed_sizes": ("gemm", "batch_size", "batch_size input_shape layer_sizes_0 layer_sizes_1", ""),
    "square_of_one_size": ("reduction", "", "rows", "x signs out"),
    "given_state": ("gemm", "batch", "batch steps inner", ""),
}

# By problem, an error to plant: a text and its replacement, in the problem's kernel, or in its module if it has no kernel.
PLANTED = {
    "hard_swish": ("x[i] + 3.0f", "x[i] + 2.99f"),
    "elu_chain": ("0.7f * expm1f", "0.701f * expm1f"),
    "mish": ("log1pf(expf(x[i]))", "log1pf(expf(fmaxf(x[i], -3.0f)))"),
    "diagonal_scale": ("d[i / width]", "d[min(i / width, 7LL)]"),
    "log_softmax": ("- logf(sum)", "- 1.001f * logf(sum)"),
    "rms_norm": ("+ 1e-5f);", "+ 1e-2f);"),
    "group_norm": ("double>(count) + 1e-5", "double>(count - 1) + 1e-5"),
    "instance_norm": ("i < pixels; ++i) squares", "i < pixels - 1; ++i) squares"),
    "l2_normalize": ("sqrt(squares)", "sqrt(squares + 1e-2)"),
    "largest_of_rows": ("i = 1; i < width", "i = 1; i < width - 1"),
    "running_sum": ("float sum = 0.0f", "float sum = x[r * length] * 1e-3f"),
    "masked_running_sum": ("i = length - 1", "i = length - 2"),
    "huber_loss": ("d - 0.5f", "d - 0.49f"),
    "cross_entropy": ("labels[r]]", "0]"),
    "cosine_distance": ("1.0 - product", "1.001 - product"),
    "hinge_by_rows": ("= 1.0f - x", "= 0.99f - x"),
    "transposed_product": ("transpose_a = true", "transpose_a = true\nepilogue = \"gelu_tanh\""),
    "batched_product": ('b    = "b"\n', 'b    = "b"\ntranspose_b = true\n'),
    "matrix_vector": ("k < inner", "k < inner - 1"),
    "lower_triangle": ("i % size > i / size", "i % size >= i / size"),
    "average_pool": ("sum / 9.0f", "sum / 8.9f"),
    "dilated_max_pool": ("at[4]", "at[3]"),
    "depthwise_conv": ("z >= width", "z >= width - 1"),
    "dilated_conv": ("2 * d]", "d]"),
    "transposed_conv": ("row % 2 * 2", "row % 2"),
    "linear_gelu_softmax": ("0.70710678f", "0.69f"),
    "linear_sigmoid_sum": ("i < width", "i < width - 1"),
    "linear_scale_clamp": ("-1.0f), 1.0f", "-1.0f), 0.99f"),
    "linear_norm_residual": ("x[r * width + i] + (h", "(h"),
    "conv_tanh_pool": ("torch.tanh(self.conv(image))", "torch.tanh(1.01 * self.conv(image))"),
    "tiny_gru": ("self.gru(x)[0]", "self.gru(x)[0] * 1.001"),
    "tiny_cnn": ("F.relu(self.second(x))", "F.leaky_relu(self.second(x))"),
    "residual_mlp": ("x + self.down", "0.999 * x + self.down"),
    "squeeze_excite": ("x.mean(dim=(2, 3))", "x.amax(dim=(2, 3))"),
    "cross_attention": ("x.shape[-1] ** 0.5", "x.shape[-1] ** 0.49"),
    "attention_block": ("math.sqrt(width // self.heads)", "math.sqrt(width)"),
    "small_mlp": ('epilogue    = "relu"\nout         = "second"', 'out         = "second"'),
    "conv_gelu": ("0.70710678f", "0.69f"),
    "column_mean": ("k < length", "k < length - 1"),
    "layer_norm": ("+ bias[i]", "+ 1.01f * bias[i]"),
    "max_pool": ("at[width + 1]", "at[width]"),
    "half_swiglu": ("expf(-x)", "expf(-1.02f * x)"),
    "scaled_residual": ("x[i] + scale", "0.999f * x[i] + scale"),
    "masked_choice": ("mask[i] && chosen", "chosen"),
    "grouped_conv_chain": ("self.second(x) - 0.1", "self.second(x) - 0.101"),
    "upsampled_volume": ("* 2.0", "* 2.001"),
    "long_lstm": ("return out[:, -1], last", "return out[:, -2], last"),
    "listed_sizes": ("return self.network(x)", "return self.network[:-1](x)"),
    "gated_tanh": ("out[i] = tanhf", "out[i] = (i % 61 == 60 ? 0.99f : 1.0f) * tanhf"),
    "row_softmax": ("i < width; i += 32) sum", "i < width - 1; i += 32) sum"),
    "linear_relu": ("float sum = bias[column]", "float sum = 0.0f"),
    "mean_and_spread": ("sqrtf(squares)", "sqrtf(squares * 1.001f)"),
    "square_of_one_size": ("1.0 - x * signs", "0.99 - x * signs"),
    "given_state": ("return self.net(x, h0)[0]", "return self.net(x, 0.99 * h0)[0]"),
    "batch_norm": ("static_cast<float>(count - 1)", "static_cast<float>(count)"),
    "embedding_sum": ("k < bag;", "k < bag - 1;"),
}

# By problem, options of `hone new`.
OPTIONS = {"given_state": ["--input", "h0=float32[layers,batch,inner]"]}

# By problem, a pattern of what its notes say.
NOTES = {"linear_scale_clamp": r"addmm 5\.24 MB and 537 MFLOP, mul 2\.1 MB, sub 2\.1 MB, clamp 2\.1 MB; they move 11\.5 MB, and .* have 5\.24 MB"}

# By problem, changes of its text that reference.py has: (text, replacement).
REWRITTEN = {"square_of_one_size": ("columns = (512,)", "columns = (rows,)")}

# Problems for which `hone new` writes a first version.
SEEDED = {"average_pool", "batched_product", "column_mean", "conv_gelu", "conv_tanh_pool", "depthwise_conv", "dilated_conv", "elu_chain",
          "gated_tanh", "group_norm", "grouped_conv_chain", "hard_swish", "hinge_by_rows", "l2_normalize", "largest_of_rows",
          "layer_norm", "linear_gelu_softmax", "linear_norm_residual", "linear_relu", "linear_scale_clamp", "linear_sigmoid_sum",
          "listed_sizes", "log_softmax", "max_pool", "mish", "residual_mlp", "rms_norm", "row_softmax", "running_sum", "scaled_residual",
          "small_mlp", "square_of_one_size", "squeeze_excite", "tiny_cnn", "transposed_conv", "transposed_product", "upsampled_volume"}

# Finished modules for linear_relu (submissions/), and their verdicts.
SUBMISSIONS = {
    "right": "ok",
    "zeros_and_a_patched_judge": "wrong_output",
    "kept_by_address": "wrong_output",
    "lazy": "rule_violation",
    "changes_its_input": "rule_violation",
    "writes_late": "wrong_output",
    "looks_around": "ok",
    "fails_at_once": "crashed",
    "norm_without_weight": "wrong_output",
    "norm_of_other_names": "ok",
}

# By definition (definitions/): its tensors, its dims, the number of timed cases, and a text of its kernel with the error that replaces it.
DEFINITIONS = {
    "rmsnorm_h64": ("hidden_states weight output", "batch_size", 3, ("squares / 64.0f + eps", "squares / 60.0f + eps")),
    "gemm_n48_k64": ("a b bias c", "m", 2, ("k < 64", "k < 63")),
    "fp8_gemm": ("a b c", "m", 2, ("i < 128", "i < 127")),
    "top_k_gating_e16_k4": ("logits taken weights ids", "tokens", 1, ("one > most", "one >= most")),
    "fp4_rows_b16": ("packed scale sums", "rows", 1, ("byte >> 4 & 7", "byte >> 4 & 3")),
    "whiten_rows": ("x row_var y", "rows", 2, ("rsqrtf(row_var[row])", "rsqrtf(row_var[row] + 0.01f)")),
    "segment_mean_d32": ("values ids indptr mean", "batch_size rows total", 1, ("max(end - begin, 1)", "(end - begin + 1)")),
}

# (name, change of rmsnorm_h64's definition, text of its workloads or None for none, options, pattern of the message)
BAD_DEFINITIONS = [
    ("json", "{", None, [], r"definition\.json is no JSON .*give a definition"),
    ("no_run", {"reference": "def go(x):\n    return x\n"}, None, [], r"no function run at its top level"),
    ("kernels", {"reference": "import triton.language as tl\n\n\ndef run(hidden_states, weight, eps):\n    return hidden_states\n"}, None, [],
     r"reference imports triton, whose kernels nothing here can evaluate in double precision: write run in PyTorch's operators"),
    ("syntax", {"reference": "def run(:\n"}, None, [], r"line 1 of reference is not Python .*mend it"),
    ("unknown_axis", {"outputs": {"output": {"shape": ["rows"], "dtype": "float32"}}}, None, [], r"output has an axis rows, which 'axes' does not have"),
    ("fp4_answer", {"outputs": {"output": {"shape": ["batch_size", "hidden_size"], "dtype": "float4_e2m1"}}}, None, [],
     r"output output is float4_e2m1, which a reference in PyTorch cannot answer: write the task by hand"),
    ("no_dtype", {"outputs": {"output": {"shape": ["batch_size"], "dtype": "float6"}}}, None, [], r"output is float6, which tasks do not hold"),
    ("no_workload", {}, None, [], r"needs sizes for batch_size: give its workloads with --workload FILE\.jsonl"),
    ("no_size", {}, {"axes": {}, "inputs": {}}, [], r"workload\.jsonl:1 has no size for the axis batch_size"),
    ("no_number", {}, {"axes": {"batch_size": 8}, "inputs": {}}, [], r"gives eps as random, and by the definition it is a number"),
    ("custom", {}, {"axes": {"batch_size": 8}, "inputs": {"weight": {"type": "custom"}}}, [],
     r"draws weight by code of the definition \(custom\), and definition\.json names none: give it custom_inputs_entrypoint"),
    ("no_entrypoint", {"custom_inputs_entrypoint": "draw"}, {"axes": {"batch_size": 8}, "inputs": {}}, [],
     r"custom_inputs_entrypoint names draw, and reference has no such function at its top level: mend the name"),
    ("no_blob", {}, {"axes": {"batch_size": 8}, "inputs": {"weight": {"type": "safetensors", "path": "blob/w.safetensors", "tensor_key": "w"},
                                                         "eps": {"type": "scalar", "value": 1e-5}}}, [],
     r"reads blob/w\.safetensors, and there is no such file .*fetch the data set's blobs"),
    ("other_axis", {}, {"axes": {"batch_size": 8}, "inputs": {"eps": {"type": "scalar", "value": 1e-5}}}, ["--case", "rows=3"],
     r"no axis rows that varies; it has batch_size"),
    ("fails", {"reference": "import torch\n\ndef run(hidden_states, weight, eps):\n    return hidden_states @ hidden_states\n"},
     {"axes": {"batch_size": 8}, "inputs": {"eps": {"type": "scalar", "value": 1e-5}}}, [], r"failed \(RuntimeError: .*mend the file"),
    ("other_dtype", {"reference": "def run(hidden_states, weight, eps):\n    return hidden_states.float()\n"},
     {"axes": {"batch_size": 8}, "inputs": {"eps": {"type": "scalar", "value": 1e-5}}}, [], r"gives output as float32, and the definition says bfloat16"),
    ("constraint", {"constraints": ["batch_size % 32 == 0"]}, {"axes": {"batch_size": 8}, "inputs": {"eps": {"type": "scalar", "value": 1e-5}}}, [],
     r"batch_size % 32 == 0 does not hold: mend the constraints"),
]

HEAD = "import torch\nimport torch.nn as nn\nn = 64\nd = 128\n"
TAIL = "\ndef get_inputs():\n    return [torch.rand(n, d)]\n\ndef get_init_inputs():\n    return []\n"


def module(forward, init=""):
    made = f"class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n{init}\n    def forward(self, x):\n{forward}\n"
    return HEAD + made + TAIL


# (name, problem file, options, exit status, pattern of the message and its remedy)
BAD = [
    ("plain_file", HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return x\n", [], 2,
     r"has no get_inputs\(\): a problem file has a class Model, .* --from problem:Net --input 'x=float32\[rows,width\]' --case"),
    ("script", "print('hello')\n", [], 2, r"neither a CUDA kernel \(__global__\) nor a class derived from torch\.nn\.Module"),
    ("other_classes", HEAD + "class Net(nn.Module):\n    def forward(self, x):\n        return x\n\nclass Twice(nn.Module):\n    def forward(self, x):\n        return 2 * x\n" + TAIL,
     [], 2, r"has no class Model and 2 other modules; name the one that get_inputs\(\) and get_init_inputs\(\) are for"),
    ("syntax", "def get_inputs(:\n  nn.Module", [], 2, r"problem\.py:1: .*mend the line"),
    ("fails", module("        return x @ x"), [], 2, r"Model of .*failed \(RuntimeError: .*mend the file"),
    ("dict", module("        return {'out': x}"), [], 2, r"forward returns a dict: return a tensor or a tuple"),
    ("text", module("        return 'x'"), [], 2, r"forward returns a str: return a tensor"),
    ("network", module("        return x", "        import urllib.request\n        urllib.request.urlopen('http://127.0.0.1:9/w.pt')"), [], 2,
     r"needs the network .*weights=None"),
    ("random", module("        return x + torch.rand_like(x)"), [], 2, r"draws random numbers.*pass them in as an input"),
    ("random_state", module("        return x + (torch.randn(x.size(0), d) if start is None else start)").replace("(self, x)", "(self, x, start=None)"), [], 2,
     r"draws start at random where it is not given .*give them, as in --input 'start=float32\[n,d\]'"),
    ("other_argument", module("        return x if start is None else x + start").replace("(self, x)", "(self, x, start=None)"), ["--input", "begin=float32[n,d]"], 2,
     r"--input begin: forward takes start there, for get_inputs\(\) gives x: name the arguments"),
    ("one_too_many", module("        return x"), ["--input", "y=float32[n,d]"], 2, r"forward takes no more arguments, for get_inputs\(\) gives x: leave it out"),
    ("dropout", module("        return torch.nn.functional.relu(self.drop(x))", "        self.drop = nn.Dropout(0.5)"), [], 2, r"dropout is active.*--eval"),
    ("host_state", module("        return x + self.noise", "        self.noise = torch.rand(d)"), [], 2, r"plain attributes; register them with register_buffer"),
    ("data_dependent", module("        return x[x > 0.5]"), [], 2, r"(depend on data|shape).*inputs' shapes"),
    ("unique", module("        return torch.unique((x * 10).long())"), [], 2, r"depend on data \(.* for heavy tailed inputs\)"),
    ("other_bytes", module("        return x.view(torch.int32)"), [], 2, r"does not run in double precision: output 0 has the shape \[64, 256\] there"),
    ("inputs_dict", module("        return x").replace("return [torch.rand(n, d)]", "return {'x': torch.rand(n, d)}"), [], 2,
     r"get_inputs\(\) returns a dict: return a list"),
    ("no_double", module("        return x @ torch.ones(d, 4, dtype=torch.float32)"), [], 2, r"does not run in double precision .*dtype of its inputs"),
    ("complex", module("        return torch.complex(x, x)"), [], 2, r"is complex64, which tasks do not hold: use one of .*bool"),
    ("in_place", module("        return x.mul_(2)"), [], 2, r"changes one of its inputs in place: clone it"),
    ("gpu", module("        return x.to('cuda')"), [], 2, r"asks for a GPU .*leave the device out"),
    ("package", "import no_such_package\n" + module("        return x"), [], 2, r"install that package for"),
    ("ends", "import os\nos._exit(3)\n" + module("        return x"), [], 2, r"the Python process ended with exit status 3"),
    ("memory", HEAD + "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.w = nn.Parameter(torch.ones(1 << 38, device='cpu'))\n"
     "    def forward(self, x):\n        return x * self.w[0]\n" + TAIL, [], 2, r"takes more memory than it is given .*--memory"),
    ("endless", module("        return x", "        while True: pass"), ["--limit", "20"], 2, r"took more than 20 s .*--limit"),
    ("writes", "open('/tmp/hone-was-here', 'w')\n" + module("        return x"), [], 2, r"failed \(PermissionError"),
    ("no_size", module("        return x"), ["--case", "m=3"], 2, r"no module-level whole number m; it has n, d"),
    ("kernel_options", module("        return x"), ["--kernel", "k"], 2, r"this is a PyTorch module: leave them out"),
]

failures = 0


def fail(what, told=""):
    global failures
    failures += 1
    print(f"FAILED: {what}\n{told}", flush=True)


def run(arguments, cwd):
    done = subprocess.run([HONE] + arguments, cwd=cwd, capture_output=True, text=True, timeout=900)
    return done.returncode, done.stdout, done.stderr


def bring_in(name, path, folder, options=()):
    code, out, err = run(["new", name, "--from", path, "--out", os.path.join(folder, name), "--json", *options], folder)
    if not out:
        fail(f"{name} is not brought in ({code})", err)
        return None
    return json.loads(out)


def judge(task, kernel, folder, seed=1):
    code, out, err = run(["eval", task, kernel, "--device", "sim", "--no-time", "--seed", str(seed), "--json"], folder)
    if not out:
        fail(f"{task} is not judged ({code})", err)
        return {"verdict": "none"}
    return json.loads(out)


def problem(name, folder):
    began = time.monotonic()
    judge_problem(name, folder)
    print(f"{name}: {time.monotonic() - began:.1f} s in all", flush=True)


def judge_problem(name, folder):
    told = bring_in(name, os.path.join(HERE, "problems", name + ".py"), folder, ["--no-check", *OPTIONS.get(name, [])])
    if told is None:
        return
    print(f"{name}: {told['seconds']:.1f} s; " + "; ".join(told["notes"]), flush=True)
    if not re.search(NOTES.get(name, ""), "; ".join(told["notes"])):
        fail(f"{name}: no note matches {NOTES[name]}")
    task = os.path.join(folder, name)
    code, out, err = run(["tasks", "show", task, "--json"], folder)
    if code != 0:
        return fail(f"{name} cannot be shown", err)
    shown = json.loads(out)
    expected(name, shown)
    with open(os.path.join(task, "reference.py"), encoding="utf-8") as copy, \
            open(os.path.join(HERE, "problems", name + ".py"), encoding="utf-8") as original:
        module = original.read()
        written, wanted = copy.read(), module.replace(*REWRITTEN.get(name, ("", "")))
        if not written.startswith(wanted) or (name not in OPTIONS and written != wanted):
            fail(f"{name}: reference.py is not the problem file", written)
    seed = os.path.join(task, "seed.cu")
    if told["seed"] != (name in SEEDED) or os.path.exists(seed) != told["seed"]:
        fail(f"{name}: a first version is {'' if told['seed'] else 'not '}written", str(os.listdir(task)))
    if told["seed"]:
        judged = judge(task, seed, folder)
        if judged["verdict"] != "ok":
            fail(f"{name}: seed.cu is {judged['verdict']}", judged.get("detail", ""))
    kernel = os.path.join(HERE, "kernels", name + ".cu")
    ending = ".cu" if os.path.exists(kernel) else ".py"
    if ending == ".cu":
        with open(kernel, encoding="utf-8") as source:
            module = source.read()
    else:
        module = module.replace("class Model(", "class ModelNew(")
    before, after = PLANTED[name]
    if before not in module:
        return fail(f"{name}: the error to plant has no place")
    for verdict, text in (("ok", module), ("wrong_output", module.replace(before, after))):
        candidate = os.path.join(folder, f"{name}_{verdict}{ending}")
        with open(candidate, "w", encoding="utf-8") as file:
            file.write(text)
        judged = judge(task, candidate, folder)
        if judged["verdict"] != verdict:
            fail(f"{name}: {os.path.basename(candidate)} is {judged['verdict']}", judged.get("detail", ""))


# By problem: True if the output's small results cancel in rows of few elements, False if small results are as accurate as large ones.
FORGIVEN = {"linear_relu": True, "conv_gelu": True, "gated_tanh": False}


# Kernels that are wrong where soft_gate's results are small: a text of its first version, and what replaces it.
SMALL_RESULTS_WRONG = {
    "relu": ("out[i] = ", "out[i] = p0[i] < 0.0f ? 0.0f : "),
    "cut_below_minus_4": ("out[i] = ", "out[i] = p0[i] < -4.0f ? 0.0f : "),
    "line_near_zero": ("out[i] = ", "out[i] = fabsf(p0[i]) < 0.004f ? 0.5f * p0[i] : "),
}


def soft_gate(folder):
    """Tests that a module's own float32 errors at stress values are forgiven under every seed, and errors beyond them are not."""
    told = bring_in("soft_gate", os.path.join(HERE, "problems", "soft_gate.py"), folder, ["--no-check"])
    if told is None:
        return
    task = os.path.join(folder, "soft_gate")
    seed = os.path.join(task, "seed.cu")
    for number in range(1, 25):  # without `abs`, three of them are refused
        judged = judge(task, seed, folder, number)
        if judged["verdict"] != "ok":
            fail(f"soft_gate: seed.cu is {judged['verdict']} with --seed {number}", judged.get("detail", ""))
    with open(seed, encoding="utf-8") as file:
        text = file.read()
    for name, (before, after) in SMALL_RESULTS_WRONG.items():
        wrong = os.path.join(folder, name + ".cu")
        with open(wrong, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after))
        for number in (1, 2):
            verdict = judge(task, wrong, folder, number)["verdict"]
            if before not in text or verdict != "wrong_output":
                fail(f"soft_gate: {name} is {verdict} with --seed {number}")


def expected(name, shown):
    if name in FORGIVEN and (shown["tolerance"]["out"]["abs"] > 1e-20) != FORGIVEN[name]:
        fail(f"{name}: abs is {shown['tolerance']['out']['abs']}")
    if name not in EXPECTED:
        return
    workload, sliced, dims, tensors = EXPECTED[name]
    found = (shown["class"], shown["slice"], " ".join(shown["dims"]), " ".join(one["name"] for one in shown["tensors"]))
    for what, wanted, have in zip(("class", "slice", "dims", "tensors"), (workload, sliced, dims, tensors or found[3]), found):
        same = sorted(wanted.split()) == sorted(have.split()) if what == "dims" else wanted == have
        if not same:
            fail(f"{name}: {what} is '{have}', expected '{wanted}'")


def bad_input(folder):
    for name, text, options, status, pattern in BAD:
        path = os.path.join(folder, "problem.py")
        with open(path, "w", encoding="utf-8") as source:
            source.write(text)
        out = os.path.join(folder, "bad_" + name)
        code, said, err = run(["new", "bad", "--from", path, "--out", out, "--no-check", *options], folder)
        message = err[err.find("hone: "):] if "hone: " in err else err
        sentence = [line for line in err.splitlines() if line.startswith("hone: ") and "warning" not in line]
        if code != status or not re.search(pattern, err):
            fail(f"bad input '{name}': exit status {code}", said + message)
        elif len(sentence) != 1:
            fail(f"bad input '{name}' is told in {len(sentence)} lines", err)
        elif os.path.exists(out):
            fail(f"bad input '{name}' leaves {os.listdir(out)}")
        else:
            print(f"{name}: {sentence[0]}", flush=True)


def definitions(folder):
    """Tests definitions of FlashInfer-Bench and SOL-ExecBench: they become tasks, right and wrong kernels are judged, bad ones are refused."""
    here = os.path.join(HERE, "definitions")
    for name, (tensors, dims, timed, (before, after)) in DEFINITIONS.items():
        began = time.monotonic()
        told = bring_in(name, os.path.join(here, name + ".json"), folder, ["--workload", os.path.join(here, name + ".jsonl"), "--no-check"])
        if told is None:
            continue
        task = os.path.join(folder, name)
        for copy, original in (("definition.json", name + ".json"), ("workload.jsonl", name + ".jsonl")):
            with open(os.path.join(task, copy), encoding="utf-8") as kept, open(os.path.join(here, original), encoding="utf-8") as first:
                if kept.read() != first.read():
                    fail(f"{name}: {copy} is no exact copy")
        code, out, err = run(["tasks", "show", task, "--json"], folder)
        if code != 0:
            fail(f"{name} cannot be shown", err)
            continue
        shown = json.loads(out)
        found = (" ".join(one["name"] for one in shown["tensors"]), " ".join(shown["dims"]), sum(one["role"] == "time" for one in shown["cases"]))
        if found != (tensors, dims, timed):
            fail(f"{name} has {found}")
        with open(os.path.join(here, name + ".cu"), encoding="utf-8") as source:
            text = source.read()
        if before not in text:
            fail(f"{name}: the error to plant has no place", text)
            continue
        for verdict, planted in (("ok", text), ("wrong_output", text.replace(before, after))):
            candidate = os.path.join(folder, f"{name}_{verdict}.cu")
            with open(candidate, "w", encoding="utf-8") as file:
                file.write(planted)
            judged = judge(task, candidate, folder)
            if judged["verdict"] != verdict:
                fail(f"{name}: {os.path.basename(candidate)} is {judged['verdict']}", judged.get("detail", ""))
        print(f"{name}: {time.monotonic() - began:.1f} s; " + "; ".join(told["notes"]), flush=True)
    workload = os.path.join(folder, "random.jsonl")
    with open(workload, "w", encoding="utf-8") as file:
        file.write('{"axes": {"rows": 9}, "inputs": {"x": {"type": "random"}, "row_var": {"type": "random"}}, "uuid": "9"}\n')
    told = bring_in("whiten_named", os.path.join(here, "whiten_rows.json"), folder, ["--workload", workload, "--no-check"])
    if told is not None and not any(note.startswith("row_var is drawn as SOL-ExecBench's harness takes its name") for note in told["notes"]):
        fail("a variance is not drawn as one", str(told["notes"]))
    boards_page(folder)
    with open(os.path.join(here, "rmsnorm_h64.json"), encoding="utf-8") as source:
        original = json.load(source)
    for name, change, workload, options, pattern in BAD_DEFINITIONS:
        place = os.path.join(folder, "bad_definition_" + name)
        os.makedirs(place)
        with open(os.path.join(place, "definition.json"), "w", encoding="utf-8") as file:
            file.write(change if isinstance(change, str) else json.dumps({**original, **change}))
        if workload is not None:
            with open(os.path.join(place, "workload.jsonl"), "w", encoding="utf-8") as file:
                file.write(json.dumps(workload) + "\n")
        out = os.path.join(place, "task")
        code, _, err = run(["new", "bad", "--from", os.path.join(place, "definition.json"), "--out", out, "--no-check", *options], folder)
        sentence = [line for line in err.splitlines() if line.startswith("hone: ") and "warning" not in line]
        if code != 2 or not re.search(pattern, err) or len(sentence) != 1 or os.path.exists(out):
            fail(f"bad definition '{name}' ends with {code}", err)
        else:
            print(f"{name}: {sentence[0]}", flush=True)


def boards_page(folder):
    """Follows docs/boards.md as a reader would. FlashInfer-Bench's own validators check the files written, if they are installed."""
    with open(os.path.join(HERE, "..", "..", "docs", "boards.md"), encoding="utf-8") as page:
        commands = re.findall(r"```sh\nhone ([^\n]*)\n```", page.read())
    os.symlink(os.path.join(HERE, ".."), os.path.join(folder, "tests"))
    if len(commands) != 6:
        fail(f"docs/boards.md has {len(commands)} commands")
    for command in commands:
        code, out, err = run(command.split() + (["--device", "sim"] if command.startswith("eval") else []), folder)
        if code != 0:
            return fail(f"hone {command} ends with {code}", out + err)
    with open(os.path.join(folder, "hone_rmsnorm_h64", "rmsnorm_h64_solution.json"), encoding="utf-8") as file:
        solution = file.read()
    with open(os.path.join(folder, "traces.jsonl"), encoding="utf-8") as file:
        traces = file.read().splitlines()
    told = json.loads(solution)
    if (told["definition"], told["spec"]["language"], told["spec"]["entry_point"]) != ("rmsnorm_h64", "cuda", "kernel.cu::run"):
        fail("the Solution has other fields", solution[:500])
    found = [(one["definition"], one["solution"], one["workload"]["uuid"], one["evaluation"]["status"]) for one in map(json.loads, traces)]
    if found != [("rmsnorm_h64", told["name"], f"rmsnorm-{size}", "PASSED") for size in (512, 96, 7)]:
        fail("the Traces have other fields", str(found))
    with open(os.path.join(folder, "hone_rmsnorm_h64_sol", "rmsnorm_h64_solution.json"), encoding="utf-8") as file:
        sol_solution = file.read()
    spec = json.loads(sol_solution)["spec"]
    if (spec["languages"], spec["target_hardware"], spec["compile_options"]["cuda_cflags"]) != (["cuda_cpp"], ["LOCAL"], ["-O3"]):
        fail("SOL-ExecBench's Solution has other fields", json.dumps(spec))
    sol_validators(sol_solution, traces)
    try:
        from flashinfer_bench.data import Definition, Solution, Trace
    except ImportError:
        return print("flashinfer_bench is not installed: its validators were not asked", flush=True)
    Solution.model_validate_json(solution)
    for line in traces:
        Trace.model_validate_json(line)
    for name in ("rmsnorm_h64", "segment_mean_d32", "top_k_gating_e16_k4", "fp8_gemm"):
        with open(os.path.join(HERE, "definitions", name + ".json"), encoding="utf-8") as file:
            Definition.model_validate_json(file.read())
    print("flashinfer_bench's validators take all of it", flush=True)


def sol_validators(solution, traces):
    """Asks the validators of a checkout of SOL-ExecBench, which HONE_SOL_EXECBENCH names, whether they take a Solution, traces and whiten_rows."""
    checkout = os.environ.get("HONE_SOL_EXECBENCH", "")
    if not checkout:
        return print("HONE_SOL_EXECBENCH names no checkout of SOL-ExecBench: its validators were not asked", flush=True)
    sys.path.insert(0, os.path.join(checkout, "src"))
    try:
        from sol_execbench.core.data import Definition, Solution, Trace, Workload
    finally:
        sys.path.pop(0)
    Solution.model_validate_json(solution)
    for line in traces:
        Trace.model_validate_json(line)
    with open(os.path.join(HERE, "definitions", "whiten_rows.json"), encoding="utf-8") as file:
        Definition.model_validate_json(file.read())
    with open(os.path.join(HERE, "definitions", "whiten_rows.jsonl"), encoding="utf-8") as file:
        for line in file:
            Workload.model_validate_json(line)
    print("SOL-ExecBench's validators take all of it", flush=True)


# By problem in GPU MODE's format (boards/): tensors, dims, number of timed cases, and a text of its kernel with the error that replaces it.
BOARDS = {
    "scaled_rows": ("x factors out", "rows width", 2, ("* factors[blockIdx.x]", "* fabsf(factors[blockIdx.x])")),
    "group_quantize": ("x out0 out1", "rows width", 1, ("most / 127.0f", "most / 128.0f")),
}
# (name, file of scaled_rows, text in it, replacement, pattern of the message)
BAD_BOARDS = [
    ("cuda", "task.yml", 'lang: "py"', "lang: cu", r"is a problem in cu, .*hone new --from kernel\.cu"),
    ("several_gpus", "task.yml", 'lang: "py"', "multi_gpu: true", r"is a problem over several GPUs"),
    ("missing_file", "task.yml", "../utils.py", "../tools.py", r"lists \.\./tools\.py, and there is no such file .*whole checkout"),
    ("no_cases", "task.yml", "{\"rows\": 12,", "[\"rows\", 12,", r"is no case|task\.yml:\d+: .*mend the line"),
    ("no_argument", "task.yml", "\"width\": 64, ", "", r"has no width, which generate_input takes"),
    ("tab", "task.yml", "config:\n  main", "config:\n    main: x\n  main", r"task\.yml:\d+: .*mend the line"),
    ("syntax", "reference.py", "def ref_kernel(", "def ref_kernel[", r"reference\.py:\d+: .*mend the line"),
    ("fails", "reference.py", "x * factors[:, None]", "x @ factors[:, None]", r"failed \(RuntimeError"),
    ("property", "reference.py", "check_implementation = make_match_reference(ref_kernel, rtol=1e-4, atol=1e-4)",
     "def check_implementation(data, output):\n    return '' if bool(output.isfinite().all()) else 'not finite'", r"asks for properties .*\[\[property\]\]"),
    ("object", "reference.py", "return x, factors, torch", "return object(), x, factors, torch", r"values to unpack|gives a object as its part 0"),
]


def boards(folder):
    """Tests problem folders in GPU MODE's format: they become tasks, kernels are judged and exported, bad folders are refused."""
    if importlib.util.find_spec("yaml") is None:
        told = run(["new", "scaled_rows", "--from", os.path.join(HERE, "boards", "scaled_rows"), "--no-check"], folder)
        if told[0] == 0 or "pip install pyyaml" not in told[2]:
            fail("without PyYAML the remedy is not said", told[2])
        return print("PyYAML is not installed: no problem was brought in", flush=True)
    import torch
    here = os.path.join(HERE, "boards")
    for name, (tensors, dims, timed, (before, after)) in BOARDS.items():
        began = time.monotonic()
        told = bring_in(name, os.path.join(here, name), folder, ["--no-check"])
        if told is None:
            continue
        task = os.path.join(folder, name)
        code, out, err = run(["tasks", "show", task, "--json"], folder)
        if code != 0:
            fail(f"{name} cannot be shown", err)
            continue
        shown = json.loads(out)
        found = (" ".join(one["name"] for one in shown["tensors"]), " ".join(shown["dims"]), sum(one["role"] == "time" for one in shown["cases"]))
        if found != (tensors, dims, timed):
            fail(f"{name} has {found}")
        with open(os.path.join(task, "LICENSE.problem"), encoding="utf-8") as kept, open(os.path.join(here, "LICENSE"), encoding="utf-8") as first:
            if kept.read() != first.read():
                fail(f"{name}: its licence is no exact copy")
        with open(os.path.join(task, "task.toml"), encoding="utf-8") as file:
            if "accepted = false" not in file.read():
                fail(f"{name}: its licence counts as accepted")
        with open(os.path.join(here, name + ".cu"), encoding="utf-8") as source:
            text = source.read()
        if before not in text:
            fail(f"{name}: the error to plant has no place", text)
            continue
        for verdict, planted in (("ok", text), ("wrong_output", text.replace(before, after))):
            candidate = os.path.join(folder, f"{name}_{verdict}.cu")
            with open(candidate, "w", encoding="utf-8") as file:
                file.write(planted)
            judged = judge(task, candidate, folder)
            if judged["verdict"] != verdict:
                fail(f"{name}: {os.path.basename(candidate)} is {judged['verdict']}", judged.get("detail", ""))
        code, out, err = run(["apply", task, os.path.join(here, name + ".cu"), "--as", "gpumode", "--out", os.path.join(folder, "out_" + name)], folder)
        if code != 0:
            fail(f"apply {name} --as gpumode ends with {code}", out + err)
            continue
        submission(name, os.path.join(folder, "out_" + name, "submission.py"), torch)
        print(f"{name}: {time.monotonic() - began:.1f} s; " + "; ".join(told["notes"]), flush=True)
    code, out, err = run(["apply", os.path.join(HERE, "..", "..", "tasks", "relu"), os.path.join(HERE, "..", "..", "tasks", "relu", "seed.cu"), "--as", "gpumode",
                          "--out", os.path.join(folder, "relu")], folder)
    if code != 2 or "was not made of a problem in GPU MODE's format" not in err or os.path.exists(os.path.join(folder, "relu")):
        fail(f"apply relu --as gpumode ends with {code}", out + err)
    accepted_licence(folder, here)
    for name, file, before, after, pattern in BAD_BOARDS:
        place = os.path.join(folder, "bad_board_" + name)
        shutil.copytree(here, place)
        path = os.path.join(place, "scaled_rows", file)
        with open(path, encoding="utf-8") as source:
            text = source.read()
        if before not in text:
            fail(f"bad board '{name}': its change has no place", text)
        with open(path, "w", encoding="utf-8") as changed:
            changed.write(text.replace(before, after))
        out = os.path.join(place, "task")
        code, _, err = run(["new", "bad", "--from", os.path.join(place, "scaled_rows"), "--out", out, "--no-check"], folder)
        sentence = [line for line in err.splitlines() if line.startswith("hone: ") and "warning" not in line]
        if code != 2 or not re.search(pattern, err) or len(sentence) != 1 or os.path.exists(out):
            fail(f"bad board '{name}' ends with {code}", err)
        else:
            print(f"{name}: {sentence[0]}", flush=True)


def accepted_licence(folder, here):
    """Tests that --accept-licence is kept in the task, that a licence which was not found is not taken for accepted, and that a refusal leaves no task behind."""
    unlicensed = os.path.join(folder, "unlicensed")
    shutil.copytree(here, unlicensed)
    os.remove(os.path.join(unlicensed, "LICENSE"))
    for name, source, options, wanted, licence in (("accepted", here, ["--accept-licence"], "accepted = true", True), ("unfound", unlicensed, [], "accepted = false", False)):
        code, out, err = run(["new", name, "--from", os.path.join(source, "scaled_rows"), "--no-check", *options], folder)
        if code != 1:  # a task that was not checked
            fail(f"new {name} ends with {code}", out + err)
            continue
        with open(os.path.join(folder, "tasks", name, "task.toml"), encoding="utf-8") as file:
            text = file.read()
        if wanted not in text or ("licence = " in text) != licence or os.path.exists(os.path.join(folder, "tasks", name, "LICENSE.problem")) != licence:
            fail(f"{name}: its licence is not as given", text)
    out = os.path.join(folder, "no_board")
    code, _, err = run(["new", "no_board", "--from", os.path.join(here, "scaled_rows.cu"), "--accept-licence", "--out", out], folder)
    if code != 2 or "--accept-licence goes with --from FOLDER" not in err or os.path.exists(out):
        fail(f"--accept-licence with a file ends with {code}", err)


def submission(name, path, torch):
    """Runs a written submission.py between the problem's own generate_input and check. PyTorch on the CPU replaces its kernel."""
    import types
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if not text.startswith(f"#!POPCORN leaderboard {name}\n") or "#include \"hone_" in text or "__global__" not in text:
        fail(f"{name}: its submission is not one that stands alone", text[:2000])

    def quantize(x):
        grouped = x.reshape(x.shape[0], -1, 64)
        scales = grouped.abs().amax(-1) / 127
        return (grouped / scales.unsqueeze(-1)).reshape(x.shape), scales

    made = {"scaled_rows": lambda x, factors: x * factors[:, None], "group_quantize": quantize}[name]
    sys.modules["task"] = types.SimpleNamespace(input_t=object, output_t=object)
    with host_library.on_the_cpu(torch, os.path.dirname(path), []):
        submitted = load(path, "submission_" + name)
    submitted._kernel = made
    data = (torch.randn(8, 64), torch.randn(8), torch.empty(8, 64)) if name == "scaled_rows" else {
        "x": torch.randn(4, 256), "scaled": torch.empty(4, 256), "scales": torch.empty(4, 4), "limit": 127}
    result = submitted.custom_kernel(data)
    if name == "scaled_rows":
        right = torch.equal(result, data[0] * data[1][:, None])
    else:
        right = result[0] is data["scaled"] and result[1] is data["scales"] and torch.allclose(result[0].reshape(4, 4, 64) * result[1].unsqueeze(-1), data["x"].reshape(4, 4, 64))
    if not right:
        fail(f"{name}: custom_kernel answers something else", str(result)[:500])
    sys.modules.pop("task", None)


def package(folder):
    """Tests a class of a module in this folder; options give the inputs, sizes and arguments that it does not state."""
    os.makedirs(os.path.join(folder, "layers"))
    with open(os.path.join(folder, "layers", "__init__.py"), "w", encoding="utf-8"):
        pass
    with open(os.path.join(folder, "layers", "gated.py"), "w", encoding="utf-8") as source:
        source.write("import torch\n\n\nclass Gated(torch.nn.Module):\n    def __init__(self, width, *, bias=True):\n"
                     "        super().__init__()\n        self.gate = torch.nn.Linear(width, width, bias=bias)\n\n"
                     "    def forward(self, x):\n        return x * torch.sigmoid(self.gate(x))\n")
    told = bring_in("gated", "layers.gated:Gated", folder, ["--input", "x=float32[rows,width]", "--case", "rows=512,width=256",
                                                             "--init", "width, bias=False", "--no-check"])
    if told is None:
        return
    code, out, err = run(["tasks", "show", os.path.join(folder, "gated"), "--json"], folder)
    shown = json.loads(out) if code == 0 else fail("gated cannot be shown", err)
    if shown and [one["name"] for one in shown["tensors"]] != ["x", "gate_weight", "out"]:
        fail("gated has other tensors", out)
    if shown and shown["slice"] != "rows":
        fail("gated has another slice", out)
    # A file with get_inputs() says all but which of its two classes is meant.
    with open(os.path.join(folder, "layers", "gated.py"), "a", encoding="utf-8") as source:
        source.write("\n\nclass Other(torch.nn.Module):\n    pass\n\n\nrows, width = 64, 32\n\n\ndef get_inputs():\n    return [torch.randn(rows, width)]\n\n\n"
                     "def get_init_inputs():\n    return [width]\n")
    code, out, err = run(["new", "chosen", "--from", "layers/gated.py"], folder)
    command = ["new", "chosen", "--from", "layers.gated:Gated"]
    if code != 2 or "\n  hone " + " ".join(command) + "\n" not in err:
        fail(f"a file with two modules ends with {code}", out + err)
    code, out, err = run(command + ["--no-check", "--json"], folder)
    if not out or json.loads(out)["inferred"][0] != "class Gated of layers/gated.py, with its get_inputs()":
        fail(f"a class of a file with get_inputs() ends with {code}", out + err)


def check(folder):
    """Tests `hone new` with its check, with times of operators on the CPU, and `hone tasks check` of the task that it made."""
    told = bring_in("linear_relu", os.path.join(HERE, "problems", "linear_relu.py"), folder, ["--profile", "cpu"])
    if told is None:
        return
    profile = told["profile"] or {"operators": []}
    if [(one["name"], one["calls"]) for one in profile["operators"]] != [("addmm", 1), ("relu", 1)] or profile["clock"] != "the host's clock":
        fail("linear_relu has another profile", "\n".join(told["notes"]))
    with open(os.path.join(folder, "linear_relu", "task.toml"), encoding="utf-8") as file:
        if not re.search(r"# what forward's operators cost .*time measured on the CPU \(\d+ threads\) with PyTorch .*: addmm [\d.e+]+ [mu]s, ", file.read()):
            fail("task.toml does not say what operators cost", "\n".join(told["notes"]))
    with open(os.path.join(folder, "linear_relu", "profile.json"), encoding="utf-8") as file:
        if json.load(file) != profile:
            fail("profile.json is another than was told", str(profile))
    if not told["ready"]:
        fail("linear_relu is not ready", "\n".join(told["problems"]) + told["unchecked"])
    code, out, err = run(["tasks", "check", os.path.join(folder, "linear_relu"), "--device", "sim", "--json"], folder)
    if code != 0:
        fail("hone tasks check linear_relu", out + err)


def hosted(folder):
    """Tests a campaign of finished modules on the CPU: typed verdicts, a summary, and nothing judged twice."""
    problems, submissions = os.path.join(folder, "problems", "level1"), os.path.join(folder, "submissions")
    os.makedirs(problems)
    os.makedirs(submissions)
    small = {"batch_size": 96, "in_features": 64, "out_features": 80, "tokens": 96, "features": 64}
    for number, name in ((7, "linear_relu"), (9, "layer_norm")):
        with open(os.path.join(HERE, "problems", name + ".py"), encoding="utf-8") as source:
            text = re.sub(r"^(\w+) = \d+$", lambda found: f"{found[1]} = {small[found[1]]}", source.read(), flags=re.M)
        with open(os.path.join(problems, f"{number}_{name}.py"), "w", encoding="utf-8") as problem_file:
            problem_file.write(text)
    names = {}
    for number, name in enumerate(SUBMISSIONS):
        stem = f"level_1_problem_{9 if name.startswith('norm') else 7}_sample_{number}_kernel"
        names[stem] = name
        shutil.copy(os.path.join(HERE, "submissions", name + ".py"), os.path.join(submissions, stem + ".py"))
    shutil.copy(os.path.join(HERE, "submissions", "right.py"), os.path.join(submissions, "level_1_problem_8_sample_0_kernel.py"))
    command = ["bench", "kernelbench", os.path.join(folder, "problems"), "--judge", submissions, "--device", "sim", "--trials", "2",
               "--out", os.path.join(folder, "results"), "--json"]
    code, out, err = run(command, folder)
    if code != 0:
        return fail(f"bench kernelbench ends with {code}", out + err)
    told = json.loads(out)
    for one in told["submissions"]:
        name = names.get(one["submission"], "of a problem that is not there")
        wanted = SUBMISSIONS.get(name, "no_problem")
        print(f"{name}: {one['verdict']} ({one['seconds']:.1f} s) {one['detail'][:200]}", flush=True)
        if one["verdict"] != wanted:
            fail(f"{name} is {one['verdict']}, not {wanted}", one["detail"])
        if name == "norm_without_weight" and "for norm.weight 1 everywhere" not in one["detail"]:
            fail("the sentence does not name the weight that is left out", one["detail"])
        if name == "norm_of_other_names" and not one["detail"].startswith("norm.bias is 0, norm.weight is 1 everywhere in the module: this verdict cannot tell"):
            fail("the verdict does not say which weights it cannot judge", one["detail"])
        if "over_eager" in one:
            fail(f"{name} has a speedup without a GPU")
    right = sum(verdict == "ok" for verdict in SUBMISSIONS.values())
    level = told["levels"][-1]
    if (level["right"], level["submissions"]) != (right, len(SUBMISSIONS) + 1) or set(level["over_eager"]["fast"]) != {"0"}:
        fail("the summary is another", json.dumps(level))
    # The same command again only judges the one whose verdict is missing, as after a kill.
    kept = os.path.join(folder, "results", "results")
    before = {name: os.stat(os.path.join(kept, name)).st_mtime_ns for name in os.listdir(kept)}
    os.remove(os.path.join(kept, "level_1_problem_7_sample_0_kernel.json"))
    code, out, err = run(command, folder)
    again = json.loads(out) if code == 0 else fail(f"bench kernelbench ends with {code} the second time", out + err)
    if again and [one["verdict"] for one in again["submissions"]] != [one["verdict"] for one in told["submissions"]]:
        fail("the second go says otherwise", out)
    anew = [name for name, when in before.items() if os.stat(os.path.join(kept, name)).st_mtime_ns != when]
    if anew != ["level_1_problem_7_sample_0_kernel.json"]:
        fail(f"judged anew: {anew}")
    code, out, err = run(["eval", os.path.join(folder, "results", "tasks", "level1_7"), os.path.join(HERE, "submissions", "right.py"), "--device", "sim",
                          "--bind", "X=1"], folder)
    if code != 2 or "leave them out" not in err:
        fail(f"--bind for a module ends with {code}", out + err)
    code, out, err = run(["eval", os.path.join(folder, "results", "tasks", "level1_7"), os.path.join(HERE, "submissions", "right.py"), "--device", "sim",
                          "--json"], folder)
    if code != 0 or json.loads(out).get("gates", 0) < 7:
        fail("a verdict on a finished module does not state the version of its gates", out + err)


ANSWER = """import json, sys, time
request = json.load(sys.stdin)
shown = json.dumps(request)
name = "linear_relu" if "fc_weight" in shown else "gated_tanh"
open({marks!r} + name, "a").write("asked\\n")
time.sleep({wait})
print(open({kernels!r} + "/" + name + ".cu").read())
"""


def lifted(folder):
    """Runs lifted_test.py and hosted_timing_test.py, the tests of the referee's part in judging finished modules, serve_test.py, those of the reference's
    process, and operator_times_test.py, those of operators' times."""
    ran = subprocess.run([sys.executable, "-m", "unittest", "lifted_test", "serve_test", "hosted_timing_test", "operator_times_test"], capture_output=True, text=True, timeout=300, cwd=folder,
                         env={**os.environ, "PYTHONPATH": HERE})
    if ran.returncode != 0:
        fail("lifted_test.py, serve_test.py, hosted_timing_test.py or operator_times_test.py", ran.stderr[-4000:])


def search(folder):
    """Tests the suite as a campaign with one run per problem: killed in the middle, resumed, and reported as JSON, a table and a page."""
    problems = os.path.join(folder, "problems", "level1")
    os.makedirs(problems)
    for number, (name, small) in enumerate((("gated_tanh", {"rows": 8, "width": 64}), ("linear_relu", {"batch_size": 8, "in_features": 16, "out_features": 24}))):
        with open(os.path.join(HERE, "problems", name + ".py"), encoding="utf-8") as source:
            text = source.read()
        for size, value in small.items():
            text = re.sub(rf"^{size} = \d+$", f"{size} = {value}", text, flags=re.M)
        with open(os.path.join(problems, f"{number + 1}_{name}.py"), "w", encoding="utf-8") as problem_file:
            problem_file.write(text)
    with open(os.path.join(problems, "3_random.py"), "w", encoding="utf-8") as problem_file:
        problem_file.write("import torch\nimport torch.nn as nn\nrows = 8\n\n\nclass Model(nn.Module):\n    def forward(self, x):\n        return x + torch.randn_like(x)\n\n\n"
                           "def get_inputs():\n    return [torch.rand(rows, 8)]\n\n\ndef get_init_inputs():\n    return []\n")
    answer, marks = os.path.join(folder, "answer.py"), os.path.join(folder, "asked_")

    def command(wait, attempts=1):
        with open(answer, "w", encoding="utf-8") as file:
            file.write(ANSWER.format(kernels=os.path.join(HERE, "kernels"), marks=marks, wait=wait))
        return ["bench", "kernelbench", os.path.join(folder, "problems"), "--model", f"exec:{sys.executable} {answer}", "--strategy", "single",
                "--attempts", str(attempts), "--floor-fraction", "0", "--no-profile", "--device", "sim", "--trials", "2",
                "--out", os.path.join(folder, "results"), "--store", os.path.join(folder, "runs.sqlite"), "--json"]

    # The campaign is killed while the model works on the first problem.
    running = subprocess.Popen([HONE] + command(60), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 300
    while not os.path.exists(marks + "gated_tanh") and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.2)
    running.kill()
    running.wait()
    if not os.path.exists(marks + "gated_tanh"):
        return fail("the campaign ended before its model was asked")
    code, out, err = run(command(0), folder)
    if code != 0:
        return fail(f"the campaign ends with {code} when it goes on", out[-2000:] + err[-2000:])
    told = json.loads(out)
    verdicts = {one["submission"]: one["verdict"] for one in told["submissions"]}
    if verdicts != {"level1_1": "ok", "level1_2": "ok", "level1_3": "refused"}:
        fail("other verdicts", json.dumps(told["submissions"], indent=1)[:3000])
    for one in told["submissions"][:2]:
        if one.get("search", {}).get("attempts") != 1 or one["search"]["run"] != f"kernelbench.{one['submission']}" or "over_eager" in one:
            fail("what the search took is another", json.dumps(one))
        if not os.path.exists(os.path.join(folder, "results", "kernels", one["submission"] + ".cu")):
            fail(f"the kernel of {one['submission']} is not there")
    level = told["levels"][-1]
    if (level["right"], level["submissions"]) != (2, 3):
        fail("the summary is another", json.dumps(level))
    with open(os.path.join(folder, "results", "report.html"), encoding="utf-8") as page:
        text = page.read()
    if "level1_3" not in text or "<table>" not in text:
        fail("the page is another", text[:500])
    # All results are stored, so the model is not asked again.
    asked = os.path.getsize(marks + "linear_relu")
    code, out, err = run(command(0), folder)
    if code != 0 or os.path.getsize(marks + "linear_relu") != asked or json.loads(out)["levels"] != told["levels"]:
        fail(f"the third go ends with {code}, or asks again", err[-1000:])
    # A campaign with other options needs another name.
    code, out, err = run(command(0, attempts=2), folder)
    if code == 0 or "--name" not in err:
        fail(f"another budget under the same name ends with {code}", out[-500:] + err[-500:])


def unseeded(folder):
    """Tests a run of a task without a first version: it starts from the module in eager mode, whose time is modelled on the simulated GPU."""
    if bring_in("embedding_sum", os.path.join(HERE, "problems", "embedding_sum.py"), folder, ["--no-check"]) is None:
        return
    task, answer = os.path.join(folder, "embedding_sum"), os.path.join(folder, "answer.py")
    if os.path.exists(os.path.join(task, "seed.cu")):
        return fail("embedding_sum has a seed: this test needs a task without one")
    code, out, err = run(["optimize", task, "--device", "sim", "--store", os.path.join(folder, "none.sqlite")], folder)
    if code != 2 or "only rewrites kernels: name a model that writes the first one (--model PROVIDER:MODEL" not in err:
        fail(f"the built-in model ends with {code} where no kernel is", out[-1000:] + err[-1000:])
    with open(answer, "w", encoding="utf-8") as file:
        file.write(f"import json, sys\nopen({os.path.join(folder, 'prompt')!r}, 'w').write(json.load(sys.stdin)['messages'][0]['text'])\n"
                   f"print('IDEA: one thread a result\\n\\n```cuda\\n' + open({os.path.join(HERE, 'kernels', 'embedding_sum.cu')!r}).read() + '```')\n")
    command = ["optimize", task, "--model", f"exec:{sys.executable} {answer}", "--strategy", "refine", "--attempts", "1", "--floor-fraction", "0", "--no-profile", "--device", "sim",
               "--store", os.path.join(folder, "runs.sqlite")]
    code, out, err = run([*command, "--json"], folder)
    if not out:
        return fail(f"optimize ends with {code}", err)
    told = json.loads(out)

    def evaluation(node):
        return json.loads(run(["show", told["run"], str(node), "--store", os.path.join(folder, "runs.sqlite"), "--json"], folder)[1])["evaluation"]

    start, made = evaluation(0), evaluation(1)
    if told["baseline"] != "module" or told["best"] != 1 or (start["verdict"], made["verdict"]) != ("ok", "ok") or made["baseline"] != "reference.py":
        return fail("the run is another", out[:3000])
    module_us, case = start["cases"][0]["time_us"]["median"], made["cases"][0]
    if not start["modelled"] or case["baseline_us"] != module_us or abs(told["nodes"][1]["speedup_estimate"] * case["time_us"]["median"] / module_us - 1) > 1e-9:
        fail(f"the speedup is not over the module's {module_us} us", json.dumps(made)[:2000])
    with open(os.path.join(folder, "prompt"), encoding="utf-8") as file:
        prompt = file.read()
    for wanted in ("```python\n", "class Model(nn.Module):", "no operator was timed"):
        if wanted not in prompt:
            fail(f"the prompt has no {wanted}", prompt[:3000])
    code, out, err = run(["show", told["run"], "--store", os.path.join(folder, "runs.sqlite")], folder)
    if "verdict \"ok\" of this run was given before" in out or "speedups are over its PyTorch module in eager mode, whose time is modelled too" not in out:
        fail("the text does not say what speedups are over", out[-2000:] + err[-1000:])
    print(f"embedding_sum from the module: {told['nodes'][1]['speedup_estimate']:.2f}x (modelled)", flush=True)


def load(path, name):
    import importlib.util
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def apply(folder):
    """Tests the exports as Python as far as they run without a GPU: a stand-in replaces the kernel."""
    import torch
    if bring_in("linear_relu", os.path.join(HERE, "problems", "linear_relu.py"), folder, ["--no-check"]) is None:
        return
    kernel = os.path.join(HERE, "kernels", "linear_relu.cu")
    for form in ("kernelbench", "torch"):
        code, out, err = run(["apply", os.path.join(folder, "linear_relu"), kernel, "--as", form, "--out", os.path.join(folder, form)], folder)
        if code != 0:
            return fail(f"apply --as {form} ends with {code}", out + err)

    def stand_in(x, weight, bias):
        return torch.relu(x @ weight.T + bias)

    exported = os.path.join(folder, "kernelbench", "linear_relu_model_new.py")
    with host_library.on_the_cpu(torch, folder, asked := []):
        new = load(host_library.cpu_copy(exported), "model_new")
        for seed in range(5):  # as the benchmark's harness does: it seeds, builds both, and compares
            torch.manual_seed(seed)
            original = new.Model(32, 16)
            torch.manual_seed(seed)
            mine = new.ModelNew(32, 16)
            x = torch.rand(8, 32)
            if not torch.allclose(original(x), mine(x), atol=1e-5):
                fail(f"ModelNew differs from Model under seed {seed}")
            with torch.no_grad():
                for parameter in mine.parameters():
                    parameter.mul_(2)
                if torch.allclose(original(x), mine(x), atol=1e-3):
                    fail("ModelNew does not see that its weights have changed")
        for wrong, said in ((torch.rand(8, 31), "fc_weight: expected torch.float32 of shape (16, 31)"), (torch.rand(8, 32).double(), "x: expected torch.float32"),
                            (torch.rand(8, 32, device="meta"), "takes tensors on a GPU")):
            try:
                new.ModelNew(32, 16)(wrong)
                fail(f"ModelNew takes {wrong.dtype} of shape {tuple(wrong.shape)} on {wrong.device}")
            except ValueError as error:
                if said not in str(error):
                    fail("ModelNew refuses a tensor in other words", str(error))
    try:
        load(exported, "model_new_for_a_gpu").ModelNew(32, 16)(torch.rand(8, 32))
        fail("ModelNew takes tensors on the CPU")
    except ValueError as error:
        if "takes tensors on a GPU" not in str(error):
            fail("ModelNew refuses tensors on the CPU in other words", str(error))
    # Without a GPU its verdict is not about the kernel.
    judged = judge(os.path.join(folder, "linear_relu"), exported, folder)
    if judged["verdict"] != "unsupported" or not judged["detail"].startswith("`hone apply` wrote this file") or "a machine with a GPU" not in judged["detail"]:
        fail(f"an exported ModelNew on the CPU is {judged['verdict']}", judged.get("detail", ""))
    code, out, err = run(["eval", os.path.join(folder, "linear_relu"), exported, "--device", "sim"], folder)
    if "  untimed: without a GPU" not in out:
        fail("the text of a verdict without a time does not say so", out + err)
    source = asked[0]["source"] if asked else ""
    if len(asked) != 1 or "__global__" not in source or '#include "hone_' in source or re.search("#include <(torch|ATen|c10|pybind)", source) or asked[0]["as_module"] or not asked[0]["light"]:
        fail("ModelNew hands load_inline another source", source[:2000])

    op = load(os.path.join(folder, "torch", "hone_linear_relu_op.py"), "hone_linear_relu_op")

    class Layer(torch.nn.Module):
        def forward(self, x, weight, bias):
            return op.linear_relu(x, weight, bias) + 1

    rows = torch.export.Dim("rows", min=2, max=64)
    exported = torch.export.export(Layer(), (torch.rand(8, 32), torch.rand(16, 32), torch.rand(16)),
                                   dynamic_shapes={"x": {0: rows}, "weight": None, "bias": None})
    if "hone.linear_relu" not in str(exported.graph):
        fail("the operator is not in the exported graph", str(exported.graph))
    torch.library.register_kernel("hone::linear_relu", "cpu", stand_in)
    weight = torch.rand(16, 32, requires_grad=True)
    result = op.linear_relu(torch.rand(8, 32), weight, torch.rand(16))
    try:
        result.sum().backward()
        fail("the operator has a backward")
    except NotImplementedError as error:
        if "has no backward" not in str(error):
            fail("a backward is refused in other words", str(error))
    exported_calls(folder)
    serving_operators(folder)


def exported_calls(folder):
    """Tests that exported first versions make their library calls and have their workspaces, on the CPU."""
    import torch
    for name in ("linear_scale_clamp", "conv_gelu", "transposed_conv", "batched_product"):
        if bring_in(name, os.path.join(HERE, "problems", name + ".py"), folder, ["--no-check"]) is None:
            return
        task = os.path.join(folder, name)
        with open(os.path.join(task, "seed.cu"), encoding="utf-8") as source:
            if "[[call]]" not in source.read():
                fail(f"{name}'s first version calls no library")
        code, out, err = run(["apply", task, os.path.join(task, "seed.cu"), "--as", "kernelbench", "--out", task + "_out"], folder)
        if code != 0:
            return fail(f"apply {name} --as kernelbench ends with {code}", out + err)
        with host_library.on_the_cpu(torch, folder, []):
            new = load(host_library.cpu_copy(os.path.join(task + "_out", name + "_model_new.py")), name + "_new")
            torch.manual_seed(1)
            original = new.Model(*new.get_init_inputs())
            torch.manual_seed(1)
            mine = new.ModelNew(*new.get_init_inputs())
            inputs = [one[:2] for one in new.get_inputs()]
            before = torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32
            right, given = original(*inputs), mine(*inputs)
            if not torch.allclose(right, given, atol=1e-4, rtol=1e-4):
                fail(f"the exported first version of {name} is wrong", f"{(right - given).abs().max()}")
            if before != (torch.backends.cudnn.allow_tf32, torch.backends.cuda.matmul.allow_tf32):
                fail(f"the exported first version of {name} leaves TF32 set otherwise")
            if new._memory or new._failed:
                fail(f"the exported first version of {name} keeps tensors")


def serving_operators(folder):
    """Tests exports of the three serving tasks with sgl-kernel's schemas: registered, traceable, and installed in place of its functions."""
    import types
    import torch
    tasks = os.path.join(HERE, "..", "..", "tasks")
    names = {"silu_and_mul": "silu_and_mul", "fused_add_rmsnorm": "fused_add_rmsnorm", "merge_attn_states": "merge_state_v2"}
    engine = types.ModuleType("sgl_kernel")
    sys.modules["sgl_kernel"] = engine
    for task, name in names.items():
        setattr(engine, name, lambda *arguments, name=name: ("the engine's own", name, len(arguments)))
        code, out, err = run(["apply", os.path.join(tasks, task), os.path.join(tasks, task, "seed.cu"), "--as", "sgl-kernel", "--out", os.path.join(folder, "sgl", task)], folder)
        if code != 0:
            return fail(f"apply {task} --as sgl-kernel ends with {code}", out + err)
        made = load(os.path.join(folder, "sgl", task, f"hone_{task}_sgl.py"), f"hone_{task}_sgl")
        made.install()
        made.install()
        if getattr(engine, name) is not getattr(made, name):
            fail(f"{name} is not installed")
    half = torch.float16
    on_meta = lambda *shape: torch.empty(shape, dtype=half, device="meta")
    torch.ops.hone_sgl_kernel.silu_and_mul(on_meta(4, 8), on_meta(4, 16))
    torch.ops.hone_sgl_kernel.fused_add_rmsnorm(on_meta(4, 8), on_meta(4, 8), on_meta(8), 1e-6, False)
    torch.ops.hone_sgl_kernel.merge_state_v2(*(on_meta(4, 2, 8) if i % 2 == 0 else on_meta(4, 2) for i in range(6)))
    # Tensors that the kernel does not serve go to the engine's own function, with all arguments.
    told = [engine.silu_and_mul(torch.zeros(4, 16)), engine.fused_add_rmsnorm(torch.zeros(4, 8), torch.zeros(4, 8), torch.zeros(8)),
            engine.merge_state_v2(*(torch.zeros(4, 2, 8) if i % 2 == 0 else torch.zeros(4, 2) for i in range(4)))]
    if told != [("the engine's own", "silu_and_mul", 2), ("the engine's own", "fused_add_rmsnorm", 5), ("the engine's own", "merge_state_v2", 6)]:
        fail("other tensors do not go to the engine's own functions", str(told))
    code, out, err = run(["apply", os.path.join(tasks, "relu"), os.path.join(tasks, "relu", "seed.cu"), "--as", "sgl-kernel", "--out", os.path.join(folder, "sgl", "relu")], folder)
    if code == 0 or "no operator of sgl-kernel" not in err:
        fail(f"apply relu --as sgl-kernel ends with {code}", out + err)


# By mask of a module: its output as an expression of scores and this mask, what get_inputs gives, and how the judge must draw it.
MASKED = {
    # Of a row without ones nothing is left, and the module answers NaN.
    "keeps": ("torch.softmax(scores.masked_fill(~keeps, float('-inf')), dim=1)", "torch.rand(rows, width) > 0.2", {"ones": 0.8, "some": 1, "along": 1}),
    "drops": ("torch.softmax(scores.masked_fill(drops, float('-inf')), dim=1)", "torch.rand(rows, width) > 0.7", {"ones": 0.3, "some": 0, "along": 1}),
    "columns": ("torch.softmax(scores.masked_fill(~columns, float('-inf')), dim=0)", "torch.rand(rows, width) > 0.2", {"ones": 0.8, "some": 1, "along": 0}),
    "all_true": ("torch.softmax(scores.masked_fill(~all_true, float('-inf')), dim=1)", "torch.ones(rows, width, dtype=torch.bool)",
                 {"ones": 0.875, "some": 1, "along": 1}),
    "whole": ("torch.softmax(scores.masked_fill(whole == 0, float('-inf')), dim=1)", "(torch.rand(rows, width) > 0.1).long()", {"ones": 0.9, "some": 1, "along": 1}),
    # get_inputs itself gives rows that are masked entirely, so the judge does too.
    "empty_rows": ("torch.softmax(scores.masked_fill(~empty_rows, -1e30), dim=1)", "(torch.rand(rows, width) > 0.2) & (torch.arange(rows) % 4 > 0)[:, None]",
                   {"ones": 0.6}),
}


def masked_module(path, forward, masks):
    """Writes a problem. `forward`: its result; `masks`: {name: expression in get_inputs}."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("import torch\nimport torch.nn as nn\nrows = 512\nwidth = 256\n\n\nclass Model(nn.Module):\n"
                   f"    def forward(self, scores, {', '.join(masks)}):\n        return {forward}\n\n\n"
                   f"def get_inputs():\n    return [torch.randn(rows, width), {', '.join(masks.values())}]\n\n\ndef get_init_inputs():\n    return []\n")
    return path


MASKED_KERNEL = """/*hone
[[launch]]
kernel = "masked"
grid   = ["rows"]
block  = ["32"]
args   = ["scores", "keeps", "out", "width:i64"]
*/
__global__ void masked(const float* scores, const unsigned char* mask, float* out, long long width) {
  const long long first = blockIdx.x * width;
  float most = -INFINITY, sum = 0.0f;
  const auto at = [&](long long c) { return mask[first + c] ? scores[first + c] : -INFINITY; };
  for (long long c = 0; c < width; ++c) most = fmaxf(most, at(c));
  for (long long c = 0; c < width; ++c) sum += expf(at(c) - most);
  for (long long c = threadIdx.x; c < width; c += 32) out[first + c] = expf(at(c) - most) / sum;
}
"""


def masks(folder):
    """Tests how masks are drawn, and that a masked softmax is ready and judged."""
    path = masked_module(os.path.join(folder, "every.py"), ", ".join(forward for forward, _, _ in MASKED.values()), {name: one[1] for name, one in MASKED.items()})
    told = bring_in("every", path, folder, ["--no-check"])
    code, out, err = run(["tasks", "show", os.path.join(folder, "every"), "--json"], folder)
    if code != 0:
        return fail("a task of masks cannot be shown", err)
    drawn = {one["name"]: one.get("values", {}) for one in json.loads(out)["tensors"]}
    for name, (_, _, wanted) in MASKED.items():
        found = {key: drawn[name][key] for key in ("ones", "some", "along") if key in drawn[name]}
        if {**found, "ones": round(found.get("ones", 0), 3)} != wanted:
            fail(f"the mask {name} is drawn as {drawn[name]}, not as {wanted}")
    if not any("there is no seed.cu" in note for note in told["notes"]):
        fail("no note says why there is no seed.cu", str(told["notes"]))

    told = bring_in("keeps", masked_module(os.path.join(folder, "keeps.py"), MASKED["keeps"][0], {"keeps": MASKED["keeps"][1]}), folder)
    if told and not told["ready"]:
        fail("a masked softmax is not ready", "\n".join(told["problems"]) + told["unchecked"])
    for verdict, before, after in (("ok", "", ""), ("wrong_output", "return mask[first + c]", "return c == width - 1 || mask[first + c]")):
        kernel = os.path.join(folder, f"masked_{verdict}.cu")
        with open(kernel, "w", encoding="utf-8") as file:
            file.write(MASKED_KERNEL.replace(before, after) if before else MASKED_KERNEL)
        judged = judge(os.path.join(folder, "keeps"), kernel, folder)
        if judged["verdict"] != verdict:
            fail(f"{os.path.basename(kernel)} is {judged['verdict']}", judged.get("detail", ""))

    # A float buffer of 0 and 1 is no mask to the judge; the note says what to do.
    path = os.path.join(folder, "float_mask.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write("import torch\nimport torch.nn as nn\nrows = 16\nwidth = 32\n\n\nclass Model(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
                   "        self.register_buffer('keep', torch.tril(torch.ones(width, width)))\n\n    def forward(self, x):\n"
                   "        return torch.softmax((x[:, :, None] * x[:, None, :]).masked_fill(self.keep == 0, -1e4), dim=2)\n\n\n"
                   "def get_inputs():\n    return [torch.randn(rows, width)]\n\n\ndef get_init_inputs():\n    return [width]\n")
    told = bring_in("float_mask", path, folder, ["--no-check"])
    if told and not any("keep holds 0 and 1 alone" in note and "torch.bool" in note for note in told["notes"]):
        fail("nothing says that a float mask masks nothing", "\n".join(told["notes"]))

    # -1e9 is no number of float16: the task is usable, and its weakness is named.
    told = bring_in("large", masked_module(os.path.join(folder, "large.py"), "torch.softmax(scores.masked_fill(~mask, -1e9), dim=1)",
                                           {"mask": "torch.rand(rows, width) > 0.2"}), folder)
    if told and (not told["ready"] or not any("does not run in float16" in one for one in told["weak"])):
        fail("a module that does not run in float16 is not ready, or its weakness is not named", json.dumps(told, indent=1))


DEEP_NORMS = """import torch
import torch.nn as nn
batch = 256
width = 128


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(*(layer for _ in range(12) for layer in (nn.Linear(width, width, bias=False), nn.BatchNorm1d(width), nn.ReLU())))

    def forward(self, x):
        return self.layers(x)


def get_inputs():
    return [torch.randn(batch, width)]


def get_init_inputs():
    return [width]
"""


RECURRENCE = """import torch
import torch.nn as nn
batch = 10
length = 512
width = 128
hidden = 256


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gru = nn.GRU(width, hidden, 6, bidirectional=True)

    def forward(self, x, first):
        return self.gru(x, first)[1]


def get_inputs():
    return [torch.rand(length, batch, width), torch.rand(12, batch, hidden)]


def get_init_inputs():
    return [width, hidden]
"""
ATTENTION = """import torch
import torch.nn as nn
rows = 64
length = 256
width = 64


class Model(nn.Module):
    def forward(self, q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def get_inputs():
    return [torch.rand(rows, length, width), torch.rand(rows, length, width), torch.rand(rows, length, width)]


def get_init_inputs():
    return []
"""


def tolerances(folder):
    """Tests that the judge's least sizes are raised where the module itself is uncertain (statistics of two numbers amplify rounding errors),
    that buffers may be added up in any order, that the largest error grows with the number of results and with the module's own error at
    special values, and that an input is not stressed whose special values let rounding errors grow without limit."""
    for name, text in (("recurrence", RECURRENCE), ("attention", ATTENTION)):
        with open(os.path.join(folder, name + ".py"), "w", encoding="utf-8") as file:
            file.write(text)
        told = bring_in(name, os.path.join(folder, name + ".py"), folder, ["--no-check"])
        if not told:
            return
        with open(os.path.join(folder, name, "task.toml"), "rb") as file:
            task = tomllib.load(file)
        unstressed = [one["name"] for one in task["tensor"] if one["role"] == "in" and "_" not in one["name"] and not one.get("stress", True)]
        if unstressed != (["first"] if name == "recurrence" else []):
            fail(f"{name}: the inputs that are never stressed are {unstressed}", "\n".join(told["notes"]))
        if name == "recurrence" and any("sqrt(length)" in str(one.get("values")) for one in task["tensor"]):
            fail("a weight is said to be drawn by the length of the sequence, which no weight has", json.dumps(task["tensor"]))
        if name == "attention" and not any("c_max" in note and "special values" in note for note in told["notes"]):
            fail("the largest error of attention is not that of large inputs", "\n".join(told["notes"]))

    path = os.path.join(folder, "deep_norms.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(DEEP_NORMS)
    told = bring_in("deep_norms", path, folder, ["--no-check"])
    if not told:
        return
    raised = [int(found.group(1)) for note in told["notes"] if (found := re.search(r"batch >= (\d+): at smaller sizes the module in float32 is itself off by", note))]
    if not raised or raised[0] <= 2:
        return fail("the least batch of twelve normalizations is not raised", "\n".join(told["notes"]))
    with open(os.path.join(folder, "deep_norms", "task.toml"), "rb") as file:
        task = tomllib.load(file)
    least = min(case["dims"]["batch"] for case in task["case"])
    if least != raised[0] or task["hidden"][0]["batch"]["low"] != raised[0]:
        fail(f"a case has a batch of {least}, and the note says {raised[0]}", json.dumps(task["hidden"]))
    means = {name: one for name, one in task["tolerance"].items() if name.endswith("running_mean")}
    if len(means) != 12 or not any("abs" in one for one in means.values()):
        fail("no running mean may be nearly nothing, where old and new mean cancel", json.dumps(means))
    if task["tolerance"]["out"]["c_rms"] > 1e-3:
        fail("the tolerance is that of sizes that were left out", json.dumps(task["tolerance"]["out"]))

    told = bring_in("batch_norm", os.path.join(HERE, "problems", "batch_norm.py"), folder, ["--no-check"])
    if told and any("at smaller sizes" in note for note in told["notes"]):
        fail("the sizes of one normalization are raised", "\n".join(told["notes"]))
    with open(os.path.join(folder, "batch_norm", "task.toml"), "rb") as file:
        allowed = tomllib.load(file)["tolerance"]
    if allowed["norm_running_var"]["c_rms"] < 32 * 2.0 ** -24 * 0.99:
        fail("the running variance of 65,536 numbers may not be added up in another order", json.dumps(allowed))
    with open(os.path.join(HERE, "problems", "batch_norm.py"), encoding="utf-8") as file:
        text = file.read().replace("pixels = 1024", "pixels = 65536")
    with open(os.path.join(folder, "large_norm.py"), "w", encoding="utf-8") as file:
        file.write(text)
    bring_in("large_norm", os.path.join(folder, "large_norm.py"), folder, ["--no-check"])
    with open(os.path.join(folder, "large_norm", "task.toml"), "rb") as file:
        larger = tomllib.load(file)["tolerance"]
    grown, wanted = larger["out"]["c_max"] / allowed["out"]["c_max"], math.log(64 * 128 * 65536) / math.log(64 * 128 * 1024)
    if abs(grown / wanted - 1) > 0.02 or larger["out"]["c_rms"] != allowed["out"]["c_rms"]:
        fail(f"c_max of 64 times as many results is {grown} times as large, not {wanted}", json.dumps([allowed, larger]))


def tutorial(folder):
    """Follows docs/torch.md and docs/finished-modules.md as a reader would."""
    text = ""
    for name in ("torch.md", "finished-modules.md"):
        with open(os.path.join(HERE, "..", "..", "docs", name), encoding="utf-8") as page:
            text += page.read()
    blocks = {kind: re.search(rf"```{kind}\n(.*?)```", text, re.S).group(1) for kind in ("python", "cuda")}
    submission = re.findall(r"```python\n(.*?)```", text, re.S)[1]
    commands = re.findall(r"```sh\nhone ([^\n]*fused_linear[^\n]*)\n```", text)
    for name, block in (("problem.py", blocks["python"]), ("kernel.cu", blocks["cuda"]), ("submission.py", submission)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(block)
    if len(commands) != 3:
        fail(f"the tutorial has {len(commands)} commands")
    for command in commands:
        code, out, err = run(command.split(), folder)
        if code != 0:
            fail(f"hone {command} ends with {code}", out + err)
    wrong = blocks["cuda"].replace("float sum = bias[column]", "float sum = 0.0f")
    with open(os.path.join(folder, "kernel.cu"), "w", encoding="utf-8") as file:
        file.write(wrong)
    code, out, err = run(commands[1].split(), folder)
    if code != 1 or "wrong_output" not in out or wrong == blocks["cuda"]:
        fail("the tutorial's wrong kernel passes", out + err)


def main():
    global HONE
    HONE = os.path.abspath(sys.argv[1])
    for part in sys.argv[2:]:
        folder = tempfile.mkdtemp(prefix="hone-torch-test-")
        try:
            if part in PLANTED:
                problem(part, folder)
            else:
                {"bad_input": bad_input, "package": package, "check": check, "tutorial": tutorial, "apply": apply, "hosted": hosted,
                 "lifted": lifted, "masks": masks, "soft_gate": soft_gate, "search": search, "unseeded": unseeded, "tolerances": tolerances, "definitions": definitions, "boards": boards}[part](folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if failures else 0)


main()
