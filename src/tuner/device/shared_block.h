// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares a block of device memory that the judge shares with a process of its own (DeviceSession::Share).
#pragma once

#include <cstdint>

namespace hone {

// Device memory that another process maps too. The destructor frees the session's part; what the other process has
// mapped stays there until it unmaps that or ends. Must be used and destroyed on the session's thread.
class SharedBlock {
 public:
  virtual ~SharedBlock() = default;
  virtual uint64_t address() const = 0;  // in the session, for its copies and fills; secret, like that of other memory
  virtual int64_t bytes() const = 0;
  virtual int descriptor() const = 0;  // by which the other process maps it; stays the block's own
};

}  // namespace hone
