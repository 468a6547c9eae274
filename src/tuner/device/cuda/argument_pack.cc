// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/argument_pack.h"

#include <fmt/format.h>

#include "tuner/core/plan/argument_layout.h"

namespace hone {
namespace {

std::string NameForMessage(const ResolvedArgument& argument) {
  if (!argument.name.empty()) return argument.name;
  switch (argument.kind) {
    case ArgumentKind::kInteger: return "an integer";
    case ArgumentKind::kScalar: return "a scalar";
    case ArgumentKind::kStruct: return "a struct";
    default: return "a pointer";
  }
}

// Finds the address of a tensor, reference or workspace; records names that are not bound.
class AddressBook {
 public:
  explicit AddressBook(const Bindings& bindings) : bindings_(bindings) {}
  uint64_t operator()(const ResolvedArgument& argument) {
    switch (argument.kind) {
      case ArgumentKind::kTensor:
        if (const auto found = bindings_.tensors.find(argument.name); found != bindings_.tensors.end()) return found->second.address;
        break;
      case ArgumentKind::kWorkspace:
        if (const auto found = bindings_.workspaces.find(argument.name); found != bindings_.workspaces.end()) return found->second;
        break;
      case ArgumentKind::kReference:
        for (const std::string& key : {argument.name, "ref:" + argument.name}) {
          if (const auto found = bindings_.references.find(key); found != bindings_.references.end()) return found->second;
        }
        break;
      default: break;
    }
    if (unbound_.empty()) unbound_ = NameForMessage(argument);
    return 0;
  }
  const std::string& unbound() const { return unbound_; }

 private:
  const Bindings& bindings_;
  std::string unbound_;
};

}  // namespace

Result<std::vector<PackedArgument>> PackArguments(const std::vector<ResolvedArgument>& arguments,
                                                  const Bindings& bindings, const EncodedTensorMaps& tensor_maps,
                                                  const AddressSeen& address_seen) {
  AddressBook book(bindings);
  std::vector<PackedArgument> packed;
  packed.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ResolvedArgument& argument = arguments[i];
    PackedArgument& result = packed.emplace_back();
    result.name = fmt::format("argument {} ({})", i + 1, NameForMessage(argument));
    if (argument.kind == ArgumentKind::kTensorMap) {
      const auto found = tensor_maps.find(argument.name);
      if (found == tensor_maps.end()) {
        return Status::InvalidArgument(fmt::format("{}: the plan has no tensor map of that name", result.name));
      }
      result.bytes = found->second;
    } else {
      result.bytes = PackArgument(argument, [&](const ResolvedArgument& pointer) {
        const uint64_t address = book(pointer);
        return address_seen && address != 0 ? address_seen(address) : address;
      });
    }
    if (!book.unbound().empty()) {
      return Status::InvalidArgument(fmt::format("{}: {} is bound to no memory", result.name, book.unbound()));
    }
  }
  return packed;
}

}  // namespace hone
