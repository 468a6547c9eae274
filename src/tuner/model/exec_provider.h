// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a shell command a model: it gets a request as JSON on its standard input, and writes the answer to its standard
// output.
//
// The command runs by /bin/sh -c, with the given environment, in its own process group. At its end, at the request's
// limit, and when stopped, the whole group is ended.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "hone/tuner/model_provider.h"
#include "tuner/model/retry.h"

namespace hone {

struct ExecOptions {
  int max_retries = 6;         // after the first attempt
  double request_seconds = 0;  // limit for a request with all its attempts; 0: ModelRequest::limit_seconds
  BackoffOptions backoff;      // delays before retries
  uint64_t seed = 0;  // for the delays' jitter
  // Waits before the next attempt; returns false when `stop` was requested meanwhile. Tests replace it.
  std::function<bool(double seconds, std::stop_token stop)> sleep;
};
// Returns options for real use: with the real clock, and a seed that differs from process to process.
ExecOptions SystemExecOptions(const ProviderOptions& options);

// Makes the provider. The output is the answer's text; or, when it is a JSON object with a string "text", that text,
// with the object's other fields ("finish", "model", "input_tokens", "output_tokens", "cost_usd"). A command that ends
// with a nonzero exit status or by a signal is run again, as ExecOptions says. When all attempts fail, or the shell
// cannot run the command at all (126, 127), the Status is kUnavailable with the end of standard error, without values
// of secret-looking variables.
std::unique_ptr<ModelProvider> MakeExecProvider(const std::string& command, std::vector<std::string> environment,
                                                ExecOptions options);

}  // namespace hone
