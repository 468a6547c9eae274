// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/redis_connection.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <charconv>
#include <utility>

#include "base/file.h"

namespace hone {
namespace {

constexpr std::string_view kScheme = "redis://", kSecureScheme = "rediss://";
constexpr double kConnectSeconds = 5;
constexpr int kDeepestReply = 8;

timeval Interval(double seconds) {
  return {static_cast<time_t>(seconds), static_cast<suseconds_t>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e6)};
}

RedisReply Copy(const redisReply& reply, int depth) {
  RedisReply copy;
  switch (reply.type) {
    case REDIS_REPLY_INTEGER:
      copy.kind = RedisReply::Kind::kInteger;
      copy.integer = reply.integer;
      break;
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
      copy.kind = RedisReply::Kind::kText;
      copy.text.assign(reply.str, static_cast<size_t>(reply.len));
      break;
    case REDIS_REPLY_ARRAY:
      copy.kind = RedisReply::Kind::kList;
      for (size_t i = 0; i < reply.elements && depth < kDeepestReply; ++i) copy.list.push_back(Copy(*reply.element[i], depth + 1));
      break;
    default:
      break;
  }
  return copy;
}

class HiredisConnection final : public RedisConnection {
 public:
  explicit HiredisConnection(RedisAddress address) : address_(std::move(address)) {}

  Status Open() {
    context_.reset(redisConnectWithTimeout(address_.host.c_str(), address_.port, Interval(kConnectSeconds)));
    if (context_ == nullptr) return Status::Unavailable("no memory for a connection to Redis");
    if (context_->err != 0) return Lost("cannot be reached");
    if (address_.password_file.empty()) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(std::string password, ReadFile(address_.password_file, 1 << 16));
    password = password.substr(0, password.find_first_of("\r\n"));
    std::vector<std::string> words{"AUTH"};
    if (!address_.user.empty()) words.push_back(address_.user);
    words.push_back(std::move(password));
    const Result<RedisReply> reply = Ask(words, kConnectSeconds);
    if (!reply.ok()) {
      context_.reset();
      return reply.status().WithContext(fmt::format("the password in {}", address_.password_file));
    }
    return Status::Ok();
  }

  Result<RedisReply> Command(const std::vector<std::string>& words, double seconds) override {
    if (context_ == nullptr) HONE_RETURN_IF_ERROR(Open());
    return Ask(words, seconds);
  }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };

  Result<RedisReply> Ask(const std::vector<std::string>& words, double seconds) {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
    for (const std::string& word : words) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
    if (redisSetTimeout(context_.get(), Interval(seconds)) != REDIS_OK) return Lost("went away");
    const std::unique_ptr<redisReply, Free> reply(
        static_cast<redisReply*>(redisCommandArgv(context_.get(), static_cast<int>(words.size()), texts.data(), lengths.data())));
    if (reply == nullptr) return Lost("went away");
    RedisReply copy = Copy(*reply, 0);
    if (reply->type == REDIS_REPLY_ERROR) {
      // A server that is starting, or whose clients are all gone for a moment, is no mistake of the caller.
      const bool later = copy.text.rfind("LOADING", 0) == 0 || copy.text.rfind("READONLY", 0) == 0 || copy.text.rfind("MASTERDOWN", 0) == 0;
      const std::string message = fmt::format("Redis at {}:{} refused {}: {}", address_.host, address_.port, words[0], copy.text);
      return later ? Status::Unavailable(message) : Status::InvalidArgument(message);
    }
    return copy;
  }

  Status Lost(const char* what) {
    const std::string why = context_ == nullptr || context_->err == 0 ? "" : context_->errstr;
    context_.reset();
    return Status::Unavailable(fmt::format("Redis at {}:{} {}{}{}", address_.host, address_.port, what, why.empty() ? "" : ": ", why));
  }

  const RedisAddress address_;
  std::unique_ptr<redisContext, Free> context_;
};

bool IsQueueName(std::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  return name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == std::string_view::npos;
}

}  // namespace

bool IsRedisAddress(std::string_view text) { return text.rfind(kScheme, 0) == 0 || text.rfind(kSecureScheme, 0) == 0; }

Result<RedisAddress> ParseRedisAddress(const std::string& text) {
  const auto wrong = [&](const std::string& what) {
    return Status::InvalidArgument(fmt::format("{}: {}; write redis://[USER@]HOST[:PORT]/QUEUE[?password_file=FILE]", text, what));
  };
  if (text.rfind(kSecureScheme, 0) == 0) {
    return Status::InvalidArgument(fmt::format(
        "{}: this program speaks to Redis without TLS; use redis:// through a tunnel (stunnel, ssh -L) that has it", text));
  }
  if (text.rfind(kScheme, 0) != 0) return wrong("this is no address of Redis");
  RedisAddress address;
  std::string rest = text.substr(kScheme.size());
  if (const size_t mark = rest.find('?'); mark != std::string::npos) {
    const std::string query = rest.substr(mark + 1);
    constexpr std::string_view kPassword = "password_file=";
    if (query.rfind(kPassword, 0) != 0) return wrong(fmt::format("'{}' is not known", query));
    address.password_file = query.substr(kPassword.size());
    rest.resize(mark);
  }
  const size_t slash = rest.find('/');
  address.queue = slash == std::string::npos ? "" : rest.substr(slash + 1);
  if (!IsQueueName(address.queue)) return wrong("the queue's name is 1 to 64 letters, digits, '.', '_' and '-'");
  rest.resize(slash);
  if (const size_t at = rest.find('@'); at != std::string::npos) {
    address.user = rest.substr(0, at);
    if (address.user.find(':') != std::string::npos) return wrong("a password does not belong into an address; put it into a file");
    rest = rest.substr(at + 1);
  }
  if (const size_t colon = rest.rfind(':'); colon != std::string::npos) {
    const std::string port = rest.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (error != std::errc() || end != port.data() + port.size() || address.port < 1 || address.port > 65535) {
      return wrong(fmt::format("'{}' is no port", port));
    }
    rest.resize(colon);
  }
  if (rest.empty()) return wrong("the host is missing");
  address.host = rest;
  return address;
}

Result<std::unique_ptr<RedisConnection>> ConnectRedis(const RedisAddress& address) {
  auto connection = std::make_unique<HiredisConnection>(address);
  HONE_RETURN_IF_ERROR(connection->Open());
  return std::unique_ptr<RedisConnection>(std::move(connection));
}

}  // namespace hone
