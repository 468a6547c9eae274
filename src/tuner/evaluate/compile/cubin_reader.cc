// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See cubin_reader.h.
#include "tuner/evaluate/compile/cubin_reader.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include <fmt/format.h>

#include "tuner/evaluate/compile/machine_labels.h"

namespace hone {
namespace {

constexpr uint16_t kMachineCuda = 190;         // EM_CUDA
constexpr unsigned char kOtherManaged = 0x04;  // st_other of a __managed__ variable
constexpr unsigned char kOtherEntry = 0x10;    // st_other of a kernel

// The section .nv.info is a list of attributes: one byte of format, one byte of attribute, 16 bits of value. In format
// 4 the value is the size in bytes of the data that follow.
constexpr uint8_t kFormatSized = 4;
constexpr uint8_t kAttributeMinStackSize = 0x12;  // u32 symbol, u32 bytes: the stack of the function and its callees
constexpr uint8_t kAttributeFrameSize = 0x11;     // u32 symbol, u32 bytes: the function's own frame
constexpr uint8_t kAttributeRegisterCount = 0x2f; // u32 symbol, u32 registers

// These attributes stand in a kernel's own .nv.info.
constexpr uint8_t kAttributeRequiredBlock = 0x10;  // u32 x, y, z
constexpr uint8_t kAttributeParameter = 0x17;      // u32 index, u16 ordinal, u16 offset, u32 with the size in its high 14 bits
constexpr size_t kMostParameters = 4096;

// From sm_90 on, a kernel's shared memory begins with this many bytes that the system reserves.
constexpr int64_t kReservedShared = 1024;

Status MalformedCubin(std::string_view what) {
  return Status::InvalidArgument(fmt::format("the compiled module is no valid cubin: {}", what));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  bool Load(uint64_t offset, T& value) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return true;
  }
  bool Slice(uint64_t offset, uint64_t size, std::string_view& slice) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return false;
    slice = bytes_.substr(offset, size);
    return true;
  }

 private:
  std::string_view bytes_;
};

// Returns the NUL-terminated text at `offset` of a string table; empty when it is out of bounds.
std::string_view TextAt(std::string_view table, uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view from_offset = table.substr(offset);
  const size_t end = from_offset.find('\0');
  return end == std::string_view::npos ? std::string_view() : from_offset.substr(0, end);
}

struct Section {
  Elf64_Shdr header{};
  std::string_view name;
  std::string_view bytes;  // empty for NOBITS
};

struct Symbol {
  Elf64_Sym entry{};
  std::string_view name;
};

struct Elf {
  int architecture = 0;
  std::vector<Section> sections;
  std::vector<Symbol> symbols;
};

// Reads the headers of a cubin, an ELF file for NVIDIA GPUs.
Result<Elf> ParseElf(std::string_view bytes) {
  const Reader reader(bytes);
  Elf64_Ehdr header;
  if (!reader.Load(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return MalformedCubin("it is no ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kMachineCuda) {
    return MalformedCubin("it is for another machine");
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return MalformedCubin("its section headers have an unknown size");
  Elf elf;
  // Toolkits from 13 on (version 8 of the ABI) keep the architecture in the second byte, older ones in the first.
  elf.architecture = static_cast<int>((header.e_ident[EI_ABIVERSION] >= 8 ? header.e_flags >> 8 : header.e_flags) & 0xff);
  elf.sections.resize(header.e_shnum);
  for (size_t i = 0; i < elf.sections.size(); ++i) {
    Section& section = elf.sections[i];
    if (!reader.Load(header.e_shoff + i * sizeof(Elf64_Shdr), section.header))
      return MalformedCubin("a section header is cut off");
    if (section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL &&
        !reader.Slice(section.header.sh_offset, section.header.sh_size, section.bytes)) {
      return MalformedCubin("a section is cut off");
    }
  }
  if (header.e_shstrndx >= elf.sections.size()) return MalformedCubin("it has no section names");
  const std::string_view section_names = elf.sections[header.e_shstrndx].bytes;
  for (Section& section : elf.sections) section.name = TextAt(section_names, section.header.sh_name);
  for (const Section& section : elf.sections) {
    if (section.header.sh_type != SHT_SYMTAB) continue;
    if (section.header.sh_link >= elf.sections.size()) return MalformedCubin("its symbols have no names");
    const std::string_view names = elf.sections[section.header.sh_link].bytes;
    const Reader table(section.bytes);
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.bytes.size(); at += sizeof(Elf64_Sym)) {
      Symbol symbol;
      table.Load(at, symbol.entry);
      symbol.name = TextAt(names, symbol.entry.st_name);
      elf.symbols.push_back(symbol);
    }
    break;
  }
  return elf;
}

struct FunctionFacts {
  int registers = -1;
  int64_t frame = 0, min_stack = 0;
};

// Returns the facts of each function, by symbol number, from the module-wide .nv.info.
std::map<uint32_t, FunctionFacts> ReadInfo(std::string_view info) {
  std::map<uint32_t, FunctionFacts> facts;
  const Reader reader(info);
  uint64_t at = 0;
  struct Head {
    uint8_t format, attribute;
    uint16_t size;
  } head{};
  while (reader.Load(at, head)) {
    at += sizeof(head);
    if (head.format != kFormatSized) continue;  // no data follow: the 16 bits are the value
    uint32_t pair[2];
    if (head.size >= sizeof(pair) && reader.Load(at, pair)) {
      FunctionFacts& function = facts[pair[0]];
      if (head.attribute == kAttributeRegisterCount) function.registers = static_cast<int>(pair[1]);
      if (head.attribute == kAttributeFrameSize) function.frame = pair[1];
      if (head.attribute == kAttributeMinStackSize) function.min_stack = pair[1];
    }
    at += head.size;
  }
  return facts;
}

// Reads a kernel's parameters from its own .nv.info. Impossible ordinals are left out: the sizes then do not fit any
// plan.
CubinSignature ReadSignature(std::string_view info) {
  CubinSignature signature;
  std::map<uint16_t, int64_t> parameters;
  const Reader reader(info);
  uint64_t at = 0;
  struct Head {
    uint8_t format, attribute;
    uint16_t size;
  } head{};
  while (reader.Load(at, head)) {
    at += sizeof(head);
    if (head.format != kFormatSized) continue;
    uint32_t words[3];
    if (head.size >= sizeof(words) && reader.Load(at, words)) {
      if (head.attribute == kAttributeRequiredBlock) signature.block = {words[0], words[1], words[2]};
      if (head.attribute == kAttributeParameter) parameters[static_cast<uint16_t>(words[1])] = words[2] >> 18;
    }
    at += head.size;
  }
  for (const auto& [ordinal, bytes] : parameters) {
    if (ordinal != signature.parameter_bytes.size() || ordinal >= kMostParameters) break;
    signature.parameter_bytes.push_back(bytes);
  }
  return signature;
}

// Returns a description of writable memory in this section that no variable covers; empty when there is none.
std::string HiddenMemory(const Elf& elf, size_t index) {
  const Section& section = elf.sections[index];
  if ((section.header.sh_flags & (SHF_WRITE | SHF_ALLOC)) != (SHF_WRITE | SHF_ALLOC) || section.header.sh_size == 0) return {};
  if (section.name.starts_with(".nv.shared.") || section.name.starts_with(".nv.local.")) return {};
  if (section.name != ".nv.global" && section.name != ".nv.global.init") {
    return fmt::format("a writable section '{}' of {} bytes", section.name, section.header.sh_size);
  }
  std::vector<std::pair<uint64_t, uint64_t>> variables;
  for (const Symbol& symbol : elf.symbols) {
    if (ELF64_ST_TYPE(symbol.entry.st_info) != STT_OBJECT || symbol.entry.st_shndx != index || symbol.name.empty()) continue;
    if (symbol.entry.st_size > section.header.sh_size || symbol.entry.st_value > section.header.sh_size) continue;
    variables.emplace_back(symbol.entry.st_value, symbol.entry.st_value + symbol.entry.st_size);
  }
  if (variables.empty()) return {};  // AddGlobals lists the whole section as one unreachable variable
  std::sort(variables.begin(), variables.end());
  const uint64_t slack = std::max<uint64_t>(section.header.sh_addralign, 16);
  uint64_t covered = 0;
  const auto gap = [&](uint64_t until) -> std::string {
    if (until <= covered || until - covered < slack) return {};
    return fmt::format("{} bytes of '{}' between variables", until - covered, section.name);
  };
  for (const auto& [begin, end] : variables) {
    if (std::string hidden = gap(begin); !hidden.empty()) return hidden;
    covered = std::max(covered, end);
  }
  return gap(section.header.sh_size);
}

// Adds the variables of one ELF section to `globals`, if it is a section of device globals.
void AddGlobals(const Elf& elf, size_t index, std::vector<DeviceGlobal>& globals) {
  const Section& section = elf.sections[index];
  const bool writable = section.name == ".nv.global" || section.name == ".nv.global.init";
  if ((!writable && section.name != ".nv.constant3") || section.header.sh_size == 0) return;
  const int64_t bytes = static_cast<int64_t>(section.header.sh_size);
  bool any = false;
  for (const Symbol& symbol : elf.symbols) {
    if (ELF64_ST_TYPE(symbol.entry.st_info) != STT_OBJECT || symbol.entry.st_shndx != index || symbol.name.empty()) continue;
    any = true;
    if (symbol.entry.st_size > section.header.sh_size) continue;  // damaged: no variable outgrows its section
    globals.push_back({std::string(symbol.name), static_cast<int64_t>(symbol.entry.st_size), writable, true});
  }
  if (!any) globals.push_back({std::string(section.name), bytes, writable, false});
}

}  // namespace

Result<CubinInfo> ReadCubin(std::string_view bytes) {
  HONE_ASSIGN_OR_RETURN(const Elf elf, ParseElf(bytes));
  CubinInfo info;
  std::map<std::string_view, const Section*> by_name;
  for (const Section& section : elf.sections) by_name.emplace(section.name, &section);
  const auto find = [&](const std::string& name) -> const Section* {
    const auto found = by_name.find(name);
    return found == by_name.end() ? nullptr : found->second;
  };

  const Section* nv_info = find(".nv.info");
  const std::map<uint32_t, FunctionFacts> facts = ReadInfo(nv_info != nullptr ? nv_info->bytes : std::string_view());
  const bool reserves_shared = find(".nv.shared.reserved.0") != nullptr;

  std::set<std::string> labels;
  for (size_t i = 0; i < elf.symbols.size(); ++i) {
    const Symbol& symbol = elf.symbols[i];
    const int type = ELF64_ST_TYPE(symbol.entry.st_info);
    const bool undefined = symbol.entry.st_shndx == SHN_UNDEF;
    if (type == STT_FUNC && undefined && !symbol.name.empty()) info.externs.emplace_back(symbol.name);
    if (type == STT_OBJECT && !undefined) {
      if (symbol.entry.st_other & kOtherManaged) info.managed.emplace_back(symbol.name);
      if (!symbol.name.empty() && symbol.name.front() != '$') info.variables.emplace_back(symbol.name);
    }
    if (type != STT_FUNC || undefined || !(symbol.entry.st_other & kOtherEntry)) continue;
    KernelResources kernel;
    kernel.kernel = std::string(symbol.name);
    if (const auto found = facts.find(static_cast<uint32_t>(i)); found != facts.end()) {
      kernel.registers = found->second.registers;
      kernel.spill_bytes = std::max(found->second.frame, found->second.min_stack);
    }
    if (const Section* shared = find(".nv.shared." + kernel.kernel)) {
      kernel.static_shared_bytes = static_cast<int64_t>(shared->header.sh_size);
      if (reserves_shared) kernel.static_shared_bytes = std::max<int64_t>(0, kernel.static_shared_bytes - kReservedShared);
    }
    const Section* own = find(".nv.info." + kernel.kernel);
    info.signatures[kernel.kernel] = ReadSignature(own != nullptr ? own->bytes : std::string_view());
    if (symbol.entry.st_shndx < elf.sections.size()) AddMachineLabels(elf.sections[symbol.entry.st_shndx].bytes, labels);
    info.kernels.push_back(std::move(kernel));
  }
  info.labels.assign(labels.begin(), labels.end());

  for (size_t index = 0; index < elf.sections.size(); ++index) {
    AddGlobals(elf, index, info.globals);
    if (info.hidden_memory.empty()) info.hidden_memory = HiddenMemory(elf, index);
  }
  info.architecture = elf.architecture;
  return info;
}

}  // namespace hone
