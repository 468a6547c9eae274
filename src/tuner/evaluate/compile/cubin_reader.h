// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads what a compiled module will use, and what it can keep, from its machine code file (a cubin): registers,
// stack and shared memory per kernel, device globals, functions it expects from elsewhere. So the resource gate
// needs no device and no driver.
//
// A cubin is an ELF file whose NVIDIA sections are not publicly specified; the layout here was found by comparing
// what nvcc --resource-usage prints with the bytes, for sm_80 to sm_120 and toolkits 12.8 to 13.0 (cubin_reader_test.cc
// repeats the comparison with the toolkit that is installed). The bytes may come from a compiler taken over by its input:
// every offset is checked.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "tuner/core/compiled_program.h"

namespace hone {

// The requirements that a kernel has of its launch.
struct CubinSignature {
  std::vector<int64_t> parameter_bytes;                // in order
  std::optional<std::array<int64_t, 3>> block;         // the only block it may be launched with (PTX's .reqntid)
};

struct CubinInfo {
  int architecture = 0;                  // 90: compute capability 9.0
  std::vector<KernelResources> kernels;  // `kernel` holds the symbol; spill_bytes is the stack of one thread
  // The memory that must be kept and restored between launches: every variable in device memory, static, anonymous and
  // function-local ones alike, those of headers included (libcu++ brings a thousand constants in writable memory).
  // `__constant__` memory is listed as not writable. A section without a variable's name comes as one that is not
  // reachable.
  std::vector<DeviceGlobal> globals;
  std::vector<std::string> variables;    // names of the variables themselves, for messages
  std::vector<std::string> managed;      // __managed__ variables
  std::vector<std::string> externs;      // functions the driver or another module would have to provide
  std::vector<std::string> labels;       // of AddMachineLabels, over all kernels
  std::map<std::string, CubinSignature> signatures;  // by kernel
  // Writable memory that no variable of `globals` covers: a section of an unknown name, or room between variables that no
  // alignment explains. Compilers leave none; a sentence's object, empty where there is none.
  std::string hidden_memory;
};

// kInvalidArgument when the bytes are no cubin or contradict themselves.
Result<CubinInfo> ReadCubin(std::string_view bytes);

}  // namespace hone
