# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls CUDA's driver by ctypes: the functions that lift.py, player.py and serve.py need, with their signatures, structures and errors."""
import ctypes

# p: a pointer or a handle; L: 64 bits (sizes, device addresses, memory handles); I: unsigned, i: int. Each call returns its error code.
SIGNATURES = {
    "cuInit": "I", "cuDeviceGet": "pi", "cuDevicePrimaryCtxRetain": "pi", "cuCtxSetCurrent": "p", "cuCtxSynchronize": "", "cuCtxGetLimit": "pi",
    "cuDeviceGetAttribute": "pii", "cuMemGetInfo_v2": "pp", "cuGetErrorName": "ip",
    "cuMemAddressReserve": "pLLLL", "cuMemAddressFree": "LL", "cuMemCreate": "pLpL", "cuMemMap": "LLLLL", "cuMemSetAccess": "LLpL",
    "cuMemUnmap": "LL", "cuMemRelease": "L", "cuMemGetAllocationGranularity": "ppi", "cuMemImportFromShareableHandle": "pLi",
    "cuMemAlloc_v2": "pL", "cuMemFree_v2": "L", "cuMemHostAlloc": "pLI", "cuMemHostGetDevicePointer_v2": "ppI",
    "cuMemcpyHtoD_v2": "LpL", "cuMemcpyDtoH_v2": "pLL", "cuMemcpyDtoDAsync_v2": "LLLp", "cuMemsetD8Async": "LBLp", "cuMemsetD32Async": "LILp",
    "cuIpcOpenMemHandle_v2": "phI", "cuIpcCloseMemHandle": "L", "cuPointerGetAttribute": "piL",
    "cuStreamCreate": "pI", "cuStreamSynchronize": "p", "cuStreamWaitValue32_v2": "pLII", "cuStreamBeginCapture_v2": "pi",
    "cuStreamEndCapture": "pp", "cuEventCreate": "pI", "cuEventRecord": "pp", "cuEventSynchronize": "p", "cuEventElapsedTime": "ppp",
    "cuModuleLoadData": "pp", "cuModuleUnload": "p", "cuModuleGetFunction": "pps", "cuModuleGetGlobal_v2": "ppps", "cuFuncGetModule": "pp",
    "cuFuncGetName": "pp", "cuFuncGetParamInfo": "pLpp", "cuFuncGetAttribute": "pip", "cuFuncSetAttribute": "pii", "cuKernelGetFunction": "pp",
    "cuLaunchKernel": "pIIIIIIIppp",
    "cuGraphCreate": "pI", "cuGraphDestroy": "p", "cuGraphGetNodes": "ppp", "cuGraphGetEdges_v2": "ppppp", "cuGraphNodeGetType": "pp",
    "cuGraphKernelNodeGetParams_v2": "pp", "cuGraphKernelNodeGetAttribute": "pip", "cuGraphKernelNodeSetAttribute": "pip",
    "cuGraphMemsetNodeGetParams": "pp", "cuGraphMemcpyNodeGetParams": "pp", "cuGraphAddKernelNode_v2": "pppLp",
    "cuGraphAddMemsetNode": "pppLpp", "cuGraphAddMemcpyNode": "pppLpp", "cuGraphAddEmptyNode": "pppL", "cuGraphAddDependencies_v2": "ppppL",
    "cuGraphInstantiateWithFlags": "ppL", "cuGraphExecDestroy": "p", "cuGraphUpload": "pp", "cuGraphLaunch": "pp",
}
OUT_OF_MEMORY = 2


class IpcHandle(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_ubyte * 64)]


class MemLocation(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class MemProperties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location", MemLocation), ("windows", ctypes.c_void_p),
                ("flags", ctypes.c_ubyte * 8)]


class MemAccess(ctypes.Structure):
    _fields_ = [("location", MemLocation), ("flags", ctypes.c_int)]


class KernelNode(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("parameters", ctypes.POINTER(ctypes.c_void_p)), ("extra", ctypes.POINTER(ctypes.c_void_p)), ("kernel", ctypes.c_void_p),
                ("context", ctypes.c_void_p)]


class MemsetNode(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("pitch", ctypes.c_size_t), ("value", ctypes.c_uint), ("element", ctypes.c_uint),
                ("width", ctypes.c_size_t), ("height", ctypes.c_size_t)]


class CopyNode(ctypes.Structure):
    _fields_ = [(f"{side}_{name}", kind) for side in ("source", "target")
                for name, kind in (("x", ctypes.c_size_t), ("y", ctypes.c_size_t), ("z", ctypes.c_size_t), ("level", ctypes.c_size_t),
                                   ("type", ctypes.c_int), ("host", ctypes.c_void_p), ("device", ctypes.c_uint64),
                                   ("array", ctypes.c_void_p), ("reserved", ctypes.c_void_p), ("pitch", ctypes.c_size_t),
                                   ("height", ctypes.c_size_t))] + [
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t)]


class EdgeData(ctypes.Structure):
    _fields_ = [("from_port", ctypes.c_ubyte), ("to_port", ctypes.c_ubyte), ("type", ctypes.c_ubyte), ("reserved", ctypes.c_ubyte * 5)]


class DriverError(Exception):
    def __init__(self, call, code, name):
        super().__init__(f"{call} gave {name}")
        self.code = code


class Driver:
    """The driver's functions: driver("cuInit", 0) calls one and raises DriverError if it fails; attempt() returns its error code."""

    KINDS = {"p": ctypes.c_void_p, "L": ctypes.c_uint64, "I": ctypes.c_uint, "i": ctypes.c_int, "B": ctypes.c_ubyte, "s": ctypes.c_char_p,
             "h": IpcHandle}

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.calls = {}

    def attempt(self, name, *arguments):
        """Calls a function of the driver and returns its error code."""
        call = self.calls.get(name)
        if call is None:
            call = getattr(self.library, name)
            call.argtypes, call.restype = [self.KINDS[letter] for letter in SIGNATURES[name]], ctypes.c_int
            self.calls[name] = call
        return call(*arguments)

    def __call__(self, name, *arguments):
        code = self.attempt(name, *arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.attempt("cuGetErrorName", code, ctypes.byref(text))
            raise DriverError(name, code, (text.value or b"an unknown error").decode())

    def made(self, name, *arguments):
        """Calls a function and returns the handle that it writes through its first argument."""
        handle = ctypes.c_void_p()
        self(name, ctypes.byref(handle), *arguments)
        return handle

    def word(self, name, *arguments):
        """Calls a function and returns the 64-bit number that it writes through its first argument."""
        value = ctypes.c_uint64()
        self(name, ctypes.byref(value), *arguments)
        return value.value


class Mapper:
    """Maps memory of one GPU at addresses that the caller chooses."""

    GRANULE = 2 << 20

    def __init__(self, driver, ordinal):
        self.driver = driver
        self.properties = MemProperties(type=1, location=MemLocation(1, ordinal))
        self.access = MemAccess(MemLocation(1, ordinal), 3)

    def reserve(self, address, size):
        """Reserves `size` bytes of addresses from `address` on. Returns whether the driver gave these addresses and not others."""
        got = ctypes.c_uint64()
        if self.driver.attempt("cuMemAddressReserve", ctypes.byref(got), size, 0, address, 0) != 0:
            return False
        if got.value != address:
            self.driver("cuMemAddressFree", got.value, size)
            return False
        return True

    def map(self, address, size):
        """Allocates memory, maps it into a reservation, and returns its handle."""
        return self.map_handle(address, size, self.driver.word("cuMemCreate", size, ctypes.byref(self.properties), 0))

    def map_shared(self, size, descriptor):
        """Maps memory of `size` bytes that another process has made, at an address of the driver's choice. Returns (address, the memory's
        handle). `descriptor`: from cuMemExportToShareableHandle."""
        handle = self.driver.word("cuMemImportFromShareableHandle", descriptor, 1)
        try:
            address = self.driver.word("cuMemAddressReserve", size, 0, 0, 0)
        except DriverError:
            self.driver("cuMemRelease", handle)
            raise
        try:
            return address, self.map_handle(address, size, handle)
        except DriverError:
            self.driver("cuMemAddressFree", address, size)
            raise

    def map_handle(self, address, size, handle):
        """Maps memory into a reservation and returns its handle, which is released if that fails."""
        try:
            self.driver("cuMemMap", address, size, 0, handle, 0)
            self.driver("cuMemSetAccess", address, size, ctypes.byref(self.access), 1)
        except DriverError:
            self.driver.attempt("cuMemUnmap", address, size)
            self.driver("cuMemRelease", handle)
            raise
        return handle

    def unmap(self, address, size, handle):
        """Unmaps memory and frees it. `handle`: from map()."""
        self.driver("cuMemUnmap", address, size)
        self.driver("cuMemRelease", handle)
