// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines operations of your own: operations that a spec (model_spec.h) can name and that are not built into the
// engine.
//
// An operation reads one value and makes another. The rows stay the same or, if the operation aggregates, become those
// one hop closer to the seeds. On the CPU an operation is a Layer (layer.h), in float and in double. For a GPU it is a
// DeviceOp, with sizes that are known before anything is allocated and work that is enqueued on a stream. Once its kind
// is registered, a spec names it like any other operation, `{name = "g", op = "gatv2", of = "both", width = 16, heads =
// 2}`, and models with it can be checked, trained, checkpointed, predicted with and served. Exact inference (every
// neighbor) of such a model runs on the CPU only.
//
// op_conformance.h checks that an operation keeps the rules stated here, and op_kernels.h has device functions for its
// kernels. examples/gnn_own_operation is a complete example.
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

// A numeric option of an operation, which a spec may set.
struct OpOption {
  std::string
      name;  // letters, digits and _; not a field that every value has (name, op, of, parameters, stream, width)
  double usual = 0;            // default value
  double least = 0, most = 1;  // allowed values, both ends included
  bool whole = false;          // true: only whole numbers are allowed
};
using OpOptions = std::map<std::string, double>;  // every option of the kind, by name

// The context in which one value of one model uses an operation.
struct OpPlace {
  std::string parameters;  // prefix of the parameters' names: "PREFIX.att"
  uint64_t seed = 0;       // seed of the initial weights
  int64_t in = 0;          // columns of the operand
  int64_t out = 0;         // columns of the value
  // Columns of the graph's edge features; 0 if the graph has none, or if the kind does not read them
  // (OpKind::edge_features).
  int64_t edge_columns = 0;
  OpOptions options;
  // Layer and site of the value's dropout mask; no other mask of the model has the same two. A Layer gets this layer in
  // its LayerContext; a DeviceOp gets both in its DeviceHop.
  int layer = 0;
  uint8_t site = 0;
  // Returns the value of an option that is a whole number.
  int64_t Whole(const std::string& option) const { return static_cast<int64_t>(options.at(option)); }
};

// ---- on a GPU ----

enum class OpElement : uint8_t { kFloat32, kBFloat16 };

// Upper bounds of a batch's sizes, and the type of its rows.
struct DeviceOpShape {
  int32_t most_dst = 0, most_src = 0;
  int32_t fanout = 0;                       // slots per destination; 0 for an operation that does not aggregate
  OpElement element = OpElement::kFloat32;  // element type of rows; parameters and their gradients are fp32
  bool trains = false;                      // EnqueueBackward follows EnqueueForward
};

// Device memory that an operation asks for, in bytes; each piece is aligned to 256.
struct DeviceOpBytes {
  int64_t saved = 0;      // what forward leaves to backward; kept between them
  int64_t workspace = 0;  // scratch that is used within one call only
};

// A batch's edges and sizes in device memory, for a kernel's parameters. The host does not know the batch's sizes. A
// kernel is therefore launched for `most_dst` or `most_src` rows, and returns early for rows beyond NumDst or NumSrc
// (op_kernels.h).
struct DeviceHop {
  const uint32_t* valid = nullptr;  // the batch's flag; 0: the batch is to be ignored and has no rows
  const int32_t* num_dst = nullptr;
  const int32_t* num_src = nullptr;
  int32_t most_dst = 0, most_src = 0, fanout = 0;
  // Slot s of destination i is slot i * fanout + s, for s < counts[i], and columns[…] is its source. Source i and
  // destination i are the same node. One node may be several sources: a request to a server (`serve`) gives every drawn
  // neighbor a source of its own. A node's edge to itself, however, always names the destination.
  const int32_t* columns = nullptr;
  const int32_t* counts = nullptr;
  // While training, the slots sorted by source: slots_by_source[first[j]] … [end[j] - 1] are those of source j,
  // ascending.
  const uint32_t* slots_by_source = nullptr;
  const int32_t* first = nullptr;
  const int32_t* end = nullptr;
  const int32_t* nodes = nullptr;  // global id of each source
  // Features of the edges, for an operation that reads them; null: there are none. Those of the edge in slot k are
  // edge_features[k * edge_stride] … [k * edge_stride + edge_columns - 1], always in fp32. Slots without an edge have
  // undefined values. The memory is only read, and is the same in forward and backward.
  const float* edge_features = nullptr;
  int32_t edge_columns = 0, edge_stride = 0;
  // The key of dropout masks, which Kept of op_kernels.h uses.
  const uint64_t* seed = nullptr;
  const uint32_t* step = nullptr;
  const uint32_t* epoch = nullptr;
  uint32_t layer = 0, site = 0;
};

// Rows in device memory, with the element type of the shape. `stride` is a multiple of 8, in elements. A kernel must
// leave the columns from `columns` on, which are zero, unchanged.
struct DeviceRows {
  void* data = nullptr;
  int64_t columns = 0;
  int64_t stride = 0;
};

struct DeviceOpCall {
  DeviceOpShape shape;
  DeviceHop hop;
  // Parameters and gradients are in the order of the Layer's parameters, with the same sizes; a buffer's gradient is
  // null.
  std::span<const float* const> parameters;
  std::span<float* const> gradients;
  void* saved = nullptr;
  void* workspace = nullptr;
  CUstream_st* stream = nullptr;
};

// An operation's form for a GPU. The engine captures its calls in a CUDA graph and replays them for other batches, so
// that these rules hold:
//   * work goes only to `stream` and to streams forked from it and joined again; the host reads nothing;
//   * rows beyond the batch's sizes are neither read nor written;
//   * sums have a fixed order: the same batch and parameters give the same bits;
//   * outputs and gradients are overwritten, not added to;
//   * a batch's state is kept in `saved` only, because several batches may be in flight with one object.
class DeviceOp {
 public:
  virtual ~DeviceOp() = default;
  virtual DeviceOpBytes Bytes(const DeviceOpShape& shape) const = 0;
  //   x    [num_src, in]
  //   out  [num_dst, out], overwritten
  virtual Status EnqueueForward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& out) const = 0;
  // Enqueues the backward pass. Called after EnqueueForward, with the same call and x.
  //   grad_out  [num_dst, out], only read
  //   grad_x    [num_src, in], overwritten; if its data is null, do not compute it
  // The parameters' gradients are overwritten.
  virtual Status EnqueueBackward(const DeviceOpCall& call, const DeviceRows& x, const DeviceRows& grad_out,
                                 const DeviceRows& grad_x) const = 0;
};

// ---- kinds ----

// Whether an operation reads the features of the edges (Graph::edge_features). Only an aggregating kind can.
enum class EdgeFeatureUse : uint8_t {
  kNone,     // never; batches are then sampled without the positions of edges, which costs nothing
  kIfThere,  // if the graph has them; OpPlace::edge_columns is 0 otherwise
  kNeeded,   // always; a graph whose edges have no features is refused
};

// A kind of operation, of which many values may be made. A kind is stateless.
class OpKind {
 public:
  virtual ~OpKind() = default;
  virtual std::string_view name() const = 0;  // in specs; lower-case letters, digits and _
  // Returns true if the operation computes rows one hop closer to the seeds from rows of neighbors. Otherwise its Layer
  // gets a block without edges, in which destinations and sources are the same rows.
  virtual bool aggregates() const = 0;
  // A kind that reads edge features gets those of a batch gathered by hop, one row for each drawn edge: a Layer in
  // LayerContext::EdgeRows, a DeviceOp in DeviceHop::edge_features. They are constants, without a gradient.
  virtual EdgeFeatureUse edge_features() const { return EdgeFeatureUse::kNone; }
  virtual std::vector<OpOption> options() const { return {}; }
  // Returns the columns of the value. `in` is the operand's columns; `width` is the spec's, or 0 if it gives none.
  // kInvalidArgument has a clause, such as "reads 30 columns: give it 2 * width", which the engine puts after the
  // value's name and operation: "value 'g' (gatv2 of both)".
  virtual Result<int64_t> Width(int64_t in, int64_t width, const OpOptions& options) const = 0;
  virtual std::unique_ptr<Layer<float>> MakeLayer(const OpPlace& place) const = 0;
  virtual std::unique_ptr<Layer<double>> MakeDoubleLayer(const OpPlace& place) const = 0;
  // Makes the form for a GPU; null: there is none, and a GPU refuses models with this operation before it allocates
  // anything.
  virtual std::unique_ptr<DeviceOp> MakeDeviceOp(const OpPlace& /*place*/) const { return nullptr; }
};

// Makes a kind known to specs, for the life of the process. Thread-safe. Models that were read before do not see the
// new kind. kInvalidArgument: the kind's name or an option's name is malformed or taken, or the kind reads edge
// features and does not aggregate.
Status RegisterOp(std::unique_ptr<const OpKind> kind);
// Returns the kind of this name, owned by the registry; null for an unknown name.
const OpKind* FindOp(std::string_view name);
// Returns all kinds, in the order of their registration.
std::vector<const OpKind*> RegisteredOps();

}  // namespace hone::gnn
