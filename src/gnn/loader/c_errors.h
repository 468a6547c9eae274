// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports errors of the functions in c_api.h: a status code and a text for the caller's buffer.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "gnn/loader/batch_loader.h"
#include "gnn/loader/c_api.h"
#include "hone/base/status.h"

namespace hone::gnn {

// Return an error code of the C API, and copy the message to `error` [HONE_ERROR_BYTES], cut if it is longer.
inline int32_t ReportStatus(const std::string& message, char* error, int32_t code) {
  const size_t length = std::min<size_t>(message.size(), HONE_ERROR_BYTES - 1);
  std::memcpy(error, message.data(), length);
  error[length] = '\0';
  return code;
}

inline int32_t ReportStatus(const Status& status, char* error) {
  switch (status.code()) {
    case StatusCode::kOk:
      return HONE_OK;
    case StatusCode::kPending:
      return ReportStatus(status.message(), error, HONE_PENDING);
    case StatusCode::kInvalidArgument:
      return ReportStatus(status.message(), error, HONE_INVALID_ARGUMENT);
    case StatusCode::kResourceExhausted:
      return ReportStatus(status.message(), error, HONE_NO_MEMORY);
    default:
      return ReportStatus(status.message(), error, HONE_FAILED);
  }
}

// Runs `work`, and turns an exception into an error, because no exception may cross into another language.
template <typename Work>
int32_t Guarded(char* error, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return ReportStatus("no memory", error, HONE_NO_MEMORY);
  } catch (const std::exception& problem) {
    return ReportStatus(problem.what(), error, HONE_FAILED);
  }
}

inline std::vector<RowTable> Tables(const HoneRowTable* tables, int32_t count) {
  std::vector<RowTable> result;
  for (int32_t i = 0; i < count; ++i) {
    result.push_back(
        {static_cast<const std::byte*>(tables[i].rows), tables[i].count, tables[i].row_bytes, tables[i].stride_bytes});
  }
  return result;
}

}  // namespace hone::gnn
