// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/tools.h"

#include <iterator>
#include <utility>

namespace hone::mcp {

std::vector<Tool> AllTools(const std::shared_ptr<Toolbox>& toolbox) {
  std::vector<Tool> tools;
  for (std::vector<Tool> some :
       {TaskTools(toolbox), NewTaskTools(toolbox), JudgeTools(toolbox), TuneTools(toolbox), RunTools(toolbox)}) {
    tools.insert(tools.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  return tools;
}

std::string Instructions() {
  return "Hone judges CUDA kernels: it says whether a kernel computes what a task asks for, and how fast it is against "
         "a "
         "baseline, measured in pairs with confidence intervals. To make a kernel faster: call `tasks` to see what "
         "there is, "
         "`task` to read one task with its seed kernel and the rules for candidates, write a candidate (one .cu file "
         "that "
         "begins with its launch plan), and call `eval` with it. Read the verdict and its detail, change the "
         "candidate, and "
         "call `eval` again. Only the verdict `ok` is right, and only a decision `faster` is surely faster. Times of a "
         "simulated "
         "device are modelled, never measured.";
}

}  // namespace hone::mcp
