// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds the text that a compiler gets for a candidate, after the precompiled headers: tunables as
// `#define HONE_TUNE_<NAME>`, the source under its own name and line numbers, and static assertions that each kernel's
// parameters match the plan's arguments.
//
// A candidate may try to disable the assertions, so nothing in its text affects them: they come after the text, every
// keyword in them is first undefined as a macro, and every other name contains the text's own hash, which the text
// cannot contain.
#pragma once

#include <string_view>

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/core/program/compiled_program.h"

namespace hone {

// Returns the translation unit for one binding of the candidate's tunables. `ref:NAME` arguments, which only oracles
// have, are pointers to double.
TranslationUnit MakeTranslationUnit(const Candidate& candidate, const Task& task, const CompileUnit& unit);

// Returns "float", "__half", "long long": the type of a tensor's elements in device code.
std::string_view CudaElementType(DType dtype);

// Returns the assertions of `unit` and the templates that they use. `kernels` are the names by which the text calls
// unit.kernels. `preprocessed`: true for a compiler whose input has been preprocessed; false: the text begins by
// undefining the candidate's macros.
std::string PlanCheckText(const TranslationUnit& unit, const std::vector<std::string>& kernels, bool preprocessed);

// Returns body and assertions, the whole input for a compiler that has a preprocessor of its own.
std::string WholeText(const TranslationUnit& unit);

// Returns the text of the templates, before the hash is added to their names. It is a part of a compiler's fingerprint.
std::string_view PlanCheckTemplates();

}  // namespace hone
