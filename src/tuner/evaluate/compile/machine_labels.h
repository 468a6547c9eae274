// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine labels say which arithmetic units a kernel's machine code uses, read from the opcodes. Whether a float32
// result went through TF32 or 16-bit tensor cores cannot be seen in the source, and most machines have no disassembler.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace hone {

// Adds to `labels` what `code` (the bytes of a kernel's .text section, sm_80 and newer: instructions of 16 bytes)
// contains: "tensor_cores", and per operand type "tensor_f16", "tensor_f16_accumulate", "tensor_bf16", "tensor_tf32",
// "tensor_fp8", "tensor_int", "tensor_f64". Instructions it does not know add nothing: a label is a fact, its absence
// is not. The encodings were found by compiling one instruction of each kind with toolkit 13.0 for sm_80, 86, 90a,
// 100a and 120a.
void AddMachineLabels(std::string_view code, std::set<std::string>& labels);

}  // namespace hone
