// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Simulates how often the statistics behind a timing are right: error rates on equal kernels, coverage of the reported
// intervals, power against small differences, and the effect of peeking without boundaries. Prints one JSON document,
// which docs/timing.md quotes.
//
//   sequential_calibration [runs per cell, default 20000] [seed] [looks, default 10 as the judge has them]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/numbers/distributions.h"
#include "tuner/evaluate/timing/interval.h"
#include "tuner/evaluate/timing/sequential_test.h"
#include "tuner/evaluate/timing/synthetic_noise.h"

namespace {

using hone::Decision;
using hone::Interval;
using hone::NoiseKind;
using hone::SequentialTest;
using hone::SyntheticNoise;
using nlohmann::json;

struct Cell {
  double difference = 0, faster = 0, slower = 0, same = 0, undecided = 0, covered = 0, quads = 0;
};

Cell Simulate(const hone::SequentialOptions& options, NoiseKind kind, double deviation, double log_speedup, int runs,
              uint64_t seed) {
  const SequentialTest fresh(options);
  Cell cell;
  for (int run = 0; run < runs; ++run) {
    SyntheticNoise noise(kind, deviation, seed * 1000003 + static_cast<uint64_t>(run));
    SequentialTest test = fresh;
    std::vector<double> log_ratios;
    Decision decision = Decision::kContinue;
    while (decision == Decision::kContinue) {
      log_ratios.push_back(noise.Quad(log_speedup));
      test.Add(log_ratios.back());
      if (test.AtLook()) decision = test.Look();
    }
    const Interval speedup = hone::RatioInterval(log_ratios);
    const double truth = std::exp(log_speedup);
    const double one = 1.0 / runs;
    cell.difference += test.report().difference ? one : 0;
    cell.faster += decision == Decision::kFaster ? one : 0;
    cell.slower += decision == Decision::kSlower ? one : 0;
    cell.same += decision == Decision::kSame ? one : 0;
    cell.undecided += decision == Decision::kUndecided ? one : 0;
    cell.covered += speedup.low <= truth && truth <= speedup.high ? one : 0;
    cell.quads += test.quads() * one;
  }
  return cell;
}

// Returns the rate of false differences if a plain 95 % t interval is computed after every quad from the tenth on, and
// a difference is called as soon as it excludes 0.
double PeekingRate(NoiseKind kind, int quads, int runs, uint64_t seed) {
  int calls = 0;
  std::vector<double> boundary(static_cast<size_t>(quads) + 1, 0);
  for (int n = 10; n <= quads; ++n) boundary[static_cast<size_t>(n)] = hone::StudentUpperQuantile(0.025, n - 1);
  for (int run = 0; run < runs; ++run) {
    SyntheticNoise noise(kind, 0.01, seed * 1000003 + static_cast<uint64_t>(run));
    double sum = 0, squares = 0;
    for (int n = 1; n <= quads; ++n) {
      const double x = noise.Quad(0);
      sum += x;
      squares += x * x;
      const double error = std::sqrt((squares - sum * sum / n) / (n - 1) / n);
      if (n >= 10 && std::abs(sum / n) > boundary[static_cast<size_t>(n)] * error) {
        ++calls;
        break;
      }
    }
  }
  return static_cast<double>(calls) / runs;
}

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::atoi(argv[1]) : 20000;
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 20260117;
  const int looks = argc > 3 ? std::atoi(argv[3]) : 10;
  if (runs < 1 || looks < 1 || looks > 25) {
    std::fprintf(stderr, "usage: sequential_calibration [runs per cell] [seed] [looks]\n");
    return 2;
  }
  json report = {{"benchmark", "sequential_calibration"},
                 {"device", "none: a simulation, the same on every machine"},
                 {"runs_per_cell", runs},
                 {"seed", seed},
                 {"looks", looks},
                 {"simulation_error", Rounded(std::sqrt(0.05 * 0.95 / runs))}};

  for (int quads : {50, 100}) {
    for (NoiseKind kind : hone::kNoiseKinds) {
      // First the bare test, whose error rate alpha promises; then the test in its usual form.
      const Cell bare = Simulate({.looks = looks, .max_quads = quads, .delta = 0, .stop_when_futile = false}, kind, 0.01, 0, runs, seed);
      const Cell used = Simulate({.looks = looks, .max_quads = quads}, kind, 0.01, 0, runs, seed);
      report["equal_kernels"].push_back({{"noise", hone::NoiseName(kind)},
                                         {"max_quads", quads},
                                         {"difference_called", Rounded(bare.difference)},
                                         {"claimed_faster_or_slower", Rounded(used.faster + used.slower)},
                                         {"interval_coverage", Rounded(used.covered)},
                                         {"mean_quads", Rounded(used.quads)},
                                         {"peeking_would_call", Rounded(PeekingRate(kind, quads, runs, seed))}});
    }
  }
  for (int quads : {50, 100}) {
    for (double deviation : {0.005, 0.01, 0.02, 0.03, 0.04, 0.06}) {
      for (double slower : {0.01, 0.02, 0.05, 0.10, 0.50}) {
        const Cell cell = Simulate({.looks = looks, .max_quads = quads}, NoiseKind::kAutocorrelated, deviation, -std::log1p(slower),
                                   std::max(1, runs / 10), seed);
        report["power"].push_back({{"slower_by", slower},
                                   {"sample_deviation", deviation},
                                   {"max_quads", quads},
                                   {"found", Rounded(cell.slower)},
                                   {"wrong_sign", Rounded(cell.faster)},
                                   {"interval_coverage", Rounded(cell.covered)},
                                   {"mean_quads", Rounded(cell.quads)}});
      }
    }
  }
  std::cout << report.dump(1) << "\n";
  return 0;
}
