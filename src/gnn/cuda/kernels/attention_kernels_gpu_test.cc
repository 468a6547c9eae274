// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the attention kernels with ops/attention.h and GATConv in double. The hops are small and random and contain
// all awkward cases; envelopes are larger than the batch, and every row that must not be read holds NaN. Runs on a GPU,
// and on the emulated runtime everywhere; skips, with the reason, if the program has neither.
#include "gnn/cuda/kernels/attention_kernels.h"
#include "gnn/cuda/kernels/projected_attention.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/ops/attention.h"
#include "gnn/ops/dropout.h"
#include "gnn/ops/test_support.h"
#include "gnn/sample/draw.h"

namespace hone::gnn::cuda {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kSlope = 0.2;

// Returns the value rounded to the element type.
float RoundToElement(Element element, double value) {
  const float x = static_cast<float>(value);
  if (element == Element::kBFloat16) return FloatFromBFloat16(BFloat16FromFloat(x));
  return element == Element::kFloat16 ? FloatFromHalf(HalfFromFloat(x)) : x;
}
std::vector<unsigned char> EncodeElements(Element element, const std::vector<float>& values) {
  const size_t size = element == Element::kFloat32 ? 4 : 2;
  std::vector<unsigned char> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    if (size == 4) {
      std::memcpy(&bytes[i * 4], &values[i], 4);
      continue;
    }
    const uint16_t bits = element == Element::kFloat16 ? HalfFromFloat(values[i]) : BFloat16FromFloat(values[i]);
    std::memcpy(&bytes[i * 2], &bits, 2);
  }
  return bytes;
}

// An array in device memory, which the test writes and reads as floats.
class OnDevice {
 public:
  OnDevice(Element element, const std::vector<float>& values) : element_(element) {
    const std::vector<unsigned char> bytes = EncodeElements(element, values);
    EXPECT_TRUE(array_.Upload(bytes.data(), static_cast<int64_t>(bytes.size())).ok());
  }
  explicit OnDevice(const std::vector<float>& values) : OnDevice(Element::kFloat32, values) {}
  void* get() const { return array_.get(); }
  float* floats() const { return reinterpret_cast<float*>(array_.get()); }
  std::vector<float> Read() const {
    std::vector<unsigned char> bytes;
    EXPECT_TRUE(array_.Download(bytes).ok());
    const size_t size = element_ == Element::kFloat32 ? 4 : 2;
    std::vector<float> values(bytes.size() / size);
    for (size_t i = 0; i < values.size(); ++i) {
      uint16_t half = 0;
      std::memcpy(size == 4 ? static_cast<void*>(&values[i]) : &half, &bytes[i * size], size);
      if (size == 2) values[i] = element_ == Element::kFloat16 ? FloatFromHalf(half) : FloatFromBFloat16(half);
    }
    return values;
  }

 private:
  Element element_;
  DeviceArray<unsigned char> array_;
};

template <typename T>
DeviceArray<T> UploadToDevice(const std::vector<T>& values) {
  DeviceArray<T> array;
  EXPECT_TRUE(array.Upload(values.data(), static_cast<int64_t>(values.size())).ok());
  return array;
}

// Returns `rows` rows of random values rounded to the element type, then NaN up to `envelope` rows.
std::vector<float> RandomPaddedRows(Element element, int64_t rows, int64_t envelope, int64_t width, uint64_t seed) {
  std::vector<float> values = RandomValues<float>(rows * width, seed);
  for (float& v : values) v = RoundToElement(element, v);
  values.resize(static_cast<size_t>(envelope * width), kNan);
  return values;
}
std::vector<double> FirstRowsOf(const std::vector<float>& values, int64_t rows, int64_t width) {
  return {values.begin(), values.begin() + rows * width};
}

// Allows for sums of some dozens of products of values of order 1, in float: a few hundred roundings of 2^-24 each,
// relative to the array's largest value; and for the rounding of the result to the element type.
void ExpectClose(const char* what, Element element, const std::vector<float>& got, const std::vector<double>& expected) {
  ASSERT_GE(got.size(), expected.size()) << what;
  double largest_magnitude = 0;
  for (const double v : expected) largest_magnitude = std::max(largest_magnitude, std::abs(v));
  const double rounding = element == Element::kBFloat16 ? 0x1p-8 : 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i],
                rounding * std::abs(expected[i]) + 300 * 0x1p-24 * std::max(largest_magnitude, 1e-3))
        << what << "[" << i << "]";
  }
}

// An inner hop in device memory: a block in an envelope with spare room.
class InnerHop {
 public:
  InnerHop(const OwnedBlock& block, int32_t fanout) : block_(block) {
    const BlockView view = block.view();
    rows = view.num_dst + 5;
    sources = view.num_src + 7;
    std::vector<int32_t> columns(static_cast<size_t>(rows * fanout), -1), counts(static_cast<size_t>(rows), 1 << 20);
    std::vector<std::pair<uint32_t, uint32_t>> by_source;
    for (int32_t row = 0; row < view.num_dst; ++row) {
      const int32_t begin = view.row_offsets[static_cast<size_t>(row)];
      counts[static_cast<size_t>(row)] = view.row_offsets[static_cast<size_t>(row) + 1] - begin;
      EXPECT_LE(counts[static_cast<size_t>(row)], fanout);
      for (int32_t j = 0; j < counts[static_cast<size_t>(row)]; ++j) {
        const int32_t source = view.columns[static_cast<size_t>(begin + j)];
        columns[static_cast<size_t>(row * fanout + j)] = source;
        by_source.emplace_back(source, row * fanout + j);
      }
    }
    std::stable_sort(by_source.begin(), by_source.end());
    std::vector<uint32_t> slots;
    std::vector<int32_t> first(static_cast<size_t>(sources), 0), end(static_cast<size_t>(sources), 0);
    for (const auto& [source, slot] : by_source) {
      if (slots.empty() || end[source] == 0) first[source] = static_cast<int32_t>(slots.size());
      slots.push_back(slot);
      end[source] = static_cast<int32_t>(slots.size());
    }
    slots.resize(static_cast<size_t>(rows * fanout), 0xffffffffu);
    columns_ = UploadToDevice(columns);
    counts_ = UploadToDevice(counts);
    slots_ = UploadToDevice(slots);
    first_ = UploadToDevice(first);
    end_ = UploadToDevice(end);
    view_ = {};
    view_.fanout = fanout;
    view_.rows = rows;
    view_.sources = sources;
    view_.columns = columns_.get();
    view_.counts = counts_.get();
    view_.sorted_slots = slots_.get();
    view_.first = first_.get();
    view_.end = end_.get();

    // The global ids differ from the local ones.
    for (int32_t i = 0; i < sources; ++i) nodes.push_back(1000 + 37 * i);
    nodes_ = UploadToDevice(nodes);
    SetValid(true);
    RunState state{};
    state.seed = kSeed;
    state_ = UploadToDevice(std::vector<RunState>{state});
  }
  void SetValid(bool valid) {
    BatchHeader header{};
    header.valid = valid ? 1 : 0;
    header.step = 4;
    header.epoch = 2;
    header.hop_nodes[1] = block_.view().num_dst;
    header.hop_nodes[2] = block_.num_src;
    header_ = UploadToDevice(std::vector<BatchHeader>{header});
  }
  static constexpr uint64_t kSeed = 99;
  static constexpr int kNumber = 1;
  const HopOnDevice& view() const { return view_; }
  const RunState* state() const { return state_.get(); }
  const BatchHeader* header() const { return header_.get(); }
  const int32_t* device_nodes() const { return nodes_.get(); }
  int32_t rows = 0, sources = 0;
  std::vector<int32_t> nodes;

 private:
  OwnedBlock block_;
  HopOnDevice view_{};
  DeviceArray<int32_t> columns_, counts_, first_, end_, nodes_;
  DeviceArray<uint32_t> slots_;
  DeviceArray<RunState> state_;
  DeviceArray<BatchHeader> header_;
};

struct KeptOnDevice {
  KeptOnDevice(int32_t rows, int32_t fanout, const AttentionShape& shape)
      : weight_slots(std::vector<float>(static_cast<size_t>(rows * fanout * shape.heads), kNan)),
        weight_self(std::vector<float>(static_cast<size_t>(rows * shape.heads), kNan)),
        grad_slots(std::vector<float>(static_cast<size_t>(rows * fanout * shape.heads), kNan)),
        grad_self(std::vector<float>(static_cast<size_t>(rows * 2 * shape.heads), kNan)),
        partials(std::vector<float>(static_cast<size_t>(AttentionPartials(rows, shape)), kNan)),
        grad_folded(std::vector<float>(static_cast<size_t>(2 * shape.heads * shape.width), kNan)),
        shape_(shape) {}
  AttentionWeightsOnDevice weights(uint8_t* passes = nullptr) const {
    return {weight_slots.floats(), weight_self.floats(), passes};
  }
  AttentionGradients gradients() const { return {grad_slots.floats(), grad_self.floats(), partials.floats()}; }
  cudaError_t Join(int hop, const BatchHeader* header) const {
    const FoldedGradient layer{shape_, hop, partials.floats(), grad_folded.floats()};
    return EnqueueJoinFolded({&layer, 1}, header, nullptr);
  }
  OnDevice weight_slots, weight_self, grad_slots, grad_self, partials, grad_folded;

 private:
  AttentionShape shape_;
};

// The expected values in double: out, the gradient of x (rows after activation and dropout), and the gradient of
// `folded`.
struct Expected {
  std::vector<double> out, grad_x, grad_folded;
};
Expected Reference(const BlockView& block, std::vector<double> x, std::vector<double> folded, int heads,
                   std::vector<double> grad_out) {
  const int64_t dim = static_cast<int64_t>(x.size()) / block.num_src;
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  std::vector<double> scores(size(block.num_src) * size(2 * heads));
  for (int64_t s = 0; s < block.num_src; ++s) {
    for (int64_t k = 0; k < 2 * heads; ++k) {
      for (int64_t c = 0; c < dim; ++c) scores[size(s * 2 * heads + k)] += folded[size(k * dim + c)] * x[size(s * dim + c)];
    }
  }
  std::vector<double> edges(size(block.num_edges() * heads)), self(size(block.num_dst * heads));
  std::vector<double> edge_grads(edges.size()), self_grads(self.size()), grad_scores(scores.size());
  Expected expected;
  expected.out.resize(size(block.num_dst * heads * dim));
  expected.grad_x.resize(x.size());
  expected.grad_folded.resize(folded.size());
  AttentionForward<double>(block, View(x, dim), View(scores, 2 * heads), heads, kSlope, {edges.data(), self.data()},
                           View(expected.out, heads * dim), 1);
  SourceMajorBlock by_source;
  BySource(block, by_source);
  AttentionBackward<double>(block, by_source, View(x, dim), View(scores, 2 * heads), heads, kSlope,
                            {edges.data(), self.data()}, View(grad_out, heads * dim), edge_grads.data(), self_grads.data(),
                            View(grad_scores, 2 * heads), View(expected.grad_x, dim), 1);
  for (int64_t s = 0; s < block.num_src; ++s) {
    for (int64_t k = 0; k < 2 * heads; ++k) {
      for (int64_t c = 0; c < dim; ++c) {
        expected.grad_x[size(s * dim + c)] += grad_scores[size(s * 2 * heads + k)] * folded[size(k * dim + c)];
        expected.grad_folded[size(k * dim + c)] += grad_scores[size(s * 2 * heads + k)] * x[size(s * dim + c)];
      }
    }
  }
  return expected;
}

struct InnerCase {
  Element element;
  Activation activation;
  double dropout;
  int32_t width, heads, fanout;
  bool notes_passing = false;
  int32_t rows = 0;  // number of destinations; 0: a small default
};

OwnedBlock ManyRows(int32_t count) {
  std::vector<std::vector<int32_t>> rows(static_cast<size_t>(count));
  Rng rng(9);
  const int32_t sources = count + 50;
  for (std::vector<int32_t>& row : rows) {
    row.resize(rng.Below(3));
    for (int32_t& source : row) source = static_cast<int32_t>(rng.Below(static_cast<uint64_t>(sources)));
  }
  return OwnedBlock(rows, sources);
}

// Returns a block whose rows have up to `fanout` in-neighbors, with the awkward cases of AwkwardBlock.
OwnedBlock RandomBlock(int32_t fanout) {
  if (fanout < 20) return AwkwardBlock(37, 60, 5);
  std::vector<std::vector<int32_t>> rows(6);
  Rng rng(8);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].resize(i == 0 ? static_cast<size_t>(fanout) : rng.Below(static_cast<uint64_t>(fanout)));
    for (int32_t& source : rows[i]) source = static_cast<int32_t>(rng.Below(30));
  }
  return OwnedBlock(rows, 30);
}

void CheckInnerHop(const InnerCase& c) {
  const OwnedBlock block = c.rows > 0 ? ManyRows(c.rows) : RandomBlock(c.fanout);
  const BlockView view = block.view();
  InnerHop hop(block, c.fanout);
  const AttentionShape shape{c.width, c.heads, static_cast<float>(kSlope)};
  const DropoutRate rate(c.dropout);
  const std::vector<float> z = RandomPaddedRows(c.element, view.num_src, hop.sources, c.width, 11);
  const std::vector<float> grad_out = RandomPaddedRows(c.element, view.num_dst, hop.rows, c.heads * c.width, 12);
  std::vector<float> folded = RandomValues<float>(2 * c.heads * c.width, 13);
  for (float& f : folded) f *= 0.3f;

  const OnDevice z_device(c.element, z), folded_device(folded), grad_out_device(c.element, grad_out);
  const auto bits = UploadToDevice(std::vector<uint8_t>(static_cast<size_t>(hop.sources * c.width / 8), 0x5a));
  const auto passes = UploadToDevice(std::vector<uint8_t>(static_cast<size_t>(hop.sources * c.width / 8), 0x5a));
  const AttentionInput input{z_device.get(), c.activation, rate.active() ? bits.get() : nullptr,
                             rate.active() ? static_cast<float>(rate.scale) : 1.0f};
  const KeptOnDevice kept_on_device(hop.rows, c.fanout, shape);
  const AttentionWeightsOnDevice weights = kept_on_device.weights(c.notes_passing ? passes.get() : nullptr);
  const OnDevice out(c.element, std::vector<float>(static_cast<size_t>(hop.rows * c.heads * c.width), 77.0f));
  const int32_t padded_sources = hop.sources - 2;
  const OnDevice grad_z(c.element, std::vector<float>(static_cast<size_t>(hop.sources * c.width), 77.0f));
  const MaskedLayer masked{
      {3, 0, rate.threshold, static_cast<float>(rate.scale)}, InnerHop::kNumber + 1, hop.sources, c.width, bits.get()};
  ASSERT_EQ(EnqueueDropoutBits({&masked, 1}, hop.state(), hop.header(), hop.device_nodes(), nullptr), cudaSuccess);
  ASSERT_EQ(EnqueueAttention(hop.view(), InnerHop::kNumber, shape, folded_device.floats(), c.element, input, hop.header(),
                             weights, out.get(), nullptr), cudaSuccess);
  ASSERT_EQ(EnqueueAttentionBackward(hop.view(), InnerHop::kNumber, shape, folded_device.floats(), c.element, input,
                                     hop.header(), weights, grad_out_device.get(), padded_sources,
                                     kept_on_device.gradients(), grad_z.get(), nullptr),
            cudaSuccess);
  ASSERT_EQ(kept_on_device.Join(InnerHop::kNumber, hop.header()), cudaSuccess);
  const cudaError_t ended = cudaDeviceSynchronize();
  ASSERT_EQ(ended, cudaSuccess) << cudaGetErrorString(ended);

  // Computes x = dropout(activation(z)), and later its gradient.
  std::vector<double> x = FirstRowsOf(z, view.num_src, c.width);
  ActivationForward<double>(c.activation, View(x, c.width), 1);
  LayerContext context;
  context.key = {InnerHop::kSeed, 2, 4, 0};
  context.layer = 3;
  context.training = true;
  context.nodes = hop.nodes;
  Buffer<uint8_t> memory;
  const DropoutMask mask = MakeDropoutMask(rate, DropoutSite::kActivation, context, view.num_src, c.width, memory);
  if (rate.active()) ApplyDropout<double>(mask, rate.scale, View(x, c.width), View(x, c.width), 1);
  Expected expected = Reference(view, x, {folded.begin(), folded.end()}, c.heads,
                                FirstRowsOf(grad_out, view.num_dst, c.heads * c.width));
  if (rate.active()) ApplyDropout<double>(mask, rate.scale, View(expected.grad_x, c.width), View(expected.grad_x, c.width), 1);
  ActivationBackward<double>(c.activation, rate.active() ? rate.scale : 1, View(x, c.width), View(expected.grad_x, c.width), 1);

  const std::vector<float> computed = out.Read(), got_grad = grad_z.Read();
  ExpectClose("out", c.element, computed, expected.out);
  for (size_t i = expected.out.size(); i < computed.size(); ++i)
    ASSERT_EQ(computed[i], 77.0f) << "a padded row of out was written";
  ExpectClose("grad_folded", Element::kFloat32, kept_on_device.grad_folded.Read(), expected.grad_folded);
  ExpectClose("grad_z", c.element, got_grad, expected.grad_x);
  for (size_t i = expected.grad_x.size(); i < got_grad.size(); ++i) {
    ASSERT_EQ(got_grad[i], i < static_cast<size_t>(padded_sources * c.width) ? 0.0f : 77.0f) << i;
  }
}

TEST(AttentionKernels, InnerHopAgreesWithTheCpuInFloat) {
  HONE_REQUIRE_DEVICE();
  constexpr Element kFloat = Element::kFloat32;
  for (const InnerCase& c : std::vector<InnerCase>{
           {kFloat, Activation::kIdentity, 0.0, 8, 1, 8},    // one vector: 32 items side by side
           {kFloat, Activation::kRelu, 0.5, 40, 1, 8},       // a row on 8 lanes, 3 of them idle
           {kFloat, Activation::kElu, 0.3, 64, 3, 8},
           {kFloat, Activation::kLeakyRelu, 0.1, 264, 2, 8},  // past one column block
           {kFloat, Activation::kRelu, 0.0, 16, 1, 32},      // more items than lanes
           {kFloat, Activation::kRelu, 0.5, 264, 2, 8, true},  // a group of lanes records what passes; and a wide row
           {kFloat, Activation::kRelu, 0.2, 200, 2, 8, true},
       }) {
    SCOPED_TRACE(testing::Message() << "width " << c.width << ", heads " << c.heads << ", fanout " << c.fanout);
    ASSERT_NO_FATAL_FAILURE(CheckInnerHop(c));
  }
}

TEST(AttentionKernels, InnerHopAgreesWithTheCpuInBFloat16) {
  HONE_REQUIRE_DEVICE();
  ASSERT_NO_FATAL_FAILURE(CheckInnerHop({.element = Element::kBFloat16,
                                         .activation = Activation::kRelu,
                                         .dropout = 0.5,
                                         .width = 256,
                                         .heads = 1,
                                         .fanout = 8,
                                         .notes_passing = true}));
  ASSERT_NO_FATAL_FAILURE(CheckInnerHop({.element = Element::kBFloat16,
                                         .activation = Activation::kRelu,
                                         .dropout = 0.0,
                                         .width = 128,
                                         .heads = 1,
                                         .fanout = 8,
                                         .notes_passing = true}));
  ASSERT_NO_FATAL_FAILURE(CheckInnerHop({.element = Element::kBFloat16,
                                         .activation = Activation::kElu,
                                         .dropout = 0.0,
                                         .width = 24,
                                         .heads = 2,
                                         .fanout = 8}));
  ASSERT_NO_FATAL_FAILURE(CheckInnerHop({.element = Element::kBFloat16,
                                         .activation = Activation::kIdentity,
                                         .dropout = 0.3,
                                         .width = 72,
                                         .heads = 2,
                                         .fanout = 12}));
  ASSERT_NO_FATAL_FAILURE(CheckInnerHop({.element = Element::kBFloat16,
                                         .activation = Activation::kRelu,
                                         .dropout = 0.3,
                                         .width = 160,
                                         .heads = 2,
                                         .fanout = 20,
                                         .notes_passing = true}));
}

// Returns head h's columns of rows that have `heads` times `width` columns.
std::vector<double> HeadOf(const std::vector<double>& rows, int32_t width, int32_t heads, int32_t h) {
  std::vector<double> out;
  for (size_t at = 0; at < rows.size(); at += static_cast<size_t>(width * heads)) {
    const auto from = rows.begin() + static_cast<int64_t>(at) + h * width;
    out.insert(out.end(), from, from + width);
  }
  return out;
}

void CheckProjected(Element element, int32_t head_width, int32_t heads, int32_t fanout, int32_t many_rows = 0) {
  const OwnedBlock block = many_rows > 0 ? ManyRows(many_rows) : RandomBlock(fanout);
  const BlockView view = block.view();
  InnerHop hop(block, fanout);
  const int32_t width = heads * head_width, padded_sources = hop.sources - 2;
  const std::vector<float> z = RandomPaddedRows(element, view.num_src, hop.sources, width, 11);
  const std::vector<float> grad_out = RandomPaddedRows(element, view.num_dst, hop.rows, width, 12);
  const std::vector<float> att_src = RandomValues<float>(width, 13), att_dst = RandomValues<float>(width, 14);
  const OnDevice z_device(element, z), src_device(att_src), dst_device(att_dst), grad_out_device(element, grad_out);
  const auto unset = [](Element of, int64_t count) {
    return OnDevice(of, std::vector<float>(static_cast<size_t>(count), 77.0f));
  };
  const auto nan = [](int64_t count) { return OnDevice(std::vector<float>(static_cast<size_t>(count), kNan)); };
  const OnDevice out = unset(element, hop.rows * width), grad_z = unset(element, hop.sources * width);
  const OnDevice slots = nan(hop.rows * fanout * heads), self = nan(hop.rows * heads);
  const OnDevice grad_slots = nan(hop.rows * fanout * heads), grad_self = nan(hop.rows * 2 * heads);
  const OnDevice grad_src = nan(width), grad_dst = nan(width);
  const ProjectedAttention attention{.number = InnerHop::kNumber,
                                     .heads = heads,
                                     .head_width = head_width,
                                     .negative_slope = static_cast<float>(kSlope),
                                     .att_src = src_device.floats(),
                                     .att_dst = dst_device.floats(),
                                     .z = z_device.get(),
                                     .weights = {slots.floats(), self.floats(), nullptr}};
  const OnDevice partials = nan(ProjectedAttentionPartials(attention));
  ASSERT_EQ(EnqueueProjectedAttention(attention, hop.view(), element, hop.header(), out.get(), nullptr), cudaSuccess);
  ASSERT_EQ(EnqueueProjectedAttentionBackward(attention, hop.view(), element, hop.header(), grad_out_device.get(),
                                              padded_sources, {grad_slots.floats(), grad_self.floats(), partials.floats()},
                                              grad_z.get(), grad_src.floats(), grad_dst.floats(), nullptr),
            cudaSuccess);
  const cudaError_t ended = cudaDeviceSynchronize();
  ASSERT_EQ(ended, cudaSuccess) << cudaGetErrorString(ended);

  const std::vector<float> computed = out.Read(), got_z = grad_z.Read(), got_src = grad_src.Read(),
                           got_dst = grad_dst.Read();
  const auto doubles = [](const std::vector<float>& of) { return std::vector<double>(of.begin(), of.end()); };
  const auto floats = [](const std::vector<double>& of) { return std::vector<float>(of.begin(), of.end()); };
  const std::vector<double> rows = FirstRowsOf(computed, view.num_dst, width),
                            z_rows = FirstRowsOf(got_z, view.num_src, width);
  for (int32_t h = 0; h < heads; ++h) {  // each head is an attention of its own
    SCOPED_TRACE(h);
    std::vector<double> folded = HeadOf(doubles(att_src), head_width, heads, h);
    const std::vector<double> by_destination = HeadOf(doubles(att_dst), head_width, heads, h);
    folded.insert(folded.end(), by_destination.begin(), by_destination.end());
    const Expected expected =
        Reference(view, HeadOf(FirstRowsOf(z, view.num_src, width), head_width, heads, h), folded, 1,
                  HeadOf(FirstRowsOf(grad_out, view.num_dst, width), head_width, heads, h));
    ExpectClose("out", element, floats(HeadOf(rows, head_width, heads, h)), expected.out);
    ExpectClose("grad_z", element, floats(HeadOf(z_rows, head_width, heads, h)), expected.grad_x);
    std::vector<double> grad_att = HeadOf(doubles(got_src), head_width, heads, h);
    const std::vector<double> grad_att_dst = HeadOf(doubles(got_dst), head_width, heads, h);
    grad_att.insert(grad_att.end(), grad_att_dst.begin(), grad_att_dst.end());
    ExpectClose("grad_att", Element::kFloat32, floats(grad_att), expected.grad_folded);
  }
  for (size_t i = rows.size(); i < computed.size(); ++i)
    ASSERT_EQ(computed[i], 77.0f) << "a padded row of out was written";
  for (size_t i = z_rows.size(); i < got_z.size(); ++i) {
    ASSERT_EQ(got_z[i], i < static_cast<size_t>(padded_sources * width) ? 0.0f : 77.0f) << i;
  }
}

TEST(AttentionKernels, AttentionOfProjectedRowsIsThatOfEachHead) {
  HONE_REQUIRE_DEVICE();
  ASSERT_NO_FATAL_FAILURE(CheckProjected(Element::kFloat32, /*head_width=*/8, /*heads=*/5, /*fanout=*/8));
  ASSERT_NO_FATAL_FAILURE(CheckProjected(Element::kFloat32, /*head_width=*/16, /*heads=*/4,
                                         /*fanout=*/32));  // more slots than lanes hold at once
  ASSERT_NO_FATAL_FAILURE(CheckProjected(Element::kFloat32, /*head_width=*/128, /*heads=*/2, /*fanout=*/8));
  ASSERT_NO_FATAL_FAILURE(CheckProjected(Element::kBFloat16, /*head_width=*/64, /*heads=*/4, /*fanout=*/12));
  ASSERT_NO_FATAL_FAILURE(
      CheckProjected(Element::kBFloat16, /*head_width=*/64, /*heads=*/3, /*fanout=*/8));  // lanes without columns
  ASSERT_NO_FATAL_FAILURE(CheckProjected(Element::kBFloat16, /*head_width=*/32, /*heads=*/4, /*fanout=*/2,
                                         /*many_rows=*/3300));  // several rows for each warp
}

TEST(AttentionKernels, ProjectedAttentionRefusesHeadsThatItHasNoKernelFor) {
  for (const auto& [width, heads] : {std::pair(12, 4), std::pair(64, 5), std::pair(256, 1)}) {
    EXPECT_EQ(EnqueueProjectedAttention({.heads = heads, .head_width = width}, {}, Element::kFloat32, nullptr, nullptr,
                                        nullptr), cudaErrorInvalidValue);
  }
}

// Uses so many destinations that each block of a backward pass handles several.
TEST(AttentionKernels, ManyDestinationsAgreeWithTheCpu) {
  HONE_REQUIRE_DEVICE();
  ASSERT_NO_FATAL_FAILURE(CheckInnerHop({.element = Element::kBFloat16,
                                         .activation = Activation::kRelu,
                                         .dropout = 0.5,
                                         .width = 136,
                                         .heads = 1,
                                         .fanout = 2,
                                         .notes_passing = true,
                                         .rows = 2300}));
  ASSERT_NO_FATAL_FAILURE(CheckInnerHop({.element = Element::kFloat32,
                                         .activation = Activation::kRelu,
                                         .dropout = 0.0,
                                         .width = 264,
                                         .heads = 1,
                                         .fanout = 2,
                                         .notes_passing = true,
                                         .rows = 2300}));
  ASSERT_NO_FATAL_FAILURE(CheckInnerHop({.element = Element::kFloat32,
                                         .activation = Activation::kElu,
                                         .dropout = 0.0,
                                         .width = 8,
                                         .heads = 1,
                                         .fanout = 2,
                                         .notes_passing = false,
                                         .rows = 6500}));
}

TEST(AttentionKernels, ABatchThatIsNotValidGivesNothing) {
  HONE_REQUIRE_DEVICE();
  InnerHop hop(RandomBlock(8), 8);
  hop.SetValid(false);
  const AttentionShape shape{16, 2, 0.2f};
  const KeptOnDevice kept_on_device(hop.rows, 8, shape);
  const OnDevice nothing(std::vector<float>(static_cast<size_t>(hop.sources * 32), kNan)), out(std::vector<float>(32, 5.0f));
  const OnDevice grad_z(std::vector<float>(static_cast<size_t>(hop.sources * 16), 5.0f));
  const AttentionInput input{nothing.get(), Activation::kRelu};
  ASSERT_EQ(EnqueueAttention(hop.view(), 1, shape, nothing.floats(), Element::kFloat32, input, hop.header(),
                             kept_on_device.weights(), out.get(), nullptr),
            cudaSuccess);
  ASSERT_EQ(EnqueueAttentionBackward(hop.view(), 1, shape, nothing.floats(), Element::kFloat32, input, hop.header(),
                                     kept_on_device.weights(), nothing.get(), hop.sources, kept_on_device.gradients(),
                                     grad_z.get(), nullptr),
            cudaSuccess);
  ASSERT_EQ(kept_on_device.Join(1, hop.header()), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (const float v : out.Read()) ASSERT_EQ(v, 5.0f);
  for (const float v : grad_z.Read()) ASSERT_EQ(v, 0.0f);
  for (const float v : kept_on_device.grad_folded.Read()) ASSERT_EQ(v, 0.0f);
}

TEST(AttentionKernels, RefuseAnElementThatActivationsCannotHave) {
  const AttentionShape shape{16, 1, 0.2f};
  EXPECT_EQ(EnqueueAttention({}, 0, shape, nullptr, Element::kFloat16, {}, nullptr, {}, nullptr, nullptr),
            cudaErrorInvalidValue);
}

// The gradient of `folded` must not depend on the size of the envelope, because a step that is repeated in a larger one
// must give the same bits.
TEST(AttentionKernels, GradientsHaveTheSameBitsInAnyEnvelopeAndEveryRun) {
  HONE_REQUIRE_DEVICE();
  const OwnedBlock block = AwkwardBlock(150, 200, 3);  // the rows of several tiles
  const AttentionShape shape{32, 1, 0.2f};
  const std::vector<float> folded = RandomValues<float>(64, 13);
  std::vector<float> first;
  for (const int more : {0, 0, 400}) {
    InnerHop hop(block, 8);
    HopOnDevice view = hop.view();
    view.rows = hop.rows + more;
    const OnDevice z(RandomPaddedRows(Element::kFloat32, 200, hop.sources, 32, 1)),
        g(RandomPaddedRows(Element::kFloat32, 150, hop.rows, 32, 2));
    const OnDevice folded_device(folded), out(std::vector<float>(static_cast<size_t>(hop.rows * 32)));
    const OnDevice grad_z(std::vector<float>(static_cast<size_t>(hop.sources * 32)));
    const KeptOnDevice kept_on_device(view.rows, 8, shape);
    const AttentionInput input{z.get(), Activation::kRelu};
    ASSERT_EQ(EnqueueAttention(view, 1, shape, folded_device.floats(), Element::kFloat32, input, hop.header(),
                               kept_on_device.weights(), out.get(), nullptr),
              cudaSuccess);
    ASSERT_EQ(EnqueueAttentionBackward(view, 1, shape, folded_device.floats(), Element::kFloat32, input, hop.header(),
                                       kept_on_device.weights(), g.get(), hop.sources, kept_on_device.gradients(),
                                       grad_z.get(), nullptr),
              cudaSuccess);
    ASSERT_EQ(kept_on_device.Join(1, hop.header()), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    std::vector<float> all = kept_on_device.grad_folded.Read();
    const std::vector<float> rows = grad_z.Read();
    all.insert(all.end(), rows.begin(), rows.end());
    if (first.empty()) first = all;
    ASSERT_EQ(std::memcmp(first.data(), all.data(), all.size() * sizeof(float)), 0) << more;
  }
}

// A graph on the device for the outermost hop. Every fifth node has no neighbors, one node has many.
struct SmallGraph {
  static constexpr int32_t kNodes = 50, kVectors = 2;
  SmallGraph(Element element, uint64_t seed, int32_t width = 13) {
    Rng rng(seed);
    for (int32_t v = 0; v < kNodes; ++v) {
      const uint64_t degree = v % 5 == 0 ? 0 : v == 7 ? 90 : rng.Below(14);
      for (uint64_t e = 0; e < degree; ++e) columns.push_back(static_cast<int32_t>(rng.Below(kNodes)));
      if (v % 6 == 1) columns.push_back(v);
      row_offsets.push_back(static_cast<int64_t>(columns.size()));
    }
    features.resize(kNodes * kVectors * 8);
    for (int32_t v = 0; v < kNodes; ++v) {
      for (int32_t c = 0; c < width; ++c)
        features[static_cast<size_t>(v * kVectors * 8 + c)] = RoundToElement(element, rng.Normal());
    }
    offsets_device = UploadToDevice(row_offsets);
    columns_device = UploadToDevice(columns);
    features_device = UploadToDevice(EncodeElements(element, features));
    view.row_offsets = offsets_device.get();
    view.columns = columns_device.get();
    view.features = features_device.get();
    view.num_nodes = kNodes;
    view.feature_stride = kVectors * 8;
    view.feature_vectors = kVectors;
  }
  // Draws a row by the rule of sample/draw.h, which is written here a second time.
  std::vector<int32_t> Draw(const DrawKey& key, int32_t node, int32_t fanout) const {
    const int64_t begin = row_offsets[static_cast<size_t>(node)];
    const auto degree = static_cast<int32_t>(row_offsets[static_cast<size_t>(node) + 1] - begin);
    std::vector<int32_t> slots;
    for (int32_t j = 0; j < std::min(degree, fanout); ++j) {
      int32_t slot = j;
      if (degree > fanout) {
        const auto s = static_cast<uint32_t>(j), u = static_cast<uint32_t>(node);
        slot = static_cast<int32_t>(BoundedDraw(key, u, s, DrawWord(key, u, s, 0), static_cast<uint32_t>(degree - fanout + j + 1)));
        if (std::find(slots.begin(), slots.end(), slot) != slots.end()) slot = degree - fanout + j;
      }
      slots.push_back(slot);
    }
    std::vector<int32_t> neighbors;
    for (const int32_t slot : slots) neighbors.push_back(columns[static_cast<size_t>(begin + slot)]);
    return neighbors;
  }
  std::vector<int64_t> row_offsets = {0};
  std::vector<int32_t> columns;
  std::vector<float> features;
  DeviceArray<int64_t> offsets_device;
  DeviceArray<int32_t> columns_device;
  DeviceArray<unsigned char> features_device;
  GraphOnDevice view{};
};

// `one`: rows [x, 1] of that many features are attended to. Below zero: rows of 13 features, padded.
void CheckOuterHop(Element features, Element out_element, int32_t fanout, int32_t heads, int32_t one = -1) {
  constexpr int kNumber = 2;
  const SmallGraph graph(features, 4, one < 0 ? 13 : one);
  std::vector<int32_t> nodes(40);
  std::iota(nodes.begin(), nodes.end(), 0);
  for (int32_t& node : nodes) node = (node * 7 + 3) % SmallGraph::kNodes;
  const int32_t n = static_cast<int32_t>(nodes.size()), envelope = n + 3;
  constexpr int32_t kStored = SmallGraph::kVectors * 8;
  const AttentionShape shape{one < 0 ? kStored : (one + 8) / 8 * 8, heads, static_cast<float>(kSlope)};
  std::vector<float> folded = RandomValues<float>(2 * heads * shape.width, 13);
  for (float& f : folded) f *= 0.5f;
  BatchHeader header{};
  header.valid = 1;
  header.step = 6;
  header.epoch = 1;
  header.hop_nodes[kNumber] = n;
  RunState state{};
  state.seed = 0x1234567890abcdefULL;
  const auto header_device = UploadToDevice(std::vector<BatchHeader>{header});
  const auto state_device = UploadToDevice(std::vector<RunState>{state});
  const auto nodes_device = UploadToDevice(nodes);
  const auto neighbors = UploadToDevice(std::vector<int32_t>(static_cast<size_t>(envelope * fanout), 1 << 29));
  const auto counts = UploadToDevice(std::vector<int32_t>(static_cast<size_t>(envelope), 1 << 29));
  const OuterHopOnDevice outer{fanout, envelope, neighbors.get(), counts.get()};
  const KeptOnDevice kept_on_device(envelope, fanout, shape);
  const OnDevice folded_device(folded);
  const OnDevice out(out_element, std::vector<float>(static_cast<size_t>(envelope * heads * shape.width), 77.0f));
  const std::vector<float> grad_out = RandomPaddedRows(out_element, n, envelope, heads * shape.width, 5);
  const OnDevice grad_out_device(out_element, grad_out);
  ASSERT_EQ(EnqueueDrawNeighbors(graph.view, kNumber, outer, state_device.get(), header_device.get(), nodes_device.get(),
                                 nullptr), cudaSuccess);
  ASSERT_EQ(
      EnqueueFeatureAttention(graph.view, features, kNumber, outer, shape, folded_device.floats(), header_device.get(),
                              nodes_device.get(), kept_on_device.weights(), out_element, out.get(), nullptr, one),
      cudaSuccess);
  ASSERT_EQ(EnqueueFeatureAttentionBackward(graph.view, features, kNumber, outer, shape, header_device.get(),
                                            nodes_device.get(), kept_on_device.weights(), out_element,
                                            grad_out_device.get(), kept_on_device.gradients(), nullptr, one),
            cudaSuccess);
  ASSERT_EQ(kept_on_device.Join(kNumber, header_device.get()), cudaSuccess);
  const cudaError_t ended = cudaDeviceSynchronize();
  ASSERT_EQ(ended, cudaSuccess) << cudaGetErrorString(ended);

  std::vector<int32_t> got_neighbors, got_counts;
  ASSERT_TRUE(neighbors.Download(got_neighbors).ok());
  ASSERT_TRUE(counts.Download(got_counts).ok());
  std::vector<std::vector<int32_t>> rows;
  std::vector<int32_t> local_nodes = nodes;
  std::map<int32_t, int32_t> local;
  for (int32_t i = 0; i < n; ++i) local[nodes[static_cast<size_t>(i)]] = i;
  for (int32_t i = 0; i < n; ++i) {
    const std::vector<int32_t> drawn =
        graph.Draw({state.seed, header.step, header.epoch, kNumber}, nodes[static_cast<size_t>(i)], fanout);
    ASSERT_EQ(got_counts[static_cast<size_t>(i)], static_cast<int32_t>(drawn.size())) << i;
    rows.emplace_back();
    for (int32_t j = 0; j < fanout; ++j) {
      const bool used = j < static_cast<int32_t>(drawn.size());
      ASSERT_EQ(got_neighbors[static_cast<size_t>(i * fanout + j)], used ? drawn[static_cast<size_t>(j)] : -1) << i << " " << j;
      if (!used) continue;
      const int32_t node = drawn[static_cast<size_t>(j)];
      const auto [at, added] = local.emplace(node, static_cast<int32_t>(local_nodes.size()));
      if (added) local_nodes.push_back(node);
      rows.back().push_back(at->second);
    }
  }
  const OwnedBlock block(rows, static_cast<int32_t>(local_nodes.size()));
  std::vector<double> x;
  for (const int32_t node : local_nodes) {
    const auto from = graph.features.begin() + node * kStored;
    x.insert(x.end(), from, from + kStored);
    x.resize(x.size() + static_cast<size_t>(shape.width - kStored));
    if (one >= 0) x[x.size() - static_cast<size_t>(shape.width - one)] = 1;
  }
  const Expected expected = Reference(block.view(), x, {folded.begin(), folded.end()}, heads,
                                      FirstRowsOf(grad_out, n, heads * shape.width));
  ExpectClose("out", out_element, out.Read(), expected.out);
  ExpectClose("grad_folded", Element::kFloat32, kept_on_device.grad_folded.Read(), expected.grad_folded);
}

TEST(AttentionKernels, OutermostHopDrawsAndAttendsAsTheCpu) {
  HONE_REQUIRE_DEVICE();
  ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kFloat32, Element::kFloat32, 5, 1));
  ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kFloat16, Element::kBFloat16, 5, 1));
  ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kBFloat16, Element::kFloat32, 4, 2));
  ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kFloat16, Element::kBFloat16, 12, 2));
  ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kBFloat16, Element::kFloat32, 32, 1));
}

TEST(AttentionKernels, OutermostHopAttendsToRowsWithAOne) {
  HONE_REQUIRE_DEVICE();
  // The one is in the padding of stored rows, at an odd and at an even column, and in a vector that they do not have.
  for (const int32_t one : {13, 14, 16}) {
    SCOPED_TRACE(testing::Message() << one << " features");
    ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kFloat32, Element::kFloat32, 5, 2, one));
    ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kFloat16, Element::kBFloat16, 5, 3, one));
    ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kBFloat16, Element::kBFloat16, 5, 6, one));
    ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kBFloat16, Element::kBFloat16, 5, 1, one));
    ASSERT_NO_FATAL_FAILURE(CheckOuterHop(Element::kFloat16, Element::kBFloat16, 12, 2, one));
  }
}

// A destination's output, and its part of the gradient of `folded`, depend on its node alone. So 40 nodes repeated 350
// times, which is several turns for each group of lanes, are compared with the same 40 nodes once.
void CheckManyDestinations(int32_t one) {
  constexpr int32_t kNumber = 1, kNodes = 40, kTimes = 350, kFanout = 5, kHeads = 2;
  const Element features = Element::kFloat16, element = Element::kBFloat16;
  const SmallGraph graph(features, 4);
  const AttentionShape shape{SmallGraph::kVectors * 8, kHeads, static_cast<float>(kSlope)};
  const std::vector<float> folded = RandomValues<float>(2 * kHeads * shape.width, 13);
  const OnDevice folded_device(folded);
  const std::vector<float> few_grads = RandomPaddedRows(element, kNodes, kNodes, kHeads * shape.width, 5);
  const auto width = static_cast<size_t>(kHeads * shape.width), slots = static_cast<size_t>(kFanout * kHeads);
  struct Got {
    std::vector<double> out, slots, folded;
  };
  std::vector<Got> got;
  for (const int32_t times : {1, kTimes}) {
    const int32_t rows = kNodes * times;
    std::vector<int32_t> nodes;
    std::vector<float> grads;
    for (int32_t i = 0; i < times; ++i) {
      for (int32_t v = 0; v < kNodes; ++v) nodes.push_back(v);
      grads.insert(grads.end(), few_grads.begin(), few_grads.end());
    }
    BatchHeader header{};
    header.valid = 1;
    header.hop_nodes[kNumber] = rows;
    RunState state{};
    state.seed = 99;
    const auto header_device = UploadToDevice(std::vector<BatchHeader>{header});
    const auto state_device = UploadToDevice(std::vector<RunState>{state});
    const auto nodes_device = UploadToDevice(nodes);
    const auto neighbors = UploadToDevice(std::vector<int32_t>(static_cast<size_t>(rows) * kFanout));
    const auto counts = UploadToDevice(std::vector<int32_t>(static_cast<size_t>(rows)));
    const OuterHopOnDevice outer{kFanout, rows, neighbors.get(), counts.get()};
    const KeptOnDevice kept_on_device(rows, kFanout, shape);
    const OnDevice out(element, std::vector<float>(static_cast<size_t>(rows) * width)), grad_out(element, grads);
    ASSERT_EQ(EnqueueDrawNeighbors(graph.view, kNumber, outer, state_device.get(), header_device.get(),
                                   nodes_device.get(), nullptr), cudaSuccess);
    ASSERT_EQ(EnqueueFeatureAttention(graph.view, features, kNumber, outer, shape, folded_device.floats(),
                                      header_device.get(), nodes_device.get(), kept_on_device.weights(), element,
                                      out.get(), nullptr, one),
              cudaSuccess);
    ASSERT_EQ(EnqueueFeatureAttentionBackward(graph.view, features, kNumber, outer, shape, header_device.get(),
                                              nodes_device.get(), kept_on_device.weights(), element, grad_out.get(),
                                              kept_on_device.gradients(), nullptr, one),
              cudaSuccess);
    ASSERT_EQ(kept_on_device.Join(kNumber, header_device.get()), cudaSuccess);
    const cudaError_t ended = cudaDeviceSynchronize();
    ASSERT_EQ(ended, cudaSuccess) << cudaGetErrorString(ended);
    const auto doubles = [](const auto& values) { return std::vector<double>(values.begin(), values.end()); };
    got.push_back(
        {doubles(out.Read()), doubles(kept_on_device.grad_slots.Read()), doubles(kept_on_device.grad_folded.Read())});
  }
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };  // unused slots are NaN
  for (size_t i = 0; i < got[1].out.size(); ++i) {
    ASSERT_EQ(got[1].out[i], got[0].out[i % (kNodes * width)]) << i;
  }
  for (size_t i = 0; i < got[1].slots.size(); ++i) {
    ASSERT_TRUE(same(got[1].slots[i], got[0].slots[i % (kNodes * slots)])) << i;
  }
  double largest_magnitude = 0;
  for (const double value : got[0].folded) largest_magnitude = std::max(largest_magnitude, std::abs(value));
  for (size_t i = 0; i < got[1].folded.size(); ++i) {
    // The gradient is a sum of 14,000 destinations' shares in fp32, which partly cancel.
    ASSERT_NEAR(got[1].folded[i], kTimes * got[0].folded[i], kTimes * largest_magnitude * 14000 * 0x1p-24) << i;
  }
}

TEST(AttentionKernels, ManyDestinationsOfTheGraphAreAsFew) {
  HONE_REQUIRE_DEVICE();
  ASSERT_NO_FATAL_FAILURE(CheckManyDestinations(-1));
  ASSERT_NO_FATAL_FAILURE(CheckManyDestinations(13));  // rows with a one, by the kernel for several heads at once
}

// Compares a whole layer (folding, attention, products by hand, unfolding) with GATConv in double.
TEST(AttentionKernels, WithTwoProductsTheyAreAGatConv) {
  HONE_REQUIRE_DEVICE();
  constexpr int32_t kIn = 24, kHeads = 2, kHeadWidth = 5;
  GatConvOptions options;
  options.in_width = kIn;
  options.width = kHeadWidth;
  options.heads = kHeads;
  const auto layer = MakeGatConv<double>(options, "conv", 3);
  const std::vector<Parameter<double>*> parameters = layer->parameters();
  const auto find = [&](const std::string& name) -> Parameter<double>& {
    for (Parameter<double>* p : parameters) {
      if (p->name == name) return *p;
    }
    ADD_FAILURE() << name;
    return *parameters[0];
  };
  Parameter<double>&weight = find("conv.lin.weight"), &att_src = find("conv.att_src"), &att_dst = find("conv.att_dst");
  const auto floats = [](std::vector<double>& values) {
    for (double& v : values) v = static_cast<float>(v);
    return std::vector<float>(values.begin(), values.end());
  };
  const OnDevice weight_device(floats(weight.value)), src_device(floats(att_src.value)), dst_device(floats(att_dst.value));

  const OwnedBlock block = RandomBlock(8);
  const BlockView view = block.view();
  InnerHop hop(block, 8);
  const AttentionShape shape{kIn, kHeads, static_cast<float>(kSlope)};
  const std::vector<float> z = RandomPaddedRows(Element::kFloat32, view.num_src, hop.sources, kIn, 11);
  std::vector<double> x = FirstRowsOf(z, view.num_src, kIn), out(static_cast<size_t>(view.num_dst * kHeads * kHeadWidth));
  std::vector<double> grad = RandomValues<double>(static_cast<int64_t>(out.size()), 6), grad_x(x.size());
  const std::vector<double> grad_given = grad;
  const auto state = layer->MakeState();
  layer->Forward(view, View(x, kIn), View(out, kHeads * kHeadWidth), *state, {});
  layer->Backward(view, View(x, kIn), View(grad, kHeads * kHeadWidth), View(grad_x, kIn), *state, {});

  const KeptOnDevice kept_on_device(hop.rows, 8, shape);
  const OnDevice folded(std::vector<float>(2 * kHeads * kIn, kNan)), sums(std::vector<float>(static_cast<size_t>(hop.rows * kHeads * kIn)));
  const OnDevice z_device(z);
  const AttentionInput input{z_device.get(), Activation::kIdentity};
  const FoldedLayer folded_layer{shape, kHeadWidth, weight_device.floats(), kIn, src_device.floats(), dst_device.floats(),
                                 folded.floats()};
  ASSERT_EQ(EnqueueFoldAttention({&folded_layer, 1}, nullptr), cudaSuccess);
  ASSERT_EQ(EnqueueAttention(hop.view(), 1, shape, folded.floats(), Element::kFloat32, input, hop.header(),
                             kept_on_device.weights(), sums.get(), nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);

  // out_h = sums_h W_h^T; backward: dW_h = grad_h^T sums_h, dsums_h = grad_h W_h.
  const std::vector<float> computed = sums.Read();
  std::vector<double> product(out.size());
  std::vector<float> grad_sums(computed.size(), kNan), grad_weight(weight.value.size());
  for (int32_t i = 0; i < view.num_dst; ++i) {
    for (int32_t f = 0; f < kHeads * kIn; ++f) grad_sums[static_cast<size_t>(i * kHeads * kIn + f)] = 0;
    for (int32_t o = 0; o < kHeads * kHeadWidth; ++o) {
      const double g = grad_given[static_cast<size_t>(i * kHeads * kHeadWidth + o)];
      for (int32_t f = 0; f < kIn; ++f) {
        const auto from = static_cast<size_t>((i * kHeads + o / kHeadWidth) * kIn + f), at = static_cast<size_t>(o * kIn + f);
        product[static_cast<size_t>(i * kHeads * kHeadWidth + o)] += computed[from] * weight.value[at];
        grad_sums[from] += static_cast<float>(g * weight.value[at]);
        grad_weight[at] += static_cast<float>(g * computed[from]);
      }
    }
  }
  const OnDevice grad_sums_device(grad_sums), grad_weight_device(grad_weight);
  const OnDevice grad_z(std::vector<float>(static_cast<size_t>(hop.sources * kIn)));
  const OnDevice grad_src(std::vector<float>(kHeads * kHeadWidth, kNan)), grad_dst(std::vector<float>(kHeads * kHeadWidth, kNan));
  ASSERT_EQ(EnqueueAttentionBackward(hop.view(), 1, shape, folded.floats(), Element::kFloat32, input, hop.header(),
                                     kept_on_device.weights(), grad_sums_device.get(), hop.sources,
                                     kept_on_device.gradients(), grad_z.get(), nullptr),
            cudaSuccess);
  ASSERT_EQ(kept_on_device.Join(1, hop.header()), cudaSuccess);
  const UnfoldedLayer unfolded_layer{folded_layer, kept_on_device.grad_folded.floats(), grad_weight_device.floats(),
                                     grad_src.floats(), grad_dst.floats()};
  ASSERT_EQ(EnqueueUnfoldAttention({&unfolded_layer, 1}, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ExpectClose("out", Element::kFloat32, {product.begin(), product.end()}, out);
  ExpectClose("grad_x", Element::kFloat32, grad_z.Read(), grad_x);
  ExpectClose("weight", Element::kFloat32, grad_weight_device.Read(), weight.gradient);
  ExpectClose("att_src", Element::kFloat32, grad_src.Read(), att_src.gradient);
  ExpectClose("att_dst", Element::kFloat32, grad_dst.Read(), att_dst.gradient);
}

}  // namespace
}  // namespace hone::gnn::cuda
