// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines Task, the workload that the tuner speeds up: the value read from `tasks/<name>/task.toml`.
//
// A task names its dimensions, tensors, scalars, cases, tolerances and work. Everything that
// depends on a shape is an integer `Expression` over the dimensions, so that one task covers
// every case, the hidden ones included. docs/task-format.md describes the file.
//
// Tasks are plain values: copyable, no I/O, no device. ParseTask and LoadTask validate, so every Task is consistent.
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

enum class DType {
  kFloat64,
  kFloat32,
  kFloat16,
  kBFloat16,
  kInt64,
  kInt32,
  kUInt32,
  kInt16,
  kInt8,
  kUInt8,
  kUInt64,
  kBool,        // a byte that is 0 or 1
  kFloat8E4M3,  // float8_e4m3fn: no infinity, largest 448
  kFloat8E5M2,  // float8_e5m2: largest 57344
  kFloat8E8M0,  // float8_e8m0fnu: a power of two, the scale of a block
  kFloat4Pair,  // float4_e2m1fn_x2: a byte of two 4-bit floats, the first in the low half; largest 6
  kInt4Pair,    // int4_x2: a byte of two 4-bit integers from -8 to 7, the first in the low half
};
inline constexpr DType kLastDType = DType::kInt4Pair;

int64_t DTypeBytes(DType dtype);
std::string_view DTypeName(DType dtype);  // "float16", …
std::optional<DType> DTypeFromName(std::string_view name);
bool IsFloating(DType dtype);
// Returns whether the dtype is a float of 8 bits. Hardware conversions to such a float saturate.
bool IsFloat8(DType dtype);
// Returns whether an element is a byte that holds two numbers. Shapes and strides count bytes, answers count numbers.
bool IsPacked(DType dtype);
// Returns the names of all dtypes in the order of the enumeration, as "float64, float32, …": for messages.
std::string DTypeNames();

enum class TensorRole { kIn, kOut, kInOut };
std::string_view TensorRoleName(TensorRole role);

// Distributions of an input's elements. Every draw is a pure function of (key, tensor, slice, position within the
// slice): src/tuner/values/draw.h.
enum class Distribution {
  kNormal,   // zero mean, unit variance, times `scale`, plus `offset`
  kUniform,  // [low, high)
  kZero,
  kConstant,     // one drawn value everywhere
  kHeavyTailed,  // symmetric, log-normal magnitudes (sigma 2), clipped to the dtype
  kSorted,       // ascending along each slice
  kCancelling,   // large values of alternating sign plus a small normal remainder
  kLogUniform,   // positive, exponents uniform in [log low, log high)
  kIndex,        // integer in [low, index_bound): for index tensors
  kOffsets,      // ascending integers along each slice, from 0 to index_bound: where a CSR structure's rows begin
  kSpecial,  // each row another kind of value that kernels branch on (values/draw.h, SpecialRow); never named by a task
};
std::string_view DistributionName(Distribution d);
std::optional<Distribution> DistributionFromName(std::string_view name);
// Returns whether values are drawn as integers, limited by `index_bound`.
constexpr bool DrawsIntegers(Distribution d) { return d == Distribution::kIndex || d == Distribution::kOffsets; }

// Special values that an input may hold, as a set of bits. The task's `special` says whether a kernel must treat them
// as the oracle does.
enum SpecialValue : unsigned { kSpecialInf = 1, kSpecialMinusInf = 2, kSpecialNan = 4, kSpecialSubnormal = 8 };
inline constexpr unsigned kUsualSpecials = kSpecialInf | kSpecialMinusInf | kSpecialSubnormal;
std::string_view SpecialValueName(SpecialValue value);  // "inf", …
std::optional<SpecialValue> SpecialValueFromName(std::string_view name);

// How the elements of a kIndex tensor are related.
enum class IndexOrder {
  kIndependent,   // values repeat at random
  kDistinct,      // no value twice in the tensor: a sample without replacement; a permutation if it takes all values
  kDistinctRows,  // no value twice along the last axis
  kAscending,     // along each slice, repeats included
  kMask,          // zeros and ones, with a given share of ones
};

// How the elements of an input are drawn: task.toml's `values`.
struct ValueSpec {
  Distribution distribution = Distribution::kNormal;
  double low = 0.0;     // kUniform, kLogUniform; kIndex: a whole number, 0 or more
  double high = 1.0;    // only for kUniform and kLogUniform
  double scale = 1.0;   // only for kNormal, kHeavyTailed and kCancelling
  double offset = 0.0;  // only for kNormal
  // Each input set draws two factors from [1 / vary, vary]: `scale` is multiplied by one, `offset` by the other.
  double vary = 1.0;
  // Expression over the dimensions. kIndex: exclusive bound of the values; kOffsets: the last offset.
  std::optional<Expression> index_bound;
  IndexOrder index_order = IndexOrder::kIndependent;  // only for kIndex
  double padding = 0.0;                               // kIndex: the share of elements that are -1; set for stress of kLogUniform: that are NaN
  double share_of_ones = 0.5;                         // kMask: the share of elements that are 1
  // kMask: every line along the axis `line_axis` holds `guaranteed_value` (0 or 1) at least once; -1: a line may consist
  // of one value only. In task.toml, these are `along` and `some`.
  int guaranteed_value = -1, line_axis = -1;
  unsigned special = 0;                               // kSpecial: which SpecialValues occur
  bool any_power = false;  // float8_e8m0fnu: the task names no range, so that stress takes the format's whole range
  // Only for kOffsets, and set by stress alone: row `crowded_row` of each slice gets `crowded_elements` elements. The
  // others are divided among all rows, that one too, as usual. 0 elements: no row is crowded.
  int64_t crowded_row = 0, crowded_elements = 0;
  // Expressions over the dimensions that a task may give instead of numbers; ResolveValues evaluates them in real
  // numbers.
  std::optional<Expression> low_text, high_text, scale_text, offset_text;
};
// Returns `values` with the expressions of low, high, scale and offset evaluated for one case.
Result<ValueSpec> ResolveValues(const ValueSpec& values, const Dims& dims);

// A tensor of the task. Row-major unless `strides` are given (in elements, one per axis).
struct TensorSpec {
  std::string name;
  TensorRole role = TensorRole::kIn;
  DType dtype = DType::kFloat32;
  std::vector<Expression> shape;
  std::vector<Expression> strides;     // empty: dense row-major
  // Alignment of the base address on which candidates may rely, in bytes; some checks give exactly this.
  int64_t align = 16;
  std::string alias;                   // name of the input that shares this output's storage; empty: none
  ValueSpec values;
  // If false, always drawn from `values`, never from a stress distribution (weights that must stay plausible, indices).
  bool stress = true;
  int slice_axis = -1;                 // axis equal to the task's slice dimension; -1: not sliced
};

// A number that every launch gets by value, the same in all cases.
struct ScalarSpec {
  std::string name;
  DType dtype = DType::kFloat32;
  double value = 0.0;
};

// The criterion for an output y. It passes when max |err| / max(|ref|, rms(ref over its slice), floor) <= c_max on
// every input set, and rms(err) / rms(ref) <= c_rms on zero-mean and cancelling sets. An |err| of `absolute` or less
// counts as right whatever the reference. `hone tasks check` derives and validates tolerances; see
// docs/precision.md.
struct Tolerance {
  double c_max = 0.0;
  double c_rms = 0.0;
  double floor = 0.0;  // not set by the task: the judge derives it from the dtype and the inputs of each launch
  double absolute = 0.0;  // in units of the output; 1 forgives one unit of an integer result
  // If not 0, |err| <= c_small * max(|ref|, small_floor * rms(ref over its slice)) must hold as well: elements far
  // below their slice's rms are then compared relative to their own size.
  double c_small = 0.0;
  // Smallest reference, as a fraction of its slice's rms, for which c_small demands relative accuracy. The default is
  // 2^-20: single precision keeps 24 bits, so the difference of two numbers as large as the rms has no correct bits
  // below that.
  double small_floor = 1.0 / (1 << 20);
};

enum class CaseRole { kTime, kCheck, kHidden };
std::string_view CaseRoleName(CaseRole role);

// A shape of the task, and what is done at it.
struct Case {
  Dims dims;
  CaseRole role = CaseRole::kCheck;
  // For this check case only, values of floating-point inputs by name. The case is checked with one more input set,
  // drawn with these values in place of the tensors' own.
  std::map<std::string, ValueSpec> values;
};

// A range from which hidden cases draw a dimension. Every evaluation draws them afresh: each dimension uniformly on a
// log scale from [low, high], rounded up to `multiple`. Each of the three may be an expression over other dimensions of
// the group. The number `low` (`high`) is then the expression's value with the other dimensions at the same end of
// their ranges; `multiple` is then 1.
struct HiddenRange {
  std::string dim;
  int64_t low = 1;
  int64_t high = 1;
  int64_t multiple = 1;
  std::optional<Expression> low_text, high_text, multiple_text;
  // Returns whether the range depends on other dimensions.
  bool related() const { return low_text || high_text || multiple_text; }
};
// Returns the range with its expressions evaluated; `dims` holds the dimensions that they name. nullopt: no size is
// left.
std::optional<HiddenRange> ResolveRange(const HiddenRange& range, const Dims& dims);
// A [[hidden]] entry of the task: ranges from which whole shapes are drawn.
struct HiddenGroup {
  int count = 1;  // how many cases to draw from this group
  std::vector<HiddenRange> ranges;  // a range comes after the ranges of the dimensions that its expressions name
};
// Returns whether `dims` satisfy the relations between dimensions that the groups state; true where none states any.
bool KeepsRelations(const std::vector<HiddenGroup>& groups, const Dims& dims);

enum class WorkloadClass { kGemm, kElementwise, kReduction, kConvolution, kAttention, kGather, kGraph, kOther };
std::string_view WorkloadClassName(WorkloadClass c);
std::optional<WorkloadClass> WorkloadClassFromName(std::string_view name);

// Values worked out by hand that the oracle must reproduce: the linter's check of the oracle itself.
struct HandWorkedCase {
  Dims dims;
  bool candidates = true;                               // candidates also run on it
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
  std::map<std::string, Tolerance> tolerance;             // keyed by output name; inout tensors included
  std::vector<Case> cases;                                // time and check cases, in file order
  std::vector<HiddenGroup> hidden;                        // hidden cases are drawn from each group
  std::optional<Expression> flops;                        // floating-point operations of one launch
  std::optional<Expression> bytes;  // bytes that one launch must move; absent: CompulsoryTraffic derives a lower bound
  std::vector<HandWorkedCase> hand_worked_cases;

  // Sources, as text. `oracle_source` writes doubles to `ref:NAME` arguments. `seed_source` may be empty.
  std::string oracle_source;
  std::string seed_source;
  // A text that names libraries for the same work. It may be empty, and is parsed only when the libraries are to be
  // timed.
  std::string baseline_toml;
  std::string directory;  // folder it was loaded from; empty when parsed from memory
  std::string toml;       // the text it was parsed from, which is sent to workers and spools

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
// Evaluates the tensor's shape and strides for one case. The error names the tensor and the expression.
Result<TensorShape> ResolveShape(const TensorSpec& tensor, const Dims& dims);
// Checks that the values of `tensor` can be drawn in this case: its range is not empty, indices have something to point
// to, and distinct indices enough of it. The message names the tensor and the reason.
Status CheckDrawable(const TensorSpec& tensor, const TensorShape& shape, const Dims& dims);

// Bytes that any launch must read and write; the floor kernel moves the same number.
struct Traffic {
  double read_bytes = 0;
  double written_bytes = 0;
};
// Returns the task's [work] bytes, if given. Otherwise each input counts once and each output once, and a tensor of
// UnknownTraffic counts nothing: a floor above the truth would end searches at once and refuse honest kernels. [work]
// bytes beyond the known tensors are divided among the unknown ones: first as writes, up to their sizes, then as reads.
Result<Traffic> CompulsoryTraffic(const Task& task, const Dims& dims);
// Returns read and written bytes of CompulsoryTraffic together.
Result<double> CompulsoryBytes(const Task& task, const Dims& dims);

// Returns whether values of `index` may name positions along an axis of `target`. They may if the index's bound and the
// axis's extent share a dimension, or are the same number. This is a guess from the shapes, but never false for a task
// that states the relation.
bool PointsInto(const TensorSpec& index, const TensorSpec& target);

// A tensor of which a launch may move any part, and the reason: it is written in place, so elements may stay as they
// are, or another tensor's indices or offsets point into it, so rows may be left out.
struct UnknownTraffic {
  std::string tensor;
  std::string reason;  // "is written in place", "is pointed into by slot"
};
std::vector<UnknownTraffic> FindUnknownTraffic(const Task& task);
// Returns an expression for [work] bytes that counts every tensor whole: inputs once, outputs once, in-place ones
// twice.
std::string WholeTrafficText(const Task& task);
Result<double> Flops(const Task& task, const Dims& dims);  // 0 when the task does not say

// Draws this evaluation's hidden cases; the same seed gives the same cases. Zero-size and boundary shapes come from
// check cases; hidden cases have shapes that nobody could prepare for. A shape whose tensors cannot be drawn
// (CheckDrawable) is drawn again; ParseTask has refused groups for which that would never succeed.
std::vector<Case> DrawHiddenCases(const Task& task, uint64_t seed);

// Parses `toml` (named `file` in messages, with line and field). Leaves the sources empty.
Result<Task> ParseTask(std::string_view toml, std::string_view file);
// Reads DIR/task.toml, DIR/oracle.cu and, if there, DIR/seed.cu and DIR/baseline.toml.
Result<Task> LoadTask(const std::string& directory);

}  // namespace hone
