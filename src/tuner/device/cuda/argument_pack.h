// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns the resolved arguments of one launch into the bytes a kernel receives.
//
// core/plan/argument_layout.h computes the layout; this file replaces names by addresses and inserts tensor maps, which the
// caller has encoded (with the driver). Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/device_session.h"

namespace hone {

inline constexpr size_t kTensorMapBytes = 128;  // size of a CUtensorMap
using EncodedTensorMaps = std::map<std::string, std::vector<uint8_t>>;  // keyed by name; kTensorMapBytes each

struct PackedArgument {
  std::string name;            // for messages: "argument 2 (x)"
  std::vector<uint8_t> bytes;
};

// Maps a device address to the address at which the launched kernel sees the same memory; an empty function: they are
// equal.
using AddressSeen = std::function<uint64_t(uint64_t)>;

// Packs arguments. kInvalidArgument names the argument: a tensor, workspace, reference or tensor map that is not bound.
Result<std::vector<PackedArgument>> PackArguments(const std::vector<ResolvedArgument>& arguments,
                                                  const Bindings& bindings, const EncodedTensorMaps& tensor_maps,
                                                  const AddressSeen& address_seen = {});

}  // namespace hone
