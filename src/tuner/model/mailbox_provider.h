// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the mailbox: requests are files in a folder, answered by any person or program that reads the folder.
//
//   DIR/requests/0008.json   the request for programs; written first, because it reserves the name
//   DIR/requests/0008.md     the same for people; once it exists, both do
//   DIR/replies/0008.md      the answer, written by the answerer (to a temporary file, then renamed, if possible)
//
// The name is the request's number; if another run has taken it, the end of the run's id is appended (0008-3fa9). A
// request is identified by its run and its number within the run, so a resumed run finds its old question, and an
// answer that came meanwhile.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/model_provider.h"

namespace hone {

// Makes the folders. An answer is read once its size has not changed between two polls.
Result<std::unique_ptr<ModelProvider>> MakeMailboxProvider(const std::string& directory, double poll_seconds);

}  // namespace hone
