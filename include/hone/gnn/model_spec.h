// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes a model as a value: a directed graph of named values, each made once, by one operation, from earlier
// values.
//
// The graph's feature rows are the value "x", and the last value gives the logits. A spec says what is computed and in
// which order; a device interprets it (docs/models-spec.md). Specs are plain values: they can be compared, written as
// TOML and read back, and a checkpoint keeps the spec of its model.
//
// Rows: a batch knows its seeds, the nodes within one hop of them, within two, and so on, each set the first rows of
// the next. Row set `hop` h is the nodes within h hops; 0 is the seeds. An aggregation makes rows of h from rows of h +
// 1. A value is computed only for the rows that its uses read, so a Linear of a node's own row that is added to an
// aggregation costs destinations, not sources. The model has as many layers as the number of hops at which "x" is
// needed.
//
// Order: operands are accumulated in the order given (by an Add; a Linear that only an Add reads adds its product
// directly to the sum). Backward is derived from the spec alone: values in reverse order, and a value's gradient is the
// sum of what its uses send, in the order in which the spec lists those uses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

struct ModelOptions;  // hone/gnn/model.h

inline constexpr std::string_view kSpecInput = "x";  // the value of the feature rows
inline constexpr int64_t kClassWidth = -1;           // a width: the graph's number of classes

// Aggregation: out[i] = how(rows of the in-neighbors drawn for i); zero where there are none.
struct AggregateSpec {
  enum class How : uint8_t { kMean, kSum, kMax } how = How::kMean;
  // kSymmetric (with kSum alone) is Kipf and Welling's normalisation of A + I: neighbor u of v has weight 1 /
  // sqrt((d(u) + 1) * (d(v) + 1)), and v itself 1 / (d(v) + 1), d being the in-degree in the whole graph. If k of d(v)
  // neighbors were drawn, the neighbors' part is multiplied by d(v) / k, so that a sample estimates the whole sum.
  enum class Scale : uint8_t { kNone, kSymmetric } scale = Scale::kNone;
  bool operator==(const AggregateSpec&) const = default;
};

// Graph attention (GatConvOptions of hone/gnn/layer.h): projection, softmax over neighbors and the node itself,
// weighted sum. The parameters are NAME.lin.weight, NAME.att_src, NAME.att_dst; with a bias NAME.bias.
struct AttentionSpec {
  int64_t width = 0;  // width of one head; or kClassWidth
  int heads = 1;
  bool concatenate = true;  // heads * width columns; otherwise their mean: width
  double negative_slope = 0.2;
  bool bias = false;
  bool operator==(const AttentionSpec&) const = default;
};

// Linear map: x * weight^T + bias. The parameters are NAME.weight [width, columns of x] and NAME.bias [width].
struct LinearSpec {
  int64_t width = 0;  // kClassWidth: the number of classes
  bool bias = true;
  enum class Init : uint8_t { kFanIn, kXavierRelu, kGlorot } init = Init::kFanIn;
  bool operator==(const LinearSpec&) const = default;
};

// kBatch normalises over the rows of the batch, with running statistics (NAME.running_mean, …); kLayer over the columns
// of each row (Ba, Kiros and Hinton 2016). The parameters are NAME.weight and NAME.bias [columns].
struct NormSpec {
  enum class Over : uint8_t { kBatch, kLayer } over = Over::kBatch;
  bool operator==(const NormSpec&) const = default;
};

struct ActivateSpec {
  enum class Function : uint8_t { kRelu, kLeakyRelu, kElu } function = Function::kRelu;
  bool operator==(const ActivateSpec&) const = default;
};

// Dropout, in training only. A mask is a function of (seed, epoch, step, layer, site, node, column); no two masks of a
// layer share a site.
struct DropSpec {
  double probability = 0.5;
  int layer = -1;  // layer in the mask's key; -1: the value's layer
  int site = -1;   // 0 activation, 1 neighbors, 2 self, 3 input, 4 head, 128 to 255 free; -1: one that is free
  // Name of another Drop that the rows went through before: this mask then reuses that Drop's draws, layer and site,
  // which saves drawing a row twice. Empty: draws of its own.
  std::string after;
  bool operator==(const DropSpec&) const = default;
};

// Sum of the operands, in their order, on the rows that all of them have.
struct AddSpec {
  // The last operand is multiplied by 1 + eps, where NAME.eps is a constant [1], at first 0, as in PyG's GINConv.
  bool eps = false;
  bool operator==(const AddSpec&) const = default;
};

// Columns of the operands side by side, on the rows that all of them have.
struct ConcatSpec {
  bool operator==(const ConcatSpec&) const = default;
};

// Like ConcatSpec, on the seeds' rows only: jumping knowledge and heads over all layers read this.
struct CollectSpec {
  bool operator==(const CollectSpec&) const = default;
};

// Linear map to the classes, which ends the model.
struct HeadSpec {
  bool bias = true;
  bool operator==(const HeadSpec&) const = default;
};

// An operation that the program registered (op.h). The parameters are NAME.…, as its Layer calls them.
struct OwnSpec {
  std::string kind;
  int64_t width = 0;                           // or kClassWidth; 0: not given
  std::map<std::string, double> options = {};  // those that are given
  bool operator==(const OwnSpec&) const = default;
};

using OperationSpec = std::variant<AggregateSpec, AttentionSpec, LinearSpec, NormSpec, ActivateSpec, DropSpec, AddSpec,
                                   ConcatSpec, CollectSpec, HeadSpec, OwnSpec>;

struct ValueSpec {
  std::string name;  // letters, digits, _ and -; unique in the spec
  OperationSpec operation;
  std::vector<std::string> of;  // operands: values before this one, or "x"
  // Prefix of the operation's parameters in checkpoints; empty: the value's name. PyG's names load PyG's weights.
  std::string parameters;
  // Stream 0 … layers of the seed that draws the initial weights, in the order of the spec; -1: the value's layer.
  int stream = -1;
  bool operator==(const ValueSpec&) const = default;
};

struct ModelSpec {
  std::string name;
  std::vector<ValueSpec> values;
  bool operator==(const ModelSpec&) const = default;
};

// Shapes that a spec has for a graph. Index 0 is "x", index i + 1 is values[i].
struct SpecShapes {
  int layers = 0;
  std::vector<int> hop;                    // the row set for which each value is computed
  std::vector<int64_t> width;              // columns
  std::vector<std::vector<int>> operands;  // indices of each value's operands
  struct DropKey {
    int layer = -1, site = -1;
  };
  std::vector<DropKey> drop_keys;  // key of each Drop and of each registered operation; -1 elsewhere
  // Returns the layer that a value belongs to: layers - 1 - hop, and 0 for values made before the first aggregation.
  // The layer keys dropout and initial weights unless the spec gives other keys.
  int LayerOf(size_t value) const { return hop[value] == layers ? 0 : layers - 1 - hop[value]; }
};

// Checks names, operands, rows and widths; kInvalidArgument names the value, its operation, the shapes and the remedy.
// Allocates only the result.
Result<SpecShapes> CheckModelSpec(const ModelSpec& spec, int64_t in_width, int64_t num_classes);
// Returns the number of hops, which does not depend on the graph's widths; the same errors except those about widths.
Result<int> LayersOf(const ModelSpec& spec);

// Reads the TOML form (docs/models-spec.md); `file` names the text in messages. kInvalidArgument: "file:line: …".
Result<ModelSpec> ParseModelSpec(std::string_view text, std::string_view file);
// Reads a spec from a file. Errors: kNotFound, kIo, and those of ParseModelSpec.
Result<ModelSpec> ReadModelSpec(const std::string& path);
// Returns TOML that reads back as the same value; equal specs give equal texts.
std::string ModelSpecText(const ModelSpec& spec);

// Returns the first difference of two specs as a sentence: "value 'h1': width 64 and 32"; empty for equal ones.
std::string SpecDifference(const ModelSpec& a, const ModelSpec& b);

// Returns one of the published models (ModelOptions::kind sage, gat, gin, sage-ri) as a spec. On the CPU the spec
// trains to the same bits. kInvalidArgument names an option that is wrong.
Result<ModelSpec> PublishedSpec(const ModelOptions& options);

// Returns "linear", "aggregate", …: the operation's name in the TOML form.
std::string_view OperationName(const OperationSpec& operation);

}  // namespace hone::gnn
