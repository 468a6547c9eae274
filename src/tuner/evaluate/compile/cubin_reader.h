// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// ReadCubin reads from a machine code file (a cubin) what the module uses and what it can keep between launches:
// registers, stack and shared memory of each kernel, device globals, functions that it expects from elsewhere. The
// resource gate therefore needs no device and no driver.
//
// A cubin is an ELF file whose NVIDIA sections are not publicly specified; the layout here was found by comparing
// what nvcc --resource-usage prints with the bytes, for sm_80 to sm_120 and toolkits 12.8 to 13.0 (cubin_reader_test.cc
// repeats the comparison with the toolkit that is installed). The bytes may come from a compiler that its input has
// taken over, so every offset is checked.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/core/program/compiled_program.h"

namespace hone {

// A CubinSignature says how a kernel must be launched.
struct CubinSignature {
  std::vector<int64_t> parameter_bytes;         // size of each parameter, in order
  std::optional<std::array<int64_t, 3>> block;  // the only block size that works (PTX's .reqntid); nullopt: any
};

struct CubinInfo {
  int architecture = 0;                  // 90: compute capability 9.0
  std::vector<KernelResources> kernels;  // `kernel` holds the symbol; spill_bytes is the stack of one thread
  // The memory that must be kept and restored between launches: every variable in device memory. Static, anonymous and
  // function-local variables are included, and so are those of headers (libcu++ brings a thousand constants in writable
  // memory). `__constant__` memory is listed as not writable. A section without a variable's name is one entry, which
  // is marked as not reachable.
  std::vector<DeviceGlobal> globals;
  std::vector<std::string> variables;  // names of the variables in device memory, for messages
  std::vector<std::string> managed;    // names of __managed__ variables
  std::vector<std::string> externs;    // functions that the driver or another module would have to provide
  std::vector<std::string> labels;     // labels by AddMachineLabels, over all kernels
  std::map<std::string, CubinSignature> signatures;  // keyed by kernel
  // Describes writable memory that no variable of `globals` covers: a section of an unknown name, or room between
  // variables that no alignment explains. Compilers leave none. The text is a noun phrase for a message; empty: none.
  std::string hidden_memory;
};

// Reads a cubin. Returns kInvalidArgument when the bytes are no cubin or contradict themselves.
Result<CubinInfo> ReadCubin(std::string_view bytes);

}  // namespace hone
