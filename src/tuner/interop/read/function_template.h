// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the function templates of a .cu file: their template parameters, and their explicit instantiations.
#pragma once

#include <string>
#include <vector>

#include "tuner/interop/read/cu_source.h"

namespace hone {

// Returns the first token of the function definition whose body's { is token `body_open`.
int DefinitionStart(const CuSource& source, int body_open);

// Returns the names of the template parameters of the function whose body's { is token `body_open`, in order; empty:
// not a template.
std::vector<std::string> TemplateNames(const CuSource& source, int body_open);

// Returns the arguments of every `template void name<float, 256>(…);` in the file, in order and without repeats.
std::vector<std::vector<std::string>> ExplicitInstantiations(const CuSource& source, const std::string& name);

}  // namespace hone
