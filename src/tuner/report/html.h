// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The report of a run: one HTML file that needs nothing else, no network and no script.
#pragma once

#include <string>
#include <string_view>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"

namespace hone {

// Speedup over attempts, each shape with its interval and its share of the floor, every attempt with its fate, the
// winning kernel with its difference to the seed. Says "modelled" wherever the device is the simulator.
// `store` gives the sources. Pure text: the caller writes the file.
Result<std::string> HtmlReport(RunStore& store, const RunView& view);

// & < > " ' replaced by entities; bytes that are not UTF-8 by U+FFFD.
std::string EscapeHtml(std::string_view text);

}  // namespace hone
