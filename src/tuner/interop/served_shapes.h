// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Which shapes a launch plan serves, in words and as a sentence for who applies it. A plan need not serve every shape:
// the judge lets the task's seed serve the rest, and so does the generated function.
#pragma once

#include <string>
#include <vector>

#include "hone/tuner/candidate.h"
#include "tuner/interop/kernel_package.h"

namespace hone {

// What a plan asks of a shape, one text for each step whose every alternative has a condition, such as "d % 8 == 0 or
// d <= 64"; empty: the plan serves every shape.
std::vector<std::string> ServedWhen(const LaunchPlan& plan);

// The shapes that the package's function refuses, for neither plan serves them: empty when there are none, else what
// ServedWhen says of the seed's plan.
std::vector<std::string> RefusedUnless(const KernelPackage& package);

// One sentence without an end of line: who serves the shapes that the winner's plan leaves out, or that they are
// refused; empty where the plan serves every shape.
std::string DescribeServedShapes(const KernelPackage& package);

}  // namespace hone
