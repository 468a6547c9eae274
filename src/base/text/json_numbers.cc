// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/text/json_numbers.h"

#include <algorithm>
#include <cmath>

namespace hone {

bool HoldsFloatFrom(const nlohmann::json& value, double bound) {
  if (value.is_number_float()) return !(std::abs(value.get<double>()) < bound);
  if (!value.is_structured()) return false;
  return std::any_of(value.begin(), value.end(), [bound](const nlohmann::json& part) { return HoldsFloatFrom(part, bound); });
}

}  // namespace hone
