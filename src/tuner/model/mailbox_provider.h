// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the model mailbox:DIR: requests are files in a folder, which any person or program answers by writing files.
//
//   DIR/requests/0008.json   the request as JSON, for programs; written first, because it reserves the name
//   DIR/requests/0008.md     the same as text, for people; if it exists, both do
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

// Makes the provider and its folders. An answer is read once its file has the same size at two looks, `poll_seconds` apart, or
// has not changed for ten seconds at the first. ModelRequest::suspends: kPending at once where there is none.
Result<std::unique_ptr<ModelProvider>> MakeMailboxProvider(const std::string& directory, double poll_seconds);

}  // namespace hone
