// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See machine_labels.h.
#include "tuner/evaluate/compile/machine_labels.h"

#include <cstdint>
#include <cstring>

namespace hone {
namespace {

// Bits 0 to 8 of an instruction are the operation; bits 9 to 11 are the form of its operands.
constexpr uint64_t kOperationMask = 0x1ff;
enum Operation : uint64_t {
  kHmma = 0x03c,     // mma.sync of floats
  kImma = 0x037,     // mma.sync of integers
  kDmma = 0x03f,     // mma.sync of doubles
  kHgmma = 0x1f0,    // wgmma of floats
  kIgmma = 0x1f1,    // wgmma of integers
  kQgmma = 0x1f3,    // wgmma of 8-bit floats
  kUtcmma = 0x1ea,   // tcgen05.mma; the operand type is in a descriptor, not in the code
};

}  // namespace

void AddMachineLabels(std::string_view code, std::set<std::string>& labels) {
  constexpr size_t kInstructionBytes = 16;
  for (size_t at = 0; at + kInstructionBytes <= code.size(); at += kInstructionBytes) {
    uint64_t low, high;
    std::memcpy(&low, code.data() + at, sizeof(low));
    std::memcpy(&high, code.data() + at + sizeof(low), sizeof(high));
    const char* type = nullptr;
    switch (low & kOperationMask) {
      case kHmma: {
        constexpr uint64_t kFloatAccumulator = 1u << 12;
        switch ((high >> 18) & 3) {
          case 0: type = (high & kFloatAccumulator) ? "tensor_f16" : "tensor_f16_accumulate"; break;
          case 1: type = "tensor_bf16"; break;
          case 2: type = "tensor_tf32"; break;
          default: type = "tensor_cores"; break;
        }
        break;
      }
      case kHgmma:
        switch ((high >> 11) & 7) {
          case 0: type = "tensor_f16_accumulate"; break;
          case 1: type = "tensor_f16"; break;
          case 3: type = "tensor_bf16"; break;
          case 5: type = "tensor_tf32"; break;
          default: type = "tensor_cores"; break;
        }
        break;
      case kQgmma: type = "tensor_fp8"; break;
      case kImma:
      case kIgmma: type = "tensor_int"; break;
      case kDmma: type = "tensor_f64"; break;
      case kUtcmma: type = "tensor_cores"; break;
      default: continue;
    }
    labels.insert("tensor_cores");
    labels.insert(type);
  }
}

}  // namespace hone
