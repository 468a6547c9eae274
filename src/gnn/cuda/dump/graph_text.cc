// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/dump/graph_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace hone::gnn::cuda {
namespace {

bool InName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Removes every "name::" and "(anonymous namespace)::".
std::string WithoutQualifiers(std::string_view name) {
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string out;
  size_t identifier = 0;  // start of the identifier with which `out` ends
  for (size_t i = 0; i < name.size();) {
    if (name.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size();
      identifier = out.size();
    } else if (name.substr(i).starts_with("::")) {
      out.resize(identifier);
      i += 2;
    } else {
      if (!InName(name[i])) identifier = out.size() + 1;
      out.push_back(name[i++]);
    }
  }
  return out;
}

}  // namespace

std::string ShortKernelName(std::string_view demangled) {
  std::string name = WithoutQualifiers(demangled);
  if (name.ends_with(')')) {  // removes the parameters
    int depth = 0;
    for (size_t i = name.size(); i-- > 0;) {
      depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
      if (depth > 0) continue;
      name.resize(i);
      break;
    }
  }
  constexpr std::string_view kReturns = "void ";
  return name.starts_with(kReturns) ? name.substr(kReturns.size()) : name;
}

std::string GraphText::WordText(uint64_t word) {
  // The lowest pages hold no allocations, and small numbers are frequent.
  const std::optional<MemoryRange> range = word < 65536 ? std::nullopt : find_(word);
  if (!range.has_value()) return fmt::format("{:#x}", word);
  const auto [place, fresh] = numbers_.try_emplace({range->begin, range->bytes}, buffers_.size());
  if (fresh) buffers_.push_back(*range);
  return fmt::format("b{}+{}", place->second, word - range->begin);
}

std::string GraphText::ArgumentText(const std::vector<unsigned char>& bytes, bool padded) {
  if (padded && bytes.size() > 8) return fmt::format("{} bytes", bytes.size());
  // The padding of large parameters is not cleared either (emulated/include/cuda_runtime.h), so only addresses are
  // written.
  const bool large = bytes.size() > 256;
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<size_t>(8, bytes.size() - at));
    const std::string value = at + 8 <= bytes.size() ? WordText(word) : fmt::format("{:#x}", word);
    if (large && !value.starts_with('b')) continue;
    if (!out.empty()) out += ' ';
    out += value;
  }
  return out;
}

void GraphText::Add(std::span<const GraphNodeFacts> nodes) {
  text_ += fmt::format("graph {} has {} nodes\n", graphs_++, nodes.size());
  nodes_ += nodes.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const GraphNodeFacts& node = nodes[i];
    text_ += fmt::format("{} {} {} grid {},{},{} block {},{},{} shared {} priority {} after", i, node.kind,
                         node.name.empty() ? "-" : node.name, node.grid[0], node.grid[1], node.grid[2], node.block[0],
                         node.block[1], node.block[2], node.shared_bytes, node.priority);
    for (const size_t earlier : node.after) text_ += fmt::format(" {}", earlier);
    text_ += '\n';
    for (const std::vector<unsigned char>& argument : node.arguments) {
      text_ += fmt::format("  {}\n", ArgumentText(argument, node.padded));
    }
  }
}

std::string GraphText::Text() const {
  std::string text = text_;
  for (size_t i = 0; i < buffers_.size(); ++i) text += fmt::format("b{} {} {}\n", i, buffers_[i].kind, buffers_[i].bytes);
  return text;
}

}  // namespace hone::gnn::cuda
