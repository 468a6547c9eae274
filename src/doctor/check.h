// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The findings of a program about the machine it runs on: one Check for each thing that the program can use. Values
// only; nothing here looks at a machine, prints or reads the environment.
#pragma once

#include <string>
#include <vector>

namespace hone {

enum class Standing {
  kHere,     // it can be used
  kMissing,  // it cannot, and everything else goes on without it
  kNeeded,   // it cannot, and without it the program cannot do its work
};
const char* StandingName(Standing standing);  // "here", "missing", "needed"

struct Check {
  std::string name;                     // a word for machines: "nvrtc"
  std::string title;                    // for people: "NVRTC"
  Standing standing = Standing::kHere;
  std::string found;                    // what was found, or, in the system's own words, why nothing was
  std::string brings;                   // what the thing is for: "compiles candidates for a GPU"
  std::string remedy;                   // how to get the thing; empty if `found` says it, or nothing can be done
};

struct CheckGroup {
  std::string title;
  std::vector<Check> checks;
};

struct Diagnosis {
  std::vector<CheckGroup> groups;
  bool able = true;     // the program can do its work here; false where a check is kNeeded
  std::string summary;  // one sentence: what can be done here
};

// Sets `able` from the checks.
void Conclude(Diagnosis& diagnosis);

// A paragraph for each group, a line for each check; two more for what is missing: what it would bring, how to get it.
std::string DiagnosisText(const Diagnosis& diagnosis);
// {"able", "summary", "checks": [{"group", "name", "title", "standing", "found", "brings", "remedy"}]}, indented.
std::string DiagnosisJson(const Diagnosis& diagnosis);

}  // namespace hone
