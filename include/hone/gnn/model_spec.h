// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model as a value: a directed graph of named values, each made once, by one operation, from values before it.
//
// The graph's feature rows are the value "x", and the last value gives the logits. A spec says what is computed and in
// which order; a device interprets it (docs/models-spec.md). Specs are plain values: they can be compared, written as
// TOML and read back, and a checkpoint keeps the spec of its model.
//
// Rows. A batch knows its seeds, the nodes within one hop of them, within two, and so on, each set the first rows of
// the next. Row set `hop` h is the nodes within h hops; 0 is the seeds. An aggregation makes rows of h from rows of
// h + 1. A value is computed for the rows that its uses read and for no others, so a Linear of a node's own row beside
// an aggregation costs destinations, not sources. The number of hops that "x" is needed at is the number of the model's
// layers.
//
// Order. Operands are accumulated in the order in which they are given (an Add; a Linear that nothing but an Add reads
// adds its product to the sum itself). Backward is derived from the spec alone: values in reverse order, and a value's
// gradient is the sum of what its uses send, in the order in which the spec lists those uses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hone/base/status.h"

namespace hone::gnn {

struct ModelOptions;  // hone/gnn/model.h

inline constexpr std::string_view kSpecInput = "x";  // the value of the feature rows
inline constexpr int64_t kClassWidth = -1;           // a width: as many columns as the graph has classes

// out[i] = how(rows of the in-neighbors drawn for i); zero where there are none.
struct AggregateSpec {
  enum class How : uint8_t { kMean, kSum, kMax } how = How::kMean;
  // kSymmetric (with kSum alone) is Kipf and Welling's normalisation of A + I: neighbor u of v counts
  // 1 / sqrt((d(u) + 1) * (d(v) + 1)), and v itself 1 / (d(v) + 1), d being the in-degree in the whole graph. Where k
  // of d(v) neighbors were drawn the neighbors' part is multiplied by d(v) / k, so that a sample estimates the whole
  // sum.
  enum class Scale : uint8_t { kNone, kSymmetric } scale = Scale::kNone;
  bool operator==(const AggregateSpec&) const = default;
};

// Graph attention (GatConvOptions of hone/gnn/layer.h): projection, softmax over neighbors and the node itself,
// weighted sum. Parameters NAME.lin.weight, NAME.att_src, NAME.att_dst; with a bias NAME.bias.
struct AttentionSpec {
  int64_t width = 0;  // of one head; or kClassWidth
  int heads = 1;
  bool concatenate = true;  // heads * width columns; otherwise their mean: width
  double negative_slope = 0.2;
  bool bias = false;
  bool operator==(const AttentionSpec&) const = default;
};

// x * weight^T + bias. Parameters NAME.weight [width, columns of x] and NAME.bias [width].
struct LinearSpec {
  int64_t width = 0;  // or kClassWidth
  bool bias = true;
  enum class Init : uint8_t { kFanIn, kXavierRelu, kGlorot } init = Init::kFanIn;
  bool operator==(const LinearSpec&) const = default;
};

// kBatch: over the rows of the batch, with running statistics (NAME.running_mean, …). kLayer: over the columns of each
// row (Ba, Kiros and Hinton 2016). Parameters NAME.weight and NAME.bias [columns].
struct NormSpec {
  enum class Over : uint8_t { kBatch, kLayer } over = Over::kBatch;
  bool operator==(const NormSpec&) const = default;
};

struct ActivateSpec {
  enum class Function : uint8_t { kRelu, kLeakyRelu, kElu } function = Function::kRelu;
  bool operator==(const ActivateSpec&) const = default;
};

// Dropout, in training alone. A mask is a function of (seed, epoch, step, layer, site, node, column); no two masks of a
// layer share a site.
struct DropSpec {
  double probability = 0.5;
  int layer = -1;  // of the key; -1: the value's layer
  int site = -1;   // 0 activation, 1 neighbors, 2 self, 3 input, 4 head, 128 to 255 free; -1: one that is free
  // Another Drop, which the rows went through before: this mask is then taken from the same draws, which saves drawing
  // a row twice. Layer and site are that one's. Empty: draws of its own.
  std::string after;
  bool operator==(const DropSpec&) const = default;
};

// The sum of its operands, in their order, on the rows that all of them have.
struct AddSpec {
  // The last operand counts 1 + eps, a constant [1] of 0 at first with the name NAME.eps, as in PyG's GINConv.
  bool eps = false;
  bool operator==(const AddSpec&) const = default;
};

// The columns of its operands side by side, on the rows that all of them have.
struct ConcatSpec {
  bool operator==(const ConcatSpec&) const = default;
};

// The same on the seeds' rows alone: what jumping knowledge and a head over all layers read.
struct CollectSpec {
  bool operator==(const CollectSpec&) const = default;
};

// A Linear to the classes, which ends the model.
struct HeadSpec {
  bool bias = true;
  bool operator==(const HeadSpec&) const = default;
};

using OperationSpec = std::variant<AggregateSpec, AttentionSpec, LinearSpec, NormSpec, ActivateSpec, DropSpec, AddSpec,
                                   ConcatSpec, CollectSpec, HeadSpec>;

struct ValueSpec {
  std::string name;  // letters, digits, _ and -; unique in the spec
  OperationSpec operation;
  std::vector<std::string> of;  // operands: values before this one, or "x"
  // How the operation's parameters are named in checkpoints; empty: as the value. PyG's names load PyG's weights.
  std::string parameters;
  // Initial weights are drawn from stream 0 … layers of the seed, in the order of the spec; -1: the value's layer.
  int stream = -1;
  bool operator==(const ValueSpec&) const = default;
};

struct ModelSpec {
  std::string name;
  std::vector<ValueSpec> values;
  bool operator==(const ModelSpec&) const = default;
};

// What a spec is for a graph. Index 0 is "x", index i + 1 is values[i].
struct SpecShapes {
  int layers = 0;
  std::vector<int> hop;                    // the row set for which each value is computed
  std::vector<int64_t> width;              // columns
  std::vector<std::vector<int>> operands;  // indices of each value's operands
  struct DropKey {
    int layer = -1, site = -1;
  };
  std::vector<DropKey> drop_keys;  // of each Drop; -1 elsewhere
  // The layer that a value belongs to: layers - 1 - hop, and 0 for what is made before the first aggregation. It keys
  // dropout and initial weights where the spec does not.
  int LayerOf(size_t value) const { return hop[value] == layers ? 0 : layers - 1 - hop[value]; }
};

// Checks names, operands, rows and widths; kInvalidArgument names the value, its operation, the shapes and the remedy.
// Nothing is allocated but the result.
Result<SpecShapes> CheckModelSpec(const ModelSpec& spec, int64_t in_width, int64_t num_classes);
// The number of hops, which the widths of a graph have no part in; the same errors but for those of widths.
Result<int> LayersOf(const ModelSpec& spec);

// The TOML form (docs/models-spec.md); `file` names the text in messages. kInvalidArgument: "file:line: …".
Result<ModelSpec> ParseModelSpec(std::string_view text, std::string_view file);
// kNotFound, kIo, and what ParseModelSpec says.
Result<ModelSpec> ReadModelSpec(const std::string& path);
// A text that reads back as the same value, the same for equal specs.
std::string ModelSpecText(const ModelSpec& spec);

// What stands first in two specs that differ, in a sentence: "value 'h1': width 64 and 32"; empty for equal ones.
std::string SpecDifference(const ModelSpec& a, const ModelSpec& b);

// One of the published models (ModelOptions::kind sage, gat, gin, sage-ri) as a spec. On the CPU it trains to the same
// bits. kInvalidArgument names an option that is wrong.
Result<ModelSpec> PublishedSpec(const ModelOptions& options);

// "linear", "aggregate", … as the TOML form calls it.
std::string_view OperationName(const OperationSpec& operation);

}  // namespace hone::gnn
