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
// Rows: a batch knows its seeds, the nodes within one hop of them, the nodes within two hops, and so on; each set is
// the first rows of the next. Row set `hop` h is the nodes within h hops; h = 0 is the seeds. An aggregation computes
// rows of set h from rows of set h + 1. A value is computed only for the rows that its uses read: a Linear of a node's
// own row that is added to an aggregation runs on the aggregation's destinations, not on its sources. The model has as
// many layers as the number of hops at which "x" is needed.
//
// Order: an Add accumulates its operands in the order given; a Linear that only an Add reads adds its product directly
// to the sum. The backward pass is derived from the spec alone. It visits the values in reverse order; a value's
// gradient is the sum of the gradients from its uses, in the order in which the spec lists the uses.
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

inline constexpr std::string_view kSpecInput = "x";  // name of the value that holds the feature rows
inline constexpr int64_t kClassWidth = -1;           // as a width: the graph's number of classes

// Aggregation: out[i] = how(rows of the in-neighbors drawn for i); zero where there are none.
struct AggregateSpec {
  enum class How : uint8_t { kMean, kSum, kMax } how = How::kMean;
  // kSymmetric (with kSum only) is Kipf and Welling's normalisation of A + I. Neighbor u of v has weight 1 / sqrt((d(u)
  // + 1) * (d(v) + 1)) and v itself has 1 / (d(v) + 1), where d is the in-degree in the whole graph. If k of the d(v)
  // neighbors were drawn, the neighbors' part is multiplied by d(v) / k, so that a sample estimates the sum over all
  // neighbors.
  enum class Scale : uint8_t { kNone, kSymmetric } scale = Scale::kNone;
  bool operator==(const AggregateSpec&) const = default;
};

// Graph attention (GatConvOptions of hone/gnn/layer.h): projection, softmax over neighbors and the node itself,
// weighted sum. The parameters are NAME.lin.weight, NAME.att_src, NAME.att_dst; with a bias NAME.bias.
struct AttentionSpec {
  int64_t width = 0;  // width of one head; or kClassWidth
  int heads = 1;
  bool concatenate = true;      // true: heads * width columns, side by side; false: the heads' mean, width columns
  double negative_slope = 0.2;  // of the leaky ReLU that the scores go through
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

// Normalisation. kBatch normalises each column over the rows of the batch, with running statistics (NAME.running_mean,
// …). kLayer normalises each row over its columns (Ba, Kiros and Hinton 2016). The parameters are NAME.weight and
// NAME.bias [columns].
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
  int site =
      -1;  // 0 activation, 1 neighbors, 2 self, 3 input, 4 head, 128 to 255 free; -1: a site that no other mask uses
  // Name of an earlier Drop that these rows already went through. This mask then reuses that Drop's draws, layer and
  // site, which saves drawing a row twice. Empty: the mask has draws of its own.
  std::string after;
  bool operator==(const DropSpec&) const = default;
};

// Sum of the operands, in their order, on the rows that all of them have.
struct AddSpec {
  // If true, the last operand is multiplied by 1 + eps. NAME.eps is a constant [1], initially 0, as in PyG's GINConv.
  bool eps = false;
  bool operator==(const AddSpec&) const = default;
};

// Columns of the operands side by side, on the rows that all of them have.
struct ConcatSpec {
  bool operator==(const ConcatSpec&) const = default;
};

// Like ConcatSpec, on the seeds' rows only. Jumping knowledge and heads that read all layers use it.
struct CollectSpec {
  bool operator==(const CollectSpec&) const = default;
};

// Linear map to the classes, which ends the model.
struct HeadSpec {
  bool bias = true;
  bool operator==(const HeadSpec&) const = default;
};

// An operation that the program registered (op.h). The parameters are NAME.SUFFIX, with the suffixes that its Layer
// gives.
struct OwnSpec {
  std::string kind;                            // OpKind::name()
  int64_t width = 0;                           // as in the spec, or kClassWidth; 0: the spec gives none
  std::map<std::string, double> options = {};  // only those that the spec gives
  bool operator==(const OwnSpec&) const = default;
};

using OperationSpec = std::variant<AggregateSpec, AttentionSpec, LinearSpec, NormSpec, ActivateSpec, DropSpec, AddSpec,
                                   ConcatSpec, CollectSpec, HeadSpec, OwnSpec>;

struct ValueSpec {
  std::string name;  // letters, digits, _ and -; unique in the spec
  OperationSpec operation;
  std::vector<std::string> of;  // operands: values before this one, or "x"
  // Prefix of the operation's parameters in checkpoints; empty: the value's name. With PyG's names, PyG's weights can
  // be loaded.
  std::string parameters;
  // Stream (0 … layers) of the seed's random numbers from which the initial weights are drawn; values of one stream
  // draw in the order of the spec. -1: the value's layer.
  int stream = -1;
  bool operator==(const ValueSpec&) const = default;
};

struct ModelSpec {
  std::string name;
  std::vector<ValueSpec> values;
  bool operator==(const ModelSpec&) const = default;
};

// The shapes that a spec has for one graph. In each list, index 0 is "x" and index i + 1 is values[i].
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
// Returns the number of hops, for which the graph's widths are not needed. Errors are those of CheckModelSpec, except
// those about widths.
Result<int> LayersOf(const ModelSpec& spec);

// Reads the TOML form (docs/models-spec.md); `file` names the text in messages. kInvalidArgument: "file:line: …".
Result<ModelSpec> ParseModelSpec(std::string_view text, std::string_view file);
// Reads a spec from a file. Errors: kNotFound, kIo, and those of ParseModelSpec.
Result<ModelSpec> ReadModelSpec(const std::string& path);
// Returns TOML that reads back as the same value; equal specs give equal texts.
std::string ModelSpecText(const ModelSpec& spec);

// Returns the first difference of two specs as a sentence, such as "value 'h1': width 64 and 32"; empty for equal
// specs.
std::string SpecDifference(const ModelSpec& a, const ModelSpec& b);

// Returns one of the published models (ModelOptions::kind sage, gat, gin, sage-ri) as a spec. On the CPU the spec
// trains to the same bits. kInvalidArgument names an option that is wrong.
Result<ModelSpec> PublishedSpec(const ModelOptions& options);

// Returns the operation's name in the TOML form: "linear", "aggregate", ….
std::string_view OperationName(const OperationSpec& operation);

}  // namespace hone::gnn
