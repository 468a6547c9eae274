// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file reads the command line of a benchmark program. CLI11 does the work in arguments.cc, where it is compiled
// once: its header alone takes five seconds of a compiler in each program that includes it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hone {

// ArgumentRules say what a value must be, beyond its type. Values of a list are checked one by one.
struct ArgumentRules {
  bool required = false;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> one_of = {};  // empty: any
  bool existing_directory = false;
  char delimiter = 0;  // between the values of a list given in one word; 0: a word each
};

// Not thread-safe. Targets are borrowed and must outlive Parse; they keep their value where an argument is not given,
// and --help prints that value.
class Arguments {
 public:
  explicit Arguments(const std::string& description);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // `name` is "--name" for an option, "name" for an argument by position. T: bool (an option without a value), int,
  // int64_t, uint64_t, float, double, std::string, or a std::vector of int, int64_t, double or std::string.
  template <typename T>
  void Add(const std::string& name, T& target, const std::string& help = "", const ArgumentRules& rules = {});

  // Returns nothing where the program should continue; otherwise the status to end with, after help or the error was
  // printed.
  std::optional<int> Parse(int argc, char** argv);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hone
