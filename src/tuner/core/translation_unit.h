// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a compiler sees of a candidate after the precompiled headers: tunables as `#define HONE_TUNE_<NAME>`,
// the source under its own name and line numbers, and static assertions that each kernel's parameters are
// what the plan passes.
//
// The assertions are what a candidate would like to do away with, so nothing in its text reaches them: they stand behind
// it, every word of the language in them is undefined as a macro first, and every other name is one that the text cannot
// hold, for it is made of the text's own hash.
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

// The assertions of `unit` and the templates behind them. `kernels` are the names of unit.kernels as they are to be
// written here. `preprocessed`: for a compiler that is given what its preprocessor has left; without it, the text begins
// with what takes the candidate's macros away.
std::string PlanCheckText(const TranslationUnit& unit, const std::vector<std::string>& kernels, bool preprocessed);

// Body and assertions: all that a compiler with a preprocessor of its own is given.
std::string WholeText(const TranslationUnit& unit);

// The text of the templates as they are before names are made of a hash: part of what names a version of the compiler.
std::string_view PlanCheckTemplates();

}  // namespace hone
