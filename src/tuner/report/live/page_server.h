// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Serves pages to a browser of the same user on this machine only.
//
// A run's page shows sources, prompts and ideas, which other users of the machine and other web sites open in the
// browser must not read. The server listens only on 127.0.0.1. Its address contains a token of 128 random bits. The
// first visit exchanges the token for a cookie that only this server's pages send; without token or cookie there is no
// page. A request with a foreign Host (DNS rebinding) or Origin is refused. The pages may load nothing from elsewhere
// and may not be framed (Content-Security-Policy). Only GET and HEAD are answered.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "hone/base/status.h"
#include "tuner/report/live/live_pages.h"

namespace hone {

class PageServer {
 public:
  using Handler = std::function<PageAnswer(const std::string& path, const std::map<std::string, std::string>& query)>;

  // Listens on 127.0.0.1:`port`; 0 chooses a free port. kUnavailable names a port that another program uses.
  static Result<std::unique_ptr<PageServer>> Listen(uint16_t port, Handler handler);
  virtual ~PageServer() = default;

  virtual uint16_t port() const = 0;
  // Returns the address with its token: "http://127.0.0.1:40001/?token=…". Whoever has it can read the pages as long as
  // the server runs.
  virtual std::string url() const = 0;
  // Answers requests, one at a time, on the calling thread. Returns at most 0.1 s after `stop` is requested.
  virtual Status Serve(std::stop_token stop) = 0;
};

}  // namespace hone
