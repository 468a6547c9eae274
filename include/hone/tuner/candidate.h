// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines a candidate: one `.cu` file of device code that opens with a launch plan in a comment.
//
//   /*hone
//   [tune]
//   VEC = [4, 8]
//   [[launch]]
//   kernel = "silu_and_mul<VEC>"
//   grid   = ["ceil_div(tokens * d, VEC * 256)"]
//   block  = ["256"]
//   args   = ["x", "out", "tokens:i32", "d:i32"]
//   */
//
// Hone, not the candidate, allocates, launches, times and compares. docs/candidate-format.md is the
// full description. Oracles use the same format; their double-precision results are `ref:NAME` arguments.
//
// Candidates are plain values. ParseCandidate checks everything that can be checked without a case or a compiler.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/expression.h"
#include "hone/tuner/task.h"

namespace hone {

// Tunable names with their chosen values. Ordered, so that equal bindings have equal keys.
using Binding = std::map<std::string, int64_t>;
std::string BindingKey(const Binding& binding);  // "BLOCK=256,VEC=8"; empty for no tunables

enum class ArgumentKind {
  kTensor,     // device pointer to a tensor, plus `offset` elements
  kReference,  // oracle only: device pointer to the reference values of a tensor, in double precision
  kWorkspace,  // device pointer to a workspace, plus `offset` bytes
  kInteger,    // expression cast to `type`
  kScalar,     // a task scalar cast to `type`
  kTensorMap,  // CUtensorMap by value (a const __grid_constant__ parameter)
  kStruct,     // the `fields` packed as a C struct, by value
};

struct Argument {
  ArgumentKind kind = ArgumentKind::kInteger;
  std::string name;                  // of the tensor, workspace, scalar or tensor map
  std::string type;                  // kInteger, kScalar: i32 u32 i64 u64 f32 f64 f16 bf16 bool; kStruct: C++ type name
  std::optional<Expression> value;   // kInteger: the number passed
  std::optional<Expression> offset;  // kTensor (elements), kWorkspace (bytes)
  std::vector<Argument> fields;      // only for kStruct
};

// Fields of cuTensorMapEncodeTiled; dims and box innermost first, strides in bytes, outermost last.
struct TensorMapSpec {
  std::string name;    // name by which arguments pass the map
  std::string tensor;  // name of the tensor that the map describes
  std::string dtype;   // element type that the map states; empty: the tensor's own
  std::vector<Expression> dims;
  std::vector<Expression> strides;  // size dims.size() - 1
  std::vector<Expression> box;
  std::vector<Expression> element_strides;  // empty: all 1
  // The four fields below are one of the words behind them.
  std::string interleave = "none";          // none 16B 32B
  std::string swizzle = "none";             // none 32B 64B 128B
  std::string l2_promotion = "none";        // none 64B 128B 256B
  std::string oob_fill = "zeros";           // zeros nan
};

// Device memory that a plan asks for beside the task's tensors (a [[workspace]] entry).
struct WorkspaceSpec {
  std::string name;
  Expression bytes;
  int64_t align = 256;
  // If false, the memory is filled with garbage before every launch. If true, it is zero before the first launch, and
  // must be zero after each.
  bool zero_on_entry = false;
};

// Sizes of a convolution as a plan writes them. The lists have one expression per axis of the image, of which there are
// 1 to 3.
struct ConvolutionSizes {
  Expression batch, in_channels, out_channels;
  std::vector<Expression> size, kernel;                               // extents of the input and of the weight
  std::vector<Expression> stride, padding, dilation, output_padding;  // empty: 1, 0, 1, 0 for every axis
  std::optional<Expression> groups;                                   // absent: 1
  bool transposed = false;
};

// One [[call]] entry, which a library computes: a convolution if `convolution` has a value, else a matrix product.
//
// Convolution: a is the input [batch, in_channels, size...], b the weight [out_channels, in_channels / groups,
// kernel...] (transposed: [in_channels, out_channels / groups, kernel...]), and the bias is [out_channels]. `m`, `n`,
// `k`, `batch`, the transposes and the epilogue have no meaning.
//
// Matrix product: out = epilogue(op(a) * op(b) + bias). Matrices are dense and row-major: a is [batch, m, k]
// (transposed: [batch, k, m]), b is [batch, k, n] (transposed: [batch, n, k]), out is [batch, m, n] and the bias is
// [n].
//
// Elements of a, b, out and bias have `dtype`; sums are accumulated in float32.
struct LibraryCall {
  Argument a, b, out;  // kTensor or kWorkspace
  std::optional<Argument> bias;
  std::optional<ConvolutionSizes> convolution;
  Expression m, n, k;
  std::optional<Expression> batch;      // absent: 1
  // Index into the library's algorithms, which the library sorts by its own preference; absent: 0.
  std::optional<Expression> algorithm;
  bool transpose_a = false, transpose_b = false;
  DType dtype = DType::kFloat32;  // float32, float16 or bfloat16
  std::string epilogue = "none";  // none relu gelu_tanh
};

// One [[launch]], [[memset]] or [[call]] entry. Entries with the same `step` are alternatives: the first whose
// `when` holds for the case runs. Steps run in ascending order on one stream.
struct PlanEntry {
  int step = 0;  // position in the order of execution
  bool is_memset = false;
  std::optional<LibraryCall> call;
  bool is_launch() const { return !is_memset && !call; }
  // Returns the name of the entry's TOML table.
  std::string_view table() const { return call ? "call" : is_memset ? "memset" : "launch"; }
  std::optional<Expression> when;  // condition over the dimensions; absent: always holds
  Binding with;  // tunables that have values of their own in this entry

  // launch
  std::string kernel;  // name expression; tunable names in it are replaced by their values
  std::vector<Expression> grid;   // 1 to 3
  std::vector<Expression> block;  // 1 to 3
  std::optional<Expression> shared;                // dynamic shared memory, bytes
  std::vector<Expression> cluster;                 // empty: none
  bool cooperative = false;                        // a cooperative launch: all blocks are resident at once
  // If true, the kernel may start while the plan's previous step, also a kernel, still runs (`pdl`); refused on the
  // first step.
  bool programmatic_dependent_launch = false;
  std::vector<Argument> args;

  // memset
  std::string target;              // tensor or workspace
  int64_t memset_value = 0;        // byte value
  std::optional<Expression> memset_bytes;  // absent: the whole target

  int line = 0;  // line in the candidate's file, used in messages
};

// A candidate's whole plan: the comment at the top of its file, parsed.
struct LaunchPlan {
  std::vector<std::pair<std::string, std::vector<int64_t>>> tunables;  // name, choices; in file order
  // Expressions over tunables. A sweep leaves out a binding for which one of them is false.
  std::vector<std::string> constraints;
  std::vector<PlanEntry> entries;
  std::vector<WorkspaceSpec> workspaces;
  std::vector<TensorMapSpec> tensor_maps;
  std::vector<std::string> compiler_options;  // from the allowed list only
  std::string include_set;                    // "" (fp16, bf16), "full" (mma, cooperative groups, pipelines), "cute"
  bool host_mode = false;                     // weaker guarantee; see docs/candidate-format.md
  std::string host_function;                  // host mode: the C launch function
  // "cubin" or "ptx": the candidate is machine code from another compiler; "": source. See core/program/machine_code.h.
  std::string machine_code;
  std::string image;  // machine code: pattern of the image's file name, in which tunables' names stand for their values
};

struct Candidate {
  std::string name;    // file name or label, for messages
  std::string source;  // the whole file, plan comment included
  LaunchPlan plan;
};

// Parses a candidate. `task` gives tensor, scalar and dimension names; `is_oracle` allows `ref:NAME` arguments.
// Errors (kInvalidArgument) name file, line, field and remedy.
Result<Candidate> ParseCandidate(std::string_view source, std::string_view file, const Task& task,
                                 bool is_oracle = false);

// Returns whether the candidate uses CuTe: it has the `cute` include set and uses names of `cute`.
bool UsesCute(const Candidate& candidate);

// Returns the first choice of every tunable.
Binding DefaultBinding(const LaunchPlan& plan);
// Returns every binding that satisfies the constraints, in file order.
std::vector<Binding> AllBindings(const LaunchPlan& plan);

// The properties of a device on which a plan may depend. A DeviceSession reports the facts; for the simulator they come
// from a table.
struct DeviceFacts {
  std::string id;             // "cuda:0", "sim"
  std::string name;           // "NVIDIA H200"
  bool modelled = false;      // times are modelled, never measured
  int cc_major = 0, cc_minor = 0;  // compute capability
  int sm_count = 0;
  int64_t l2_bytes = 0;
  int64_t memory_bytes = 0;
  int64_t smem_per_block = 48 * 1024;
  int64_t smem_optin = 0;     // largest dynamic shared memory a block may opt in to
  int64_t smem_per_sm = 0;    // shared memory of an SM, in bytes
  int max_threads_per_block = 1024;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int64_t registers_per_sm = 65536;
  double memory_bandwidth = 0;      // bytes per second, datasheet
  double l2_bandwidth = 0;          // bytes per second; a warm time that would need more is refused as impossible
  double fp32_flops = 0;            // per second, datasheet, FMA counted as two
  double tensor_bf16_flops = 0;     // per second, dense datasheet
  std::string driver;               // driver version text, or the host compiler for the simulator
};

// One argument of a plan entry, resolved for one case to numbers.
struct ResolvedArgument {
  ArgumentKind kind = ArgumentKind::kInteger;
  std::string name;          // tensor, workspace or tensor map
  int64_t byte_offset = 0;   // pointers
  std::vector<uint8_t> bytes;  // kInteger, kScalar: the value as passed, in its C size
  std::vector<ResolvedArgument> fields;  // only for kStruct
};

// A pointer argument of a library call, and the number of bytes that the call reads or writes there.
struct ResolvedOperand {
  std::string name;  // tensor or workspace
  int64_t byte_offset = 0;
  int64_t bytes = 0;
};

// A convolution for one case; see ConvolutionSizes. All lists have one value per axis.
struct ResolvedConvolution {
  int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;  // all at least 1
  std::vector<int64_t> size, kernel, stride, padding, dilation, output_padding;
  bool transposed = false;

  // Returns the extent of the output along an axis of the image.
  int64_t OutSize(size_t axis) const {
    // the input elements from the kernel's first tap to its last, both included
    const int64_t reach = dilation[axis] * (kernel[axis] - 1) + 1;
    return transposed ? (size[axis] - 1) * stride[axis] - 2 * padding[axis] + reach + output_padding[axis]
                      : (size[axis] + 2 * padding[axis] - reach) / stride[axis] + 1;
  }
};

// A library call, resolved for one case (LibraryCall describes the operands).
struct ResolvedCall {
  ResolvedOperand a, b, out;
  std::optional<ResolvedOperand> bias;
  std::optional<ResolvedConvolution> convolution;
  // The fields below describe a matrix product; a convolution has `algorithm` and `dtype` as well.
  int64_t m = 0, n = 0, k = 0, batch = 1;  // all at least 1
  int64_t algorithm = 0;                   // index into the library's algorithms (LibraryCall::algorithm)
  bool transpose_a = false, transpose_b = false;
  DType dtype = DType::kFloat32;
  std::string epilogue = "none";

  double flops() const;   // a multiply-add counts as two; multiplications by padding are counted too
  double bytes() const {  // each operand is read or written once
    return static_cast<double>(a.bytes + b.bytes + out.bytes + (bias ? bias->bytes : 0));
  }
  std::string Describe() const;  // "matmul 64x128x32 float16 by cuBLASLt"
};

// One step of a plan, resolved for one case: a launch, a memset, or a library call.
struct ResolvedStep {
  bool is_memset = false;
  std::optional<ResolvedCall> call;
  bool is_launch() const { return !is_memset && !call; }
  size_t entry = 0;              // index into LaunchPlan::entries
  std::string binding_key;       // key of the compiled module
  std::string kernel;            // name expression with tunables replaced
  std::array<int64_t, 3> grid{1, 1, 1};
  std::array<int64_t, 3> block{1, 1, 1};
  std::array<int64_t, 3> cluster{0, 0, 0};  // zeros: none
  int64_t shared_bytes = 0;
  bool cooperative = false;
  bool programmatic_dependent_launch = false;
  std::vector<ResolvedArgument> args;
  std::string target;            // memset
  int64_t memset_value = 0;
  int64_t memset_bytes = 0;
};

struct ResolvedWorkspace {
  std::string name;
  int64_t bytes = 0;
  int64_t align = 256;
  bool zero_on_entry = false;
};

struct ResolvedTensorMap {
  TensorMapSpec spec;
  std::vector<int64_t> dims, strides, box, element_strides;
};

// A plan with every expression evaluated for one case: what a device session executes.
struct ResolvedPlan {
  std::vector<ResolvedStep> steps;  // without launches whose grid has a zero extent
  // For each step, the index into LaunchPlan::entries of the alternative that runs, launches of empty grids included.
  std::vector<size_t> chosen;
  std::vector<ResolvedWorkspace> workspaces;
  std::vector<ResolvedTensorMap> tensor_maps;
};

// Answers `occupancy(kernel)`: how many blocks of the entry's kernel fit on an SM. The answer is known only after
// compiling.
using OccupancyQuery = std::function<Result<int64_t>(const std::string& kernel, const std::string& binding_key,
                                                     int64_t block_threads, int64_t shared_bytes)>;

// Resolves a plan for one case. A plan that cannot run for a case is an expected outcome, for which the candidate is at
// fault. The caller turns the Status, which names line and field, into a verdict: kInvalidArgument into launch_error
// (or parse_error); kResourceExhausted (more threads, shared memory, grid or cluster than the device has) into
// resource_limit. kNotFound: no alternative of some step holds for these dimensions; the task's seed then runs instead,
// if there is one. `binding` overrides default tunables; an entry's own `with` overrides both. `base_align` answers
// align(x): the alignment in bytes of each tensor's base address. Without `occupancy`, occupancy() is answered by an
// upper bound from threads and shared memory.
Result<ResolvedPlan> ResolvePlan(const Candidate& candidate, const Task& task, const Dims& dims,
                                 const Binding& binding, const DeviceFacts& facts,
                                 const OccupancyQuery& occupancy = {},
                                 const std::map<std::string, int64_t>& base_align = {});

// Holds one module to compile: a binding of the tunables, and the kernels that are needed under this binding. The
// binding is ResolvePlan's, possibly changed by the `with` of a plan entry.
struct CompileUnit {
  Binding binding;
  std::vector<std::string> kernels;  // name expressions, tunables replaced; no repeats
};
// Returns the modules that a plan needs with this binding. `binding` overrides default tunables.
std::vector<CompileUnit> CompileUnits(const Candidate& candidate, const Binding& binding);

// Returns the line of the plan's first [[call]]; 0 if the plan calls no library.
int LineOfCall(const LaunchPlan& plan);

}  // namespace hone
