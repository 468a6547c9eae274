// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/nn/spec_units.h"

#include <algorithm>
#include <utility>

#include "gnn/spec/own_operations.h"

namespace hone::gnn {
namespace {

using Kind = SpecUnit::Kind;

class Lowering {
 public:
  Lowering(const ModelSpec& spec, const SpecShapes& shapes, bool for_steps)
      : spec_(spec), shapes_(shapes), for_steps_(for_steps), readers_(shapes.hop.size()) {
    for (size_t v = 1; v < shapes.hop.size(); ++v) {
      for (const int operand : shapes.operands[v]) readers_[static_cast<size_t>(operand)].push_back(v);
    }
  }

  SpecUnits Lower() {
    out_.unit_of.assign(shapes_.hop.size(), 0);
    out_.draws_outermost = DrawsOutermost();
    out_.units.push_back({.kind = Kind::kInput, .hop = shapes_.hop[0], .width = shapes_.width[0]});
    covered_.assign(shapes_.hop.size(), false);
    for (size_t v = 1; v < shapes_.hop.size(); ++v) {
      if (!covered_[v]) LowerValue(v);
    }
    EndWithLogits();
    MarkReadThrough();
    if (for_steps_) {
      ComposeAttentions();
      DrawByAttention();
      MarkSummedThrough();
      ProjectAttentions();
      MarkAttendedThrough();
    }
    PlaceInput();
    PlanGradients();
    return std::move(out_);
  }

 private:
  const OperationSpec& Operation(size_t v) const { return spec_.values[v - 1].operation; }
  bool Aggregates(size_t v) const { return ReadsNeighbors(Operation(v)); }
  // Returns whether the value is an aggregate of "x" over the outermost hop.
  bool IsDrawn(size_t v) const {
    return std::holds_alternative<AggregateSpec>(Operation(v)) && shapes_.operands[v][0] == 0 &&
           shapes_.hop[v] + 1 == shapes_.layers;
  }

  // Returns whether only aggregates of "x" read the nodes of the outermost hop.
  bool DrawsOutermost() const {
    for (size_t v = 1; v < shapes_.hop.size(); ++v) {
      if (shapes_.hop[v] == shapes_.layers) return false;
      if (Aggregates(v) && shapes_.hop[v] + 1 == shapes_.layers && !IsDrawn(v)) return false;
    }
    return true;
  }

  // Appends a unit that computes value v, and returns the unit's index.
  size_t AppendUnit(Kind kind, size_t v) {
    SpecUnit unit;
    unit.kind = kind;
    unit.value = v;
    unit.hop = shapes_.hop[v];
    unit.width = shapes_.width[v];
    unit.reads_hop = Aggregates(v);
    for (const int operand : shapes_.operands[v]) unit.operands.push_back(out_.unit_of[static_cast<size_t>(operand)]);
    out_.units.push_back(std::move(unit));
    out_.unit_of[v] = out_.units.size() - 1;
    return out_.units.size() - 1;
  }

  // Returns the position that an operation may have in a run of rowwise operations (1: batch normalisation, …); 0:
  // none.
  int PlaceInRun(size_t v) const {
    const OperationSpec& operation = Operation(v);
    if (const auto* norm = std::get_if<NormSpec>(&operation)) return norm->over == NormSpec::Over::kBatch ? 1 : 0;
    if (std::holds_alternative<ActivateSpec>(operation)) return 2;
    return std::holds_alternative<DropSpec>(operation) ? 3 : 0;
  }
  // Makes v the run's normalisation, activation or dropout.
  void SetInRun(size_t v, SpecUnit& run) {
    (PlaceInRun(v) == 1 ? run.normalise : PlaceInRun(v) == 2 ? run.activate : run.drop) = v;
  }
  // Appends a run. It begins with the bias of `bias_of`, or with `v` if that is 0, and goes on while no operation
  // outside the run reads its values.
  void AppendRun(size_t v, size_t bias_of) {
    SpecUnit run;
    run.kind = Kind::kBetween;
    run.bias_of = bias_of;
    run.hop = shapes_.hop[v];
    run.width = shapes_.width[v];
    run.operands = {bias_of != 0 ? out_.unit_of[v] : out_.unit_of[static_cast<size_t>(shapes_.operands[v][0])]};
    int position = 0;
    if (bias_of == 0) {
      SetInRun(v, run);
      position = PlaceInRun(v);
    }
    std::vector<size_t> values = {v};
    while (readers_[values.back()].size() == 1) {
      const size_t only_reader = readers_[values.back()][0];
      if (PlaceInRun(only_reader) <= position) break;
      SetInRun(only_reader, run);
      position = PlaceInRun(only_reader);
      covered_[only_reader] = true;
      values.push_back(only_reader);
    }
    run.value = values.back();
    out_.units.push_back(run);
    for (const size_t value : values) out_.unit_of[value] = out_.units.size() - 1;
  }

  // Appends the units that compute a value.
  void LowerValue(size_t v) {
    const OperationSpec& operation = Operation(v);
    if (std::holds_alternative<AggregateSpec>(operation)) {
      AppendUnit(out_.draws_outermost && IsDrawn(v) ? Kind::kDrawn : Kind::kAggregate, v);
    } else if (const auto* attention = std::get_if<AttentionSpec>(&operation)) {
      AppendUnit(Kind::kAttention, v);
      if (attention->bias) AppendRun(v, v);
    } else if (const auto* linear = std::get_if<LinearSpec>(&operation)) {
      AppendUnit(Kind::kProduct, v);
      if (linear->bias) AppendRun(v, v);
    } else if (const auto* head = std::get_if<HeadSpec>(&operation)) {
      AppendUnit(Kind::kProduct, v);
      if (head->bias) AppendRun(v, v);
    } else if (PlaceInRun(v) > 0) {
      AppendRun(v, 0);
    } else if (std::holds_alternative<NormSpec>(operation)) {
      AppendUnit(Kind::kNormaliseRows, v);
    } else if (std::holds_alternative<AddSpec>(operation)) {
      AppendUnit(Kind::kAdd, v);
    } else if (std::holds_alternative<OwnSpec>(operation)) {
      AppendUnit(Kind::kOwn, v);
    } else {
      AppendUnit(Kind::kConcat, v);
    }
  }

  // Makes the last unit give fp32. Products, and sums over a hop, can write fp32; rows of other units are copied to
  // fp32.
  void EndWithLogits() {
    const auto gives_fp32 = [](const SpecUnit& unit) {
      return unit.kind == Kind::kProduct || unit.kind == Kind::kAttention || unit.kind == Kind::kAggregate;
    };
    SpecUnit& last = out_.units.back();
    if (gives_fp32(last)) {
      last.makes_logits = true;
      return;
    }
    if (last.adds_bias_alone() && gives_fp32(out_.units[last.operands[0]])) {
      last.makes_logits = out_.units[last.operands[0]].makes_logits = true;
      return;
    }
    SpecUnit logits{
        .kind = Kind::kLogits, .value = last.value, .operands = {out_.units.size() - 1}, .width = last.width};
    logits.makes_logits = true;
    out_.units.push_back(std::move(logits));
  }

  // Marks the runs whose rows only aggregates read.
  void MarkReadThrough() {
    std::vector<size_t> readers(out_.units.size(), 0), aggregates(out_.units.size(), 0);
    for (const SpecUnit& unit : out_.units) {
      for (const size_t operand : unit.operands) {
        ++readers[operand];
        if (unit.kind == Kind::kAggregate) ++aggregates[operand];
      }
    }
    for (size_t u = 1; u < out_.units.size(); ++u) {
      SpecUnit& unit = out_.units[u];
      if (unit.kind != Kind::kBetween || unit.normalise != 0) continue;
      unit.read_through = aggregates[u] > 0 && aggregates[u] == readers[u];
    }
  }

  // Marks the runs without a bias whose rows only attentions read that are neither projected nor read features.
  void MarkAttendedThrough() {
    std::vector<size_t> readers(out_.units.size(), 0), attentions(out_.units.size(), 0);
    for (const SpecUnit& unit : out_.units) {
      const bool attends = unit.kind == Kind::kAttention && !unit.drawn && unit.composed == 0 && !unit.projected;
      for (const size_t operand : unit.operands) {
        ++readers[operand];
        if (attends) ++attentions[operand];
      }
    }
    for (size_t u = 1; u < out_.units.size(); ++u) {
      SpecUnit& unit = out_.units[u];
      if (unit.kind != Kind::kBetween || unit.normalise != 0 || unit.bias_of != 0 || unit.no_pass()) continue;
      unit.attended_through = attentions[u] > 0 && attentions[u] == readers[u];
    }
  }

  // Puts the product of an attention first where that pays. The sums of an attention of rows that are not projected
  // have as many columns for each head as those rows, while a product over sources has many more rows than one over
  // destinations. On an H200, four heads of 64 over rows of 256 are worth it.
  void ProjectAttentions() {
    constexpr int kMinHeads = 4;
    for (size_t u = 1; u < out_.units.size(); ++u) {
      SpecUnit& unit = out_.units[u];
      if (unit.kind != Kind::kAttention || unit.drawn || unit.composed != 0 || unit.makes_logits) continue;
      const auto& attention = std::get<AttentionSpec>(Operation(unit.value));
      const SpecUnit& operand = out_.units[unit.operands[0]];
      if (attention.heads < kMinHeads || !attention.concatenate || operand.hop != unit.hop + 1) continue;
      const int64_t head_width = unit.width / attention.heads;
      // projected_attention.h has kernels for these.
      const bool fits = unit.width <= 256 && head_width >= 8 && (head_width & (head_width - 1)) == 0;
      unit.projected = fits && operand.width >= 2 * head_width;
    }
  }

  // Marks the runs whose rows only sums of two values read or, if the run is a bias, only such sums and concatenations.
  // A run with an activation or a dropout has one reader, so that it is computed once.
  void MarkSummedThrough() {
    std::vector<std::vector<std::pair<size_t, size_t>>> readers(out_.units.size());  // the unit, and which operand
    for (size_t reader_index = 1; reader_index < out_.units.size(); ++reader_index) {
      const std::vector<size_t>& operands = out_.units[reader_index].operands;
      for (size_t i = 0; i < operands.size(); ++i) readers[operands[i]].emplace_back(reader_index, i);
    }
    for (size_t u = 1; u < out_.units.size(); ++u) {
      SpecUnit& unit = out_.units[u];
      if (unit.kind != Kind::kBetween || unit.normalise != 0 || unit.read_through || unit.makes_logits) continue;
      bool all_can = !readers[u].empty() && (unit.is_bias() || readers[u].size() == 1);
      for (const auto& [reader_index, operand] : readers[u]) {
        const SpecUnit& reader = out_.units[reader_index];
        const bool sums_two = reader.kind == Kind::kAdd && reader.operands.size() == 2;
        if (unit.is_bias()) {
          all_can = all_can && (sums_two || reader.kind == Kind::kConcat);
        } else {
          all_can = all_can && sums_two && !(operand == 1 && std::get<AddSpec>(Operation(reader.value)).eps);
        }
      }
      unit.summed_through = all_can;
    }
  }

  // Composes the attentions over the outermost hop with the Linear of "x" that they read. The Linear's rows are then
  // needed only where others read them, which must be fewer hops: the rows of the outermost hop are most of a batch's.
  void ComposeAttentions() {
    for (size_t u = 1; u < out_.units.size(); ++u) {
      const SpecUnit& unit = out_.units[u];
      if (unit.kind != Kind::kProduct || unit.operands[0] != 0 ||
          !std::holds_alternative<LinearSpec>(Operation(unit.value))) {
        continue;
      }
      size_t row_unit = u;  // the unit whose rows are the Linear's
      const bool biased = u + 1 < out_.units.size() && out_.units[u + 1].bias_of == unit.value;
      if (biased) row_unit = u + 1;
      if (biased && !out_.units[row_unit].adds_bias_alone()) continue;
      // A row of [x, 1] must not be wider than the Linear's.
      if ((shapes_.width[0] + 8) / 8 * 8 > unit.width) continue;
      std::vector<size_t> attentions;
      int needed_hops = -1;
      for (size_t r = 1; r < out_.units.size(); ++r) {
        const SpecUnit& reader = out_.units[r];
        for (const size_t operand : reader.operands) {
          if (operand != row_unit) continue;
          if (reader.kind == Kind::kAttention && reader.hop + 1 == shapes_.layers) {
            attentions.push_back(r);
          } else {
            needed_hops = std::max(needed_hops, reader.hop + (reader.reads_hop ? 1 : 0));
          }
        }
      }
      if (attentions.empty() || needed_hops < 0 || needed_hops >= shapes_.layers) continue;
      for (const size_t attention : attentions) {
        out_.units[attention].operands[0] = 0;
        out_.units[attention].composed = u;
        out_.units[attention].composed_bias = biased ? row_unit : 0;
      }
      out_.units[u].hop = out_.units[row_unit].hop = needed_hops;
    }
  }

  // Lets attentions draw the outermost hop, if all that reads the hop reads rows of "x" there.
  void DrawByAttention() {
    if (out_.draws_outermost) return;
    const auto reads = [this](const SpecUnit& unit) { return unit.reads_hop && unit.hop + 1 == shapes_.layers; };
    for (size_t u = 1; u < out_.units.size(); ++u) {
      const SpecUnit& unit = out_.units[u];
      if (unit.hop == shapes_.layers) return;
      const bool draws = unit.kind == Kind::kAttention || (unit.kind == Kind::kAggregate && !unit.makes_logits);
      if (reads(unit) && !(draws && unit.operands[0] == 0)) return;
    }
    out_.draws_outermost = true;
    for (SpecUnit& unit : out_.units) {
      if (!reads(unit)) continue;
      if (unit.kind == Kind::kAggregate) {
        unit.kind = Kind::kDrawn;
      } else {
        unit.drawn = true;
      }
    }
  }

  // Finds the row set of "x" that units read, apart from the draw of the outermost hop.
  void PlaceInput() {
    SpecUnit& input = out_.units[0];
    for (const SpecUnit& unit : out_.units) {
      if (unit.kind == Kind::kDrawn || unit.drawn || unit.composed != 0) continue;
      for (const size_t operand : unit.operands) {
        if (operand == 0) out_.input_hop = std::max(out_.input_hop, unit.hop + (unit.reads_hop ? 1 : 0));
      }
      if (unit.kind != Kind::kAggregate) continue;
      const auto& aggregate = std::get<AggregateSpec>(Operation(unit.value));
      out_.needs_degrees = out_.needs_degrees || aggregate.scale == AggregateSpec::Scale::kSymmetric;
    }
    if (out_.input_hop >= 0) input.hop = out_.input_hop;
  }

  void PlanGradients() {
    SpecShapes shapes;
    std::vector<OperationTraits> traits;
    for (const SpecUnit& unit : out_.units) {
      shapes.hop.push_back(unit.hop);
      shapes.width.push_back(unit.width);
      shapes.operands.emplace_back(unit.operands.begin(), unit.operands.end());
      OperationTraits unit_traits;
      unit_traits.scaled_operands.assign(unit.operands.size(), false);
      switch (unit.kind) {
        case Kind::kAttention:
        case Kind::kProduct:
        case Kind::kOwn:
          unit_traits.trains = true;
          break;
        case Kind::kBetween:
          unit_traits.overwrites_grad = !unit.adds_bias_alone() && !unit.no_pass();
          unit_traits.flow = unit_traits.overwrites_grad ? GradientFlow::kInPlace : GradientFlow::kShared;
          unit_traits.trains = unit.bias_of != 0 || unit.normalise != 0;
          break;
        case Kind::kNormaliseRows:
          unit_traits.flow = GradientFlow::kInPlace;
          unit_traits.overwrites_grad = unit_traits.trains = true;
          break;
        case Kind::kAdd:
          unit_traits.flow = GradientFlow::kShared;
          unit_traits.sums = true;
          unit_traits.scaled_operands.back() = std::get<AddSpec>(Operation(unit.value)).eps;
          for (size_t i = 0; i < unit.operands.size(); ++i) {  // such an operand gets its own operand's gradient
            const SpecUnit& operand = out_.units[unit.operands[i]];
            if (operand.summed_through && !operand.is_bias()) unit_traits.scaled_operands[i] = true;
          }
          break;
        default:
          break;
      }
      traits.push_back(std::move(unit_traits));
    }
    out_.plan = PlanSpec(shapes, traits);
  }

  const ModelSpec& spec_;
  const SpecShapes& shapes_;
  const bool for_steps_;
  // For each value, the operations that read it, in the spec's order, once per read.
  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> covered_;  // values that belong to a run
  SpecUnits out_;
};

// Returns "a", "a and b" or "a, b and c".
std::string JoinWithAnd(const std::vector<std::string>& items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) text += (i == 0 ? "" : i + 1 < items.size() ? ", " : " and ") + items[i];
  return text;
}

}  // namespace

SpecUnits LowerToUnits(const ModelSpec& spec, const SpecShapes& shapes, bool for_steps) {
  return Lowering(spec, shapes, for_steps).Lower();
}

std::vector<std::string> DescribeUnits(const ModelSpec& spec, const SpecUnits& lowered) {
  std::vector<std::string> lines;
  const auto name = [&](size_t v) { return v == 0 ? std::string(kSpecInput) : spec.values[v - 1].name; };
  for (const SpecUnit& unit : lowered.units) {
    switch (unit.kind) {
      case Kind::kInput:
        if (lowered.input_hop >= 0) lines.push_back(name(0) + ": rows gathered while the batch is sampled");
        break;
      case Kind::kAggregate:
        lines.push_back(name(unit.value) + ": a pass over the hop's edges");
        break;
      case Kind::kDrawn:
        lines.push_back(name(unit.value) +
                        ": the outermost hop, drawn and aggregated at once while the batch is sampled");
        break;
      case Kind::kAttention:
        lines.push_back(name(unit.value) +
                        (unit.projected ? ": a product, and attention over the hop's edges"
                                        : ": attention over the hop's edges, and a product") +
                        (unit.composed == 0 ? std::string()
                                            : ", over rows of " + name(0) + ", by a weight into which " +
                                                  name(lowered.units[unit.composed].value) + "'s is multiplied") +
                        (unit.drawn ? "; the hop is drawn while the batch is sampled" : ""));
        break;
      case Kind::kProduct:
        lines.push_back(name(unit.value) + ": a matrix product");
        break;
      case Kind::kNormaliseRows:
        lines.push_back(name(unit.value) + ": a pass over the rows");
        break;
      case Kind::kOwn:
        lines.push_back(name(unit.value) + ": " + std::string(OperationName(spec.values[unit.value - 1].operation)) +
                        ", by the program's own form");
        break;
      case Kind::kAdd:
        lines.push_back(name(unit.value) + ": a sum of rows");
        break;
      case Kind::kConcat:
        lines.push_back(name(unit.value) + ": a copy of each operand");
        break;
      case Kind::kLogits:
        lines.push_back(name(unit.value) + ": a copy to fp32 for the loss");
        break;
      case Kind::kBetween: {
        std::vector<std::string> values, what;
        if (unit.bias_of != 0) {
          values.push_back(name(unit.bias_of));
          what.push_back("bias");
        }
        for (const auto& [value, word] : {std::pair(unit.normalise, "batch normalisation"),
                                          std::pair(unit.activate, "activation"), std::pair(unit.drop, "dropout")}) {
          if (value == 0) continue;
          values.push_back(name(value));
          what.emplace_back(word);
        }
        lines.push_back(JoinWithAnd(values) + ": " + JoinWithAnd(what) +
                        (unit.normalise != 0     ? ""
                         : unit.read_through     ? ", as the hop after reads the rows"
                         : unit.summed_through   ? ", as the sum after reads the rows"
                         : unit.attended_through ? ", as the attention after reads the rows"
                                                 : " in one pass"));
        break;
      }
    }
  }
  return lines;
}

}  // namespace hone::gnn
