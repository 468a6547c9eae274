// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <string>

namespace hone {
namespace {

Result<CurlLibrary> Open() {
  void* handle = nullptr;
  std::string reason;
  // The second name has the same interface with another TLS library.
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) break;
    const char* error = dlerror();
    if (reason.empty()) reason = error != nullptr ? error : "not found";
  }
  if (handle == nullptr) {
    return Status::Unavailable(
        fmt::format("openai: and anthropic: models need libcurl.so.4, which could not be opened ({}); install the "
                    "package libcurl4 (libcurl4t64 on newer systems), or use exec:, mailbox:, replay: or builtin",
                    reason));
  }
  CurlLibrary library{};
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    if (function == nullptr) missing = name;
  };
  find(library.global_init, "curl_global_init");
  find(library.easy_init, "curl_easy_init");
  find(library.easy_setopt, "curl_easy_setopt");
  find(library.easy_cleanup, "curl_easy_cleanup");
  find(library.easy_strerror, "curl_easy_strerror");
  find(library.slist_append, "curl_slist_append");
  find(library.slist_free_all, "curl_slist_free_all");
  find(library.multi_init, "curl_multi_init");
  find(library.multi_add_handle, "curl_multi_add_handle");
  find(library.multi_remove_handle, "curl_multi_remove_handle");
  find(library.multi_perform, "curl_multi_perform");
  find(library.multi_poll, "curl_multi_poll");
  find(library.multi_wakeup, "curl_multi_wakeup");
  find(library.multi_info_read, "curl_multi_info_read");
  find(library.multi_cleanup, "curl_multi_cleanup");
  find(library.multi_strerror, "curl_multi_strerror");
  find(library.getdate, "curl_getdate");
  if (!missing.empty()) {
    return Status::Unavailable(fmt::format("libcurl.so.4 has no {}: version 7.68 or newer is needed", missing));
  }
  if (const CURLcode code = library.global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK) {
    return Status::Unavailable(fmt::format("libcurl could not start: {}", library.easy_strerror(code)));
  }
  return library;
}

}  // namespace

Result<const CurlLibrary*> LoadCurl() {
  static const Result<CurlLibrary> library = Open();
  if (!library.ok()) return library.status();
  return &library.value();
}

}  // namespace hone
