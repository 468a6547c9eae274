// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Plans and enqueues the passes of exact_spec.h. A pass is a list of steps on slots, which are buffers of a block's
// rows; a slot is free again after the last step that reads it.
#include "gnn/cuda/infer/exact_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "gnn/cuda/base/device_parameters.h"
#include "gnn/cuda/infer/exact_weights.h"
#include "gnn/nn/spec_units.h"
#include "gnn/spec/spec_words.h"

namespace hone::gnn::cuda {
namespace {

using Kind = SpecUnit::Kind;

constexpr int kNoSlot = -1;
constexpr int kLogitsSlot = -2;  // stands for the fp32 buffer of logits

// An operation of a pass on slots. Offsets refer to the packed weights.
struct Step {
  enum class Kind : uint8_t { kTake, kAggregate, kAttention, kProduct, kFinish, kNormaliseRows, kPut, kCarry, kLogits };
  Kind kind = Kind::kTake;
  // kTake copies a value's rows, for the block's own nodes, from column `table_at` of the pass's table to slot `to`.
  // kAggregate and kAttention gather from column `table_at` on. kCarry copies slot `from` or, without one, the own rows
  // from column `table_at` on to column `out_at` of the next table. kFinish also writes its rows to column `out_at` of
  // the next table, unless that is -1.
  int64_t table_at = 0, out_at = -1;
  int from = kNoSlot, to = kNoSlot;  // the slot read, and the slot written
  int64_t width = 0;                 // padded columns of the rows that the step makes
  int64_t columns = 0;               // columns without padding
  int64_t in = 0;                    // padded columns of the rows that the step reads
  FullAggregate aggregate = {};
  bool symmetric = false;
  ExactAttention attention = {};
  int32_t heads = 1;
  float negative_slope = 0;
  int64_t scores_at = 0;  // kAttention: its scores begin at float scores_at * num_nodes
  int64_t weight = kNowhere;
  ExactNorm norm = {};
  Activation activation = Activation::kIdentity;
  int residual = kNoSlot;  // kFinish: slot whose rows are added, times residual_factor
  float residual_factor = 1.0f;
  int64_t first_column = 0;  // kPut: where the rows begin in the wider rows
  bool fills = false;        // kPut: last operand of a concatenation, which also zeroes the padding behind it
};

struct PlannedSpec {
  std::vector<std::vector<Step>> passes;  // the steps of each pass
  std::vector<int64_t> row_columns;       // columns of the table that each pass after the first reads
  std::vector<int64_t> slots;             // width of each slot
  int64_t classes = 0, padded_classes = 0;
  int64_t gathered = 0;  // the most columns that an attention gathers
  int64_t scores = 0;    // floats per node for the scores of all attentions of a pass; the largest of all passes
  int64_t partial = 0;   // floats of partial results per piece
  bool symmetric = false;
  bool begins_with_rows = false;  // the first pass gathers nothing
  ExactWeights packed;
};

Activation FunctionOf(const ActivateSpec& activate) {
  if (activate.function == ActivateSpec::Function::kElu) return Activation::kElu;
  return activate.function == ActivateSpec::Function::kLeakyRelu ? Activation::kLeakyRelu : Activation::kRelu;
}

class Planner {
 public:
  Planner(Model<float>& model, const ModelSpec& spec, const SpecShapes& shapes)
      : spec_(spec), shapes_(shapes), units_(LowerToUnits(spec, shapes).units), packer_(model, plan_.packed) {
    plan_.classes = model.options().num_classes;
    plan_.padded_classes = RoundUp<int64_t>(plan_.classes, 8);
  }

  Result<PlannedSpec> Plan() {
    ForgetIdentities();
    for (size_t u = 1; u < units_.size(); ++u) {
      if (!IsIdentity(u) && units_[u].hop == shapes_.layers) plan_.begins_with_rows = true;
    }
    const int passes = shapes_.layers + (plan_.begins_with_rows ? 1 : 0);
    for (int pass = 0; pass <= passes; ++pass) carried_.push_back(CarriedTo(pass));
    for (int pass = 0; pass < passes; ++pass) PlanPass(pass);
    HONE_RETURN_IF_ERROR(packer_.status());
    return std::move(plan_);
  }

 private:
  // Held says where the rows of a unit (an operation with what is fused into it) are while a pass over the graph is
  // planned.
  struct Held {
    int slot = kNoSlot;
    size_t readers = 0;  // how many steps have yet to read the slot
  };

  const OperationSpec& Operation(size_t value) const { return spec_.values[value - 1].operation; }
  int64_t Padded(size_t u) const { return RoundUp<int64_t>(units_[u].width, 8); }
  bool Gathers(size_t u) const {
    return units_[u].kind == Kind::kAggregate || units_[u].kind == Kind::kDrawn || units_[u].kind == Kind::kAttention;
  }
  bool IsLast(size_t u) const { return u + 1 == units_.size(); }
  // Returns whether evaluation leaves nothing of a run of elementwise operations, so that its rows are its operand's.
  bool IsIdentity(size_t u) const {
    const SpecUnit& unit = units_[u];
    return unit.kind == Kind::kBetween && unit.bias_of == 0 && unit.normalise == 0 && unit.activate == 0 &&
           !unit.makes_logits;
  }
  void ForgetIdentities() {
    for (size_t u = 1; u < units_.size(); ++u) {
      for (size_t& operand : units_[u].operands) {
        while (IsIdentity(operand)) operand = units_[operand].operands[0];
      }
    }
  }
  int PassOf(size_t u) const {
    return u == 0 ? -1 : shapes_.layers - 1 - units_[u].hop + (plan_.begins_with_rows ? 1 : 0);
  }

  // Returns the units made before `pass` that `pass` or a later one reads. Pass 0's table is the features, which are
  // unit 0 ("x").
  std::vector<size_t> CarriedTo(int pass) const {
    std::vector<size_t> carried;
    for (size_t u = 0; u < units_.size(); ++u) {
      if (PassOf(u) >= pass || (u > 0 && IsIdentity(u))) continue;
      bool read = pass == 0 && u == 0;
      for (size_t reader = 1; reader < units_.size(); ++reader) {
        if (IsIdentity(reader) || PassOf(reader) < pass) continue;
        const auto& operands = units_[reader].operands;
        read = read || std::find(operands.begin(), operands.end(), u) != operands.end();
      }
      if (read) carried.push_back(u);
    }
    return carried;
  }
  // Returns the first column of a unit's rows in the table that `pass` reads; -1 if they are not in it.
  int64_t ColumnIn(int pass, size_t u) const {
    int64_t at = 0;
    for (const size_t other : carried_[static_cast<size_t>(pass)]) {
      if (other == u) return at;
      at += Padded(other);
    }
    return -1;
  }

  void PlanPass(int pass) {
    pass_ = pass;
    steps_.clear();
    held_.assign(units_.size(), {});
    taken_.assign(plan_.slots.size(), false);
    int64_t scores = 0;
    const bool ends = static_cast<size_t>(pass) + 2 == carried_.size();
    std::vector<size_t> made;
    for (size_t u = 1; u < units_.size(); ++u) {
      if (PassOf(u) == pass && !IsIdentity(u)) made.push_back(u);
    }
    for (const size_t u : made) {
      if (Gathers(u)) continue;
      for (const size_t operand : units_[u].operands) ++held_[operand].readers;
    }
    for (const size_t u : made) {
      for (const size_t operand : units_[u].operands) {
        if (!Gathers(u) && PassOf(operand) < pass) Take(operand);
      }
      PlanUnit(u, ends, scores);
      if (ends) continue;
      const int64_t out_at = ColumnIn(pass + 1, u);
      if (out_at >= 0 && steps_.back().kind == Step::Kind::kFinish) {
        steps_.back().out_at = out_at;
        if (held_[u].readers == 0) steps_.back().to = kNoSlot;
      } else if (out_at >= 0) {
        Put({.kind = Step::Kind::kCarry, .out_at = out_at, .from = held_[u].slot, .width = Padded(u)});
      }
      if (held_[u].readers == 0) Release(u);
    }
    if (!ends) {
      for (const size_t u : carried_[static_cast<size_t>(pass) + 1]) {
        if (PassOf(u) == pass) continue;
        Put({.kind = Step::Kind::kCarry,
             .table_at = ColumnIn(pass, u),
             .out_at = ColumnIn(pass + 1, u),
             .width = Padded(u)});
      }
      int64_t columns = 0;
      for (const size_t u : carried_[static_cast<size_t>(pass) + 1]) columns += Padded(u);
      plan_.row_columns.push_back(columns);
    }
    plan_.scores = std::max(plan_.scores, scores);
    plan_.passes.push_back(std::move(steps_));
  }

  void Put(Step step) { steps_.push_back(std::move(step)); }

  // Reserves a free slot, or a new one, for the rows of unit `u`, and returns it.
  int NewSlot(size_t u) {
    size_t slot = 0;
    while (slot < taken_.size() && taken_[slot]) ++slot;
    if (slot == taken_.size()) taken_.push_back(false);
    if (slot == plan_.slots.size()) plan_.slots.push_back(0);
    taken_[slot] = true;
    plan_.slots[slot] = std::max(plan_.slots[slot], Padded(u));
    held_[u].slot = static_cast<int>(slot);
    return held_[u].slot;
  }
  void Release(size_t u) {
    if (held_[u].slot >= 0) taken_[static_cast<size_t>(held_[u].slot)] = false;
    held_[u].slot = kNoSlot;
  }
  int SlotOf(size_t u) const { return held_[u].slot; }
  // Counts unit `u`'s reads as done, and releases the slots that no later unit reads.
  void DoneWith(size_t u) {
    for (const size_t operand : units_[u].operands) {
      if (--held_[operand].readers == 0) Release(operand);
    }
  }
  // Copies the block's own rows of a value made earlier to a slot, unless they are in one already.
  void Take(size_t u) {
    if (held_[u].slot != kNoSlot) return;
    Put({.kind = Step::Kind::kTake, .table_at = ColumnIn(pass_, u), .to = NewSlot(u), .width = Padded(u)});
  }
  int SlotForResult(size_t u) {
    if (!units_[u].makes_logits) return NewSlot(u);
    held_[u].slot = kLogitsSlot;
    return kLogitsSlot;
  }

  void PlanUnit(size_t u, bool ends, int64_t& scores) {
    const SpecUnit& unit = units_[u];
    switch (unit.kind) {
      case Kind::kInput:
        break;
      case Kind::kAggregate:
      case Kind::kDrawn:
        PlanAggregate(u);
        break;
      case Kind::kAttention:
        PlanAttention(u, scores);
        break;
      case Kind::kProduct:
        Put({.kind = Step::Kind::kProduct,
             .from = SlotOf(unit.operands[0]),
             .to = SlotForResult(u),
             .width = Padded(u),
             .in = Padded(unit.operands[0]),
             .weight = packer_.Matrix(Prefix(unit.value) + ".weight", unit.width, units_[unit.operands[0]].width)});
        break;
      case Kind::kBetween:
        PlanBetween(u);
        break;
      case Kind::kNormaliseRows: {
        const ExactNorm norm{.scale = packer_.Vector(Prefix(unit.value) + ".weight", unit.width),
                             .shift = packer_.Vector(Prefix(unit.value) + ".bias", unit.width)};
        Put({.kind = Step::Kind::kNormaliseRows,
             .from = SlotOf(unit.operands[0]),
             .to = SlotForResult(u),
             .width = Padded(u),
             .columns = unit.width,
             .norm = norm});
        break;
      }
      case Kind::kAdd:
        PlanAdd(u);
        break;
      case Kind::kConcat: {
        const int to = SlotForResult(u);
        int64_t at = 0;
        for (size_t i = 0; i < unit.operands.size(); ++i) {
          const bool fills = i + 1 == unit.operands.size();
          const int64_t columns = units_[unit.operands[i]].width;
          Put({.kind = Step::Kind::kPut,
               .from = SlotOf(unit.operands[i]),
               .to = to,
               .width = Padded(u),
               .columns = columns,
               .in = Padded(unit.operands[i]),
               .first_column = at,
               .fills = fills});
          at += columns;
        }
        break;
      }
      case Kind::kOwn:
        break;  // a model with an operation of the caller's own has been refused
      case Kind::kLogits:
        Put({.kind = Step::Kind::kTake, .from = SlotOf(unit.operands[0]), .to = SlotForResult(u), .width = Padded(u)});
        break;
    }
    if (!Gathers(u)) DoneWith(u);
    if (IsLast(u) && ends) Put({.kind = Step::Kind::kLogits, .norm = logits_norm_});
  }

  const std::string& Prefix(size_t value) const { return ParametersOf(spec_.values[value - 1]); }

  void PlanAggregate(size_t u) {
    const SpecUnit& unit = units_[u];
    const auto& spec = std::get<AggregateSpec>(Operation(unit.value));
    Step step{.kind = Step::Kind::kAggregate,
              .table_at = ColumnIn(pass_, unit.operands[0]),
              .to = SlotForResult(u),
              .width = Padded(u)};
    step.aggregate.self = FullAggregate::Self::kLeftOut;
    step.aggregate.reduction = spec.how == AggregateSpec::How::kMax   ? Reduction::kMax
                               : spec.how == AggregateSpec::How::kSum ? Reduction::kSum
                                                                      : Reduction::kMean;
    step.symmetric = spec.scale == AggregateSpec::Scale::kSymmetric;
    if (step.symmetric) step.aggregate.self = FullAggregate::Self::kAdded;
    plan_.symmetric = plan_.symmetric || step.symmetric;
    plan_.partial = std::max(plan_.partial, Padded(u));
    Put(step);
  }

  void PlanAttention(size_t u, int64_t& scores) {
    const SpecUnit& unit = units_[u];
    const auto& spec = std::get<AttentionSpec>(Operation(unit.value));
    const int64_t width = spec.concatenate ? unit.width / spec.heads : unit.width;
    Step step{.kind = Step::Kind::kAttention,
              .table_at = ColumnIn(pass_, unit.operands[0]),
              .to = SlotForResult(u),
              .width = Padded(u),
              .in = Padded(unit.operands[0]),
              .attention = packer_.Attention(Prefix(unit.value) + ".", units_[unit.operands[0]].width, width,
                                             spec.heads, spec.concatenate),
              .heads = spec.heads,
              .negative_slope = static_cast<float>(spec.negative_slope),
              .scores_at = scores};
    scores += 2 * spec.heads;
    plan_.gathered = std::max(plan_.gathered, step.heads * step.in);
    plan_.partial = std::max(plan_.partial, step.heads * (step.in + 2));
    Put(step);
  }

  void PlanBetween(size_t u) {
    const SpecUnit& unit = units_[u];
    ExactNorm norm;
    const std::string bias = unit.bias_of != 0 ? Prefix(unit.bias_of) + ".bias" : "";
    if (unit.normalise != 0) {
      norm = packer_.Normalisation(Prefix(unit.normalise) + ".", bias, unit.width);
    } else if (unit.bias_of != 0) {
      norm.shift = packer_.Vector(bias, unit.width);
    }
    if (unit.makes_logits) {  // the bias is added with the classes
      held_[u].slot = kLogitsSlot;
      logits_norm_ = norm;
      return;
    }
    Step step{.kind = Step::Kind::kFinish,
              .from = SlotOf(unit.operands[0]),
              .to = NewSlot(u),
              .width = Padded(u),
              .norm = norm};
    if (unit.activate != 0) step.activation = FunctionOf(std::get<ActivateSpec>(Operation(unit.activate)));
    Put(step);
  }

  void PlanAdd(size_t u) {
    const SpecUnit& unit = units_[u];
    const bool eps = std::get<AddSpec>(Operation(unit.value)).eps;
    const int to = SlotForResult(u);
    for (size_t i = 1; i < unit.operands.size(); ++i) {
      Step step{.kind = Step::Kind::kFinish,
                .from = i == 1 ? SlotOf(unit.operands[0]) : to,
                .to = to,
                .width = Padded(u),
                .residual = SlotOf(unit.operands[i])};
      if (eps && i + 1 == unit.operands.size()) {
        const std::vector<float>& value = packer_.Tensor(Prefix(unit.value) + ".eps", 1);
        if (packer_.status().ok()) step.residual_factor = 1.0f + value[0];
      }
      Put(step);
    }
  }

  const ModelSpec& spec_;
  const SpecShapes& shapes_;
  std::vector<SpecUnit> units_;
  PlannedSpec plan_;
  ExactPacker packer_;
  std::vector<std::vector<size_t>> carried_;  // [passes + 1] the units whose rows each pass's table has; the last is
                                              // empty
  // The state of the pass that is being planned.
  int pass_ = 0;
  std::vector<Step> steps_;
  std::vector<Held> held_;   // indexed by unit
  std::vector<bool> taken_;  // indexed by slot
  ExactNorm logits_norm_;
};

class SpecForm final : public ExactForm {
 public:
  SpecForm(PlannedSpec plan, Element element)
      : plan_(std::move(plan)), element_(element), size_(ElementBytes(element)) {}

  size_t passes() const override { return plan_.passes.size(); }
  std::string NameOf(size_t pass) const override {
    if (plan_.begins_with_rows && pass == 0) return "input";
    return fmt::format("layer {}", pass + (plan_.begins_with_rows ? 0 : 1));
  }
  int64_t RowBytes(size_t pass) const override { return plan_.row_columns[pass - 1] * size_; }
  ExactRoom Room() const override {
    int64_t row = plan_.gathered * size_ + plan_.padded_classes * 4;
    for (const int64_t width : plan_.slots) row += width * size_;
    return {.fixed = ExactProducts::Bytes(plan_.packed, element_),
            .a_node = plan_.scores * 4 + (plan_.symmetric ? 4 : 0),
            .a_block_row = row,
            .a_piece = plan_.partial * 4};
  }

  Status Allocate(const ExactBuffers& buffers) override {
    HONE_RETURN_IF_ERROR(products_.Make(plan_.packed, element_, buffers.product_rows, *buffers.matmuls));
    slots_ = std::vector<DeviceArray<unsigned char>>(plan_.slots.size());
    for (size_t s = 0; s < slots_.size(); ++s) {
      HONE_RETURN_IF_ERROR(slots_[s].Allocate(buffers.block_rows * plan_.slots[s] * size_));
    }
    HONE_RETURN_IF_ERROR(gathered_.Allocate(buffers.block_rows * plan_.gathered * size_));
    HONE_RETURN_IF_ERROR(logits_.Allocate(buffers.block_rows * plan_.padded_classes));
    HONE_RETURN_IF_ERROR(partials_.Allocate(buffers.pieces * plan_.partial));
    HONE_RETURN_IF_ERROR(scores_.Allocate(buffers.nodes * plan_.scores));
    return scales_.Allocate(plan_.symmetric ? buffers.nodes : 0);
  }

  Status BeginPass(size_t pass, const ExactInput& input, cudaStream_t stream) override {
    if (pass == 0 && plan_.symmetric) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueSymmetricScales(input.row_offsets, input.num_nodes, scales_.get(), stream));
    }
    for (const Step& step : plan_.passes[pass]) {
      if (step.kind != Step::Kind::kAttention) continue;
      HONE_CUDA_RETURN_IF_ERROR(EnqueueScores(Attention(step), input.num_nodes, ColumnsOfStep(input, step),
                                              input.element, static_cast<int32_t>(step.in), ScoresOf(step, input),
                                              stream));
    }
    return Status::Ok();
  }

  Status EnqueueBlock(size_t pass, const ExactInput& input, const ExactBlock& block, cudaStream_t stream) override {
    for (const Step& step : plan_.passes[pass]) HONE_RETURN_IF_ERROR(EnqueueStep(step, input, block, stream));
    return Status::Ok();
  }

 private:
  RowTable ColumnsOfStep(const ExactInput& input, const Step& step) const {
    return ColumnsFrom(input.rows, step.table_at * ElementBytes(input.element));
  }
  float* ScoresOf(const Step& step, const ExactInput& input) const {
    return scores_.get() + step.scores_at * input.num_nodes;
  }
  FullAttention Attention(const Step& step) const {
    return {
        .heads = step.heads, .negative_slope = step.negative_slope, .folded = products_.Vector(step.attention.folded)};
  }
  void* Slot(int slot) const {
    if (slot == kLogitsSlot) return logits_.get();
    return slot == kNoSlot ? nullptr : slots_[static_cast<size_t>(slot)].get();
  }
  Element ElementOf(int slot) const { return slot == kLogitsSlot ? Element::kFloat32 : element_; }
  RowsIn RowsFrom(int slot, int64_t width) const {
    return {.block = static_cast<const unsigned char*>(Slot(slot)),
            .block_stride_bytes = width * ElementBytes(ElementOf(slot))};
  }
  RowsOut RowsTo(int slot, int64_t width, int64_t column = 0) const {
    const int64_t bytes = ElementBytes(ElementOf(slot));
    return {.block = static_cast<unsigned char*>(Slot(slot)) + column * bytes,
            .table = {},
            .block_stride_bytes = width * bytes};
  }
  // Returns where a block's rows go in the next table, from column `column` on.
  RowsOut Next(const ExactBlock& block, int64_t column) const {
    return {.block = block.first == nullptr ? nullptr : block.first + column * size_,
            .table = ColumnsFrom(block.out, column * size_),
            .block_stride_bytes = block.out.stride_bytes};
  }

  Status EnqueueStep(const Step& step, const ExactInput& input, const ExactBlock& block, cudaStream_t stream) {
    const auto width = static_cast<int32_t>(step.width);
    switch (step.kind) {
      case Step::Kind::kTake: {
        const bool is_own = step.from == kNoSlot;
        const RowsIn from = is_own ? RowsIn{.table = ColumnsOfStep(input, step)} : RowsFrom(step.from, step.width);
        HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyColumns(block.rows, from, is_own ? input.element : element_, width,
                                                     RowsTo(step.to, step.width), ElementOf(step.to), width, stream));
        return Status::Ok();
      }
      case Step::Kind::kCarry: {
        const bool is_own = step.from == kNoSlot;
        const RowsIn from = is_own ? RowsIn{.table = ColumnsOfStep(input, step)} : RowsFrom(step.from, step.width);
        HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyColumns(block.rows, from, is_own ? input.element : element_, width,
                                                     Next(block, step.out_at), element_, width, stream));
        return Status::Ok();
      }
      case Step::Kind::kPut: {
        const int64_t fill = step.fills ? step.width - step.first_column : step.columns;
        HONE_CUDA_RETURN_IF_ERROR(EnqueueCopyColumns(
            block.rows, RowsFrom(step.from, step.in), element_, static_cast<int32_t>(step.columns),
            RowsTo(step.to, step.width, step.first_column), element_, static_cast<int32_t>(fill), stream));
        return Status::Ok();
      }
      case Step::Kind::kAggregate: {
        FullAggregate aggregate = step.aggregate;
        if (step.symmetric) aggregate.scales = scales_.get();
        HONE_CUDA_RETURN_IF_ERROR(EnqueueFullAggregate(aggregate, block.rows, block.long_rows,
                                                       ColumnsOfStep(input, step), input.element, width,
                                                       ElementOf(step.to), Slot(step.to), partials_.get(), stream));
        return Status::Ok();
      }
      case Step::Kind::kAttention:
        HONE_CUDA_RETURN_IF_ERROR(EnqueueFullAttention(
            Attention(step), block.rows, block.long_rows, ScoresOf(step, input), ColumnsOfStep(input, step),
            input.element, static_cast<int32_t>(step.in), element_, gathered_.get(), partials_.get(), stream));
        return products_.Enqueue(block.rows.count, step.heads * step.in, step.width, step.attention.weight,
                                 ElementOf(step.to), gathered_.get(), Slot(step.to), stream);
      case Step::Kind::kProduct:
        return products_.Enqueue(block.rows.count, step.in, step.width, step.weight, ElementOf(step.to),
                                 Slot(step.from), Slot(step.to), stream);
      case Step::Kind::kFinish: {
        const FinishRows finish{.mean = products_.Vector(step.norm.mean),
                                .scale = products_.Vector(step.norm.scale),
                                .shift = products_.Vector(step.norm.shift),
                                .activation = step.activation,
                                .residual = Slot(step.residual),
                                .residual_stride = step.width,
                                .residual_factor = step.residual_factor};
        const bool carries = step.out_at >= 0;
        HONE_CUDA_RETURN_IF_ERROR(EnqueueFinishRows(finish, block.rows, element_, Slot(step.from), width,
                                                    carries ? Next(block, step.out_at) : RowsTo(step.to, step.width),
                                                    carries ? Slot(step.to) : nullptr, stream));
        return Status::Ok();
      }
      case Step::Kind::kNormaliseRows:
        HONE_CUDA_RETURN_IF_ERROR(EnqueueNormaliseRows(
            block.rows, element_, Slot(step.from), static_cast<int32_t>(step.columns), width,
            products_.Vector(step.norm.scale), products_.Vector(step.norm.shift), Slot(step.to), stream));
        return Status::Ok();
      case Step::Kind::kLogits:
        HONE_CUDA_RETURN_IF_ERROR(EnqueueFinishLogits(
            block.rows, logits_.get(), static_cast<int32_t>(plan_.padded_classes), static_cast<int32_t>(plan_.classes),
            nullptr, products_.Vector(step.norm.shift), block.logits, block.predicted, stream));
        return Status::Ok();
    }
    return Status::Internal("a step of no kind");
  }

  const PlannedSpec plan_;
  const Element element_;
  const int64_t size_;
  ExactProducts products_;
  std::vector<DeviceArray<unsigned char>> slots_;
  DeviceArray<unsigned char> gathered_;
  DeviceArray<float> logits_, partials_, scores_, scales_;
};

}  // namespace

Result<std::unique_ptr<ExactForm>> MakeExactSpec(Model<float>& model, const ModelSpec& spec, Element element) {
  const ModelOptions& options = model.options();
  HONE_ASSIGN_OR_RETURN(const SpecShapes shapes, CheckModelSpec(spec, options.in_width, options.num_classes));
  for (size_t v = 1; v <= spec.values.size(); ++v) {
    const ValueSpec& value = spec.values[v - 1];
    if (!std::holds_alternative<OwnSpec>(value.operation)) continue;
    return Status::InvalidArgument(
        fmt::format("model '{}', value '{}' ({}): a GPU infers exactly with the engine's own operations alone: use the "
                    "CPU, or predict from "
                    "samples",
                    spec.name, value.name, OperationName(value.operation)));
  }
  HONE_ASSIGN_OR_RETURN(PlannedSpec plan, Planner(model, spec, shapes).Plan());
  return std::unique_ptr<ExactForm>(std::make_unique<SpecForm>(std::move(plan), element));
}

}  // namespace hone::gnn::cuda
