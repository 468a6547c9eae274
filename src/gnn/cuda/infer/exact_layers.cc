// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Enqueues the layers of exact_model.h: gather, products, what comes after them, and contributions to the logits.
#include "gnn/cuda/infer/exact_layers.h"

#include <fmt/format.h>

#include <algorithm>

#include "gnn/cuda/base/device_parameters.h"

namespace hone::gnn::cuda {
namespace {

class LayersForm final : public ExactForm {
 public:
  LayersForm(ExactModel model, Element element)
      : model_(std::move(model)), element_(element), size_(ElementBytes(element)) {
    most_.out = model_.padded_classes * (4 / size_);  // fp32 logits use the same buffer as rows of `element`
    for (const ExactLayer& layer : model_.layers) {
      most_.gathered = std::max(most_.gathered, layer.gathered());
      for (const ExactStep& step : layer.steps) most_.out = std::max(most_.out, step.out);
      if (layer.own_weight != kNowhere) most_.own = std::max(most_.own, layer.out());
      if (layer.attends) most_.heads = std::max<int64_t>(most_.heads, layer.heads);
      most_.partial = std::max(most_.partial, layer.attends ? layer.heads * (layer.in + 2) : layer.in);
    }
  }

  size_t passes() const override { return model_.layers.size(); }
  std::string NameOf(size_t pass) const override { return fmt::format("layer {}", pass + 1); }
  int64_t RowBytes(size_t pass) const override { return model_.layers[pass].in * size_; }
  int64_t SumsRowBytes() const override { return model_.contributes ? model_.padded_classes * 4 : 0; }
  ExactRoom Room() const override {
    return {.fixed = ExactProducts::Bytes(model_.packed, element_),
            .a_node = 2 * most_.heads * 4,
            .a_block_row = (most_.gathered + 2 * most_.out + most_.own) * size_,
            .a_piece = most_.partial * 4};
  }

  Status Allocate(const ExactBuffers& buffers) override {
    HONE_RETURN_IF_ERROR(products_.Make(model_.packed, element_, buffers.product_rows, *buffers.matmuls));
    HONE_RETURN_IF_ERROR(gathered_.Allocate(buffers.block_rows * most_.gathered * size_));
    HONE_RETURN_IF_ERROR(plain_.Allocate(buffers.block_rows * most_.out * size_));
    HONE_RETURN_IF_ERROR(finished_.Allocate(buffers.block_rows * most_.out * size_));
    HONE_RETURN_IF_ERROR(own_.Allocate(buffers.block_rows * most_.own * size_));
    HONE_RETURN_IF_ERROR(partials_.Allocate(buffers.pieces * most_.partial));
    return scores_.Allocate(buffers.nodes * 2 * most_.heads);
  }

  Status BeginPass(size_t pass, const ExactInput& input, cudaStream_t stream) override {
    const ExactLayer& layer = model_.layers[pass];
    if (!layer.attends) return Status::Ok();
    HONE_CUDA_RETURN_IF_ERROR(EnqueueScores(Attention(layer), input.num_nodes, input.rows, input.element,
                                            static_cast<int32_t>(layer.in), scores_.get(), stream));
    return Status::Ok();
  }

  Status EnqueueBlock(size_t pass, const ExactInput& input, const ExactBlock& block, cudaStream_t stream) override {
    const ExactLayer& layer = model_.layers[pass];
    const bool is_last = pass + 1 == model_.layers.size();
    const auto in = static_cast<int32_t>(layer.in);
    if (layer.attends) {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueFullAttention(Attention(layer), block.rows, block.long_rows, scores_.get(),
                                                     input.rows, input.element, in, element_, gathered_.get(),
                                                     partials_.get(), stream));
    } else {
      HONE_CUDA_RETURN_IF_ERROR(EnqueueFullAggregate(layer.aggregate, block.rows, block.long_rows, input.rows,
                                                     input.element, in, element_, gathered_.get(), partials_.get(),
                                                     stream));
    }
    const int64_t rows = block.rows.count;
    const void* from = gathered_.get();
    for (size_t s = 0; s < layer.steps.size(); ++s) {
      const ExactStep& step = layer.steps[s];
      const bool ends = s + 1 == layer.steps.size();
      const bool gives_logits = is_last && ends && !model_.contributes;
      HONE_RETURN_IF_ERROR(products_.Enqueue(rows, step.in, step.out, step.weight,
                                             gives_logits ? Element::kFloat32 : element_, from, plain_.get(), stream));
      if (gives_logits) return FinishLogits(block, nullptr, products_.Vector(step.norm.shift), stream);
      FinishRows finish{.mean = products_.Vector(step.norm.mean),
                        .scale = products_.Vector(step.norm.scale),
                        .shift = products_.Vector(step.norm.shift),
                        .activation = step.activation};
      RowsOut out{.block = finished_.get(), .table = {}, .block_stride_bytes = step.out * size_};
      void* also = nullptr;
      if (ends && !is_last) {
        out.block = block.first;
        out.table = block.out;
        if (!layer.contributions.empty()) also = finished_.get();
      }
      if (ends && layer.adds_own) {
        finish.residual = gathered_.get() + layer.in * size_;
        finish.residual_stride = layer.gathered();
        finish.residual_bias = products_.Vector(layer.own_bias);
        if (layer.own_weight != kNowhere) {
          HONE_RETURN_IF_ERROR(products_.Enqueue(rows, layer.gathered(), step.out, layer.own_weight, element_,
                                                 gathered_.get(), own_.get(), stream));
          finish.residual = own_.get();
          finish.residual_stride = step.out;
        }
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueFinishRows(finish, block.rows, element_, plain_.get(),
                                                  static_cast<int32_t>(step.out), out, also, stream));
      from = finished_.get();
    }
    for (size_t c = 0; c < layer.contributions.size(); ++c) {
      const ExactContribution& part = layer.contributions[c];
      HONE_RETURN_IF_ERROR(products_.Enqueue(rows, part.in, model_.padded_classes, part.weight, Element::kFloat32,
                                             part.of_gathered ? gathered_.get() : finished_.get(), plain_.get(),
                                             stream));
      if (is_last && c + 1 == layer.contributions.size()) {
        return FinishLogits(block, &block.sums, products_.Vector(model_.logits_bias), stream);
      }
      HONE_CUDA_RETURN_IF_ERROR(EnqueueAddToTable(pass == 0 && c == 0, block.rows,
                                                  reinterpret_cast<const float*>(plain_.get()),
                                                  static_cast<int32_t>(model_.padded_classes), block.sums, stream));
    }
    return Status::Ok();
  }

 private:
  struct Sizes {
    int64_t gathered = 0, out = 0, own = 0, heads = 0, partial = 0;
  };
  FullAttention Attention(const ExactLayer& layer) const {
    return {.heads = layer.heads, .negative_slope = layer.negative_slope, .folded = products_.Vector(layer.folded)};
  }
  Status FinishLogits(const ExactBlock& block, const RowTable* sums, const float* bias, cudaStream_t stream) {
    HONE_CUDA_RETURN_IF_ERROR(EnqueueFinishLogits(
        block.rows, reinterpret_cast<const float*>(plain_.get()), static_cast<int32_t>(model_.padded_classes),
        static_cast<int32_t>(model_.classes), sums, bias, block.logits, block.predicted, stream));
    return Status::Ok();
  }

  const ExactModel model_;
  const Element element_;
  const int64_t size_;
  Sizes most_;  // largest widths of any layer
  ExactProducts products_;
  DeviceArray<unsigned char> gathered_, plain_, finished_, own_;
  DeviceArray<float> partials_, scores_;
};

}  // namespace

std::unique_ptr<ExactForm> MakeExactLayers(ExactModel model, Element element) {
  return std::make_unique<LayersForm>(std::move(model), element);
}

}  // namespace hone::gnn::cuda
