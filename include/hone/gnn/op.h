// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines operations of your own: values of a spec (model_spec.h) that the engine does not know by itself.
//
// An operation reads one value and makes another, of the same rows or, if it aggregates, of the rows one hop further
// in. On the CPU it is a Layer (layer.h), in float and in double. For a GPU it is a DeviceOp: sizes that are known
// before anything is allocated, and work that is enqueued on a stream. Once its kind is registered, a spec names it
// like any other operation, `{name = "g", op = "gatv2", of = "both", width = 16, heads = 2}`, and models with it are
// checked, trained, checkpointed, predicted with and served. Exact inference (every neighbor) of such a model is the
// CPU's.
//
// op_conformance.h checks that an operation keeps the rules that are stated here; op_kernels.h has what kernels need.
// examples/gnn_own_operation is a whole one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/gnn/layer.h"

struct CUstream_st;  // cudaStream_t points to one

namespace hone::gnn {

// A number that a spec may give an operation.
struct OpOption {
  std::string
      name;  // letters, digits and _; not a field that every value has (name, op, of, parameters, stream, width)
  double usual = 0;  // value if the spec does not give one
  double least = 0, most = 1;
  bool whole = false;  // a whole number
};
using OpOptions = std::map<std::string, double>;  // every option of the kind, by name

// The place that an operation is made for: one value of one model.
struct OpPlace {
  std::string parameters;  // prefix of the parameters' names: "PREFIX.att"
  uint64_t seed = 0;       // seed of the initial weights
  int64_t in = 0;          // columns of the operand
  int64_t out = 0;         // columns of the value
  OpOptions options;
  // The layer and site of the value's dropout mask, which no other mask of the model has. A Layer's context comes with
  // this layer; a DeviceOp's hop with both.
  int layer = 0;
  uint8_t site = 0;
  int64_t Whole(const std::string& option) const { return static_cast<int64_t>(options.at(option)); }
};

// ---- on a GPU ----

enum class OpElement : uint8_t { kFloat32, kBFloat16 };

// The most that a batch may have, and what its rows are.
struct DeviceOpShape {
  int32_t most_dst = 0, most_src = 0;
  int32_t fanout = 0;                       // slots of a destination; 0 for an operation that does not aggregate
  OpElement element = OpElement::kFloat32;  // element of rows; parameters and their gradients are fp32
  bool trains = false;                      // backward follows forward
};

// Device memory that an operation asks for, in bytes; each piece is aligned to 256.
struct DeviceOpBytes {
  int64_t saved = 0;      // what forward leaves to backward; kept between them
  int64_t workspace = 0;  // scratch within one call
};

// A batch's edges and sizes, in device memory, for a kernel's parameters. Sizes are there and nowhere else: a launch is
// for `most_dst` or `most_src`, and stops at the batch's rows (NumDst and NumSrc of op_kernels.h).
struct DeviceHop {
  const uint32_t* valid = nullptr;  // 0: the batch does not count, and has no rows
  const int32_t* num_dst = nullptr;
  const int32_t* num_src = nullptr;
  int32_t most_dst = 0, most_src = 0, fanout = 0;
  // Slot s of destination i is slot i * fanout + s, for s < counts[i]; its source is columns[…]. Source i is
  // destination i. Equal sources may be several: a request (`serve`) gives every drawn neighbor a source of its own,
  // but a node's edge to itself always names the destination.
  const int32_t* columns = nullptr;
  const int32_t* counts = nullptr;
  // While training, the slots by source: slots_by_source[first[j]] … [end[j] - 1] are those of source j, ascending.
  const uint32_t* slots_by_source = nullptr;
  const int32_t* first = nullptr;
  const int32_t* end = nullptr;
  const int32_t* nodes = nullptr;  // global id of each source
  // The key of dropout masks, which Kept of op_kernels.h uses.
  const uint64_t* seed = nullptr;
  const uint32_t* step = nullptr;
  const uint32_t* epoch = nullptr;
  uint32_t layer = 0, site = 0;
};

// Rows in device memory, of the shape's element. `stride` is a multiple of 8, in elements; columns past `columns` are
// zero, and stay zero.
struct DeviceRows {
  void* data = nullptr;
  int64_t columns = 0;
  int64_t stride = 0;
};

struct DeviceOpCall {
  DeviceOpShape shape;
  DeviceHop hop;
  // In the order of the Layer's parameters, each as large as there; a gradient is null for a buffer.
  std::span<const float* const> parameters;
  std::span<float* const> gradients;
  void* saved = nullptr;
  void* workspace = nullptr;
  CUstream_st* stream = nullptr;
};

// An operation's form for a GPU. Its calls are captured in a CUDA graph and replayed for other batches:
//   * only work on `stream` (and streams that are forked from it and joined again), nothing read by the host;
//   * rows from the batch's sizes on are neither read nor written;
//   * sums have one order: the same batch and parameters give the same bits;
//   * outputs and gradients are overwritten, none is added to;
//   * nothing of a batch is kept but in `saved`: several batches may be under way with one object.
class DeviceOp {
 public:
  virtual ~DeviceOp() = default;
  virtual DeviceOpBytes Bytes(const DeviceOpShape& shape) const = 0;
  //   x    [num_src, in]
  //   out  [num_dst, out], overwritten
  virtual Status EnqueueForward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& out) const = 0;
  // After forward with the same call.
  //   grad_out  [num_dst, out], only read
  //   grad_x    [num_src, in], overwritten; data null: not wanted
  // The parameters' gradients are overwritten.
  virtual Status EnqueueBackward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& grad_out,
                                 const DeviceRows& grad_x) const = 0;
};

// ---- kinds ----

// A kind of operation; it keeps nothing of the values that are made of it.
class OpKind {
 public:
  virtual ~OpKind() = default;
  virtual std::string_view name() const = 0;  // in specs; lower-case letters, digits and _
  // Returns whether it makes rows one hop further in from rows of neighbors. Otherwise its Layer gets a block without
  // edges, whose destinations are its sources.
  virtual bool aggregates() const = 0;
  virtual std::vector<OpOption> options() const { return {}; }
  // Returns the columns of the value. `width` is the spec's, 0 where it gives none. kInvalidArgument with a clause that
  // goes on from "value 'g' (gatv2 of both)": "reads 30 columns: give it 2 * width".
  virtual Result<int64_t> Width(int64_t in, int64_t width, const OpOptions& options) const = 0;
  virtual std::unique_ptr<Layer<float>> MakeLayer(const OpPlace& place) const = 0;
  virtual std::unique_ptr<Layer<double>> MakeDoubleLayer(const OpPlace& place) const = 0;
  // Without one, a model with this operation is refused by a GPU before anything is allocated.
  virtual std::unique_ptr<DeviceOp> MakeDeviceOp(const OpPlace& /*place*/) const { return nullptr; }
};

// Makes a kind known to specs, for the life of the program. Thread-safe; models that were read before do not have it.
// kInvalidArgument: a name or an option's name that is malformed or taken.
Status RegisterOp(std::unique_ptr<const OpKind> kind);
// Returns null for an unknown name.
const OpKind* FindOp(std::string_view name);
// In the order in which they were registered.
std::vector<const OpKind*> RegisteredOps();

}  // namespace hone::gnn
