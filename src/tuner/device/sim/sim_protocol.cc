// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes and decodes JSON. Decoding turns unexpected input into a Status.
#include "tuner/device/sim/sim_protocol.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/text/json_numbers.h"
#include "base/text/json_text.h"

namespace hone::sim {

using nlohmann::json;

namespace {

// Throws if `value` holds a number with a fraction or of more than 64 bits, which must not be converted to an integer.
// Returns the value.
const json& Integers(const json& value) {
  if (HoldsFloatFrom(value, 0)) throw std::invalid_argument("a number is no integer of 64 bits");
  return value;
}

}  // namespace

std::string EncodeArguments(const LaunchMessage& message) {
  std::string blob;
  for (const std::string& bytes : message.argument_bytes) blob += bytes;
  return blob;
}

// Encodes a launch for the child, and below decodes it. The arguments travel apart, as a blob of bytes.
std::string EncodeLaunch(const LaunchMessage& message) {
  const LaunchSpec& spec = message.spec;
  json j{{"op", "launch"},
         {"kernel", message.kernel_symbol},
         {"grid", spec.grid},
         {"block", spec.block},
         {"shared", spec.dynamic_shared},
         {"cooperative", spec.cooperative},
         {"in_order", spec.in_order},
         {"secret", spec.secret},
         {"before_wait", spec.before_wait},
         {"blocks", spec.blocks},
         {"access_budget", spec.access_budget},
         {"least_blocks", spec.least_blocks},
         {"access_limit", spec.access_limit},
         {"sm_count", spec.sm_count},
         {"l1_bytes", spec.l1_bytes},
         {"stack_bytes", spec.stack_bytes},
         {"local_bytes", spec.local_bytes},
         {"fill_key", spec.fill_key},
         {"displacement", spec.displacement},
         {"restore_globals", message.restore_globals}};
  j["ranges"] = json::array();
  for (const BoundRange& r : spec.ranges) j["ranges"].push_back({r.begin, r.end, r.writable, r.name, r.sparse, r.drawn, r.output});
  j["argument_sizes"] = json::array();
  for (const std::string& bytes : message.argument_bytes) j["argument_sizes"].push_back(bytes.size());
  return DumpJson(j);
}

Result<LaunchMessage> DecodeLaunch(const std::string& header, const std::string& blob) {
  HONE_ASSIGN_OR_RETURN(const json j, ParseJson(header, "a message of the simulated GPU"));
  try {
    (void)Integers(j);
    LaunchMessage message;
    message.kernel_symbol = j.at("kernel").get<std::string>();
    LaunchSpec& spec = message.spec;
    spec.grid = j.at("grid").get<std::array<uint32_t, 3>>();
    spec.block = j.at("block").get<std::array<uint32_t, 3>>();
    spec.dynamic_shared = j.at("shared").get<uint32_t>();
    spec.cooperative = j.at("cooperative").get<bool>();
    spec.in_order = j.at("in_order").get<bool>();
    spec.secret = j.at("secret").get<bool>();
    spec.before_wait = j.at("before_wait").get<bool>();
    spec.blocks = j.at("blocks").get<std::vector<uint64_t>>();
    spec.access_budget = j.at("access_budget").get<uint64_t>();
    spec.least_blocks = j.at("least_blocks").get<uint64_t>();
    spec.access_limit = j.at("access_limit").get<uint64_t>();
    spec.sm_count = j.at("sm_count").get<uint32_t>();
    spec.l1_bytes = j.at("l1_bytes").get<uint64_t>();
    spec.stack_bytes = j.at("stack_bytes").get<uint32_t>();
    spec.local_bytes = std::min(j.at("local_bytes").get<uint32_t>(), spec.stack_bytes / 2);
    spec.fill_key = j.at("fill_key").get<uint64_t>();
    spec.displacement = j.at("displacement").get<uint32_t>();
    message.restore_globals = j.at("restore_globals").get<bool>();
    for (const json& r : j.at("ranges")) {
      spec.ranges.push_back({r.at(0).get<uint64_t>(), r.at(1).get<uint64_t>(), r.at(2).get<bool>(),
                             r.at(3).get<std::string>(), r.at(4).get<bool>(), r.at(5).get<bool>(), r.at(6).get<bool>()});
    }
    size_t at = 0;
    for (const json& size : j.at("argument_sizes")) {
      const size_t bytes = size.get<size_t>();
      if (bytes > blob.size() - at) return Status::Internal("a launch message's arguments are cut short");
      message.argument_bytes.push_back(blob.substr(at, bytes));
      at += bytes;
    }
    return message;
  } catch (const std::exception& e) {
    return Status::Internal(std::string("a launch message is malformed: ") + e.what());
  }
}

Result<LoadAnswer> DecodeLoadAnswer(const std::string& header) {
  HONE_ASSIGN_OR_RETURN(const json j, ParseJson(header, "a message of the simulated GPU"));
  try {
    LoadAnswer answer;
    if (j.contains("signal")) {
      answer.refused = "a static initialiser crashed";
    } else if (!j.at("ok").get<bool>()) {
      answer.refused = j.value("error", "");
      if (answer.refused.empty()) answer.refused = "the image does not load";
    } else {
      answer.writable_bytes = Integers(j.at("writable_bytes")).get<int64_t>();
    }
    return answer;
  } catch (const std::exception& e) {
    return Status::Internal(std::string("the simulator's child gave a malformed answer: ") + e.what());
  }
}

// Encodes the child's answer to a launch, and below decodes it.
std::string EncodeAnswer(const LaunchAnswer& answer) {
  const LaunchReport& report = answer.report;
  json j{{"end", static_cast<int>(report.end)},
         {"detail", report.detail},
         {"globals_changed", answer.globals_changed},
         {"cpu_seconds", report.cpu_seconds},
         {"incomplete", report.incomplete},
         {"first_writes", report.first_writes},
         {"signal", answer.signal},
         {"signal_pc", answer.signal_pc},
         {"error", answer.error}};
  j["findings"] = json::array();
  for (const RawFinding& f : report.findings) {
    j["findings"].push_back({f.kind, f.message, f.pcs, f.only_if_lines_differ});
  }
  for (const LaunchCounters::Sum& sum : LaunchCounters::kSums) j["counters"][sum.name] = report.counters.*sum.field;
  j["range_read"] = report.counters.range_read;
  j["range_written"] = report.counters.range_written;
  j["sites"] = json::array();
  for (const SiteReport& s : report.sites) {
    j["sites"].push_back({s.pc, s.shared, s.writes, s.atomic, s.bytes, s.accesses, s.groups, s.sectors, s.cycles,
                          s.ideal_cycles});
  }
  return DumpJson(j);
}

Result<LaunchAnswer> DecodeAnswer(const std::string& header) {
  HONE_ASSIGN_OR_RETURN(const json j, ParseJson(header, "a message of the simulated GPU"));
  try {
    LaunchAnswer answer;
    LaunchReport& report = answer.report;
    const int end = Integers(j.at("end")).get<int>();
    if (end < 0 || end > static_cast<int>(LaunchEnd::kWaiting)) return Status::Internal("a launch ended in no known way");
    report.end = static_cast<LaunchEnd>(end);
    report.incomplete = j.at("incomplete").get<bool>();
    report.first_writes = Integers(j.at("first_writes")).get<std::vector<std::pair<uint64_t, uint64_t>>>();
    report.detail = j.at("detail").get<std::string>();
    answer.globals_changed = j.at("globals_changed").get<bool>();
    report.cpu_seconds = j.at("cpu_seconds").get<double>();
    answer.signal = Integers(j.at("signal")).get<int>();
    answer.signal_pc = Integers(j.at("signal_pc")).get<uint64_t>();
    answer.error = j.at("error").get<std::string>();
    for (const json& f : j.at("findings")) {
      report.findings.push_back({f.at(0).get<std::string>(), f.at(1).get<std::string>(),
                                 Integers(f.at(2)).get<std::vector<uint64_t>>(), f.at(3).get<bool>()});
    }
    for (const LaunchCounters::Sum& sum : LaunchCounters::kSums) {
      report.counters.*sum.field = j.at("counters").at(sum.name).get<double>();
    }
    report.counters.range_read = j.at("range_read").get<std::vector<double>>();
    report.counters.range_written = j.at("range_written").get<std::vector<double>>();
    for (const json& s : j.at("sites")) {
      report.sites.push_back({Integers(s.at(0)).get<uint64_t>(), s.at(1).get<bool>(), s.at(2).get<bool>(),
                              s.at(3).get<bool>(), Integers(s.at(4)).get<int>(), s.at(5).get<double>(),
                              s.at(6).get<double>(), s.at(7).get<double>(), s.at(8).get<double>(),
                              s.at(9).get<double>()});
    }
    return answer;
  } catch (const std::exception& e) {
    return Status::Internal(std::string("the simulator's child gave a malformed answer: ") + e.what());
  }
}

}  // namespace hone::sim
