// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// For tests: generates a key and a self-signed certificate.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <string>

namespace hone {

// Writes FOLDER/NAME.key and FOLDER/NAME.crt; valid for an hour and for `subject`, such as "IP:127.0.0.1" or
// "DNS:gpu.example".
inline bool WriteTestCertificate(const std::string& folder, const std::string& name, const std::string& subject) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_NAME* who = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(who, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("hone test"), -1, -1, 0);
  X509_set_issuer_name(certificate, who);
  X509_set_pubkey(certificate, key);
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  for (const auto& [kind, value] :
       {std::pair<int, std::string>{NID_basic_constraints, "critical,CA:TRUE"}, {NID_subject_alt_name, subject}}) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  bool done = X509_sign(certificate, key, EVP_sha256()) > 0;
  if (FILE* file = std::fopen((folder + "/" + name + ".key").c_str(), "w")) {
    done = done && PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr) == 1;
    done = std::fclose(file) == 0 && done;
  }
  if (FILE* file = std::fopen((folder + "/" + name + ".crt").c_str(), "w")) {
    done = done && PEM_write_X509(file, certificate) == 1;
    done = std::fclose(file) == 0 && done;
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  return done;
}

}  // namespace hone
