// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes one launch plan (a winner's or the seed's) as C++ text: its device code by binding, and the member functions
// of the generated header's `Call` that compute sizes and launch.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "hone/base/status.h"
#include "tuner/interop/cuda_header.h"
#include "tuner/interop/embed_source.h"

namespace hone {

class PlanWriter {
 public:
  PlanWriter(const Task& task, const Candidate& candidate, const Binding& binding, std::string prefix,
             const HeaderSignature& signature);

  // Returns the namespaces with the device code, one per binding.
  std::string Kernels(const EmbeddedSource& source);

  bool HasWorkspaces() const { return !plan_.workspaces.empty(); }
  // Returns whether the plan uses a feature that needs compute capability 9.0.
  bool NeedsHopper() const;

  // Returns whether some shape may have no alternative in one of the plan's steps.
  bool LeavesShapesOut() const;
  // Returns a C++ condition over the members of Call that holds if every step has an alternative; "true": always.
  Result<std::string> Serves();

  // Returns members of Call: the bytes of workspace, and the function that runs the plan.
  Result<std::string> Methods();

  Result<std::string> Text(const Expression& expression, const Binding& binding, int line,
                           const std::string& occupancy = "");

 private:
  Result<std::string> Stride(const std::string& tensor, const std::string& axis_text);

  Result<std::string> WorkspaceSizes();

  Result<std::string> TensorMapText(size_t index);

  size_t WorkspaceIndex(const std::string& name) const;

  Result<std::string> Memset(const PlanEntry& entry, const Binding& binding, bool dependent);

  // Returns one argument as a local `a<i>`; the text ends with a newline.
  Result<std::string> ArgumentText(const PlanEntry& entry, const Binding& binding, const Argument& argument, size_t i,
                                   const std::string& occupancy);

  // Does the same for a field, with a name such as "2_0" instead of an index.
  Result<std::string> FieldText(const PlanEntry& entry, const Binding& binding, const Argument& field,
                                const std::string& name, const std::string& occupancy);


  // Returns the address of a tensor or a workspace, with the argument's offset.
  Result<std::string> Pointer(const PlanEntry& entry, const Binding& binding, const Argument& argument, const std::string& occupancy);

  // Returns a call of a library as a call of the function that header_support.h declares.
  Result<std::string> CallText(const PlanEntry& entry, const Binding& binding, bool dependent);

  Result<std::string> LaunchText(const PlanEntry& entry, const Binding& binding, bool dependent);

  const Task& task_;
  const LaunchPlan& plan_;
  const Candidate& candidate_;
  const Binding& binding_;
  const std::string prefix_;
  std::map<std::string, std::string> names_;                            // name in the plan -> C++
  std::map<std::pair<std::string, std::string>, std::string> kernels_;  // binding key, name -> address
};

}  // namespace hone
