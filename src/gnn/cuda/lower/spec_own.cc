// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/lower/spec_own.h"

#include <fmt/format.h>

#include "gnn/cuda/kernels/edge_rows.h"
#include "gnn/cuda/kernels/value_rows.h"

namespace hone::gnn::cuda {

Status SpecOwn::Check(const LoweredSpec& model, size_t u) {
  const SpecUnit& unit = model.Unit(u);
  const std::string& kind = std::get<OwnSpec>(model.Operation(unit.value)).kind;
  if (FindOp(kind)->MakeDeviceOp(model.OwnPlace(u)) != nullptr) return Status::Ok();
  return Status::InvalidArgument(fmt::format(
      "model '{}', value '{}' ({}): its program gave this operation no form for a GPU: give it one (MakeDeviceOp of "
      "hone/gnn/op.h), or use the CPU",
      model.spec->name, model.spec->values[unit.value - 1].name, kind));
}

Status SpecOwn::Make(const ProgramContext& context, const Envelope& envelope, const LoweredSpec& model, size_t u) {
  context_ = &context;
  model_ = &model;
  u_ = u;
  place_ = model.OwnPlace(u);
  op_ = FindOp(std::get<OwnSpec>(model.Operation(unit().value)).kind)->MakeDeviceOp(place_);
  const auto nodes_of_hop = [&](int hop) { return envelope.known[static_cast<size_t>(hop)]; };
  shape_ = {.most_dst = nodes_of_hop(unit().hop),
            .most_src = nodes_of_hop(operand_hop()),
            .fanout = unit().reads_hop ? envelope.fanouts[static_cast<size_t>(unit().hop)] : 0,
            .element = context.element == Element::kFloat32 ? OpElement::kFloat32 : OpElement::kBFloat16,
            .trains = envelope.trains};
  for (const OwnParameter& at : model.places[u].own) {
    parameters_.push_back((at.buffer ? context.parameters->buffers() : context.parameters->master()) + at.at);
    gradients_.push_back(at.buffer ? nullptr : context.parameters->gradient() + at.at);
  }
  if (reads_edges()) {
    HONE_RETURN_IF_ERROR(edge_rows_.Allocate(int64_t{shape_.most_dst} * shape_.fanout *
                                             EdgeRowStride(static_cast<int32_t>(place_.edge_columns))));
  }
  const DeviceOpBytes bytes = op_->Bytes(shape_);
  HONE_RETURN_IF_ERROR(saved_.Allocate(bytes.saved));
  return workspace_.Allocate(bytes.workspace);
}

DeviceOpCall SpecOwn::Call(const BatchOnDevice& batch, cudaStream_t stream) const {
  DeviceOpCall call{.shape = shape_,
                    .hop = {},
                    .parameters = parameters_,
                    .gradients = gradients_,
                    .saved = saved_.get(),
                    .workspace = workspace_.get(),
                    .stream = stream};
  DeviceHop& hop = call.hop;
  hop.valid = &batch.header->valid;
  hop.num_dst = &batch.header->hop_nodes[unit().hop];
  hop.num_src = &batch.header->hop_nodes[operand_hop()];
  hop.most_dst = shape_.most_dst;
  hop.most_src = shape_.most_src;
  hop.fanout = shape_.fanout;
  if (unit().reads_hop) {
    const HopOnDevice& edges = batch.hops[unit().hop];
    hop.columns = edges.columns;
    hop.counts = edges.counts;
    hop.slots_by_source = edges.sorted_slots;
    hop.first = edges.first;
    hop.end = edges.end;
  }
  if (reads_edges()) {
    hop.edge_features = edge_rows_.get();
    hop.edge_columns = static_cast<int32_t>(place_.edge_columns);
    hop.edge_stride = EdgeRowStride(hop.edge_columns);
  }
  hop.nodes = batch.nodes;
  hop.seed = &batch.state->seed;
  hop.step = &batch.header->step;
  hop.epoch = &batch.header->epoch;
  hop.layer = static_cast<uint32_t>(place_.layer);
  hop.site = place_.site;
  return call;
}

DeviceRows SpecOwn::Rows(const void* data, size_t u) const {
  return {const_cast<void*>(data), model_->Unit(u).width, model_->Padded(u)};
}

Status SpecOwn::EnqueueForward(const BatchOnDevice& batch, const void* rows, void* out, cudaStream_t stream) const {
  if (reads_edges()) {
    HONE_CHECK(context_->graph->edge_features().columns == place_.edge_columns,
               "a device graph has the features of its edges before a model that reads them runs");
    HONE_CUDA_RETURN_IF_ERROR(EnqueueEdgeRows({.graph = batch.graph,
                                               .features = context_->graph->edge_features(),
                                               .number = unit().hop,
                                               .fanout = shape_.fanout,
                                               .most_rows = shape_.most_dst,
                                               .state = batch.state,
                                               .header = batch.header,
                                               .nodes = batch.nodes,
                                               .out = edge_rows_.get()},
                                              stream));
  }
  return op_->EnqueueForward(Call(batch, stream), Rows(rows, unit().operands[0]), Rows(out, u_));
}

Status SpecOwn::EnqueueBackward(const BatchOnDevice& batch, const void* rows, const void* grad_out, int32_t padded_rows,
                                void* grad_rows, cudaStream_t stream) const {
  const size_t operand = unit().operands[0];
  HONE_RETURN_IF_ERROR(
      op_->EnqueueBackward(Call(batch, stream), Rows(rows, operand), Rows(grad_out, u_), Rows(grad_rows, operand)));
  if (grad_rows == nullptr) return Status::Ok();
  HONE_CUDA_RETURN_IF_ERROR(
      EnqueueClearPadding(operand_hop(), batch.header, padded_rows, static_cast<int32_t>(model_->Unit(operand).width),
                          static_cast<int32_t>(model_->Padded(operand)), context_->element, grad_rows, stream));
  return Status::Ok();
}

}  // namespace hone::gnn::cuda
