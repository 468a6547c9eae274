// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// SyntheticNoise imitates the noise of kernels' timings, for tests and for benchmarks/sequential_calibration.cc.
//
// An object yields the relative (log) noise of successive samples, as of an idle machine that runs equal kernels.
// Quad() gives the log ratio of one quad of such samples, in an order that a coin chooses.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>

namespace hone {

enum class NoiseKind {
  kIndependent,     // normal
  kAutocorrelated,  // AR(1), phi 0.5, from sample to sample: clocks and temperature
  kHeavyTailed,     // Student's t with 3 degrees of freedom
  kInterrupted,     // normal; one sample in fifty takes three times as long
  kSlowRatio,       // each quad's log ratio is an AR(1) with phi 0.5: slow noise that affects one kernel only
};
inline constexpr std::array kNoiseKinds = {NoiseKind::kIndependent, NoiseKind::kAutocorrelated,
                                           NoiseKind::kHeavyTailed, NoiseKind::kInterrupted, NoiseKind::kSlowRatio};

constexpr std::string_view NoiseName(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::kIndependent: return "independent";
    case NoiseKind::kAutocorrelated: return "autocorrelated";
    case NoiseKind::kHeavyTailed: return "heavy_tailed";
    case NoiseKind::kInterrupted: return "interrupted";
    case NoiseKind::kSlowRatio: return "slow_ratio";
  }
  return "";
}

class SyntheticNoise {
 public:
  // `deviation` is the standard deviation of one sample as a fraction of its time (kSlowRatio: of one log ratio).
  SyntheticNoise(NoiseKind kind, double deviation, uint64_t seed)
      : kind_(kind), deviation_(deviation), random_(seed), slow_(normal_(random_)) {}

  double Sample() {
    switch (kind_) {
      case NoiseKind::kHeavyTailed: return deviation_ * student_(random_) / std::sqrt(3.0);
      case NoiseKind::kInterrupted:
        return deviation_ * normal_(random_) + (random_() % 50 == 0 ? std::log(3.0) : 0.0);
      case NoiseKind::kAutocorrelated:
        slow_ = 0.5 * slow_ + std::sqrt(0.75) * normal_(random_);
        return deviation_ * slow_;
      default: return deviation_ * normal_(random_);
    }
  }

  // Returns the log ratio (positive: candidate faster) of one quad whose candidate is exp(log_speedup) times as fast.
  double Quad(double log_speedup) {
    if (kind_ == NoiseKind::kSlowRatio) {
      slow_ = 0.5 * slow_ + std::sqrt(0.75) * normal_(random_);
      return log_speedup + deviation_ * slow_;
    }
    const bool abba = (random_() >> 63) != 0;
    double candidate = 0, incumbent = 0;
    for (int i = 0; i < 4; ++i) ((i == 0 || i == 3) == abba ? candidate : incumbent) += Sample() / 2;
    return log_speedup + incumbent - candidate;
  }

 private:
  NoiseKind kind_;
  double deviation_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> student_{3};
  double slow_;
};

}  // namespace hone
