// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/numbers/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cmath>
#include <cstddef>

#include "hone/base/status.h"

namespace hone {

uint64_t SystemSeed() {
  uint64_t seed = 0;
  auto* bytes = reinterpret_cast<unsigned char*>(&seed);
  size_t done = 0;
  while (done < sizeof seed) {
    const ssize_t got = getrandom(bytes + done, sizeof seed - done, 0);
    if (got < 0 && errno == EINTR) continue;
    HONE_CHECK(got > 0, "getrandom failed; without secret seeds no verdict would be worth anything");
    done += static_cast<size_t>(got);
  }
  return seed;
}

__extension__ typedef unsigned __int128 Wide;

uint64_t Rng::Below(uint64_t n) {
  HONE_CHECK(n >= 1, "a draw from an empty range");
  Wide product = static_cast<Wide>(Next()) * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t threshold = (0 - n) % n;
    while (static_cast<uint64_t>(product) < threshold) product = static_cast<Wide>(Next()) * n;
  }
  return static_cast<uint64_t>(product >> 64);
}

double Rng::Normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - Uniform()));
  return radius * std::cos(6.283185307179586 * Uniform());
}

Rng Rng::Split(uint64_t stream) const {
  Rng mixer(state_ ^ (stream * 0xd1342543de82ef95ULL + 0x2545f4914f6cdd1dULL));
  mixer.Next();
  return Rng(mixer.Next());
}

}  // namespace hone
