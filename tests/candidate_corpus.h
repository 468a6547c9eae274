// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the candidates under tests/cheats and tests/honest. Each says in its opening comment what it is:
//   // task: relu
//   // expect: rule_violation,crashed      any of these verdicts; `ok` for honest ones. `no_gain`: right, and no faster
//                                          than the task's seed in modelled time, or than at_most times as fast on a GPU
//   // at_most: 1.02                      of a cheat that may gain nothing on a GPU: the speedup of honest kernels built like it
//   // where: sim gpu                      the devices on which it is to be judged
//   // timed: 1                            optional: the timed case, from 0, with which it is judged: on the simulated GPU, where it is
//                                          otherwise only checked, and on a GPU in place of the second
//   // by: another_entry                optional, of an entry that the simulated GPU takes seconds for: that one, which meets the same gate,
//                                          stands for it there, except where HONE_TEST_WHOLE is set (`make test-whole`)
#pragma once

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
};

// Every .cu file of `directory`, sorted by name. A file without its three lines comes back with an empty
// task: the tests refuse it.
std::vector<CorpusEntry> ReadCorpus(const std::string& directory);

}  // namespace hone
