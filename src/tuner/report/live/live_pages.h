// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The pages that `hone report --serve` shows of a run that may still be under way. What is here turns a path and its
// query into a page; page_server.h brings it to a browser.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "hone/tuner/run_store.h"

namespace hone {

struct PageAnswer {
  int status = 200;  // of HTTP: 200, 400, 404 or 500
  std::string type = "text/html; charset=utf-8";
  std::string body;
};

// Paths:
//   /              the run's report as it stands, with links from each node to the two below
//   /node/N        one node: every request made for it with its reply, profile, source, difference to its parent
//   /compare?a=N&b=M   the sources of two nodes side by side; `all=1` shows lines that did not change, too
//   /version       {"events": 12, "ended": false}: the page's script asks for a page again when the number grew
//   /live.js       that script
// A page of a run without events says so, and is followed all the same.
//
// Each answer is made from the store as it is at that moment, which another process may be writing to; a page is kept
// until the run has more events. Not thread-safe: one thread at a time.
class LivePages {
 public:
  // `run` is a full id of `store`.
  LivePages(std::unique_ptr<RunStore> store, std::string run);

  // `query` holds the decoded parameters; a path or a parameter that means nothing gets a page that says so.
  PageAnswer Get(const std::string& path, const std::map<std::string, std::string>& query);

 private:
  Result<std::string> Page(const std::string& path, const std::map<std::string, std::string>& query,
                           const RunInfo& info);

  std::unique_ptr<RunStore> store_;
  std::string run_;
  std::map<std::string, std::string> kept_;  // pages by path and query, of the run at `kept_events_`
  int64_t kept_events_ = -1;
};

}  // namespace hone
