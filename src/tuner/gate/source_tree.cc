// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gate/source_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "base/text/utf8.h"
#include "tuner/core/task/torch_module.h"

namespace hone {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostFileBytes = 16 << 20;  // limit on a file of a folder
constexpr double kGitSeconds = 120;           // limit on one call of git

bool IsWanted(const std::string& path) {
  return path.ends_with(".cu") || path.ends_with(".toml") || path.ends_with("reference.py");
}

std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// Returns what git prints, or why it failed.
Result<std::string> AskGit(const GitOptions& git, std::vector<std::string> arguments) {
  HONE_ASSIGN_OR_RETURN(const std::string program, FindExecutable("git", git.search_path));
  SubprocessOptions options;
  options.argv = {program, "-C", git.repository};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.environment = git.environment;
  options.limit_seconds = kGitSeconds;
  options.max_stdout_bytes = 2 * kMostFileBytes;
  HONE_ASSIGN_OR_RETURN(const SubprocessResult result, RunSubprocess(options));
  if (result.timed_out)
    return Status::TimedOut(fmt::format("git {} took more than {:.0f} s", arguments[0], kGitSeconds));
  if (!result.exit.success()) {
    const std::string message = Trimmed(result.err);
    return Status::InvalidArgument(
        fmt::format("git {}: {}", arguments[0], message.empty() ? result.exit.Describe() : message));
  }
  if (result.out_bytes > options.max_stdout_bytes)
    return Status::InvalidArgument(
        fmt::format("git {} said {} bytes, which is too much", arguments[0], result.out_bytes));
  return result.out;
}

class GitTree : public SourceTree {
 public:
  static Result<std::unique_ptr<SourceTree>> Open(const GitOptions& git, const std::string& name,
                                                  const std::string& commit) {
    auto tree = std::unique_ptr<GitTree>(new GitTree(git, name, commit));
    HONE_ASSIGN_OR_RETURN(const std::string listed, AskGit(git, {"ls-tree", "-r", "-z", "--full-tree", commit}));
    // An entry is "100644 blob OBJECT\tPATH\0". Links and submodules, whose modes do not begin with 100, are left out.
    for (size_t start = 0; start < listed.size();) {
      const size_t end = std::min(listed.find('\0', start), listed.size());
      const std::string line = listed.substr(start, end - start);
      start = end + 1;
      const size_t tab = line.find('\t');
      if (tab == std::string::npos || !line.starts_with("100")) continue;
      const std::string path = line.substr(tab + 1);
      const size_t object = line.rfind(' ', tab);
      if (!IsWanted(path)) continue;
      tree->files_.push_back(path);
      tree->objects_[path] = line.substr(object + 1, tab - object - 1);
    }
    std::sort(tree->files_.begin(), tree->files_.end());
    return std::unique_ptr<SourceTree>(std::move(tree));
  }
  std::string Name() const override { return fmt::format("{} ({})", name_, commit_.substr(0, 12)); }
  const std::vector<std::string>& Files() const override { return files_; }
  Result<std::string> Read(const std::string& path) const override {
    const auto object = objects_.find(path);
    if (object == objects_.end()) return Status::NotFound(fmt::format("{} has no file {}", Name(), path));
    return AskGit(git_, {"cat-file", "blob", object->second});
  }
  std::string ContentName(const std::string& path) const override {
    const auto object = objects_.find(path);
    return object == objects_.end() ? "" : object->second;
  }

 private:
  GitTree(GitOptions git, std::string name, std::string commit)
      : git_(std::move(git)), name_(std::move(name)), commit_(std::move(commit)) {}
  GitOptions git_;
  std::string name_, commit_;
  std::vector<std::string> files_;
  std::map<std::string, std::string> objects_;  // git's object names, by path
};

class FolderTree : public SourceTree {
 public:
  static Result<std::unique_ptr<SourceTree>> Open(const std::string& folder) {
    auto tree = std::unique_ptr<FolderTree>(new FolderTree(folder));
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->is_directory() && (entry->path().filename() == ".git" || entry->is_symlink())) {
        entry.disable_recursion_pending();
        continue;
      }
      const std::string path = entry->path().lexically_relative(folder).generic_string();
      if (entry->is_regular_file(error) && IsWanted(path)) tree->files_.push_back(path);
    }
    if (error) return Status::Io(fmt::format("list {}: {}", folder, error.message()));
    std::sort(tree->files_.begin(), tree->files_.end());
    return std::unique_ptr<SourceTree>(std::move(tree));
  }
  std::string Name() const override { return folder_; }
  const std::vector<std::string>& Files() const override { return files_; }
  Result<std::string> Read(const std::string& path) const override {
    if (!std::binary_search(files_.begin(), files_.end(), path))
      return Status::NotFound(fmt::format("{} has no file {}", folder_, path));
    return ReadFile((fs::path(folder_) / path).string(), kMostFileBytes);
  }
  std::string ContentName(const std::string&) const override { return ""; }

 private:
  explicit FolderTree(std::string folder) : folder_(std::move(folder)) {}
  std::string folder_;
  std::vector<std::string> files_;
};

Result<std::string> CommitOf(const GitOptions& git, const std::string& revision) {
  // A name that begins with '-' is refused, because git would take it as an option.
  if (revision.empty() || revision.front() == '-')
    return Status::InvalidArgument(fmt::format("'{}' is no revision", revision));
  HONE_ASSIGN_OR_RETURN(const std::string commit,
                        AskGit(git, {"rev-parse", "--verify", "--quiet", revision + "^{commit}"}));
  return Trimmed(commit);
}

// Returns a revision's commit; empty if `commit_or_folder` is a folder.
Result<std::string> CommitOrFolder(const GitOptions& git, const std::string& side,
                                   const std::string& commit_or_folder) {
  Result<std::string> commit = CommitOf(git, commit_or_folder);
  if (commit.ok()) return commit;
  std::error_code error;
  if (fs::is_directory(commit_or_folder, error)) return std::string();
  if (commit.status().code() != StatusCode::kInvalidArgument) return commit.status();
  return Status::InvalidArgument(fmt::format(
      "--{} {}: this is neither a revision of the git repository at {} nor a folder{}", side, commit_or_folder,
      git.repository, "; a shallow clone may lack it: fetch it, or clone with the whole history (fetch-depth: 0)"));
}

// Returns the paths that the working tree has changed, if `commit` is checked out there. Empty if another commit is
// checked out, or if there is no working tree, as in a bare repository.
std::vector<std::string> UncommittedPaths(const GitOptions& git, const std::string& commit) {
  const Result<std::string> standing = CommitOf(git, "HEAD");
  if (!standing.ok() || *standing != commit) return {};
  const Result<std::string> listed = AskGit(git, {"diff", "--name-only", "-z", "HEAD"});
  if (!listed.ok()) return {};
  std::vector<std::string> paths;
  for (size_t start = 0; start < listed->size();) {
    const size_t end = std::min(listed->find('\0', start), listed->size());
    if (const std::string path = listed->substr(start, end - start); IsWanted(path)) paths.push_back(path);
    start = end + 1;
  }
  return paths;
}

}  // namespace

Result<TreePair> OpenTrees(const GitOptions& git, const std::string& base, const std::string& head, bool exact) {
  HONE_ASSIGN_OR_RETURN(std::string base_commit, CommitOrFolder(git, "base", base));
  HONE_ASSIGN_OR_RETURN(const std::string head_commit, CommitOrFolder(git, "head", head));
  std::string base_name = base;
  if (!exact && !base_commit.empty() && !head_commit.empty()) {
    const Result<std::string> common = AskGit(git, {"merge-base", base_commit, head_commit});
    if (!common.ok()) {
      return Status::InvalidArgument(
          fmt::format("{} and {} have no common commit here: clone with the whole history (fetch-depth: 0), or take "
                      "the base as it is with --exact-base",
                      base, head));
    }
    if (Trimmed(*common) != base_commit) base_name = fmt::format("where {} left {}", head, base);
    base_commit = Trimmed(*common);
  }
  TreePair pair;
  HONE_ASSIGN_OR_RETURN(pair.base,
                        base_commit.empty() ? FolderTree::Open(base) : GitTree::Open(git, base_name, base_commit));
  HONE_ASSIGN_OR_RETURN(pair.head,
                        head_commit.empty() ? FolderTree::Open(head) : GitTree::Open(git, head, head_commit));
  if (!head_commit.empty()) pair.uncommitted = UncommittedPaths(git, head_commit);
  return pair;
}

Result<Task> LoadTaskFrom(const SourceTree& tree, const std::string& directory) {
  const std::string folder = directory.empty() ? "" : directory + "/";
  HONE_ASSIGN_OR_RETURN(const std::string toml, tree.Read(folder + "task.toml"));
  HONE_ASSIGN_OR_RETURN(Task task, ParseTask(toml, folder + "task.toml"));
  HONE_ASSIGN_OR_RETURN(task.oracle_source, tree.Read(folder + std::string(AnswerFile(task))));
  if (Result<std::string> seed = tree.Read(folder + "seed.cu"); seed.ok()) task.seed_source = std::move(*seed);
  if (Result<std::string> baseline = tree.Read(folder + "baseline.toml"); baseline.ok())
    task.baseline_toml = std::move(*baseline);
  task.toml = toml;
  return task;
}

}  // namespace hone
