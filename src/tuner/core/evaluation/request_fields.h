// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the fields of an EvaluationRequest except `source` and `incumbent_source`, which are sent to a worker as
// compiled programs and to a spool as files.
#pragma once

#include <cstddef>

#include "hone/tuner/evaluator.h"
#include "tuner/core/fields/field_list.h"

namespace hone {

inline constexpr size_t kRequestSources = 2;  // fields that the list leaves out

template <MaybeConst<EvaluationRequest> Request, typename Visitor>
void VisitFields(Request& r, Visitor&& visit) {
  visit("name", r.name);
  visit("binding", r.binding);
  visit("incumbent_name", r.incumbent_name);
  visit("incumbent_binding", r.incumbent_binding);
  visit("seed", r.seed);
  visit("time", r.time);
  visit("warm", r.warm);
  visit("correctness_trials", r.correctness_trials);
  visit("max_quads", r.max_quads);
  visit("check_cases", r.check_cases);
  visit("allow_calls", r.allow_calls);
  visit("simulate", r.simulate);
  visit("only_time_cases", r.only_time_cases);
  visit("profile", r.profile);
  visit("profile_gains", r.profile_gains);
  visit("sass", r.sass);
  visit("libraries", r.libraries);
}

}  // namespace hone
