// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tuner is asked to speed up: the value read from `tasks/<name>/task.toml`.
//
// A task names its dimensions, tensors, scalars, cases, tolerances and work. Everything that
// depends on a shape is an integer `Expression` over the dimensions, so that one task covers
// every case, the hidden ones included. docs/task-format.md describes the file.
//
// Plain values: copyable, no I/O, no device. ParseTask and LoadTask validate, so a Task that
// exists is a task that makes sense.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/expression.h"

namespace hone {

using Dims = std::map<std::string, int64_t>;  // sizes by the names of dimensions

enum class DType { kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kUInt32, kInt16, kInt8, kUInt8 };

int64_t DTypeBytes(DType dtype);
std::string_view DTypeName(DType dtype);  // "float16", …
std::optional<DType> DTypeFromName(std::string_view name);
bool IsFloating(DType dtype);

enum class TensorRole { kIn, kOut, kInOut };
std::string_view TensorRoleName(TensorRole role);

// How the elements of an input are drawn. Every draw is a pure function of
// (key, tensor, slice, position within the slice): src/tuner/core/draw.h.
enum class Distribution {
  kNormal,        // zero mean, unit variance, times `scale`, plus `offset`
  kUniform,       // [low, high)
  kZero,
  kConstant,      // one drawn value everywhere
  kHeavyTailed,   // symmetric, log-normal magnitudes (sigma 2), clipped to the dtype
  kSorted,        // ascending along each slice
  kCancelling,    // large values of alternating sign plus a small normal remainder
  kLogUniform,    // positive, exponents uniform in [log low, log high)
  kIndex,         // integer in [0, index_bound): for index tensors
  kOffsets,       // ascending integers along each slice, from 0 to index_bound: where a CSR structure's rows begin
  kSpecial,       // row by row another kind of what kernels branch on (core/draw.h, SpecialRow); a task cannot name it
};
std::string_view DistributionName(Distribution d);
std::optional<Distribution> DistributionFromName(std::string_view name);
// Drawn as integers below or up to an `index_bound`.
constexpr bool DrawsIntegers(Distribution d) { return d == Distribution::kIndex || d == Distribution::kOffsets; }

// Values beyond the ordinary that an input may hold, as a set of bits: whether a kernel must answer them as the oracle
// does is for the task to say (`special`).
enum SpecialValue : unsigned { kSpecialInf = 1, kSpecialMinusInf = 2, kSpecialNan = 4, kSpecialSubnormal = 8 };
inline constexpr unsigned kUsualSpecials = kSpecialInf | kSpecialMinusInf | kSpecialSubnormal;
std::string_view SpecialValueName(SpecialValue value);  // "inf", …
std::optional<SpecialValue> SpecialValueFromName(std::string_view name);

// How the elements of a kIndex tensor relate to one another.
enum class IndexOrder {
  kIndependent,   // values repeat as they fall
  kDistinct,      // no value twice in the tensor: a sample without replacement, a permutation where it takes all
  kDistinctRows,  // no value twice along the last axis
  kAscending,     // along each slice, repeats included
};

struct ValueSpec {
  Distribution distribution = Distribution::kNormal;
  double low = 0.0;     // kUniform, kLogUniform
  double high = 1.0;    // kUniform, kLogUniform
  double scale = 1.0;   // kNormal, kHeavyTailed, kCancelling
  double offset = 0.0;  // kNormal
  double vary = 1.0;    // scale and offset each times a factor from [1 / vary, vary], drawn for each input set
  std::optional<Expression> index_bound;  // kIndex: exclusive bound; kOffsets: the last offset; over the dimensions
  IndexOrder index_order = IndexOrder::kIndependent;  // kIndex
  double padding = 0.0;                               // kIndex: the share of elements that are -1
  unsigned special = 0;                               // kSpecial: which SpecialValues occur
  // Where the task gives a number as an expression over the dimensions; ResolveValues evaluates it in real numbers.
  std::optional<Expression> low_text, high_text, scale_text, offset_text;
};
// `values` with the expressions of low, high, scale and offset evaluated for one case.
Result<ValueSpec> ResolveValues(const ValueSpec& values, const Dims& dims);

// Row-major unless `strides` are given (in elements, one per axis).
struct TensorSpec {
  std::string name;
  TensorRole role = TensorRole::kIn;
  DType dtype = DType::kFloat32;
  std::vector<Expression> shape;
  std::vector<Expression> strides;     // empty: dense row-major
  int64_t align = 16;                  // bytes the candidate may rely on, and not one more
  std::string alias;                   // output that shares storage with this input's name; empty: none
  ValueSpec values;
  bool stress = true;                  // false: always drawn from `values` (weights kept sane, indices)
  int slice_axis = -1;                 // axis equal to the task's slice dimension; -1: not sliced
};

struct ScalarSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  double value = 0.0;
};

// An output y passes when max |err| / max(|ref|, rms(ref over its slice), floor) <= c_max on every
// input set, where an |err| of `absolute` or less counts as right whatever the scale, and rms(err) / rms(ref) <= c_rms
// on zero-mean and cancelling sets. Derived and validated by `hone tasks check`; see docs/measurement.md, "Precision".
struct Tolerance {
  double c_max = 0.0;
  double c_rms = 0.0;
  double floor = 0.0;  // not the task's to say: the judge derives it from the dtype and the inputs of each launch
  double absolute = 0.0;  // in units of the output; 1 forgives one unit of an integer result
  // Where it is not 0, |err| <= c_small * max(|ref|, small_floor * rms(ref over its slice)) holds beside c_max: an element
  // far below its slice's rms is right by its own measure.
  double c_small = 0.0;
  // The part of its slice's rms down to which results have relative accuracy. By default 2^-20: single precision keeps 24
  // bits, and a result that is the difference of two numbers of the rms's size has nothing left there.
  double small_floor = 1.0 / (1 << 20);
};

enum class CaseRole { kTime, kCheck, kHidden };
std::string_view CaseRoleName(CaseRole role);

struct Case {
  Dims dims;
  CaseRole role = CaseRole::kCheck;
  // A check case's own values of floating-point inputs, by name: it is checked with one more input set, in which these
  // stand for the tensors' own.
  std::map<std::string, ValueSpec> values;
};

// Hidden cases are drawn afresh at every evaluation: each dimension uniformly on a log scale
// from [low, high], rounded up to `multiple`. An expression over other dimensions of the group may stand for each of
// the three; the number beside it is then its value at that end of the other dimensions' ranges (of `multiple`: 1).
struct HiddenRange {
  std::string dim;
  int64_t low = 1;
  int64_t high = 1;
  int64_t multiple = 1;
  std::optional<Expression> low_text, high_text, multiple_text;
  bool related() const { return low_text || high_text || multiple_text; }
};
// The range with its expressions evaluated, `dims` holding the dimensions that they name. nullopt: no size is left.
std::optional<HiddenRange> ResolveRange(const HiddenRange& range, const Dims& dims);
struct HiddenGroup {
  int count = 1;  // how many cases to draw from this group
  std::vector<HiddenRange> ranges;  // each after those whose dimensions it names
};
// Whether `dims` keep to the relations between dimensions that the groups state; true where none states any.
bool KeepsRelations(const std::vector<HiddenGroup>& groups, const Dims& dims);

enum class WorkloadClass { kGemm, kElementwise, kReduction, kConvolution, kAttention, kGather, kGraph, kOther };
std::string_view WorkloadClassName(WorkloadClass c);
std::optional<WorkloadClass> WorkloadClassFromName(std::string_view name);

// Values worked out by hand, that the oracle must reproduce: the linter's check of the oracle itself.
struct HandCase {
  Dims dims;
  bool candidates = true;                               // candidates are run on it too
  std::map<std::string, std::vector<double>> inputs;   // in and inout tensors, row-major
  std::map<std::string, std::vector<double>> outputs;  // out and inout tensors, row-major
};

struct Task {
  std::string name;
  std::string summary;
  WorkloadClass workload = WorkloadClass::kOther;
  std::vector<std::pair<std::string, std::string>> dims;  // name, description; in order
  std::string slice;                                      // independent slice dimension; empty: none
  std::vector<TensorSpec> tensors;
  std::vector<ScalarSpec> scalars;
  std::map<std::string, Tolerance> tolerance;             // by output name; inout tensors included
  std::vector<Case> cases;                                // time and check cases, in file order
  std::vector<HiddenGroup> hidden;
  std::optional<Expression> flops;                        // floating-point operations of one launch
  std::optional<Expression> bytes;                        // of one launch; absent: CompulsoryTraffic derives what it can
  std::vector<HandCase> hand_cases;

  // Sources, as text. `oracle` writes doubles to `ref:NAME` arguments. `seed` may be empty.
  std::string oracle_source;
  std::string seed_source;
  std::string baseline_toml;  // of libraries that do the same; may be empty, and is read when they are to be timed
  std::string directory;  // where it was loaded from; empty when parsed from memory
  std::string toml;       // the text it was parsed from: how a task travels to a worker or a spool

  const TensorSpec* FindTensor(std::string_view tensor) const;
  const ScalarSpec* FindScalar(std::string_view scalar) const;
};

// One tensor of one case, resolved to numbers.
struct TensorShape {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // in elements
  int64_t elements = 0;          // product of shape
  int64_t span_bytes = 0;        // last addressed byte + 1, from the base address; 0 when empty
};
Result<TensorShape> ResolveShape(const TensorSpec& tensor, const Dims& dims);
// Whether the values of `tensor` can be drawn in this case: its range is one, indices have something to point to, and
// distinct ones have enough of it. The message says which tensor and why not.
Status CheckDrawable(const TensorSpec& tensor, const TensorShape& shape, const Dims& dims);

// Bytes that any launch must read and write; the floor kernel moves as many.
struct Traffic {
  double read_bytes = 0;
  double written_bytes = 0;
};
// The task's [work] bytes where it says them. Otherwise each input counts once and each output once, and a tensor of
// UnknownTraffic counts nothing: a floor above the truth would end searches at once and refuse honest kernels. What
// [work] leaves after the known tensors is divided among the unknown ones: written as far as they can be, read beyond
// that.
Result<Traffic> CompulsoryTraffic(const Task& task, const Dims& dims);
// Both together.
Result<double> CompulsoryBytes(const Task& task, const Dims& dims);

// Whether values of `index` may name places along an axis of `target`: its bound and an extent share a dimension, or
// are the same number. A guess from the shapes, never false where the task says what it means.
bool PointsInto(const TensorSpec& index, const TensorSpec& target);

// A tensor of which a launch may move any part, and why: it is written in place, so elements may stay as they are, or
// another tensor's indices or offsets point into it, so rows may be left out.
struct UnknownTraffic {
  std::string tensor;
  std::string reason;  // "is written in place", "is pointed into by slot"
};
std::vector<UnknownTraffic> FindUnknownTraffic(const Task& task);
// An expression for [work] bytes that counts every tensor whole: inputs once, outputs once, in-place ones twice.
std::string WholeTrafficText(const Task& task);
Result<double> Flops(const Task& task, const Dims& dims);  // 0 when the task does not say

// Draws this evaluation's hidden cases; the same seed gives the same cases. Zero-size and
// boundary shapes come from check cases; these are the shapes nobody could have prepared for. A shape whose tensors
// cannot be drawn (CheckDrawable) is drawn again; ParseTask has refused groups where that would find nothing.
std::vector<Case> DrawHiddenCases(const Task& task, uint64_t seed);

// Parses `toml` (named `file` in messages, with line and field). Sources stay empty.
Result<Task> ParseTask(std::string_view toml, std::string_view file);
// Reads DIR/task.toml, DIR/oracle.cu and, if there, DIR/seed.cu and DIR/baseline.toml.
Result<Task> LoadTask(const std::string& directory);

}  // namespace hone
