// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a compiler sees of a candidate after the precompiled headers: tunables as `#define HONE_TUNE_<NAME>`,
// the source under its own name and line numbers, and static assertions that each kernel's parameters are
// what the plan passes.
#pragma once

#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/core/compiled_program.h"

namespace hone {

// `is_oracle`: `ref:NAME` arguments are double pointers.
TranslationUnit MakeTranslationUnit(const Candidate& candidate, const Task& task, const CompileUnit& unit,
                                    bool is_oracle);

// "float", "__half", "long long": the type of a tensor's elements in device code.
std::string_view CudaElementType(DType dtype);

// C++ text that must precede `body` once, outside its line numbering: the templates behind the static
// assertions. Part of every precompiled header (NVRTC) and of the simulator's prelude.
std::string_view ParameterCheckHeader();

}  // namespace hone
