// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This is the file format of one cached module: "HONEMOD2", SHA-256 of the rest in hexadecimal, then CBOR. Texts that
// may hold any bytes are CBOR byte strings.
#include <nlohmann/json.hpp>

#include "base/numbers/hash.h"
#include "base/text/json_text.h"
#include "tuner/evaluate/compile/compile_cache.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr std::string_view kMagic = "HONEMOD2";
constexpr size_t kHashDigits = 64;  // of a SHA-256 in hexadecimal

json Bytes(const std::string& text) { return json::binary(std::vector<uint8_t>(text.begin(), text.end())); }
std::string BytesAsText(const json& bytes) {
  const auto& binary = bytes.get_binary();
  return std::string(binary.begin(), binary.end());
}

}  // namespace

std::string EncodeModule(const CompiledModule& module) {
  json resources = json::array(), globals = json::array(), lowered = json::array();
  for (const KernelResources& kernel : module.resources) {
    resources.push_back({Bytes(kernel.kernel), kernel.registers, kernel.spill_bytes, kernel.static_shared_bytes});
  }
  for (const DeviceGlobal& global : module.globals) {
    globals.push_back({Bytes(global.symbol), global.bytes, global.writable, global.reachable});
  }
  for (const auto& [expression, symbol] : module.lowered) lowered.push_back({Bytes(expression), Bytes(symbol)});
  const json value = {{"verdict", VerdictName(module.verdict)}, {"digest", Bytes(module.digest)},
                      {"log", Bytes(module.log)},               {"image", Bytes(module.image)},
                      {"lowered", lowered},                     {"resources", resources},
                      {"globals", globals},                     {"labels", module.labels},
                      {"pch_used", module.pch_used}};
  const std::string body = JsonToCbor(value);
  return std::string(kMagic) + Sha256Hex(body) + body;
}

// Decodes a module that EncodeModule wrote; kInvalidArgument if a bit of it has changed.
Result<CompiledModule> DecodeModule(std::string_view bytes) {
  const Status damaged = Status::InvalidArgument("a cached module is damaged");
  if (bytes.size() < kMagic.size() + kHashDigits || bytes.substr(0, kMagic.size()) != kMagic) return damaged;
  const std::string_view body = bytes.substr(kMagic.size() + kHashDigits);
  if (bytes.substr(kMagic.size(), kHashDigits) != Sha256Hex(body)) return damaged;
  const Result<json> parsed = JsonFromCbor(body, "a cached module");
  if (!parsed.ok()) return damaged;
  const json& value = *parsed;
  try {
    CompiledModule module;
    const std::optional<Verdict> verdict = VerdictFromName(value.at("verdict").get<std::string>());
    if (!verdict) return damaged;
    module.verdict = *verdict;
    module.digest = BytesAsText(value.at("digest"));
    module.log = BytesAsText(value.at("log"));
    module.image = BytesAsText(value.at("image"));
    for (const json& pair : value.at("lowered")) module.lowered[BytesAsText(pair.at(0))] = BytesAsText(pair.at(1));
    for (const json& kernel : value.at("resources")) {
      KernelResources resources;
      resources.kernel = BytesAsText(kernel.at(0));
      resources.registers = kernel.at(1);
      resources.spill_bytes = kernel.at(2);
      resources.static_shared_bytes = kernel.at(3);
      module.resources.push_back(std::move(resources));
    }
    for (const json& global : value.at("globals")) {
      module.globals.push_back({BytesAsText(global.at(0)), global.at(1), global.at(2), global.at(3)});
    }
    module.labels = value.at("labels").get<std::vector<std::string>>();
    module.pch_used = value.at("pch_used");
    return module;
  } catch (const json::exception&) {
    return damaged;
  }
}

}  // namespace hone
