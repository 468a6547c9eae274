// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/builtin/builtin_provider.h"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "tuner/core/task/torch_module.h"
#include "tuner/model/builtin/rewrite.h"

namespace hone {
namespace {

// Returns the lines of a text that are not empty.
std::set<std::string> LinesOf(const std::string& text) {
  std::set<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    if (end > at) lines.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

class BuiltinProvider : public ModelProvider {
 public:
  std::string Name() const override { return "builtin"; }

  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink&, std::stop_token) override {
    const auto attachment = [&](const char* name) {
      const auto found = request.attachments.find(name);
      return found == request.attachments.end() ? std::string() : found->second;
    };
    HONE_ASSIGN_OR_RETURN(Task task, ParseTask(attachment("task"), "task.toml"));
    Result<Candidate> parent = ParseCandidate(attachment("parent"), "parent.cu", task);
    // A run of a task without a seed starts from its PyTorch module, until another version is right.
    if (!parent.ok() && HasTorchModule(task) && attachment("parent").find("/*hone") == std::string::npos) {
      ModelReply none;
      none.provider = "builtin";
      none.text = "No rewrite applies: the run starts from a PyTorch module, and rewrites change kernels.\n";
      none.finish = FinishReason::kExhausted;
      return none;
    }
    if (!parent.ok()) return parent.status().WithContext("builtin: the parent is no candidate");
    HONE_ASSIGN_OR_RETURN(SourceView view, SourceView::Make(*parent, task));
    const std::set<std::string> tried_rewrites = LinesOf(attachment("tried"));
    // Attempts that are under way from the same parent have the rewrites that come first.
    int64_t siblings = std::strtoll(attachment("siblings").c_str(), nullptr, 10);

    ModelReply reply;
    reply.provider = "builtin";
    std::string refusals;
    for (const Rewrite& rewrite : AllRewrites()) {
      if (tried_rewrites.contains(std::string(rewrite.name))) continue;
      RewriteOutcome outcome = rewrite.apply(view);
      if (outcome.applied()) {
        // A product that does not parse is a bug of the rewrite, but no reason to end a run.
        if (Result<Candidate> product = ParseCandidate(outcome.source, "rewrite.cu", task); !product.ok()) {
          outcome = NotApplicable(fmt::format("its product does not parse ({})", product.status().message()));
        }
      }
      if (!outcome.applied()) {
        refusals += fmt::format("- {}: {}\n", rewrite.name, outcome.note);
        continue;
      }
      if (siblings-- > 0) continue;
      reply.text = fmt::format("IDEA: {}\n\n{}: {}.\n", rewrite.name, rewrite.summary, outcome.note);
      if (!refusals.empty()) reply.text += fmt::format("\nNot applicable here:\n{}", refusals);
      reply.text += fmt::format("\n```cuda\n{}{}```\n", outcome.source, outcome.source.ends_with('\n') ? "" : "\n");
      return reply;
    }
    reply.text = fmt::format("No rewrite is left.\n{}", refusals);
    reply.finish = FinishReason::kExhausted;
    return reply;
  }
};

}  // namespace

Result<std::unique_ptr<ModelProvider>> MakeBuiltinProvider() {
  return std::unique_ptr<ModelProvider>(std::make_unique<BuiltinProvider>());
}

}  // namespace hone
