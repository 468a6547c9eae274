// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes small files in the formats that the graph readers read: .npy, .npz (stored, deflated, zip64), .gz, text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::gnn {

// Returns the bytes of a .npy file: `type` as NumPy writes it ("<i8"), `shape` as the inside of its tuple ("3, 2").
std::string NpyBytes(std::string_view type, std::string_view shape, std::string_view items, bool fortran_order = false);
template <typename T>
std::string NpyBytes(std::string_view type, std::string_view shape, const std::vector<T>& items, bool fortran_order = false) {
  return NpyBytes(type, shape, std::string_view(reinterpret_cast<const char*>(items.data()), items.size() * sizeof(T)),
                  fortran_order);
}

enum class ZipStyle { kStored, kDeflated, kZip64 };
std::string ZipBytes(const std::vector<std::pair<std::string, std::string>>& members, ZipStyle style = ZipStyle::kStored);
std::string GzipBytes(std::string_view text);

void WriteTestFile(const std::string& path, std::string_view bytes);  // makes its folder; fails the test on an error

}  // namespace hone::gnn
