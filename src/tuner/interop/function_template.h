// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Function templates of a .cu file: what their parameters are called, and what the file itself instantiates them for.
#pragma once

#include <string>
#include <vector>

#include "tuner/interop/cu_source.h"

namespace hone {

// The first token of the definition whose body begins at token `body_open`.
int DefinitionStart(const CuSource& source, int body_open);

// The names of its template parameters, in order; empty: no template.
std::vector<std::string> TemplateNames(const CuSource& source, int body_open);

// The arguments of every `template void name<float, 256>(…);` in the file, in order and without repeats.
std::vector<std::vector<std::string>> ExplicitInstantiations(const CuSource& source, const std::string& name);

}  // namespace hone
