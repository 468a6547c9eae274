// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/redis_connection.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/files/file.h"
#include "tuner/queue/tls_channel.h"

namespace hone {
namespace {

constexpr std::string_view kScheme = "redis://", kSecureScheme = "rediss://";
constexpr double kConnectSeconds = 5;
constexpr int kDeepestReply = 8;  // limit on nested lists in a reply
constexpr int kLongestList = 1 << 20;  // limit on the elements of a list in a reply

timeval TimevalOf(double seconds) {
  return {static_cast<time_t>(seconds),
          static_cast<suseconds_t>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e6)};
}

// hiredis allocates as many elements as a server announces, gigabytes for a line of twelve bytes. A longer list than
// kLongestList counts as a lack of memory, which ends the connection. `Count` is int or size_t, depending on hiredis's version.
template <typename Count>
struct BoundedArray {
  static inline void* (*make)(const redisReadTask*, Count) = nullptr;
  static void* Make(const redisReadTask* task, Count elements) {
    return elements > static_cast<Count>(kLongestList) ? nullptr : make(task, elements);
  }
};
template <typename Count>
void BoundArrays(void* (*&create)(const redisReadTask*, Count)) {
  BoundedArray<Count>::make = create;
  create = &BoundedArray<Count>::Make;
}
// Returns hiredis' own functions for making replies, with a limit on the size of arrays.
redisReplyObjectFunctions* BoundedReplies(const redisReplyObjectFunctions& usual) {
  static redisReplyObjectFunctions bounded = [&usual] {
    redisReplyObjectFunctions functions = usual;
    BoundArrays(functions.createArray);
    return functions;
  }();
  return &bounded;
}

// Returns a copy of hiredis's reply, which hiredis owns. Lists nested deeper than kDeepestReply are cut.
RedisReply CopyReply(const redisReply& reply, int depth) {
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
      for (size_t i = 0; i < reply.elements && depth < kDeepestReply; ++i)
        copy.list.push_back(CopyReply(*reply.element[i], depth + 1));
      break;
    default:
      break;
  }
  return copy;
}

// Returns whether a server's error passes by itself: the server is starting, refuses clients for a while, or has no
// room.
bool PassesByItself(std::string_view error) {
  for (const std::string_view kind : {"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MISCONF", "BUSY ",
                                      "UNBLOCKED", "NOREPLICAS"}) {
    if (error.substr(0, kind.size()) == kind) return true;
  }
  return IsMemoryFull(error);
}

constexpr std::string_view kRightsRemedy =
    " (this user lacks the rights: a queue's submitters, workers and administrators have rights of their own, and "
    "`hone rights` prints them; docs/queue.md)";

// Returns the remedy for a server's error, to be put after it; empty if none is known.
std::string_view RemedyFor(std::string_view error) {
  if (error.substr(0, 6) == "NOPERM" || error.find("The user executing the script can't") != std::string_view::npos)
    return kRightsRemedy;
  if (IsMemoryFull(error))
    return " (the server's memory is full: raise its maxmemory, or remove old answers by `hone clean`)";
  if (error.substr(0, 7) == "MISCONF") return " (the server cannot write to its disk: see its log)";
  if (error.substr(0, 6) == "NOAUTH") return " (add ?password_file=FILE to the address)";
  if (error.substr(0, 9) == "WRONGPASS")
    return " (the file's first line has to be the password of the address's user, who must be known to the server)";
  return "";
}

class HiredisConnection final : public RedisConnection {
 public:
  explicit HiredisConnection(RedisAddress address) : address_(std::move(address)) {}

  Status Open() {
    tls_.reset();
    context_.reset(redisConnectWithTimeout(address_.host.c_str(), address_.port, TimevalOf(kConnectSeconds)));
    if (context_ == nullptr) return Status::Unavailable("no memory for a connection to Redis");
    if (context_->err != 0) {
      const Status lost = LoseConnection("cannot be reached");
      return {lost.code(), lost.message() + "; start one there (redis-server), or name another address (docs/queue.md)"};
    }
    context_->reader->fn = BoundedReplies(*context_->reader->fn);
    if (address_.tls) {
      if (redisSetTimeout(context_.get(), TimevalOf(kConnectSeconds)) != REDIS_OK) return LoseConnection("went away");
      Result<std::unique_ptr<TlsChannel>> channel = TlsChannel::Connect(context_->fd, address_.host, address_.ca_file);
      if (!channel.ok()) {
        context_.reset();
        return channel.status().WithContext(fmt::format("Redis at {}:{}", address_.host, address_.port));
      }
      tls_ = std::move(*channel);
    }
    if (address_.password_file.empty()) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(std::string password, ReadPassword(address_.password_file));
    std::vector<std::string> auth_command{"AUTH"};
    if (!address_.user.empty()) auth_command.push_back(address_.user);
    auth_command.push_back(std::move(password));
    const Result<RedisReply> reply = Ask(auth_command, kConnectSeconds);
    if (!reply.ok()) {
      context_.reset();
      return reply.status().WithContext(fmt::format("the password in {}", address_.password_file));
    }
    return Status::Ok();
  }

  Result<RedisReply> Command(const std::vector<std::string>& command, double seconds) override {
    if (context_ == nullptr) HONE_RETURN_IF_ERROR(Open());
    return Ask(command, seconds);
  }

 private:
  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
    void operator()(redisReply* reply) const { freeReplyObject(reply); }
  };

  // Sends one command, and waits for its reply.
  Result<RedisReply> Ask(const std::vector<std::string>& command, double seconds) {
    std::vector<const char*> texts;
    std::vector<size_t> lengths;
    for (const std::string& word : command) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
    if (redisSetTimeout(context_.get(), TimevalOf(seconds)) != REDIS_OK) return LoseConnection("went away");
    const std::unique_ptr<redisReply, Free> reply(
        tls_ != nullptr ? AskOverTls(texts, lengths)
                        : static_cast<redisReply*>(redisCommandArgv(context_.get(), static_cast<int>(command.size()),
                                                                    texts.data(), lengths.data())));
    if (reply == nullptr) return LoseConnection("went away");
    RedisReply copy = CopyReply(*reply, 0);
    if (reply->type == REDIS_REPLY_ERROR) {
      const std::string message = fmt::format("Redis at {}:{} refused {}: {}{}", address_.host, address_.port,
                                              command[0], copy.text, RemedyFor(copy.text));
      return PassesByItself(copy.text) ? Status::Unavailable(message) : Status::InvalidArgument(message);
    }
    return copy;
  }

  // Sends a command over tls_ and returns the reply; hiredis formats and parses the protocol. Returns nullptr if the
  // connection broke; tls_error_ then has the error.
  redisReply* AskOverTls(std::vector<const char*>& texts, const std::vector<size_t>& lengths) {
    char* command = nullptr;
    const auto length = redisFormatCommandArgv(&command, static_cast<int>(texts.size()), texts.data(), lengths.data());
    if (length < 0) return nullptr;
    const Status sent = tls_->Write(std::string_view(command, static_cast<size_t>(length)));
    redisFreeCommand(command);
    tls_error_ = sent.message();
    if (!sent.ok()) return nullptr;
    while (true) {
      void* reply = nullptr;
      if (redisReaderGetReply(context_->reader, &reply) != REDIS_OK) return nullptr;
      if (reply != nullptr) return static_cast<redisReply*>(reply);
      const Result<std::string> bytes = tls_->Read();
      tls_error_ = bytes.status().message();
      if (!bytes.ok() || redisReaderFeed(context_->reader, bytes->data(), bytes->size()) != REDIS_OK) return nullptr;
    }
  }

  // Closes the connection, and returns the error that says why.
  Status LoseConnection(const char* what) {
    const std::string why = tls_ != nullptr                             ? tls_error_
                            : context_ == nullptr || context_->err == 0 ? ""
                                                                        : context_->errstr;
    tls_.reset();
    context_.reset();
    return Status::Unavailable(
        fmt::format("Redis at {}:{} {}{}{}", address_.host, address_.port, what, why.empty() ? "" : ": ", why));
  }

  const RedisAddress address_;
  std::unique_ptr<redisContext, Free> context_;
  std::unique_ptr<TlsChannel> tls_;  // uses the context's socket, so it is destroyed first
  std::string tls_error_;
};

}  // namespace

bool IsQueueName(std::string_view name) {
  if (name.empty() || name.size() > 64) return false;
  return name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
         std::string_view::npos;
}

Result<std::string> ReadPassword(const std::string& file) {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(file, 1 << 16));
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  if (text.empty())
    return Status::InvalidArgument(fmt::format("{}: the first line, which is the password, is empty", file));
  return text;
}

bool IsLoginRefused(std::string_view error) {
  return error.find("WRONGPASS") != std::string_view::npos || error.find("NOAUTH") != std::string_view::npos;
}

bool IsMemoryFull(std::string_view error) { return error.find("OOM command not allowed") != std::string_view::npos; }

bool IsRedisAddress(std::string_view text) { return text.rfind(kScheme, 0) == 0 || text.rfind(kSecureScheme, 0) == 0; }

Result<RedisAddress> ParseRedisAddress(const std::string& text) {
  const auto refuse = [&](const std::string& what) {
    return Status::InvalidArgument(fmt::format(
        "{}: {}; write redis://[USER@]HOST[:PORT]/QUEUE[?password_file=FILE], or rediss:// for TLS", text, what));
  };
  RedisAddress address;
  address.tls = text.rfind(kSecureScheme, 0) == 0;
  if (!address.tls && text.rfind(kScheme, 0) != 0) return refuse("this is no address of Redis");
  std::string address_text = text.substr(address.tls ? kSecureScheme.size() : kScheme.size());
  if (const size_t mark = address_text.find('?'); mark != std::string::npos) {
    std::string query = address_text.substr(mark + 1);
    while (!query.empty()) {
      const std::string one = query.substr(0, query.find('&'));
      query.erase(0, std::min(one.size() + 1, query.size()));
      const size_t equals = std::min(one.find('='), one.size());
      const std::string name = one.substr(0, equals), value = one.substr(std::min(equals + 1, one.size()));
      if (name == "password_file")
        address.password_file = value;
      else if (name == "reuse" && IsQueueName(value))
        address.reuse = value;
      else if (name == "reuse")
        return refuse("the name after reuse= is 1 to 64 letters, digits, '.', '_' and '-'");
      else if (name == "ca_file" && address.tls)
        address.ca_file = value;
      else if (name == "ca_file")
        return refuse("ca_file belongs to rediss://, for without TLS no server proves who it is");
      else
        return refuse(fmt::format("'{}' is not known", one));
    }
    address_text.resize(mark);
  }
  const size_t slash = address_text.find('/');
  address.queue = slash == std::string::npos ? "" : address_text.substr(slash + 1);
  if (!IsQueueName(address.queue)) return refuse("the queue's name is 1 to 64 letters, digits, '.', '_' and '-'");
  address_text.resize(slash);
  if (const size_t at = address_text.find('@'); at != std::string::npos) {
    address.user = address_text.substr(0, at);
    if (address.user.find(':') != std::string::npos)
      return refuse("a password does not belong into an address; put it into a file");
    address_text = address_text.substr(at + 1);
  }
  if (const size_t colon = address_text.rfind(':'); colon != std::string::npos) {
    const std::string port = address_text.substr(colon + 1);
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
    if (error != std::errc() || end != port.data() + port.size() || address.port < 1 || address.port > 65535) {
      return refuse(fmt::format("'{}' is no port", port));
    }
    address_text.resize(colon);
  }
  if (address_text.empty()) return refuse("the host is missing");
  address.host = address_text;
  return address;
}

Result<std::unique_ptr<RedisConnection>> ConnectRedis(const RedisAddress& address) {
  auto connection = std::make_unique<HiredisConnection>(address);
  HONE_RETURN_IF_ERROR(connection->Open());
  return std::unique_ptr<RedisConnection>(std::move(connection));
}

}  // namespace hone
