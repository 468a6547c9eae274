// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes the shapes that a launch plan handles, as conditions and as a sentence for the user. A plan need not handle
// every shape: the task's seed runs for the rest, in the judge and in the generated function.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/candidate.h"
#include "tuner/interop/write/kernel_package.h"

namespace hone {

// Returns the conditions under which the plan handles a shape, such as "d % 8 == 0 or d <= 64": one text for each step
// whose entries all have a condition. All of them must hold. Empty: the plan handles every shape.
std::vector<std::string> ServedWhen(const LaunchPlan& plan);

// Returns the conditions on shapes that the winner's plan does not handle: the package's function refuses such a shape
// unless they hold, because the seed's plan does not handle it either. Empty: no shape is refused.
std::vector<std::string> RefusedUnless(const KernelPackage& package);

// Returns a sentence on the shapes that the winner's plan does not handle, and on what happens to them: the seed runs,
// or they are refused. It ends without a newline. Empty if the plan handles every shape.
std::string DescribeServedShapes(const KernelPackage& package);

}  // namespace hone
