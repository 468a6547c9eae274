# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes and reads a device plan, which holds what lift.py has captured for player.py, and reads the symbols of a cubin.

A plan is a sealed file without a name: 8 bytes of magic, the header's place and its length, blobs at multiples of 4 KiB, then the header
(JSON):
  "base", "bytes": the range of addresses in which all memory that PyTorch allocated lies
  "chunks": [[address, bytes]] that are mapped there; "foreign": [[address, bytes]] that something other than PyTorch allocated
  "blocks": [[address, bytes]] of each tensor or workspace that existed before the capture or came during it; gaps are guards
  "kept": [[address, bytes, blob]] contents of memory before the capture; "inputs", "outputs": [[address, bytes]]
  "modules": [{"cubin": blob, "globals": [[name, bytes, blob]]}]
  "functions": [{"module", "name", "attributes": {number: value}}]
  "nodes": [{"kind": "kernel", "function", "grid", "block", "shared", "parameters": [hex], "attributes": {number: hex}}
            | {"kind": "memset", …} | {"kind": "copy", …} | {"kind": "empty"}]
  "edges": [[from, to, hex of the edge's data]]
The reader does not trust the plan's writer. Whatever a plan says, player.py runs only its code for the GPU.
"""
import fcntl
import mmap
import os
import struct

MAGIC = b"HONELIFT"
ADD_SEALS, GET_SEALS = 1033, 1034
SEALS = 0x2 | 0x4 | 0x8  # F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE
PAGE = 4096


class BadPlan(Exception):
    """The file is not a valid plan; the message says why, in a sentence."""


class PlanWriter:
    """Writes a plan. The header comes behind the blobs, because it is known last, and blobs may have gigabytes."""

    def __init__(self):
        self.file = os.memfd_create("hone-lifted", os.MFD_ALLOW_SEALING)
        self.end, self.table = PAGE, []

    def blob(self, pieces, size):
        """Adds a blob of `size` bytes, which `pieces` yields in parts, and returns its number."""
        at = os.lseek(self.file, (self.end + PAGE - 1) // PAGE * PAGE, os.SEEK_SET)
        written = 0
        for piece in pieces:
            view = memoryview(piece)
            while len(view):
                part = os.write(self.file, view)
                view, written = view[part:], written + part
        if written != size:
            raise BadPlan(f"a blob of {size} bytes has {written}")
        self.end = at + size
        self.table.append([at, size])
        return len(self.table) - 1

    def finish(self, header):
        """Writes the header, seals the file and returns its descriptor."""
        text = json.dumps({**header, "blobs": self.table}).encode()
        os.lseek(self.file, self.end, os.SEEK_SET)
        view = memoryview(text)
        while len(view):
            view = view[os.write(self.file, view):]
        os.pwrite(self.file, MAGIC + struct.pack("<QQ", self.end, len(text)), 0)
        fcntl.fcntl(self.file, ADD_SEALS, SEALS)
        return self.file


class PlanFile:
    """Reads a plan. Checks that the blobs lie in the file; what the header's numbers mean is checked where they are used."""

    MOST_HEADER = 256 << 20

    def __init__(self, descriptor):
        if fcntl.fcntl(descriptor, GET_SEALS) & SEALS != SEALS:
            raise BadPlan("the plan's file is not sealed")
        size = os.fstat(descriptor).st_size
        if size < PAGE:
            raise BadPlan("the plan's file is empty")
        self.memory = mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY)
        magic, place, length = struct.unpack("<8sQQ", self.memory[:24])
        if magic != MAGIC or length > self.MOST_HEADER:
            raise BadPlan("what came is no plan")
        if place + length > size:
            raise BadPlan("the plan is cut off")
        self.header = json.loads(self.memory[place:place + length])
        for at, bytes_of in self.header["blobs"]:
            if at < 0 or bytes_of < 0 or at + bytes_of > size:
                raise BadPlan("the plan is cut off")

    def blob(self, number):
        """Returns (a blob's bytes as a ctypes array, not copied; their number)."""
        at, size = self.header["blobs"][number]
        return (ctypes.c_char * size).from_buffer(self.memory, at), size


class Cubin:
    """Reads the kernels and variables of a cubin, an ELF file of 64 bits. `kernels`: {name: code}; `registers`: {name: per thread};
    `variables`: [(name, bytes)]."""

    def __init__(self, data):
        self.kernels, self.variables, self.registers = {}, [], {}
        if data[:4] != b"\x7fELF":
            raise BadPlan("a module is no ELF file")
        sections = self.sections(data)
        names = [self.text(data, sections[struct.unpack_from("<H", data, 0x3e)[0]], section[0]) for section in sections]
        for name, section in zip(names, sections):
            if name.startswith(".text."):
                self.kernels[name[6:]] = data[section[4]:section[4] + section[5]]
                self.registers[name[6:]] = section[7] >> 24
        for section in sections:
            if section[1] != 2:  # 2: a symbol table (SHT_SYMTAB)
                continue
            for at in range(section[4], section[4] + section[5], 24):
                name, info, _, index, _, size = struct.unpack_from("<IBBHQQ", data, at)
                if info & 15 == 1 and size > 0 and index < len(names) and names[index].startswith((".nv.global", ".nv.constant3")):
                    self.variables.append((self.text(data, sections[section[6]], name), size))

    @staticmethod
    def sections(data):
        """Returns the section headers: [(name, type, flags, address, offset, size, link, info)]."""
        offset, = struct.unpack_from("<Q", data, 0x28)
        entry, count = struct.unpack_from("<HH", data, 0x3a)
        return [struct.unpack_from("<IIQQQQII", data, offset + i * entry) for i in range(count)]

    @staticmethod
    def text(data, table, at):
        """Returns the string at offset `at` of a string table, given the table's section."""
        begin = table[4] + at
        return bytes(data[begin:data.index(b"\0", begin)]).decode("utf-8", "replace")

    @staticmethod
    def length(head):
        """Returns the size in bytes of a cubin in memory. head(offset, count) returns some of its bytes."""
        offset, = struct.unpack("<Q", head(0x28, 8))
        entry, count = struct.unpack("<HH", head(0x3a, 4))
        programs, = struct.unpack("<Q", head(0x20, 8))
        program, programs_count = struct.unpack("<HH", head(0x36, 4))
        end = max(offset + entry * count, programs + program * programs_count)
        for i in range(count):
            _, kind, _, _, begin, size, _, _ = struct.unpack("<IIQQQQII", head(offset + i * entry, 48))
            if kind != 8:  # 8: a section without bytes in the file (SHT_NOBITS)
                end = max(end, begin + size)
        return end
