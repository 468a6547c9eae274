// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/http_provider.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "base/clock.h"
#include "base/process/stoppable_sleep.h"
#include "base/text/utf8.h"
#include "tuner/model/endpoint_setup.h"

namespace hone {
namespace {

constexpr size_t kMaxErrorBytes = 64 << 10;  // how much of an answer with an error status is read
constexpr size_t kMaxReplyBytes = size_t{64} << 20;  // far more than any model's longest answer
constexpr double kProgressSeconds = 0.2;

struct Attempt {
  StreamedReply reply;
  HttpResponse response;
  std::string error_body;  // body of an answer with an HTTP error status
  bool too_long = false;   // the body is longer than kMaxReplyBytes
  std::string stray;       // beginning of a body taken for a stream, for messages if it is none
};

class HttpProvider : public ModelProvider {
 public:
  HttpProvider(std::unique_ptr<ChatWire> wire, EndpointSetup setup, int max_retries, double request_seconds,
               HttpProviderHooks hooks)
      : wire_(std::move(wire)),
        endpoint_(std::move(setup.endpoint)),
        base_(std::move(setup.request)),
        price_(std::move(setup.price)),
        max_retries_(max_retries),
        request_seconds_(request_seconds),
        hooks_(std::move(hooks)),
        rng_(hooks_.seed) {
    // OpenAI's own service has dropped the name max_tokens; compatible servers mostly support only this name.
    allowances_.max_completion_tokens = endpoint_.own_service && endpoint_.provider == "openai";
  }

  std::string Name() const override { return endpoint_.provider; }

  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink& progress,
                              std::stop_token stop) override {
    const Stopwatch watch;
    Spending spending;
    Attempts attempts(max_retries_, LimitOf(request));
    Result<StreamedReply> streamed = Ask(request, progress, watch, std::move(stop), spending, attempts);
    if (!streamed.ok()) {
      const Status status(streamed.status().code(), streamed.status().message() + spending.DescribeLostTokens());
      std::lock_guard lock(mutex_);
      unpaid_.Merge(spending);
      return status;
    }
    {
      std::lock_guard lock(mutex_);
      spending.Merge(std::exchange(unpaid_, {}));
    }
    ModelReply reply = MakeReply(*streamed, spending);
    reply.notes = attempts.notes();
    reply.seconds = watch.Seconds();
    return reply;
  }

  std::string CostCaveat() const override {
    if (!price_) {
      return fmt::format("the price of {}{} is not known; --prices names a file with it", endpoint_.Name(),
                         endpoint_.own_service ? "" : " at " + endpoint_.base_url);
    }
    if (price_->up_to_input == 0) return "";
    return fmt::format("the price of {} is known for prompts of at most {} tokens", endpoint_.Name(),
                       price_->up_to_input);
  }
  bool PricesReplies() const override { return price_.has_value(); }

 private:
  // The tokens that a request's attempts have used.
  struct Spending {
    TokenUsage total, discarded;
    int64_t cached_input = 0;
    int64_t longest_input = 0;  // largest number of input tokens of one attempt

    void Add(const StreamedReply& reply, const ModelRequest& request) {
      int64_t input = 0;
      for (const ModelMessage& m : request.messages) input += EstimateTokens(m.text);
      input = reply.input_tokens.value_or(input);
      total.estimated = total.estimated || !reply.input_tokens || !reply.output_tokens;
      total.input += input;
      total.output += reply.output_tokens.value_or(reply.TokensSoFar());
      longest_input = std::max(longest_input, input);
      cached_input += reply.cached_input_tokens;
    }
    // Adds the tokens of an answer that broke off. An answer that never began is assumed to cost nothing.
    void Discard(const Attempt& attempt, const ModelRequest& request) {
      StreamedReply reply = attempt.reply;
      const int64_t output = reply.TokensSoFar();
      if (output == 0 && !reply.input_tokens) return;
      const TokenUsage before = total;
      reply.output_tokens = output;  // the service's count, if any, is from the stream's beginning
      Add(reply, request);
      total.estimated = true;
      discarded.input += total.input - before.input;
      discarded.output += total.output - before.output;
      discarded.estimated = true;
    }
    void Merge(const Spending& other) {
      for (const auto& [mine, theirs] : {std::pair(&total, &other.total), {&discarded, &other.discarded}}) {
        mine->input += theirs->input;
        mine->output += theirs->output;
        mine->estimated = mine->estimated || theirs->estimated;
      }
      cached_input += other.cached_input;
      longest_input = std::max(longest_input, other.longest_input);
    }
    std::string DescribeLostTokens() const {
      if (discarded.input + discarded.output == 0) return "";
      return fmt::format("; about {} tokens in and {} out were spent on broken-off answers", discarded.input,
                         discarded.output);
    }
  };

  // Returns the limit for a request with all its attempts.
  double LimitOf(const ModelRequest& request) const {
    return request_seconds_ > 0 ? std::min(request_seconds_, request.limit_seconds) : request.limit_seconds;
  }

  // Runs the loop of attempts.
  Result<StreamedReply> Ask(const ModelRequest& request, const ModelProgressSink& progress, const Stopwatch& watch,
                            std::stop_token stop, Spending& spending, Attempts& attempts) {
    const double limit = LimitOf(request);
    WireAllowances allowances = LearntAllowances();
    while (true) {
      HttpRequest http = base_;
      http.body = wire_->Body(request, endpoint_.model, allowances);
      http.total_seconds = limit - watch.Seconds();
      HONE_ASSIGN_OR_RETURN(Attempt attempt, Try(http, progress, watch, stop));
      if (attempt.response.status > 0) has_answered_ = true;
      if (IsReply(attempt)) {
        spending.Add(attempt.reply, request);
        return std::move(attempt.reply);
      }
      if (const auto next_allowances = ConcededAllowances(attempt, allowances, request)) {
        allowances = *next_allowances;
        continue;
      }
      spending.Discard(attempt, request);
      if (attempt.response.end == HttpEnd::kCancelled) return Cancelled();
      if (attempt.response.end == HttpEnd::kOutOfTime) return OutOfTime(limit, attempts.notes());
      const AttemptFailure failure = FailureOf(http, attempt);
      if (!failure.retry) return failure.status;
      HONE_ASSIGN_OR_RETURN(const double wait, attempts.Failed(failure.status, watch.Seconds(), [&](int failures) {
        return failure.wait_seconds ? *failure.wait_seconds : Backoff(failures);
      }));
      if (progress) progress({watch.Seconds(), 0, attempts.NextText(wait)});
      if (!hooks_.sleep(wait, stop)) return Cancelled();
    }
  }

  Status Cancelled() const { return Status::Cancelled("stopped while asking " + endpoint_.Name()); }

  Status OutOfTime(double limit, const std::vector<std::string>& notes) const {
    return Status::TimedOut(fmt::format("{} gave no whole answer within {:.4g} s (--request-timeout){}",
                                        endpoint_.Name(), limit, notes.empty() ? "" : "; before: " + notes.back()));
  }

  // Returns what earlier requests have shown the service to accept.
  WireAllowances LearntAllowances() {
    std::lock_guard lock(mutex_);
    return allowances_;
  }

  double Backoff(int failures) {
    std::lock_guard lock(mutex_);
    return BackoffSeconds(failures, hooks_.backoff, rng_);
  }

  // Sends the request once and reads the reply.
  Result<Attempt> Try(const HttpRequest& http, const ModelProgressSink& progress, const Stopwatch& watch,
                      std::stop_token stop) {
    Attempt attempt;
    SseParser parser(kMaxReplyBytes);
    std::string whole_body;  // the body, if it is no stream
    enum class Body { kUnknown, kStream, kWhole } body = Body::kUnknown;
    double shown = -kProgressSeconds;
    const SseSink on_event = [&](const SseEvent& event) {
      StreamedReply& reply = attempt.reply;
      if (!reply.ended && !reply.error && reply.malformed.empty()) wire_->ReadEvent(event, reply);
    };
    HttpEvents events;
    events.on_bytes = [&](const HttpResponse& response, std::string_view bytes) {
      if (response.status != 200) {
        attempt.error_body += bytes.substr(0, kMaxErrorBytes - std::min(kMaxErrorBytes, attempt.error_body.size()));
        return attempt.error_body.size() < kMaxErrorBytes;
      }
      if (body == Body::kUnknown) {
        // The body's first character decides whether it is a stream, because services state wrong content types. No
        // event stream begins with one of these characters.
        const size_t first = bytes.find_first_not_of(" \t\r\n");
        if (first != std::string_view::npos) {
          body = bytes[first] == '{' || bytes[first] == '[' || bytes[first] == '<' ? Body::kWhole : Body::kStream;
        }
      }
      if (body == Body::kWhole) {
        whole_body += bytes;
        attempt.too_long = whole_body.size() > kMaxReplyBytes;
      } else {
        if (attempt.stray.size() < 200) attempt.stray += bytes.substr(0, 200 - attempt.stray.size());
        attempt.too_long = !parser.Feed(bytes, on_event) || attempt.reply.text.size() > kMaxReplyBytes;
      }
      // Stops reading after the end mark, an error or malformed data.
      return !attempt.too_long && !attempt.reply.ended && !attempt.reply.error && attempt.reply.malformed.empty();
    };
    std::optional<double> complete;  // when the reply's text was complete
    events.on_tick = [&] {
      if (attempt.reply.whole() && !complete) complete = watch.Seconds();
      if (complete && watch.Seconds() > *complete + hooks_.trailer_seconds) return false;
      if (!progress || watch.Seconds() < shown + kProgressSeconds) return true;
      shown = watch.Seconds();
      const int64_t tokens = attempt.reply.TokensSoFar();
      progress({shown, tokens,
                tokens > 0 ? fmt::format("{} is answering: about {} tokens", endpoint_.Name(), tokens)
                           : fmt::format("{} is thinking", endpoint_.Name())});
      return true;
    };
    HONE_ASSIGN_OR_RETURN(attempt.response, HttpPost(http, events, stop));
    if (body == Body::kStream && attempt.response.end != HttpEnd::kStopped) {
      const StreamedReply before = attempt.reply;
      parser.Finish(on_event);
      // If the reply's text was complete, a line that is cut off behind it does not make the reply malformed.
      if (before.whole() && !attempt.reply.malformed.empty()) attempt.reply = before;
    }
    if (body == Body::kWhole && attempt.response.end == HttpEnd::kWhole) wire_->ReadWhole(whole_body, attempt.reply);
    return attempt;
  }

  // Returns whether the attempt brought a usable reply.
  static bool IsReply(const Attempt& attempt) {
    const StreamedReply& reply = attempt.reply;
    // The reply is usable if the connection breaks once its text is complete: only the token counts are lost.
    return attempt.response.status == 200 && !attempt.too_long && !reply.error && reply.malformed.empty() &&
           reply.whole();
  }

  // Returns with what allowances to send the request again; nullopt: the failure has another cause.
  std::optional<WireAllowances> ConcededAllowances(const Attempt& attempt, const WireAllowances& sent,
                                                   const ModelRequest& request) {
    const int status = attempt.response.status;
    if (status != 400 && status != 422) return std::nullopt;
    const int64_t asked_tokens = sent.max_tokens > 0 ? sent.max_tokens : request.max_tokens;
    std::optional<WireAllowances> next_allowances =
        AllowancesAfterRefusal(sent, asked_tokens, ReadWireError(attempt.error_body));
    if (next_allowances) {
      std::lock_guard lock(mutex_);
      allowances_ = *next_allowances;
      allowances_.max_tokens = 0;  // depends on the request: not kept for the next one
    }
    return next_allowances;
  }

  // Says what went wrong with an attempt, whether another may help, and when.
  AttemptFailure FailureOf(const HttpRequest& http, const Attempt& attempt) {
    const HttpResponse& response = attempt.response;
    const StreamedReply& reply = attempt.reply;
    if (attempt.too_long) {
      return {Status::Unavailable(
                  fmt::format("{} sent more than {} MiB in one answer", endpoint_.Name(), kMaxReplyBytes >> 20)),
              false, std::nullopt};
    }
    if (response.status != 0 && response.status != 200) {
      return FailureOfStatus(endpoint_, response.status, ReadWireError(attempt.error_body), RetryAfter(response));
    }
    if (reply.error) return FailureOfEvent(endpoint_, *reply.error);
    // If the connection broke, the last line is incomplete, and its JSON is not the service's fault.
    const bool cut = response.end != HttpEnd::kWhole && response.end != HttpEnd::kStopped;
    if (cut) return FailureOfTransfer(endpoint_, http, response, reply.TokensSoFar(), has_answered_);
    if (!reply.malformed.empty() && response.end == HttpEnd::kStopped)
      return FailureForNonsense(reply.malformed, /*retry=*/true);
    if (reply.text.empty() && !attempt.stray.empty() && attempt.stray.find("data:") == std::string::npos) {
      return FailureForNonsense(attempt.stray, /*retry=*/false);
    }
    if (!reply.malformed.empty() && reply.text.empty()) return FailureForNonsense(reply.malformed, /*retry=*/false);
    return FailureOfTransfer(endpoint_, http, response, reply.TokensSoFar(), has_answered_);
  }

  // Returns the failure for an answer that is no chat reply. `bytes`: its beginning.
  AttemptFailure FailureForNonsense(std::string_view bytes, bool retry) const {
    return {Status::Unavailable(endpoint_.redactor.Message(fmt::format(
                "{} at {} answered with what is no chat reply (\"{}\"); does the base URL lead to a chat service?",
                endpoint_.Name(), endpoint_.base_url, ReadWireError(bytes.substr(0, 200)).message))),
            retry, std::nullopt};
  }

  std::optional<double> RetryAfter(const HttpResponse& response) const {
    if (const auto found = response.headers.find("retry-after-ms"); found != response.headers.end()) {
      if (const auto wait = ParseRetryAfter(found->second, hooks_.unix_now())) return *wait / 1e3;
    }
    const auto found = response.headers.find("retry-after");
    return found == response.headers.end() ? std::nullopt : ParseRetryAfter(found->second, hooks_.unix_now());
  }

  // Makes the reply from what was streamed, with keys removed from its texts.
  ModelReply MakeReply(StreamedReply& streamed, const Spending& spending) const {
    ModelReply reply;
    reply.text = endpoint_.redactor.Text(std::move(streamed.text));
    reply.finish = streamed.finish.value_or(FinishReason::kStop);
    reply.usage = spending.total;
    reply.discarded = spending.discarded;
    reply.provider = endpoint_.provider;
    reply.model = endpoint_.redactor.Message(streamed.model.empty() ? endpoint_.model
                                                                    : RepairUtf8(streamed.model.substr(0, 200)));
    reply.cost_known = price_ && (price_->up_to_input == 0 || spending.longest_input <= price_->up_to_input);
    if (reply.cost_known) {
      reply.cost_usd = CostUsd(*price_, reply.usage.input, spending.cached_input, reply.usage.output);
    }
    return reply;
  }

  const std::unique_ptr<ChatWire> wire_;
  const Endpoint endpoint_;
  const HttpRequest base_;
  const std::optional<Price> price_;
  const int max_retries_;
  const double request_seconds_;
  const HttpProviderHooks hooks_;
  std::atomic<bool> has_answered_ = false;  // a reply has arrived: a later failure to connect is temporary
  std::mutex mutex_;  // guards the following members
  Rng rng_;
  WireAllowances allowances_;
  Spending unpaid_;  // cost of failed requests, added to the next reply, so that budgets include it
};

}  // namespace

HttpProviderHooks SystemHooks() {
  HttpProviderHooks hooks;
  hooks.unix_now = UnixSeconds;
  hooks.sleep = StoppableSleep;
  hooks.seed = SystemSeed();
  return hooks;
}

Result<std::unique_ptr<ModelProvider>> MakeHttpProvider(std::unique_ptr<ChatWire> wire, const ServiceModel& model,
                                                        const ProviderOptions& options, HttpProviderHooks hooks) {
  HONE_ASSIGN_OR_RETURN(EndpointSetup setup, SetUpEndpoint(*wire, model, options));
  return std::unique_ptr<ModelProvider>(std::make_unique<HttpProvider>(
      std::move(wire), std::move(setup), options.max_retries, options.request_seconds, std::move(hooks)));
}

}  // namespace hone
