// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/job_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/clock.h"

namespace hone {
namespace {

constexpr const char* kGroup = "workers";
constexpr double kLongestBlock = 5;   // seconds for which one command may wait at the server
constexpr int kMostWatched = 100;     // most claimed jobs that one look for a jump of the server's clock considers
constexpr double kOtherStreamSeconds = 0.1;  // seconds for which a judge waits at one stream before it checks the other

// The next two scripts begin with this text. known() returns whether a job is answered, or has an entry in one of the
// two streams. Entries of two streams may have the same ID, so the job's ID is compared. ARGV: job, answer, state,
// jobs, sieved, id.
constexpr std::string_view kKnown = R"(
local function known()
  if redis.call('EXISTS', ARGV[2]) == 1 then return true end
  local entry = redis.call('HGET', ARGV[3], 'entry')
  if redis.call('EXISTS', ARGV[1]) == 0 or not entry then return false end
  for i = 4, 5 do
    local found = redis.call('XRANGE', ARGV[i], entry, entry)
    if #found > 0 and found[1][2][2] == ARGV[6] then return true end
  end
  return false
end
)";

constexpr std::string_view kKnows = "if known() then return 1 end return 0";

// Submits a job. ARGV: as for known(), then bundle, seconds.
constexpr std::string_view kSubmit = R"(
if known() then return 0 end
redis.call('SET', ARGV[1], ARGV[7], 'EX', ARGV[8])
redis.call('UNLINK', ARGV[3])
local entry = redis.call('XADD', ARGV[4], '*', 'id', ARGV[6])
redis.call('HSET', ARGV[3], 'state', 'waiting', 'deaths', '0', 'entry', entry)
redis.call('EXPIRE', ARGV[3], ARGV[8])
return 1)";

// Returns the answer, and deletes the bundle if there is an answer. The answer stays for others who submitted the same
// ID. ARGV: answer, job, state.
constexpr std::string_view kCollect = R"(
local answer = redis.call('GET', ARGV[1])
if answer then redis.call('UNLINK', ARGV[2], ARGV[3]) end
return answer)";

// Renews the lease if the entry is still this worker's. ARGV: jobs, entry, worker, group.
constexpr std::string_view kRenew = R"(
local p = redis.call('XPENDING', ARGV[1], ARGV[4], ARGV[2], ARGV[2], 1)
if #p == 0 or p[1][2] ~= ARGV[3] then return 0 end
redis.call('XCLAIM', ARGV[1], ARGV[4], ARGV[3], 0, ARGV[2], 'JUSTID')
return 1)";

// Answers a job, unless it is answered already. ARGV: jobs, state, answer, said, counts, entry, group, text, seconds.
constexpr std::string_view kFinish = R"(
redis.call('XACK', ARGV[1], ARGV[7], ARGV[6])
redis.call('XDEL', ARGV[1], ARGV[6])
redis.call('DEL', ARGV[2])
if redis.call('SET', ARGV[3], ARGV[8], 'NX', 'EX', ARGV[9]) then
  redis.call('RPUSH', ARGV[4], '1')
  redis.call('EXPIRE', ARGV[4], ARGV[9])
  redis.call('HINCRBY', ARGV[5], 'answered', 1)
  return 1
end
return 0)";

// Moves a job that the worker holds to the end of its stream. ARGV: jobs, state, counts, entry, group, worker, id.
constexpr std::string_view kPutBack = R"(
local p = redis.call('XPENDING', ARGV[1], ARGV[5], ARGV[4], ARGV[4], 1)
if #p == 0 or p[1][2] ~= ARGV[6] then return 0 end
redis.call('XACK', ARGV[1], ARGV[5], ARGV[4])
redis.call('XDEL', ARGV[1], ARGV[4])
local entry = redis.call('XADD', ARGV[1], '*', 'id', ARGV[7])
redis.call('HSET', ARGV[2], 'state', 'waiting', 'entry', entry)
redis.call('HINCRBY', ARGV[3], 'put_back', 1)
return 1)";

// Moves a job that the sieve holds to the sieved jobs. ARGV: jobs, sieved, state, counts, entry, group, worker, id,
// simulated.
constexpr std::string_view kPassOn = R"(
local p = redis.call('XPENDING', ARGV[1], ARGV[6], ARGV[5], ARGV[5], 1)
if #p == 0 or p[1][2] ~= ARGV[7] then return 0 end
redis.call('XACK', ARGV[1], ARGV[6], ARGV[5])
redis.call('XDEL', ARGV[1], ARGV[5])
local entry = redis.call('XADD', ARGV[2], '*', 'id', ARGV[8])
redis.call('HSET', ARGV[3], 'state', 'waiting', 'deaths', '0', 'entry', entry, 'simulated', ARGV[9])
redis.call('HINCRBY', ARGV[4], 'sieved', 1)
return 1)";

// Claims a job from `owner`, whose lease seems to begin in the future of the server's clock. ARGV: jobs, entry, worker,
// group, owner.
constexpr std::string_view kSeize = R"(
local p = redis.call('XPENDING', ARGV[1], ARGV[4], ARGV[2], ARGV[2], 1)
if #p == 0 or p[1][2] ~= ARGV[5] or p[1][3] ~= 0 then return {} end
return redis.call('XCLAIM', ARGV[1], ARGV[4], ARGV[3], 0, ARGV[2]))";

// The three scripts below, which hand a job to a worker, begin with this text. Each is one round trip, and one write to
// disk if the server syncs every write. The reply is {stream, entry, id, bundle, simulated}, or empty. ARGV: group,
// worker, most deaths, seconds, prefix.
constexpr std::string_view kHandOut = R"(
local group, worker, most, seconds, prefix = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local function key(what, id) return prefix .. what .. ':' .. id end
local function id_of(entry)
  local fields = entry[2] or {}
  for i = 1, #fields, 2 do if fields[i] == 'id' then return fields[i + 1] end end
  return ''
end
local function drop(stream, entry, id)
  redis.call('XACK', stream, group, entry[1])
  redis.call('XDEL', stream, entry[1])
  redis.call('DEL', key('state', id))
end
-- The claimed job; nil for one that a worker with an expired lease has answered meanwhile, and for an entry without a job.
local function hand(stream, entry, id)
  local bundle = redis.call('GET', key('job', id))
  if not bundle or redis.call('EXISTS', key('answer', id)) == 1 then
    drop(stream, entry, id)
    return nil
  end
  redis.call('HSET', key('state', id), 'state', 'judging')
  return {stream, entry[1], id, bundle, redis.call('HGET', key('state', id), 'simulated') or ''}
end
-- The same for a job whose lease ran out. Too many deaths in a judgement answer it with an error.
local function take_over(stream, entry)
  local id = id_of(entry)
  if redis.call('EXISTS', key('job', id)) == 1 and redis.call('EXISTS', key('answer', id)) == 0 and
     redis.call('HGET', key('state', id), 'state') == 'judging' then
    redis.call('HINCRBY', prefix .. 'counts', 'died', 1)
    if redis.call('HINCRBY', key('state', id), 'deaths', 1) >= most then
      redis.call('XADD', prefix .. 'dead', '*', 'id', id, 'reason', 'workers died while they judged it')
      local message = most .. ' workers died while they judged this candidate'
      local answer = cjson.encode({protocol = 1, id = id, error = {code = 3, message = message}})
      if redis.call('SET', key('answer', id), answer, 'NX', 'EX', seconds) then
        redis.call('RPUSH', key('said', id), '1')
        redis.call('EXPIRE', key('said', id), seconds)
      end
    end
  end
  return hand(stream, entry, id)
end
)";

// Hands out a job whose lease has run out, or else one that nobody has claimed. Further ARGV: lease in milliseconds,
// and the streams in the order in which they are tried.
constexpr std::string_view kTakeNow = R"(
for i = 7, #ARGV do
  local found = redis.call('XAUTOCLAIM', ARGV[i], group, worker, ARGV[6], '0', 'COUNT', '1')
  local job = found[2] and found[2][1] and take_over(ARGV[i], found[2][1])
  if job then return job end
end
for i = 7, #ARGV do
  for _ = 1, 100 do
    local found = redis.call('XREADGROUP', 'GROUP', group, worker, 'COUNT', '1', 'STREAMS', ARGV[i], '>')
    local entry = found and found[1] and found[1][2][1]
    if not entry then break end
    local job = hand(ARGV[i], entry, id_of(entry))
    if job then return job end
  end
end
return {})";

// These two hand out the job of an entry that the server has just assigned to this worker. Further ARGV: stream, entry,
// id.
constexpr std::string_view kTakeThis = "return hand(ARGV[6], {ARGV[7]}, ARGV[8]) or {}";
constexpr std::string_view kTakeOverThis = "return take_over(ARGV[6], {ARGV[7], {'id', ARGV[8]}}) or {}";

// Registers the queue's device, or returns the name of another one that is registered. ARGV: device, name, facts.
constexpr std::string_view kRegister = R"(
local known = redis.call('HGET', ARGV[1], 'name')
if known and known ~= ARGV[2] then return known end
redis.call('HSET', ARGV[1], 'name', ARGV[2], 'facts', ARGV[3])
return '')";

// Stores a worker's report with the server's time, so that machines' clocks need not agree. ARGV: workers, worker,
// report.
constexpr std::string_view kSay = R"(
redis.call('HSET', ARGV[1], ARGV[2], redis.call('TIME')[1] .. ' ' .. ARGV[3])
return 1)";

constexpr double kForgottenSeconds = 24 * 3600;  // silence after which a worker is removed from the list

std::string TextOf(const RedisReply& reply) { return reply.kind == RedisReply::Kind::kText ? reply.text : ""; }

// Returns the value of `name` in a reply of INFO or in a stream's entry.
std::string FieldOfPairs(const RedisReply& pairs, std::string_view name) {
  for (size_t i = 0; i + 1 < pairs.list.size(); i += 2) {
    if (pairs.list[i].text == name) return pairs.list[i + 1].text;
  }
  return "";
}

// Refuses a server that may throw keys away when its memory is full, for it could lose jobs.
Status CheckMemoryPolicy(RedisConnection& connection) {
  HONE_ASSIGN_OR_RETURN(const RedisReply memory_reply, connection.Command({"INFO", "memory"}));
  const auto line = [&](std::string_view name) -> std::string {
    const size_t begin = memory_reply.text.find(std::string(name) + ":");
    if (begin == std::string::npos) return "";
    const size_t from = begin + name.size() + 1;
    return memory_reply.text.substr(from, memory_reply.text.find('\r', from) - from);
  };
  const std::string policy = line("maxmemory_policy"), most = line("maxmemory");
  if (policy.empty() || policy == "noeviction" || most == "0") return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("this Redis throws keys away when its memory is full (maxmemory-policy {}), and jobs with them: set "
                  "maxmemory-policy to noeviction",
                  policy));
}

}  // namespace

// Braces make a cluster keep all keys of a queue on one node, as scripts require.
std::string QueueKeyPrefix(const std::string& queue) { return fmt::format("hone:{{{}}}:", queue); }

JobQueue::JobQueue(std::unique_ptr<RedisConnection> connection, const RedisAddress& address, double lease_seconds)
    : connection_(std::move(connection)),
      prefix_(QueueKeyPrefix(address.queue)),
      lease_milliseconds_(static_cast<int64_t>(lease_seconds * 1000)) {}

Result<std::unique_ptr<JobQueue>> JobQueue::Open(const RedisAddress& address, double lease_seconds) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RedisConnection> connection, ConnectRedis(address));
  HONE_RETURN_IF_ERROR(CheckMemoryPolicy(*connection));
  return std::unique_ptr<JobQueue>(new JobQueue(std::move(connection), address, lease_seconds));
}

Status JobQueue::MakeGroups() {
  for (const bool sieved : {false, true}) {
    const Result<RedisReply> group_reply =
        connection_->Command({"XGROUP", "CREATE", StreamKey(sieved), kGroup, "0", "MKSTREAM"});
    if (!group_reply.ok() && group_reply.status().message().find("BUSYGROUP") == std::string::npos)
      return group_reply.status();
  }
  return Status::Ok();
}

std::string JobQueue::Key(std::string_view what, std::string_view id) const {
  return id.empty() ? fmt::format("{}{}", prefix_, what) : fmt::format("{}{}:{}", prefix_, what, id);
}

Result<RedisReply> JobQueue::RunScript(std::string_view script, const std::vector<std::string>& arguments) {
  std::vector<std::string> command{"EVAL", std::string(script), "0"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return connection_->Command(command);
}

Status JobQueue::Submit(const std::string& id, const std::string& bundle) {
  return RunScript(fmt::format("{}{}", kKnown, kSubmit),
                   {Key("job", id), Key("answer", id), Key("state", id), StreamKey(/*sieved=*/false),
                    StreamKey(/*sieved=*/true), id, bundle, std::to_string(kAnswerSeconds)})
      .status();
}

Result<std::optional<std::string>> JobQueue::WaitForAnswer(const std::string& id, double seconds) {
  const double block = std::clamp(seconds, 0.01, kLongestBlock);
  // Pushes the element back: others may wait for the same answer, and a lost reply must not remove it.
  const Result<RedisReply> reply =
      connection_->Command({"BRPOPLPUSH", Key("said", id), Key("said", id), fmt::format("{:.2f}", block)}, block + 10);
  // A server whose memory is full refuses this command, because it writes. Go on, because the server still gives
  // answers, and each submitter that gets its answer makes room.
  if (!reply.ok() && !IsMemoryFull(reply.status().message())) return reply.status();
  if (reply.ok() && reply->kind != RedisReply::Kind::kText) return std::optional<std::string>();
  HONE_ASSIGN_OR_RETURN(const RedisReply answer,
                        RunScript(kCollect, {Key("answer", id), Key("job", id), Key("state", id)}));
  if (answer.kind == RedisReply::Kind::kText) return std::optional<std::string>(answer.text);
  if (!reply.ok()) return reply.status();
  return std::optional<std::string>();
}

Result<bool> JobQueue::Knows(const std::string& id) {
  HONE_ASSIGN_OR_RETURN(
      const RedisReply knows_reply,
      RunScript(fmt::format("{}{}", kKnown, kKnows), {Key("job", id), Key("answer", id), Key("state", id),
                                                      StreamKey(/*sieved=*/false), StreamKey(/*sieved=*/true), id}));
  return knows_reply.integer == 1;
}

Result<std::optional<ClaimedJob>> JobQueue::HandOut(std::string_view script, const std::string& worker,
                                                    const std::vector<std::string>& script_arguments) {
  std::vector<std::string> arguments = {kGroup, worker, std::to_string(kMostDeaths), std::to_string(kAnswerSeconds),
                                        prefix_};
  arguments.insert(arguments.end(), script_arguments.begin(), script_arguments.end());
  HONE_ASSIGN_OR_RETURN(const RedisReply reply, RunScript(fmt::format("{}{}", kHandOut, script), arguments));
  if (reply.list.size() != 5) return std::optional<ClaimedJob>();
  return std::optional<ClaimedJob>(ClaimedJob{.id = reply.list[2].text,
                                              .entry = reply.list[1].text,
                                              .bundle = reply.list[3].text,
                                              .sieved = reply.list[0].text == StreamKey(/*sieved=*/true),
                                              .simulated = reply.list[4].text});
}

Result<RedisReply> JobQueue::SeizeAfterAClockJump(const std::string& worker, bool sieved) {
  Watch& watch = watches_[sieved ? 1 : 0];
  const double now = SteadySeconds(), lease = static_cast<double>(lease_milliseconds_) / 1000;
  if (now - watch.looked < lease / 5) return RedisReply();
  watch.looked = now;
  HONE_ASSIGN_OR_RETURN(const RedisReply held, connection_->Command({"XPENDING", StreamKey(sieved), kGroup, "-", "+",
                                                                     std::to_string(kMostWatched)}));
  std::map<std::string, Watch::Held> still;
  RedisReply seized;
  for (const RedisReply& reply : held.list) {
    // An entry's id, its owner, the milliseconds since it was claimed or renewed, and how often it was delivered. For a
    // time in the server's future Redis says 0.
    if (reply.list.size() < 3 || reply.list[2].integer != 0) continue;
    const std::string &entry = reply.list[0].text, &owner = reply.list[1].text;
    const auto held_before = watch.held.find(entry);
    const double since =
        held_before != watch.held.end() && held_before->second.owner == owner ? held_before->second.since : now;
    if (now - since > lease && seized.list.empty()) {
      HONE_ASSIGN_OR_RETURN(const RedisReply seized_job,
                            RunScript(kSeize, {StreamKey(sieved), entry, worker, kGroup, owner}));
      if (!seized_job.list.empty()) seized = seized_job.list[0];
      continue;
    }
    still[entry] = {.owner = owner, .since = since};
  }
  watch.held = std::move(still);
  return seized;
}

Result<std::optional<ClaimedJob>> JobQueue::Claim(const std::string& worker, double seconds, bool as_sieve) {
  Result<std::optional<ClaimedJob>> job = TryClaim(worker, seconds, as_sieve);
  if (job.ok() || job.status().message().find("NOGROUP") == std::string::npos) return job;
  HONE_RETURN_IF_ERROR(MakeGroups());  // the server was emptied, or came back without its data
  return std::optional<ClaimedJob>();
}

Result<std::optional<ClaimedJob>> JobQueue::TryClaim(const std::string& worker, double seconds, bool as_sieve) {
  const double until = SteadySeconds() + std::clamp(seconds, 0.01, kLongestBlock);
  std::vector<std::string> take_now_arguments = {std::to_string(lease_milliseconds_)};
  for (const bool sieved : {true, false}) {
    if (sieved && as_sieve) continue;
    take_now_arguments.push_back(StreamKey(sieved));
    HONE_ASSIGN_OR_RETURN(const RedisReply seized, SeizeAfterAClockJump(worker, sieved));
    if (seized.list.size() != 2) continue;
    HONE_ASSIGN_OR_RETURN(
        const std::optional<ClaimedJob> job,
        HandOut(kTakeOverThis, worker, {StreamKey(sieved), seized.list[0].text, FieldOfPairs(seized.list[1], "id")}));
    if (job) return job;
  }
  while (true) {
    HONE_ASSIGN_OR_RETURN(std::optional<ClaimedJob> waiting_job, HandOut(kTakeNow, worker, take_now_arguments));
    const double seconds_left = until - SteadySeconds();
    if (waiting_job || seconds_left <= 0) return waiting_job;
    // A command can wait at one stream only, so a judge checks the other one at intervals. A new job wakes one of the
    // clients that wait.
    const double block = std::max(as_sieve ? seconds_left : std::min(seconds_left, kOtherStreamSeconds), 0.01);
    HONE_ASSIGN_OR_RETURN(const RedisReply streams,
                          connection_->Command({"XREADGROUP", "GROUP", kGroup, worker, "COUNT", "1", "BLOCK",
                                                std::to_string(static_cast<int64_t>(block * 1000)), "STREAMS",
                                                StreamKey(/*sieved=*/false), ">"},
                                               block + 10));
    // The reply is a list of streams, each with its name and entries; an entry is its id and a list of names and
    // values.
    if (streams.list.empty() || streams.list[0].list.size() != 2 || streams.list[0].list[1].list.empty()) continue;
    const RedisReply& entry = streams.list[0].list[1].list[0];
    if (entry.list.size() != 2) continue;
    HONE_ASSIGN_OR_RETURN(std::optional<ClaimedJob> came, HandOut(kTakeThis, worker,
                                                                  {StreamKey(/*sieved=*/false), entry.list[0].text,
                                                                   FieldOfPairs(entry.list[1], "id")}));
    if (came) return came;
  }
}

Result<bool> JobQueue::Renew(const std::string& worker, const ClaimedJob& job) {
  HONE_ASSIGN_OR_RETURN(const RedisReply held, RunScript(kRenew, {StreamKey(job.sieved), job.entry, worker, kGroup}));
  return held.integer == 1;
}

Status JobQueue::Finish(const ClaimedJob& job, const std::string& answer) {
  return RunScript(kFinish, {StreamKey(job.sieved), Key("state", job.id), Key("answer", job.id), Key("said", job.id),
                             Key("counts"), job.entry, kGroup, answer, std::to_string(kAnswerSeconds)})
      .status();
}

Status JobQueue::PutBack(const std::string& worker, const ClaimedJob& job) {
  return RunScript(kPutBack,
                   {StreamKey(job.sieved), Key("state", job.id), Key("counts"), job.entry, kGroup, worker, job.id})
      .status();
}

Status JobQueue::Register(const std::string& device_name, const std::string& facts) {
  HONE_ASSIGN_OR_RETURN(const RedisReply other, RunScript(kRegister, {Key("device"), device_name, facts}));
  if (TextOf(other).empty()) return Status::Ok();
  return Status::InvalidArgument(
      fmt::format("this queue's workers judge on {}, and this machine has {}: kinds of GPU have queues of their own; "
                  "choose another "
                  "queue's name",
                  other.text, device_name));
}

Result<std::string> JobQueue::Facts() {
  HONE_ASSIGN_OR_RETURN(const RedisReply facts, connection_->Command({"HGET", Key("device"), "facts"}));
  return TextOf(facts);
}

Status JobQueue::PassOn(const std::string& worker, const ClaimedJob& job, const std::string& simulated) {
  return RunScript(kPassOn, {StreamKey(/*sieved=*/false), StreamKey(/*sieved=*/true), Key("state", job.id),
                             Key("counts"), job.entry, kGroup, worker, job.id, simulated})
      .status();
}

// Returns the numbers of jobs that wait and that workers have claimed.
Result<std::pair<int64_t, int64_t>> JobQueue::WaitingAndClaimed(bool sieved) {
  HONE_ASSIGN_OR_RETURN(const RedisReply length_reply, connection_->Command({"XLEN", StreamKey(sieved)}));
  const Result<RedisReply> pending = connection_->Command({"XPENDING", StreamKey(sieved), kGroup});
  // No worker has registered yet, so there is no group.
  if (!pending.ok() && pending.status().message().find("NOGROUP") == std::string::npos) return pending.status();
  const int64_t claimed = !pending.ok() || pending->list.empty() ? 0 : pending->list[0].integer;
  return std::pair(length_reply.integer - claimed, claimed);
}

Result<int64_t> JobQueue::WaitingSieved() {
  HONE_ASSIGN_OR_RETURN(const auto counted, WaitingAndClaimed(/*sieved=*/true));
  return counted.first;
}

Result<QueueCounts> JobQueue::Counts() {
  QueueCounts counts;
  HONE_ASSIGN_OR_RETURN(const auto submitted, WaitingAndClaimed(/*sieved=*/false));
  HONE_ASSIGN_OR_RETURN(const auto sieved, WaitingAndClaimed(/*sieved=*/true));
  HONE_ASSIGN_OR_RETURN(const RedisReply dead, connection_->Command({"XLEN", Key("dead")}));
  HONE_ASSIGN_OR_RETURN(const RedisReply since, connection_->Command({"HGETALL", Key("counts")}));
  counts.waiting = submitted.first + sieved.first;
  counts.waiting_sieved = sieved.first;
  counts.claimed = submitted.second + sieved.second;
  counts.dead = dead.integer;
  const auto counted = [&](std::string_view name) {
    return std::strtoll(FieldOfPairs(since, name).c_str(), nullptr, 10);
  };
  counts.answered = counted("answered");
  counts.put_back = counted("put_back");
  counts.died = counted("died");
  counts.passed_on = counted("sieved");
  return counts;
}

Status JobQueue::StoreReport(const std::string& worker, const std::string& report) {
  if (report.empty()) return connection_->Command({"HDEL", Key("workers"), worker}).status();
  return RunScript(kSay, {Key("workers"), worker, report}).status();
}

Result<std::vector<ReportedWorker>> JobQueue::Workers() {
  HONE_ASSIGN_OR_RETURN(const RedisReply time_reply, connection_->Command({"TIME"}));
  HONE_ASSIGN_OR_RETURN(const RedisReply workers_reply, connection_->Command({"HGETALL", Key("workers")}));
  std::vector<ReportedWorker> workers;
  for (size_t i = 0; i + 1 < workers_reply.list.size() && !time_reply.list.empty(); i += 2) {
    const std::string& text = workers_reply.list[i + 1].text;
    const size_t space = text.find(' ');
    if (space == std::string::npos) continue;
    ReportedWorker worker_report{
        workers_reply.list[i].text,
        std::strtod(time_reply.list[0].text.c_str(), nullptr) - std::strtod(text.c_str(), nullptr),
        text.substr(space + 1)};
    if (worker_report.seconds_ago > kForgottenSeconds) {
      (void)connection_->Command({"HDEL", Key("workers"), worker_report.worker});
      continue;
    }
    workers.push_back(std::move(worker_report));
  }
  std::sort(workers.begin(), workers.end(),
            [](const ReportedWorker& a, const ReportedWorker& b) { return a.worker < b.worker; });
  return workers;
}

}  // namespace hone
