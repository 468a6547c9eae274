// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Machine code as the text of a candidate.
//
// A candidate that another compiler made is a launch plan and images (cubin or PTX files). It travels as one text like
// every other candidate, through bundles, queues and run stores: the plan's comment, and behind it each image in
// base64.
//
//   /*hone
//   mode = "cubin"
//   [[launch]]
//   …
//   */
//   //hone-image kernel.cubin 5432
//   //f0VMRgIBATMHAAAAAAAAAAIAvgCAAAAA…
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// All images of a candidate together: what its text of at most 4 MiB holds.
inline constexpr size_t kMostImageBytes = size_t{2816} << 10;
inline constexpr size_t kMostImages = 64;

// "kernel.cubin", "kernel.2.ptx": letters, digits, '_', '-' and '.', 64 characters at most, none of them a leading dot,
// and one of the two endings.
bool IsImageName(std::string_view name);

// The text of a candidate with this plan (TOML) and these images, by file name. kInvalidArgument names what is wrong
// with them; the plan itself is for ParseCandidate to read.
Result<std::string> JoinMachineCode(std::string_view plan, const std::map<std::string, std::string>& images);

// The bytes of one image in a candidate's text. kInvalidArgument, without a file's name, where it is not there (the
// images that are there are named) or is damaged.
Result<std::string> ImageIn(std::string_view text, std::string_view name);

}  // namespace hone
