// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One launch plan (a winner's or the seed's) as C++ text: its device code by binding, and the member functions of the
// generated header's `Call` that work out sizes and launch.
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

  // The namespaces with the device code, one a binding.
  std::string Kernels(const EmbeddedSource& source);

  bool HasWorkspaces() const { return !plan_.workspaces.empty(); }
  // Whether the plan asks for what only compute capability 9.0 has.
  bool NeedsHopper() const;

  // Whether some shape may find no alternative in one of the plan's steps.
  bool LeavesShapesOut() const;
  // A C++ condition over the members of Call that holds where every step has an alternative; "true": everywhere.
  Result<std::string> Serves();

  // Members of Call: bytes of workspace, and the run itself.
  Result<std::string> Methods();

  Result<std::string> Text(const Expression& expression, const Binding& binding, int line,
                           const std::string& occupancy = "");

 private:
  Result<std::string> Stride(const std::string& tensor, const std::string& axis_text);

  Result<std::string> WorkspaceSizes();

  Result<std::string> TensorMapText(size_t index);

  size_t WorkspaceIndex(const std::string& name) const;

  Result<std::string> Memset(const PlanEntry& entry, const Binding& binding, bool dependent);

  // One argument as a local `a<i>`; the text ends with a newline.
  Result<std::string> ArgumentText(const PlanEntry& entry, const Binding& binding, const Argument& argument, size_t i,
                                   const std::string& occupancy);

  // The same for a field; a name such as "2_0" instead of an index.
  Result<std::string> FieldText(const PlanEntry& entry, const Binding& binding, const Argument& field,
                                const std::string& name, const std::string& occupancy);


  Result<std::string> LaunchText(const PlanEntry& entry, const Binding& binding, bool dependent);

  const Task& task_;
  const LaunchPlan& plan_;
  const Candidate& candidate_;
  const Binding& binding_;
  const std::string prefix_;
  std::map<std::string, std::string> names_;                            // of the plan -> C++
  std::map<std::pair<std::string, std::string>, std::string> kernels_;  // binding key, name -> address
};

}  // namespace hone
