// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks a command: the request as JSON on its standard input, the answer on its standard output. How any tool with a
// model behind it becomes a provider, in a line of shell.
//
// The command runs by /bin/sh -c, with the environment it is given, in a process group of its own that ends with it:
// at its end, at the request's limit, and when asked to stop, nothing it started is left.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hone/tuner/model_provider.h"

namespace hone {

// The output is the answer's text; or, when it is a JSON object with a string "text", that, with what else the
// object says ("finish", "model", "input_tokens", "output_tokens", "cost_usd"). Another exit status than 0 is
// kUnavailable with the end of standard error, from which values of secret-looking variables are taken out.
std::unique_ptr<ModelProvider> MakeExecProvider(const std::string& command, std::vector<std::string> environment);

}  // namespace hone
