// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/role_provider.h"

#include <fmt/format.h>

namespace hone {
namespace {

class RoleProvider : public ModelProvider {
 public:
  RoleProvider(std::map<std::string, std::unique_ptr<ModelProvider>> by_role, std::unique_ptr<ModelProvider> fallback)
      : by_role_(std::move(by_role)), fallback_(std::move(fallback)) {}

  // Returns "coder=openai, planner=anthropic, others=builtin". A reply's own `provider` names the one that answered.
  std::string Name() const override {
    std::string name;
    for (const auto& [role, provider] : by_role_) {
      name += fmt::format("{}{}={}", name.empty() ? "" : ", ", role, provider->Name());
    }
    if (fallback_) name += fmt::format("{}others={}", name.empty() ? "" : ", ", fallback_->Name());
    return name;
  }

  Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink& progress,
                              std::stop_token stop) override {
    const auto found = by_role_.find(request.role);
    ModelProvider* provider = found != by_role_.end() ? found->second.get() : fallback_.get();
    if (provider == nullptr) {
      return Status::InvalidArgument(fmt::format(
          "no model answers for the role '{0}': add --model {0}=MODEL, or --model MODEL for the rest", request.role));
    }
    return provider->Complete(request, progress, std::move(stop));
  }

  void Leave(const std::string& run, const std::string& last_word) override {
    for (const auto& [role, provider] : by_role_) provider->Leave(run, last_word);
    if (fallback_) fallback_->Leave(run, last_word);
  }
  std::string CostCaveat() const override {
    std::string caveat;
    const auto add = [&](const std::string& role, const ModelProvider& provider) {
      const std::string one = provider.CostCaveat();
      if (!one.empty()) caveat += fmt::format("{}{}: {}", caveat.empty() ? "" : "; ", role, one);
    };
    for (const auto& [role, provider] : by_role_) add(role, *provider);
    if (fallback_) add("others", *fallback_);
    return caveat;
  }
  bool PricesReplies() const override {
    for (const auto& [role, provider] : by_role_) {
      if (!provider->PricesReplies()) return false;
    }
    return !fallback_ || fallback_->PricesReplies();
  }

 private:
  const std::map<std::string, std::unique_ptr<ModelProvider>> by_role_;
  const std::unique_ptr<ModelProvider> fallback_;
};

}  // namespace

std::unique_ptr<ModelProvider> MakeRoleProvider(std::map<std::string, std::unique_ptr<ModelProvider>> by_role,
                                                std::unique_ptr<ModelProvider> fallback) {
  return std::make_unique<RoleProvider>(std::move(by_role), std::move(fallback));
}

}  // namespace hone
