// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two parts of the table of text parsers (text_parsers.h), each with a file of its own: what users exchange as files or
// what a process with a stranger's code says, and what comes over a network connection.
#pragma once

#include <span>

#include "fuzz/text_parsers.h"

namespace hone {

std::span<const TextParser> ExchangeParsers();
std::span<const TextParser> NetworkParsers();
std::span<const TextParser> LaterExchangeParsers();

}  // namespace hone
