// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/lint/lint_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <map>
#include <numeric>
#include <optional>

#include "base/clock.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/task/packed_numbers.h"
#include "tuner/core/task/property.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/device/host_tensor_ops.h"
#include "tuner/evaluate/compile/compile_candidate.h"
#include "tuner/evaluate/correctness/mismatch_text.h"
#include "tuner/evaluate/judge/stress_choices.h"
#include "tuner/evaluate/lint/oracle_bench.h"
#include "tuner/evaluate/lint/precision_variants.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

// Hand-worked values are given to about twelve digits; inputs and scalars may have been rounded to their dtype.
constexpr double kHandTolerance = 1e-7;
// An exact kernel's error of 0 has no geometric midpoint with another, so this share of half an ulp replaces it.
constexpr double kExactShare = 0.25;
// A tolerance must be at least this many times the error of honest kernels, because an honest kernel that sums in
// another order has an error that differs by some ten per cent.
constexpr double kLeastRoom = 1.25;
// The proposed c_small is kSmallRoom times the worst error of honest kernels. None is proposed if that reaches
// kMostSmall, which would hardly be a bound.
constexpr double kSmallRoom = 4, kMostSmall = 0.25;
// On a real device, the floor is compared with the fastest of this many samples of the seed, which is enough to see a
// wrong floor.
constexpr int kFloorSamples = 5;
// For outputs of one element: number of other input samples for which the answer to one sample is tried and must fail.
constexpr int kFreshSamples = 4;
// In a slice of up to this many elements, all elements may cancel by chance.
constexpr int64_t kFewElements = 8;
// Errors above this share of the output's root mean square are no rounding errors, and no `abs` is proposed for them.
constexpr double kMostCancelled = 1e-3;
// A dimension of a check case counts as small up to this size: a task that is checked with 2 and not with 1 gets no
// warning.
constexpr int64_t kSmallSize = 2;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A Variant is a precision variant of the oracle that is being tried.
struct Variant {
  const PrecisionVariant* precision = nullptr;
  BenchProgram program;
  bool fails = false;  // a PyTorch module does not run in this precision
};

// Returns the precisions in which a PyTorch module can be evaluated; the names are HostReference's.
const std::vector<PrecisionVariant>& HostPrecisions() {
  static const std::vector<PrecisionVariant> kPrecisions = {
      {"float32", PrecisionPart::kAll, kFloat32Format},
      {"tf32", PrecisionPart::kInputs, kTf32Format},
      {"float16", PrecisionPart::kAll, kFloat16Format},
      {"bfloat16", PrecisionPart::kAll, kBFloat16Format},
  };
  return kPrecisions;
}

class Linter {
 public:
  Linter(const Task& task, DeviceSession& session, Compiler& compiler, const LintOptions& options)
      : task_(task), session_(session), compiler_(compiler), options_(options), secrets_(options.seed) {}

  Result<TaskReport> Run();

 private:
  uint64_t Secret() { return secrets_.Next(); }
  // Returns whether the oracle has one right answer for this tensor; otherwise properties judge it.
  bool HasAnswer(const TensorSpec& tensor) const { return IsOutput(tensor) && task_.tolerance.contains(tensor.name); }
  void AddProblem(std::string text) {
    if (std::find(report_.problems.begin(), report_.problems.end(), text) == report_.problems.end()) {
      report_.problems.push_back(std::move(text));
    }
  }
  void Warn(std::string text) { report_.warnings.push_back(std::move(text)); }
  void AddIndistinct(const std::string& text) {
    report_.indistinct.push_back(text);
    Warn(text);
  }

  // Moves the value of `result` into `value` and returns true. If the task is at fault, adds a problem that says so and
  // returns false. A Status means that the environment is at fault.
  template <typename T>
  Result<bool> Take(Result<T> result, const std::string& source, T* value) {
    if (result.ok()) {
      *value = std::move(result).value();
      return true;
    }
    if (result.status().code() != StatusCode::kInvalidArgument) return result.status();
    AddProblem(source + " " + result.status().message());
    return false;
  }

  Result<bool> Load(const std::string& source, const std::string& name, bool is_oracle, BenchProgram* program);
  void CheckForm();
  Status CheckHandCases();
  // Returns whether the options let the oracle be run in this precision.
  bool IsTried(const PrecisionVariant& variant) const {
    return options_.dishonest || variant.format.mantissa_bits >= kFloat32Format.mantissa_bits;
  }
  Status CheckCase(const Case& one, bool is_largest, const std::vector<StressChoice>& choices, bool precision);
  Status CheckInputs(OracleBench& bench, const InputSet& inputs, const HostValues& reference);
  Status CheckTrivialAnswers(OracleBench& bench, const HostValues& reference);
  Status CheckConstantAnswers(OracleBench& bench, const InputSet& inputs, const HostValues& reference);
  void NoteNan(const std::string& output, int64_t element, const std::string& where);
  Status CheckExamples();
  Status SetOutputsToZero(OracleBench& bench);
  // Returns a description of the first property that the outputs on the bench break; empty where they break none.
  Result<std::string> BrokenProperty(OracleBench& bench);
  Status CheckPropertiesOfWrongAnswers(OracleBench& bench, const InputSet& inputs);
  Status CheckSeed(OracleBench& bench, const HostValues& reference, const std::string& where,
                   const StressChoice& choice);
  void Record(const TensorSpec& output, const std::string& variant, PrecisionJudgement judgement,
              const Comparison& comparison, bool is_default, bool changed);
  void CheckTraffic();
  void CheckSmallSizes();
  void CheckScatters();
  Status CheckFloor();
  void RecordCancelling(const TensorSpec& output, const std::vector<double>& values,
                        const std::vector<double>& reference);
  void ConcludeCancelling();
  void ConcludeHonest(OutputPrecision& output);
  void ConcludePrecision();

  const Task& task_;
  DeviceSession& session_;
  Compiler& compiler_;
  const LintOptions& options_;
  SecretNumbers secrets_;
  const std::vector<Property> properties_ = PropertiesOf(task_);

  std::list<CompiledProgram> compiled_;  // declared before the programs loaded from them, which they must outlive
  BenchProgram oracle_, seed_;
  std::vector<Variant> variants_;
  std::map<std::string, CancellingOutput> cancelling_;  // keyed by output: its worst cancelled element so far
  TaskReport report_;
};

// Parses, compiles and loads a program. Returns false if the task is at fault, which is then noted.
Result<bool> Linter::Load(const std::string& source, const std::string& name, bool is_oracle, BenchProgram* program) {
  Candidate candidate;
  HONE_ASSIGN_OR_RETURN(const bool parsed,
                        Take(ParseCandidate(source, name, task_, is_oracle), "does not parse:", &candidate));
  if (!parsed) return false;
  HONE_ASSIGN_OR_RETURN(
      CompiledProgram compiled,
      CompileCandidate(compiler_, candidate, task_, DefaultBinding(candidate.plan), options_.compile_jobs));
  for (const auto& [key, module] : compiled.modules) {
    if (module.verdict == Verdict::kOk) continue;
    AddProblem(fmt::format("{} does not compile ({}): {}", name, VerdictName(module.verdict), module.digest));
    return false;
  }
  compiled_.push_back(std::move(compiled));
  HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome loaded, session_.Load(compiled_.back()));
  if (!loaded.program) {
    AddProblem(fmt::format("{} does not load: {}", name, loaded.launch.detail));
    return false;
  }
  program->compiled = &compiled_.back();
  program->loaded = std::move(loaded.program);
  return true;
}

// Checks what can be checked without running anything.
void Linter::CheckForm() {
  const auto has = [&](auto&& holds) { return std::any_of(task_.cases.begin(), task_.cases.end(), holds); };
  if (!has([](const Case& c) { return c.role == CaseRole::kTime; })) Warn("no case is timed: nothing can be optimised");
  if (task_.hidden.empty()) {
    Warn("no [[hidden]] cases: a candidate may be right at the published shapes and nowhere else");
  }
  if (task_.seed_source.empty() && !properties_.empty()) {
    AddProblem("no seed.cu: an oracle that looks at outputs is no kernel to start from; write one that is right");
  } else if (task_.seed_source.empty() && options_.reference != nullptr) {
    Warn(
        "no seed.cu: runs start from the PyTorch module in eager mode, and their speedups are over the module; `hone eval` "
        "tells no speedup without --baseline");
  } else if (task_.seed_source.empty()) {
    Warn("no seed.cu: runs start from the oracle made into a kernel, and speedups are over that slow code");
  }
  if (task_.hand_worked_cases.empty() && properties_.empty() && options_.reference == nullptr)
    Warn("no [[hand]] case: nothing vouches for the oracle");
  if (task_.slice.empty()) Warn("no slice dimension: timed launches cannot be checked in part");
  CheckTraffic();
  CheckScatters();
  CheckSmallSizes();
  for (const Case& one : task_.cases) {
    double bytes = 0;
    for (const TensorSpec& tensor : task_.tensors) {
      Result<TensorShape> shape = ResolveShape(tensor, one.dims);
      if (shape.ok() && tensor.alias.empty()) bytes += static_cast<double>(shape->span_bytes);
    }
    if (bytes > static_cast<double>(session_.facts().memory_bytes)) {
      Warn(fmt::format("the case {} needs {:.1f} GB, and this device has {:.1f}", DimsText(one.dims), bytes * 1e-9,
                       static_cast<double>(session_.facts().memory_bytes) * 1e-9));
    }
  }
}

// Warns if compulsory bytes cannot be derived from the task. The floor is then too low, which may waste attempts of a
// search; no candidate is refused because of it.
void Linter::CheckTraffic() {
  if (task_.bytes) return;
  const std::vector<UnknownTraffic> unknown = FindUnknownTraffic(task_);
  if (unknown.empty()) return;
  std::string names;
  for (const UnknownTraffic& one : unknown)
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", one.tensor, one.reason);
  Warn(fmt::format(
      "the bytes that a launch must move cannot be derived: {}; the floor counts nothing for {}. Say what must "
      "move under [work]: bytes = \"{}\" if every kernel must move every tensor whole, less where it need not",
      names, unknown.size() == 1 ? "it" : "them", WholeTrafficText(task_)));
}

// Warns about dimensions whose smallest tested size is not small. Faults show at small sizes: a sequence shorter than a
// filter, a row narrower than a vector.
void Linter::CheckSmallSizes() {
  for (const auto& [dim, description] : task_.dims) {
    int64_t smallest_size = std::numeric_limits<int64_t>::max(), largest_size = 0, unit = 0;
    const auto tested = [&](int64_t size) {
      smallest_size = std::min(smallest_size, size);
      largest_size = std::max(largest_size, size);
      unit = std::gcd(unit, size);
    };
    for (const Case& one : task_.cases) {
      if (one.role == CaseRole::kCheck) tested(one.dims.at(dim));
    }
    for (const HandWorkedCase& hand : task_.hand_worked_cases) tested(hand.dims.at(dim));
    bool known = true;
    for (const HiddenGroup& group : task_.hidden) {
      for (const HiddenRange& range : group.ranges) {
        if (range.dim != dim) continue;
        known = known && !range.related();
        const int64_t low = (range.low + range.multiple - 1) / range.multiple * range.multiple;
        tested(low);
        if (range.high > low) tested(low + range.multiple);
      }
    }
    // No warning for a size that is the same in all cases, or for the least possible one: multiples of 8 begin with 8.
    if (!known || largest_size == smallest_size || smallest_size <= kSmallSize || smallest_size <= unit) continue;
    Warn(fmt::format(
        "the smallest {0} tested is {1}: a kernel that fails below it would pass; add a check case with {0} = 1 "
        "or 2, or say in the task why there is none",
        dim, smallest_size));
  }
}

// Warns about an index that scatters into an output and may name a place twice: two writes then race, and honest
// kernels give different results.
void Linter::CheckScatters() {
  for (const TensorSpec& index : task_.tensors) {
    const ValueSpec& values = index.values;
    if (values.distribution != Distribution::kIndex) continue;
    if (values.index_order == IndexOrder::kDistinct || values.index_order == IndexOrder::kDistinctRows) continue;
    for (const TensorSpec& output : task_.tensors) {
      if (!IsOutput(output) || !PointsInto(index, output)) continue;
      Warn(fmt::format(
          "values of {0} repeat, and they point into {1}, which is written: if rows of {1} are set by index, two of "
          "them "
          "may set one row, and either is right. Say distinct = \"tensor\" (or \"row\") among the values of {0}; sums "
          "by atomic additions may keep them as they are",
          index.name, output.name));
    }
  }
}

// Compares the seed with its floor on the timed case that moves most bytes, where the launch overhead counts least.
Status Linter::CheckFloor() {
  const Case* most = nullptr;
  double most_bytes = 0;
  for (const Case& one : task_.cases) {
    if (one.role != CaseRole::kTime) continue;
    HONE_ASSIGN_OR_RETURN(const double bytes, CompulsoryBytes(task_, one.dims));
    HONE_ASSIGN_OR_RETURN(const int64_t set_bytes, CaseBuffers::SetBytes(task_, one.dims));
    if (bytes <= most_bytes || (!session_.facts().modelled && set_bytes > session_.FreeBytes() / 2)) continue;
    most = &one;
    most_bytes = bytes;
  }
  if (most == nullptr || !seed_.loaded) return Status::Ok();
  const LoadedProgram& loaded = *seed_.loaded;
  const OccupancyQuery occupancy = [&loaded](const std::string& kernel, const std::string& key, int64_t threads,
                                             int64_t shared) { return loaded.Occupancy(kernel, key, threads, shared); };
  ResolvedPlan plan;
  HONE_ASSIGN_OR_RETURN(const bool resolved,
                        Take(ResolvePlan(seed_.compiled->candidate, task_, most->dims, {}, session_.facts(), occupancy),
                             "the seed", &plan));
  if (!resolved) return Status::Ok();
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                        CaseBuffers::Make(session_, task_, most->dims, {&plan}, /*sets=*/1, /*exact_align=*/false,
                                          Secret(), session_.facts().modelled));
  const InputSet inputs{.key = Secret() | 1};
  HONE_RETURN_IF_ERROR(buffers->DrawInputs(0, inputs));
  double best_us = kInfinity;
  for (int i = 0; i < (session_.facts().modelled ? 1 : kFloorSamples); ++i) {
    HONE_RETURN_IF_ERROR(buffers->PrepareLaunch(0, inputs, plan));
    HONE_ASSIGN_OR_RETURN(SampleOutcome sample, session_.TimeSample({.program = seed_.loaded.get(),
                                                                     .plan = &plan,
                                                                     .sets = {&buffers->set(0)},
                                                                     .limit_seconds = options_.launch_limit_seconds}));
    if (sample.launch.status != LaunchStatus::kOk) {
      AddProblem(fmt::format("the seed failed for {}: {}", DimsText(most->dims), sample.launch.detail));
      return Status::Ok();
    }
    best_us = std::min(best_us, sample.us_per_plan);
  }
  HONE_ASSIGN_OR_RETURN(const Traffic traffic, CompulsoryTraffic(task_, most->dims));
  HONE_ASSIGN_OR_RETURN(const double floor_us, session_.TimeFloor(traffic, 1, CacheState::kCold));
  report_.floor = FloorCheck{most->dims, best_us, floor_us, session_.facts().modelled};
  if (floor_us > kFloorIsWrong * best_us) {
    AddProblem(fmt::format(
        "the floor is wrong: the seed takes {}{:.2f} us for {}, and moving the {:.4g} MB that the task counts "
        "takes {:.2f} us; {}",
        session_.facts().modelled ? "a modelled " : "", best_us, DimsText(most->dims), most_bytes * 1e-6, floor_us,
        task_.bytes ? "count fewer bytes under [work] bytes, only what every kernel must move"
                    : "say under [work] bytes what every kernel must move"));
  }
  return Status::Ok();
}

// Checks that the oracle reproduces the results that were worked out by hand.
Status Linter::CheckHandCases() {
  for (const HandWorkedCase& hand : task_.hand_worked_cases) {
    HandCheck check;
    check.dims = hand.dims;
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<OracleBench> bench, OracleBench::Make(session_, task_, hand.dims, Secret()));
    const auto set_inputs = [&]() -> Status {
      for (const TensorSpec& tensor : task_.tensors) {
        if (tensor.role != TensorRole::kOut) HONE_RETURN_IF_ERROR(bench->Set(tensor, hand.inputs.at(tensor.name)));
      }
      return Status::Ok();
    };
    HONE_RETURN_IF_ERROR(set_inputs());
    HostValues values;
    HONE_ASSIGN_OR_RETURN(const bool ran,
                          Take(bench->RunOracle(oracle_, task_, options_.launch_limit_seconds), "the oracle", &values));
    if (!ran) continue;
    check.oracle_ok = true;
    for (const TensorSpec& output : task_.tensors) {
      if (!HasAnswer(output)) continue;
      const std::vector<double>& expected = hand.outputs.at(output.name);
      double largest_magnitude = 0;
      for (const double value : expected)
        largest_magnitude = std::max(largest_magnitude, std::isfinite(value) ? std::fabs(value) : 0.0);
      for (size_t i = 0; i < expected.size() && check.oracle_ok; ++i) {
        const double actual = values.at(output.name)[i];
        const bool is_same = actual == expected[i] || (std::isnan(actual) && std::isnan(expected[i])) ||
                             std::fabs(actual - expected[i]) <=
                                 kHandTolerance * std::max(std::fabs(expected[i]), 1e-3 * largest_magnitude);
        if (is_same) continue;
        check.oracle_ok = false;
        check.detail = fmt::format("the oracle gives {}[{}] = {:.12g}, worked out by hand it is {:.12g}", output.name,
                                   i, actual, expected[i]);
        AddProblem(fmt::format("hand-worked case {}: {}", DimsText(hand.dims), check.detail));
      }
    }
    if (seed_.loaded) {
      HONE_RETURN_IF_ERROR(set_inputs());
      HONE_ASSIGN_OR_RETURN(const bool seed_ran,
                            Take(bench->RunCandidate(seed_, {}, options_.launch_limit_seconds), "the seed", &values));
      check.seed_ok = seed_ran;
      for (const TensorSpec& output : task_.tensors) {
        if (!HasAnswer(output) || !seed_ran) continue;
        const Comparison comparison = CompareOnHost(output, bench->shape(output.name), values.at(output.name),
                                                    hand.outputs.at(output.name), task_.tolerance.at(output.name));
        if (comparison.wrong == 0) continue;
        check.seed_ok = false;
        check.detail = fmt::format("the seed gives {}[{}] = {:.9g}, worked out by hand it is {:.9g}", output.name,
                                   *comparison.first_wrong, comparison.first_actual, comparison.first_expected);
        AddProblem(fmt::format("hand-worked case {}: {}", DimsText(hand.dims), check.detail));
      }
    }
    report_.hand.push_back(std::move(check));
  }
  return Status::Ok();
}

Result<std::string> Linter::BrokenProperty(OracleBench& bench) {
  HostValues values, residuals;
  HONE_ASSIGN_OR_RETURN(values, bench.RunOracle(oracle_, task_, options_.launch_limit_seconds, &residuals));
  for (const Property& property : properties_) {
    const std::vector<double>& residuals_of_property = residuals.at(property.name);
    const auto broken = std::find_if(residuals_of_property.begin(), residuals_of_property.end(), [&](double residual) {
      return !(residual <= property.bound);
    });  // a NaN breaks it too
    if (broken != residuals_of_property.end()) {
      return fmt::format("{}[{}] is {:.9g}, allowed {:.9g}", property.name, broken - residuals_of_property.begin(),
                         *broken, property.bound);
    }
  }
  return std::string();
}

// Checks that properties accept and reject the outputs that the task gives as right and wrong examples. The examples
// confirm the properties as hand-worked answers confirm an oracle.
Status Linter::CheckExamples() {
  for (const PropertyExample& example : ExamplesOf(task_)) {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<OracleBench> bench,
                          OracleBench::Make(session_, task_, example.dims, Secret()));
    for (const TensorSpec& tensor : task_.tensors) {
      HONE_RETURN_IF_ERROR(
          bench->Set(tensor, (tensor.role == TensorRole::kIn ? example.inputs : example.outputs).at(tensor.name)));
    }
    std::string broken;
    HONE_ASSIGN_OR_RETURN(const bool ran, Take(BrokenProperty(*bench), "the oracle", &broken));
    if (!ran) continue;
    if (example.holds && !broken.empty()) {
      AddProblem(fmt::format("the example for {} must hold, and does not: {}", DimsText(example.dims), broken));
    } else if (!example.holds && broken.empty()) {
      AddProblem(
          fmt::format("the example for {} must fail, and every property holds: say what is wrong with it in a property",
                      DimsText(example.dims)));
    }
  }
  return Status::Ok();
}

Status Linter::SetOutputsToZero(OracleBench& bench) {
  for (const TensorSpec& output : task_.tensors) {
    if (IsOutput(output))
      HONE_RETURN_IF_ERROR(
          bench.Set(output, std::vector<double>(static_cast<size_t>(bench.shape(output.name).elements), 0.0)));
  }
  return Status::Ok();
}

// Checks that zeros, and the seed's answer to other inputs, break a property or are further from the oracle than is
// allowed.
Status Linter::CheckPropertiesOfWrongAnswers(OracleBench& bench, const InputSet& inputs) {
  const auto passes = [&]() -> Result<bool> {
    HostValues residuals;
    HONE_ASSIGN_OR_RETURN(const HostValues reference,
                          bench.RunOracle(oracle_, task_, options_.launch_limit_seconds, &residuals));
    for (const TensorSpec& output : task_.tensors) {
      if (!HasAnswer(output)) continue;
      HONE_ASSIGN_OR_RETURN(const std::vector<double> values, bench.Get(output));
      if (CompareOnHost(output, bench.shape(output.name), values, reference.at(output.name),
                        task_.tolerance.at(output.name))
              .wrong > 0)
        return false;
    }
    HONE_ASSIGN_OR_RETURN(const std::string broken, BrokenProperty(bench));
    return broken.empty();
  };
  const auto judge = [&](const char* what) -> Status {
    bool passed = false;
    HONE_ASSIGN_OR_RETURN(const bool ran, Take(passes(), "the oracle", &passed));
    if (ran && passed)
      AddProblem(fmt::format("{} pass every property and tolerance: ask for more in a [[property]]", what));
    return Status::Ok();
  };
  HONE_RETURN_IF_ERROR(SetOutputsToZero(bench));
  HONE_RETURN_IF_ERROR(judge("zeros"));
  if (!seed_.loaded) return Status::Ok();
  HostValues values;
  HONE_RETURN_IF_ERROR(bench.Draw({.key = Secret() | 1}));
  HONE_ASSIGN_OR_RETURN(const bool ran,
                        Take(bench.RunCandidate(seed_, {}, options_.launch_limit_seconds), "the seed", &values));
  HONE_RETURN_IF_ERROR(bench.Draw(inputs));
  return ran ? judge("outputs for other inputs") : Status::Ok();
}

// Records one trial. `changed` says that the variant's values differ from the oracle's before they are rounded to the
// output's dtype.
void Linter::Record(const TensorSpec& output, const std::string& variant, PrecisionJudgement judgement,
                    const Comparison& comparison, bool is_default, bool changed) {
  auto precision = std::find_if(report_.precision.begin(), report_.precision.end(),
                                [&](const OutputPrecision& one) { return one.output == output.name; });
  if (precision == report_.precision.end()) {
    report_.precision.push_back({.output = output.name, .tolerance = task_.tolerance.at(output.name)});
    precision = std::prev(report_.precision.end());
  }
  auto trial = std::find_if(precision->trials.begin(), precision->trials.end(),
                            [&](const PrecisionTrial& one) { return one.variant == variant; });
  if (trial == precision->trials.end()) {
    const char* word = judgement == PrecisionJudgement::kHonest      ? "honest"
                       : judgement == PrecisionJudgement::kTolerated ? "tolerated"
                                                                     : "dishonest";
    precision->trials.push_back({.variant = variant, .judgement = word, .accepted = true});
    trial = std::prev(precision->trials.end());
  }
  trial->has_effect = trial->has_effect || changed;
  // An infinity in the place of a finite number refuses the output, whatever the errors of other elements are.
  const bool broken = comparison.wrong > 0 && comparison.non_finite > 0;
  if (is_default) {
    trial->rms_error = std::max(trial->rms_error, broken ? kInfinity : comparison.rms_error);
    trial->max_scaled = std::max(trial->max_scaled, broken ? kInfinity : comparison.max_scaled);
    if (comparison.rms_error > precision->tolerance.c_rms) trial->accepted = false;
  } else {
    trial->stress_max_scaled = std::max(trial->stress_max_scaled, broken ? kInfinity : comparison.max_scaled);
  }
  trial->max_small = std::max(trial->max_small, broken ? kInfinity : comparison.max_small);
  if (comparison.wrong > 0) trial->accepted = false;
}

Status Linter::CheckSeed(OracleBench& bench, const HostValues& reference, const std::string& where,
                         const StressChoice& choice) {
  const bool is_default = !choice.use_stress;
  // Only ordinary values help to choose `abs`, an absolute error: not tiny rows or subnormal numbers.
  const bool ordinary = is_default || choice.distribution == Distribution::kHeavyTailed;
  HostValues values;
  HONE_ASSIGN_OR_RETURN(const bool ran,
                        Take(bench.RunCandidate(seed_, {}, options_.launch_limit_seconds), "the seed", &values));
  if (!ran) return Status::Ok();
  ++report_.seed_runs;
  if (!properties_.empty()) {
    HONE_ASSIGN_OR_RETURN(const std::string broken, BrokenProperty(bench));
    if (!broken.empty()) AddProblem(fmt::format("the seed breaks a property for {}: {}", where, broken));
  }
  for (const TensorSpec& output : task_.tensors) {
    if (!HasAnswer(output)) continue;
    const Tolerance& tolerance = task_.tolerance.at(output.name);
    const Comparison comparison =
        CompareOnHost(output, bench.shape(output.name), values.at(output.name), reference.at(output.name), tolerance);
    if (IsFloating(output.dtype))
      Record(output, "seed", PrecisionJudgement::kHonest, comparison, is_default, /*changed=*/true);
    if (IsFloating(output.dtype) && ordinary && comparison.wrong == 0) {
      RecordCancelling(output, values.at(output.name), reference.at(output.name));
    }
    if (comparison.wrong > 0) {
      AddProblem(
          fmt::format("the seed's {} is wrong for {}: {} of {} elements, the first expected {:.9g} and got {:.9g}; "
                      "worst error {:.3g}, c_max is {:.3g}",
                      output.name, where, comparison.wrong, comparison.total, comparison.first_expected,
                      comparison.first_actual, comparison.max_scaled, tolerance.c_max));
    } else if (choice.require_rms && comparison.rms_error > tolerance.c_rms) {
      AddProblem(fmt::format("the seed's {} has an rms error of {:.3g} for {}; c_rms is {:.3g}", output.name,
                             comparison.rms_error, where, tolerance.c_rms));
    }
  }
  return Status::Ok();
}

// Checks that the answer depends on every input: draws one tensor after the other afresh while the others stay, and
// changes every scalar.
Status Linter::CheckInputs(OracleBench& bench, const InputSet& inputs, const HostValues& reference) {
  // Returns the rms difference between `values` and the reference, of the output that differs most. Sets `refused` if
  // the tolerance would refuse `values`.
  const auto change = [&](const HostValues& values, bool* refused) {
    double most = 0;
    for (const TensorSpec& output : task_.tensors) {
      if (!HasAnswer(output)) continue;
      const Tolerance& tolerance = task_.tolerance.at(output.name);
      const Comparison comparison =
          CompareOnHost(output, bench.shape(output.name), values.at(output.name), reference.at(output.name), tolerance);
      most = std::max(most, comparison.rms_error);
      *refused = *refused || comparison.wrong > 0 || comparison.rms_error > tolerance.c_rms;
    }
    return most;
  };
  for (const TensorSpec& tensor : task_.tensors) {
    if (tensor.role == TensorRole::kOut) continue;
    InputSet other = inputs;
    other.key = Secret() | 1;
    HONE_RETURN_IF_ERROR(bench.DrawAlone(tensor, other));
    HostValues values;
    HONE_ASSIGN_OR_RETURN(const bool ran,
                          Take(bench.RunOracle(oracle_, task_, options_.launch_limit_seconds), "the oracle", &values));
    HONE_RETURN_IF_ERROR(bench.DrawAlone(tensor, inputs));
    if (!ran) return Status::Ok();
    InputInfluence influence;
    influence.input = tensor.name;
    influence.rms_change = change(values, &influence.matters);
    if (!influence.matters && influence.rms_change > 0) {
      AddProblem(fmt::format(
          "{0} hardly matters: other values of it change the result by {1:.2g} of its rms, which the tolerance "
          "forgives, "
          "so a kernel that never reads it would pass. Raise the scale of its values, lower that of the inputs that "
          "outweigh it, or tighten c_rms below {1:.2g}",
          tensor.name, influence.rms_change));
    } else if (!influence.matters) {
      AddProblem(fmt::format(
          "the result does not depend on {}: a kernel that never reads it would pass{}", tensor.name,
          tensor.role != TensorRole::kInOut
              ? ""
              : fmt::format(". If the kernel reads there only what it wrote itself, its role is \"out\" (hone new: "
                            "--role {}=out)",
                            tensor.name)));
    }
    report_.inputs.push_back(influence);
  }
  // Scalars are not changed for a host reference, whose process was started with the task's own.
  for (size_t i = 0; i < task_.scalars.size() && oracle_.host == nullptr; ++i) {
    Task changed = task_;
    // The change is large enough for an epsilon to show in double precision, and too small to overflow anything.
    changed.scalars[i].value = changed.scalars[i].value * 3.0 + 1e-6;
    HostValues values;
    HONE_ASSIGN_OR_RETURN(
        const bool ran, Take(bench.RunOracle(oracle_, changed, options_.launch_limit_seconds), "the oracle", &values));
    if (!ran) return Status::Ok();
    InputInfluence influence;
    influence.input = task_.scalars[i].name;
    influence.scalar = true;
    for (const auto& [output, numbers] : values) {
      const std::vector<double>& before = reference.at(output);
      double error2 = 0, norm2 = 0;
      for (size_t j = 0; j < numbers.size(); ++j) {
        if (!std::isfinite(numbers[j]) || !std::isfinite(before[j])) continue;
        error2 += (numbers[j] - before[j]) * (numbers[j] - before[j]);
        norm2 += before[j] * before[j];
      }
      if (norm2 > 0) influence.rms_change = std::max(influence.rms_change, std::sqrt(error2 / norm2));
    }
    influence.matters = influence.rms_change > 0;
    if (!influence.matters) AddProblem(fmt::format("the result does not depend on the scalar {}", influence.input));
    report_.inputs.push_back(influence);
  }
  return Status::Ok();
}

// Checks that zeros, or another constant, do not pass as an output.
Status Linter::CheckTrivialAnswers(OracleBench& bench, const HostValues& reference) {
  for (const TensorSpec& output : task_.tensors) {
    if (!HasAnswer(output)) continue;
    const std::vector<double>& expected = reference.at(output.name);
    double sum = 0;
    for (const double value : expected) sum += std::isfinite(value) ? value : 0.0;
    std::vector<std::pair<std::string, std::vector<double>>> answers;
    answers.emplace_back("zeros", std::vector<double>(expected.size(), 0.0));
    // The mean of one element is that element: CheckConstantAnswers tries another sample's mean instead.
    if (expected.size() > 1) {
      answers.emplace_back("mean", std::vector<double>(expected.size(), sum / static_cast<double>(expected.size())));
    }
    for (const TensorSpec& input : task_.tensors) {
      if (input.role == TensorRole::kOut || AnswerNumbers(input, bench.shape(input.name)) != AnswerNumbers(output, bench.shape(output.name)))
        continue;
      HONE_ASSIGN_OR_RETURN(std::vector<double> values, bench.Get(input));
      // A copy of every input with as many elements as the output is tried, whether the shapes are equal (as by an
      // identity kernel) or not (a transpose).
      answers.emplace_back(input.name == output.name ? "left as it was" : "copy of " + input.name, std::move(values));
    }
    const Tolerance& tolerance = task_.tolerance.at(output.name);
    for (const auto& [name, values] : answers) {
      const Comparison comparison = CompareOnHost(output, bench.shape(output.name), values, expected, tolerance);
      TrivialAnswer answer{output.name, name, comparison.max_scaled, comparison.rms_error,
                           comparison.wrong == 0 && comparison.rms_error <= tolerance.c_rms};
      if (answer.accepted) {
        AddProblem(fmt::format("{} passes as {}: choose other input values or a tighter tolerance", name, output.name));
      }
      report_.trivial.push_back(std::move(answer));
    }
  }
  return Status::Ok();
}

// Checks outputs of one element, such as a loss: the answer to one sample of inputs must not pass as the answer to
// other samples. It must fail for at least one of several samples, because the judge draws several.
Status Linter::CheckConstantAnswers(OracleBench& bench, const InputSet& inputs, const HostValues& reference) {
  std::map<std::string, TrivialAnswer> answers;
  for (const TensorSpec& output : task_.tensors) {
    if (!HasAnswer(output) || bench.shape(output.name).elements != 1) continue;
    answers[output.name] = {.output = output.name, .answer = "another sample's answer", .accepted = true};
  }
  if (answers.empty()) return Status::Ok();
  for (int sample = 0; sample < kFreshSamples; ++sample) {
    HONE_RETURN_IF_ERROR(bench.Draw({.key = Secret() | 1}));
    HostValues values;
    HONE_ASSIGN_OR_RETURN(const bool ran,
                          Take(bench.RunOracle(oracle_, task_, options_.launch_limit_seconds), "the oracle", &values));
    if (!ran) return Status::Ok();
    for (auto& [name, answer] : answers) {
      const TensorSpec& output = *task_.FindTensor(name);
      const Tolerance& tolerance = task_.tolerance.at(name);
      const Comparison comparison =
          CompareOnHost(output, bench.shape(name), reference.at(name), values.at(name), tolerance);
      answer.max_scaled = std::max(answer.max_scaled, comparison.max_scaled);
      answer.rms_error = std::max(answer.rms_error, comparison.rms_error);
      answer.accepted = answer.accepted && comparison.wrong == 0 && comparison.rms_error <= tolerance.c_rms;
    }
  }
  for (auto& [name, answer] : answers) {
    if (answer.accepted) {
      AddProblem(fmt::format(
          "a constant passes as {0}: the answers to {1} samples of the inputs lie within its tolerance of one another "
          "({2:.3g} apart at most). Add vary = 4 to the values of an input that decides {0}, which draws its scale and "
          "offset anew for each sample, or tighten c_max",
          name, kFreshSamples + 1, answer.max_scaled));
    }
    report_.trivial.push_back(std::move(answer));
  }
  return bench.Draw(inputs);
}

// Warns, once, that the oracle answers NaN for special inputs that hold no NaN. A kernel is then refused for any other
// answer, though that may be the better one: the logarithm of a sum of exponentials over a row of -inf is -inf, and is
// NaN if the row's maximum is subtracted first.
void Linter::NoteNan(const std::string& output, int64_t element, const std::string& where) {
  const bool drawn = std::any_of(task_.tensors.begin(), task_.tensors.end(), [](const TensorSpec& tensor) {
    return tensor.role != TensorRole::kOut && (tensor.values.special & kSpecialNan) != 0;
  });
  if (drawn || !report_.nan_answer.empty()) return;
  report_.nan_answer = fmt::format(
      "the oracle answers NaN where no input is NaN: {}[{}] for {}. Rows that are all -inf, or hold inf, give NaN: is that meant? Every kernel "
      "must then answer NaN too. Else write special = [...] in task.toml without them, or give another oracle",
      output, element, where);
  Warn(report_.nan_answer);
}

// Checks one case: the seed on all `choices` of input sets; on the task's own values the precision variants too, and on
// the largest case the influence of inputs and trivial answers.
Status Linter::CheckCase(const Case& one, bool is_largest, const std::vector<StressChoice>& choices, bool precision) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<OracleBench> bench, OracleBench::Make(session_, task_, one.dims, Secret()));
  for (const StressChoice& choice : choices) {
    const InputSet inputs{
        .key = Secret() | 1, .stress = choice.distribution, .use_stress = choice.use_stress && TakesStress(task_)};
    const std::string where = fmt::format("{} ({} inputs)", DimsText(one.dims), inputs.name());
    HONE_RETURN_IF_ERROR(bench->Draw(inputs));
    // An oracle of properties reads the outputs, so they must be initialised.
    if (!properties_.empty()) HONE_RETURN_IF_ERROR(SetOutputsToZero(*bench));
    HostValues reference;
    HONE_ASSIGN_OR_RETURN(const bool ran, Take(bench->RunOracle(oracle_, task_, options_.launch_limit_seconds),
                                               "the oracle", &reference));
    if (!ran) return Status::Ok();
    for (const auto& [output, values] : reference) {
      const auto missing = std::find_if(values.begin(), values.end(), [](double value) { return std::isnan(value); });
      // The oracle's answer may be NaN where the special values contain infinities or NaN.
      const bool special = inputs.use_stress && inputs.stress == Distribution::kSpecial;
      if (missing == values.end()) continue;
      if (special) {
        NoteNan(output, missing - values.begin(), where);
        continue;
      }
      AddProblem(fmt::format("the oracle's {}[{}] is NaN for {}: never written, or a formula that fails", output,
                             missing - values.begin(), where));
      return Status::Ok();
    }

    HostValues single;  // outputs of the PyTorch module in float32
    for (Variant& variant : variants_) {
      const bool honest = std::any_of(task_.tensors.begin(), task_.tensors.end(), [&](const TensorSpec& tensor) {
        return IsOutput(tensor) && JudgePrecision(*variant.precision, tensor.dtype) == PrecisionJudgement::kHonest;
      });
      // Dishonest variants are tried only where c_rms holds; honest ones must survive the stress sets as well.
      if (!precision || (choice.use_stress && !honest) || variant.fails) continue;
      HostValues values;
      Result<HostValues> answer = bench->RunOracle(variant.program, task_, options_.launch_limit_seconds);
      if (!answer.ok() && answer.status().code() == StatusCode::kInvalidArgument && variant.program.host != nullptr &&
          !honest) {
        // A module may hold a number that the lower precision does not, such as a mask's -1e9 in float16. No kernel
        // could compute it in that precision either.
        variant.fails = true;
        AddIndistinct(fmt::format("the module does not run in {}, so the tolerance was not held against it: {}",
                                  variant.precision->name, answer.status().message()));
        continue;
      }
      HONE_ASSIGN_OR_RETURN(const bool variant_ran,
                            Take(std::move(answer), "the oracle as " + variant.precision->name, &values));
      if (!variant_ran) return Status::Ok();
      for (const TensorSpec& output : task_.tensors) {
        if (!HasAnswer(output) || !IsFloating(output.dtype) || reference.at(output.name).empty()) continue;
        const Comparison comparison = CompareOnHost(output, bench->shape(output.name), values.at(output.name),
                                                    reference.at(output.name), task_.tolerance.at(output.name));
        // Factors of a 16-bit type are exact in TF32. The result then equals that in float32 and does not count as one
        // of lower precision.
        const auto values_in_single = single.find(output.name);
        const bool changed = values.at(output.name) != reference.at(output.name) &&
                             (values_in_single == single.end() || values.at(output.name) != values_in_single->second);
        Record(output, variant.precision->name, JudgePrecision(*variant.precision, output.dtype), comparison,
               !choice.use_stress, changed);
      }
      if (variant.program.host != nullptr && variant.precision->name == "float32") single = std::move(values);
    }
    if (is_largest && !choice.use_stress) {
      HONE_RETURN_IF_ERROR(CheckTrivialAnswers(*bench, reference));
      HONE_RETURN_IF_ERROR(CheckConstantAnswers(*bench, inputs, reference));
      if (properties_.empty()) {
        HONE_RETURN_IF_ERROR(CheckInputs(*bench, inputs, reference));
      } else {
        HONE_RETURN_IF_ERROR(CheckPropertiesOfWrongAnswers(*bench, inputs));
      }
    }
    if (seed_.loaded) HONE_RETURN_IF_ERROR(CheckSeed(*bench, reference, where, choice));
  }
  return Status::Ok();
}

// Records the worst element that would be refused if it were alone in its slice. One run of a large case shows what a
// small case shows once in many thousand runs.
void Linter::RecordCancelling(const TensorSpec& output, const std::vector<double>& values,
                              const std::vector<double>& reference) {
  const Tolerance& tolerance = task_.tolerance.at(output.name);
  // No element is judged by less than its dtype's smallest normal number.
  const double smallest_normal = harness::SmallestNormal(host::PrecisionOf(output.dtype));
  double squares = 0;
  for (const double value : reference) squares += std::isfinite(value) ? value * value : 0.0;
  const double most = kMostCancelled * std::sqrt(squares / static_cast<double>(std::max<size_t>(1, reference.size())));
  for (size_t i = 0; i < reference.size(); ++i) {
    // A subnormal number has few bits: its error is no cancellation, and the judge's scale is above it.
    if (std::fabs(values[i]) < smallest_normal && std::fabs(reference[i]) < smallest_normal) continue;
    const double error = std::fabs(values[i] - reference[i]);
    if (!(error > tolerance.c_max * std::max(std::fabs(reference[i]), smallest_normal)) || !(error < most)) continue;
    CancellingOutput& worst = cancelling_[output.name];
    if (error <= worst.error) continue;
    worst.error = error;
    worst.value = reference[i];
  }
}

// Proposes tolerances for outputs whose elements may cancel.
void Linter::ConcludeCancelling() {
  for (auto& [name, one] : cancelling_) {
    const TensorSpec& output = *task_.FindTensor(name);
    one.output = name;
    std::string where;
    for (const Case& check : task_.cases) {
      const Result<TensorShape> shape = ResolveShape(output, check.dims);
      if (check.role != CaseRole::kCheck || !shape.ok() || shape->elements == 0) continue;
      const int64_t slices = output.slice_axis < 0 ? 1 : shape->shape[static_cast<size_t>(output.slice_axis)];
      const int64_t elements = shape->elements / slices;
      if (one.fewest != 0 && elements >= one.fewest) continue;
      one.fewest = elements;
      where = DimsText(check.dims);
    }
    one.proposed_abs = ProposedAbs(one.error);
    if (one.fewest == 0 || one.fewest > kFewElements || task_.tolerance.at(name).absolute >= one.error) continue;
    Warn(fmt::format(
        "{0} cancels: where it is {1:.3g} the seed is off by {2:.2g}, more than c_max of the element itself, and for "
        "{3} "
        "a slice of {0} holds {4}, so an honest kernel may be refused by chance. abs = {5:.0e} under [tolerance.{0}] "
        "forgives that",
        name, one.value, one.error, where, one.fewest == 1 ? "one element" : fmt::format("{} elements", one.fewest),
        one.proposed_abs));
    report_.cancelling.push_back(one);
  }
}

// Returns advice on how to make a lower precision show in the result.
std::string MoreVisible(const std::string& variant) {
  if (variant.find("accumulation") != std::string::npos) {
    return "add a check case with longer sums, give the summed inputs an offset so that sums grow, and lower the scale "
           "of inputs that "
           "are added to the sum and outweigh it";
  }
  return "lower the scale of inputs that are added to the rounded part and outweigh it, or raise its own";
}

// Draws the conclusions about tolerances from what was measured over all cases.
void Linter::ConcludePrecision() {
  for (OutputPrecision& output : report_.precision) ConcludeHonest(output);
  for (const TensorSpec& output : task_.tensors) {
    if (!HasAnswer(output) || IsFloating(output.dtype)) continue;
    report_.whole_numbers.push_back(
        {output.name, std::string(DTypeName(output.dtype)), task_.tolerance.at(output.name)});
  }

  // A dishonest kernel is caught if one output reveals it, so its gap is the largest over the outputs.
  struct Suspect {
    double gap = 0, rms_error = 0, honest_rms = 0;
    std::string output;
    bool accepted = true, has_effect = false;
  };
  std::map<std::string, Suspect> suspects;
  for (OutputPrecision& output : report_.precision) {
    for (const PrecisionTrial& trial : output.trials) {
      if (trial.judgement != "dishonest" || !trial.has_effect) continue;
      Suspect& suspect = suspects[trial.variant];
      suspect.has_effect = true;
      suspect.accepted = suspect.accepted && trial.accepted;
      const double gap = trial.rms_error / output.honest_rms;
      if (gap >= suspect.gap)
        suspect = {gap, trial.rms_error, output.honest_rms, output.output, suspect.accepted, true};
      // This output's tolerance should be below the errors of all variants that this output can distinguish.
      if (gap >= kLeastGap && (output.least_dishonest.empty() || trial.rms_error < output.dishonest_rms)) {
        output.dishonest_rms = trial.rms_error;
        output.least_dishonest = trial.variant;
      }
    }
  }
  for (const auto& [name, suspect] : suspects) {
    if (suspect.gap < kLeastGap && options_.reference != nullptr) {
      // A PyTorch module is what it is: its author chose neither the scale of its inputs nor that of its weights.
      AddIndistinct(
          fmt::format("{} is only {:.2g} times less precise than float32 (rms error {:.3g} of {}, float32 {:.3g}), so "
                      "a kernel of that "
                      "precision {}",
                      name, suspect.gap, suspect.rms_error, suspect.output, suspect.honest_rms,
                      suspect.accepted ? "passes" : "may pass at other sizes"));
      continue;
    }
    if (suspect.accepted) {
      AddProblem(fmt::format(
          "{} passes: the tolerance cannot tell it from an honest kernel (rms error {:.3g} of {}, honest {:.3g}); {}",
          name, suspect.rms_error, suspect.output, suspect.honest_rms,
          suspect.gap >= kLeastGap && std::isfinite(suspect.rms_error)
              ? fmt::format("c_rms = {:.2g} for {} would refuse it", std::sqrt(suspect.rms_error * suspect.honest_rms),
                            suspect.output)
              : MoreVisible(name)));
    }
    if (suspect.gap < kLeastGap) {
      AddProblem(fmt::format(
          "{} is only {:.2g} times less precise than honest kernels (rms error {:.3g} of {}, honest {:.3g}); "
          "a tolerance needs a gap of {:.2g}: {}",
          name, suspect.gap, suspect.rms_error, suspect.output, suspect.honest_rms, kLeastGap, MoreVisible(name)));
    }
  }
  if (suspects.empty() && !report_.precision.empty() && options_.dishonest) {
    Warn(
        "no lower precision could be tried; write the oracle over HONE_ORACLE_IN, HONE_ORACLE_MID and HONE_ORACLE_ACC");
  }
  for (OutputPrecision& output : report_.precision) {
    if (output.least_dishonest.empty()) continue;
    output.gap = output.dishonest_rms / output.honest_rms;
    output.proposed_c_rms = std::isfinite(output.dishonest_rms) ? std::sqrt(output.honest_rms * output.dishonest_rms)
                                                                : 4 * output.honest_rms;
  }
}

// Records the errors of honest kernels of this output, and whether its tolerance leaves them room.
void Linter::ConcludeHonest(OutputPrecision& output) {
  const double roundoff = UnitRoundoff(task_.FindTensor(output.output)->dtype);
  output.honest_rms = kExactShare * roundoff;
  double honest_max = roundoff, honest_small = roundoff;
  bool exact = true;
  for (const PrecisionTrial& trial : output.trials) {
    if (trial.judgement != "honest") continue;
    exact = exact && trial.rms_error == 0;
    output.honest_rms = std::max(output.honest_rms, trial.rms_error);
    honest_max = std::max({honest_max, trial.max_scaled, trial.stress_max_scaled});
    honest_small = std::max(honest_small, trial.max_small);
    // For the seed, a problem was added already.
    if (!trial.accepted && trial.variant != "seed") {
      AddProblem(fmt::format(
          "{}: an honest {} kernel is refused (rms error {:.3g}, worst {:.3g}; c_rms = {:.3g}, c_max = {:.3g})",
          output.output, trial.variant, trial.rms_error, std::max(trial.max_scaled, trial.stress_max_scaled),
          output.tolerance.c_rms, output.tolerance.c_max));
    }
  }
  output.proposed_c_max = 2 * honest_max < 1 ? 2 * honest_max : 0;  // a bound of 1 would allow an answer of zeros
  output.proposed_c_small = kSmallRoom * honest_small < kMostSmall ? kSmallRoom * honest_small : 0;
  if (!exact && output.tolerance.c_rms < kLeastRoom * output.honest_rms) {
    AddProblem(fmt::format("{}: c_rms = {:.3g} leaves too little room above honest kernels ({:.3g})", output.output,
                           output.tolerance.c_rms, output.honest_rms));
  }
}

// Runs all checks of the task, in order of cost, as far as earlier ones allow.
Result<TaskReport> Linter::Run() {
  const double started = SteadySeconds();
  report_.task = task_.name;
  report_.device = session_.facts().id + " " + session_.facts().name;
  report_.seed = options_.seed;
  report_.module = options_.reference != nullptr;
  const auto finish = [&] {
    report_.seconds = SteadySeconds() - started;
    return std::move(report_);
  };
  CheckForm();

  if (options_.reference != nullptr) {
    oracle_.host = options_.reference;
  } else {
    HONE_ASSIGN_OR_RETURN(const bool loaded,
                          Load(task_.oracle_source, task_.name + "/oracle.cu", /*is_oracle=*/true, &oracle_));
    if (!loaded) return finish();
  }
  if (!task_.seed_source.empty()) {
    HONE_ASSIGN_OR_RETURN([[maybe_unused]] const bool seed_loaded,
                          Load(task_.seed_source, task_.name + "/seed.cu", /*is_oracle=*/false, &seed_));
  }
  HONE_RETURN_IF_ERROR(CheckHandCases());
  HONE_RETURN_IF_ERROR(CheckExamples());
  // If the oracle is wrong, later findings mean nothing.
  if (!report_.valid()) return finish();

  for (const PrecisionVariant& precision : HostPrecisions()) {
    if (!options_.precision || options_.reference == nullptr || !IsTried(precision)) continue;
    Variant variant{.precision = &precision, .program = {}};
    variant.program.host = options_.reference;
    variant.program.host_precision = precision.name;
    variants_.push_back(std::move(variant));
  }
  const OracleHooks hooks = options_.reference != nullptr ? OracleHooks() : FindOracleHooks(task_.oracle_source);
  for (const PrecisionVariant& precision : PrecisionVariants()) {
    if (!options_.precision || !hooks.UsesMacroOf(precision.part) || !IsTried(precision)) continue;
    Variant variant{.precision = &precision, .program = {}};
    HONE_ASSIGN_OR_RETURN(const bool ok, Load(precision.Prelude() + task_.oracle_source,
                                              fmt::format("{}/oracle.cu as {}", task_.name, precision.name),
                                              /*is_oracle=*/true, &variant.program));
    if (ok) variants_.push_back(std::move(variant));
  }

  // Trivial answers and inputs are tried on the largest case by elements.
  std::vector<Case> cases;
  size_t largest_case = 0;
  int64_t most = 0;
  for (const Case& one : task_.cases) {
    if (one.role != CaseRole::kCheck) continue;
    HONE_ASSIGN_OR_RETURN(const int64_t bytes, CaseBuffers::SetBytes(task_, one.dims));
    if (bytes > most) {
      most = bytes;
      largest_case = cases.size();
    }
    cases.push_back(one);
  }
  for (size_t i = 0; i < cases.size(); ++i) {
    std::vector<StressChoice> choices = StressChoices(options_.all_values, i);
    if (!options_.other_values) std::erase_if(choices, [](const StressChoice& choice) { return choice.use_stress; });
    HONE_RETURN_IF_ERROR(CheckCase(cases[i], i == largest_case && most > 0, choices, /*precision=*/true));
  }
  for (int draw = 0; draw < options_.hidden_draws; ++draw) {
    const std::vector<Case> hidden = DrawHiddenCases(task_, Secret());
    for (size_t i = 0; i < hidden.size(); ++i) {
      HONE_RETURN_IF_ERROR(
          CheckCase(hidden[i], /*is_largest=*/false, StressChoices(/*all=*/false, i), /*precision=*/false));
    }
  }
  if (options_.precision) ConcludePrecision();
  ConcludeCancelling();
  HONE_RETURN_IF_ERROR(CheckFloor());
  return finish();
}

}  // namespace

Result<TaskReport> LintTask(const Task& task, DeviceSession& session, Compiler& compiler, const LintOptions& options) {
  return Linter(task, session, compiler, options).Run();
}

}  // namespace hone
