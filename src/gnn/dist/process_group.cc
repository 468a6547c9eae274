// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/process_group.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "gnn/dist/socket.h"
#include "gnn/dist/tcp_communicator.h"

namespace hone::gnn {
namespace {

constexpr double kReasonSeconds = 2;   // time for the store to report why a connection broke
constexpr double kAddressSeconds = 3;  // time for one of several addresses of a rank to answer
constexpr double kLinkSeconds = 30;

// The greeting that both ends of a new connection between ranks send.
struct LinkGreeting {
  char token[32] = {};
  int32_t rank = 0;
};

// Returns the token by which the run's ranks recognise one another.
std::string RandomToken() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) std::memset(bytes, 7, sizeof(bytes));
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

LinkGreeting MakeGreeting(const std::string& token, int rank) {
  LinkGreeting greeting;
  std::memcpy(greeting.token, token.data(), std::min(token.size(), sizeof(greeting.token)));
  greeting.rank = rank;
  return greeting;
}

bool SameToken(const LinkGreeting& greeting, const std::string& token) {
  return std::memcmp(greeting.token, MakeGreeting(token, 0).token, sizeof(greeting.token)) == 0;
}

}  // namespace

Result<std::unique_ptr<ProcessGroup>> ProcessGroup::Join(GroupOptions options) {
  std::unique_ptr<ProcessGroup> group(new ProcessGroup(std::move(options)));
  if (group->size() == 1) {
    group->communicator_ = MakeSoloCommunicator();
    return group;
  }
  if (const Status status = group->Connect(); !status.ok()) {
    if (group->client_) group->Fail(status);
    return status;
  }
  return group;
}

// The members' order lets the client leave before the server waits for all ranks to leave.
ProcessGroup::~ProcessGroup() = default;

Status ProcessGroup::Connect() {
  const RankPlace& place = options_.place;
  const double interval = std::min(1.0, options_.heartbeat_timeout / 4);
  StoreClientOptions client{.host = place.master_address,
                            .ports = place.ports,
                            .job = place.job,
                            .rank = place.rank,
                            .size = place.size,
                            .join_seconds = options_.join_seconds,
                            .heartbeat_timeout = options_.heartbeat_timeout,
                            .heartbeat_interval = interval,
                            .on_loss = [this](const Status& why) { Abort(why); },
                            .check =
                                [this] {
                                  std::shared_ptr<WatchedDevice> device;
                                  {
                                    const std::lock_guard lock(mutex_);
                                    device = device_;
                                  }
                                  return device ? device->Poll() : Status::Ok();
                                },
                            .grace_seconds = options_.grace_seconds,
                            .give_up = options_.give_up};
  if (place.rank == 0) {
    UniqueFd listener(place.listener);
    Status problem;
    for (size_t i = 0; i < place.ports.size() && !listener.valid(); ++i) {
      Result<UniqueFd> listening_socket = ListenOn(IsLoopback(place.master_address) ? "127.0.0.1" : "", place.ports[i]);
      if (listening_socket.ok())
        listener = std::move(*listening_socket);
      else
        problem = listening_socket.status();
    }
    if (!listener.valid()) return problem;
    PrepareSocket(listener.get());
    client.host = "127.0.0.1";
    client.ports = {BoundPort(listener.get())};
    server_ = std::make_unique<StoreServer>(StoreServerOptions{.listener = std::move(listener),
                                                               .job = place.job,
                                                               .size = place.size,
                                                               .join_seconds = options_.join_seconds,
                                                               .heartbeat_timeout = options_.heartbeat_timeout,
                                                               .heartbeat_interval = interval});
  }
  HONE_ASSIGN_OR_RETURN(client_, StoreClient::Join(std::move(client)));
  const std::vector<std::string>& hosts = client_->hosts();
  ranks_here_ = static_cast<int>(std::count(hosts.begin(), hosts.end(), hosts[static_cast<size_t>(place.rank)]));

  if (place.rank == 0) HONE_RETURN_IF_ERROR(client_->Set("token", RandomToken()));
  HONE_ASSIGN_OR_RETURN(const std::string token, client_->Get("token", kLinkSeconds));
  // Other ranks reach this one at the address it reached the store with, else at any other it has.
  const bool one_host = IsLoopback(place.master_address);
  HONE_ASSIGN_OR_RETURN(const UniqueFd listener, ListenOn(one_host ? "127.0.0.1" : "", 0));
  std::vector<std::string> own;
  if (!one_host) {
    if (place.rank == 0) own.push_back(place.master_address);
    if (!IsLoopback(client_->own_address())) own.push_back(client_->own_address());
    for (std::string& address : InterfaceAddresses()) own.push_back(std::move(address));
  }
  // Ranks on the same host can use this address. On another host it leads to a stranger, which does not know the token.
  own.push_back("127.0.0.1");
  std::string addresses = std::to_string(BoundPort(listener.get()));
  for (const std::string& address : own) addresses += " " + address;
  HONE_RETURN_IF_ERROR(client_->Set(fmt::format("address/{}", place.rank), addresses));
  return Link(token, listener.get());
}

// Connects to the lower ranks and accepts the higher ones, so that no ranks wait in a circle.
Status ProcessGroup::Link(const std::string& token, int listener) {
  const RankPlace& place = options_.place;
  TcpCommunicatorOptions communicator_options{.rank = place.rank, .timeout_seconds = options_.operation_seconds};
  communicator_options.links.resize(static_cast<size_t>(place.size));
  for (int r = 0; r < place.size; ++r)
    communicator_options.names.push_back(RankName(r, client_->hosts()[static_cast<size_t>(r)]));
  const double deadline = SteadySeconds() + kLinkSeconds + 0.2 * place.size;
  const LinkGreeting own_greeting = MakeGreeting(token, place.rank);

  for (int r = 0; r < place.rank; ++r) {
    HONE_ASSIGN_OR_RETURN(const std::string addresses, client_->Get(fmt::format("address/{}", r), kLinkSeconds));
    std::istringstream address_stream(addresses);
    int port = 0;
    address_stream >> port;
    Status problem = Status::Unavailable("it has no address");
    UniqueFd& link = communicator_options.links[static_cast<size_t>(r)];
    for (std::string address; !link.valid() && address_stream >> address;) {
      Result<UniqueFd> fd = ConnectTo(address, port, kAddressSeconds);
      problem = fd.status();
      if (!fd.ok()) continue;
      LinkGreeting peer_greeting;
      problem = SendAll(fd->get(), &own_greeting, sizeof(own_greeting), deadline);
      // The other rank may still be connecting to others, so its answer may take the whole time.
      if (problem.ok()) problem = ReceiveAll(fd->get(), &peer_greeting, sizeof(peer_greeting), deadline);
      if (!problem.ok()) continue;
      if (peer_greeting.rank != r || !SameToken(peer_greeting, token)) {
        problem = Status::Unavailable(fmt::format("what listens at {} port {} is not that rank", address, port));
        continue;
      }
      link = std::move(*fd);
    }
    if (!link.valid()) {
      return Status::Unavailable(fmt::format("{} cannot reach {}: {}",
                                             communicator_options.names[static_cast<size_t>(place.rank)],
                                             communicator_options.names[static_cast<size_t>(r)], problem.message()));
    }
  }
  for (int missing = place.size - 1 - place.rank; missing > 0;) {
    HONE_RETURN_IF_ERROR(client_->WaitForLoss(0));
    if (SteadySeconds() > deadline) {
      return Status::TimedOut(fmt::format("{} was not called by {} other rank(s) within {:.3g} s",
                                          communicator_options.names[static_cast<size_t>(place.rank)], missing,
                                          kLinkSeconds));
    }
    pollfd item{listener, POLLIN, 0};
    poll(&item, 1, 100);
    UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd.valid()) continue;
    PrepareSocket(fd.get());
    LinkGreeting peer_greeting;
    if (!ReceiveAll(fd.get(), &peer_greeting, sizeof(peer_greeting), SteadySeconds() + kAddressSeconds).ok()) continue;
    if (!SameToken(peer_greeting, token) || peer_greeting.rank <= place.rank || peer_greeting.rank >= place.size)
      continue;  // a stranger
    if (!SendAll(fd.get(), &own_greeting, sizeof(own_greeting), deadline).ok()) continue;
    UniqueFd& link = communicator_options.links[static_cast<size_t>(peer_greeting.rank)];
    if (!link.valid()) --missing;
    link = std::move(fd);
  }
  communicator_options.reason = [client = client_.get()](const Status& transport_error) {
    const Status loss_status = client->WaitForLoss(kReasonSeconds);
    if (!loss_status.ok()) return loss_status;
    client->Fail(transport_error);
    return transport_error;
  };
  const std::lock_guard lock(mutex_);
  communicator_ = MakeTcpCommunicator(std::move(communicator_options));
  if (!loss_.ok()) communicator_->Abort(loss_);
  return Status::Ok();
}

void ProcessGroup::Abort(const Status& why) {
  std::shared_ptr<WatchedDevice> device;
  {
    const std::lock_guard lock(mutex_);
    loss_ = why;
    if (communicator_) communicator_->Abort(why);
    device = device_;
  }
  // Aborting a device may take long, or forever; the watchdog must not wait for it.
  if (device) std::thread([device] { device->Abort(); }).detach();
}

Status ProcessGroup::loss() {
  const std::lock_guard lock(mutex_);
  return loss_;
}

void ProcessGroup::Watch(std::shared_ptr<WatchedDevice> device) {
  bool late = false;
  {
    const std::lock_guard lock(mutex_);
    device_ = std::move(device);
    late = !loss_.ok();
  }
  if (late) Abort(loss());
}

void ProcessGroup::Fail(const Status& why) {
  if (client_) client_->Fail(why);
}

Status ProcessGroup::Leave() {
  HONE_RETURN_IF_ERROR(communicator_->Barrier("the end of the run"));
  if (client_) client_->Leave();
  return Status::Ok();
}

}  // namespace hone::gnn
