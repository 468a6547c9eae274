// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/sanitizing/sanitizer_features.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/files/file.h"
#include "base/numbers/hash.h"

namespace hone {
namespace {

constexpr int64_t kMostHelpBytes = 1 << 18;
constexpr size_t kMostKept = 16;  // texts in memory

// Returns a name for the program as it is now; empty if it cannot be looked at.
std::string Identity(const std::string& program) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(program, error).string();
  struct stat info {};
  if (error || stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{}\n{}.{:09}\n{}", path, info.st_mtim.tv_sec, info.st_mtim.tv_nsec, info.st_size);
}

// Every version's help names the option that chooses the tool. A file that a failing disk has damaged does not.
bool IsHelp(const std::string& text) { return text.find("--tool") != std::string::npos; }

}  // namespace

SanitizerFeatures FeaturesOf(const std::string& program, const std::string& cache_directory,
                             const std::function<std::optional<std::string>()>& help) {
  static std::mutex mutex;
  static std::map<std::string, SanitizerFeatures> features_by_program;
  const std::string identity = Identity(program);
  {
    std::lock_guard lock(mutex);
    if (const auto known = features_by_program.find(identity); known != features_by_program.end()) return known->second;
  }
  const std::string file =
      cache_directory.empty() || identity.empty() ? "" : cache_directory + "/compute-sanitizer-help-" + Sha256Hex(identity).substr(0, 16);
  std::optional<std::string> text;
  if (!file.empty()) {
    const Result<std::string> cached = ReadFile(file, kMostHelpBytes);
    if (cached.ok() && IsHelp(*cached)) text = *cached;
  }
  if (!text) {
    text = help();
    if (!text || !IsHelp(*text)) return ReadSanitizerFeatures(text.value_or(""));
    // Without the file the next process asks the program again.
    if (!file.empty()) (void)WriteFileAtomicallyUnflushed(file, *text);
  }
  const SanitizerFeatures features = ReadSanitizerFeatures(*text);
  if (identity.empty()) return features;
  std::lock_guard lock(mutex);
  if (features_by_program.size() >= kMostKept) features_by_program.clear();
  features_by_program[identity] = features;
  return features;
}

}  // namespace hone
