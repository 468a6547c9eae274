# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a module (a submission's ModelNew, or the problem's own Model) for the referee. Stands behind problem.py, frames.py, weights.py,
driver.py, device_plan.py and lift.py in one script.

Descriptor 3 is the socket to referee.py; a request {"op": NAME} calls the method NAME. A submission's code runs in this process, so
that its answers are not trusted: the referee uses only the memory that it shares, and its own clock.
"""
import ctypes
import importlib.util
import inspect
import mmap
import os
import socket
import traceback


class Mapped:
    """Device memory of another process, in the form from which PyTorch makes a tensor."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "|u1", "data": (address, False), "version": 3}


def runtime():
    """Returns the library of CUDA's runtime, which PyTorch has loaded."""
    import torch
    for name in (f"libcudart.so.{torch.version.cuda.split('.')[0]}", "libcudart.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise RuntimeError("CUDA's runtime library is not where PyTorch was loaded from")


def typed(memory, one):
    """Returns a tensor over bytes of `memory`, a uint8 tensor. `one`: {"dtype", "shape", "offset", "boolean"}."""
    import torch
    dtype = torch.bool if one.get("boolean") else getattr(torch, one["dtype"])
    count = math.prod(one["shape"])
    width = torch.empty((), dtype=dtype).element_size()
    return memory[one["offset"]:one["offset"] + count * width].view(dtype).reshape(one["shape"])


class Fault(Exception):
    """The submission is at fault. Arguments: verdict, sentence."""


def told(error):
    """Returns an error's message, with the submission's line that raised it."""
    lines = [f"line {frame.lineno}: " for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith("submission.py")]
    text = str(error).strip()
    return f"{lines[-1] if lines else ''}{type(error).__name__}: {text[-3000:] if text else 'no message'}"


NEEDS_GPU = "{}, and it is judged on the CPU: judge it on a machine with a GPU (--device cuda:0)"
GPU_WORDS = ("cuda", "nvidia", "nvcc", "triton", "active drivers", "no gpu")  # in messages of PyTorch, Triton and compilers


def at_fault(error, verdict, sentence, device):
    """Returns the Fault for an error of the submission's code: `verdict` and `sentence`, or "unsupported" if a GPU is missing on the CPU."""
    chain, seen = error, []
    while device.type == "cpu" and chain is not None and chain not in seen:
        seen.append(chain)
        text = f"{type(chain).__name__}: {chain}".lower()
        if isinstance(chain, Fault):
            return chain
        if any(word in text for word in GPU_WORDS):
            return Fault("unsupported", NEEDS_GPU.format(f"the submission needs a GPU ({told(error)[:300]})"))
        chain = chain.__cause__ or chain.__context__
    return Fault(verdict, f"{sentence}: {told(error)}")


def refuse_cuda_code():
    """Makes PyTorch's compilation of CUDA code raise "unsupported" at once. Without a GPU it would take minutes, to no purpose."""
    try:
        from torch.utils import cpp_extension
    except ImportError:
        return

    def refusing(plain, holds_cuda):
        def compile(*arguments, **keywords):
            if holds_cuda(inspect.signature(plain).bind(*arguments, **keywords).arguments):
                raise Fault("unsupported", NEEDS_GPU.format("the submission compiles CUDA code"))
            return plain(*arguments, **keywords)

        return compile

    def cuda_files(given):
        files = given.get("sources") or ()
        return any(str(one).endswith(".cu") for one in ([files] if isinstance(files, str) else files))

    cpp_extension.load_inline = refusing(cpp_extension.load_inline, lambda given: given.get("cuda_sources"))
    cpp_extension.load = refusing(cpp_extension.load, cuda_files)


class Early:
    """Receives the first request, and if it asks for lifting prepares the GPU for that, in a thread: PyTorch is imported meanwhile."""

    def __init__(self, frames):
        import threading
        self.frames, self.request, self.lifter, self.fault = frames, None, None, None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            self.request = self.frames.receive()
            asked = self.request.get("lift")
            if asked:
                self.lifter = Lifter(int(self.request["device"].rpartition(":")[2]), asked["base"], asked["span"])
        except Exception as error:
            self.fault = error

    def first(self):
        """Returns the first request."""
        self.thread.join()
        if self.request is None:
            raise self.fault
        return self.request


class Stage:
    def __init__(self, frames, early):
        self.frames, self.early = frames, early
        self.problem = self.kind = self.model = None
        self.plain = None  # the module of `model`, which torch.compile may have wrapped
        self.device = None
        self.inputs, self.outputs = [], []
        self.opened = None  # the address at which the referee's device memory is mapped
        self.lifter = None

    def load(self, request):
        """Loads the problem and, if there is one, the submission."""
        import torch
        self.device = torch.device(request["device"])
        if request.get("lift"):
            # Code that nvcc compiles launches on the thread's own default stream, which can be captured.
            os.environ["NVCC_APPEND_FLAGS"] = "--default-stream=per-thread"
            if self.early.fault is not None:
                raise self.early.fault
            self.lifter = self.early.lifter
            self.lifter.install()
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
            torch.ones(1, device=self.device)
        if request.get("threads"):
            torch.set_num_threads(request["threads"])
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        # torch.compile reads a module's source from its file, and the sandbox forbids the task's folder: writes a copy here.
        path = os.path.abspath("reference.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(request["text"])
        self.problem = Problem(request["text"], path, request["class"], request["training"])
        self.compile = request.get("compile", "")
        if request.get("submission") is None:
            return
        if self.device.type == "cpu" and "cpp_extension" in request["submission"]:
            refuse_cuda_code()
        path = os.path.abspath("submission.py")  # Triton reads a kernel's source from its file
        with open(path, "w", encoding="utf-8") as file:
            file.write(request["submission"])
        try:
            spec = importlib.util.spec_from_file_location("submission", path)
            module = importlib.util.module_from_spec(spec)
            sys.modules["submission"] = module
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            # A compiler's error reaches Python as a RuntimeError of PyTorch's, or as an error of Triton's.
            compiles = isinstance(error, SyntaxError) or "compil" in type(error).__name__.lower() or "building extension" in str(error).lower()
            raise at_fault(error, *(("compile_error", "the submission does not compile") if compiles else
                                    ("crashed", "the submission failed while it was loaded")), self.device) from error
        self.kind = getattr(module, "ModelNew", None)
        if not isinstance(self.kind, type):
            raise Fault("crashed", "the submission was loaded and has no class ModelNew: KernelBench's form is a class ModelNew(nn.Module) that "
                                         "takes what Model takes")

    def build(self, request):
        """Builds the module at the request's sizes, with weights from its seed."""
        import torch
        self.model = self.plain = None
        try:
            model, _ = self.problem.build(request["sizes"], seed=request["seed"], make=self.kind)
            self.plain = model = model.to(self.device)
            self.model = torch.compile(model, dynamic=False, mode=self.compile) if self.compile else model
        except Exception as error:
            raise at_fault(error, "crashed", "ModelNew cannot be made", self.device) from error

    def draw(self, request):
        """Gives the module's constant weights drawn values. Answers whether it has the names and shapes of the plan (weights.py)."""
        try:
            return {"drawn": redraw(self.plain, request["plan"], request["seed"])}
        except Exception as error:
            raise at_fault(error, "crashed", "ModelNew does not take other weights", self.device) from error

    def memory(self, request):
        """Maps the referee's memory. The request has {"bytes"} and, for device memory, "handle"; otherwise a descriptor comes with it."""
        import torch
        if "handle" in request:
            cuda = runtime()
            handle = (ctypes.c_ubyte * 64).from_buffer_copy(bytes.fromhex(request["handle"]))

            class Handle(ctypes.Structure):
                _fields_ = [("reserved", ctypes.c_ubyte * 64)]

            cuda.cudaIpcOpenMemHandle.argtypes = [ctypes.POINTER(ctypes.c_void_p), Handle, ctypes.c_uint]
            address = ctypes.c_void_p()
            result = cuda.cudaIpcOpenMemHandle(ctypes.byref(address), Handle(handle), 1)
            if result != 0:
                raise RuntimeError(f"cudaIpcOpenMemHandle gave error {result}")
            self.opened = address
            whole = torch.as_tensor(Mapped(address.value, request["bytes"]), device=self.device)
        else:
            with socket.socket(fileno=os.dup(3)) as peer:
                _, descriptors, _, _ = socket.recv_fds(peer, 1, 1)
            whole = torch.frombuffer(mmap.mmap(descriptors[0], request["bytes"]), dtype=torch.uint8)
            os.close(descriptors[0])
        self.inputs = [[typed(whole, one) if "offset" in one else one["value"] for one in slot] for slot in request["inputs"]]
        self.outputs = [[typed(whole, one) for one in slot] for slot in request["outputs"]]

    def forget(self, request):
        """Unmaps the memory, before the referee frees it."""
        import torch
        self.inputs, self.outputs, self.model, self.plain = [], [], None, None
        if self.opened is not None:
            torch.cuda.synchronize()
            runtime().cudaIpcCloseMemHandle(self.opened)
            self.opened = None

    def fitting(self, result, places):
        """Returns the tensors in forward's result, after checking that their number, shapes and dtypes are those of Model's."""
        import torch
        made = [result] if isinstance(result, torch.Tensor) else result
        if not isinstance(made, (tuple, list)) or len(made) != len(places):
            raise Fault("wrong_output", f"forward returns a {type(result).__name__}, and Model returns {len(places)} tensors")
        for mine, place in zip(made, places):
            if type(mine) not in (torch.Tensor, torch.nn.Parameter):
                raise Fault("rule_violation", f"forward returns a {type(mine).__name__}: return a plain tensor, whose values are there")
            if mine.shape != place.shape or mine.dtype != place.dtype or mine.device.type != place.device.type:
                raise Fault("wrong_output", f"forward returns {mine.dtype} of shape {list(mine.shape)} on {mine.device}, and Model "
                                            f"returns {place.dtype} of shape {list(place.shape)} on {place.device}")
        return made

    def run(self, request):
        """Runs forward on each slot's inputs, and writes the results to the slot's outputs."""
        import torch
        try:
            with torch.no_grad():
                for slot in request["slots"]:
                    result = self.model(*self.inputs[slot])
                    for mine, place in zip(self.fitting(result, self.outputs[slot]), self.outputs[slot]):
                        place.copy_(mine)
            if self.device.type == "cuda":
                torch.cuda.synchronize()
        except Fault:
            raise
        except Exception as error:
            raise at_fault(error, "crashed", "forward fails", self.device) from error

    def lift(self, request):
        """Captures forward on copies of the first slot's inputs as a plan for the player, and runs it once: the results go to the slot's
        outputs."""
        import torch
        inputs = [one.clone() if torch.is_tensor(one) else one for one in self.inputs[0]]
        torch.cuda.synchronize()
        try:
            graph, made, before = self.lifter.capture(self.model, inputs)
        except NotLifted:
            raise
        except Exception as error:
            raise Fault("crashed", f"forward fails: {told(error)}") from error
        made = self.fitting(made[0] if len(made) == 1 else made, self.outputs[0])

        def lie(tensors):
            return [[one.data_ptr(), one.numel() * one.element_size()] for one in tensors if torch.is_tensor(one)]

        descriptor, summary = self.lifter.export(graph, before, lie(inputs), lie(made))
        self.lifter.launch(graph)
        for mine, place in zip(made, self.outputs[0]):
            place.copy_(mine)
        torch.cuda.synchronize()
        return {"plan": summary, "descriptor": descriptor}

    def answer(self, request):
        """Does what a request asks and returns its answer, which may hold a descriptor to be sent."""
        try:
            answer = {"ok": True, **(getattr(self, request["op"])(request) or {})}
        except Fault as fault:
            answer = {"verdict": fault.args[0], "error": fault.args[1]}
        except (Refused, NotLifted, BadPlan, DriverError) as refusal:
            answer = {"error": str(refusal)}
        except Exception as error:
            answer = {"error": told(error)}
        if self.lifter is not None and self.lifter.memory.fault:
            # Nothing after a failed allocation is the submission's: see Allocator.give().
            if "descriptor" in answer:
                os.close(answer["descriptor"])
            answer = {"error": self.lifter.memory.fault}
        return answer

    def serve(self):
        """Answers requests until the socket closes."""
        request = self.early.first()
        while True:
            answer = self.answer(request)
            descriptor = answer.pop("descriptor", None)
            self.frames.send(answer)
            if descriptor is not None:
                with socket.socket(fileno=os.dup(3)) as peer:
                    socket.send_fds(peer, [b"p"], [descriptor])
                os.close(descriptor)
            request = self.frames.receive()


def main():
    import gc
    if os.environ.get("CUDA_VISIBLE_DEVICES") != "":
        wake_gpu()  # no context: the copies of device code must be prepared before there is one
    frames = Frames(3)
    early = Early(frames)
    load_torch()
    import torch
    torch.set_deterministic_debug_mode("default")
    gc.freeze()  # the garbage collection before a capture need not look at PyTorch's own million objects
    Stage(frames, early).serve()


try:
    main()
except Gone:
    os._exit(0)
