// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The mailbox: requests as files in a folder, answered by whoever looks there: a person, a script, a colleague's
// assistant.
//
//   DIR/requests/0008.json   what is asked, for programs; written first, for it takes the name
//   DIR/requests/0008.md     the same to be read; when it is there, both are
//   DIR/replies/0008.md      the answer, to be written by whoever answers (aside, then renamed, if possible)
//
// The name is the request's number; where another run has taken it, the end of the run's id follows (0008-3fa9).
// A request is known by its run and its number within the run, so a resumed run finds its old question, and an
// answer that came while nobody waited.
#pragma once

#include <memory>
#include <string>

#include "hone/tuner/model_provider.h"

namespace hone {

// Makes the folders. An answer is taken once its size has stayed the same between two looks.
Result<std::unique_ptr<ModelProvider>> MakeMailboxProvider(const std::string& directory, double poll_seconds);

}  // namespace hone
