// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/precautions.h"

namespace hone {
namespace {

class ProcessBackend : public Backend {
 public:
  ProcessBackend(std::unique_ptr<DeviceSession> session, Compiler& compiler, const GateSwitches& gates)
      : session_(std::move(session)), compiler_(compiler), gates_(gates) {}
  const DeviceFacts& facts() const override { return session_->facts(); }
  Compiler& compiler() override { return compiler_; }
  Result<Compiler*> host_compiler() override { return Status::Unavailable("no host mode in this program"); }
  Result<Evaluation> Judge(const JudgeJob& job, const EvaluationProgress&) override {
    JudgeRequest request{.task = &job.task,
                         .candidate = &job.candidate,
                         .oracle = &job.oracle,
                         .reference = nullptr,
                         .incumbent = job.incumbent ? &*job.incumbent : nullptr,
                         .fallback = job.fallback ? &*job.fallback : nullptr,
                         .options = job.options,
                         .launch_limit_seconds = job.launch_limit_seconds,
                         .floors = &floors_,
                         .gates = gates_};
    return hone::Judge(*session_, request, {});
  }

 private:
  std::unique_ptr<DeviceSession> session_;
  Compiler& compiler_;
  const GateSwitches gates_;
  FloorCache floors_;
};

}  // namespace

const std::vector<Precautions>& TimedPrecautions() {
  static const std::vector<Precautions> timed = {
      {"all", [](JudgeSwitches&) {}},
      {"without tensors apart", [](JudgeSwitches& s) { s.gates.apart = s.gates.read_only_inputs = false; }},
      {"without scrubbing", [](JudgeSwitches& s) { s.session.scrub = false; }},
      {"without constants and surroundings",
       [](JudgeSwitches& s) { s.session.keep_constants = s.session.mark_surroundings = false; }},
      {"without changing fills", [](JudgeSwitches& s) { s.gates.changing_fills = false; }},
      {"without watching the end", [](JudgeSwitches& s) { s.gates.watch_ends = false; }},
      {"without secret addresses",
       [](JudgeSwitches& s) { s.session.secret_addresses = s.gates.apart = s.gates.read_only_inputs = false; }},
      {"without any of these",
       [](JudgeSwitches& s) {
         s.session.secret_addresses = s.session.keep_constants = s.session.mark_surroundings = s.session.scrub = false;
         s.gates.apart = s.gates.read_only_inputs = s.gates.changing_fills = false;
       }},
  };
  return timed;
}

const std::vector<Precautions>& AllPrecautions() {
  static const std::vector<Precautions> all = [] {
    std::vector<Precautions> list = TimedPrecautions();
    const std::vector<Precautions> others = {
        {"without special values", [](JudgeSwitches& s) { s.gates.special_values = false; }},
        {"without stress when timed", [](JudgeSwitches& s) { s.gates.stress_when_timed = false; }},
        {"without special values and stress when timed",
         [](JudgeSwitches& s) { s.gates.special_values = s.gates.stress_when_timed = false; }},
        {"without both alignments", [](JudgeSwitches& s) { s.gates.both_alignments = false; }},
        {"without both alignments and stress when timed",
         [](JudgeSwitches& s) { s.gates.both_alignments = s.gates.stress_when_timed = false; }},
        {"without c_rms when timed", [](JudgeSwitches& s) { s.gates.timed_rms = false; }},
        {"without first times", [](JudgeSwitches& s) { s.gates.rough_times = false; }},
        {"without bases of their own", [](JudgeSwitches& s) { s.gates.bases_of_their_own = false; }},
        {"without read-only inputs", [](JudgeSwitches& s) { s.gates.read_only_inputs = false; }},
        {"without scrubbing and changing fills",
         [](JudgeSwitches& s) { s.session.scrub = s.gates.changing_fills = false; }},
        {"without shares of blocks", [](JudgeSwitches& s) { s.gates.block_shares = false; }},
        {"without parts of long slices", [](JudgeSwitches& s) { s.gates.parts_when_modelled = false; }},
        {"without judging the text", [](JudgeSwitches& s) { s.guard_text = false; }},
    };
    list.insert(list.end(), others.begin(), others.end());
    return list;
  }();
  return all;
}

std::unique_ptr<Backend> MakeProcessBackend(std::unique_ptr<DeviceSession> session, Compiler& compiler,
                                            const GateSwitches& gates) {
  return std::make_unique<ProcessBackend>(std::move(session), compiler, gates);
}

}  // namespace hone
