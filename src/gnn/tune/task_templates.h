// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the texts of templates/, with places {{name}} that are filled in.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace hone::gnn {

using Pieces = std::map<std::string, std::string, std::less<>>;

// Returns the template of a file of templates/, such as "aggregate.toml". An unknown name is a bug.
std::string_view TaskTemplate(std::string_view file);

// Returns `text` with every {{name}} replaced by its piece, and places within pieces too. A name without a piece is a
// bug.
std::string Fill(std::string_view text, const Pieces& pieces);

}  // namespace hone::gnn
