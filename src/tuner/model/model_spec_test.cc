// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests what needs no network: --model, roles, prices, delays, and secrets.
#include "tuner/model/model_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "hone/tuner/model_provider.h"
#include "tuner/model/curl_library.h"
#include "tuner/model/prices.h"
#include "tuner/model/redact.h"
#include "tuner/model/retry.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Returns the message with which a specification is refused.
std::string Refusal(const std::string& specification, const ProviderOptions& options = {}) {
  const Result<std::unique_ptr<ModelProvider>> provider_or_error = MakeProvider(specification, options);
  EXPECT_FALSE(provider_or_error.ok()) << specification;
  if (provider_or_error.ok()) return "";
  EXPECT_EQ(provider_or_error.status().code(), StatusCode::kInvalidArgument) << specification;
  return provider_or_error.status().message();
}

TEST(ModelSpec, AnUnknownProviderIsAnsweredWithTheNearestAndTheList) {
  EXPECT_THAT(Refusal("openia:gpt"),
              AllOf(HasSubstr("'openia'"), HasSubstr("did you mean 'openai'?"), HasSubstr("anthropic:NAME"),
                    HasSubstr("exec:COMMAND"), HasSubstr("builtin")));
  EXPECT_THAT(Refusal("gpt-5"), AllOf(HasSubstr("no model provider 'gpt-5'"), HasSubstr("openai:NAME")));
  EXPECT_THAT(Refusal(""), HasSubstr("there are builtin"));
  EXPECT_THAT(Refusal("openai:"), HasSubstr("openai:NAME"));
  EXPECT_THAT(Refusal("openai:@http://h/v1"), HasSubstr("names no model"));
}

TEST(ModelSpec, TakesAModelApart) {
  const ModelSpec spec = ParseModelSpec("planner=exec:FOO=1 tool --x", {"planner"}).value();
  EXPECT_EQ(spec.role, "planner");
  EXPECT_EQ(spec.kind, "exec");
  EXPECT_EQ(spec.argument, "FOO=1 tool --x");
  EXPECT_EQ(ParseModelSpec("exec:A=B", {}).value().role, "");
  const ServiceModel model = ParseServiceModel("openai", "org/m@2025@https://h:8/v1/#MY_KEY").value();
  EXPECT_EQ(model.name, "org/m@2025");
  EXPECT_EQ(model.base_url, "https://h:8/v1");
  EXPECT_EQ(model.key_variable, "MY_KEY");
  EXPECT_FALSE(ParseServiceModel("openai", "m@https://h/v1#not a name").ok());
}

TEST(ModelSpec, BaseUrlsAsPeopleWriteThem) {
  const auto base = [](const char* url, const char* kind = "openai") { return NormalizeBaseUrl(url, kind).value(); };
  EXPECT_EQ(base("http://localhost:8000"), "http://localhost:8000/v1");
  EXPECT_EQ(base("http://localhost:8000/"), "http://localhost:8000/v1");
  EXPECT_EQ(base("https://h/api/v1/"), "https://h/api/v1");
  EXPECT_EQ(base("https://h/v1/chat/completions"), "https://h/v1");
  EXPECT_EQ(base("https://h", "anthropic"), "https://h");
  EXPECT_EQ(base("https://h/v1/messages", "anthropic"), "https://h/v1");
  for (const char* wrong : {"localhost:8000", "ftp://h/", "http://", "http:///v1", "http://h/a b", "http://h/?x=1"}) {
    const Status status = NormalizeBaseUrl(wrong, "openai").status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(status.message(), HasSubstr("http://HOST:PORT/v1"));
  }
  EXPECT_THAT(NormalizeBaseUrl("https://me:hunter22@h/v1", "openai").status().message(),
              AllOf(HasSubstr("--key-env"), Not(HasSubstr("hunter22"))));
  EXPECT_EQ(HostOf("http://[::1]:80/v1"), "[::1]");
  EXPECT_TRUE(IsLoopback("127.0.0.1") && IsLoopback("localhost") && IsLoopback("[::1]"));
  EXPECT_FALSE(IsLoopback("128.0.0.1") || IsLoopback("localhost.example"));
}

TEST(ModelSpec, ARoleMustExistAndHaveOneModel) {
  EXPECT_THAT(Refusal("planer=builtin\nbuiltin"), AllOf(HasSubstr("no role 'planer'"), HasSubstr("'planner'")));
  EXPECT_THAT(Refusal("coder=builtin\ncoder=builtin\nbuiltin"), HasSubstr("two models for the role 'coder'"));
  EXPECT_THAT(Refusal("builtin\nexec:cat"), AllOf(HasSubstr("two models for every role"), HasSubstr("coder=exec:cat")));
  EXPECT_THAT(Refusal("coder=builtin"),
              AllOf(HasSubstr("planner, debugger, tester, analyst"), HasSubstr("--model MODEL")));
  EXPECT_THAT(Refusal("coder=openai:m\nbuiltin"),
              AllOf(HasSubstr("role coder:"), HasSubstr("OPENAI_API_KEY is not set")));
}

TEST(ModelSpec, OneFlagIsNotMeantForTwoServices) {
  ProviderOptions options;
  options.base_url = "http://h/v1";
  EXPECT_THAT(Refusal("coder=openai:a\nanthropic:b", options), AllOf(HasSubstr("--base-url"), HasSubstr("NAME@URL")));
  options.base_url = "";
  options.key_variable = "MY_KEY";
  EXPECT_THAT(Refusal("coder=openai:a\nanthropic:b", options), HasSubstr("--key-env"));
}

TEST(RoleProvider, EachRoleAsksItsOwnModel) {
  ProviderOptions options;
  options.environment = {"PATH=/usr/bin:/bin"};
  std::unique_ptr<ModelProvider> provider =
      MakeProvider("planner=exec:echo plan\ncoder=exec:echo code\n\nexec:echo rest", options).value();
  EXPECT_EQ(provider->Name(), "coder=exec, planner=exec, others=exec");
  EXPECT_THAT(provider->CostCaveat(), AllOf(HasSubstr("planner: a command"), HasSubstr("others: a command")));
  const auto ask = [&](const char* role) {
    ModelRequest request;
    request.role = role;
    return provider->Complete(request, {}, {}).value().text;
  };
  EXPECT_EQ(ask("planner"), "plan\n");
  EXPECT_EQ(ask("coder"), "code\n");
  EXPECT_EQ(ask("debugger"), "rest\n");
}

// --- prices ---

// Returns the message with which a table of prices is refused.
std::string PriceError(const std::string& toml) {
  const Status status = PriceTable::Parse(toml, "p.toml").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << toml;
  return status.message();
}

TEST(Prices, ATypoIsNamedWithFileLineFieldAndRemedy) {
  const std::string head = "as_of = \"2026-01-02\"\n[[price]]\nmodel = \"openai:m\"\ninput = 1\n";
  EXPECT_THAT(PriceError(head + "ouput = 2\n"), AllOf(HasSubstr("p.toml:"), HasSubstr("output")));
  EXPECT_THAT(PriceError(head + "output = 2\ncahced_input = 1\n"),
              AllOf(HasSubstr("p.toml:6:"), HasSubstr("cahced_input"), HasSubstr("did you mean 'cached_input'")));
  EXPECT_THAT(PriceError(head + "output = \"2\"\n"), AllOf(HasSubstr("p.toml:5:"), HasSubstr("output")));
  EXPECT_THAT(PriceError(head + "output = -2\n"), AllOf(HasSubstr("p.toml:5:"), HasSubstr("zero or more")));
  EXPECT_THAT(PriceError(head + "output = 2\nup_to_input = 0\n"), HasSubstr("longest prompt"));
  EXPECT_THAT(PriceError(head + "output = 2\n" + head.substr(head.find("[[")) + "output = 1\n"),
              HasSubstr("has a price already"));
  EXPECT_THAT(PriceError("as_of = \"2026-01-02\"\n[[price]]\nmodel = \"gpt-5\"\ninput = 1\noutput = 1\n"),
              AllOf(HasSubstr("p.toml:3:"), HasSubstr("openai:NAME")));
  EXPECT_THAT(PriceError("as_of = \"soon\"\n"), AllOf(HasSubstr("p.toml:1:"), HasSubstr("as_of")));
  EXPECT_THAT(PriceError("[[price]]\n"), HasSubstr("as_of"));
  EXPECT_THAT(PriceError("as_of = \"2026-01-02\"\n[[prices]]\n"), AllOf(HasSubstr("p.toml:2"), HasSubstr("price")));
  EXPECT_THAT(PriceError("as_of = "), HasSubstr("p.toml:1"));
}

TEST(Prices, ANameIsFoundExactlyByItsDateAndByPattern) {
  const PriceTable table = PriceTable::Parse(R"(as_of = "2026-01-02"
[[price]]
model = "openai:gpt-5"
input = 1
output = 1
[[price]]
model = "openai:gpt-5-2025-08-07"
input = 2
output = 2
[[price]]
model = "openai:local-*"
input = 0
output = 0
)",
                                             "p")
                               .value();
  const auto input = [&](const char* model) {
    const Price* price = table.Find(model);
    return price == nullptr ? -1 : price->input;
  };
  EXPECT_EQ(input("openai:gpt-5"), 1);
  EXPECT_EQ(input("openai:gpt-5-2025-08-07"), 2);
  EXPECT_EQ(input("openai:gpt-5-2025-09-01"), 1);
  EXPECT_EQ(input("openai:gpt-5-20250901"), 1);
  EXPECT_EQ(input("openai:gpt-5-latest"), 1);
  EXPECT_EQ(input("openai:local-anything"), 0);
  EXPECT_EQ(input("openai:gpt-5-pro"), -1) << "a longer name is another model";
  EXPECT_EQ(input("openai:gpt-50"), -1);
  EXPECT_EQ(input("anthropic:gpt-5"), -1);
}

TEST(Prices, TheBuiltInTableIsRead) {
  const PriceTable& table = PriceTable::BuiltIn();
  EXPECT_GT(table.prices().size(), 20u);
  for (const Price& price : table.prices()) {
    EXPECT_LE(price.cached_input, price.input) << price.model;
    EXPECT_LT(price.input, price.output) << price.model;
  }
  EXPECT_EQ(CostUsd({"", 2, 10, 0.5}, 1000, 400, 200), 3400e-6);
}

// --- waits ---

TEST(Backoff, IsUniformBelowADoublingBound) {
  Rng rng(3);
  const BackoffOptions options{1, 10};
  for (const int failures : {1, 3, 10, 1000}) {
    const double bound = std::min(10.0, failures == 1 ? 1.0 : failures == 3 ? 4.0 : 10.0);
    double lowest = bound, highest = 0, sum = 0;
    for (int i = 0; i < 2000; ++i) {
      const double wait = BackoffSeconds(failures, options, rng);
      lowest = std::min(lowest, wait);
      highest = std::max(highest, wait);
      sum += wait;
    }
    EXPECT_LT(lowest, 0.02 * bound);
    EXPECT_LT(highest, bound);
    EXPECT_GT(highest, 0.98 * bound);
    EXPECT_NEAR(sum / 2000, bound / 2, 0.05 * bound);  // five standard errors: bound / sqrt(12 * 2000) each
  }
}

TEST(RetryAfter, ReadsSecondsAndDates) {
  const double now = 784111777;  // Sun, 06 Nov 1994 08:49:37 GMT, the HTTP standard's example
  EXPECT_EQ(ParseRetryAfter("7", now), 7.0);
  EXPECT_EQ(ParseRetryAfter(" 0.5 ", now), 0.5);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:49:47 GMT", now), 10.0);
  EXPECT_EQ(ParseRetryAfter("Sunday, 06-Nov-94 08:49:47 GMT", now), 10.0);
  EXPECT_EQ(ParseRetryAfter("Sun Nov  6 08:49:47 1994", now), 10.0);
  EXPECT_EQ(ParseRetryAfter("Sun, 06 Nov 1994 08:00:00 GMT", now), 0.0) << "past";
  for (const char* wrong : {"", "soon", "-3", "inf", "nan"})
    EXPECT_FALSE(ParseRetryAfter(wrong, now).has_value()) << wrong;
}

// --- secrets ---

TEST(Redactor, FindsPartsInMessagesAndWholesInTexts) {
  const Redactor redactor({"sk-abcdefghijklmnop", "short"});
  EXPECT_EQ(redactor.Message("key sk-abcdefghijklmnop!"), "key [redacted]!");
  EXPECT_EQ(redactor.Message("begins sk-abcde, ends ijklmnop."), "begins [redacted], ends [redacted].");
  EXPECT_EQ(redactor.Message("sk-abcd short"), "sk-abcd short");
  EXPECT_EQ(redactor.Text("a sk-abcdefghijklmnop sk-abcdefghijklmnop b"), "a [redacted] [redacted] b");
  EXPECT_THAT(SecretsOf({"A_KEY=one", "my_token=two", "PATH=/x", "DB_PASSWORD=three", "KEYS=no"}),
              testing::ElementsAre("one", "two", "three"));
}

// --- a machine without libcurl ---

TEST(Curl, IsThereOrSaidToBeMissing) {
  ProviderOptions options;
  options.environment = {"OPENAI_API_KEY=sk-0123456789"};
  std::unique_ptr<ModelProvider> provider = MakeProvider("openai:gpt-5", options).value();  // made without it
  if (LoadCurl().ok()) return;
  const Status status = provider->Complete({}, {}, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  std::cout << "told: " << status.message() << "\n";
}

TEST(Curl, ItsAbsenceIsToldWhenAModelNeedsIt) {
  // Runs the test above in a process that finds invalid files instead of libcurl.
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  for (const char* name : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    ASSERT_TRUE(WriteFileAtomically(directory / name, "no library").ok());
  }
  SubprocessOptions child;
  child.argv = {"/proc/self/exe", "--gtest_filter=Curl.IsThereOrSaidToBeMissing"};
  child.environment = {"LD_LIBRARY_PATH=" + directory.path()};
  child.limit_seconds = 60;
  const SubprocessResult result = RunSubprocess(child).value();
  EXPECT_TRUE(result.exit.success()) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("told: "), HasSubstr("install the package libcurl4"), HasSubstr("exec:")));
}

}  // namespace
}  // namespace hone
