// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds a candidate's text for a compiler, after the precompiled headers: tunables as `#define HONE_TUNE_<NAME>`, the
// source under its own name and line numbers, and static assertions that each kernel's parameters match the plan's
// arguments.
//
// A candidate may try to disable the assertions, so nothing in its text affects them: they come after the text, every
// keyword in them is first undefined as a macro, and every other name contains the text's own hash, which the text
// cannot contain.
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

// Returns "float", "__half", "long long": the type of a tensor's elements in device code.
std::string_view CudaElementType(DType dtype);

// Returns the assertions of `unit` and the templates that they use. `kernels` are the names of unit.kernels as written
// here. `preprocessed`: for a compiler whose input has been preprocessed; otherwise the text begins by undefining the
// candidate's macros.
std::string PlanCheckText(const TranslationUnit& unit, const std::vector<std::string>& kernels, bool preprocessed);

// Returns body and assertions: the whole input of a compiler with a preprocessor of its own.
std::string WholeText(const TranslationUnit& unit);

// Returns the text of the templates before names get a hash: part of the identity of a compiler's version.
std::string_view PlanCheckTemplates();

}  // namespace hone
