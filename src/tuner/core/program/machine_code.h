// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Stores machine code in the text of a candidate.
//
// A candidate made by another compiler consists of a launch plan and images (cubin or PTX files). Like every candidate,
// it is one text in bundles, queues and run stores: the plan's comment, followed by each image in base64.
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
#include <optional>
#include <string>
#include <string_view>

#include "hone/base/status.h"

namespace hone {

// Limit on all images of a candidate together, so that its text stays within 4 MiB.
inline constexpr size_t kMostImageBytes = size_t{2816} << 10;
inline constexpr size_t kMostImages = 64;

// Limit on the characters of an image's name. Compilers that name an image after a kernel and its constants write more
// than a hundred; a file's name may have 255 bytes.
inline constexpr size_t kMostImageNameBytes = 240;

// Returns whether `name` is like "kernel.cubin" or "kernel.2.ptx": letters, digits, '_', '-' and '.', at most
// kMostImageNameBytes of them, without a leading dot, and with one of the two endings.
bool IsImageName(std::string_view name);
// Returns what is wrong with an image's name, as the end of a sentence that begins with the name; nullopt: nothing.
std::optional<std::string> BadImageName(std::string_view name);

// Returns the text of a candidate with this plan (TOML) and these images, by file name. kInvalidArgument names what is
// wrong with the images; ParseCandidate checks the plan.
Result<std::string> JoinMachineCode(std::string_view plan, const std::map<std::string, std::string>& images);

// Returns the bytes of one image in a candidate's text. kInvalidArgument, without a file's name, if the image is absent
// (the message lists those present) or damaged.
Result<std::string> ImageIn(std::string_view text, std::string_view name);

}  // namespace hone
