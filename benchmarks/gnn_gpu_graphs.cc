// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the CUDA graphs that the engine captures as text, one file per engine, so that two versions can be compared:
//
//   gnn_gpu_graphs --output before      on one commit
//   gnn_gpu_graphs --output after       on the other
//   diff -r before after
//
// On a GPU, use 'synthetic:papers100M?seed=1' and --narrower 1 for the published sizes.
//
// The program prints a line for each engine: its name, the numbers of its graphs and nodes, and the SHA-256 of the
// text. The lines that the program built for the emulated GPU prints for its own graph are in
// src/gnn/cuda/dump/emulated_graphs.txt, which a test compares.
#include <cstdio>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "benchmarks/arguments.h"
#include "gnn/cuda/dump/dumped_engines.h"

int main(int argc, char** argv) {
  using namespace hone;
  using namespace hone::gnn::cuda;
  std::string graph = kSmallPublishedGraph, output, only;
  int64_t narrower = kSmallNarrower;
  Arguments app("Writes the CUDA graphs that the engine captures as text.");
  app.Add("graph", graph, "the synthetic graph of the published configurations");
  app.Add("--narrower", narrower, "by how much their hidden layers are narrower than published", {.least = 1, .most = 32});
  app.Add("--output", output, "folder for the texts; without it only their digests are told");
  app.Add("--only", only, "engines whose name begins so");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  const auto fail = [](const Status& status) {
    std::fprintf(stderr, "gnn_gpu_graphs: %s\n", status.message().c_str());
    return 3;
  };
  if (!output.empty()) {
    if (const Status made = MakeDirectories(output); !made.ok()) return fail(made);
  }
  std::vector<DumpedEngine> engines = PublishedEngines(graph, narrower);
  for (DumpedEngine& engine : PairwiseEngines()) engines.push_back(std::move(engine));
  for (const DumpedEngine& engine : engines) {
    if (!engine.name.starts_with(only)) continue;
    const Result<EngineDump> dump = DumpEngine(engine);
    if (!dump.ok()) return fail(dump.status().WithContext(engine.name));
    std::printf("%s %d %zu %s\n", engine.name.c_str(), dump->graphs, dump->nodes, Sha256Hex(dump->text).c_str());
    std::fflush(stdout);
    if (output.empty()) continue;
    const Status written = WriteFileAtomicallyUnflushed(output + "/" + engine.name + ".txt", dump->text);
    if (!written.ok()) return fail(written);
  }
  return 0;
}
