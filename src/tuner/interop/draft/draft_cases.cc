// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Drafts, for `hone new`, a task's amount of work, its timed and check cases, and the ranges of hidden cases.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/numbers/rounding.h"
#include "tuner/interop/draft/draft_words.h"
#include "tuner/interop/draft/task_drafter.h"

namespace hone {
namespace {

// The number of elements that the largest tensor of a guessed timed case may have at most (256 MiB of float32, which is
// more than any cache) and should have at least.
constexpr int64_t kLargestTimed = int64_t{1} << 26;
constexpr int64_t kLeastTimed = int64_t{1} << 22;
// Below this number of elements, launching a kernel takes longer than its work.
constexpr int64_t kTooSmall = int64_t{1} << 16;
// The greatest numbers of elements of the largest tensor in check cases and hidden cases: a simulated GPU must run them
// in seconds.
constexpr int64_t kLargestChecked = 70000;
constexpr int64_t kLargestHidden = 120000;
// Bytes of dynamic shared memory that a block may use on every device without opting in to more.
constexpr int64_t kShared = 48 << 10;

}  // namespace

int64_t TaskDrafter::Multiple(const std::string& dim) const {
  const auto found = o_.multiples.find(dim);
  return found == o_.multiples.end() ? 1 : found->second;
}

std::string TaskDrafter::CaseText(const char* role, const Dims& dims) const {
  std::string text;
  for (const std::string& d : dim_order_) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", d, dims.at(d));
  return fmt::format("\n[[case]]\nrole = \"{}\"\ndims = {{ {} }}\n", role, text);
}

Dims TaskDrafter::Sizes(int64_t first_size, int64_t other_sizes) const {
  Dims dims;
  for (size_t i = 0; i < dim_order_.size(); ++i) {
    dims[dim_order_[i]] = RoundUp(i == 0 ? first_size : other_sizes, Multiple(dim_order_[i]));
  }
  return dims;
}

std::vector<int64_t> TaskDrafter::GivenSizes(const std::string& dim, bool timed, bool checked) const {
  std::vector<int64_t> sizes;
  for (const auto& [list_is_wanted, list] : {std::pair{timed, &timed_}, {checked, &checked_}}) {
    for (const Dims& dims : *list) {
      if (const auto found = dims.find(dim); list_is_wanted && found != dims.end()) sizes.push_back(found->second);
    }
  }
  return sizes;
}

std::optional<int64_t> TaskDrafter::LargestTensor(const Dims& dims) const {
  double largest_elements = 0;
  for (const DraftTensor& t : tensors_) {
    double elements = 1;
    for (const std::string& extent : t.shape) {
      const Result<Expression> e = Expression::Parse(extent);
      if (!e.ok()) return std::nullopt;
      const Result<int64_t> size = e->Evaluate(std::map<std::string, int64_t>(dims.begin(), dims.end()));
      if (!size.ok()) return std::nullopt;
      elements *= static_cast<double>(*size);
    }
    largest_elements = std::max(largest_elements, elements);
  }
  return static_cast<int64_t>(std::min(largest_elements, 9e18));
}

void TaskDrafter::FitSharedMemory(Dims& dims) const {
  for (const DraftEntry& e : entries_) {
    const Result<Expression> bytes = Expression::Parse(e.shared.empty() ? "0" : e.shared);
    if (!bytes.ok()) continue;
    for (int tries = 0; tries < 64; ++tries) {
      const Result<int64_t> bytes_now = bytes->Evaluate(std::map<std::string, int64_t>(dims.begin(), dims.end()));
      if (!bytes_now.ok() || *bytes_now <= kShared) break;
      auto largest_dim = dims.end();
      for (const std::string& n : bytes->Names()) {
        const auto d = dims.find(n);
        if (d != dims.end() && (largest_dim == dims.end() || d->second > largest_dim->second)) largest_dim = d;
      }
      if (largest_dim == dims.end() || largest_dim->second <= Multiple(largest_dim->first)) break;
      const int64_t m = Multiple(largest_dim->first);
      largest_dim->second = std::max(m, largest_dim->second / 2 / m * m);
    }
  }
}

// A case may give a derived size instead of a dimension: with num_heads = group * num_kv_heads, num_heads=32 and
// num_kv_heads=8 give group=4.
Result<Dims> TaskDrafter::ReadCase(const Dims& one) const {
  Dims dims;
  const auto known = [&](const std::string& name) {
    return std::find(dim_order_.begin(), dim_order_.end(), name) != dim_order_.end();
  };
  for (const auto& [name, value] : one) {
    const auto plan = dims_.find(name);
    if (plan != dims_.end() && known(plan->second)) dims[plan->second] = value;
  }
  for (const auto& [name, value] : one) {
    const auto let = lets_.find(name);
    if (let == lets_.end()) {
      const auto plan = dims_.find(name);
      if (plan != dims_.end() && known(plan->second)) continue;
      return Status::InvalidArgument(
          fmt::format("the case {}={}: the dimensions are {}", name, value, fmt::join(dim_order_, ", ")));
    }
    // One dimension of the expression may be missing in the case (`fresh`). It is computed from the derived size's
    // value.
    HONE_ASSIGN_OR_RETURN(const Expression text, Expression::Parse(let->second));
    std::string fresh;
    for (const std::string& n : text.Names()) {
      if (dims.count(n) == 0) fresh = n;
    }
    if (!fresh.empty()) dims[fresh] = 1;
    const Result<int64_t> unit = text.Evaluate(std::map<std::string, int64_t>(dims.begin(), dims.end()));
    if (!fresh.empty() && unit.ok() && *unit > 0 && value % *unit == 0) dims[fresh] = value / *unit;
    const Result<int64_t> value_now = text.Evaluate(std::map<std::string, int64_t>(dims.begin(), dims.end()));
    if (!value_now.ok() || *value_now != value) {
      return Status::InvalidArgument(
          fmt::format("the case {}={}: {} is {}, and the other sizes of the case do not give that", name, value, name,
                      let->second));
    }
  }
  return dims;
}

Status TaskDrafter::ReadCases() {
  for (const auto& [given_cases, into] : {std::pair(&o_.time_cases, &timed_), std::pair(&o_.check_cases, &checked_)}) {
    for (const Dims& one : *given_cases) {
      HONE_ASSIGN_OR_RETURN(Dims dims, ReadCase(one));
      into->push_back(std::move(dims));
    }
  }
  return Status::Ok();
}

bool TaskDrafter::OneNumber() const {
  bool one = false, more = false;
  for (const DraftTensor& t : tensors_) {
    if (t.workspace || t.role == TensorRole::kIn) continue;
    const bool single =
        !t.shape.empty() && std::all_of(t.shape.begin(), t.shape.end(), [](const std::string& e) { return e == "1"; });
    (single ? one : more) = true;
  }
  return one && !more;
}

std::map<std::string, std::string> TaskDrafter::LeastSizes() const {
  std::map<std::string, std::string> least;
  for (const DraftTensor& t : tensors_) {
    const bool dimension = std::find(dim_order_.begin(), dim_order_.end(), t.bound) != dim_order_.end();
    if (t.distinct && dimension && !t.shape.empty()) least[t.bound] = Elements(t);
  }
  return least;
}

// Returns the [work] table; empty: the task needs none. It has `bytes` where the sum over the tensors' sizes is not the
// required traffic: a gather reads, and a scatter writes, only selected rows.
std::string TaskDrafter::WorkText() {
  std::string bytes, unclear;
  const auto given_bytes = o_.work.find("bytes");
  const bool chosen = std::any_of(tensors_.begin(), tensors_.end(), [](const DraftTensor& t) {
    // Without `bytes`, in-place tensors would not be counted.
    const bool in_place = !t.workspace && t.role == TensorRole::kInOut;
    return in_place || !t.bound.empty() ||
           std::any_of(t.chosen_by.begin(), t.chosen_by.end(), [](const std::string& c) { return c[0] == '@'; });
  });
  if (given_bytes != o_.work.end()) {
    bytes = given_bytes->second;
  } else if (chosen) {
    for (const DraftTensor& t : tensors_) {
      if (t.workspace) continue;
      const int64_t size = t.dtype ? DTypeBytes(*t.dtype) : 4;
      const int64_t times = t.role == TensorRole::kInOut && !(t.scattered && !t.updated) ? 2 : 1;
      const std::string element_count = Elements(t);
      std::string moved = element_count;
      const auto axis =
          std::find_if(t.chosen_by.begin(), t.chosen_by.end(), [](const std::string& c) { return c[0] == '@'; });
      if (axis != t.chosen_by.end()) {
        const DraftTensor* chooser = FindTensor(axis->substr(1));
        if (axis != t.chosen_by.begin() || chooser == nullptr || t.chosen_by.size() != t.shape.size()) {
          unclear = t.name;
          break;
        }
        // n random draws from N rows select about N (1 - exp(-n / N)) different rows, which is at least N n / (N + n).
        const std::string n = Elements(*chooser), rows = t.shape[0];
        moved = fmt::format("{0} * {1} / max(1, {2} + {1})", InParentheses(rows), n, rows);
        for (size_t i = 1; i < t.shape.size(); ++i) moved += " * " + InParentheses(t.shape[i]);
      }
      // The factor of rows, which divides, comes first: the integer division then precedes the other factors.
      bytes += fmt::format("{}{} * {}", bytes.empty() ? "" : " + ", moved, times * size);
    }
    if (!unclear.empty()) {
      bytes = kFillIn;
      Ask(fmt::format("the bytes that one launch must move: only part of '{}' is touched", unclear),
          "--work bytes=EXPRESSION");
    } else {
      NoteInference(fmt::format(
          "work: {} bytes, which is what every right kernel must move; --work bytes=… to say otherwise", bytes));
    }
  }
  const auto flops = o_.work.find("flops");
  if (bytes.empty() && flops == o_.work.end()) return "";
  std::string out = "\n[work]\n";
  if (flops != o_.work.end()) out += fmt::format("flops = {}\n", Quoted(flops->second));
  if (!bytes.empty())
    out += fmt::format("bytes = {}{}\n", Quoted(bytes),
                       given_bytes != o_.work.end() ? "" : "  # inferred: --work bytes=…");
  return out;
}

// Returns a dimension that a check case may set to 0; nullopt: none. With size 0, no kernel may have a block to run,
// and every output must be empty, cleared by a memset, or in place: any other output would keep its former contents.
std::optional<std::string> TaskDrafter::EmptyDim(const std::vector<Dims>& checked) const {
  if (checked.empty() || entries_.empty()) return std::nullopt;
  for (const std::string& d : dim_order_) {
    if (o_.multiples.count(d) != 0 || o_.hidden.count(d) != 0) continue;
    Dims dims = checked.front();
    dims[d] = 0;
    const std::map<std::string, int64_t> sizes(dims.begin(), dims.end());
    const auto value = [&](const std::string& text) -> std::optional<int64_t> {
      const Result<Expression> e = Expression::Parse(text);
      if (!e.ok()) return std::nullopt;
      const Result<int64_t> v = e->Evaluate(sizes);
      return v.ok() ? std::optional<int64_t>(*v) : std::nullopt;
    };
    bool serves = true;
    for (const DraftEntry& e : entries_) {
      if (e.memset) continue;
      bool none = false;
      for (const std::string& g : e.grid) none = none || value(g) == 0;
      // The plan's other values must be valid as well: 1024 / d is not.
      bool sound = true;
      for (const auto* list : {&e.grid, &e.block}) {
        for (const std::string& text : *list) sound = sound && value(text).value_or(-1) >= 0;
      }
      if (!e.shared.empty()) sound = sound && value(e.shared).has_value();
      if (!e.when.empty()) sound = sound && value(e.when).has_value();
      serves = serves && none && sound;
    }
    for (const DraftTensor& t : tensors_) {
      std::optional<int64_t> elements = t.shape.empty() ? std::nullopt : value(Elements(t));
      serves = serves && elements.has_value();
      // Indices below 0 select nothing.
      if (!t.bound.empty()) serves = serves && (elements == 0 || value(t.bound).value_or(0) > 0);
      if (t.workspace || t.role != TensorRole::kOut || elements == 0) continue;
      serves = serves && std::any_of(entries_.begin(), entries_.end(), [&](const DraftEntry& e) {
                 if (!e.memset || e.target != t.name) return false;
                 const int64_t tensor_bytes = elements.value_or(0) * (t.dtype ? DTypeBytes(*t.dtype) : 4);
                 return e.bytes.empty() || value(e.bytes).value_or(0) >= tensor_bytes;
               });
    }
    if (serves) return d;
  }
  return std::nullopt;
}

// Returns whether `dim` is the k of a top-k kernel. Such a kernel handles only small k, and k is at most the number of
// candidates.
bool TaskDrafter::IsCountOfBest(const std::string& dim) const {
  if (dim == "topk" || dim == "top_k") return true;
  std::string names = o_.name;
  for (const DraftEntry& e : entries_) {
    if (e.kernel != nullptr) names += " " + e.kernel->name;
  }
  std::transform(names.begin(), names.end(), names.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return dim == "k" && (names.find("topk") != std::string::npos || names.find("top_k") != std::string::npos);
}

std::string TaskDrafter::CasesText() {
  std::string out;
  for (const std::string& d : dim_order_) {
    if (IsCountOfBest(d)) ratios_.insert(d);
  }
  const bool one = dim_order_.size() <= 1;
  // Halves the largest guessed size until the largest tensor has at most `most` elements.
  const auto shrink = [&](Dims dims, int64_t most) {
    for (int tries = 0; tries < 64; ++tries) {
      const std::optional<int64_t> elements = LargestTensor(dims);
      if (!elements || *elements <= most) break;
      auto largest_dim = dims.end();
      for (auto d = dims.begin(); d != dims.end(); ++d) {
        if (largest_dim == dims.end() || d->second > largest_dim->second) largest_dim = d;
      }
      if (largest_dim->second <= 1) break;
      largest_dim->second =
          std::max<int64_t>(Multiple(largest_dim->first),
                            largest_dim->second / 2 / Multiple(largest_dim->first) * Multiple(largest_dim->first));
    }
    return dims;
  };
  std::vector<Dims> timed = timed_, checked = checked_;
  Dims guess = one ? Sizes(1 << 22, 0) : Sizes(2048, 4096);
  for (const std::string& d : ratios_) guess[d] = RoundUp(int64_t{4}, Multiple(d));
  guess = shrink(guess, kLargestTimed);
  const auto in_grid = [&](const std::string& d) {
    for (const DraftEntry& e : entries_) {
      for (const std::string& g : e.grid) {
        const std::vector<Token> tokens = LexCuda(g);
        if (std::any_of(tokens.begin(), tokens.end(), [&](const Token& t) { return t.text == d; })) return true;
      }
    }
    return false;
  };
  for (int tries = 0; tries < 24 && !one; ++tries) {  // the tensors have few elements: doubles one size
    const std::optional<int64_t> elements = LargestTensor(guess);
    if (!elements || *elements == 0 || *elements >= kLeastTimed) break;
    // The largest dimension that the grid depends on is doubled: a histogram gets more data and not more bins.
    const bool any = std::any_of(guess.begin(), guess.end(), [&](const auto& d) { return in_grid(d.first); });
    auto largest_dim = guess.end();
    for (auto d = guess.begin(); d != guess.end(); ++d) {
      if ((!any || in_grid(d->first)) && (largest_dim == guess.end() || d->second > largest_dim->second))
        largest_dim = d;
    }
    largest_dim->second *= 2;
  }
  FitSharedMemory(guess);
  for (const auto& [d, size] : default_sizes_) {
    if (guess.count(d) != 0) guess[d] = size;
  }
  if (timed.empty()) {
    timed.push_back(guess);
    std::string example;
    for (const std::string& d : dim_order_)
      example += fmt::format("{}{}={}", example.empty() ? "" : ",", d, guess.at(d));
    std::vector<std::string> dims_from_main, unknown_dims;
    for (const std::string& d : dim_order_) (default_sizes_.count(d) != 0 ? dims_from_main : unknown_dims).push_back(d);
    const std::string why = main_unread_.empty() ? "" : fmt::format(" ({})", main_unread_);
    if (!dims_from_main.empty() && unknown_dims.empty()) {
      const std::optional<int64_t> elements = LargestTensor(guess);
      NoteInference(fmt::format("the timed case: {}, which {} itself runs; --case for other sizes{}", example, o_.file,
                                elements && *elements < kTooSmall
                                    ? ": these are so small that starting a kernel takes longer than its work"
                                    : ""));
      out += fmt::format("\n# {} itself runs these sizes: --case for those that matter to you.", o_.file);
    } else {
      const std::string some = dims_from_main.empty() ? ""
                                                      : fmt::format(" for {}, {} being what {} itself runs",
                                                                    fmt::join(unknown_dims, " and "),
                                                                    fmt::join(dims_from_main, " and "), o_.file);
      if (!example.empty()) NoteGuess(fmt::format("the timed case: a guess{}{}; --case {}", some, why, example));
      out += fmt::format("\n# A guess{}: --case with the sizes that matter to you.", some);
    }
  }
  if (checked.empty()) {
    // The smallest sizes come first: they are smaller than a stencil, a tile or a vector, so that a kernel's edge cases
    // coincide.
    constexpr int64_t kRatios[] = {1, 2, 2, 3, 1, 4};
    size_t number = 0;
    for (const auto& [first, rest] :
         one ? std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {2, 0}, {255, 0}, {1024, 0}, {70001, 0}}
             : std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {2, 2}, {4, 64}, {33, 257}, {1, 1000}, {7, 2072}}) {
      Dims dims = Sizes(first, rest);
      for (const std::string& d : ratios_) dims[d] = RoundUp(kRatios[number], Multiple(d));
      // Sizes do not exceed those that the user gave for timed cases: a kernel for 128 experts need not handle 1000.
      for (auto& [d, size] : dims) {
        const std::vector<int64_t> sizes = GivenSizes(d, /*timed=*/true, /*checked=*/false);
        if (!sizes.empty()) size = std::min(size, *std::max_element(sizes.begin(), sizes.end()));
      }
      dims = shrink(dims, one ? 70001 : kLargestChecked);
      FitSharedMemory(dims);
      ++number;
      checked.push_back(dims);
    }
  }
  for (auto* list : {&timed, &checked}) {
    for (Dims& dims : *list) {
      for (const std::string& d : dim_order_) {
        if (dims.count(d) == 0) dims[d] = guess.at(d);
      }
      for (const auto& [d, least] : LeastSizes()) {
        const bool cases_given = list == &timed ? !timed_.empty() : !checked_.empty();
        const Result<Expression> e = Expression::Parse(least);
        if (cases_given || !e.ok()) continue;
        const Result<int64_t> size = e->Evaluate(std::map<std::string, int64_t>(dims.begin(), dims.end()));
        // In check cases a scatter has twice as many places as it writes: the judge can then see whether the other
        // places keep their contents.
        if (size.ok()) dims[d] = std::max(dims[d], RoundUp(*size * (list == &checked ? 2 : 1), Multiple(d)));
      }
    }
  }
  if (checked_.empty()) {
    if (const std::optional<std::string> empty = EmptyDim(checked); empty) {
      Dims dims = checked.front();
      dims[*empty] = 0;
      checked.insert(checked.begin(), dims);
      NoteInference(
          fmt::format("a check case with {} = 0, for the launch serves it; --check names the cases instead", *empty));
    }
  }
  for (const Dims& dims : timed) out += CaseText("time", dims);
  for (const Dims& dims : checked) out += CaseText("check", dims);
  return out + HiddenText();
}

std::string TaskDrafter::HiddenText() const {
  const bool one = dim_order_.size() <= 1;
  std::map<std::string, std::pair<int64_t, int64_t>> ranges;
  for (size_t i = 0; i < dim_order_.size(); ++i) {
    const std::string& d = dim_order_[i];
    int64_t low = 1, high = one ? 50000 : i == 0 ? 100 : 1200;
    // If the user gave another dimension only small sizes (k = 8 of 128 experts), this dimension may have to be at
    // least as large.
    for (const std::string& other : dim_order_) {
      const std::vector<int64_t> sizes_of_other = GivenSizes(other, /*timed=*/true, /*checked=*/true);
      if (i > 0 && other != d && !sizes_of_other.empty() &&
          *std::max_element(sizes_of_other.begin(), sizes_of_other.end()) <= 8)
        low = std::max(low, *std::max_element(sizes_of_other.begin(), sizes_of_other.end()));
      if (i > 0 && other != d && sizes_of_other.empty() && IsCountOfBest(other)) low = std::max<int64_t>(low, 8);
    }
    // The sizes that the user gave limit the drawn sizes: a top-k with k = 8 of 128 experts does not handle k = 1200.
    const std::vector<int64_t> given_sizes = GivenSizes(d, /*timed=*/true, /*checked=*/true),
                               checked = GivenSizes(d, /*timed=*/false, /*checked=*/true);
    if (ratios_.count(d) != 0) low = 1, high = 8;
    if (!given_sizes.empty()) high = std::min(high, *std::max_element(given_sizes.begin(), given_sizes.end()));
    if (!checked.empty()) low = std::max<int64_t>(1, *std::min_element(checked.begin(), checked.end()));
    low = std::max<int64_t>(1, std::min(low, high));
    ranges[d] = {low, high};
  }
  // Even if every dimension draws its largest size, a simulated GPU must run the case in seconds.
  const auto corner = [&] {
    Dims dims;
    for (const auto& [d, range] : ranges) dims[d] = range.second;
    return dims;
  };
  for (int tries = 0; tries < 64; ++tries) {
    const std::optional<int64_t> elements = LargestTensor(corner());
    if (!elements || *elements <= kLargestHidden) break;
    auto widest = ranges.end();
    for (auto r = ranges.begin(); r != ranges.end(); ++r) {
      if (o_.hidden.count(r->first) != 0 || r->second.second <= r->second.first) continue;
      if (widest == ranges.end() || r->second.second > widest->second.second) widest = r;
    }
    if (widest == ranges.end()) break;
    widest->second.second = std::max(widest->second.first, widest->second.second / 2);
  }
  Dims fitting = corner();
  FitSharedMemory(fitting);
  for (auto& [d, range] : ranges) {
    if (o_.hidden.count(d) == 0) range.second = std::max(range.first, std::min(range.second, fitting.at(d)));
  }
  std::string out = "\n[[hidden]]\ncount = 3\n";
  const std::map<std::string, std::string> least_sizes = LeastSizes();
  for (const std::string& d : dim_order_) {
    if (const auto given_range = o_.hidden.find(d); given_range != o_.hidden.end()) {
      const NewTaskOptions::HiddenRange& h = given_range->second;
      out += h.low == h.high ? fmt::format("{} = {}\n", d, h.low)
                             : fmt::format("{} = {{ low = {}, high = {}{} }}\n", d, h.low, h.high,
                                           h.multiple > 1 ? fmt::format(", multiple = {}", h.multiple) : "");
      continue;
    }
    if (const auto least = least_sizes.find(d); least != least_sizes.end()) {
      out += fmt::format("{} = {{ low = {}, high = {}{} }}\n", d, Quoted(least->second),
                         Quoted("4 * " + InParentheses(least->second)),
                         Multiple(d) > 1 ? fmt::format(", multiple = {}", Multiple(d)) : "");
      continue;
    }
    const auto& [low, high] = ranges.at(d);
    const int64_t m = Multiple(d), first = RoundUp(low, m), last = std::max(first, high / m * m);
    out += first == last ? fmt::format("{} = {}\n", d, first)
                         : fmt::format("{} = {{ low = {}, high = {}{} }}\n", d, first, last,
                                       m > 1 ? fmt::format(", multiple = {}", m) : "");
  }
  return out;
}

}  // namespace hone
