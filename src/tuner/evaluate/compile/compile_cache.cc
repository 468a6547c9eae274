// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See compile_cache.h.
#include "tuner/evaluate/compile/compile_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "tuner/core/program/translation_unit.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

// Trim removes entries until the folder has this share of its bound, so that not every write trims.
constexpr double kTrimTo = 0.8;
// A temporary file of this age that was never renamed belongs to a process that died.
constexpr int64_t kAbandonedSeconds = 3600;
constexpr int64_t kMaxEntryBytes = int64_t{512} << 20;

// Returns whether the same unit would always give the same outcome. An outcome without a log does not count: it comes
// from a time limit, a crash or exhausted memory. Neither does `unsupported`, which may be due to something that this
// machine lacks (CUTLASS) and that can be installed.
bool WorthRemembering(const CompiledModule& module) {
  switch (module.verdict) {
    case Verdict::kOk:
    case Verdict::kResourceLimit:
    case Verdict::kRuleViolation:
      return !module.image.empty() || !module.digest.empty();
    case Verdict::kCompileError:
      return !module.log.empty() && module.digest.find("ran out of memory") == std::string::npos;
    default:
      return false;
  }
}

class DiskCachedCompiler final : public CachedCompiler {
 public:
  DiskCachedCompiler(std::unique_ptr<Compiler> inner, CompileCacheOptions options)
      : inner_(std::move(inner)), options_(std::move(options)), fingerprint_(inner_->Fingerprint()) {
    Trim();
  }

  Result<CompiledModule> Compile(const TranslationUnit& unit) override {
    const Stopwatch watch;
    const std::string key = CompileCacheKey(unit, fingerprint_);
    std::promise<Result<CompiledModule>> promise;
    std::shared_future<Result<CompiledModule>> others;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (const auto found = in_flight_.find(key); found != in_flight_.end()) {
        others = found->second;
      } else {
        in_flight_.emplace(key, promise.get_future().share());
      }
    }
    if (others.valid()) return others.get();

    Result<CompiledModule> module = Find(key);
    if (module.ok() && WorthRemembering(*module)) {
      module->from_cache = true;
      module->seconds = watch.Seconds();
    } else {
      module = inner_->Compile(unit);
      if (module.ok() && WorthRemembering(*module)) Store(key, *module);
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++(module.ok() && module->from_cache ? counters_.hits : counters_.misses);
      in_flight_.erase(key);
    }
    promise.set_value(module);
    return module;
  }

  std::string Fingerprint() const override { return fingerprint_; }

  CompileCacheCounters counters() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counters_;
  }

 private:
  std::string PathOf(const std::string& key) const {
    return fmt::format("{}/{}/{}.module", options_.directory, key.substr(0, 2), key);
  }

  // Reads an entry; an entry that is damaged is removed and is not found.
  Result<CompiledModule> Find(const std::string& key) {
    const std::string path = PathOf(key);
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxEntryBytes));
    Result<CompiledModule> module = DecodeModule(bytes);
    if (!module.ok()) {
      unlink(path.c_str());
      const std::lock_guard<std::mutex> lock(mutex_);
      ++counters_.corrupt;
      return module;
    }
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // marks the entry as used; fails harmlessly on a read-only disk
    return module;
  }

  // Writes an entry, and trims the cache now and then. A failure only costs a later compilation.
  void Store(const std::string& key, const CompiledModule& module) {
    const std::string bytes = EncodeModule(module);
    const bool was_written = WriteFileAtomicallyUnflushed(PathOf(key), bytes).ok();
    bool trim = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!was_written) {
        ++counters_.failed_writes;
        return;
      }
      bytes_ += static_cast<int64_t>(bytes.size());
      trim = bytes_ > options_.max_bytes;
    }
    if (trim) Trim();
  }

  // Adds up the sizes of all entries and removes abandoned temporary files. Then, if the folder exceeds its bound,
  // removes the least recently used entries.
  void Trim() {
    const std::lock_guard<std::mutex> trim_lock(trim_mutex_);
    struct Entry {
      int64_t used_ns;  // time of the last use
      int64_t bytes;
      std::string path;
    };
    std::vector<Entry> entries;
    int64_t total = 0;
    std::error_code error;
    for (fs::recursive_directory_iterator file(options_.directory, error), end; !error && file != end; file.increment(error)) {
      struct stat info {};
      const std::string path = file->path().string();
      if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
      if (path.find(".module.aside-") != std::string::npos) {
        if (std::time(nullptr) - info.st_mtim.tv_sec > kAbandonedSeconds) unlink(path.c_str());
      } else if (path.ends_with(".module")) {
        entries.push_back({int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec, info.st_size, path});
        total += info.st_size;
      }
    }
    int64_t evicted = 0;
    if (total > options_.max_bytes) {
      std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used_ns < b.used_ns; });
      const int64_t target = static_cast<int64_t>(static_cast<double>(options_.max_bytes) * kTrimTo);
      for (const Entry& entry : entries) {
        if (total <= target) break;
        if (unlink(entry.path.c_str()) == 0) ++evicted;
        total -= entry.bytes;
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    bytes_ = total;
    counters_.evicted += evicted;
  }

  std::unique_ptr<Compiler> inner_;
  CompileCacheOptions options_;
  std::string fingerprint_;
  std::mutex trim_mutex_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_future<Result<CompiledModule>>> in_flight_;
  CompileCacheCounters counters_;
  int64_t bytes_ = 0;  // bytes of all entries when Trim last ran, plus those that this process has written since
};

}  // namespace

std::string CompileCacheKey(const TranslationUnit& unit, std::string_view fingerprint) {
  // Lengths go before texts, so that no two units run together into the same bytes.
  std::string bytes;
  const auto add = [&](std::string_view text) { bytes += fmt::format("{}:{}", text.size(), text); };
  add(fingerprint);
  add(unit.file);
  add(WholeText(unit));
  add(unit.include_set);
  add(std::to_string(unit.kernels.size()));
  for (const std::string& kernel : unit.kernels) add(kernel);
  for (const std::string& option : unit.options) add(option);
  return Sha256Hex(bytes);
}

Result<std::unique_ptr<CachedCompiler>> MakeCachedCompiler(std::unique_ptr<Compiler> inner,
                                                           const CompileCacheOptions& options) {
  HONE_RETURN_IF_ERROR(MakeDirectories(options.directory).WithContext("preparing the compile cache"));
  return std::unique_ptr<CachedCompiler>(std::make_unique<DiskCachedCompiler>(std::move(inner), options));
}

}  // namespace hone
