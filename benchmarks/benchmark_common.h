// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares what the benchmark programs share: the environment of a measurement, quantiles, and evaluators.
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

// Returns the path of a program in this program's folder, or in bin beside that folder; empty if there is none.
std::string ProgramBesideThis(const std::string& name);

// Makes an evaluator on `device`, with `build/bin/hone` beside this program. `cache` is the folder of its compiled
// modules, which are reused if `use_cache`.
Result<std::unique_ptr<Evaluator>> MakeBenchmarkEvaluator(const std::string& device, const std::string& cache, bool use_cache);

// Returns the same kernel as a source that is in no cache: a comment with `nonce` is appended.
std::string NewSource(const std::string& source, uint64_t nonce);

// Loads DIR/tasks/NAME of the source tree. DIR is the program's first argument or the working directory.
Result<Task> LoadNamedTask(const std::string& name);

}  // namespace hone
