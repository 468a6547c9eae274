// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/prompt.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tuner/store/device_facts.h"

extern "C" {
extern const unsigned char hone_prompt_refine_coder[];
extern const unsigned long hone_prompt_refine_coder_size;
}

namespace hone {
namespace {

std::string DimsText(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string DeviceText(const DeviceFacts& f) {
  std::string text = fmt::format(
      "{}, compute capability {}.{}, {} multiprocessors, {:.0f} MiB L2, up to {} KiB shared "
      "memory a block, {:.2f} TB/s memory, {:.0f} TFLOP/s in float32.",
      f.name, f.cc_major, f.cc_minor, f.sm_count, static_cast<double>(f.l2_bytes) / 1048576, f.smem_optin / 1024,
      f.memory_bandwidth / 1e12, f.fp32_flops / 1e12);
  if (f.modelled) text += " It is simulated: times are modelled, never measured.";
  return text;
}

std::string LedgerText(const RunView& view) {
  std::string text;
  for (const LedgerEntry& entry : view.ledger) {
    text += fmt::format("- {}: {}\n", entry.idea, entry.outcome);
    const RunNode& node = view.node(entry.node);
    if (!node.detail.empty())
      text += fmt::format("  ({})\n", node.detail);
    else if (node.evaluation && node.evaluation->verdict != Verdict::kOk) {
      text += fmt::format("  ({})\n", node.evaluation->detail.substr(0, 600));
    }
  }
  return text.empty() ? "Nothing yet." : text;
}

std::string TimesText(const RunNode& node) {
  if (!node.evaluation) return ":";
  std::string text = ":\n\n";
  bool any = false;
  for (const CaseResult& c : node.evaluation->cases) {
    if (!c.time_us) continue;
    any = true;
    text += fmt::format("- {}: {:.2f} us", DimsText(c.dims), c.time_us->median);
    if (c.floor_us) text += fmt::format(", the floor (moving the same bytes) is {:.2f} us", *c.floor_us);
    text += "\n";
  }
  return any ? text : ":";
}

std::string FindingsText(const RunNode& node) {
  if (!node.evaluation) return "";
  std::string text;
  for (const KernelResources& r : node.evaluation->resources) {
    if (r.registers >= 0) {
      text +=
          fmt::format("- {}: {} registers, {} bytes spilled, {} bytes of static shared memory, occupancy {:.0f} %\n",
                      r.kernel, r.registers, r.spill_bytes, r.static_shared_bytes, 100 * r.occupancy);
    }
  }
  for (const Finding& f : node.evaluation->findings)
    text += fmt::format("- {}: {} {}\n", f.kind, f.message, f.location);
  return text.empty() ? "" : "What the compiler and the device say of it:\n\n" + text + "\n";
}

}  // namespace

Result<std::string> FillTemplate(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out;
  while (true) {
    const size_t open = text.find("{{");
    if (open == std::string_view::npos) return out + std::string(text);
    const size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return Status::InvalidArgument("a prompt template has '{{' without '}}'");
    const std::string name(text.substr(open + 2, close - open - 2));
    const auto value = values.find(name);
    if (value == values.end())
      return Status::InvalidArgument(fmt::format("a prompt template asks for '{}', which does not exist", name));
    out += text.substr(0, open);
    out += value->second;
    text.remove_prefix(close + 2);
  }
}

Result<std::string_view> PromptTemplate(std::string_view role) {
  if (role == "coder") {
    return std::string_view(reinterpret_cast<const char*>(hone_prompt_refine_coder), hone_prompt_refine_coder_size);
  }
  return Status::InvalidArgument(fmt::format("there is no prompt for the role '{}'", role));
}

Result<ModelRequest> MakeRequest(const PromptInputs& inputs, const AskAction& ask, int64_t number) {
  const RunView& view = *inputs.view;
  const RunNode& parent = view.node(inputs.parent);
  HONE_ASSIGN_OR_RETURN(std::string_view text, PromptTemplate(ask.role));
  HONE_ASSIGN_OR_RETURN(std::string filled, FillTemplate(text, {{"device", inputs.facts->name},
                                                                {"device_facts", DeviceText(*inputs.facts)},
                                                                {"task_name", inputs.task->name},
                                                                {"task_summary", inputs.task->summary},
                                                                {"task_toml", inputs.task->toml},
                                                                {"ledger", LedgerText(view)},
                                                                {"best_times", TimesText(parent)},
                                                                {"parent", inputs.parent_source},
                                                                {"parent_findings", FindingsText(parent)}}));
  ModelRequest request;
  request.run = view.info.id;
  request.number = number;
  request.role = ask.role;
  request.temperature = ask.temperature;
  request.max_tokens = view.options.request_max_tokens;
  request.limit_seconds = view.options.request_limit_seconds;
  request.messages = {{"user", std::move(filled)}};
  std::string tried;
  for (const LedgerEntry& entry : view.ledger) tried += entry.key + "\n";
  request.attachments = {{"parent", inputs.parent_source},
                         {"task", inputs.task->toml},
                         {"tried", tried},
                         {"facts", DeviceFactsToJson(*inputs.facts).dump()}};
  return request;
}

}  // namespace hone
