// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures how long operations of the graph store take: generating, converting arrays and text, opening. Prints JSON.
//
//   gnn_graph FOLDER [--edges 100000000] [--nodes 10000000] [--threads 2]
//
// Each job runs in a process of its own, whose peak memory is then that of the job. Inputs are made in FOLDER first,
// and removed at the end. Files just written are read from the page cache; writing to the disk includes the final
// flush.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/numbers/philox.h"
#include "benchmarks/arguments.h"
#include "gnn/graph/convert/convert.h"
#include "gnn/graph/parallel.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {
namespace {

using nlohmann::json;

struct Flags {
  std::string folder;
  int64_t edges = 100'000'000, nodes = 10'000'000;
  int threads = 0;
};

json Environment() {
  json out;
  std::ifstream cpu("/proc/cpuinfo");
  for (std::string line; std::getline(cpu, line);) {
    if (line.starts_with("model name")) {
      out["cpu"] = line.substr(line.find(':') + 2);
      break;
    }
  }
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  utsname system{};
  uname(&system);
  out["cores"] = ThreadCount(0);
  out["load_average_at_start"] = load;
  out["kernel"] = system.release;
  out["compiler"] = __VERSION__;
  return out;
}

// Runs `job` in a child process. Returns its seconds, processor seconds and peak memory. If the job fails, the program
// ends.
json Measure(const std::string& name, const std::function<Status()>& job) {
  std::fprintf(stderr, "%s\n", name.c_str());
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const Status status = job();
    if (!status.ok()) std::fprintf(stderr, "%s: %s\n", name.c_str(), status.message().c_str());
    _exit(status.ok() ? 0 : 3);
  }
  int exit_status = 0;
  struct rusage usage {};
  wait4(child, &exit_status, 0, &usage);
  if (!WIFEXITED(exit_status) || WEXITSTATUS(exit_status) != 0) std::exit(3);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto of = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6; };
  return {{"name", name}, {"seconds", seconds}, {"cpu_seconds", of(usage.ru_utime) + of(usage.ru_stime)},
          {"peak_mib", usage.ru_maxrss / 1024}};
}

// Writes uniform random edges, as edges.npy and as text.
Status WriteEdges(const Flags& flags, const std::string& folder, int64_t text_edges) {
  std::filesystem::create_directories(folder);
  std::string header = fmt::format("{{'descr': '<i8', 'fortran_order': False, 'shape': ({}, 2), }}", flags.edges);
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  const uint16_t length = static_cast<uint16_t>(header.size());
  std::ofstream array(folder + "/edges.npy", std::ios::binary), text(folder + "/edges.txt");
  array.write("\x93NUMPY\x01\x00", 8);
  array.write(reinterpret_cast<const char*>(&length), 2);
  array << header;
  std::vector<int64_t> ids;
  for (int64_t e = 0; e < flags.edges; ++e) {
    const PhiloxWords words = Philox4x32(1, {static_cast<uint32_t>(e), static_cast<uint32_t>(e >> 32), 0, 0});
    for (size_t i = 0; i < 2; ++i) ids.push_back(static_cast<int64_t>((uint64_t{words[i]} * static_cast<uint64_t>(flags.nodes)) >> 32));
    if (e < text_edges) text << ids[ids.size() - 2] << '\t' << ids.back() << '\n';
    if (ids.size() == 1 << 16 || e + 1 == flags.edges) {
      array.write(reinterpret_cast<const char*>(ids.data()), static_cast<std::streamsize>(ids.size() * 8));
      ids.clear();
    }
  }
  return array.good() && text.good() ? Status::Ok() : Status::Io("could not write the edges to '" + folder + "'");
}

int Main(const Flags& flags) {
  json out = {{"benchmark", "gnn_graph"}, {"environment", Environment()}, {"nodes", flags.nodes}, {"edges", flags.edges},
              {"threads", ThreadCount(flags.threads)}};
  json& jobs = out["jobs"] = json::array();
  const std::string edges = flags.folder + "/edges", graph = flags.folder + "/graph.hgraph";
  const int64_t text_edges = flags.edges / 10;
  if (const Status status = WriteEdges(flags, edges, text_edges); !status.ok()) {
    std::fprintf(stderr, "gnn_graph: %s\n", status.message().c_str());
    return 3;
  }
  const auto convert = [&](const std::string& source) {
    return ConvertGraph(source, graph, {.symmetrize = true, .num_nodes = flags.nodes, .threads = flags.threads}).status();
  };
  jobs.push_back(Measure("convert edges.npy, symmetrized", [&] { return convert(edges); }));
  jobs.push_back(Measure("convert a tenth as text, symmetrized", [&] { return convert(edges + "/edges.txt"); }));
  std::filesystem::remove_all(edges);
  const std::string name = fmt::format("synthetic:papers100M?nodes={}&seed=1", flags.nodes);
  jobs.push_back(Measure("generate " + name, [&] { return GenerateContainer(name, graph, flags.threads, {}); }));
  out["container_bytes"] = std::filesystem::file_size(graph);
  for (const auto& [what, options] : std::vector<std::pair<std::string, OpenGraphOptions>>{
           {"open, mapped", {.load = OpenGraphOptions::Load::kMap, .check = OpenGraphOptions::Check::kHeader}},
           {"open, mapped, structure checked", {.load = OpenGraphOptions::Load::kMap}},
           {"open, mapped and verified", {.load = OpenGraphOptions::Load::kMap, .check = OpenGraphOptions::Check::kAll}},
           {"open, copied and verified", {.load = OpenGraphOptions::Load::kCopy}}}) {
    OpenGraphOptions with_threads = options;
    with_threads.threads = flags.threads;
    jobs.push_back(Measure(what, [&] { return OpenGraph(graph, with_threads).status(); }));
  }
  std::filesystem::remove(graph);
  std::printf("%s\n", out.dump(2).c_str());
  return 0;
}

}  // namespace
}  // namespace hone::gnn

int main(int argc, char** argv) {
  hone::gnn::Flags flags;
  hone::Arguments app("Times the graph store; prints JSON.");
  app.Add("folder", flags.folder, "where inputs and outputs may lie: about 70 bytes an edge", {.required = true});
  app.Add("--edges", flags.edges, "edges to convert", {.least = 1});
  app.Add("--nodes", flags.nodes, "nodes of both graphs", {.least = 1});
  app.Add("--threads", flags.threads, "threads; by default all the process may use");
  if (const std::optional<int> status = app.Parse(argc, argv)) return *status;
  return hone::gnn::Main(flags);
}
