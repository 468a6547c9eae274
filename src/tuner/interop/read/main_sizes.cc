// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads, for `hone new`, the sizes with which a file's own main() runs the kernels. Sizes that are constants become the
// timed case.
#include <fmt/format.h>

#include <algorithm>

#include "tuner/interop/draft/draft_words.h"
#include "tuner/interop/draft/task_drafter.h"
#include "tuner/interop/read/plan_expression.h"

namespace hone {
namespace {

// Returns the constant value of the expression `text` in the host function `function`; the error names the part that is
// not constant.
Result<int64_t> NumberIn(const CuSource& source, int function, const std::string& text) {
  const std::map<std::string, std::string> none;
  HONE_ASSIGN_OR_RETURN(const std::string value, PlanExpressions(source, function, none).Resolve(text));
  HONE_ASSIGN_OR_RETURN(const Expression expression, Expression::Parse(value));
  return expression.Evaluate(std::map<std::string, int64_t>{});
}

// A call of the launcher, or a launch of its kernel, in main().
struct Call {
  int line = 0;
  std::vector<std::pair<std::string, std::string>> passed;  // name of a size in the launcher, argument in main()
};

}  // namespace

// Reads the numbers with which `main` calls the launcher or its kernels; the largest call's become the default sizes.
void TaskDrafter::ReadMain() {
  if (Host() == nullptr || Host()->name == "main" || !timed_.empty()) return;
  const auto main =
      std::find_if(s_.functions.begin(), s_.functions.end(), [](const CuFunction& f) { return f.name == "main"; });
  if (main == s_.functions.end()) return;
  const int index = static_cast<int>(main - s_.functions.begin());
  const auto is_size = [&](const std::string& name) { return dims_.count(name) != 0 || lets_.count(name) != 0; };
  std::vector<Call> calls;
  // Collects main()'s calls of the launcher.
  for (int i = main->body_open + 1; i < main->body_close; ++i) {
    if (s_.token(i).text != Host()->name) continue;
    int open = i + 1;
    while (s_.TokenIs(i + 1, "<") && open < main->body_close && s_.token(open).text != "(") ++open;
    if (!s_.TokenIs(open, "(") || s_.token(open).match < 0) continue;
    const Token& last = s_.token(s_.token(open).match);
    const std::vector<std::string> arguments =
        SplitCommas(s_.text.substr(s_.token(open).end, last.begin - s_.token(open).end));
    Call call{1 + static_cast<int>(
                      std::count(s_.text.begin(), s_.text.begin() + static_cast<ptrdiff_t>(s_.token(i).begin), '\n')),
              {}};
    for (size_t k = 0; k < arguments.size() && k < Host()->parameters.size(); ++k) {
      const CuParameter& p = Host()->parameters[k];
      if (!p.pointer && is_size(p.name)) call.passed.emplace_back(p.name, arguments[k]);
    }
    if (!call.passed.empty()) calls.push_back(std::move(call));
  }
  // Collects main()'s own launches of the launcher's kernels.
  for (const CuLaunch& other : s_.launches) {
    if (other.function != index) continue;
    for (const CuLaunch& host_launch : launches_) {
      if (host_launch.kernel != other.kernel) continue;
      Call call{other.line, {}};
      for (size_t k = 0; k < host_launch.arguments.size() && k < other.arguments.size(); ++k) {
        if (is_size(host_launch.arguments[k])) call.passed.emplace_back(host_launch.arguments[k], other.arguments[k]);
      }
      if (!call.passed.empty()) calls.push_back(std::move(call));
    }
  }
  // The call with the largest sizes is taken: the others warm up or check.
  double largest_product = 0;
  for (const Call& call : calls) {
    Dims sizes;
    std::string unread;
    for (const auto& [name, text] : call.passed) {
      const Result<int64_t> number = NumberIn(s_, index, text);
      if (number.ok() && *number > 0) {
        sizes[name] = *number;
      } else if (unread.empty()) {
        unread = fmt::format("line {}: main() passes '{}' for {}, {}", call.line, text, name,
                             number.ok() ? "which is no size" : "whose value is not a constant there");
      }
    }
    if (!unread.empty()) {
      if (main_unread_.empty()) main_unread_ = unread;
      continue;
    }
    const Result<Dims> dims = ReadCase(sizes);
    if (!dims.ok()) continue;
    double elements = 1;
    for (const auto& [name, size] : *dims) elements *= static_cast<double>(size);
    if (elements <= largest_product) continue;
    largest_product = elements;
    for (const auto& [name, size] : *dims) default_sizes_[name] = size;
  }
  if (largest_product > 0) main_unread_.clear();
}

}  // namespace hone
