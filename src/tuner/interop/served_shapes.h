// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes the shapes that a launch plan handles, as conditions and as a sentence for the user. A plan need not handle
// every shape: the task's seed runs for the rest, in the judge and in the generated function.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/candidate.h"
#include "tuner/interop/kernel_package.h"

namespace hone {

// Returns the plan's conditions on shapes, one text for each step whose every alternative has a condition, such as "d %
// 8 == 0 or d <= 64"; empty: the plan handles every shape.
std::vector<std::string> ServedWhen(const LaunchPlan& plan);

// Returns the conditions outside which the package's function refuses a shape, because neither plan handles it:
// ServedWhen of the seed's plan, or empty if no shape is refused.
std::vector<std::string> RefusedUnless(const KernelPackage& package);

// Returns one sentence without an end of line on the shapes that the winner's plan leaves out: the seed handles them,
// or they are refused. Empty if the plan handles every shape.
std::string DescribeServedShapes(const KernelPackage& package);

}  // namespace hone
