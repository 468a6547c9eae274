// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/server.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/text/json_text.h"
#include "base/text/nearest_word.h"
#include "base/text/utf8.h"
#include "tuner/mcp/protocol.h"
#include "tuner/mcp/schema.h"

namespace hone::mcp {
namespace {

constexpr double kLeastSecondsBetweenProgress = 0.1;  // more frequent notifications are left out
constexpr size_t kProgressBytes = 197;  // clients cut messages at 200 bytes, and ClipText adds an ellipsis of 3 bytes

// A Call is one call in progress. Its own thread and the reading thread share it.
struct Call {
  Json id;
  Era era = Era::kSession;
  std::stop_source stop;
  std::mutex mutex;
  bool silent = false;  // the call was cancelled or answered: no further message is sent for it
  Json progress_token;  // null: progress was not requested
  double last_progress = 0, last_time = 0;
};

// Returns the text as one line that is short enough for clients to show whole.
std::string ProgressText(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return ClipText(text, kProgressBytes);
}

// A Session has the state of Serve. An abandoned call shares it, so that it may outlive Serve.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(const ServerOptions& options, int input, int output)
      : options_(options),
        reader_(input, options.longest_line),
        writer_(output, options.writer, [this] { reader_.Stop(); }) {}

  // Serves until the client closes its end or the output fails.
  ServerEnd Run() {
    std::string line;
    while (true) {
      const LineReader::Outcome outcome = reader_.Next(line);
      if (outcome == LineReader::Outcome::kEnd) break;
      if (outcome == LineReader::Outcome::kTooLong) {
        writer_.Write(ErrorMessage(nullptr, kInvalidRequest,
                                   fmt::format("a line of more than {} bytes was thrown away", options_.longest_line)));
        continue;
      }
      if (line.find_first_not_of(" \t") == std::string::npos) continue;
      Take(ParseMessage(line));
    }
    return End();
  }

 private:
  // Handles one message: a notification at once, a request by Answer.
  void Take(Message message) {
    switch (message.kind) {
      case Message::Kind::kInvalid:
        writer_.Write(ErrorMessage(message.id, message.code, message.problem));
        return;
      case Message::Kind::kNotification:
        if (message.method == "notifications/cancelled") Cancel(message.params);
        return;
      case Message::Kind::kResponse:
        return;
      case Message::Kind::kRequest:
        break;
    }
    const EraOutcome era = EraOf(message);
    if (era.code != 0) {
      writer_.Write(ErrorMessage(message.id, era.code, era.problem, era.data));
      return;
    }
    Answer(message, era.era);
  }

  // Answers a request. Tools and resources are answered on threads of their own.
  void Answer(const Message& request, Era era) {
    const std::string& method = request.method;
    if (method == "tools/call") return CallTool(request, era);
    if (method == "resources/read") return ReadResource(request, era);
    const auto send = [&](Json result, Cacheable cacheable = Cacheable::kNo) {
      writer_.Write(ResultMessage(request.id, CompleteResult(std::move(result), era, cacheable)));
    };
    const Json implementation = {{"name", options_.name}, {"title", options_.title}, {"version", options_.version}};
    const Json capabilities = {{"tools", {{"listChanged", false}}},
                               {"resources", {{"listChanged", false}, {"subscribe", false}}}};
    if (method == "initialize") {
      return send({{"protocolVersion", NegotiatedVersion(request.params)},
                   {"capabilities", capabilities},
                   {"serverInfo", implementation},
                   {"instructions", options_.instructions}});
    }
    if (method == "server/discover") {
      return send({{"supportedVersions", SupportedVersions()},
                   {"capabilities", capabilities},
                   {"instructions", options_.instructions},
                   {"_meta", {{"io.modelcontextprotocol/serverInfo", implementation}}}},
                  Cacheable::kYes);
    }
    if (method == "ping" && era == Era::kSession) return send(Json::object());
    if (method == "tools/list") return send({{"tools", ToolList()}}, Cacheable::kYes);
    if (method == "resources/list") {
      Json entries = Json::array();
      for (const ResourceEntry& entry : options_.resources->List()) entries.push_back(EntryJson(entry));
      return send({{"resources", std::move(entries)}}, Cacheable::kYes);
    }
    if (method == "resources/templates/list") {
      Json entries = Json::array();
      for (const ResourceTemplate& t : options_.resources->Templates()) {
        entries.push_back(
            {{"uriTemplate", t.uri}, {"name", t.name}, {"description", t.description}, {"mimeType", t.mime_type}});
      }
      return send({{"resourceTemplates", std::move(entries)}}, Cacheable::kYes);
    }
    const std::vector<std::string> method_names{
        "initialize", "server/discover", "ping",           "tools/list",
        "tools/call", "resources/list",  "resources/read", "resources/templates/list"};
    writer_.Write(ErrorMessage(request.id, kMethodNotFound,
                               fmt::format("there is no method '{}'{}", RepairUtf8(method.substr(0, 80)),
                                           DidYouMean(method.substr(0, 80), method_names))));
  }

  static Json EntryJson(const ResourceEntry& entry) {
    return {
        {"uri", entry.uri}, {"name", entry.name}, {"description", entry.description}, {"mimeType", entry.mime_type}};
  }

  // Returns the list of all tools for an answer to tools/list.
  Json ToolList() const {
    Json tools = Json::array();
    for (const Tool& tool : options_.tools) {
      tools.push_back({{"name", tool.name},
                       {"title", tool.title},
                       {"description", tool.description},
                       {"inputSchema", tool.input_schema},
                       {"outputSchema", tool.output_schema},
                       {"annotations", tool.annotations}});
    }
    return tools;
  }

  // Cancels the call that a notification names. Its answer is then not sent.
  void Cancel(const Json& params) {
    const auto id = params.find("requestId");
    if (id == params.end()) return;
    const std::lock_guard lock(calls_mutex_);
    const auto found = calls_.find(DumpJson(*id));
    if (found == calls_.end()) return;  // the call has been answered already
    {
      const std::lock_guard call_lock(found->second->mutex);
      found->second->silent = true;
    }
    found->second->stop.request_stop();
  }

  // Reads a resource on a thread of its own, and answers with it.
  void ReadResource(const Message& request, Era era) {
    const auto uri = request.params.find("uri");
    if (uri == request.params.end() || !uri->is_string()) {
      writer_.Write(ErrorMessage(request.id, kInvalidParams, "params.uri must be a string"));
      return;
    }
    Start(
        request, era,
        [uri = uri->get<std::string>(), resources = options_.resources](Call& call, const CallContext&) -> std::string {
          const Result<ResourceText> text = resources->Read(uri);
          if (!text.ok()) {
            const bool asked_wrongly =
                text.status().code() == StatusCode::kNotFound || text.status().code() == StatusCode::kInvalidArgument;
            return ErrorMessage(call.id, asked_wrongly ? kInvalidParams : kInternalError, text.status().message(),
                                {{"uri", uri}});
          }
          const Json content = {{"uri", uri}, {"mimeType", text->mime_type}, {"text", text->text}};
          return ResultMessage(call.id, CompleteResult({{"contents", Json::array({content})}}, call.era, Cacheable::kYes));
        });
  }

  // Calls a tool on a thread of its own, and answers with its result.
  void CallTool(const Message& request, Era era) {
    const auto name = request.params.find("name");
    if (name == request.params.end() || !name->is_string()) {
      writer_.Write(ErrorMessage(request.id, kInvalidParams, "params.name must be the name of a tool"));
      return;
    }
    const Tool* tool = nullptr;
    std::vector<std::string> names;
    for (const Tool& one : options_.tools) {
      names.push_back(one.name);
      if (one.name == *name) tool = &one;
    }
    if (tool == nullptr) {
      const std::string given_name = name->get<std::string>().substr(0, 80);
      writer_.Write(ErrorMessage(request.id, kInvalidParams,
                                 fmt::format("there is no tool '{}'{}; tools/list lists them", RepairUtf8(given_name),
                                             DidYouMean(given_name, names))));
      return;
    }
    Json arguments = request.params.value("arguments", Json());
    if (arguments.is_null()) arguments = Json::object();
    Start(request, era,
          [tool, arguments = std::move(arguments)](Call& call, const CallContext& context) -> std::string {
            Result<ToolAnswer> answer = Status::Internal("not called");
            if (Status fits = CheckAgainst(tool->input_schema, arguments, "arguments"); !fits.ok()) {
              answer = fits;
            } else {
              answer = tool->call(arguments, context);
            }
            Json content = Json::array(), result = Json::object();
            content.push_back({{"type", "text"}, {"text", answer.ok() ? answer->text : answer.status().message()}});
            if (answer.ok()) {
              for (const ResourceEntry& link : answer->links) {
                Json entry = EntryJson(link);
                entry["type"] = "resource_link";
                content.push_back(std::move(entry));
              }
              result["structuredContent"] = std::move(answer->structured);
            }
            result["content"] = std::move(content);
            result["isError"] = !answer.ok();
            // The status code tells a client that is a program whether another call, or another machine, could succeed.
            if (!answer.ok()) {
              const StatusCode code = answer.status().code();
              const bool by_call = code == StatusCode::kInvalidArgument || code == StatusCode::kNotFound;
              result["_meta"]["hone/cause"] = by_call ? "call" : "machine";
            }
            return ResultMessage(call.id, CompleteResult(std::move(result), call.era));
          });
  }

  // Runs `work`, which returns the message to send, on a separate thread.
  template <typename Work>
  void Start(const Message& request, Era era, Work work) {
    auto call = std::make_shared<Call>();
    call->id = request.id;
    call->era = era;
    if (const auto meta = request.params.find("_meta"); meta != request.params.end() && meta->is_object()) {
      const Json token = meta->value("progressToken", Json());
      if (token.is_string() || token.is_number_integer()) call->progress_token = token;
    }
    const std::string key = DumpJson(request.id);
    {
      const std::lock_guard lock(calls_mutex_);
      if (calls_.contains(key)) {
        writer_.Write(ErrorMessage(request.id, kInvalidRequest,
                                   fmt::format("request {} is under way already: each needs an id of its own", key)));
        return;
      }
      if (calls_.size() >= options_.most_calls) {
        writer_.Write(
            ErrorMessage(request.id, kServerBusy,
                         fmt::format("{} calls are under way; ask again when one is answered", calls_.size())));
        return;
      }
      calls_[key] = call;
    }
    try {
      std::thread([self = shared_from_this(), call, key, work = std::move(work)] {
        std::string message;
        try {
          const CallContext context{call->stop.get_token(), self->input_ended_.get_token(),
                                    [&](double done, std::optional<double> total, const std::string& what) {
                                      self->ReportProgress(*call, done, total, what);
                                    }};
          message = work(*call, context);
        } catch (const std::exception& error) {  // of the standard library, such as std::bad_alloc
          message = ErrorMessage(call->id, kInternalError, error.what());
        }
        self->SendAnswer(*call, key, std::move(message));
      }).detach();
    } catch (const std::system_error& error) {
      SendAnswer(*call, key,
                 ErrorMessage(call->id, kInternalError, fmt::format("no thread could be started: {}", error.what())));
    }
  }

  // Sends a progress notification, if the client asked for them, not too often, and only if `done` has grown.
  void ReportProgress(Call& call, double done, std::optional<double> total, const std::string& what) {
    const std::lock_guard lock(call.mutex);
    const double now = SteadySeconds();
    if (call.progress_token.is_null() || call.silent || now - call.last_time < kLeastSecondsBetweenProgress) return;
    if (done <= call.last_progress) return;
    call.last_progress = done;
    call.last_time = now;
    Json params = {
        {"progressToken", call.progress_token}, {"progress", done}, {"message", ProgressText(what)}};
    if (total) params["total"] = *total;
    writer_.WriteIfRoom(NotificationMessage("notifications/progress", params));
  }

  // Sends the answer of a call, unless it was cancelled, and forgets the call.
  void SendAnswer(Call& call, const std::string& key, std::string message) {
    bool send = false;
    {
      const std::lock_guard lock(call.mutex);
      send = !call.silent;
      call.silent = true;
    }
    if (send) writer_.Write(std::move(message));
    const std::lock_guard lock(calls_mutex_);
    calls_.erase(key);
    calls_changed_.notify_all();
  }

  ServerEnd End() {
    input_ended_.request_stop();
    std::unique_lock lock(calls_mutex_);
    while (!calls_.empty() && !writer_.failed()) calls_changed_.wait_for(lock, std::chrono::milliseconds(50));
    for (const auto& [key, call] : calls_) {
      const std::lock_guard call_lock(call->mutex);
      call->silent = true;
      call->stop.request_stop();
    }
    ServerEnd end;
    end.abandoned_calls = static_cast<int>(calls_.size());
    lock.unlock();
    end.client_lost = !writer_.Finish(options_.finish_seconds);
    return end;
  }

  const ServerOptions options_;
  LineReader reader_;
  LineWriter writer_;
  std::mutex calls_mutex_;
  std::condition_variable calls_changed_;
  std::stop_source input_ended_;
  std::map<std::string, std::shared_ptr<Call>> calls_;  // calls in progress, by their ID as JSON text
};

}  // namespace

ServerEnd Serve(const ServerOptions& options, int input, int output) {
  return std::make_shared<Session>(options, input, output)->Run();
}

}  // namespace hone::mcp
