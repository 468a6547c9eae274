// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/hot_operations.h"

#include <fmt/format.h>

#include <variant>

namespace hone::gnn {
namespace {

using Kind = HotOperation::Kind;
using Unit = SpecUnit::Kind;

std::string RowsText(int hop) {
  return hop == 0 ? "the seeds" : fmt::format("the nodes within {} hop{} of the seeds", hop, hop == 1 ? "" : "s");
}

class Finder {
 public:
  Finder(const ModelSpec& spec, const SpecShapes& shapes, const SpecUnits& lowered)
      : spec_(spec), shapes_(shapes), lowered_(lowered) {}

  HotOperations Find() {
    if (lowered_.input_hop >= 0) {
      HotOperation gather{.kind = Kind::kGather, .of_features = true, .hop = lowered_.input_hop};
      gather.in_width = gather.out_width = shapes_.width[0];
      gather.value = kSpecInput;
      gather.where = fmt::format("Feature rows of {}, gathered while the batch is sampled.", RowsText(gather.hop));
      out_.operations.push_back(std::move(gather));
    }
    for (size_t u = 1; u < lowered_.units.size(); ++u) Add(lowered_.units[u]);
    return std::move(out_);
  }

 private:
  std::string Name(const SpecUnit& unit) const { return spec_.values[unit.value - 1].name; }
  std::string NamesOfOperands(const SpecUnit& unit) const {
    std::string text;
    for (const std::string& name : spec_.values[unit.value - 1].of) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  void Add(const SpecUnit& unit) {
    switch (unit.kind) {
      case Unit::kDrawn:
      case Unit::kAggregate:
        AddAggregate(unit);
        break;
      case Unit::kProduct:
        AddProduct(unit, lowered_.units[unit.operands[0]].width, lowered_.plan.values[unit.operands[0]].wants_gradient);
        break;
      case Unit::kAttention:
        AddAttention(unit);
        break;
      case Unit::kOwn:
        out_.left_out.push_back({Name(unit), "an operation that a program registered: only that program knows it"});
        break;
      default:
        break;  // one pass over rows, which reads and writes each once
    }
  }

  void AddAggregate(const SpecUnit& unit) {
    const auto& aggregate = std::get<AggregateSpec>(spec_.values[unit.value - 1].operation);
    const bool drawn = unit.kind == Unit::kDrawn;
    HotOperation operation{.kind = Kind::kAggregate,
                           .how = aggregate.how,
                           .symmetric = aggregate.scale == AggregateSpec::Scale::kSymmetric,
                           .of_features = drawn,
                           .hop = unit.hop};
    operation.in_width = operation.out_width = unit.width;
    operation.value = Name(unit);
    operation.where = fmt::format(
        "Value '{}' (aggregate of {}): destinations are {}; {}.", operation.value, NamesOfOperands(unit),
        RowsText(unit.hop),
        drawn
            ? "neighbors' rows are read from the graph's features. The engine draws the neighbors in the same kernel; "
              "here they are drawn already"
        : lowered_.units[unit.operands[0]].read_through ? "the engine applies the bias, activation and dropout before "
                                                          "it as it reads; here rows are read as they are"
                                                        : "rows of the batch are read");
    out_.operations.push_back(operation);
    if (drawn || !lowered_.plan.values[unit.operands[0]].wants_gradient) return;
    operation.kind = Kind::kAggregateBackward;
    operation.where =
        fmt::format("The gradient of what value '{}' reads: destinations are {}.", operation.value, RowsText(unit.hop));
    out_.operations.push_back(std::move(operation));
  }

  // The projection is linear, so it follows the weighted sum, and is computed for destinations alone: one product for
  // all heads, in_width being the heads' sums side by side.
  void AddAttention(const SpecUnit& unit) {
    const auto& attention = std::get<AttentionSpec>(spec_.values[unit.value - 1].operation);
    HotOperation operation{.kind = Kind::kAttention, .heads = attention.heads, .hop = unit.hop};
    operation.negative_slope = attention.negative_slope;
    operation.in_width = lowered_.units[unit.operands[0]].width;
    operation.out_width = operation.in_width * attention.heads;
    operation.value = Name(unit);
    operation.where = fmt::format("Value '{}' (attention over {}), before its projection: destinations are {}.",
                                  operation.value, NamesOfOperands(unit), RowsText(unit.hop));
    const int64_t sums = operation.out_width;
    out_.operations.push_back(operation);
    operation.kind = Kind::kAttentionBackward;
    operation.where = fmt::format("The gradient of the logits of value '{}': destinations are {}.", operation.value,
                                  RowsText(unit.hop));
    out_.operations.push_back(operation);
    if (lowered_.plan.values[unit.operands[0]].wants_gradient) {
      operation.kind = Kind::kAttentionRowsBackward;
      operation.where = fmt::format("The gradient of the rows that value '{}' reads: destinations are {}.",
                                    operation.value, RowsText(unit.hop));
      out_.operations.push_back(std::move(operation));
    }
    AddProduct(unit, sums, /*input_gradient=*/true);
  }

  void AddProduct(const SpecUnit& unit, int64_t in_width, bool input_gradient) {
    HotOperation operation{.kind = Kind::kLinear, .hop = unit.hop};
    operation.in_width = in_width;
    operation.out_width = unit.width;
    operation.value = Name(unit);
    const std::string rows = RowsText(unit.hop);
    operation.where = fmt::format("Value '{}' ({} of {}): rows are {}.", operation.value,
                                  OperationName(spec_.values[unit.value - 1].operation), NamesOfOperands(unit), rows);
    out_.operations.push_back(operation);
    if (input_gradient) {
      operation.kind = Kind::kLinearBackwardInput;
      operation.where =
          fmt::format("The gradient of what the product of value '{}' reads: rows are {}.", operation.value, rows);
      out_.operations.push_back(operation);
    }
    operation.kind = Kind::kLinearBackwardWeight;
    operation.where = fmt::format("The gradient of the weight of value '{}', a sum over {}.", operation.value, rows);
    out_.operations.push_back(std::move(operation));
  }

  const ModelSpec& spec_;
  const SpecShapes& shapes_;
  const SpecUnits& lowered_;
  HotOperations out_;
};

}  // namespace

HotOperations FindHotOperations(const ModelSpec& spec, const SpecShapes& shapes, const SpecUnits& lowered) {
  return Finder(spec, shapes, lowered).Find();
}

std::string TaskName(const HotOperation& operation) {
  switch (operation.kind) {
    case Kind::kGather:
      return "gather_features";
    case Kind::kAttention:
    case Kind::kAttentionBackward: {
      std::string name = operation.kind == Kind::kAttention ? "attention" : "attention_backward";
      if (operation.negative_slope != 0.2) name += fmt::format("_slope_{}", operation.negative_slope);
      for (char& c : name) c = c == '.' || c == '-' || c == '+' ? '_' : c;  // a task's name is an identifier
      return name;
    }
    case Kind::kAttentionRowsBackward:
      return "attention_rows_backward";
    case Kind::kLinear:
      return "linear";
    case Kind::kLinearBackwardInput:
      return "linear_backward_input";
    case Kind::kLinearBackwardWeight:
      return "linear_backward_weight";
    case Kind::kAggregate:
    case Kind::kAggregateBackward:
      break;
  }
  const std::string how = operation.symmetric                         ? "symmetric"
                          : operation.how == AggregateSpec::How::kSum ? "sum"
                          : operation.how == AggregateSpec::How::kMax ? "max"
                                                                      : "mean";
  return "aggregate_" + how +
         (operation.kind == Kind::kAggregateBackward ? "_backward"
          : operation.of_features                    ? "_of_features"
                                                     : "");
}

}  // namespace hone::gnn
