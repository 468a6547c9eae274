// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/profiling/sass_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "base/files/file.h"
#include "base/process/subprocess.h"

namespace hone {
namespace {

constexpr double kLimitSeconds = 60;  // limit on a disassembler's time
constexpr int64_t kMaxListing = 64 << 20;  // limit on a disassembler's text, bytes

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Parses a line marker: //## File "/tmp/k.cu", line 5 gives ("k.cu", 5). The number is 0 when the text is no marker.
std::pair<std::string, int> ParseLineMarker(std::string_view line) {
  const size_t quote = line.find('"'), end = line.find('"', quote + 1), number = line.find("line ", end == std::string_view::npos ? 0 : end);
  if (end == std::string_view::npos || number == std::string_view::npos) return {"", 0};
  const std::string_view path = line.substr(quote + 1, end - quote - 1);
  return {std::string(path.substr(path.rfind('/') + 1)), std::atoi(std::string(line.substr(number + 5)).c_str())};
}

// Returns the opcode of an instruction: "LDG.E" for "/*00c0*/ @P0 LDG.E R2, ... ;". Empty when the line is no
// instruction.
std::string OpcodeOf(std::string_view line) {
  if (!line.starts_with("/*")) return "";
  const size_t end = line.find("*/");
  if (end == std::string_view::npos || line.find(';') == std::string_view::npos) return "";
  line = Trimmed(line.substr(end + 2));
  if (line.starts_with('{')) line = Trimmed(line.substr(1));
  if (line.starts_with('@')) line = Trimmed(line.substr(std::min(line.size(), line.find(' '))));
  return std::string(line.substr(0, line.find_first_of(" ;")));
}

}  // namespace

std::vector<SassLine> ParseSass(std::string_view text, const std::map<std::string, std::string>& kernel_names) {
  std::map<std::tuple<std::string, std::string, int>, SassLine> lines;
  std::string kernel, file;
  int number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(".text.") && line.ends_with(':')) {
      const std::string symbol(line.substr(6, line.size() - 7));
      const auto name = kernel_names.find(symbol);
      kernel = name == kernel_names.end() ? symbol : name->second;
      file.clear();
      number = 0;
    } else if (line.starts_with("//##")) {
      // The last of several markers in a row is the outermost one: the source line at which the code was inlined.
      std::tie(file, number) = ParseLineMarker(line);
    } else if (const std::string opcode = OpcodeOf(line); !opcode.empty() && opcode != "NOP") {
      SassLine& counted = lines[{kernel, file, number}];
      counted.kernel = kernel;
      if (number > 0) counted.location = fmt::format("{}:{}", file, number);
      ++counted.instructions;
      ++counted.opcodes[opcode];
    }
  }
  std::vector<SassLine> sass_lines;
  for (auto& [key, line] : lines) sass_lines.push_back(std::move(line));
  return sass_lines;
}

void AddSourceText(std::string_view source, std::string_view name, std::vector<SassLine>* lines) {
  const std::string prefix = std::string(name.substr(name.rfind('/') + 1)) + ":";
  std::vector<std::string_view> text;
  while (!source.empty()) {
    const size_t end = source.find('\n');
    text.push_back(Trimmed(source.substr(0, end)));
    source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
  }
  for (SassLine& line : *lines) {
    if (!line.location.starts_with(prefix)) continue;
    const int number = std::atoi(line.location.c_str() + prefix.size());
    if (number >= 1 && static_cast<size_t>(number) <= text.size()) line.source = text[static_cast<size_t>(number) - 1];
  }
}

Result<std::vector<SassLine>> DisassembleLines(std::string_view cubin,
                                               const std::map<std::string, std::string>& kernel_names,
                                               const std::vector<std::string>& nvdisasm_directories) {
  const Result<std::string> nvdisasm = FindExecutable("nvdisasm", nvdisasm_directories);
  if (!nvdisasm.ok()) {
    return Status::Unavailable("no machine code is shown: nvdisasm is not there; install the toolkit's cuda-nvdisasm package or put its "
                               "folder on the PATH");
  }
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory directory, MakeTemporaryDirectory({}, "hone-sass-"));
  HONE_RETURN_IF_ERROR(WriteFileAtomicallyUnflushed(directory / "k.cubin", cubin));
  SubprocessOptions run;
  run.argv = {*nvdisasm, "-c", "--print-line-info", directory / "k.cubin"};
  run.limit_seconds = kLimitSeconds;
  run.max_stdout_bytes = kMaxListing;
  HONE_ASSIGN_OR_RETURN(const SubprocessResult ran, RunSubprocess(run));
  if (!ran.exit.success()) {
    return Status::Unavailable(fmt::format("no machine code is shown: nvdisasm ended with {}: {}", ran.exit.Describe(), ran.err.substr(0, 200)));
  }
  return ParseSass(ran.out, kernel_names);
}

}  // namespace hone
