// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks a command: the request as JSON on its standard input, the answer on its standard output. How any tool with a
// model behind it becomes a provider, in a line of shell.
//
// The command runs by /bin/sh -c, with the environment it is given, in a process group of its own that ends with it:
// at its end, at the request's limit, and when asked to stop, nothing it started is left.
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
  double request_seconds = 0;  // for a request with all its attempts; 0: ModelRequest::limit_seconds alone
  BackoffOptions backoff;
  uint64_t seed = 0;  // of the jitter
  // Waits; false when `stop` was asked for meanwhile.
  std::function<bool(double seconds, std::stop_token stop)> sleep;
};
// The real clock, and a jitter that differs from process to process.
ExecOptions SystemExecOptions(const ProviderOptions& options);

// The output is the answer's text; or, when it is a JSON object with a string "text", that, with what else the
// object says ("finish", "model", "input_tokens", "output_tokens", "cost_usd").
// A command that ends with another exit status than 0, or by a signal, is run again, as ExecOptions says. When all
// attempts fail, or the shell cannot run the command at all (126, 127), the Status is kUnavailable with the end of
// standard error, from which values of secret-looking variables are taken out.
std::unique_ptr<ModelProvider> MakeExecProvider(const std::string& command, std::vector<std::string> environment,
                                                ExecOptions options);

}  // namespace hone
