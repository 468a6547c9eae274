// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/scripts.h"

#include <cstddef>

// The scripts beside this file, whose texts the build embeds.
extern "C" {
extern const char hone_torch_problem[];
extern const size_t hone_torch_problem_size;
extern const char hone_torch_shapes[];
extern const size_t hone_torch_shapes_size;
extern const char hone_torch_costs[];
extern const size_t hone_torch_costs_size;
extern const char hone_torch_operator_times[];
extern const size_t hone_torch_operator_times_size;
extern const char hone_torch_seed[];
extern const size_t hone_torch_seed_size;
extern const char hone_torch_image_seed[];
extern const size_t hone_torch_image_seed_size;
extern const char hone_torch_reduce_seed[];
extern const size_t hone_torch_reduce_seed_size;
extern const char hone_torch_definition[];
extern const size_t hone_torch_definition_size;
extern const char hone_torch_gpumode[];
extern const size_t hone_torch_gpumode_size;
extern const char hone_torch_describe[];
extern const size_t hone_torch_describe_size;
extern const char hone_torch_frames[];
extern const size_t hone_torch_frames_size;
extern const char hone_torch_referee[];
extern const size_t hone_torch_referee_size;
extern const char hone_torch_driver[];
extern const size_t hone_torch_driver_size;
extern const char hone_torch_device_plan[];
extern const size_t hone_torch_device_plan_size;
extern const char hone_torch_lift[];
extern const size_t hone_torch_lift_size;
extern const char hone_torch_lifted[];
extern const size_t hone_torch_lifted_size;
extern const char hone_torch_player[];
extern const size_t hone_torch_player_size;
extern const char hone_torch_stage[];
extern const size_t hone_torch_stage_size;
extern const char hone_torch_serve[];
extern const size_t hone_torch_serve_size;
extern const char hone_torch_weights[];
extern const size_t hone_torch_weights_size;
}

namespace hone {

std::string ProblemScript() { return {hone_torch_problem, hone_torch_problem_size}; }

std::string DescribeScript() {
  return std::string(hone_torch_problem, hone_torch_problem_size) +
         std::string(hone_torch_shapes, hone_torch_shapes_size) + std::string(hone_torch_costs, hone_torch_costs_size) +
         std::string(hone_torch_seed, hone_torch_seed_size) +
         std::string(hone_torch_reduce_seed, hone_torch_reduce_seed_size) +
         std::string(hone_torch_image_seed, hone_torch_image_seed_size) +
         std::string(hone_torch_definition, hone_torch_definition_size) +
         std::string(hone_torch_gpumode, hone_torch_gpumode_size) +
         std::string(hone_torch_describe, hone_torch_describe_size);
}

std::string OperatorTimesScript() {
  return std::string(hone_torch_problem, hone_torch_problem_size) +
         std::string(hone_torch_shapes, hone_torch_shapes_size) + std::string(hone_torch_costs, hone_torch_costs_size) +
         std::string(hone_torch_operator_times, hone_torch_operator_times_size);
}

namespace {

// Returns the files with which scripts that talk over a socket begin.
std::string CommonScripts() {
  return std::string(hone_torch_problem, hone_torch_problem_size) +
         std::string(hone_torch_frames, hone_torch_frames_size);
}

}  // namespace

std::string ServeScript() {
  return CommonScripts() + std::string(hone_torch_driver, hone_torch_driver_size) +
         std::string(hone_torch_shapes, hone_torch_shapes_size) + std::string(hone_torch_costs, hone_torch_costs_size) +
         std::string(hone_torch_serve, hone_torch_serve_size);
}

std::string RefereeScript() {
  return CommonScripts() + std::string(hone_torch_weights, hone_torch_weights_size) +
         std::string(hone_torch_lifted, hone_torch_lifted_size) +
         std::string(hone_torch_referee, hone_torch_referee_size);
}

std::string StageScript() {
  return CommonScripts() + std::string(hone_torch_weights, hone_torch_weights_size) +
         std::string(hone_torch_driver, hone_torch_driver_size) +
         std::string(hone_torch_device_plan, hone_torch_device_plan_size) +
         std::string(hone_torch_lift, hone_torch_lift_size) + std::string(hone_torch_stage, hone_torch_stage_size);
}

std::string PlayerScript() {
  return std::string(hone_torch_frames, hone_torch_frames_size) +
         std::string(hone_torch_driver, hone_torch_driver_size) +
         std::string(hone_torch_device_plan, hone_torch_device_plan_size) +
         std::string(hone_torch_player, hone_torch_player_size);
}

}  // namespace hone
