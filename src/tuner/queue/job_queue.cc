// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/job_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace hone {
namespace {

constexpr const char* kGroup = "workers";
constexpr double kLongestBlock = 5;  // seconds that one command waits at the server

// KEYS: job, answer, jobs. ARGV: id, bundle.
constexpr std::string_view kSubmit = R"(
if redis.call('EXISTS', KEYS[1]) == 1 or redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
redis.call('HSET', KEYS[1], 'bundle', ARGV[2], 'state', 'waiting', 'deaths', '0')
redis.call('XADD', KEYS[3], '*', 'id', ARGV[1])
return 1)";

// Whether the entry is still this worker's. KEYS: jobs. ARGV: entry, worker, group, the job's new state or '', job key.
constexpr std::string_view kHold = R"(
local p = redis.call('XPENDING', KEYS[1], ARGV[3], ARGV[1], ARGV[1], 1)
if #p == 0 or p[1][2] ~= ARGV[2] then return 0 end
redis.call('XCLAIM', KEYS[1], ARGV[3], ARGV[2], 0, ARGV[1], 'JUSTID')
if ARGV[4] ~= '' then redis.call('HSET', KEYS[2], 'state', ARGV[4]) end
return 1)";

// KEYS: jobs, job, answer, said. ARGV: entry, group, answer, seconds.
constexpr std::string_view kFinish = R"(
redis.call('XACK', KEYS[1], ARGV[2], ARGV[1])
redis.call('XDEL', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
if redis.call('SET', KEYS[3], ARGV[3], 'NX', 'EX', ARGV[4]) then
  redis.call('RPUSH', KEYS[4], '1')
  redis.call('EXPIRE', KEYS[4], ARGV[4])
  return 1
end
return 0)";

// KEYS: jobs, job. ARGV: entry, group, worker, id.
constexpr std::string_view kPutBack = R"(
local p = redis.call('XPENDING', KEYS[1], ARGV[2], ARGV[1], ARGV[1], 1)
if #p == 0 or p[1][2] ~= ARGV[3] then return 0 end
redis.call('XACK', KEYS[1], ARGV[2], ARGV[1])
redis.call('XDEL', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'state', 'waiting')
redis.call('XADD', KEYS[1], '*', 'id', ARGV[4])
return 1)";

// A job whose lease ran out, just claimed by the caller: whether it may be tried again. KEYS: jobs, job, answer, said, dead.
// ARGV: entry, group, most deaths, answer, seconds, id.
constexpr std::string_view kTakeOver = R"(
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('XACK', KEYS[1], ARGV[2], ARGV[1])
  redis.call('XDEL', KEYS[1], ARGV[1])
  return 0
end
if redis.call('HGET', KEYS[2], 'state') == 'judging' and redis.call('HINCRBY', KEYS[2], 'deaths', 1) >= tonumber(ARGV[3]) then
  redis.call('XACK', KEYS[1], ARGV[2], ARGV[1])
  redis.call('XDEL', KEYS[1], ARGV[1])
  redis.call('DEL', KEYS[2])
  redis.call('XADD', KEYS[5], '*', 'id', ARGV[6], 'reason', 'workers died while they judged it')
  if redis.call('SET', KEYS[3], ARGV[4], 'NX', 'EX', ARGV[5]) then
    redis.call('RPUSH', KEYS[4], '1')
    redis.call('EXPIRE', KEYS[4], ARGV[5])
  end
  return 0
end
redis.call('HSET', KEYS[2], 'state', 'claimed')
return 1)";

// KEYS: device. ARGV: name, facts.
constexpr std::string_view kRegister = R"(
local known = redis.call('HGET', KEYS[1], 'name')
if known and known ~= ARGV[1] then return known end
redis.call('HSET', KEYS[1], 'name', ARGV[1], 'facts', ARGV[2])
return '')";

std::string TextOf(const RedisReply& reply) { return reply.kind == RedisReply::Kind::kText ? reply.text : ""; }

// The value of `name` in what INFO or a stream's entry says.
std::string Field(const RedisReply& pairs, std::string_view name) {
  for (size_t i = 0; i + 1 < pairs.list.size(); i += 2) {
    if (pairs.list[i].text == name) return pairs.list[i + 1].text;
  }
  return "";
}

Status CheckMemoryPolicy(RedisConnection& connection) {
  HONE_ASSIGN_OR_RETURN(const RedisReply info, connection.Command({"INFO", "memory"}));
  const auto line = [&](std::string_view name) -> std::string {
    const size_t begin = info.text.find(std::string(name) + ":");
    if (begin == std::string::npos) return "";
    const size_t from = begin + name.size() + 1;
    return info.text.substr(from, info.text.find('\r', from) - from);
  };
  const std::string policy = line("maxmemory_policy"), most = line("maxmemory");
  if (policy.empty() || policy == "noeviction" || most == "0") return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("this Redis throws keys away when its memory is full (maxmemory-policy {}), and jobs with them: set "
                  "maxmemory-policy to noeviction", policy));
}

}  // namespace

JobQueue::JobQueue(std::unique_ptr<RedisConnection> connection, const RedisAddress& address, double lease_seconds)
    : connection_(std::move(connection)),
      // Braces: a cluster keeps all keys of a queue on one node, where a script may touch them.
      prefix_(fmt::format("hone:{{{}}}:", address.queue)),
      lease_milliseconds_(static_cast<int64_t>(lease_seconds * 1000)) {}

Result<std::unique_ptr<JobQueue>> JobQueue::Open(const RedisAddress& address, double lease_seconds) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RedisConnection> connection, ConnectRedis(address));
  HONE_RETURN_IF_ERROR(CheckMemoryPolicy(*connection));
  std::unique_ptr<JobQueue> queue(new JobQueue(std::move(connection), address, lease_seconds));
  HONE_RETURN_IF_ERROR(queue->MakeGroup());
  return queue;
}

Status JobQueue::MakeGroup() {
  const Result<RedisReply> made = connection_->Command({"XGROUP", "CREATE", Key("jobs"), kGroup, "0", "MKSTREAM"});
  if (made.ok() || made.status().message().find("BUSYGROUP") != std::string::npos) return Status::Ok();
  return made.status();
}

std::string JobQueue::Key(std::string_view what, std::string_view id) const {
  return id.empty() ? fmt::format("{}{}", prefix_, what) : fmt::format("{}{}:{}", prefix_, what, id);
}

Result<RedisReply> JobQueue::Run(std::string_view script, const std::vector<std::string>& keys,
                                 const std::vector<std::string>& arguments) {
  std::vector<std::string> words{"EVAL", std::string(script), std::to_string(keys.size())};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return connection_->Command(words);
}

Status JobQueue::Submit(const std::string& id, const std::string& bundle) {
  const Result<RedisReply> reply = Run(kSubmit, {Key("job", id), Key("answer", id), Key("jobs")}, {id, bundle});
  return reply.ok() ? Status::Ok() : reply.status();
}

Result<std::optional<std::string>> JobQueue::WaitForAnswer(const std::string& id, double seconds) {
  const double block = std::clamp(seconds, 0.01, kLongestBlock);
  // The element is pushed back: others may wait for the same answer, and a reply that is lost must not take it along.
  HONE_ASSIGN_OR_RETURN(const RedisReply said,
                        connection_->Command({"BRPOPLPUSH", Key("said", id), Key("said", id), fmt::format("{:.2f}", block)}, block + 10));
  if (said.kind != RedisReply::Kind::kText) return std::optional<std::string>();
  HONE_ASSIGN_OR_RETURN(const RedisReply answer, connection_->Command({"GET", Key("answer", id)}));
  if (answer.kind != RedisReply::Kind::kText) return std::optional<std::string>();
  return std::optional<std::string>(answer.text);
}

Result<bool> JobQueue::Knows(const std::string& id) {
  HONE_ASSIGN_OR_RETURN(const RedisReply count, connection_->Command({"EXISTS", Key("job", id), Key("answer", id)}));
  return count.integer > 0;
}

Result<std::optional<ClaimedJob>> JobQueue::Read(const RedisReply& entry) {
  // An entry of a stream: its id, then a list of names and values.
  if (entry.list.size() != 2) return std::optional<ClaimedJob>();
  ClaimedJob job{.id = Field(entry.list[1], "id"), .entry = entry.list[0].text, .bundle = ""};
  HONE_ASSIGN_OR_RETURN(const RedisReply bundle, connection_->Command({"HGET", Key("job", job.id), "bundle"}));
  if (bundle.kind != RedisReply::Kind::kText) {  // answered meanwhile by a worker whose lease had run out
    const Result<RedisReply> gone = connection_->Command({"XACK", Key("jobs"), kGroup, job.entry});
    if (!gone.ok()) return gone.status();
    return std::optional<ClaimedJob>();
  }
  job.bundle = bundle.text;
  return std::optional<ClaimedJob>(std::move(job));
}

Result<std::optional<ClaimedJob>> JobQueue::TakeOver(const std::string& worker) {
  HONE_ASSIGN_OR_RETURN(const RedisReply found,
                        connection_->Command({"XAUTOCLAIM", Key("jobs"), kGroup, worker, std::to_string(lease_milliseconds_), "0", "COUNT", "1"}));
  if (found.list.size() < 2 || found.list[1].list.empty() || found.list[1].list[0].list.size() != 2) return std::optional<ClaimedJob>();
  const RedisReply& entry = found.list[1].list[0];
  const std::string id = Field(entry.list[1], "id");
  const std::string answer = fmt::format(
      R"({{"protocol":1,"id":"{}","error":{{"code":3,"message":"{} workers died while they judged this candidate"}}}})", id, kMostDeaths);
  HONE_ASSIGN_OR_RETURN(const RedisReply again,
                        Run(kTakeOver, {Key("jobs"), Key("job", id), Key("answer", id), Key("said", id), Key("dead")},
                            {entry.list[0].text, kGroup, std::to_string(kMostDeaths), answer, std::to_string(kAnswerSeconds), id}));
  if (again.integer == 0) return std::optional<ClaimedJob>();
  return Read(entry);
}

Result<std::optional<ClaimedJob>> JobQueue::Claim(const std::string& worker, double seconds) {
  Result<std::optional<ClaimedJob>> job = TryClaim(worker, seconds);
  if (job.ok() || job.status().message().find("NOGROUP") == std::string::npos) return job;
  HONE_RETURN_IF_ERROR(MakeGroup());  // the server was emptied, or came back without its data
  return std::optional<ClaimedJob>();
}

Result<std::optional<ClaimedJob>> JobQueue::TryClaim(const std::string& worker, double seconds) {
  HONE_ASSIGN_OR_RETURN(std::optional<ClaimedJob> left, TakeOver(worker));
  if (left) return left;
  const double block = std::clamp(seconds, 0.01, kLongestBlock);
  HONE_ASSIGN_OR_RETURN(const RedisReply streams,
                        connection_->Command({"XREADGROUP", "GROUP", kGroup, worker, "COUNT", "1", "BLOCK",
                                              std::to_string(static_cast<int64_t>(block * 1000)), "STREAMS", Key("jobs"), ">"},
                                             block + 10));
  // A list of streams, each with its name and entries.
  if (streams.list.empty() || streams.list[0].list.size() != 2 || streams.list[0].list[1].list.empty()) return std::optional<ClaimedJob>();
  return Read(streams.list[0].list[1].list[0]);
}

Result<bool> JobQueue::Begin(const std::string& worker, const ClaimedJob& job) {
  HONE_ASSIGN_OR_RETURN(const RedisReply held,
                        Run(kHold, {Key("jobs"), Key("job", job.id)}, {job.entry, worker, kGroup, "judging"}));
  return held.integer == 1;
}

Result<bool> JobQueue::Renew(const std::string& worker, const ClaimedJob& job) {
  HONE_ASSIGN_OR_RETURN(const RedisReply held, Run(kHold, {Key("jobs"), Key("job", job.id)}, {job.entry, worker, kGroup, ""}));
  return held.integer == 1;
}

Status JobQueue::Finish(const ClaimedJob& job, const std::string& answer) {
  const Result<RedisReply> reply = Run(kFinish, {Key("jobs"), Key("job", job.id), Key("answer", job.id), Key("said", job.id)},
                                       {job.entry, kGroup, answer, std::to_string(kAnswerSeconds)});
  return reply.ok() ? Status::Ok() : reply.status();
}

Status JobQueue::PutBack(const std::string& worker, const ClaimedJob& job) {
  const Result<RedisReply> reply = Run(kPutBack, {Key("jobs"), Key("job", job.id)}, {job.entry, kGroup, worker, job.id});
  return reply.ok() ? Status::Ok() : reply.status();
}

Status JobQueue::Register(const std::string& device_name, const std::string& facts) {
  HONE_ASSIGN_OR_RETURN(const RedisReply other, Run(kRegister, {Key("device")}, {device_name, facts}));
  if (TextOf(other).empty()) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("this queue's workers judge on {}, and this machine has {}: kinds of GPU have queues of their own; choose another "
                  "queue's name", other.text, device_name));
}

Result<std::string> JobQueue::Facts() {
  HONE_ASSIGN_OR_RETURN(const RedisReply facts, connection_->Command({"HGET", Key("device"), "facts"}));
  return TextOf(facts);
}

Result<QueueCounts> JobQueue::Counts() {
  QueueCounts counts;
  HONE_ASSIGN_OR_RETURN(const RedisReply all, connection_->Command({"XLEN", Key("jobs")}));
  HONE_ASSIGN_OR_RETURN(const RedisReply pending, connection_->Command({"XPENDING", Key("jobs"), kGroup}));
  HONE_ASSIGN_OR_RETURN(const RedisReply dead, connection_->Command({"XLEN", Key("dead")}));
  counts.claimed = pending.list.empty() ? 0 : pending.list[0].integer;
  counts.waiting = all.integer - counts.claimed;
  counts.dead = dead.integer;
  return counts;
}

}  // namespace hone
