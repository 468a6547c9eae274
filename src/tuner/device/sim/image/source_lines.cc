// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs addr2line in a sandbox, because the image is untrusted.
#include "tuner/device/sim/image/source_lines.h"

#include <fmt/format.h>

#include <sstream>

#include "base/files/file.h"
#include "base/process/subprocess.h"

namespace hone::sim {

namespace {

// Returns a frame's position as "file:line", or nothing for the simulator's own files and for unknown ones.
std::string CleanPosition(std::string place) {
  const size_t discriminator = place.find(" (");
  if (discriminator != std::string::npos) place.resize(discriminator);
  const size_t colon = place.rfind(':');
  if (colon == std::string::npos || place.find_first_not_of("0123456789", colon + 1) != std::string::npos) return "";
  if (colon + 1 == place.size() || place.substr(colon) == ":0") return "";
  std::string file = place.substr(0, colon);
  while (file.rfind("./", 0) == 0) file = file.substr(2);
  if (file == "hone-entries" || file == "??" || file.empty()) return "";
  // The candidate has a relative name; absolute paths are headers.
  if (file.front() == '/' || file.rfind("../", 0) == 0) return "";
  return file + place.substr(colon);
}

}  // namespace

std::vector<std::string> SourceLines::Find(const std::vector<uint64_t>& pcs) {
  std::vector<uint64_t> unknown_pcs;
  for (const uint64_t pc : pcs) {
    if (known_.emplace(pc, "").second) unknown_pcs.push_back(pc);
  }
  const auto answer = [&] {
    std::vector<std::string> lines;
    for (const uint64_t pc : pcs) lines.push_back(known_[pc]);
    return lines;
  };
  if (unknown_pcs.empty()) return answer();
  Result<std::string> program = FindExecutable("addr2line", {"/usr/bin", "/usr/local/bin"});
  Result<TemporaryDirectory> folder = MakeTemporaryDirectory(scratch_directory_, "hone-sim-");
  if (!program.ok() || !folder.ok()) return answer();
  if (!WriteFileAtomicallyUnflushed(*folder / "image.so", image_).ok()) return answer();
  SubprocessOptions run;
  run.argv = {*program, "-a", "-i", "-e", "image.so"};
  for (const uint64_t pc : unknown_pcs) run.argv.push_back(fmt::format("{:#x}", pc - 1));
  run.environment = {"LC_ALL=C"};
  run.working_directory = folder->path();
  run.limit_seconds = 10;
  SandboxPolicy policy;
  policy.read_paths = SystemReadPaths();
  policy.read_paths.push_back(folder->path());
  policy.exec_paths = SystemExecPaths();
  policy.exec_paths.push_back("/usr/bin");
  policy.exec_paths.push_back("/usr/local/bin");
  policy.memory_bytes = int64_t{4} << 30;
  run.sandbox = policy;
  Result<SubprocessResult> result = RunSubprocess(run);
  if (!result.ok() || !result->exit.success()) return answer();
  std::istringstream lines(result->out);
  std::string line;
  size_t next = 0;
  while (std::getline(lines, line)) {
    if (line.rfind("0x", 0) == 0) {
      ++next;
      continue;
    }
    if (next == 0 || next > unknown_pcs.size()) continue;
    std::string& place = known_[unknown_pcs[next - 1]];
    if (place.empty()) place = CleanPosition(line);
  }
  return answer();
}

}  // namespace hone::sim
