// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens libcurl at run time: `hone` starts without it, and reports its absence when a model needs it.
//
// The functions are libcurl's own; see its manual. Only http_client.cc and retry.cc use them.
#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "hone/base/status.h"

// The header's macros would conflict with members of the same name.
#undef curl_easy_setopt
#undef curl_easy_getinfo

namespace hone {

struct CurlLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_strerror) multi_strerror;
  decltype(&::curl_getdate) getdate;
};

// Opens libcurl once and keeps it for the life of the process; any thread. kUnavailable names the package to install.
Result<const CurlLibrary*> LoadCurl();

}  // namespace hone
