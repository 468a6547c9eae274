// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses the command line of a benchmark program. arguments.cc uses CLI11 for that and is compiled once, because
// CLI11's header costs five seconds of compile time in each program that includes it.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hone {

// What a value must be, besides being of its type. The values of a list are checked one by one.
struct ArgumentRules {
  bool required = false;
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  std::vector<std::string> one_of = {};  // allowed values; empty: any
  bool existing_directory = false;
  char delimiter = 0;  // separates the values of a list that is given as one word; 0: each value is a word
};

// Declares arguments, then parses them. Not thread-safe. Targets are borrowed and must outlive Parse. The value of a
// target is the default: it stays if the argument is not given, and --help prints it.
class Arguments {
 public:
  explicit Arguments(const std::string& description);
  ~Arguments();
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  // Declares an argument. `name` is "--name" for an option, "name" for a positional argument. T: bool (an option
  // without a value), int, int64_t, uint64_t, float, double, std::string, or a std::vector of int, int64_t, double or
  // std::string.
  template <typename T>
  void Add(const std::string& name, T& target, const std::string& help = "", const ArgumentRules& rules = {});

  // Parses the arguments. Returns the status to end with, if help or an error was printed; otherwise nullopt, and the
  // program continues.
  std::optional<int> Parse(int argc, char** argv);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hone
