# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a device plan for the referee. Stands behind frames.py, driver.py and device_plan.py in one script; needs no PyTorch.

Descriptor 3 is the socket to referee.py. A submission's code runs here only on the GPU, where it can access the memory that the
plan names and the inputs and results that the referee shares. Before each launch the plan's memory is restored: first it is filled
with poison, then with its contents at the time of the capture, then with the inputs that the referee has drawn. The processors' shared
and local memory, too, is filled with poison.
"""
import ctypes
import os
import socket
import struct

# A kernel in PTX that reads a range of zeros, so that the L2 cache contains nothing else. Its store, which zeros never reach, keeps
# the compiler from removing the loads.
TOUCH = b""".version 7.0
.target sm_80
.address_size 64
.visible .entry hone_touch(.param .u64 begin, .param .u64 quads)
{
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %d<8>;
  ld.param.u64 %d0, [begin];
  ld.param.u64 %d1, [quads];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  mov.u32 %r4, %nctaid.x;
  mul.lo.u32 %r5, %r4, %r1;
  cvt.u64.u32 %d2, %r3;
  cvt.u64.u32 %d3, %r5;
  mov.u32 %r9, 0;
again:
  setp.ge.u64 %p0, %d2, %d1;
  @%p0 bra done;
  shl.b64 %d4, %d2, 4;
  add.u64 %d5, %d0, %d4;
  ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d5];
  xor.b32 %r5, %r5, %r6;
  xor.b32 %r7, %r7, %r8;
  xor.b32 %r5, %r5, %r7;
  or.b32 %r9, %r9, %r5;
  add.u64 %d2, %d2, %d3;
  bra again;
done:
  setp.ne.u32 %p1, %r9, 0;
  @%p1 st.global.u32 [%d0], %r9;
  ret;
}
\0"""
# Kernels in PTX that overwrite what a launch may have left on the processors. hone_scrub_shared fills the shared memory of its block. Of
# hone_scrub_local each thread fills a frame of LOCAL_BYTES bytes of local memory. A load of that frame and a store, under a condition that
# never holds, keep the compiler from removing the frame. Threads of both kernels run for at least 2 us (2000 ns): a block that ended at once
# would leave its processor to a later block, and some other processor would get none. hone_scrub_local has at most 32 registers a thread, so
# that the 2048 threads that a processor runs fit its 65536 registers, and blocks of LOCAL_THREADS threads.
SCRUB = b""".version 7.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 block_memory[];
.visible .entry hone_scrub_shared(.param .u32 bytes, .param .u32 word)
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %t<3>;
  mov.u64 %t0, %globaltimer;
  ld.param.u32 %r0, [bytes];
  ld.param.u32 %r1, [word];
  mov.u32 %r2, %tid.x;
  shl.b32 %r2, %r2, 2;
  mov.u32 %r3, %ntid.x;
  shl.b32 %r3, %r3, 2;
  mov.u32 %r4, block_memory;
again:
  setp.ge.u32 %p0, %r2, %r0;
  @%p0 bra done;
  add.u32 %r5, %r4, %r2;
  st.volatile.shared.u32 [%r5], %r1;
  add.u32 %r2, %r2, %r3;
  bra again;
done:
  mov.u64 %t1, %globaltimer;
  sub.u64 %t2, %t1, %t0;
  setp.lt.u64 %p0, %t2, 2000;
  @%p0 bra done;
  ret;
}
.visible .entry hone_scrub_local(.param .u64 sink, .param .u32 word, .param .u32 never, .param .u32 place)
.maxntid 512, 1, 1
.maxnreg 32
{
  .local .align 16 .b8 frame[LOCAL_BYTES];
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %d<6>;
  .reg .b64 %t<3>;
  mov.u64 %t0, %globaltimer;
  ld.param.u64 %d0, [sink];
  ld.param.u32 %r0, [word];
  ld.param.u32 %r1, [never];
  ld.param.u32 %r2, [place];
  mov.u64 %d1, frame;
  mov.u64 %d2, 0;
again:
  add.u64 %d3, %d1, %d2;
  st.local.v4.u32 [%d3], {%r0, %r0, %r0, %r0};
  add.u64 %d2, %d2, 16;
  setp.lt.u64 %p0, %d2, LOCAL_BYTES;
  @%p0 bra again;
  cvt.u64.u32 %d4, %r2;
  add.u64 %d4, %d1, %d4;
  ld.local.u32 %r3, [%d4];
  setp.eq.u32 %p1, %r3, %r1;
  @%p1 st.global.u32 [%d0], %r3;
linger:
  mov.u64 %t1, %globaltimer;
  sub.u64 %t2, %t1, %t0;
  setp.lt.u64 %p0, %t2, 2000;
  @%p0 bra linger;
  ret;
}
\0"""
SHARED_THREADS, LOCAL_THREADS = 1024, 512  # threads of a block of hone_scrub_shared, which has a processor to itself, and of hone_scrub_local
MOST_LOCAL = 511 << 10              # bytes of local memory that a thread of hone_scrub_local may have
PROCESSORS = 16                     # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
SHARED_OF_A_BLOCK = 97              # CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: the most bytes that a kernel may ask for
THREADS_OF_A_PROCESSOR = 39         # CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR
LOCAL_OF_A_FUNCTION = 3             # CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
CARVEOUT = 9                        # CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, in percent
POISONS = (0xffffffff, 0x7f7f7f7f)  # 32-bit patterns: a float's NaN, and a float near the largest
GUARD_BYTES = 4096                  # the most bytes behind a block that are checked
FOREIGN_GRANULE = 2 << 20
DYNAMIC_SHARED = "8"                # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
NEEDED_ATTRIBUTES = (2, 4)          # launch attributes that must be set: cooperative, clusters; a kernel's results depend on them


class Broken(Exception):
    """The plan cannot be run; the message says why, in a sentence."""


class Player:
    def __init__(self):
        self.frames, self.driver = Frames(3), Driver()
        self.shared, self.plan = None, None
        self.poison = 0

    def open(self, request):
        """Opens the GPU and reserves the plan's addresses and others for the player's own memory. The request has {"ordinal", "base",
        "span", "own", "flush_bytes"}.

        The player allocates nothing where the driver would place it, because the plan may need these addresses: memory that something
        other than PyTorch allocated in the stage must be mapped at the same address.
        """
        driver = self.driver
        driver("cuInit", 0)
        self.ordinal = request["ordinal"]
        driver("cuCtxSetCurrent", driver.made("cuDevicePrimaryCtxRetain", self.ordinal))
        self.mapper = Mapper(driver, self.ordinal)
        self.base, self.span = request["base"], request["span"]
        if not self.mapper.reserve(self.base, self.span):
            raise Broken(f"the addresses from {self.base:#x} on are taken in the judge's process")
        self.stream = driver.made("cuStreamCreate", 1)
        self.events = [driver.made("cuEventCreate", 0) for _ in range(2)]
        self.flush_bytes = request["flush_bytes"] // 16 * 16
        self.own_next = request["own"]
        if not self.mapper.reserve(self.own_next, self.span):
            raise Broken("the judge's own addresses are taken")
        self.flush, _ = self.allocate(self.flush_bytes)
        driver("cuMemsetD8Async", self.flush, 0, self.flush_bytes, self.stream)
        self.touch = driver.made("cuModuleGetFunction", driver.made("cuModuleLoadData", TOUCH), b"hone_touch")
        begin, quads = ctypes.c_uint64(self.flush), ctypes.c_uint64(self.flush_bytes // 16)
        self.touch_values = (begin, quads)
        self.touch_parameters = (ctypes.c_void_p * 2)(ctypes.addressof(begin), ctypes.addressof(quads))
        # The kernel before a timed one decides how a processor's memory is split into cache and shared memory: without this, the scrub would.
        driver.attempt("cuFuncSetAttribute", self.touch, CARVEOUT, 0)
        self.processors, self.block_shared, threads = (self.attribute(one) for one in (PROCESSORS, SHARED_OF_A_BLOCK, THREADS_OF_A_PROCESSOR))
        self.local_blocks = self.processors * max(1, threads // LOCAL_THREADS)
        self.stack_bytes = driver.word("cuCtxGetLimit", 0)  # CU_LIMIT_STACK_SIZE: local memory that each thread has at least
        self.scrub = None
        self.gate_word = ctypes.c_void_p()
        driver("cuMemHostAlloc", ctypes.byref(self.gate_word), 4096, 2)
        self.gate = ctypes.c_uint32.from_address(self.gate_word.value)
        self.gate.value = 0
        self.gate_address = driver.word("cuMemHostGetDevicePointer_v2", self.gate_word, 0)

    def attribute(self, number):
        """Returns a CU_DEVICE_ATTRIBUTE of the GPU."""
        value, device = ctypes.c_int(), ctypes.c_int()
        self.driver("cuDeviceGet", ctypes.byref(device), self.ordinal)
        self.driver("cuDeviceGetAttribute", ctypes.byref(value), number, device.value)
        return value.value

    def allocate(self, size):
        """Allocates memory of the player's own and returns (address, the arguments for unmap())."""
        size = max(1, (size + Mapper.GRANULE - 1) // Mapper.GRANULE) * Mapper.GRANULE
        address, self.own_next = self.own_next, self.own_next + size
        return address, (address, size, self.mapper.map(address, size))

    def memory(self, request):
        """Maps the referee's memory for inputs and results. The request has {"handle", "bytes", "inputs", "outputs": [[[offset, bytes]]]},
        with a list of inputs and of outputs for each slot. All slots have tensors of the same sizes."""
        handle = IpcHandle.from_buffer_copy(bytes.fromhex(request["handle"]))
        self.shared = self.driver.word("cuIpcOpenMemHandle_v2", handle, 1)
        self.inputs, self.outputs = request["inputs"], request["outputs"]

    def forget(self, request):
        """Unmaps the referee's memory and frees the plan."""
        self.drop()
        self.release(request)

    def release(self, request):
        """Unmaps the referee's memory and keeps the plan."""
        self.driver("cuCtxSynchronize")
        if self.shared is not None:
            self.driver("cuIpcCloseMemHandle", self.shared)
            self.shared = None

    def drop(self):
        """Frees everything that belongs to the plan."""
        if self.plan is None:
            return
        driver = self.driver
        driver("cuCtxSynchronize")
        driver("cuGraphExecDestroy", self.executable)
        driver("cuGraphDestroy", self.graph)
        for module in [*self.modules, self.scrub]:
            driver("cuModuleUnload", module)
        self.scrub = None
        for address, size, handle in self.mapped:
            self.mapper.unmap(address, size, handle)
        for address, size in self.reserved:
            driver("cuMemAddressFree", address, size)
        self.plan = None

    def load(self, request):
        """Loads a plan, whose file's descriptor comes with the request. Returns the number of granules that could not be mapped."""
        with socket.socket(fileno=os.dup(self.frames.descriptor)) as peer:
            _, descriptors, _, _ = socket.recv_fds(peer, 1, 1)
        self.drop()
        file = PlanFile(descriptors[0])
        os.close(descriptors[0])
        header, driver = file.header, self.driver
        self.mapped, self.reserved, self.modules, left_out = [], [], [], 0
        if header["base"] != self.base or header["bytes"] != self.span:
            raise Broken("the plan lies at other addresses than was asked")
        self.chunks = []
        for address, size in header["chunks"]:
            if not self.base <= address <= address + size <= self.base + self.span:
                raise Broken("the plan's memory lies outside of its addresses")
            self.map(address, size)
        for address, size in header["foreign"]:
            begin = address // FOREIGN_GRANULE * FOREIGN_GRANULE
            end = (address + size + FOREIGN_GRANULE - 1) // FOREIGN_GRANULE * FOREIGN_GRANULE
            for at in range(begin, end, FOREIGN_GRANULE):
                if any(a <= at < a + s for a, s in self.chunks):
                    continue
                # The word may be no address. If it is one, the plan gives other results than in the stage, which the referee notices.
                if not self.mapper.reserve(at, FOREIGN_GRANULE):
                    left_out += 1
                    continue
                self.reserved.append((at, FOREIGN_GRANULE))
                self.map(at, FOREIGN_GRANULE)
        self.blocks = header["blocks"]
        self.places = header["inputs"], header["outputs"]
        for mine, theirs in ((self.inputs[0], header["inputs"]), (self.outputs[0], header["outputs"])):
            if [size for _, size in mine] != [size for _, size in theirs]:
                raise Broken("the plan has other inputs or outputs than the task")
        self.load_modules(file)
        self.load_scrub()
        self.keep(file)
        self.build(header)
        self.plan = header
        return {"left_out": left_out}

    def map(self, address, size):
        """Maps new memory of the plan at this address."""
        self.mapped.append((address, size, self.mapper.map(address, size)))
        self.chunks.append((address, size))

    def keep(self, file):
        """Copies the contents of memory, and of the modules' variables, at the time of the capture to the player's own memory, whose
        address the plan does not know."""
        places = [(address, size, number) for address, size, number in file.header["kept"]
                  if any(begin <= address and address + size <= begin + length for begin, length in self.chunks)] + self.variables
        total = sum((size + 15) // 16 * 16 for _, size, _ in places)
        at, handle = self.allocate(total)
        self.mapped.append(handle)
        self.restored = []
        for address, size, number in places:
            data, count = file.blob(number)
            if count != size:
                raise Broken("the plan's memory has another size than its contents")
            if size:
                self.driver("cuMemcpyHtoD_v2", at, data, size)
                self.restored.append((address, at, size))
            at += (size + 15) // 16 * 16

    def load_modules(self, file):
        """Loads the plan's modules, and finds their variables and kernels."""
        driver = self.driver
        self.variables = []
        for one in file.header["modules"]:
            data, _ = file.blob(one["cubin"])
            module = driver.made("cuModuleLoadData", data)
            self.modules.append(module)
            for name, size, number in one["globals"]:
                address, there = ctypes.c_uint64(), ctypes.c_size_t()
                driver("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(there), module, name.encode())
                if there.value != size:
                    raise Broken(f"variable {name} has another size in the plan")
                self.variables.append((address.value, size, number))
        self.functions = []
        shared = {}  # function's number: the most dynamic shared memory of its launches
        for node in file.header["nodes"]:
            if node["kind"] == "kernel":
                shared[node["function"]] = max(node["shared"], shared.get(node["function"], 0))
        for place, one in enumerate(file.header["functions"]):
            function = driver.made("cuModuleGetFunction", self.modules[one["module"]], one["name"].encode())
            if shared.get(place, 0) > one["attributes"].get(DYNAMIC_SHARED, 0):  # the function's own limit may be lower than a launch needs
                one["attributes"][DYNAMIC_SHARED] = shared[place]
            for number, value in one["attributes"].items():
                if value > 0:
                    driver.attempt("cuFuncSetAttribute", function, int(number), value)
            self.functions.append(function)

    def load_scrub(self):
        """Loads the kernels that scrub() launches, for as much local memory as a thread of the plan's kernels may have."""
        driver, local = self.driver, 0
        for function in self.functions:
            value = ctypes.c_int()
            driver("cuFuncGetAttribute", ctypes.byref(value), LOCAL_OF_A_FUNCTION, function)
            local = max(local, value.value)
        local = min(MOST_LOCAL, (local + self.stack_bytes + 15) // 16 * 16) or 16
        self.scrub = driver.made("cuModuleLoadData", SCRUB.replace(b"LOCAL_BYTES", str(local).encode()))
        self.scrub_shared = driver.made("cuModuleGetFunction", self.scrub, b"hone_scrub_shared")
        self.scrub_local = driver.made("cuModuleGetFunction", self.scrub, b"hone_scrub_local")
        driver("cuFuncSetAttribute", self.scrub_shared, int(DYNAMIC_SHARED), self.block_shared)
        driver.attempt("cuFuncSetAttribute", self.scrub_shared, CARVEOUT, 100)
        self.scrub_processors(POISONS[0])  # the driver makes room for the local memory now, and not between launches

    def scrub_processors(self, word):
        """Enqueues the filling of all shared and local memory with `word`.

        A block that asks for all shared memory has a processor to itself, so as many blocks as there are processors reach all of it. Where a
        thread's local memory lies depends on its place on the processor and on the size per thread, so as many threads as fit, each with at
        least the plan's size, cover all that the plan could have written.
        """
        size, filling, never, place = (ctypes.c_uint32(value) for value in (self.block_shared, word, ~word & 0xffffffff, 0))
        sink = ctypes.c_uint64(self.flush)
        for function, blocks, threads, shared, values in (
                (self.scrub_shared, self.processors, SHARED_THREADS, self.block_shared, (size, filling)),
                (self.scrub_local, self.local_blocks, LOCAL_THREADS, 0, (sink, filling, never, place))):
            parameters = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
            self.driver("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, shared, self.stream, parameters, None)

    def build(self, header):
        """Builds the graph from the plan, node by node."""
        driver = self.driver
        self.graph = driver.made("cuGraphCreate", 0)
        context = driver.made("cuDevicePrimaryCtxRetain", self.ordinal)
        nodes = []
        for one in header["nodes"]:
            if one["kind"] == "kernel":
                values = [ctypes.create_string_buffer(bytes.fromhex(text), max(1, len(text) // 2)) for text in one["parameters"]]
                parameters = (ctypes.c_void_p * max(1, len(values)))(*(ctypes.addressof(value) for value in values))
                node = KernelNode(function=self.functions[one["function"]], grid=tuple(one["grid"]), block=tuple(one["block"]),
                                  shared=one["shared"], parameters=ctypes.cast(parameters, ctypes.POINTER(ctypes.c_void_p)))
                try:
                    made = driver.made("cuGraphAddKernelNode_v2", self.graph, None, 0, ctypes.byref(node))
                except DriverError as error:
                    name = header["functions"][one["function"]]["name"]
                    raise Broken(f"{error} for kernel {name[:160]} with grid {one['grid']}, block {one['block']}, {one['shared']} bytes of "
                                 f"shared memory, {len(values)} parameters, attributes {one['attributes']}") from error
                for number, value in one["attributes"].items():
                    code = driver.attempt("cuGraphKernelNodeSetAttribute", made, int(number), bytes.fromhex(value))
                    if code != 0 and int(number) in NEEDED_ATTRIBUTES:
                        raise Broken(f"attribute {number} of a launch cannot be set (error {code})")
            elif one["kind"] == "memset":
                node = MemsetNode(**{name: one[name] for name, _ in MemsetNode._fields_})
                made = driver.made("cuGraphAddMemsetNode", self.graph, None, 0, ctypes.byref(node), context)
            elif one["kind"] == "copy":
                node = CopyNode(**{name: one[name] or None if kind is ctypes.c_void_p else one[name] for name, kind in CopyNode._fields_})
                made = driver.made("cuGraphAddMemcpyNode", self.graph, None, 0, ctypes.byref(node), context)
            else:
                made = driver.made("cuGraphAddEmptyNode", self.graph, None, 0)
            nodes.append(made.value)
        edges = header["edges"]
        if edges:
            sources = (ctypes.c_void_p * len(edges))(*(nodes[edge[0]] for edge in edges))
            targets = (ctypes.c_void_p * len(edges))(*(nodes[edge[1]] for edge in edges))
            data = (EdgeData * len(edges))(*(EdgeData.from_buffer_copy(bytes.fromhex(edge[2])) for edge in edges))
            driver("cuGraphAddDependencies_v2", self.graph, sources, targets, data, len(edges))
        self.executable = driver.made("cuGraphInstantiateWithFlags", self.graph, 0)
        driver("cuGraphUpload", self.executable, self.stream)
        driver("cuStreamSynchronize", self.stream)

    def restore(self, slot):
        """Enqueues the restoring of memory: poison everywhere, then the contents at the time of the capture, then a slot's inputs."""
        driver, stream = self.driver, self.stream
        self.poison = (self.poison + 1) % len(POISONS)
        self.scrub_processors(POISONS[self.poison])
        for address, size in self.chunks:
            driver("cuMemsetD32Async", address, POISONS[self.poison], size // 4, stream)
        for address, at, size in self.restored:
            driver("cuMemcpyDtoDAsync_v2", address, at, size, stream)
        for (offset, size), (address, _) in zip(self.inputs[slot], self.places[0]):
            if size:
                driver("cuMemcpyDtoDAsync_v2", address, self.shared + offset, size, stream)

    def check_guards(self):
        """Returns a sentence if bytes outside of the plan's blocks were written; None: they were not."""
        driver = self.driver
        word = struct.pack("<I", POISONS[self.poison])
        ends = sorted([address, address + size] for address, size in self.blocks)
        buffer = ctypes.create_string_buffer(GUARD_BYTES)
        for i, (begin, end) in enumerate(ends):
            limit = ends[i + 1][0] if i + 1 < len(ends) else end + GUARD_BYTES
            chunk = next(((a, s) for a, s in self.chunks if a <= begin < a + s), None)
            if chunk is None:
                continue
            count = min(limit, chunk[0] + chunk[1], end + GUARD_BYTES) - end
            if count <= 0:
                continue
            driver("cuMemcpyDtoH_v2", buffer, end, count)
            if buffer.raw[:count] != (word * (count // 4 + 2))[end % 4:end % 4 + count]:
                return f"it writes behind a tensor of {end - begin} bytes"
        return None

    def results(self, slot):
        """Copies the inputs, as they are after the launch, and the results into a slot of the shared memory."""
        for side, mine in ((0, self.inputs[slot]), (1, self.outputs[slot])):
            for (offset, size), (address, _) in zip(mine, self.places[side]):
                if size:
                    self.driver("cuMemcpyDtoDAsync_v2", self.shared + offset, address, size, self.stream)
        self.driver("cuStreamSynchronize", self.stream)

    def run(self, request):
        """Restores memory and launches once, on the inputs of the first slot. Results go to the shared memory. "guards" in the answer: what
        was written outside of blocks."""
        self.restore(0)
        self.driver("cuStreamSynchronize", self.stream)
        self.driver("cuGraphLaunch", self.executable, self.stream)
        self.driver("cuStreamSynchronize", self.stream)
        guards = self.check_guards() if request.get("guards") else None
        self.results(0)
        return {"guards": guards}

    def time(self, request):
        """Launches once for each of "slots", on that slot's inputs, each time with memory restored and the L2 cache flushed.

        "kept" lists the launches, by their numbers, whose results go to their slots in the shared memory; a slot may occur once. Returns the
        launches' times in microseconds and, if the request says "guards", what the last launch wrote outside of blocks.
        """
        driver, times = self.driver, []
        for number, slot in enumerate(request["slots"]):
            self.restore(slot)
            self.gate.value = 0
            driver("cuStreamWaitValue32_v2", self.stream, self.gate_address, 1, 0)  # waits until the gate is at least 1
            driver("cuLaunchKernel", self.touch, 1024, 1, 1, 512, 1, 1, 0, self.stream, self.touch_parameters, None)
            driver("cuEventRecord", self.events[0], self.stream)
            driver("cuGraphLaunch", self.executable, self.stream)
            driver("cuEventRecord", self.events[1], self.stream)
            self.gate.value = 1
            driver("cuStreamSynchronize", self.stream)
            took = ctypes.c_float()
            driver("cuEventElapsedTime", ctypes.byref(took), *self.events)
            times.append(took.value * 1e3)
            if number in request["kept"]:
                self.results(slot)
        return {"times": times, "guards": self.check_guards() if request.get("guards") else None}

    def serve(self):
        while True:
            request = self.frames.receive()
            try:
                answer = {"ok": True, **(getattr(self, request["op"])(request) or {})}
            except DriverError as error:
                answer = {"error": f"{error} while it was to {request['op']}", "code": error.code}
            except (Broken, BadPlan) as error:
                answer = {"error": str(error)}
            except Exception as error:
                answer = {"error": f"{type(error).__name__}: {error}"}
            self.frames.send(answer)


if __name__ == "__main__":
    try:
        Player().serve()
    except Gone:
        os._exit(0)
