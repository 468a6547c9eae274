// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes captured CUDA graphs as text, so that the steps of two versions of the engine can be compared by diff.
//
// A change that only moves code must leave every captured step as it was: the same kernels in the same order, with the
// same grids, shared memory, priorities, dependencies and arguments. The text holds all of these and nothing that
// differs from run to run: an address is written as the buffer that holds it and the offset in that buffer, and buffers
// are numbered in the order in which the text first names them. Kernels' names are written without namespaces, because
// the compiler derives the name of an unnamed namespace from the file's path.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::gnn::cuda {

// A node of a captured graph.
struct GraphNodeFacts {
  std::string kind;  // kernel, fill, copy, host or library; or the runtime's name of another kind
  std::string name;  // the kernel's demangled name, or the name of a library's work
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t shared_bytes = 0;  // dynamic shared memory
  int priority = 0;
  std::vector<std::vector<unsigned char>> arguments = {};  // each is the bytes of a parameter
  // Says whether a parameter may have padding between its members. Such padding holds random stack contents, so of
  // padded parameters above eight bytes only the size is written.
  bool padded = false;
  std::vector<size_t> after = {};  // indexes of the nodes that this node waits for, ascending
};

// The allocation that contains an address.
struct MemoryRange {
  uint64_t begin = 0, bytes = 0;
  std::string kind;  // device, host, managed, …
};

// Returns the name without qualifiers and parameters: "void hone::gnn::cuda::(anonymous namespace)::Gather<float,
// hone::A>(int)" becomes "Gather<float, A>".
std::string ShortKernelName(std::string_view demangled);

// Writes the graphs of one engine. Buffers keep their numbers from graph to graph.
class GraphText {
 public:
  // `find` returns the allocation that holds an address, if any; it is called while Add runs.
  explicit GraphText(std::function<std::optional<MemoryRange>(uint64_t address)> find) : find_(std::move(find)) {}

  // Appends a graph, given by its nodes.
  void Add(std::span<const GraphNodeFacts> nodes);
  // Returns the graphs in the order of Add, then the buffers with their sizes.
  std::string Text() const;
  int graphs() const { return graphs_; }
  size_t nodes() const { return nodes_; }

 private:
  // Return the text of a machine word, which may be a buffer's address, and of a kernel's argument. `padded`: it has
  // padding, whose bytes are arbitrary.
  std::string WordText(uint64_t word);
  std::string ArgumentText(const std::vector<unsigned char>& bytes, bool padded);

  std::function<std::optional<MemoryRange>(uint64_t)> find_;
  std::map<std::pair<uint64_t, uint64_t>, size_t> numbers_;  // numbers of the buffers, by begin and size
  std::vector<MemoryRange> buffers_;
  std::string text_;
  int graphs_ = 0;
  size_t nodes_ = 0;
};

}  // namespace hone::gnn::cuda
