// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the words of a spec's text form, and functions for small questions about its values.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "hone/gnn/model_spec.h"

namespace hone::gnn {

// Sites of masks (DropoutSite of gnn/ops/dropout.h).
inline constexpr std::array<std::string_view, 5> kSiteNames = {"activation", "neighbors", "self", "input", "head"};
inline constexpr int kActivationSite = 0, kInputSite = 3, kHeadSite = 4, kFirstFreeSite = 128;
inline std::string SiteWords() { return "activation, neighbors, self, input, head"; }

inline constexpr std::array<std::string_view, 10> kOperationNames = {
    "aggregate", "attention", "linear", "norm", "activate", "drop", "add", "concat", "collect", "head"};
inline constexpr std::array<std::string_view, 3> kHowNames = {"mean", "sum", "max"};
inline constexpr std::array<std::string_view, 2> kScaleNames = {"none", "symmetric"};
inline constexpr std::array<std::string_view, 3> kInitNames = {"fan-in", "xavier-relu", "glorot"};
inline constexpr std::array<std::string_view, 2> kNormNames = {"batch", "layer"};
inline constexpr std::array<std::string_view, 3> kFunctionNames = {"relu", "leaky_relu", "elu"};

// Returns whether the operation has parameters or buffers, which then need names.
bool HasParameters(const OperationSpec& operation);
// Returns the prefix of a value's parameters: its `parameters`, or if that is empty its name.
const std::string& ParametersOf(const ValueSpec& value);

}  // namespace hone::gnn
