// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/program/include_sets.h"

namespace hone {
namespace {

constexpr std::string_view kFull[] = {"<mma.h>",           "<cooperative_groups.h>", "<cooperative_groups/reduce.h>",
                                      "<cuda_pipeline.h>", "<cuda/pipeline>",        "<cuda/barrier>"};

// The list has the umbrella header, the atoms that a tensor-core kernel names, and the barriers and registers of a
// warp-specialised one. It has no common instantiations of TiledMMA and similar templates: every candidate pays 1.6 ms
// for each MiB of precompiled header, and two tiled products made it 143 MiB larger, which cost all candidates as much
// as it saved some (docs/cute.md).
constexpr std::string_view kCute[] = {"<cute/tensor.hpp>",
                                      "<cute/atom/mma_atom.hpp>",
                                      "<cute/atom/copy_atom.hpp>",
                                      "<cute/algorithm/gemm.hpp>",
                                      "<cute/algorithm/copy.hpp>",
                                      "<cutlass/cutlass.h>",
                                      "<cutlass/numeric_types.h>",
                                      "<cutlass/numeric_conversion.h>",
                                      "<cutlass/arch/barrier.h>",
                                      "<cutlass/arch/reg_reconfig.h>"};

}  // namespace

std::span<const std::string_view> IncludeSetHeaders(std::string_view include_set) {
  if (include_set == "full") return kFull;
  if (include_set == "cute") return kCute;
  return {};
}

}  // namespace hone
