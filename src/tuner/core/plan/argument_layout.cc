// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/plan/argument_layout.h"

#include <algorithm>
#include <cstring>

namespace hone {

ResolvedArgument SizesOf(const Argument& argument) {
  ResolvedArgument sizes;
  sizes.kind = argument.kind;
  const std::string& type = argument.type;
  if (argument.kind == ArgumentKind::kInteger || argument.kind == ArgumentKind::kScalar) {
    const size_t bytes = type == "bool" ? 1 : type == "f16" || type == "bf16" ? 2 : type.ends_with("64") ? 8 : 4;
    sizes.bytes.assign(bytes, 0);
  }
  for (const Argument& field : argument.fields) sizes.fields.push_back(SizesOf(field));
  return sizes;
}

ArgumentLayout LayoutOf(const ResolvedArgument& argument) {
  ArgumentLayout layout;
  switch (argument.kind) {
    case ArgumentKind::kTensor:
    case ArgumentKind::kReference:
    case ArgumentKind::kWorkspace:
      layout.size = layout.align = 8;
      break;
    case ArgumentKind::kInteger:
    case ArgumentKind::kScalar:
      layout.size = layout.align = static_cast<int64_t>(argument.bytes.size());
      break;
    case ArgumentKind::kTensorMap:
      layout.size = 128;
      layout.align = 64;
      break;
    case ArgumentKind::kStruct:
      for (const ResolvedArgument& field : argument.fields) {
        const ArgumentLayout inner = LayoutOf(field);
        layout.size = (layout.size + inner.align - 1) / inner.align * inner.align;
        layout.field_offsets.push_back(layout.size);
        layout.size += inner.size;
        layout.align = std::max(layout.align, inner.align);
      }
      // An empty struct has one byte in C++; trailing padding keeps elements of arrays aligned.
      layout.size = std::max<int64_t>((layout.size + layout.align - 1) / layout.align * layout.align, 1);
      break;
  }
  return layout;
}

std::vector<uint8_t> PackArgument(const ResolvedArgument& argument,
                                  const std::function<uint64_t(const ResolvedArgument&)>& address) {
  HONE_CHECK(argument.kind != ArgumentKind::kTensorMap, "tensor maps are encoded by the driver, not packed");
  if (argument.kind == ArgumentKind::kInteger || argument.kind == ArgumentKind::kScalar) return argument.bytes;
  const ArgumentLayout layout = LayoutOf(argument);
  std::vector<uint8_t> bytes(static_cast<size_t>(layout.size), 0);
  if (argument.kind == ArgumentKind::kStruct) {
    for (size_t i = 0; i < argument.fields.size(); ++i) {
      const std::vector<uint8_t> field = PackArgument(argument.fields[i], address);
      std::copy(field.begin(), field.end(), bytes.begin() + layout.field_offsets[i]);
    }
    return bytes;
  }
  const uint64_t pointer = address(argument) + static_cast<uint64_t>(argument.byte_offset);
  std::memcpy(bytes.data(), &pointer, sizeof pointer);
  return bytes;
}

}  // namespace hone
