// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the judge's precautions that a program can switch off to measure what each costs and what each catches, and
// makes a backend that judges with them off in this process. Only programs of this folder have this: an evaluator's
// options, a job and a candidate's text cannot switch a precaution off.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/device/cuda/cuda_session.h"
#include "tuner/evaluate/backend.h"
#include "tuner/evaluate/judge/judge.h"

namespace hone {

struct JudgeSwitches {
  CudaSessionOptions session;  // of a judge on a GPU
  GateSwitches gates;
  bool guard_text = true;  // on the simulated GPU, the text is searched for what would hide accesses
};

// A set of precautions: all of them, or with some switched off.
struct Precautions {
  std::string name;
  std::function<void(JudgeSwitches&)> change;
};

// Returns "all", and the precautions that cost time in every verdict, each switched off.
const std::vector<Precautions>& TimedPrecautions();
// Returns these and the gates that cost almost nothing, or that replace something as expensive.
const std::vector<Precautions>& AllPrecautions();

// Makes a backend that judges in this process on `session` with `gates`. The compiler is borrowed.
std::unique_ptr<Backend> MakeProcessBackend(std::unique_ptr<DeviceSession> session, Compiler& compiler,
                                            const GateSwitches& gates);

}  // namespace hone
