// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/profile_json.h"

namespace hone {
namespace {

using ordered = nlohmann::ordered_json;

ordered Number(double value) { return ordered(NumberToJson(value)); }

// A map is an object even when it is empty.
template <typename T>
ordered Object(const std::map<std::string, T>& map) {
  ordered object = ordered::object();
  for (const auto& [name, value] : map) {
    if constexpr (std::is_same_v<T, double>) {
      object[name] = Number(value);
    } else {
      object[name] = value;
    }
  }
  return object;
}

ordered KernelToJson(const KernelProfile& kernel) {
  ordered object = {{"kernel", kernel.kernel},
                    {"duration_us", Number(kernel.duration_us)},
                    {"blocks", kernel.blocks},
                    {"threads_per_block", kernel.threads_per_block},
                    {"shared_bytes", kernel.shared_bytes}};
  object["values"] = Object(kernel.values);
  object["sites"] = ordered::array();
  for (const MemorySite& site : kernel.sites) {
    object["sites"].push_back(ordered{{"location", site.location},
                                      {"space", site.space},
                                      {"operation", site.operation},
                                      {"bytes", site.bytes},
                                      {"requests", Number(site.requests)},
                                      {"transfers_per_request", Number(site.transfers_per_request)},
                                      {"ideal_transfers", Number(site.ideal_transfers)},
                                      {"share", Number(site.share)}});
  }
  return object;
}

void ReadKernel(JsonFields& fields, KernelProfile& kernel) {
  fields.Read("kernel", kernel.kernel);
  fields.Read("duration_us", kernel.duration_us);
  fields.Read("blocks", kernel.blocks);
  fields.Read("threads_per_block", kernel.threads_per_block);
  fields.Read("shared_bytes", kernel.shared_bytes);
  fields.Read("values", kernel.values);
  fields.Objects("sites", [&](JsonFields& one) {
    MemorySite& site = kernel.sites.emplace_back();
    one.Read("location", site.location);
    one.Read("space", site.space);
    one.Read("operation", site.operation);
    one.Read("bytes", site.bytes);
    one.Read("requests", site.requests);
    one.Read("transfers_per_request", site.transfers_per_request);
    one.Read("ideal_transfers", site.ideal_transfers);
    one.Read("share", site.share);
  });
}

}  // namespace

ordered ProfileToJson(const Profile& profile) {
  ordered object = {{"source", profile.source}, {"modelled", profile.modelled}, {"note", profile.note}};
  object["findings"] = ordered::array();
  for (const ProfileFinding& f : profile.findings) {
    ordered finding = {{"kind", f.kind},     {"message", f.message},   {"evidence", f.evidence},
                       {"kernel", f.kernel}, {"location", f.location}, {"gain", Number(f.gain)}};
    finding["dims"] = Object(f.dims);
    object["findings"].push_back(std::move(finding));
  }
  object["cases"] = ordered::array();
  for (const CaseProfile& c : profile.cases) {
    ordered one = {{"dims", Object(c.dims)}, {"kernels", ordered::array()}};
    for (const KernelProfile& kernel : c.kernels) one["kernels"].push_back(KernelToJson(kernel));
    object["cases"].push_back(std::move(one));
  }
  if (!profile.sass.empty()) object["sass"] = ordered::array();
  for (const SassLine& line : profile.sass) {
    object["sass"].push_back(ordered{{"kernel", line.kernel},
                                     {"location", line.location},
                                     {"source", line.source},
                                     {"instructions", line.instructions},
                                     {"opcodes", Object(line.opcodes)}});
  }
  return object;
}

void ReadProfile(JsonFields& fields, Profile& profile) {
  fields.Read("source", profile.source);
  fields.Read("modelled", profile.modelled);
  fields.Read("note", profile.note);
  fields.Objects("findings", [&](JsonFields& one) {
    ProfileFinding& finding = profile.findings.emplace_back();
    one.Read("kind", finding.kind);
    one.Read("message", finding.message);
    one.Read("evidence", finding.evidence);
    one.Read("kernel", finding.kernel);
    one.Read("location", finding.location);
    one.Read("gain", finding.gain);
    one.Read("dims", finding.dims);
  });
  fields.Objects("cases", [&](JsonFields& one) {
    CaseProfile& c = profile.cases.emplace_back();
    one.Read("dims", c.dims);
    one.Objects("kernels", [&](JsonFields& kernel) { ReadKernel(kernel, c.kernels.emplace_back()); });
  });
  fields.Objects("sass", [&](JsonFields& one) {
    SassLine& line = profile.sass.emplace_back();
    one.Read("kernel", line.kernel);
    one.Read("location", line.location);
    one.Read("source", line.source);
    one.Read("instructions", line.instructions);
    one.Read("opcodes", line.opcodes);
  });
}

}  // namespace hone
