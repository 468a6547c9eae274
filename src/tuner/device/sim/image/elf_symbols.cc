// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads ELF as elf.h defines it.
#include "tuner/device/sim/image/elf_symbols.h"

#include <elf.h>

#include <cstring>

namespace hone::sim {

namespace {

Status BrokenElf() { return Status::InvalidArgument("not a sound 64-bit ELF file"); }

template <typename T>
bool ReadAt(std::string_view file, uint64_t offset, T* out) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(out, file.data() + offset, sizeof(T));
  return true;
}

// Returns whether the section's name begins with "hone_constant.", as in sim/cuda/detail/qualifiers.h.
bool SectionIsConstant(std::string_view file, const std::vector<Elf64_Shdr>& sections, size_t names_index,
                       const Elf64_Shdr& section) {
  constexpr std::string_view kPrefix = "hone_constant.";
  if (names_index >= sections.size()) return false;
  const Elf64_Shdr& names = sections[names_index];
  if (names.sh_offset > file.size() || names.sh_size > file.size() - names.sh_offset) return false;
  if (section.sh_name >= names.sh_size) return false;
  return file.substr(names.sh_offset, names.sh_size).substr(section.sh_name, kPrefix.size()) == kPrefix;
}

// Returns the symbols of the section whose type is `table_type`; none if there is no such section.
Result<std::vector<ElfSymbol>> Read(std::string_view file, uint32_t table_type) {
  Elf64_Ehdr header;
  if (!ReadAt(file, 0, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_shentsize != sizeof(Elf64_Shdr)) {
    return BrokenElf();
  }
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (size_t i = 0; i < sections.size(); ++i) {
    if (!ReadAt(file, header.e_shoff + i * sizeof(Elf64_Shdr), &sections[i])) return BrokenElf();
  }
  std::vector<ElfSymbol> symbols;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != table_type) continue;
    if (section.sh_link >= sections.size()) return BrokenElf();
    const Elf64_Shdr& names = sections[section.sh_link];
    if (names.sh_offset > file.size() || names.sh_size > file.size() - names.sh_offset) return BrokenElf();
    const std::string_view strings = file.substr(names.sh_offset, names.sh_size);
    if (section.sh_size > file.size()) return BrokenElf();
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym raw;
      if (!ReadAt(file, section.sh_offset + at, &raw)) return BrokenElf();
      if (raw.st_name >= strings.size()) continue;
      ElfSymbol symbol;
      const std::string_view name_onwards = strings.substr(raw.st_name);
      symbol.name = std::string(name_onwards.substr(0, name_onwards.find('\0')));
      if (symbol.name.empty()) continue;
      symbol.value = raw.st_value;
      symbol.size = raw.st_size;
      symbol.defined = raw.st_shndx != SHN_UNDEF;
      const int type = ELF64_ST_TYPE(raw.st_info), bind = ELF64_ST_BIND(raw.st_info);
      symbol.thread_local_data = type == STT_TLS;
      symbol.local = bind == STB_LOCAL;
      symbol.weak = bind == STB_WEAK;
      if (type == STT_OBJECT && symbol.defined && raw.st_shndx < sections.size()) {
        const Elf64_Shdr& home = sections[raw.st_shndx];
        symbol.constant = SectionIsConstant(file, sections, header.e_shstrndx, home);
        symbol.data = (home.sh_flags & SHF_WRITE) != 0 && (home.sh_flags & SHF_TLS) == 0;
      }
      symbols.push_back(std::move(symbol));
    }
  }
  return symbols;
}

}  // namespace

Result<std::vector<ElfSymbol>> ReadElfSymbols(std::string_view file) {
  HONE_ASSIGN_OR_RETURN(std::vector<ElfSymbol> symbols, Read(file, SHT_SYMTAB));
  if (!symbols.empty()) return symbols;
  return Read(file, SHT_DYNSYM);
}

Result<std::vector<ElfSymbol>> ReadElfDynamicSymbols(std::string_view file) { return Read(file, SHT_DYNSYM); }

}  // namespace hone::sim
