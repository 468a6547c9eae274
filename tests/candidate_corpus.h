// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the candidates under tests/cheats and tests/honest. The opening comment of each has these lines:
//   // task: relu
//   // expect: rule_violation,crashed  any of these verdicts; `ok` for honest candidates. `no_gain`: right, and no
//   //                                 faster than the task's seed in modelled time, or than `at_most` times as fast on
//   //                                 a GPU
//   // at_most: 1.02                   for a cheat that may gain nothing on a GPU: the speedup of honest kernels of its
//   //                                 kind
//   // where: sim gpu                  the devices on which the candidate is judged
//   // timed: 1                        optional: number of a timed case, from 0. The simulated GPU times this case, and
//   //                                 nothing without the line; a GPU times it instead of the second
//   // by: another_entry               optional, for an entry that takes the simulated GPU seconds: another entry that
//   //                                 fails by the same gate is judged there instead. HONE_TEST_WHOLE judges both
//   //                                 (`make test-whole`)
//   // seed: 1                         optional: the secret seed on the simulated GPU, instead of the one that follows
//   //                                 from the name. For a cheat that passes by chance with some seeds; the comment
//   //                                 says with how many
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hone {

struct CorpusEntry {
  std::string path, name, task, source, represented_by;
  std::vector<std::string> expect;
  bool on_sim = false, on_gpu = false;
  std::optional<size_t> timed;
  std::optional<double> at_most;
  std::optional<uint64_t> seed;
};

// Returns every .cu file of `directory`, sorted by name. A file without its `task`, `expect` and `where` lines is
// returned with empty fields, which the tests refuse.
std::vector<CorpusEntry> ReadCorpus(const std::string& directory);

}  // namespace hone
