// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes one launch plan (the winner's or the seed's) as C++ text: its device code, once for each binding of tunables,
// and the member functions of the generated header's struct `Call` that compute sizes and launch.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "hone/base/status.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/embed_source.h"

namespace hone {

class PlanWriter {
 public:
  // `prefix` is "winner" or "seed". `binding` gives the tunables' values where a plan entry sets none. All references
  // must stay valid.
  PlanWriter(const Task& task, const Candidate& candidate, const Binding& binding, std::string prefix,
             const HeaderSignature& signature);

  // Returns the device code, in one namespace for each binding. Call it before Methods.
  std::string Kernels(const EmbeddedSource& source);

  bool HasWorkspaces() const { return !plan_.workspaces.empty(); }
  // Returns whether the plan uses a feature that needs compute capability 9.0.
  bool NeedsHopper() const;

  // Returns whether the plan may leave shapes out: some step has only entries with conditions.
  bool LeavesShapesOut() const;
  // Returns a C++ condition over the members of Call under which the plan handles the shape: in every step some entry's
  // condition holds. "true": it handles every shape.
  Result<std::string> Serves();

  // Returns members of Call: the bytes of workspace, and the function that runs the plan.
  Result<std::string> Methods();

  // Returns an expression of the plan as C++. `occupancy`: text for occupancy(kernel); empty: it is not allowed here.
  Result<std::string> Text(const Expression& expression, const Binding& binding, int line,
                           const std::string& occupancy = "");

 private:
  // Returns C++ text for stride(tensor, axis) of a plan's expression.
  Result<std::string> StrideText(const std::string& tensor, const std::string& axis_text);

  Result<std::string> WorkspaceSizesText();

  // Returns the statement that encodes the plan's tensor map number `index`.
  Result<std::string> TensorMapText(size_t index);

  size_t WorkspaceIndex(const std::string& name) const;

  // Return the statements of an entry. `dependent`: some launch of the plan may begin before the kernel in front of it
  // has ended, so the statements record whether they launched a kernel.
  Result<std::string> MemsetText(const PlanEntry& entry, const Binding& binding, bool dependent);

  // Returns the declaration of a local variable `a<i>` that holds argument number `i`; the text ends with a newline.
  Result<std::string> ArgumentText(const PlanEntry& entry, const Binding& binding, const Argument& argument, size_t i,
                                   const std::string& occupancy);

  // Returns the same for a field of a struct argument; `name`, such as "2_0", takes the place of the number.
  Result<std::string> FieldText(const PlanEntry& entry, const Binding& binding, const Argument& field,
                                const std::string& name, const std::string& occupancy);

  // Returns C++ text for the address of a tensor or a workspace, plus the argument's offset.
  Result<std::string> PointerText(const PlanEntry& entry, const Binding& binding, const Argument& argument,
                                  const std::string& occupancy);

  // Returns a plan's library call as a call of LibraryMatmul or LibraryConvolution (header_support.h).
  Result<std::string> CallText(const PlanEntry& entry, const Binding& binding, bool dependent);

  Result<std::string> LaunchText(const PlanEntry& entry, const Binding& binding, bool dependent);

  const Task& task_;
  const LaunchPlan& plan_;
  const Candidate& candidate_;
  const Binding& binding_;
  const std::string prefix_;                                            // "winner" or "seed"
  std::map<std::string, std::string> names_;                            // name in the plan -> C++ text
  std::map<std::pair<std::string, std::string>, std::string> kernels_;  // binding key, kernel -> text of its address
};

}  // namespace hone
