// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds what the benchmark programs share: the environment of a measurement, quantiles, and evaluators.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hone/tuner/evaluator.h"

namespace hone {

// Describes the environment: CPU, cores, memory, kernel, compiler and the device's facts, but not the host's name.
nlohmann::json EnvironmentJson(const DeviceFacts& facts);

double Quantile(std::vector<double> values, double q);
nlohmann::json SpreadJson(const std::vector<double>& values);  // median, p10, p90, n

// Returns the path of a program in this one's folder, or in bin beside that; empty where there is none.
std::string ProgramBesideThis(const std::string& name);

// Makes the evaluator of `build/bin/hone`, beside this program, on `device`. `fresh_cache` gives it an empty cache of
// its own.
Result<std::unique_ptr<Evaluator>> MakeBenchmarkEvaluator(const std::string& device, const std::string& cache, bool use_cache);

// Returns the same kernel as a source that no cache has seen: a comment with `nonce` is appended.
std::string NewSource(const std::string& source, uint64_t nonce);

// Loads DIR/tasks/NAME of the source tree. DIR is the program's first argument or the working directory.
Result<Task> LoadNamedTask(const std::string& name);

}  // namespace hone
