// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Divides a candidate into named regions: the plan, the prelude, each kernel and each function. Plans name the regions
// they change and coders return whole region bodies, so the text around an edit is the program's own and stays intact.
// (Models that count lines themselves break what they edit: four in five of the compile errors in CuTeGen's published
// runs are such damage.)
//
// Regions cover a source from its first byte to its last, in order. They are found by brackets and names, not by a C++
// parser; text that is not understood becomes part of a `prelude` region.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/candidate.h"

namespace hone {

struct Region {
  std::string name;  // plan | prelude | prelude-2 | … | a function's name, "name#2" for its next overload
  std::string kind;  // plan | prelude | kernel | function
  size_t begin = 0, end = 0;  // bytes in the source
  std::string signature;  // kernel, function: its declaration's tokens, one space apart
};

// Divides the source into its regions.
std::vector<Region> SplitRegions(std::string_view source);
// Formats "plan, prelude, rms_norm (kernel), block_sum".
std::string RegionList(const std::vector<Region>& regions);

// A new text for the region `name`.
struct RegionBody {
  std::string name;
  std::string text;
};
struct RegionResult {
  std::string source;   // empty when a body could not be placed
  std::string problem;  // unknown_region | region_twice
  std::string detail;
};
// Replaces the named regions by the given bodies. With `add_prelude`, a body `prelude` for a source that has no such
// region is put after the plan: prompts tell models to put includes and types there.
RegionResult ReplaceRegions(std::string_view source, const std::vector<RegionBody>& bodies, bool add_prelude = true);

// Describes damage that is visible without a compiler. `problem` is empty if none was found.
struct StructureFault {
  std::string problem;  // unbalanced_brackets | duplicate_definition | kernel_missing
  std::string detail;   // what is wrong, with the line
};
// Checks brackets, repeated definitions, and that the kernels which the plan launches exist.
StructureFault CheckStructure(std::string_view source, const LaunchPlan& plan);

}  // namespace hone
