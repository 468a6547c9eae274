// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See synthetic_generator.h. The node that owns each slot is stored (4 bytes per slot, one level at a time), so that a
// lookup is one load. Searching the prefix sums instead would cost two or three cache misses per slot.
#include "gnn/graph/synthetic/synthetic_generator.h"

#include <algorithm>
#include <cstring>

#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/parallel.h"

namespace hone::gnn {
namespace {

// Consecutive blocks or rows per piece of work.
constexpr int64_t kRowsAtOnce = 16 * 1024;

uint32_t CountOf(const SlotCounts& slots, SyntheticLevel level) {
  return level == kLevelBlock ? slots.block : level == kLevelRegion ? slots.region : slots.global;
}

}  // namespace

int64_t SyntheticGenerator::BlockBegin(int64_t block) const {
  const SyntheticSpec& s = request_->spec;
  return block >= s.num_blocks ? s.num_nodes : block * s.block_nodes;
}

int64_t SyntheticGenerator::RegionBegin(int64_t region) const {
  const SyntheticSpec& s = request_->spec;
  return region >= s.num_regions ? s.num_nodes : BlockBegin(region * s.blocks_per_region);
}

Result<SyntheticGenerator> SyntheticGenerator::Make(const SyntheticRequest& request, int threads) {
  SyntheticGenerator g;
  g.request_ = &request;
  g.threads_ = ThreadCount(threads);
  const SyntheticSpec& s = request.spec;
  const DegreeTableView table = request.degrees.view();
  HONE_ASSIGN_OR_RETURN(g.row_offsets_, MemoryRegion::Anonymous((s.num_nodes + 1) * 8, "the row offsets"));
  int64_t* offsets = g.row_offsets_.as<int64_t>();
  std::vector<uint64_t> degree_prefix(static_cast<size_t>(s.num_blocks) + 1);
  g.region_prefix_.resize(degree_prefix.size());
  g.global_prefix_.resize(degree_prefix.size());
  ParallelPieces(g.threads_, s.num_blocks, [&](int64_t block) {
    uint64_t total = 0, region = 0, global = 0;
    for (int64_t v = g.BlockBegin(block); v < g.BlockBegin(block + 1); ++v) {
      const SlotCounts slots = SlotsOf(s, table, v);
      offsets[v] = static_cast<int64_t>(total);  // relative to the block; its start is added below
      total += slots.degree();
      region += slots.region;
      global += slots.global;
    }
    degree_prefix[static_cast<size_t>(block) + 1] = total;
    g.region_prefix_[static_cast<size_t>(block) + 1] = region;
    g.global_prefix_[static_cast<size_t>(block) + 1] = global;
  });
  for (size_t b = 0; b < static_cast<size_t>(s.num_blocks); ++b) {
    degree_prefix[b + 1] += degree_prefix[b];
    g.region_prefix_[b + 1] += g.region_prefix_[b];
    g.global_prefix_[b + 1] += g.global_prefix_[b];
  }
  ParallelPieces(g.threads_, s.num_blocks, [&](int64_t block) {
    const int64_t before = static_cast<int64_t>(degree_prefix[static_cast<size_t>(block)]);
    for (int64_t v = g.BlockBegin(block); v < g.BlockBegin(block + 1); ++v) offsets[v] += before;
  });
  offsets[s.num_nodes] = static_cast<int64_t>(degree_prefix.back());
  return g;
}

SyntheticGenerator SyntheticGenerator::WithoutEdges(const SyntheticRequest& request, int threads) {
  SyntheticGenerator g;
  g.request_ = &request;
  g.threads_ = ThreadCount(threads);
  return g;
}

void SyntheticGenerator::FillOwners(SyntheticLevel level, int64_t first, int64_t last, NodeId* owners) const {
  const SyntheticSpec& s = request_->spec;
  const DegreeTableView table = request_->degrees.view();
  const std::vector<uint64_t>& prefix = level == kLevelRegion ? region_prefix_ : global_prefix_;
  ParallelPieces(threads_, last - first, [&](int64_t i) {
    NodeId* out = owners + (prefix[static_cast<size_t>(first + i)] - prefix[static_cast<size_t>(first)]);
    for (int64_t v = BlockBegin(first + i); v < BlockBegin(first + i + 1); ++v) {
      out = std::fill_n(out, CountOf(SlotsOf(s, table, v), level), static_cast<NodeId>(v));
    }
  });
}

Status SyntheticGenerator::FillColumns(int64_t region, NodeId* out) {
  const SyntheticSpec& s = request_->spec;
  const DegreeTableView table = request_->degrees.view();
  if (global_owners_.size() == 0 && global_prefix_.back() > 0) {
    HONE_ASSIGN_OR_RETURN(global_owners_, MemoryRegion::Anonymous(static_cast<int64_t>(global_prefix_.back()) * 4,
                                                                  "the owners of the global slots"));
    FillOwners(kLevelGlobal, 0, s.num_blocks, global_owners_.as<NodeId>());
  }
  const int64_t first = region * s.blocks_per_region;
  const int64_t last = region + 1 == s.num_regions ? s.num_blocks : first + s.blocks_per_region;
  const uint64_t region_before = region_prefix_[static_cast<size_t>(first)];
  const uint64_t region_slots = region_prefix_[static_cast<size_t>(last)] - region_before;
  HONE_ASSIGN_OR_RETURN(region_owners_, MemoryRegion::Anonymous(static_cast<int64_t>(region_slots) * 4,
                                                                "the owners of a region's slots"));
  FillOwners(kLevelRegion, first, last, region_owners_.as<NodeId>());

  const NodeId* region_owner = region_owners_.as<NodeId>();
  const NodeId* global_owner = global_owners_.as<NodeId>();
  const uint64_t key = s.seed;
  const KeyedPermutation in_region =
      MakePermutation(key, kLevelRegion, static_cast<uint64_t>(region), region_slots, kPurposePairing);
  const KeyedPermutation in_global = MakePermutation(key, kLevelGlobal, 0, global_prefix_.back(), kPurposePairing);
  const int64_t* offsets = row_offsets_.as<int64_t>();
  const int64_t out_begin = offsets[RegionBegin(region)];
  ParallelPieces(threads_, last - first, [&](int64_t i) {
    const int64_t block = first + i, begin = BlockBegin(block), end = BlockBegin(block + 1);
    std::vector<SlotCounts> counts(static_cast<size_t>(end - begin));
    std::vector<NodeId> block_owner;
    for (int64_t v = begin; v < end; ++v) {
      const SlotCounts slots = SlotsOf(s, table, v);
      counts[static_cast<size_t>(v - begin)] = slots;
      block_owner.insert(block_owner.end(), slots.block, static_cast<NodeId>(v));
    }
    const KeyedPermutation in_block = MakePermutation(key, kLevelBlock, static_cast<uint64_t>(block),
                                                      block_owner.size(), kPurposePairing);
    NodeId* column = out + (offsets[begin] - out_begin);
    uint64_t block_slot = 0, region_slot = region_prefix_[static_cast<size_t>(block)] - region_before;
    uint64_t global_slot = global_prefix_[static_cast<size_t>(block)];
    for (const SlotCounts& slots : counts) {
      for (uint32_t j = 0; j < slots.block; ++j) *column++ = block_owner[PartnerSlot(in_block, block_slot++)];
      for (uint32_t j = 0; j < slots.region; ++j) *column++ = region_owner[PartnerSlot(in_region, region_slot++)];
      for (uint32_t j = 0; j < slots.global; ++j) *column++ = global_owner[PartnerSlot(in_global, global_slot++)];
    }
  });
  return Status::Ok();
}

void SyntheticGenerator::FillFeatures(int64_t begin, int64_t end, std::byte* out, int64_t stride) const {
  const SyntheticSpec& s = request_->spec;
  const FeatureDtype dtype = request_->dtype;
  const int32_t width = s.width, quads = (width + 3) / 4;
  // The centroids as random words: they are the same for every node of a class.
  std::vector<PhiloxWords> centroids(static_cast<size_t>(quads) * static_cast<size_t>(s.num_classes));
  for (int32_t c = 0; c < s.num_classes; ++c) {
    for (int32_t q = 0; q < quads; ++q) {
      centroids[static_cast<size_t>(c) * static_cast<size_t>(quads) + static_cast<size_t>(q)] = CentroidWords(s, c, q);
    }
  }
  const int64_t pieces = (end - begin + kRowsAtOnce - 1) / kRowsAtOnce;
  ParallelPieces(threads_, pieces, [&](int64_t piece) {
    std::vector<int32_t> units(static_cast<size_t>(quads) * 4);
    const int64_t first = begin + piece * kRowsAtOnce, last = std::min(end, first + kRowsAtOnce);
    for (int64_t v = first; v < last; ++v) {
      const size_t planted = static_cast<size_t>(ClassOfBlock(s, BlockOf(s, v)));
      const PhiloxWords* centroid = centroids.data() + planted * static_cast<size_t>(quads);
      for (int32_t q = 0; q < quads; ++q) {
        const PhiloxWords noise = NoiseWords(s, v, q);
        for (size_t lane = 0; lane < 4; ++lane) {
          units[static_cast<size_t>(q) * 4 + lane] = FeatureUnits(s, centroid[q][lane], noise[lane]);
        }
      }
      std::byte* row = out + (v - begin) * stride;
      const size_t used_bytes = static_cast<size_t>(width) * static_cast<size_t>(FeatureDtypeBytes(dtype));
      std::memset(row + used_bytes, 0, static_cast<size_t>(stride) - used_bytes);
      if (dtype == FeatureDtype::kFloat32) {
        float* elements = reinterpret_cast<float*>(row);
        for (int32_t f = 0; f < width; ++f) {
          elements[f] = static_cast<float>(units[static_cast<size_t>(f)]) * kFeatureUnit;
        }
      } else if (dtype == FeatureDtype::kFloat16) {
        uint16_t* elements = reinterpret_cast<uint16_t*>(row);
        // The integer-only FeatureHalfBits gives the same bits; compilers vectorize this form.
        for (int32_t f = 0; f < width; ++f) {
          const uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(units[static_cast<size_t>(f)]) * kFeatureUnit);
          const uint32_t magnitude = bits & 0x7fffffffu;
          const uint32_t half_bits = (magnitude + 0xfffu + ((magnitude >> 13) & 1) - 0x38000000u) >> 13;
          elements[f] = static_cast<uint16_t>(magnitude == 0 ? 0 : half_bits | ((bits >> 16) & 0x8000u));
        }
      } else {
        uint16_t* elements = reinterpret_cast<uint16_t*>(row);
        for (int32_t f = 0; f < width; ++f) elements[f] = FeatureBFloat16Bits(units[static_cast<size_t>(f)]);
      }
    }
  });
}

void SyntheticGenerator::FillLabels(int64_t begin, int64_t end, int32_t* out) const {
  const SyntheticSpec& s = request_->spec;
  const int64_t pieces = (end - begin + kRowsAtOnce - 1) / kRowsAtOnce;
  ParallelPieces(threads_, pieces, [&](int64_t piece) {
    const int64_t first = begin + piece * kRowsAtOnce, last = std::min(end, first + kRowsAtOnce);
    for (int64_t v = first; v < last; ++v) {
      out[v - begin] = LabelRank(s, v) < 0 ? kNoLabel : ObservedLabel(s, v, ClassOfBlock(s, BlockOf(s, v)));
    }
  });
}

std::vector<NodeId> SyntheticGenerator::SplitNodes(int split) const {
  const SyntheticSpec& s = request_->spec;
  const KeyedPermutation permutation = SplitPermutation(s);
  std::vector<NodeId> nodes;
  // Labelled nodes all lie in the first num_labelled ids or in the first region.
  const int64_t end = std::min(s.num_nodes, std::max(s.num_labelled, s.block_nodes * (s.blocks_per_region + 1)));
  for (int64_t v = 0; v < end; ++v) {
    const int64_t rank = LabelRank(s, v);
    if (rank >= 0 && SplitOfRank(s, permutation, rank) == split) nodes.push_back(static_cast<NodeId>(v));
  }
  return nodes;
}

}  // namespace hone::gnn
