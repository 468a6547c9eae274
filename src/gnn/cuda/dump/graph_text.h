// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes captured CUDA graphs as text, so that the steps of two versions of the engine can be compared by diff.
//
// A change that only moves code must leave every captured step as it was: the same kernels in the same order, with the
// same grids, shared memory, priorities, dependencies and arguments. The text holds all of these and nothing that
// differs from run to run: an address is written as the buffer that holds it and the offset in that buffer, and buffers
// are numbered in the order in which the text first names them. A kernel's name has no namespaces, because the compiler
// makes the name of an unnamed one from the file's path.
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

// One node of a captured graph.
struct GraphNodeFacts {
  std::string kind;  // kernel, fill, copy, host or library; or what the runtime calls another kind
  std::string name;  // the kernel's demangled name, or what a library's work is called
  std::array<uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  uint32_t shared_bytes = 0;  // dynamic shared memory
  int priority = 0;
  std::vector<std::vector<unsigned char>> arguments = {};  // each as the bytes of its parameter
  // What lies between the members of a parameter is whatever the stack held: of parameters above eight bytes only the size
  // is written.
  bool padded = false;
  std::vector<size_t> after = {};  // the nodes that this one waits for, by their index, ascending
};

// An allocation that an address lies in.
struct MemoryRange {
  uint64_t begin = 0, bytes = 0;
  std::string kind;  // device, host, managed, …
};

// "void hone::gnn::cuda::(anonymous namespace)::Gather<float, hone::A>(int)" is written as "Gather<float, A>".
std::string ShortKernelName(std::string_view demangled);

// Writes the graphs of one engine. Buffers keep their numbers from graph to graph.
class GraphText {
 public:
  // `find` gives the allocation that holds an address, if one does; it is asked while Add runs.
  explicit GraphText(std::function<std::optional<MemoryRange>(uint64_t address)> find) : find_(std::move(find)) {}

  void Add(std::span<const GraphNodeFacts> nodes);
  // The graphs in the order of Add, then the buffers with their sizes.
  std::string Text() const;
  int graphs() const { return graphs_; }
  size_t nodes() const { return nodes_; }

 private:
  std::string Word(uint64_t word);
  std::string Argument(const std::vector<unsigned char>& bytes, bool padded);

  std::function<std::optional<MemoryRange>(uint64_t)> find_;
  std::map<std::pair<uint64_t, uint64_t>, size_t> numbers_;  // of buffers, by begin and size
  std::vector<MemoryRange> buffers_;
  std::string text_;
  int graphs_ = 0;
  size_t nodes_ = 0;
};

}  // namespace hone::gnn::cuda
