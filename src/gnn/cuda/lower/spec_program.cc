// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// SpecProgram computes a model from a file: it runs each unit of the model's spec (nn/spec_units.h) by its own kernels.
//
// Forward runs the units in their order and keeps the output of each. Backward runs them in reverse. When it reaches a
// unit, all units that read the unit's rows are done, and the unit's gradient is the sum of their parts, in their
// order. Then the unit's own operation uses the gradient. The spec's plan (nn/spec_plan.h), which the CPU's interpreter
// uses too, decides which gradients share memory, with two exceptions. No gradient is computed in place in some columns
// of an operand, because products need rows side by side. And a gradient that is not shared has its own memory, because
// gradients of weights and biases are made on the second stream, from gradients that the chain has already passed.
//
// Work that depends on no weight is done together with the sampling: feature rows, aggregates of them, degrees.
#include "gnn/cuda/lower/spec_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/kernels/attention_kernels.h"
#include "gnn/cuda/kernels/gather_kernels.h"
#include "gnn/cuda/kernels/hop_sums.h"
#include "gnn/cuda/kernels/layer_norm_kernels.h"
#include "gnn/cuda/kernels/norm_kernels.h"
#include "gnn/cuda/kernels/value_rows.h"
#include "gnn/cuda/lower/dense.h"
#include "gnn/cuda/lower/norm_between.h"
#include "gnn/cuda/lower/second_stream.h"
#include "gnn/cuda/lower/spec_attention.h"
#include "gnn/cuda/lower/spec_layout.h"
#include "gnn/cuda/lower/spec_own.h"
#include "gnn/ops/dropout.h"
#include "gnn/spec/own_operations.h"

namespace hone::gnn::cuda {
namespace {

using Kind = SpecUnit::Kind;

HopSum KindOf(const AggregateSpec& aggregate) {
  if (aggregate.scale == AggregateSpec::Scale::kSymmetric) return HopSum::kSymmetric;
  if (aggregate.how == AggregateSpec::How::kMax) return HopSum::kMax;
  return aggregate.how == AggregateSpec::How::kSum ? HopSum::kSum : HopSum::kMean;
}

Activation FunctionOf(const ActivateSpec& activate) {
  if (activate.function == ActivateSpec::Function::kElu) return Activation::kElu;
  return activate.function == ActivateSpec::Function::kLeakyRelu ? Activation::kLeakyRelu : Activation::kRelu;
}

// The share of the multiprocessors for the outermost hop, while a step's chain of kernels runs on the others.
constexpr float kOutermostShare = 0.4f;

class SpecProgram final : public Program {
 public:
  SpecProgram(const ProgramContext& context, const Envelope& envelope, const LoweredSpec& model)
      : context_(context), envelope_(envelope), model_(model), steps_(model.lowered.units.size()) {}

  Status Make() {
    PlaceOuter();
    if (envelope_.trains) HONE_RETURN_IF_ERROR(PlanSecondStream());
    int64_t partials = 0, apart = 0, slots = 0, self = 0;
    for (size_t u = 1; u < steps_.size(); ++u) {
      const SpecUnit& unit = model_.Unit(u);
      Step& step = steps_[u];
      const int64_t bytes = Rows(u) * Padded(u) * ElementBytes(context_.element);
      const bool in_place = unit.kind == Kind::kDrawn || unit.adds_bias_alone() || unit.no_pass() || unit.makes_logits;
      if (!in_place) HONE_RETURN_IF_ERROR(step.rows.Allocate(bytes));
      partials = std::max({partials, ColumnPartials(PaddedRows(u), static_cast<int32_t>(Padded(u))),
                           LayerNormPartials(PaddedRows(u), static_cast<int32_t>(Padded(u)))});
      for (const size_t operand : unit.operands) {
        // A part goes through separate memory if its receiver already has another part, or has more rows.
        const bool several = Wants(operand) && model_.lowered.plan.values[operand].uses.size() > 1;
        const bool fewer = Wants(operand) && unit.kind == Kind::kProduct && unit.hop != model_.Unit(operand).hop;
        if (several || fewer) apart = std::max(apart, Rows(operand) * Padded(operand));
      }
      switch (unit.kind) {
        case Kind::kProduct:
          HONE_RETURN_IF_ERROR(step.dense.Plan(
              context_, {.rows = Rows(u),
                         .in = Padded(unit.operands[0]),
                         .out = Padded(u),
                         .weight_at = model_.places[u].weight,
                         .gradient_products = step.on_second_stream ? &second_stream_.products() : nullptr,
                         .trains = envelope_.trains,
                         .input_gradient = Wants(unit.operands[0]),
                         .result = ElementOf(u)}));
          break;
        case Kind::kAttention:
          HONE_RETURN_IF_ERROR(step.attention.Make(context_, envelope_, model_, u, ElementOf(u),
                                                   step.on_second_stream ? &second_stream_.products() : nullptr));
          attentions_.push_back(&step.attention);
          slots = std::max(slots, SpecAttention::SlotFloats(model_, envelope_, u));
          self = std::max(self, SpecAttention::SelfFloats(model_, envelope_, u));
          if (unit.composed == 0 && !unit.drawn && !unit.projected &&
              !Wants(unit.operands[0])) {  // the kernel that makes the scores' gradient makes grad_rows too
            apart = std::max(apart, Rows(unit.operands[0]) * Padded(unit.operands[0]));
          }
          break;
        case Kind::kOwn:
          HONE_RETURN_IF_ERROR(step.own.Make(context_, envelope_, model_, u));
          break;
        case Kind::kBetween:
          if (unit.read_through && NotesMarks(u)) HONE_RETURN_IF_ERROR(step.marks.Allocate(Rows(u) * Padded(u) / 8));
          if (unit.no_pass() || unit.adds_bias_alone() || (unit.normalise == 0 && unit.bias_of == 0)) break;
          HONE_RETURN_IF_ERROR(step.coefficients.Allocate(kCoefficientArrays * Padded(u)));
          break;
        case Kind::kNormaliseRows:
          HONE_RETURN_IF_ERROR(step.moments.Allocate(2 * Rows(u)));
          break;
        case Kind::kAggregate:
          step.choice = ChoiceFor(unit);
          if (envelope_.trains && Wants(unit.operands[0]) && KindAt(u) == HopSum::kMax) {
            HONE_RETURN_IF_ERROR(step.winners.Allocate(Rows(u) * Padded(u)));
          }
          break;
        default:
          break;
      }
    }
    HONE_RETURN_IF_ERROR(partials_.Allocate(partials));
    if (!envelope_.trains) return Status::Ok();
    HONE_RETURN_IF_ERROR(apart_.Allocate(apart * ElementBytes(context_.element)));
    HONE_RETURN_IF_ERROR(attention_scratch_.slots.Allocate(slots));
    HONE_RETURN_IF_ERROR(attention_scratch_.self.Allocate(self));
    HONE_RETURN_IF_ERROR(second_partials_.Allocate(partials));
    for (size_t u = 1; u + 1 < steps_.size(); ++u) {
      if (!Wants(u) || model_.lowered.plan.values[u].shares_gradient) continue;
      HONE_RETURN_IF_ERROR(steps_[u].own_grad.Allocate(Rows(u) * Padded(u) * ElementBytes(context_.element)));
    }
    return Status::Ok();
  }

  int64_t OuterBytes() const override { return outer_bytes_; }

  Status EnqueueOutermost(const BatchOnDevice& batch, cudaStream_t stream) override {
    const Element features = context_.graph->feature_element();
    const SpecUnits& lowered = model_.lowered;
    if (lowered.input_hop >= 0) {
      HONE_CUDA_RETURN_IF_ERROR(
          EnqueueGatherRows(batch.graph, features, lowered.input_hop, static_cast<int32_t>(Known(lowered.input_hop)),
                            batch.header, batch.graph_nodes, context_.element, OuterRowsOf(batch, steps_[0]), stream));
    }
    for (size_t u = 1; u < steps_.size(); ++u) {
      const SpecUnit& unit = model_.Unit(u);
      if (steps_[u].composed_at >= 0) {
        HONE_CUDA_RETURN_IF_ERROR(EnqueueGatherRowsAndOne(
            batch.graph, features, unit.hop + 1, static_cast<int32_t>(Known(unit.hop + 1)),
            static_cast<int32_t>(model_.Unit(0).width), static_cast<int32_t>(SpecAttention::OperandColumns(model_, u)),
            batch.header, batch.graph_nodes, context_.element, ComposedRowsOf(batch, u), stream));
      }
      if (unit.kind != Kind::kDrawn) continue;
      HONE_CUDA_RETURN_IF_ERROR(
          EnqueueDrawnSum(KindAt(u), batch.graph, features, unit.hop, envelope_.fanouts.back(),
                          static_cast<int32_t>(Known(unit.hop)), envelope_.trains ? kOutermostShare : 1.0f, batch.state,
                          batch.header, batch.graph_nodes, context_.element, OuterRowsOf(batch, steps_[u]), stream));
    }
    if (drawn_at_ >= 0) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueDrawNeighbors(batch.graph, LastNumber(), DrawnHop(batch), batch.state,
                                                     batch.header, batch.graph_nodes, stream));
    }
    for (size_t u = 1; u < steps_.size(); ++u) {
      if (steps_[u].kept_at < 0) continue;
      const SpecUnit& unit = model_.Unit(u);
      if (unit.attended_through) {
        const MaskedLayer masked{BetweenOf(unit).dropout, unit.hop, static_cast<int32_t>(Known(unit.hop)),
                                 static_cast<int32_t>(Padded(u)), KeptBitsOf(batch, u)};
        HONE_CUDA_RETURN_IF_ERROR(EnqueueDropoutBits({&masked, 1}, batch.state, batch.header, batch.nodes, stream));
        continue;
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueActivationDropoutBits(
          unit.hop, static_cast<int32_t>(Known(unit.hop)), static_cast<int32_t>(Padded(u)), BetweenOf(unit).dropout,
          batch.state, batch.header, batch.nodes, KeptBitsOf(batch, u), stream));
    }
    if (!lowered.needs_degrees) return Status::Ok();
    HONE_CUDA_RETURN_IF_ERROR(EnqueueDegrees(context_.graph->view(), LastNumber(), envelope_.known.back(), batch.header,
                                             batch.nodes, DegreesOf(batch), stream));
    return Status::Ok();
  }

  int32_t hideable_misses() const override {
    return drawn_at_ >= 0 ? HideableMissesOfLongSteps(envelope_) : kFewMisses;
  }

  Status EnqueueForward(const BatchOnDevice& batch, float* logits, cudaStream_t stream) override {
    logits_ = logits;
    if (!attentions_.empty()) {
      // The weights are ready when the chain's first product is.
      cudaStream_t beside = stream;
      if (forks_) {
        HONE_ASSIGN_OR_RETURN(beside, second_stream_.Fork(stream));
      }
      HONE_RETURN_IF_ERROR(SpecAttention::EnqueueWeights(attentions_, beside));
    }
    bool weights_ready = !forks_;
    for (size_t u = 1; u < steps_.size(); ++u) {
      if (model_.Unit(u).kind == Kind::kAttention && !weights_ready) {
        HONE_RETURN_IF_ERROR(second_stream_.Join(stream));
        weights_ready = true;
      }
      HONE_RETURN_IF_ERROR(EnqueueUnit(batch, u, stream));
    }
    return Status::Ok();
  }

  Status EnqueueBackward(const BatchOnDevice& batch, const void* grad_logits, cudaStream_t stream) override {
    const SpecPlan& plan = model_.lowered.plan;
    std::vector<size_t> without_rows;  // attentions whose rows have no gradient: nothing waits for the rest of theirs
    for (size_t u = steps_.size() - 1; u > 0; --u) {
      const SpecPlan::Value& value = plan.values[u];
      if (!value.wants_gradient) continue;
      if (MakesNoRowGradients(u)) without_rows.push_back(u);
      Step& step = steps_[u];
      size_t done = 0;
      if (u + 1 == steps_.size()) {
        step.grad = grad_logits;
        done = value.uses.size();
      } else if (value.shares_gradient) {
        step.grad = steps_[value.uses[0].value].grad;
        done = 1;
      } else {
        step.grad = step.own_grad.get();
      }
      for (; done < value.uses.size(); ++done) {
        HONE_RETURN_IF_ERROR(EnqueueSend(batch, value.uses[done], done > 0, u, stream));
      }
      HONE_RETURN_IF_ERROR(EnqueueOwnGradients(batch, u, stream));
    }
    for (const size_t u : without_rows) {
      const SpecUnit& unit = model_.Unit(u);
      HONE_RETURN_IF_ERROR(
          steps_[u].attention.EnqueueRowGradients(batch, AttentionOperand(batch, u), attention_scratch_,
                                                  unit.drawn ? 0 : PaddedRows(unit.operands[0]), apart_.get(), stream));
    }
    if (forks_) HONE_RETURN_IF_ERROR(second_stream_.Join(stream));
    return SpecAttention::EnqueueWeightGradients(attentions_, batch.header, stream);
  }

 private:
  struct Step {
    DeviceArray<unsigned char> rows;  // the unit's output, unless RowsOf finds it elsewhere
    int64_t outer_at = -1;            // offset of the output in BatchOnDevice::outer
    int64_t composed_at = -1;         // offset of rows [x, 1] in it, if the unit is a composed attention
    int64_t kept_at = -1;             // offset of dropout's kept bits in it, if the rows are read through dropout
    const void* grad = nullptr;       // the output's gradient in the current backward pass
    DeviceArray<unsigned char> own_grad;
    bool on_second_stream = false;  // whether the second stream makes the gradient of the weight or bias
    DeviceArray<uint16_t> marks;
    Dense dense;
    DeviceArray<float> coefficients, moments;
    DeviceArray<int32_t> winners;
    AggregateChoice choice;  // which kernels an aggregate over an inner hop takes
    SpecAttention attention;
    SpecOwn own;
  };

  int64_t Known(int hop) const { return envelope_.known[static_cast<size_t>(hop)]; }
  int LastNumber() const { return envelope_.layers() - 1; }
  int64_t Rows(size_t u) const { return RoundUp<int64_t>(Known(model_.Unit(u).hop), 128); }
  int32_t PaddedRows(size_t u) const { return static_cast<int32_t>(Rows(u)); }
  int64_t Padded(size_t u) const { return model_.Padded(u); }
  bool Wants(size_t u) const { return model_.Wants(u); }
  Element ElementOf(size_t u) const { return model_.Unit(u).makes_logits ? Element::kFloat32 : context_.element; }
  HopSum KindAt(size_t u) const { return KindOf(std::get<AggregateSpec>(model_.Operation(model_.Unit(u).value))); }
  const float* Master(int64_t at) const { return context_.parameters->master() + at; }
  float* Gradient(int64_t at) const { return context_.parameters->gradient() + at; }

  AggregateChoice ChoiceFor(const SpecUnit& unit) const {
    const auto& aggregates = context_.choices.aggregates;
    const auto found = aggregates.find(model_.spec->values[unit.value - 1].name);
    AggregateChoice choice = found == aggregates.end() ? AggregateChoice{} : found->second;
    if (!choice.forward) choice.forward = OwnSumChoice(unit.width, /*backward=*/false);
    if (!choice.backward) choice.backward = OwnSumChoice(unit.width, /*backward=*/true);
    return choice;
  }

  // Assigns places in BatchOnDevice::outer to what a batch keeps: rows of "x", sums of drawn rows, ids that attentions
  // have drawn, dropout's bits, degrees.
  void PlaceOuter() {
    const auto place = [this](int64_t bytes) {
      const int64_t at = outer_bytes_;
      outer_bytes_ += RoundUp<int64_t>(bytes, 256);
      return at;
    };
    for (size_t u = 0; u < steps_.size(); ++u) {
      const bool has_rows = u == 0 ? model_.lowered.input_hop >= 0 : model_.Unit(u).kind == Kind::kDrawn;
      if (has_rows) steps_[u].outer_at = place(Rows(u) * Padded(u) * ElementBytes(context_.element));
      if (model_.Unit(u).drawn && drawn_at_ < 0) {
        drawn_at_ = place(int64_t{envelope_.known.back()} * (envelope_.fanouts.back() + 1) * 4);
      }
      if (model_.Unit(u).composed == 0 || model_.Unit(u).drawn) continue;
      const int64_t rows = RoundUp<int64_t>(Known(model_.Unit(u).hop + 1), 128);
      steps_[u].composed_at = place(rows * SpecAttention::OperandColumns(model_, u) * ElementBytes(context_.element));
    }
    for (size_t u = 1; u < steps_.size(); ++u) {
      const SpecUnit& unit = model_.Unit(u);
      const bool drops = (unit.read_through || unit.attended_through) && BetweenOf(unit).dropout.threshold != 0;
      if (drops) steps_[u].kept_at = place(Rows(u) * Padded(u) / 8);
    }
    if (model_.lowered.needs_degrees) degrees_at_ = place(RoundUp<int64_t>(envelope_.known.back(), 128) * 4);
  }
  void* OuterRowsOf(const BatchOnDevice& batch, const Step& step) const {
    return static_cast<unsigned char*>(batch.outer) + step.outer_at;
  }
  void* ComposedRowsOf(const BatchOnDevice& batch, size_t u) const {
    return static_cast<unsigned char*>(batch.outer) + steps_[u].composed_at;
  }
  // Returns the ids that all attentions over the outermost hop share, followed by the number of ids of each row.
  OuterHopOnDevice DrawnHop(const BatchOnDevice& batch) const {
    auto* const ids = reinterpret_cast<int32_t*>(static_cast<unsigned char*>(batch.outer) + drawn_at_);
    const int32_t fanout = envelope_.fanouts.back(), rows = envelope_.known.back();
    return {fanout, rows, ids, ids + int64_t{rows} * fanout};
  }
  // Returns what the attention of unit `u` reads.
  SpecAttention::Operand AttentionOperand(const BatchOnDevice& batch, size_t u) const {
    const SpecUnit& unit = model_.Unit(u);
    if (unit.drawn) return {.hop = DrawnHop(batch)};
    if (unit.composed != 0) return {.rows = ComposedRowsOf(batch, u)};
    const size_t run = unit.operands[0];
    if (!model_.Unit(run).attended_through) return {.rows = RowsOf(batch, run)};
    const Between between = BetweenOf(model_.Unit(run));
    const bool drops = steps_[run].kept_at >= 0;
    return {.rows = RowsOf(batch, run),
            .activation = between.activation,
            .kept = drops ? KeptBitsOf(batch, run) : nullptr,
            .scale = drops ? between.dropout.scale : 1.0f};
  }
  uint8_t* KeptBitsOf(const BatchOnDevice& batch, size_t u) const {
    return static_cast<uint8_t*>(batch.outer) + steps_[u].kept_at;
  }
  float* DegreesOf(const BatchOnDevice& batch) const {
    return reinterpret_cast<float*>(static_cast<unsigned char*>(batch.outer) + degrees_at_);
  }
  // Returns the memory that has a unit's rows.
  void* RowsOf(const BatchOnDevice& batch, size_t u) const {
    const SpecUnit& unit = model_.Unit(u);
    if (unit.makes_logits) return logits_;
    if (unit.adds_bias_alone() || unit.no_pass()) return RowsOf(batch, unit.operands[0]);
    return steps_[u].outer_at >= 0 ? OuterRowsOf(batch, steps_[u]) : steps_[u].rows.get();
  }
  RowsOnDevice OnDevice(const BatchOnDevice& batch, size_t u) const {
    return {batch.state, batch.header, batch.nodes, model_.Unit(u).hop, PaddedRows(u), static_cast<int32_t>(Padded(u))};
  }
  // Returns the activation of a unit and, if the pass trains, its dropout.
  Between BetweenOf(const SpecUnit& unit) const {
    Between between;
    if (unit.activate != 0) between.activation = FunctionOf(std::get<ActivateSpec>(model_.Operation(unit.activate)));
    if (unit.drop == 0 || !envelope_.trains) return between;
    const auto& drop = std::get<DropSpec>(model_.Operation(unit.drop));
    const SpecShapes::DropKey key = model_.shapes.drop_keys[unit.drop];
    double dropped_before = 0;
    if (!drop.after.empty()) {
      const auto before = static_cast<size_t>(model_.shapes.operands[unit.drop][0]);
      dropped_before = std::get<DropSpec>(model_.Operation(before)).probability;
    }
    const DropoutRate before(dropped_before), both = before.Then(DropoutRate(drop.probability));
    if (!DropoutRate(drop.probability).active()) return between;
    between.dropout = {static_cast<uint32_t>(key.layer), static_cast<uint32_t>(key.site), both.threshold,
                       static_cast<float>(both.scale / before.scale)};
    return between;
  }
  const float* BiasOf(const SpecUnit& unit, size_t u) const {
    return unit.bias_of != 0 ? Master(model_.places[u].bias) : nullptr;
  }
  NormOnDevice NormOf(const SpecUnit& unit, size_t u) const {
    if (unit.normalise != 0) return NormAt(*context_.parameters, model_.places[u].norm, BiasOf(unit, u));
    NormOnDevice norm;
    norm.linear_bias = BiasOf(unit, u);
    return norm;
  }

  // Returns whether forward keeps marks for backward. A mark's bit says which of two slopes applied, and elu has more.
  bool NotesMarks(size_t u) const {
    return envelope_.trains && Wants(u) && BetweenOf(model_.Unit(u)).activation != Activation::kElu;
  }

  bool MakesNoRowGradients(size_t u) const {
    return model_.Unit(u).kind == Kind::kAttention && !Wants(model_.Unit(u).operands[0]);
  }

  // Decides which gradients of weights and biases are made on the second stream: those whose unit's gradient does not
  // change once it is complete, because no later unit works in its memory. The last product of the chain stays on the
  // chain if nothing would run next to it.
  Status PlanSecondStream() {
    const SpecPlan& plan = model_.lowered.plan;
    std::vector<size_t> root(steps_.size(), 0);  // the unit in whose memory each unit's gradient lies
    for (size_t u = steps_.size() - 1; u > 0; --u) {
      const bool shares = u + 1 < steps_.size() && plan.values[u].shares_gradient;
      root[u] = shares ? root[plan.values[u].uses[0].value] : u;
    }
    bool attends_at_the_end = false;
    for (size_t u = 1; u < steps_.size(); ++u) attends_at_the_end = attends_at_the_end || MakesNoRowGradients(u);
    for (size_t u = 1; u < steps_.size(); ++u) {
      const SpecUnit& unit = model_.Unit(u);
      const bool weight = unit.kind == Kind::kAttention ||
                          (unit.kind == Kind::kProduct && (Wants(unit.operands[0]) || attends_at_the_end));
      const bool bias = unit.bias_of != 0 && (unit.no_pass() || unit.adds_bias_alone());
      if (!Wants(u) || (!weight && !bias)) continue;
      bool stays = true;
      for (size_t later = 1; later < u; ++later) {
        stays = stays && !(Wants(later) && root[later] == root[u] && WorksInPlace(model_.Unit(later)));
      }
      steps_[u].on_second_stream = stays;
      forks_ = forks_ || stays;
    }
    return forks_ ? second_stream_.Make(context_, SecondStream::Priority::kChain) : Status::Ok();
  }
  static bool WorksInPlace(const SpecUnit& unit) {
    return unit.kind == Kind::kNormaliseRows ||
           (unit.kind == Kind::kBetween && !unit.no_pass() && !unit.adds_bias_alone());
  }

  // Forward:

  HopSumCall SumOf(const BatchOnDevice& batch, size_t u) const {
    const size_t operand = model_.Unit(u).operands[0];
    HopSumCall call{.kind = KindAt(u),
                    .number = model_.Unit(u).hop,
                    .width = static_cast<int32_t>(Padded(u)),
                    .winners = steps_[u].winners.get()};
    if (call.kind == HopSum::kSymmetric) call.degrees = DegreesOf(batch);
    if (!model_.Unit(operand).read_through) return call;
    const Between between = BetweenOf(model_.Unit(operand));
    const bool drops = steps_[operand].kept_at >= 0;
    call.through = {.rows = RowsOf(batch, operand),
                    .bias = BiasOf(model_.Unit(operand), operand),
                    .activation = between.activation,
                    .kept = drops ? KeptBitsOf(batch, operand) : nullptr,
                    .scale = drops ? between.dropout.scale : 1.0f,
                    .marks = steps_[operand].marks.get()};
    return call;
  }

  Status EnqueueUnit(const BatchOnDevice& batch, size_t u, cudaStream_t stream) {
    const SpecUnit& unit = model_.Unit(u);
    const Step& step = steps_[u];
    const Element element = context_.element;
    const auto operand = [&](size_t i) { return RowsOf(batch, unit.operands[i]); };
    switch (unit.kind) {
      case Kind::kInput:
      case Kind::kDrawn:
        return Status::Ok();
      case Kind::kAggregate:
        HONE_CUDA_RETURN_IF_ERROR(EnqueueHopSum(SumOf(batch, u), batch.hops[unit.hop], element, operand(0),
                                                batch.header, ElementOf(u), RowsOf(batch, u), stream,
                                                *step.choice.forward));
        return Status::Ok();
      case Kind::kAttention:
        return step.attention.EnqueueForward(batch, AttentionOperand(batch, u), RowsOf(batch, u), stream);
      case Kind::kProduct:
        return step.dense.Forward(operand(0), RowsOf(batch, u), stream);
      case Kind::kOwn:
        return step.own.EnqueueForward(batch, operand(0), RowsOf(batch, u), stream);
      case Kind::kBetween: {
        if (unit.no_pass()) return Status::Ok();
        const RowsOnDevice rows = OnDevice(batch, u);
        if (unit.normalise == 0) {
          HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivation(rows, ElementOf(u), operand(0), BiasOf(unit, u),
                                                          BetweenOf(unit), RowsOf(batch, u), stream));
          return Status::Ok();
        }
        HONE_CUDA_RETURN_IF_ERROR(EnqueueNormBetween(rows, element, operand(0), NormOf(unit, u), envelope_.trains,
                                                     CoefficientsIn(step.coefficients.get(), rows.width),
                                                     BetweenOf(unit), {.y = RowsOf(batch, u)}, partials_.get(),
                                                     stream));
        return Status::Ok();
      }
      case Kind::kNormaliseRows:
        HONE_CUDA_RETURN_IF_ERROR(
            EnqueueLayerNorm(OnDevice(batch, u), element, RowNormOf(u), operand(0), RowsOf(batch, u), stream));
        return Status::Ok();
      case Kind::kAdd:
        if (unit.operands.size() == 2 &&
            (model_.Unit(unit.operands[0]).summed_through || model_.Unit(unit.operands[1]).summed_through)) {
          HONE_CUDA_RETURN_IF_ERROR(
              EnqueueSumThrough(OnDevice(batch, u), element, SummedValueOf(batch, unit.operands[0]),
                                SummedValueOf(batch, unit.operands[1]), EpsOf(u, 1), RowsOf(batch, u), stream));
          return Status::Ok();
        }
        for (size_t i = 1; i < unit.operands.size(); ++i) {
          HONE_CUDA_RETURN_IF_ERROR(EnqueueAddRows({.from = operand(i == 1 ? 0 : i),
                                                    .also = i == 1 ? operand(1) : nullptr,
                                                    .number = unit.hop,
                                                    .eps = EpsOf(u, i),
                                                    .adds = i > 1,
                                                    .to = RowsOf(batch, u),
                                                    .padded_rows = PaddedRows(u),
                                                    .width = static_cast<int32_t>(Padded(u))},
                                                   element, batch.header, element, stream));
        }
        return Status::Ok();
      case Kind::kConcat:
        for (size_t i = 0; i < unit.operands.size(); ++i) {
          HONE_CUDA_RETURN_IF_ERROR(EnqueuePutColumns(ColumnsOf(u, i, PaddedRows(u)), element, batch.header, operand(i),
                                                      RowsOf(batch, u), stream));
        }
        return Status::Ok();
      case Kind::kLogits:
        HONE_CUDA_RETURN_IF_ERROR(EnqueueAddRows({.from = operand(0),
                                                  .number = 0,
                                                  .to = logits_,
                                                  .padded_rows = PaddedRows(u),
                                                  .width = static_cast<int32_t>(Padded(u))},
                                                 element, batch.header, Element::kFloat32, stream));
        return Status::Ok();
    }
    return Status::Internal("a unit of no kind");
  }
  // Returns how a sum reads the rows of unit `u`.
  SummedValue SummedValueOf(const BatchOnDevice& batch, size_t u) const {
    const SpecUnit& unit = model_.Unit(u);
    if (!unit.summed_through) return {.x = RowsOf(batch, u)};
    return {.x = RowsOf(batch, u), .bias = BiasOf(unit, u), .between = BetweenOf(unit)};
  }
  LayerNormOnDevice RowNormOf(size_t u) const {
    const UnitPlaces& at = model_.places[u];
    return {static_cast<int32_t>(model_.Unit(u).width), Master(at.norm.weight), Master(at.norm.bias),
            steps_[u].moments.get()};
  }
  const float* EpsOf(size_t u, size_t operand) const {
    const bool is_last = operand + 1 == model_.Unit(u).operands.size();
    return is_last && model_.places[u].eps >= 0 ? context_.parameters->buffers() + model_.places[u].eps : nullptr;
  }
  // Returns where the columns of operand i lie among those of a kConcat unit.
  ColumnsBeside ColumnsOf(size_t u, size_t i, int32_t padded_rows) const {
    const SpecUnit& unit = model_.Unit(u);
    ColumnsBeside columns{.number = unit.hop,
                          .padded_rows = padded_rows,
                          .width = static_cast<int32_t>(model_.Unit(unit.operands[i]).width),
                          .narrow_stride = Padded(unit.operands[i]),
                          .wide_stride = Padded(u)};
    const SpecUnit& operand = model_.Unit(unit.operands[i]);
    if (operand.summed_through) columns.bias = BiasOf(operand, unit.operands[i]);
    for (size_t before = 0; before < i; ++before) {
      columns.first += static_cast<int32_t>(model_.Unit(unit.operands[before]).width);
    }
    return columns;
  }

  // Backward:

  // Returns a unit's gradient for writing. It must be in this program's memory, which the logits' gradient is not.
  static void* Writable(const Step& step) { return const_cast<void*>(step.grad); }

  // Computes the part of unit `u`'s gradient that comes through `use`. If `adds`, adds it to the gradient; otherwise
  // stores it.
  Status EnqueueSend(const BatchOnDevice& batch, const SpecPlan::Use& use, bool adds, size_t u, cudaStream_t stream) {
    const SpecUnit& user = model_.Unit(use.value);
    const Step& from = steps_[use.value];
    const Element element = context_.element;
    void* const to = Writable(steps_[u]);
    // A part that is added touches no more rows than its user has.
    const auto touched = [&](int number) {
      return adds ? std::min(PaddedRows(u), static_cast<int32_t>(Known(number))) : PaddedRows(u);
    };
    const auto add_rows = [&](const void* rows, int number, const float* eps) -> Status {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueAddRows({.from = rows,
                                                .number = number,
                                                .eps = eps,
                                                .adds = adds,
                                                .to = to,
                                                .padded_rows = touched(number),
                                                .width = static_cast<int32_t>(Padded(u))},
                                               element, batch.header, element, stream));
      return Status::Ok();
    };
    switch (user.kind) {
      case Kind::kAggregate: {
        void* const direct = adds ? apart_.get() : to;
        HONE_CUDA_RETURN_IF_ERROR(EnqueueHopSumBackward(SumOf(batch, use.value), batch.hops[user.hop], element,
                                                        from.grad, PaddedRows(u), batch.header, direct, stream,
                                                        *from.choice.backward));
        return adds ? add_rows(direct, user.hop + 1, nullptr) : Status::Ok();
      }
      case Kind::kAttention: {
        void* const direct = adds ? apart_.get() : to;
        HONE_RETURN_IF_ERROR(from.attention.EnqueueRowGradients(batch, AttentionOperand(batch, use.value),
                                                                attention_scratch_, PaddedRows(u), direct, stream));
        return adds ? add_rows(direct, user.hop + 1, nullptr) : Status::Ok();
      }
      case Kind::kProduct: {
        const bool overwrites_all = !adds && user.hop == model_.Unit(u).hop;
        void* const direct = overwrites_all ? to : apart_.get();
        HONE_RETURN_IF_ERROR(from.dense.InputGradient(from.grad, direct, stream));
        return overwrites_all ? Status::Ok() : add_rows(direct, user.hop, nullptr);
      }
      case Kind::kOwn: {
        void* const direct = adds ? apart_.get() : to;
        HONE_RETURN_IF_ERROR(
            from.own.EnqueueBackward(batch, RowsOf(batch, u), from.grad, PaddedRows(u), direct, stream));
        return adds ? add_rows(direct, user.hop + (user.reads_hop ? 1 : 0), nullptr) : Status::Ok();
      }
      case Kind::kConcat:
        HONE_CUDA_RETURN_IF_ERROR(EnqueueTakeColumns(ColumnsOf(use.value, use.operand, touched(user.hop)), element,
                                                     batch.header, from.grad, adds, to, stream));
        return Status::Ok();
      case Kind::kAdd: {
        const SpecUnit& unit = model_.Unit(u);
        if (!unit.summed_through || unit.is_bias()) {
          return add_rows(from.grad, user.hop, EpsOf(use.value, use.operand));
        }
        HONE_CHECK(!adds, "a run that a sum applies has one reader");
        RowsOnDevice rows = OnDevice(batch, u);
        rows.number = user.hop;
        HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivationBackward(rows, element, RowsOf(batch, u), BiasOf(unit, u),
                                                                BetweenOf(unit), from.grad, to, stream));
        return Status::Ok();
      }
      default:  // the part is the gradient itself
        return add_rows(from.grad, user.hop, nullptr);
    }
  }

  // Computes the gradients of the unit's parameters from the unit's complete gradient and, if the unit works in place,
  // replaces that by the operand's gradient.
  Status EnqueueOwnGradients(const BatchOnDevice& batch, size_t u, cudaStream_t stream) {
    const SpecUnit& unit = model_.Unit(u);
    const Step& step = steps_[u];
    const UnitPlaces& at = model_.places[u];
    const Element element = context_.element;
    const auto operand = [&] { return RowsOf(batch, unit.operands[0]); };
    const RowsOnDevice rows = OnDevice(batch, u);
    switch (unit.kind) {
      case Kind::kProduct: {
        cudaStream_t products = stream;
        if (step.on_second_stream) {
          HONE_ASSIGN_OR_RETURN(products, second_stream_.Fork(stream));
        }
        return step.dense.WeightGradient(step.grad, operand(), products);
      }
      case Kind::kAttention: {  // the rest is computed together with the operand's gradient, or at the end
        HONE_RETURN_IF_ERROR(step.attention.EnqueueSumsGradient(
            batch, step.grad, attention_scratch_, unit.projected ? PaddedRows(unit.operands[0]) : 0, stream));
        cudaStream_t products = stream;
        if (step.on_second_stream) {
          HONE_ASSIGN_OR_RETURN(products, second_stream_.Fork(stream));
        }
        return step.attention.EnqueueProductGradient(AttentionOperand(batch, u), step.grad, products);
      }
      case Kind::kOwn:
        if (Wants(unit.operands[0])) return Status::Ok();  // computed together with the operand's gradient
        return step.own.EnqueueBackward(batch, operand(), step.grad, 0, nullptr, stream);
      case Kind::kBetween:
        if (unit.adds_bias_alone() || unit.no_pass()) {
          if (unit.bias_of == 0) return Status::Ok();
          cudaStream_t sums = stream;
          if (step.on_second_stream) {
            HONE_ASSIGN_OR_RETURN(sums, second_stream_.Fork(stream));
          }
          HONE_CUDA_RETURN_IF_ERROR(EnqueueColumnSums(rows, element, step.grad, Gradient(at.bias),
                                                      (step.on_second_stream ? second_partials_ : partials_).get(),
                                                      sums));
          return Status::Ok();
        }
        if (unit.normalise == 0 && unit.bias_of == 0) {
          HONE_CUDA_RETURN_IF_ERROR(EnqueueBiasActivationBackward(rows, element, operand(), nullptr, BetweenOf(unit),
                                                                  step.grad, Writable(step), stream));
          return Status::Ok();
        }
        return EnqueueBetweenGradients(batch, u, stream);
      case Kind::kNormaliseRows:
        HONE_CUDA_RETURN_IF_ERROR(EnqueueLayerNormBackward(rows, element, RowNormOf(u), operand(), step.grad,
                                                           Writable(step), Gradient(at.norm.weight),
                                                           Gradient(at.norm.bias), partials_.get(), stream));
        return Status::Ok();
      default:
        return Status::Ok();
    }
  }
  Status EnqueueBetweenGradients(const BatchOnDevice& batch, size_t u, cudaStream_t stream) {
    const SpecUnit& unit = model_.Unit(u);
    const Step& step = steps_[u];
    const UnitPlaces& at = model_.places[u];
    const RowsOnDevice rows = OnDevice(batch, u);
    const ColumnCoefficients coefficients = CoefficientsIn(step.coefficients.get(), rows.width);
    NormGradients gradients;
    if (unit.normalise != 0) {
      gradients.weight = Gradient(at.norm.weight);
      gradients.bias = Gradient(at.norm.bias);
    } else {
      gradients.linear_bias = Gradient(at.bias);
      // These coefficients make y = x + bias.
      HONE_CUDA_RETURN_IF_ERROR(EnqueueColumnCoefficients(rows, context_.element, nullptr, NormOf(unit, u),
                                                          /*training=*/false, coefficients, nullptr, stream));
    }
    HONE_CUDA_RETURN_IF_ERROR(EnqueueBetweenBackward(rows, context_.element, RowsOf(batch, unit.operands[0]),
                                                     NormOf(unit, u), coefficients, BetweenOf(unit), step.grad,
                                                     Writable(step), gradients, partials_.get(), stream));
    return Status::Ok();
  }

  const ProgramContext& context_;
  const Envelope envelope_;
  const LoweredSpec& model_;          // the plan's; must outlive the program
  std::vector<Step> steps_;           // indexed by unit
  DeviceArray<unsigned char> apart_;  // one use's part of a gradient, before it is added
  DeviceArray<float> partials_, second_partials_;
  SpecAttention::Scratch attention_scratch_;
  std::vector<const SpecAttention*> attentions_;
  SecondStream second_stream_;
  bool forks_ = false;
  int64_t outer_bytes_ = 0, degrees_at_ = 0, drawn_at_ = -1;
  float* logits_ = nullptr;  // logits of the current forward pass
};

class SpecModelPlan final : public ModelPlan {
 public:
  explicit SpecModelPlan(LoweredSpec model) : model_(std::move(model)), layout_(LayOutParameters(model_)) {}
  ParameterLayout Layout() const override { return layout_; }
  int64_t padded_classes() const override { return model_.Padded(model_.lowered.units.size() - 1); }
  bool numbers_outermost() const override { return !model_.lowered.draws_outermost; }
  bool finds_rows_by_id() const override {
    return std::any_of(model_.lowered.units.begin(), model_.lowered.units.end(), [&](const SpecUnit& unit) {
      return unit.kind == Kind::kDrawn &&
             KindOf(std::get<AggregateSpec>(model_.Operation(unit.value))) == HopSum::kSymmetric;
    });
  }
  Result<std::unique_ptr<Program>> Build(const ProgramContext& context, const Envelope& envelope) const override {
    auto program = std::make_unique<SpecProgram>(context, envelope, model_);
    HONE_RETURN_IF_ERROR(program->Make());
    return std::unique_ptr<Program>(std::move(program));
  }

 private:
  LoweredSpec model_;
  const ParameterLayout layout_;
};

}  // namespace

Result<std::unique_ptr<ModelPlan>> PlanSpecModel(const ModelOptions& model) {
  LoweredSpec lowered;
  lowered.spec = model.spec;
  lowered.edge_width = model.edge_width;
  HONE_ASSIGN_OR_RETURN(lowered.shapes, CheckModelSpec(*model.spec, model.in_width, model.num_classes));
  HONE_RETURN_IF_ERROR(CheckEdgeFeatures(*model.spec, model.edge_width));
  lowered.lowered = LowerToUnits(*model.spec, lowered.shapes, /*for_steps=*/true);
  for (size_t u = 1; u < lowered.lowered.units.size(); ++u) {
    if (lowered.Unit(u).kind == Kind::kOwn) HONE_RETURN_IF_ERROR(SpecOwn::Check(lowered, u));
  }
  if (!lowered.lowered.plan.values.back().wants_gradient) {
    return Status::InvalidArgument(
        fmt::format("model '{}' has no weights, and the GPU engine trains some: add a linear, or use --device cpu",
                    model.spec->name));
  }
  return std::unique_ptr<ModelPlan>(std::make_unique<SpecModelPlan>(std::move(lowered)));
}

}  // namespace hone::gnn::cuda
