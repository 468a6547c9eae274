// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/arguments.h"

#include <CLI/CLI.hpp>
#include <type_traits>

namespace hone {

struct Arguments::Implementation {
  CLI::App app;
};

Arguments::Arguments(const std::string& description) : implementation_(new Implementation{CLI::App(description)}) {}
Arguments::~Arguments() = default;

template <typename T>
void Arguments::Add(const std::string& name, T& target, const std::string& help, const ArgumentRules& rules) {
  if constexpr (std::is_same_v<T, bool>) {
    implementation_->app.add_flag(name, target, help);
  } else {
    CLI::Option* option = implementation_->app.add_option(name, target, help);
    option->capture_default_str();
    option->required(rules.required);
    if (rules.delimiter != 0) option->delimiter(rules.delimiter);
    if (rules.least != -std::numeric_limits<double>::infinity() || rules.most != std::numeric_limits<double>::infinity()) {
      option->check(CLI::Range(rules.least, rules.most));
    }
    if (!rules.one_of.empty()) option->check(CLI::IsMember(rules.one_of));
    if (rules.existing_directory) option->check(CLI::ExistingDirectory);
  }
}

template void Arguments::Add(const std::string&, bool&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, int&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, int64_t&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, uint64_t&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, float&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, double&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, std::string&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, std::vector<int>&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, std::vector<int64_t>&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, std::vector<double>&, const std::string&, const ArgumentRules&);
template void Arguments::Add(const std::string&, std::vector<std::string>&, const std::string&, const ArgumentRules&);

std::optional<int> Arguments::Parse(int argc, char** argv) {
  try {
    implementation_->app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return implementation_->app.exit(error);
  }
}

}  // namespace hone
