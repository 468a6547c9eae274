// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/mailbox_provider.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/process/stoppable_sleep.h"
#include "base/text/json_text.h"
#include "base/text/utf8.h"
#include "tuner/model/request_json.h"
#include "tuner/model/wire_json.h"

namespace hone {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A model's longest answer is far below this; the bound keeps a wrong file from filling memory.
constexpr int64_t kMostFileBytes = int64_t{64} << 20;

std::string NumberName(int64_t number) { return fmt::format("{:04}", number); }

// Returns possible file names of a request, in order of preference. Another run that uses the folder may have taken the
// first.
std::vector<std::string> PossibleNames(const ModelRequest& request) {
  const std::string number = NumberName(request.number);
  return {number, fmt::format("{}-{}", number, request.run.substr(request.run.rfind('-') + 1)),
          fmt::format("{}-{}", number, request.run)};
}

// Returns the request as text for people.
std::string RequestText(const ModelRequest& request, const std::string& reply_path) {
  std::string text = fmt::format(
      "<!-- Request {} of run {}, for the role '{}'{}. Write the answer to {} (as another file first, then renamed). "
      "Everything below is the request. -->\n\n",
      NumberName(request.number), request.run, request.role,
      request.repair_of < 0
          ? ""
          : fmt::format(", repair of {}: the answer to that request could not be used", NumberName(request.repair_of)),
      reply_path);
  for (const ModelMessage& message : request.messages) {
    text += fmt::format("# {}\n\n{}\n\n", message.role, message.text);
  }
  return text;
}

// Removes the line "<!-- model: NAME -->" from the beginning of an answer and returns NAME; empty: there is no such
// line. Only the answerer knows which model has answered.
std::string TakeModelLine(std::string& text) {
  constexpr std::string_view kBegin = "<!-- model:", kEnd = "-->", kBlank = " \t\r";
  constexpr size_t kLongestName = 200;  // bytes; a longer first line is part of the answer
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text.compare(first, kBegin.size(), kBegin) != 0) return "";
  const size_t line_end = std::min(text.find('\n', first), text.size());
  std::string_view line = std::string_view(text).substr(first, line_end - first);
  line = line.substr(0, line.find_last_not_of(kBlank) + 1);
  if (!line.ends_with(kEnd) || line.size() < kBegin.size() + kEnd.size()) return "";
  line = line.substr(kBegin.size(), line.size() - kBegin.size() - kEnd.size());
  const size_t begin = line.find_first_not_of(kBlank);
  if (begin == std::string_view::npos || line.size() > kLongestName || !CheckUtf8(line, "").ok()) return "";
  std::string name(line.substr(begin, line.find_last_not_of(kBlank) + 1 - begin));
  text.erase(0, std::min(line_end + 1, text.size()));
  return name;
}

constexpr double kCompleteSeconds = 10;  // an answer that has not changed for so long at the first look is complete

// Returns the age of a file's contents; 0 if its time lies in the future, as on a share of a machine with another clock.
double SecondsSinceChange(const struct stat& file) {
  struct timespec now {};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::max(0.0, static_cast<double>(now.tv_sec - file.st_mtim.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - file.st_mtim.tv_nsec));
}

class MailboxProvider : public ModelProvider {
 public:
  MailboxProvider(std::string directory, double poll_seconds)
      : directory_(std::move(directory)), poll_seconds_(poll_seconds) {}

  std::string Name() const override { return "mailbox"; }
  std::string CostCaveat() const override { return "what an answer from a mailbox costs is not known"; }
  bool PricesReplies() const override { return false; }

  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink& progress,
                              std::stop_token stop) override {
    const Stopwatch watch;
    HONE_ASSIGN_OR_RETURN(std::string name, FindOrPost(request));
    const std::string reply_path = fmt::format("{}/replies/{}.md", directory_, name);
    std::optional<int64_t> last_size;
    while (true) {
      struct stat file {};
      const bool is_there = ::stat(reply_path.c_str(), &file) == 0;
      if (is_there) {
        // The answer may be written in place: waits until the file stops growing. One that is old is complete.
        const bool may_grow = last_size ? *last_size != file.st_size : SecondsSinceChange(file) < kCompleteSeconds;
        if (!may_grow) return Take(reply_path, request, watch.Seconds());
        last_size = file.st_size;
      } else if (errno != ENOENT) {
        return Status::Io(fmt::format("look for {}: {}", reply_path, strerror(errno)));
      }
      if (!is_there && request.suspends) return Status::Pending("no answer in " + reply_path);
      // An answer that grows has some time more.
      if (watch.Seconds() > request.limit_seconds + (is_there ? kCompleteSeconds : 0)) {
        return Status::TimedOut(
            fmt::format("no answer in {} within {:.0f} s; the question stays in {}/requests/{}.md, and "
                        "a resumed run will find the answer",
                        reply_path, request.limit_seconds, directory_, name));
      }
      if (progress) progress({watch.Seconds(), 0, "waiting for " + reply_path});
      if (!StoppableSleep(poll_seconds_, stop)) return Status::Cancelled("stopped while waiting for " + reply_path);
    }
  }

 private:
  // Finds this request among the posted ones, or posts it under its number.
  Result<std::string> FindOrPost(const ModelRequest& request) {
    std::lock_guard lock(post_mutex_);
    HONE_ASSIGN_OR_RETURN(std::string posted, FindPosted(request));
    if (!posted.empty()) {
      // A process that was killed between writing the two files has left only the JSON.
      if (!FileExists(fmt::format("{}/requests/{}.md", directory_, posted)))
        HONE_RETURN_IF_ERROR(WriteReadable(request, posted));
      return posted;
    }
    const std::string json_text = RequestJson(request);
    for (const std::string& name : PossibleNames(request)) {
      const std::string base = fmt::format("{}/requests/{}", directory_, name);
      // link() refuses an existing name, so two runs that share a folder never take each other's.
      const std::string temporary = fmt::format("{}.{}.tmp", base, ::getpid());
      HONE_RETURN_IF_ERROR(WriteFileAtomically(temporary, json_text));
      const int linked = ::link(temporary.c_str(), (base + ".json").c_str());
      const int link_error = errno;
      ::unlink(temporary.c_str());
      if (linked == 0) {
        HONE_RETURN_IF_ERROR(WriteReadable(request, name));
        return name;
      }
      if (link_error != EEXIST) return Status::Io(fmt::format("create {}.json: {}", base, strerror(link_error)));
    }
    return Status::Io(
        fmt::format("{}/requests holds other requests under every name that request {} of run {} may have; "
                    "name an empty folder",
                    directory_, request.number, request.run));
  }

  // Returns the file name under which the request is already posted; empty: it is not. Compares contents, because older
  // mailboxes named requests in another way.
  Result<std::string> FindPosted(const ModelRequest& request) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory_ + "/requests", error)) {
      if (entry.path().extension() != ".json") continue;
      Result<std::string> text = ReadFile(entry.path().string(), kMostFileBytes);
      if (!text.ok()) continue;
      // Other programs may write here too, so a request may contain anything.
      const Json json = ReadJsonText(*text);
      if (TextOf(json, "run") == request.run && CountOf(json, "number") == request.number) {
        return entry.path().stem().string();
      }
    }
    if (error) return Status::Io(fmt::format("list {}/requests: {}", directory_, error.message()));
    return std::string();
  }

  Status WriteReadable(const ModelRequest& request, const std::string& name) {
    return WriteFileAtomically(fmt::format("{}/requests/{}.md", directory_, name),
                               RequestText(request, fmt::format("{}/replies/{}.md", directory_, name)));
  }

  // Reads an answer's file. Its cost is not known, and its tokens are estimated.
  Result<ModelReply> Take(const std::string& path, const ModelRequest& request, double seconds) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path, kMostFileBytes));
    ModelReply reply;
    reply.provider = "mailbox";
    reply.cost_known = false;
    reply.seconds = seconds;
    reply.model = TakeModelLine(text);
    for (const ModelMessage& m : request.messages) reply.usage.input += EstimateTokens(m.text);
    reply.usage.output = EstimateTokens(text);
    reply.usage.estimated = true;
    reply.text = std::move(text);
    return reply;
  }

  const std::string directory_;
  const double poll_seconds_;
  std::mutex post_mutex_;
};

}  // namespace

Result<std::unique_ptr<ModelProvider>> MakeMailboxProvider(const std::string& directory, double poll_seconds) {
  HONE_RETURN_IF_ERROR(MakeDirectories(directory + "/requests"));
  HONE_RETURN_IF_ERROR(MakeDirectories(directory + "/replies"));
  return std::unique_ptr<ModelProvider>(std::make_unique<MailboxProvider>(directory, poll_seconds));
}

}  // namespace hone
