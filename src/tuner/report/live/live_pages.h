// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the pages of `hone report --serve` for a run that may still be in progress. This file turns a path and its
// query into a page; page_server.h serves it to a browser.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "hone/tuner/run_store.h"

namespace hone {

struct PageAnswer {
  int status = 200;  // HTTP status: 200, 400, 404 or 500
  std::string type = "text/html; charset=utf-8";
  std::string body;
};

// Paths:
//   /              the run's current report, with links from each node to the next two pages
//   /node/N        one node: every request for it with its reply, profile, source, difference to its parent
//   /compare?a=N&b=M   the sources of two nodes side by side; `all=1` also shows unchanged lines
//   /version       {"events": 12, "ended": false}; the pages' script reloads a page when this number has grown
//   /live.js       that script
// The page of a run without events says so, and updates too.
//
// Each answer is made from the store's current state, which another process may be changing; a page is cached until the
// run has more events. Not thread-safe.
class LivePages {
 public:
  // `run`: the full id of a run in `store`.
  LivePages(std::unique_ptr<RunStore> store, std::string run);

  // Returns the page at `path`. `query`: the decoded parameters. For an unknown path or parameter, returns a page that
  // says so.
  PageAnswer Get(const std::string& path, const std::map<std::string, std::string>& query);

 private:
  // Returns the page at `path`.
  Result<std::string> Page(const std::string& path, const std::map<std::string, std::string>& query,
                           const RunInfo& info);

  std::unique_ptr<RunStore> store_;
  std::string run_;
  std::map<std::string, std::string> kept_;  // pages by path and query, valid at `kept_events_` events
  int64_t kept_events_ = -1;                 // number of events from which `kept_` was made
};

}  // namespace hone
