// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/tls_channel.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace hone {
namespace {

constexpr int kPart = 1 << 16;  // bytes that are read or written at a time

struct Free {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

// Returns the text of OpenSSL's last error in this thread, and clears its errors.
std::string OpensslText() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "no reason was given" : reason;
}

// OpenSSL works on buffers in memory, and this class transfers their bytes over the socket, so that every write can use
// MSG_NOSIGNAL.
class OpensslChannel final : public TlsChannel {
 public:
  explicit OpensslChannel(int socket) : socket_(socket) {}

  Status Open(const std::string& host, const std::string& ca_file) {
    context_.reset(SSL_CTX_new(TLS_client_method()));
    if (context_ == nullptr) return Status::Unavailable("no TLS: " + OpensslText());
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    if (ca_file.empty()) {
      SSL_CTX_set_default_verify_paths(context_.get());
    } else if (SSL_CTX_load_verify_file(context_.get(), ca_file.c_str()) != 1) {
      return Status::InvalidArgument(
          fmt::format("ca_file {}: this is no file of certificates in PEM ({})", ca_file, OpensslText()));
    }
    ssl_.reset(SSL_new(context_.get()));
    BIO* in = BIO_new(BIO_s_mem());
    BIO* out = BIO_new(BIO_s_mem());
    if (ssl_ == nullptr || in == nullptr || out == nullptr) {
      BIO_free(in);
      BIO_free(out);
      return Status::Unavailable("no TLS: " + OpensslText());
    }
    BIO_set_mem_eof_return(in, -1);  // an empty buffer means that more data will come
    SSL_set_bio(ssl_.get(), in, out);
    in_addr v4;
    in6_addr v6;
    if (inet_pton(AF_INET, host.c_str(), &v4) == 1 || inet_pton(AF_INET6, host.c_str(), &v6) == 1) {
      X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_.get()), host.c_str());
    } else {
      SSL_set1_host(ssl_.get(), host.c_str());
      SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    }
    return Run([this] { return SSL_connect(ssl_.get()); }, "the TLS handshake");
  }

  Status Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const int part = static_cast<int>(std::min<size_t>(bytes.size(), kPart));
      HONE_RETURN_IF_ERROR(Run([&] { return SSL_write(ssl_.get(), bytes.data(), part); }, "a write"));
      bytes.remove_prefix(static_cast<size_t>(part));
    }
    return Status::Ok();
  }

  Result<std::string> Read() override {
    std::string part(kPart, '\0');
    int read_bytes = 0;
    HONE_RETURN_IF_ERROR(Run([&] { return read_bytes = SSL_read(ssl_.get(), part.data(), kPart); }, "a read"));
    part.resize(static_cast<size_t>(read_bytes));
    return part;
  }

 private:
  // Repeats `step`, a call of OpenSSL, until it succeeds, and transfers the bytes that it asks for.
  template <class Step>
  Status Run(const Step& step, const char* what) {
    while (true) {
      ERR_clear_error();
      const int done = step();
      const int error = done > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl_.get(), done);
      // OpenSSL's output is sent even after an error: it may be an alert that tells the server why the connection ends.
      const Status sent = Flush();
      if (error == SSL_ERROR_NONE) return sent;
      if (error == SSL_ERROR_WANT_WRITE) continue;
      if (error == SSL_ERROR_WANT_READ) {
        HONE_RETURN_IF_ERROR(sent);
        HONE_RETURN_IF_ERROR(Fill(what));
        continue;
      }
      if (error == SSL_ERROR_ZERO_RETURN) return Status::Unavailable("the server closed the connection");
      if (const long verified = SSL_get_verify_result(ssl_.get()); verified != X509_V_OK) {
        return Status::InvalidArgument(
            fmt::format("the server's certificate is not accepted: {}; ca_file=FILE in the address names the authority "
                        "that signed it",
                        X509_verify_cert_error_string(verified)));
      }
      return Status::InvalidArgument(
          fmt::format("{} failed: {}; does the server speak TLS on this port?", what, OpensslText()));
    }
  }

  // Sends what OpenSSL has encrypted.
  Status Flush() {
    char part[kPart];
    for (int read_bytes; (read_bytes = BIO_read(SSL_get_wbio(ssl_.get()), part, sizeof part)) > 0;) {
      for (ssize_t at = 0; at < read_bytes;) {
        const ssize_t sent = send(socket_, part + at, static_cast<size_t>(read_bytes - at), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return Status::Unavailable(std::strerror(errno));
        at += sent;
      }
    }
    return Status::Ok();
  }

  // Receives encrypted bytes and gives them to OpenSSL. `what`: what was being done, for errors.
  Status Fill(const char* what) {
    char part[kPart];
    ssize_t got;
    do got = recv(socket_, part, sizeof part, 0);
    while (got < 0 && errno == EINTR);
    if (got == 0) return Status::Unavailable(fmt::format("the server closed the connection during {}", what));
    if (got < 0)
      return Status::Unavailable(
          errno == EAGAIN ? fmt::format("{} was not answered in time; does the server speak TLS on this port?", what)
                          : std::strerror(errno));
    BIO_write(SSL_get_rbio(ssl_.get()), part, static_cast<int>(got));
    return Status::Ok();
  }

  const int socket_;
  std::unique_ptr<SSL_CTX, Free> context_;
  std::unique_ptr<SSL, Free> ssl_;
};

}  // namespace

Result<std::unique_ptr<TlsChannel>> TlsChannel::Connect(int socket, const std::string& host,
                                                        const std::string& ca_file) {
  auto channel = std::make_unique<OpensslChannel>(socket);
  HONE_RETURN_IF_ERROR(channel->Open(host, ca_file));
  return std::unique_ptr<TlsChannel>(std::move(channel));
}

}  // namespace hone
