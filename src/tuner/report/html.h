// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the report of a run: one self-contained HTML file without network access or scripts.
#pragma once

#include <string>

#include "hone/tuner/run_store.h"
#include "hone/tuner/strategy.h"
#include "tuner/report/node_sections.h"

namespace hone {

// Returns the page's text; the caller writes the file. The page shows the speedup node by node; each shape with its
// interval and its share of the floor; the tree with every idea; every node with its outcome and the reason for it,
// shapes, findings, profile and difference to its parent; the sweeps; and the best kernel with its difference to the
// seed. Wherever the device is the simulator, it says "modelled". Sources are read from `store`.
Result<std::string> HtmlReport(RunStore& store, const RunView& view);

// Returns the report without the page's frame; `links` as in node_sections.h.
Result<std::string> HtmlReportBody(RunStore& store, const RunView& view, const NodeLinks& links = {});

}  // namespace hone
