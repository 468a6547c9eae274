// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Extracts the machine code of each kernel from a cubin, to tell whether two compiles of one source gave the same code.
// Whole cubins differ by names of constants that no kernel reads. Meant for files of our own compiler: only offsets are
// checked.
#pragma once

#include <cstring>
#include <map>
#include <string>
#include <string_view>

namespace hone {

// Returns the code by section name (".text." and the kernel's symbol); empty if the bytes are no 64-bit ELF file.
inline std::map<std::string, std::string> KernelCode(std::string_view elf) {
  const auto read = [&](size_t at, size_t bytes) {
    uint64_t value = 0;
    if (at + bytes <= elf.size()) std::memcpy(&value, elf.data() + at, bytes);
    return value;
  };
  std::map<std::string, std::string> code;
  if (!elf.starts_with("\x7f"
                       "ELF")) {
    return code;
  }
  const size_t table = read(40, 8), count = read(60, 2), names_index = read(62, 2);
  constexpr size_t kHeaderBytes = 64;
  const size_t names = read(table + names_index * kHeaderBytes + 24, 8);
  for (size_t i = 0; i < count; ++i) {
    const size_t header = table + i * kHeaderBytes, name_at = names + read(header, 4);
    const size_t offset = read(header + 24, 8), bytes = read(header + 32, 8);
    if (name_at >= elf.size() || offset > elf.size() || bytes > elf.size() - offset) continue;
    const std::string_view rest = elf.substr(name_at);
    const std::string name(rest.substr(0, rest.find('\0')));
    if (name.starts_with(".text.")) code[name] = elf.substr(offset, bytes);
  }
  return code;
}

}  // namespace hone
