// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Expresses the published models as specs. Names of parameters, order of operands, sites of masks and streams of
// initial weights match the layers in this folder, so that both ways give the same bits.
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "gnn/nn/stack_model.h"
#include "hone/gnn/model_spec.h"

namespace hone::gnn {
namespace {

// Returns the number of a site (gnn/ops/dropout.h) in specs.
int SiteOf(DropoutSite site) { return static_cast<int>(site); }

class Writer {
 public:
  Writer(const ModelOptions& options, std::string name) : options_(options) { spec_.name = std::move(name); }

  // Returns the name of a value: `word`, then the number of its layer.
  std::string Name(const std::string& word, int layer) const { return word + std::to_string(layer); }

  // Appends a value, and returns its name.
  std::string Put(const std::string& name, OperationSpec operation, std::vector<std::string> operands,
                  const std::string& parameters = "", int stream = -1) {
    spec_.values.push_back({name, std::move(operation), std::move(operands), parameters, stream});
    return name;
  }
  // Appends a normalisation, if the options ask for one. Returns the name of the value that holds the result.
  std::string PutNorm(const std::string& name, bool has_norm, const std::string& operand,
                      const std::string& parameters) {
    return has_norm ? Put(name, NormSpec{}, {operand}, parameters) : operand;
  }
  // Appends an activation, unless it is the identity. Returns the name of the value that holds the result.
  std::string PutActivation(const std::string& name, Activation activation, const std::string& operand) {
    if (activation == Activation::kIdentity) return operand;
    return Put(name, ActivateSpec{static_cast<ActivateSpec::Function>(static_cast<int>(activation) - 1)}, {operand});
  }
  // Appends a dropout, unless its probability is 0. Returns the name of the value that holds the result.
  std::string PutDrop(const std::string& name, double probability, int layer, DropoutSite site,
                      const std::string& operand) {
    if (!DropoutRate(probability).active()) return operand;
    return Put(name, DropSpec{probability, layer, SiteOf(site), ""}, {operand});
  }
  int64_t OutOf(int layer) const { return layer + 1 == options_.layers ? kClassWidth : options_.hidden; }

  ModelSpec Take() { return std::move(spec_); }

 private:
  const ModelOptions& options_;
  ModelSpec spec_;
};
static_assert(static_cast<int>(Activation::kRelu) == 1 && static_cast<int>(Activation::kLeakyRelu) == 2 &&
                  static_cast<int>(Activation::kElu) == 3,
              "ActivateSpec::Function follows Activation");

AggregateSpec::How HowOf(const std::string& aggregation) {
  return aggregation == "max"   ? AggregateSpec::How::kMax
         : aggregation == "sum" ? AggregateSpec::How::kSum
                                : AggregateSpec::How::kMean;
}

double DropoutOf(const ModelOptions& o, double usual) { return o.dropout < 0 ? usual : o.dropout; }

// Appends the operations between two layers of sage and gat.
std::string PutBetween(Writer& writer, const ModelOptions& o, Activation activation, int layer, std::string h) {
  if (layer + 1 == o.layers) return h;
  h = writer.PutNorm(writer.Name("norm", layer), o.norm == "batch", h, "bns." + std::to_string(layer));
  h = writer.PutActivation(writer.Name("act", layer), activation, h);
  return writer.PutDrop(writer.Name("drop", layer), DropoutOf(o, 0.5), layer, DropoutSite::kActivation, h);
}

ModelSpec SageSpec(const ModelOptions& o, Activation activation) {
  Writer writer(o, "sage");
  std::string h(kSpecInput);
  for (int i = 0; i < o.layers; ++i) {
    const std::string conv = "convs." + std::to_string(i);
    const std::string gathered = writer.Put(writer.Name("gathered", i), AggregateSpec{HowOf(o.aggregation)}, {h});
    const std::string left =
        writer.Put(writer.Name("neighbors", i), LinearSpec{writer.OutOf(i), o.bias}, {gathered}, conv + ".lin_l");
    const std::string right =
        writer.Put(writer.Name("self", i), LinearSpec{writer.OutOf(i), false}, {h}, conv + ".lin_r");
    h = PutBetween(writer, o, activation, i, writer.Put(writer.Name("conv", i), AddSpec{}, {left, right}));
  }
  return writer.Take();
}

ModelSpec GatSpec(const ModelOptions& o, Activation activation) {
  Writer writer(o, "gat");
  std::string h(kSpecInput);
  for (int i = 0; i < o.layers; ++i) {
    const bool is_last = i + 1 == o.layers;
    AttentionSpec attention;
    attention.width = is_last ? kClassWidth : o.hidden / o.heads;
    attention.heads = o.heads;
    attention.concatenate = !is_last;
    attention.negative_slope = o.negative_slope;
    attention.bias = o.bias;
    h = PutBetween(writer, o, activation, i,
                   writer.Put(writer.Name("conv", i), attention, {h}, "convs." + std::to_string(i)));
  }
  return writer.Take();
}

ModelSpec GinSpec(const ModelOptions& o, Activation activation) {
  Writer writer(o, "gin");
  std::string h(kSpecInput);
  const bool norm = o.norm != "none";
  for (int i = 0; i < o.layers; ++i) {
    const std::string conv = "convs." + std::to_string(i);
    const std::string gathered = writer.Put(writer.Name("gathered", i), AggregateSpec{AggregateSpec::How::kSum}, {h});
    h = writer.Put(writer.Name("sum", i), AddSpec{.eps = true}, {gathered, h}, conv);
    h = writer.Put(writer.Name("first", i), LinearSpec{o.hidden, /*bias=*/true, LinearSpec::Init::kXavierRelu}, {h},
                   conv + ".nn.0");
    h = writer.PutNorm(writer.Name("norm", i), norm, h, conv + ".nn.1");
    h = writer.PutActivation(writer.Name("act", i), activation, h);
    h = writer.Put(writer.Name("second", i), LinearSpec{o.hidden, /*bias=*/true, LinearSpec::Init::kXavierRelu}, {h},
                   conv + (norm ? ".nn.3" : ".nn.2"));
    h = writer.PutActivation(writer.Name("conv", i), activation, h);
  }
  h = writer.Put("head", LinearSpec{o.hidden}, {h}, "lin1", o.layers);
  h = writer.PutActivation("head-act", activation, h);
  h = writer.PutDrop("head-drop", DropoutOf(o, 0.5), o.layers, DropoutSite::kHead, h);
  writer.Put("logits", HeadSpec{}, {h}, "lin2", o.layers);
  return writer.Take();
}

ModelSpec SageRi(const ModelOptions& o, Activation activation) {
  Writer writer(o, "sage-ri");
  const double rate = DropoutOf(o, 0.1);
  const bool drops = DropoutRate(rate).active();
  std::string h = writer.PutDrop("x0", rate, 0, DropoutSite::kInput, std::string(kSpecInput));
  std::vector<std::string> collected = {h};
  for (int i = 0; i < o.layers; ++i) {
    const std::string conv = "convs." + std::to_string(i);
    std::string sent = h, own = h;
    if (drops && i == 0) {
      sent = writer.Put("sent0", DropSpec{rate, -1, -1, h}, {h});  // reuses the draws of the input's mask
    } else {
      sent = writer.PutDrop(writer.Name("sent", i), rate, i, DropoutSite::kNeighbors, h);
    }
    const std::string gathered = writer.Put(writer.Name("gathered", i), AggregateSpec{}, {sent});
    const std::string left =
        writer.Put(writer.Name("neighbors", i), LinearSpec{o.hidden, /*bias=*/false}, {gathered}, conv + ".lin_l");
    own = writer.PutDrop(writer.Name("own", i), rate, i, DropoutSite::kSelf, h);
    const std::string right =
        writer.Put(writer.Name("self", i), LinearSpec{o.hidden, /*bias=*/false}, {own}, conv + ".lin_r");
    std::string a = writer.Put(writer.Name("conv", i), AddSpec{}, {left, right});
    a = writer.PutNorm(writer.Name("norm", i), o.norm != "none", a, "bns." + std::to_string(i));
    a = writer.PutActivation(writer.Name("act", i), activation, a);
    a = writer.PutDrop(writer.Name("drop", i), rate, i, DropoutSite::kActivation, a);
    const std::string residual =
        i > 0 ? h : writer.Put("residual", LinearSpec{o.hidden}, {h}, "res_linears.0", o.layers);
    h = writer.Put("x" + std::to_string(i + 1), AddSpec{}, {a, residual});
    collected.push_back(h);
  }
  const std::string collected_name = writer.Put("collected", CollectSpec{}, collected);
  const std::string middle =
      writer.Put("middle", LinearSpec{2 * o.num_classes}, {collected_name}, "mlp.module_list.0", o.layers);
  writer.Put("logits", HeadSpec{}, {middle}, "mlp.module_list.1", o.layers);
  return writer.Take();
}

// Returns the same model in a form that can be compared: names derived from the values' positions, all defaults written
// out. nullopt: the spec is not valid for this number of classes.
std::optional<ModelSpec> WrittenOut(const ModelSpec& spec, int64_t num_classes) {
  constexpr int64_t kSomeWidth = 1 << 14;  // of features; no Linear of a published model is as wide
  const Result<SpecShapes> shapes = CheckModelSpec(spec, kSomeWidth, num_classes);
  if (!shapes.ok()) return std::nullopt;
  std::map<std::string, std::string> names = {{std::string(kSpecInput), std::string(kSpecInput)}};
  ModelSpec out;
  for (size_t i = 0; i < spec.values.size(); ++i) {
    ValueSpec value = spec.values[i];
    const bool trains = std::holds_alternative<LinearSpec>(value.operation) ||
                        std::holds_alternative<HeadSpec>(value.operation) ||
                        std::holds_alternative<AttentionSpec>(value.operation);
    if (value.parameters.empty()) value.parameters = value.name;
    const auto* add = std::get_if<AddSpec>(&value.operation);
    if (!trains && !std::holds_alternative<NormSpec>(value.operation) && (add == nullptr || !add->eps))
      value.parameters = "";
    if (value.stream < 0) value.stream = shapes->LayerOf(i + 1);
    if (!trains) value.stream = -1;  // no initial values are drawn for it
    names[value.name] = "v" + std::to_string(i);
    value.name = names[value.name];
    for (std::string& operand : value.of) operand = names[operand];
    if (auto* drop = std::get_if<DropSpec>(&value.operation)) {
      drop->layer = shapes->drop_keys[i + 1].layer;
      drop->site = shapes->drop_keys[i + 1].site;
      if (!drop->after.empty()) drop->after = names[drop->after];
    }
    if (const auto* head = std::get_if<HeadSpec>(&value.operation)) {
      value.operation = LinearSpec{kClassWidth, head->bias};  // a head is a Linear of this width
    }
    out.values.push_back(std::move(value));
  }
  return out;
}

// Returns the first operation of a kind; null: there is none.
template <typename Kind>
const Kind* FirstOf(const ModelSpec& spec) {
  for (const ValueSpec& value : spec.values) {
    if (const auto* operation = std::get_if<Kind>(&value.operation)) return operation;
  }
  return nullptr;
}

// Returns the only options of `kind` for which the published model may equal this spec.
ModelOptions GuessOptions(const ModelSpec& spec, const std::string& kind, int layers) {
  static constexpr std::array kActivations = {"relu", "leaky_relu", "elu"};
  ModelOptions o;
  o.kind = kind;
  o.in_width = 1;
  o.num_classes = 1;
  o.layers = layers;
  const auto* drop = FirstOf<DropSpec>(spec);
  o.dropout = drop == nullptr ? 0 : drop->probability;
  if (const auto* activate = FirstOf<ActivateSpec>(spec))
    o.activation = kActivations.at(static_cast<size_t>(activate->function));
  o.norm = FirstOf<NormSpec>(spec) == nullptr ? "none" : "batch";
  const auto* linear = FirstOf<LinearSpec>(spec);
  const auto* attention = FirstOf<AttentionSpec>(spec);
  if (kind == "gat" && attention != nullptr) {
    o.heads = attention->heads;
    o.hidden = attention->heads * (attention->width > 0 ? attention->width : 1);
    o.negative_slope = attention->negative_slope;
    o.bias = attention->bias;
  } else if (linear != nullptr) {
    if (linear->width > 0) o.hidden = linear->width;
    o.bias = kind == "sage" && linear->bias;
  }
  if (kind == "sage") {
    if (const auto* aggregate = FirstOf<AggregateSpec>(spec)) {
      o.aggregation = aggregate->how == AggregateSpec::How::kMax   ? "max"
                      : aggregate->how == AggregateSpec::How::kSum ? "sum"
                                                                   : "mean";
    }
  }
  if (kind == "sage-ri" && spec.values.size() > 1) {  // the head's first Linear has twice the classes
    const auto* middle = std::get_if<LinearSpec>(&spec.values[spec.values.size() - 2].operation);
    if (middle != nullptr && middle->width >= 2 && middle->width % 2 == 0) o.num_classes = middle->width / 2;
  }
  return o;
}

}  // namespace

std::optional<ModelOptions> AsPublished(const ModelSpec& spec) {
  const Result<int> layers = LayersOf(spec);
  if (!layers.ok()) return std::nullopt;
  for (const char* kind : {"sage", "gat", "gin", "sage-ri"}) {
    ModelOptions options = GuessOptions(spec, kind, *layers);
    const Result<ModelSpec> published = PublishedSpec(options);
    if (!published.ok()) continue;
    const std::optional<ModelSpec> published_spec = WrittenOut(*published, options.num_classes);
    if (!published_spec || published_spec != WrittenOut(spec, options.num_classes)) continue;
    options.in_width = 0;
    if (options.kind != "sage-ri") options.num_classes = 0;
    return options;
  }
  return std::nullopt;
}

Result<ModelSpec> PublishedSpec(const ModelOptions& options) {
  HONE_RETURN_IF_ERROR(CheckPublished(options));
  const Activation usual = options.kind == "sage-ri" ? Activation::kLeakyRelu : Activation::kRelu;
  HONE_ASSIGN_OR_RETURN(const Activation activation, ParseActivation(options.activation, usual));
  if (options.kind == "sage") return SageSpec(options, activation);
  if (options.kind == "gat") return GatSpec(options, activation);
  if (options.kind == "gin") return GinSpec(options, activation);
  return SageRi(options, activation);
}

}  // namespace hone::gnn
