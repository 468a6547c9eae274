// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// openai: and anthropic: against a local server that speaks both formats byte for byte and fails in every way that
// services are known to fail. Waits between attempts are recorded, not slept.
#include "tuner/model/http_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "tests/fakes/fake_model_server.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kKey[] = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz";

ModelRequest Request() {
  ModelRequest request;
  request.run = "r1";
  request.role = "coder";
  request.messages = {{"system", "You write kernels."}, {"user", "Make it fast, größer."}};
  request.temperature = 0.5;
  request.max_tokens = 4096;
  request.limit_seconds = 30;
  return request;
}

// A provider of one service in front of the server.
struct Rig {
  explicit Rig(const std::string& service) : kind(service) {
    options.environment = {std::string("TEST_KEY=") + kKey};
    options.key_variable = "TEST_KEY";
    options.base_url = server.Url();
    hooks.unix_now = [] { return 1792652400.0; };  // 2026-10-22 07:00:00 GMT
    hooks.sleep = [this](double seconds, std::stop_token stop) {
      waits.push_back(seconds);
      return !stop.stop_requested();
    };
    hooks.seed = 7;
  }

  std::string Says(const std::vector<std::string>& words) const {
    return kind == "openai" ? OpenAiSays(words) : AnthropicSays(words);
  }
  ModelProvider& provider() {
    if (!made) {
      made = MakeHttpProvider(kind == "openai" ? MakeOpenAiWire() : MakeAnthropicWire(), {"m-1", "", ""}, options, hooks)
                 .value();
    }
    return *made;
  }
  Result<ModelReply> Ask(std::stop_token stop = {}) {
    return provider().Complete(Request(), [this](const ModelProgress& p) { shown.push_back(p); }, stop);
  }

  std::string kind;
  FakeModelServer server;
  ProviderOptions options;
  HttpProviderHooks hooks;
  std::vector<double> waits;
  std::vector<ModelProgress> shown;
  std::unique_ptr<ModelProvider> made;
};

class BothServices : public testing::TestWithParam<const char*> {
 protected:
  Rig rig{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(, BothServices, testing::Values("openai", "anthropic"),
                         [](const auto& service) { return std::string(service.param); });

TEST_P(BothServices, AnswerIsReadWithItsCounts) {
  rig.server.Answer(Stream(rig.Says({"IDEA: ", "wider ", "loads"})));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "IDEA: wider loads");
  EXPECT_EQ(reply.finish, FinishReason::kStop);
  EXPECT_EQ(reply.usage.input, 1000);
  EXPECT_EQ(reply.usage.output, 200);
  EXPECT_FALSE(reply.usage.estimated);
  EXPECT_EQ(reply.provider, rig.kind);
  EXPECT_THAT(reply.model, HasSubstr("-test-1"));
  EXPECT_FALSE(reply.cost_known) << "no price is known for a model at another address";
  EXPECT_TRUE(reply.notes.empty());
}

}  // namespace
}  // namespace hone
