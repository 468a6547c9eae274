// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns the resolved arguments of one launch into the bytes a kernel receives.
//
// Layout is core/argument_layout.h's; here names become addresses, and tensor maps come in, which the caller has
// encoded (that needs the driver). Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"

namespace hone {

inline constexpr size_t kTensorMapBytes = 128;
using EncodedTensorMaps = std::map<std::string, std::vector<uint8_t>>;  // by name; kTensorMapBytes each

struct PackedArgument {
  std::string name;            // for messages: "argument 2 (x)"
  std::vector<uint8_t> bytes;
};

// Where a launch finds what lies at an address; empty: there.
using AddressSeen = std::function<uint64_t(uint64_t)>;

// kInvalidArgument names the argument: a tensor, workspace, reference or tensor map that is not bound.
Result<std::vector<PackedArgument>> PackArguments(const std::vector<ResolvedArgument>& arguments, const Bindings& bindings,
                                                  const EncodedTensorMaps& tensor_maps, const AddressSeen& seen = {});

}  // namespace hone
