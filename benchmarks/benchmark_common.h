// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the benchmark programs share: the environment a figure was taken in, quantiles, and evaluators.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone/tuner/evaluator.h"

namespace hone {

// Host name is left out; CPU, cores, memory, kernel, compiler and the device's facts are in.
nlohmann::json EnvironmentJson(const DeviceFacts& facts);

double Quantile(std::vector<double> values, double q);
nlohmann::json SpreadJson(const std::vector<double>& values);  // median, p10, p90, n

// The path of a program in this one's folder, or in bin beside that; empty where there is none.
std::string ProgramBesideThis(const std::string& name);

// The evaluator of `build/bin/hone` beside this program, on `device`. `fresh_cache`: an empty cache of its own.
Result<std::unique_ptr<Evaluator>> MakeBenchmarkEvaluator(const std::string& device, const std::string& cache, bool use_cache);

// The same kernel as a source no cache has seen: a comment with `nonce` is appended.
std::string NewSource(const std::string& source, uint64_t nonce);

// DIR/tasks/NAME of the source tree, given as the program's first argument or the working directory.
Result<Task> LoadNamedTask(const std::string& name);

}  // namespace hone
