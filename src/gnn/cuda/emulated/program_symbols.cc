// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the ELF symbol table of /proc/self/exe, once.
#include "gnn/cuda/emulated/program_symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string_view>

namespace hone::gnn::cuda::emulated {
namespace {

struct Program {
  std::map<uint64_t, std::string> functions;  // names by address in the file
  struct Variable {
    uint64_t offset, bytes;  // place in the thread-local segment
    std::string of_kernel;   // if it belongs to a kernel: the symbol after "_Z"; else empty
  };
  std::vector<Variable> shared;
};

bool IsSharedVariable(std::string_view name) { return name.starts_with("_ZZN4hone3gnn4cuda"); }
// Returns, for the symbol of a function-local variable, whether the name of its function ends in "Kernel". That is the
// last nested name.
bool IsOfKernel(std::string_view symbol) {
  std::string_view mangled_tail = symbol.substr(std::string_view("_ZZN").size()), name;
  while (!mangled_tail.empty() && mangled_tail[0] >= '0' && mangled_tail[0] <= '9') {
    size_t length = 0;
    for (; !mangled_tail.empty() && mangled_tail[0] >= '0' && mangled_tail[0] <= '9'; mangled_tail.remove_prefix(1)) {
      length = length * 10 + static_cast<size_t>(mangled_tail[0] - '0');
    }
    name = mangled_tail.substr(0, length);
    mangled_tail.remove_prefix(name.size());
  }
  return name.ends_with("Kernel");
}
bool IsFunctionOfEngine(std::string_view name) { return name.starts_with("_ZN4hone3gnn4cuda"); }

Program ReadProgram() {
  Program program;
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto read_at = [&file](uint64_t at, void* to, size_t bytes) {
    file.seekg(static_cast<std::streamoff>(at));
    file.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    return file.good();
  };
  Elf64_Ehdr header;
  if (!read_at(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return program;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return program;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    std::vector<Elf64_Sym> symbols(section.sh_size / sizeof(Elf64_Sym));
    std::string names(sections[section.sh_link].sh_size, '\0');
    if (!read_at(section.sh_offset, symbols.data(), symbols.size() * sizeof(Elf64_Sym)) ||
        !read_at(sections[section.sh_link].sh_offset, names.data(), names.size())) {
      return program;
    }
    for (const Elf64_Sym& symbol : symbols) {
      if (symbol.st_name >= names.size() || symbol.st_shndx == SHN_UNDEF) continue;
      const char* name = names.data() + symbol.st_name;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && IsSharedVariable(name)) {
        program.shared.push_back({symbol.st_value, symbol.st_size, IsOfKernel(name) ? name + 2 : ""});
      } else if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && IsFunctionOfEngine(name)) {
        program.functions[symbol.st_value] = name;
      }
    }
  }
  std::sort(program.shared.begin(), program.shared.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return program;
}

const Program& TheProgram() {
  static const Program program = ReadProgram();
  return program;
}

struct Loaded {
  uint64_t base = 0;
  unsigned char* thread_local_segment = nullptr;
};
// Returns where the program is loaded. The first object that dl_iterate_phdr reports is the program itself.
Loaded LoadedProgram() {
  Loaded loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<Loaded*>(out) = {info->dlpi_addr, static_cast<unsigned char*>(info->dlpi_tls_data)};
        return 1;
      },
      &loaded);
  return loaded;
}

}  // namespace

std::vector<SharedVariable> SharedVariablesOf(const void* kernel) {
  std::vector<SharedVariable> variables;
  const Loaded loaded = LoadedProgram();
  if (loaded.thread_local_segment == nullptr) return variables;
  const auto found = TheProgram().functions.find(reinterpret_cast<uint64_t>(kernel) - loaded.base);
  // The variables of function "_ZN…v" have symbols "_Z" "ZN…v" "E…".
  const std::string own = found == TheProgram().functions.end() ? "" : found->second.substr(1) + "E";
  for (const Program::Variable& variable : TheProgram().shared) {
    if (!own.empty() && !variable.of_kernel.empty() && !variable.of_kernel.starts_with(own)) continue;
    variables.push_back({loaded.thread_local_segment + variable.offset, variable.bytes});
  }
  return variables;
}

std::string KernelName(const void* function) {
  const auto found = TheProgram().functions.find(reinterpret_cast<uint64_t>(function) - LoadedProgram().base);
  if (found == TheProgram().functions.end()) return "a kernel";
  int status = 0;
  char* const demangled = abi::__cxa_demangle(found->second.c_str(), nullptr, nullptr, &status);
  if (demangled == nullptr) return found->second;
  std::string name = demangled;
  std::free(demangled);
  // Cuts "void hone::gnn::cuda::(anonymous namespace)::Name<hone::…>(Parameters…)" down to "Name<hone::…>": the name
  // begins after the last "::" before the arguments.
  const size_t end = std::min(name.find('<'), name.find('(', name.find("namespace)") == std::string::npos ? 0 : name.find("namespace)")));
  size_t stop = end == std::string::npos ? name.size() : end;
  const size_t begin = name.rfind("::", stop);
  if (stop < name.size() && name[stop] == '<') {
    int depth = 0;
    for (; stop < name.size(); ++stop) {
      depth += name[stop] == '<' ? 1 : name[stop] == '>' ? -1 : 0;
      if (depth == 0) break;
    }
    ++stop;
  }
  name = name.substr(0, stop).substr(begin == std::string::npos ? 0 : begin + 2);
  return name;
}

}  // namespace hone::gnn::cuda::emulated
