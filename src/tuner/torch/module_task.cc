// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/module_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/text/json_fields.h"
#include "base/text/toml_document.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/plan/reserved_names.h"
#include "tuner/torch/operator_timing.h"
#include "tuner/torch/scripts.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr int kHiddenCases = 3;
constexpr double kTimingGraceSeconds = 2;  // that the times of operators may come after describe.py's report

// The report of describe.py, whose fields are listed at the end of describe() there.
struct DescribedTolerance {
  double c_max = 0, c_rms = 0, c_small = 0, abs = 0, honest_rms = 0, dishonest = 0;
  std::string least;
  bool statistic = false;
};
struct DescribedTensor {
  std::string name, dtype, role = "in";
  std::vector<std::string> shape;
  std::string value;  // of an input that is a number: the number as JSON
  std::string scalar;  // dtype of a number that the task declares as a scalar; empty: reference.py fixes the number
  std::string values;  // how it is drawn, as TOML
  bool stress = true;
  bool boolean = false;  // a boolean tensor of the module, which the task holds as bytes of 0 and 1
  DescribedTolerance tolerance;
};
struct DescribedDim {
  std::string name;
  int64_t size = 1, multiple = 1, low = 1, high = 1;
  bool alone = true;  // hidden cases may vary it together with the others
};
struct Description {
  std::string error, torch, slice, flops, workload, text, seed, summary, definition;
  bool eval = false;    // the module runs in eval mode, because dropout is active in training mode
  std::string problem;  // name of the board's problem; empty: there is no board
  // The parts of a board's inputs: indices of the tensors, indices of what the reference fills, and their number.
  std::vector<int64_t> leaves, filled;
  int64_t board_inputs = 0;
  std::vector<DescribedTensor> inputs, state, outputs;
  std::vector<DescribedDim> dims;
  std::vector<std::map<std::string, int64_t>> checks, timed;  // timed: in addition to the file's own sizes
  std::vector<std::string> special, operators, notes;
  std::optional<OperatorCosts> costs;  // of the operators, computed from shapes
};

std::string TomlString(std::string_view text) { return DumpJson(json(std::string(text))); }

// Returns {"distribution": "uniform", "low": 0, …} as an inline table of TOML. `rename` maps the file's names in
// expressions to the task's.
std::string ValuesToml(const json& values, const std::function<std::string(const std::string&)>& rename) {
  std::string text;
  for (const char* key :
       {"distribution", "low", "high", "scale", "offset", "bound", "padding", "ones", "some", "along"}) {
    if (!values.contains(key)) continue;
    const json& value = values[key];
    const bool expression = value.is_string() && std::string_view(key) != "distribution";
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key,
                        expression ? TomlString(rename(value.get<std::string>())) : DumpJson(value));
  }
  return "{ " + text + " }";
}

void ReadTolerance(JsonFields& fields, DescribedTolerance& tolerance) {
  fields.Object("tolerance", [&](JsonFields& described) {
    described.Require("c_max", tolerance.c_max);
    described.Require("c_rms", tolerance.c_rms);
    described.Read("c_small", tolerance.c_small);
    described.Read("abs", tolerance.abs);
    described.Read("honest_rms", tolerance.honest_rms);
    described.Read("dishonest", tolerance.dishonest);
    described.Read("least", tolerance.least);
    described.Read("statistic", tolerance.statistic);
  });
}

// Chooses the task's names for the file's: identifiers, all different, and none that launch plans reserve.
class Names {
 public:
  std::string Take(const std::string& wanted, const char* if_taken) {
    std::string name;
    for (const char c : wanted) name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? c : '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "t" + name;
    if (IsReservedName(name) || taken_.contains(name)) name += if_taken;
    while (IsReservedName(name) || taken_.contains(name)) name += "_";
    taken_.insert(name);
    return name;
  }

 private:
  std::set<std::string> taken_;  // names that are in use
};

// Returns `text` with the identifiers that are keys of `renamed` replaced by their values.
std::string Rename(const std::string& text, const std::map<std::string, std::string>& renamed) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const auto word = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    if (!word(text[i])) {
      result += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && word(text[end])) ++end;
    const std::string name = text.substr(i, end - i);
    const auto other = renamed.find(name);
    result += other == renamed.end() ? name : other->second;
    i = end;
  }
  return result;
}

// Reads the report of describe.py. `dim_names` receives the task's name for each of the file's sizes.
Result<Description> ReadDescription(const json& answer, std::map<std::string, std::string>* dim_names, Names* names) {
  Description described;
  JsonFields fields(answer, "the description of the module");
  fields.Read("error", described.error);
  if (!fields.ok()) return Status::Internal(fields.status().message());
  if (!described.error.empty()) return described;
  fields.Require("torch", described.torch);
  fields.Read("slice", described.slice);
  fields.Read("flops", described.flops);
  fields.Require("class", described.workload);
  fields.Read("text", described.text);
  fields.Read("seed", described.seed);
  fields.Read("checks", described.checks);
  fields.Read("timed", described.timed);
  fields.Read("summary", described.summary);
  fields.Read("definition", described.definition);
  fields.Read("eval", described.eval);
  if (answer.contains("board") && answer["board"].is_object()) {
    fields.Object("board", [&](JsonFields& board) {
      board.Require("problem", described.problem);
      board.Require("leaves", described.leaves);
      board.Require("filled", described.filled);
      board.Require("inputs", described.board_inputs);
    });
  }
  fields.Read("special", described.special);
  fields.Read("operators", described.operators);
  fields.Read("notes", described.notes);
  described.costs = ReadOperatorCosts(fields, "costs");
  fields.Objects("dims", [&](JsonFields& one) {
    DescribedDim& dim = described.dims.emplace_back();
    one.Require("name", dim.name);
    one.Require("size", dim.size);
    one.Read("multiple", dim.multiple);
    one.Read("low", dim.low);
    one.Read("high", dim.high);
    one.Read("alone", dim.alone);
    (*dim_names)[dim.name] = names->Take(dim.name, "_size");
  });
  const auto rename = [&](const std::string& text) { return Rename(text, *dim_names); };
  const auto tensors = [&](const char* key, std::vector<DescribedTensor>& into) {
    size_t at = 0;
    fields.Objects(key, [&](JsonFields& one) {
      DescribedTensor& tensor = into.emplace_back();
      const json& raw = answer[key][at++];
      one.Require("name", tensor.name);
      one.Read("dtype", tensor.dtype);
      one.Read("shape", tensor.shape);
      one.Read("role", tensor.role);
      one.Read("stress", tensor.stress);
      one.Read("boolean", tensor.boolean);
      one.Read("scalar", tensor.scalar);
      if (raw.contains("value")) {
        // What has a value is a number and becomes no tensor of the task, but weights and outputs must be tensors.
        if (&into != &described.inputs) one.Fail("value", "only an input may have a value: leave it out");
        tensor.value = DumpJson(raw["value"]);
      }
      if (raw.contains("values") && raw["values"].is_object()) tensor.values = ValuesToml(raw["values"], rename);
      ReadTolerance(one, tensor.tolerance);
      for (std::string& extent : tensor.shape) extent = rename(extent);
    });
  };
  tensors("inputs", described.inputs);
  tensors("state", described.state);
  tensors("outputs", described.outputs);
  if (!fields.ok()) return Status::Internal(fields.status().message());
  described.slice = rename(described.slice);
  described.flops = rename(described.flops);
  return described;
}

std::string DimsToml(const std::map<std::string, int64_t>& sizes, const std::vector<DescribedDim>& dims,
                     const std::map<std::string, std::string>& names) {
  std::string text;
  for (const DescribedDim& dim : dims) {
    const auto size = sizes.find(dim.name);
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", names.at(dim.name), size == sizes.end() ? dim.size : size->second);
  }
  return "{ " + text + " }";
}

std::string ShapeToml(const std::vector<std::string>& shape) {
  std::string text;
  for (const std::string& extent : shape) text += (text.empty() ? "" : ", ") + TomlString(extent);
  return "[" + text + "]";
}

std::string Number(double value) { return fmt::format("{:.3g}", value); }

// Writes task.toml, and the seed, in the task's names.
class Writer {
 public:
  Writer(const ModuleTaskOptions& options, Description described, std::map<std::string, std::string> dim_names,
         Names names)
      : options_(options),
        described_(std::move(described)),
        dim_names_(std::move(dim_names)),
        names_(std::move(names)) {}

  std::string WriteToml() {
    NameTensors();
    WriteHead();
    WriteDims();
    for (const DescribedTensor& tensor : described_.inputs) {
      if (tensor.value.empty()) WriteTensor(tensor, tensor_names_.at("in " + tensor.name), "in", tensor.stress);
    }
    for (const DescribedTensor& tensor : described_.state)
      WriteTensor(tensor, tensor_names_.at("state " + tensor.name), tensor.role, /*stress=*/false);
    for (const DescribedTensor& tensor : described_.outputs)
      WriteTensor(tensor, tensor_names_.at("out " + tensor.name), "out", /*stress=*/false);
    for (const DescribedTensor& tensor : described_.inputs) {
      if (tensor.scalar.empty()) continue;
      out_ += fmt::format("\n[[scalar]]\nname = {}\ndtype = {}\nvalue = {}\n", TomlString(tensor_names_.at("in " + tensor.name)),
                          TomlString(tensor.scalar), tensor.value);
    }
    Reference();
    for (const DescribedTensor& tensor : described_.outputs)
      WriteTolerance(tensor, tensor_names_.at("out " + tensor.name));
    for (const DescribedTensor& tensor : described_.state) {
      if (tensor.role == "inout") WriteTolerance(tensor, tensor_names_.at("state " + tensor.name));
    }
    if (!described_.flops.empty()) out_ += fmt::format("\n[work]\nflops = {}\n", TomlString(described_.flops));
    WriteCases();
    return out_;
  }

  // Returns the seed's text with the task's names in its placeholders. Call it after Toml, which chooses the names.
  Result<std::string> SeedText() const {
    std::string text;
    for (size_t at = 0; at < described_.seed.size();) {
      const size_t open = described_.seed.find("@{", at);
      text += described_.seed.substr(at, open == std::string::npos ? open : open - at);
      if (open == std::string::npos) break;
      const size_t close = described_.seed.find('}', open);
      if (close == std::string::npos || close < open + 4)
        return Status::Internal("the seed has a place that does not end");
      const std::string name = described_.seed.substr(open + 4, close - open - 4);
      if (described_.seed[open + 2] == 'd') {
        text += Rename(name, dim_names_);
      } else {
        const auto tensor = tensor_names_.find(name);
        if (tensor == tensor_names_.end())
          return Status::Internal(fmt::format("the seed names a tensor '{}', which there is not", name));
        text += tensor->second;
      }
      at = close + 1;
    }
    return text;
  }

 private:
  void NameTensors() {
    for (const auto& [kind, tensors] :
         {std::pair{"in", &described_.inputs}, {"state", &described_.state}, {"out", &described_.outputs}}) {
      for (const DescribedTensor& tensor : *tensors) {
        if (!tensor.value.empty() && tensor.scalar.empty()) continue;
        tensor_names_[fmt::format("{} {}", kind, tensor.name)] = names_.Take(tensor.name, "_tensor");
      }
    }
  }

  void WriteHead() {
    std::string summary = options_.summary.empty() ? described_.summary : options_.summary;
    if (summary.empty()) {
      const size_t most = 12;
      std::vector<std::string> shown(
          described_.operators.begin(),
          described_.operators.begin() + static_cast<std::ptrdiff_t>(std::min(most, described_.operators.size())));
      summary = fmt::format("{} in PyTorch: {}{}", options_.class_name, fmt::join(shown, ", "),
                            described_.operators.size() > most ? ", …" : "");
    }
    // The folder's name and the file's tell which problem this is. The whole path would make another task of the same
    // problem on each machine.
    const std::filesystem::path file(options_.file);
    out_ += fmt::format(
        "# Written by `hone new` from {}, with PyTorch {}. Everything here was found by running the module: look it "
        "over.\n\n"
        "name = {}\nsummary = {}\nclass = {}\n",
        (file.parent_path().filename() / file.filename()).string(), described_.torch, TomlString(options_.name), TomlString(summary),
        TomlString(described_.workload));
    if (!described_.slice.empty()) out_ += fmt::format("slice = {}\n", TomlString(described_.slice));
    std::string special;
    for (const std::string& one : described_.special) special += (special.empty() ? "" : ", ") + TomlString(one);
    out_ += fmt::format("special = [{}]\n", special);
    for (const std::string& note : described_.notes) out_ += fmt::format("# {}\n", note);
  }

  void WriteDims() {
    out_ += "\n[dims]\n";
    for (const DescribedDim& dim : described_.dims) {
      out_ += fmt::format("{} = {}\n", dim_names_.at(dim.name),
                          TomlString(fmt::format("{} of the file, {} there{}", dim.name, dim.size,
                                                 dim.multiple > 1 ? fmt::format(", a multiple of {}", dim.multiple) : "")));
    }
    if (described_.dims.empty())
      out_ += fmt::format("{} = \"nothing varies: every size is the file's\"\n", NameOfWhole());
  }
  std::string NameOfWhole() {
    if (whole_.empty()) whole_ = names_.Take("whole", "_");
    return whole_;
  }

  void WriteTensor(const DescribedTensor& tensor, const std::string& name, const std::string& role, bool stress) {
    out_ += fmt::format("\n[[tensor]]\nname = {}\nrole = {}\ndtype = {}\nshape = {}\n", TomlString(name), TomlString(role),
                        TomlString(tensor.dtype), ShapeToml(tensor.shape));
    if (role == "out") return;
    if (!tensor.values.empty()) out_ += fmt::format("values = {}\n", tensor.values);
    if (!stress) out_ += "stress = false\n";
  }

  void Reference() {
    std::string inputs, outputs;
    for (const DescribedTensor& tensor : described_.inputs) {
      inputs += (inputs.empty() ? "" : ", ") + (tensor.value.empty() || !tensor.scalar.empty() ? TomlString(tensor_names_.at("in " + tensor.name)) : tensor.value);
    }
    for (const DescribedTensor& tensor : described_.outputs) {
      outputs += (outputs.empty() ? "" : ", ") + TomlString(tensor_names_.at("out " + tensor.name));
    }
    out_ += fmt::format("\n[reference]\nkind = \"torch\"\nclass = {}\nmode = \"{}\"\ninputs = [{}]\noutputs = [{}]\n",
                        TomlString(options_.class_name), options_.eval || described_.eval ? "eval" : "train", inputs,
                        outputs);
    std::string booleans;
    for (const auto& [kind, tensors] :
         {std::pair{"in", &described_.inputs}, {"state", &described_.state}, {"out", &described_.outputs}}) {
      for (const DescribedTensor& tensor : *tensors) {
        const auto name = tensor_names_.find(fmt::format("{} {}", kind, tensor.name));
        if (!tensor.boolean || name == tensor_names_.end()) continue;  // a number that reference.py fixes has no name
        booleans += (booleans.empty() ? "" : ", ") + TomlString(name->second);
      }
    }
    if (!booleans.empty()) out_ += fmt::format("booleans = [{}]\n", booleans);
    if (!described_.definition.empty()) out_ += fmt::format("definition = {}\n", TomlString(described_.definition));
    if (!described_.problem.empty()) {
      out_ += fmt::format(
          "\n# The problem in GPU MODE's format: which of the parts of its inputs are tensors, and which its reference "
          "fills.\n"
          "[reference.board]\nproblem = {}\ninputs = {}\nleaves = [{}]\nfilled = [{}]\n",
          TomlString(described_.problem), described_.board_inputs, fmt::join(described_.leaves, ", "),
          fmt::join(described_.filled, ", "));
      if (options_.board && !options_.board->licence.empty()) out_ += fmt::format("licence = {}\n", TomlString(options_.board->licence));
      out_ += fmt::format("accepted = {}  # true: its files' text may enter a prompt\n", options_.accept_licence);
    }
    if (!described_.state.empty()) out_ += "\n[reference.state]\n";
    for (const DescribedTensor& tensor : described_.state) {
      out_ += fmt::format("{} = {}\n", tensor_names_.at("state " + tensor.name), TomlString(tensor.name));
    }
    std::string sizes;
    for (const auto& [file, dim] : dim_names_) {
      if (file != dim) sizes += fmt::format("{} = {}\n", dim, TomlString(file));
    }
    if (!sizes.empty()) out_ += "\n[reference.sizes]\n" + sizes;
  }

  void WriteTolerance(const DescribedTensor& tensor, const std::string& name) {
    const DescribedTolerance& described = tensor.tolerance;
    out_ += "\n";
    if (!described.least.empty()) {
      out_ += fmt::format("# The module in float32 has an rms error of {}; {} in its products or throughout has {}.\n",
                          Number(described.honest_rms), described.least == "tf32" ? "TF32" : described.least,
                          Number(described.dishonest));
    }
    if (described.statistic) out_ += "# The tolerance of this buffer allows for sums in any order: the outputs tell whether products were made in a lower precision.\n";
    out_ += fmt::format("[tolerance.{}]\nc_max = {}\nc_rms = {}\n", name, Number(described.c_max), Number(described.c_rms));
    if (described.c_small > 0) {
      out_ += fmt::format("c_small = {}  # small results are right beside themselves: none may be left out\n", Number(described.c_small));
    }
    constexpr double kUnderflow = 1e-20;  // describe.py's abs for results that cancel is larger
    if (described.abs > 0) {
      out_ += fmt::format("abs = {}{}\n", Number(described.abs), described.abs < kUnderflow ? "  # results that underflow may be 0" : "");
    }
  }

  void WriteCases() {
    std::map<std::string, int64_t> file;
    for (const DescribedDim& dim : described_.dims) file[dim.name] = dim.size;
    if (described_.dims.empty()) {
      for (const char* role : {"time", "check"})
        out_ += fmt::format("\n[[case]]\nrole = \"{}\"\ndims = {{ {} = 1 }}\n", role, NameOfWhole());
      return;
    }
    out_ += fmt::format("\n# The file's own sizes.\n[[case]]\nrole = \"time\"\ndims = {}\n",
                        DimsToml(file, described_.dims, dim_names_));
    for (const auto& sizes : described_.timed) {
      out_ += fmt::format("\n[[case]]\nrole = \"time\"\ndims = {}\n", DimsToml(sizes, described_.dims, dim_names_));
    }
    for (const auto& sizes : described_.checks) {
      out_ += fmt::format("\n[[case]]\nrole = \"check\"\ndims = {}\n", DimsToml(sizes, described_.dims, dim_names_));
    }
    if (described_.checks.empty())
      out_ += fmt::format("\n[[case]]\nrole = \"check\"\ndims = {}\n", DimsToml(file, described_.dims, dim_names_));
    const bool varies = std::any_of(described_.dims.begin(), described_.dims.end(),
                                    [](const DescribedDim& dim) { return dim.alone && dim.low < dim.high; });
    if (!varies) return;
    out_ += fmt::format("\n[[hidden]]\ncount = {}\n", kHiddenCases);
    for (const DescribedDim& dim : described_.dims) {
      if (!dim.alone || dim.low >= dim.high) {
        out_ += fmt::format("{} = {}\n", dim_names_.at(dim.name), dim.high);
      } else {
        out_ += fmt::format("{} = {{ low = {}, high = {}{} }}\n", dim_names_.at(dim.name), dim.low, dim.high,
                            dim.multiple > 1 ? fmt::format(", multiple = {}", dim.multiple) : "");
      }
    }
  }

  const ModuleTaskOptions& options_;
  const Description described_;  // what the Python process reported of the module
  const std::map<std::string, std::string> dim_names_;
  Names names_;
  std::map<std::string, std::string> tensor_names_;
  std::string out_, whole_;
};

// Returns Python code that draws the input "x=float32[batch,hidden]".
Result<std::string> InputCall(const std::string& text) {
  const size_t equals = text.find('='), open = text.find('['), close = text.find(']');
  const auto wrong = [&](const std::string& why) {
    return Status::InvalidArgument(fmt::format("--input {}: {}; write x=float32[batch,hidden], and for indices ids=int64[batch]:vocabulary", text, why));
  };
  if (equals == std::string::npos || open == std::string::npos || close == std::string::npos || equals > open || open > close) {
    return wrong("a name, a dtype and a shape are expected");
  }
  const std::string name = text.substr(0, equals), dtype = text.substr(equals + 1, open - equals - 1);
  const std::string shape = text.substr(open + 1, close - open - 1);
  const std::string bound = close + 1 < text.size() && text[close + 1] == ':' ? text.substr(close + 2) : "";
  const std::optional<DType> known = DTypeFromName(dtype);
  if (!IsIdentifier(name)) return wrong(fmt::format("'{}' is no name", name));
  if (!known) return wrong(fmt::format("'{}' is no dtype", dtype));
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || std::string_view("_,+-*/() ").find(c) != std::string_view::npos; };
  if (!std::all_of(shape.begin(), shape.end(), plain) || !std::all_of(bound.begin(), bound.end(), plain)) return wrong("shapes hold names and numbers");
  if (IsFloating(*known)) {
    if (!bound.empty()) return wrong("only integers are drawn below a size");
    return fmt::format("torch.randn(({}{}), dtype=torch.{})", shape, shape.empty() ? "" : ",", dtype);
  }
  if (bound.empty()) return wrong("integers need a bound");
  return fmt::format("torch.randint(0, {}, ({}{}), dtype=torch.{})", bound, shape, shape.empty() ? "" : ",", dtype);
}

// Returns the Python text that completes a package's module to a problem file: sizes, get_inputs() and
// get_init_inputs().
Result<std::string> AddedText(const ModuleTaskOptions& options, const std::map<std::string, int64_t>& sizes) {
  if (options.inputs.empty()) {
    return Status::InvalidArgument(fmt::format("--from {}:{} needs what forward takes, unless it is a file below this folder with get_inputs(): --input x=float32[batch,hidden] --case batch=32,hidden=512",
                                               options.module, options.class_name));
  }
  std::string text = "\n\n# What `hone new` was told of its sizes and inputs.\nimport torch\n\n";
  for (const auto& [name, size] : sizes) text += fmt::format("{} = {}\n", name, size);
  text += "\n\ndef get_inputs():\n    return [";
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const std::string call, InputCall(options.inputs[i]));
    text += (i == 0 ? "" : ",\n            ") + call;
  }
  text += fmt::format("]\n\n\ndef _arguments(*positional, **named):\n    return [list(positional), named]\n\n\ndef get_init_inputs():\n    return _arguments({})\n", options.init);
  return text;
}

// Returns the Python text that appends options.inputs to those of a problem file's get_inputs().
Result<std::string> MoreInputsText(const ModuleTaskOptions& options) {
  std::string text =
      "\n\n# More of forward's arguments, which `hone new` was told to give.\nimport torch\n\n_inputs_above = get_inputs\n\n\n"
      "def get_inputs():\n    return list(_inputs_above()) + [";
  for (size_t i = 0; i < options.inputs.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(const std::string call, InputCall(options.inputs[i]));
    text += (i == 0 ? "" : ",\n                                    ") + call;
  }
  return text + "]\n";
}

// Returns the names of the classes at the top level of a Python file that are derived from a Module, or from another such class.
std::vector<std::string> ModuleClasses(std::string_view text) {
  std::vector<std::string> names;
  for (size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    const size_t open = line.find('(');
    if (!line.starts_with("class ") || open == std::string_view::npos) continue;
    const std::string_view bases = line.substr(open);
    const auto derived = [&](const std::string& name) { return bases.find(name) != std::string_view::npos; };
    if (derived("Module") || std::any_of(names.begin(), names.end(), derived)) names.emplace_back(line.substr(6, open - 6));
  }
  return names;
}

// Returns whether the path names a file below the current folder.
bool IsBelow(const std::filesystem::path& file) { return file.is_relative() && file.string().find("..") == std::string::npos; }

// Returns Python's name of a file's module: from the current folder if the file is below it, else from its own folder.
std::string ModuleName(const std::filesystem::path& file) {
  std::string module;
  if (IsBelow(file)) {
    for (const std::filesystem::path& part : file.parent_path()) {
      if (part != ".") module += part.string() + ".";
    }
  }
  return module + file.stem().string();
}

Result<Dims> ReadSizes(const std::vector<std::string>& texts) {
  Dims sizes;
  for (const std::string& text : texts) {
    HONE_ASSIGN_OR_RETURN(const Dims more, ParseDims("--case", text, 1));
    for (const auto& [name, size] : more) sizes[name] = size;
  }
  return sizes;
}

}  // namespace

bool IsModuleProblem(std::string_view text) {
  return text.find("def get_inputs") != std::string_view::npos && text.find("__global__") == std::string_view::npos;
}

std::string WhyNoModuleProblem(std::string_view text, const std::string& path) {
  const std::vector<std::string> classes = ModuleClasses(text);
  const std::filesystem::path file(path);
  constexpr std::string_view kForm =
      "a problem file has a class Model, get_inputs() and get_init_inputs(), as docs/torch.md shows";
  if (classes.empty()) {
    return fmt::format("{} holds neither a CUDA kernel (__global__) nor a class derived from torch.nn.Module: {}", path,
                       kForm);
  }
  const std::string module = ModuleName(file);
  const std::string& name = classes.back();
  return fmt::format(
      "{} has no get_inputs(): {}; or name the class and what its forward takes{}: --from {}:{} --input "
      "'x=float32[rows,width]' --case rows=512,width=256 (and --init 'width' for its arguments){}",
      path, kForm, IsBelow(file) ? "" : ", from the folder of the file",
      module, name, classes.size() > 1 ? fmt::format("; the file has {}", fmt::join(classes, ", ")) : "");
}

Result<std::string> ProblemClass(std::string_view text, const std::string& path, const std::string& name) {
  const std::vector<std::string> classes = ModuleClasses(text);
  if (classes.empty() || std::find(classes.begin(), classes.end(), "Model") != classes.end()) return std::string("Model");
  if (classes.size() == 1) return classes.front();
  std::string commands;
  for (const std::string& one : classes) commands += fmt::format("\n  hone new {} --from {}:{}", name, ModuleName(path), one);
  return Status::InvalidArgument(fmt::format("{} has no class Model and {} other modules; name the one that get_inputs() and get_init_inputs() are for{}:{}", path,
                                             classes.size(), IsBelow(path) ? "" : ", from the folder of the file", commands));
}

Result<ModuleTaskDraft> DraftModuleTask(const ModuleTaskOptions& options, const PythonOptions& python_options) {
  HONE_ASSIGN_OR_RETURN(const auto sizes, ReadSizes(options.sizes));
  std::vector<std::string> readable;
  json job = {{"file", options.file}, {"class", options.class_name}, {"training", !options.eval}, {"or_eval", options.eval_where_dropout}, {"fixed", options.fixed},
              {"seed", options.seed}, {"threads", python_options.threads}};
  if (options.definition) {
    job["definition"] = options.definition->text;
    job["workloads"] = options.definition->workloads;
    job["workload_file"] = options.definition->workload_file;
    job["files"] = options.definition->files;
    job["sizes"] = sizes;
    readable = options.definition->readable;
  } else if (options.board) {
    job["board"] = {{"name", options.board->name}, {"folder", options.board->folder}};
    job["sizes"] = sizes;
    // task.yml lists files in the problem's folder and beside it.
    readable = {std::filesystem::path(options.board->folder).parent_path().string()};
  } else if (options.module.empty()) {
    job["text"] = options.text;
    job["sizes"] = sizes;
    if (!options.inputs.empty()) {
      HONE_ASSIGN_OR_RETURN(const std::string added, MoreInputsText(options));
      job["text"] = options.text + added;
      json names = json::array();
      for (const std::string& input : options.inputs) names.push_back(input.substr(0, input.find('=')));
      job["more_inputs"] = names;
    }
  } else {
    readable = {options.folder};
    HONE_ASSIGN_OR_RETURN(const std::string added, AddedText(options, sizes));
    job["module"] = options.module;
    job["added"] = added;
    job["folder"] = options.folder;
  }
  HONE_ASSIGN_OR_RETURN(const Python python, FindPython(python_options.environment));
  HONE_ASSIGN_OR_RETURN(const TemporaryDirectory scratch, MakeTemporaryDirectory("", "hone-torch-"));
  HONE_ASSIGN_OR_RETURN(PythonStart start, StartOf(python, DescribeScript(), scratch.path(), python_options, readable));
  start.sandbox.cpu_seconds = static_cast<int64_t>(8 * options.limit_seconds);  // CPU seconds of all threads together
  // A benchmark's definition or problem has no costs in its task.
  std::optional<OperatorTiming> timing;
  if (options.timing.wanted && !options.definition && !options.board) timing.emplace(python, job, python_options, options.timing.gpu, readable);
  SubprocessOptions run;
  run.argv = std::move(start.argv);
  run.environment = std::move(start.environment);
  run.working_directory = scratch.path();
  run.sandbox = std::move(start.sandbox);
  run.stdin_text = DumpJson(job);
  run.limit_seconds = options.limit_seconds;
  run.max_stdout_bytes = 16 << 20;
  HONE_ASSIGN_OR_RETURN(const SubprocessResult ran, RunSubprocess(run));
  if (ran.timed_out) {
    return Status::InvalidArgument(fmt::format("{} took more than {:.0f} s to be tried and was ended: make its sizes smaller, or give it more with --limit",
                                               options.file, options.limit_seconds));
  }
  const size_t mark = ran.out.rfind("hone: ");
  if (mark == std::string::npos) {
    const bool killed = ran.exit.signal == 9 || ran.exit.signal == 11 || ran.exit.signal == 6;
    std::string line = ran.err.substr(0, ran.err.find_last_not_of(" \r\n") + 1);
    line = line.substr(line.rfind('\n') == std::string::npos ? 0 : line.rfind('\n') + 1);
    return Status::InvalidArgument(fmt::format("{}: the Python process ended with {}{}: {}", options.file, ran.exit.Describe(),
                                               line.empty() ? "" : fmt::format(" ({})", line.substr(0, 300)),
                                               killed ? "it may need more memory than it is given (--memory), or its own code ended it" : "its code ended it; leave out what calls exit"));
  }
  const std::string_view report = std::string_view(ran.out).substr(mark + 6);
  const auto described_at = std::chrono::steady_clock::now();
  std::optional<Result<OperatorProfile>> profile;
  if (timing && !report.starts_with("{\"error\"")) profile = timing->Finish(kTimingGraceSeconds);  // a refusal waits for nothing
  const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - described_at).count();
  HONE_ASSIGN_OR_RETURN(ModuleTaskDraft draft, DraftOfReport(options, report, std::move(profile)));
  draft.sandbox_warnings = ran.sandbox.Warnings();
  draft.seconds = ran.seconds + waited;
  return draft;
}

Result<ModuleTaskDraft> DraftOfReport(const ModuleTaskOptions& options, std::string_view report, std::optional<Result<OperatorProfile>> profile) {
  HONE_ASSIGN_OR_RETURN(const json answer, ParseJson(report, "the description of the module"));
  std::map<std::string, std::string> dim_names;
  Names names;
  HONE_ASSIGN_OR_RETURN(Description described, ReadDescription(answer, &dim_names, &names));
  if (!described.error.empty()) {
    const bool missing = described.error.starts_with("PyTorch does not load");
    return missing ? Status::Unavailable(described.error) : Status::InvalidArgument(described.error);
  }
  ModuleTaskDraft draft;
  if (described.costs) {
    const bool measured = profile && profile->ok();
    const std::string why = profile && !measured ? profile->status().message() : options.timing.untimed;
    for (std::string& note : measured ? MeasuredCostNotes(**profile) : ComputedCostNotes(*described.costs, why)) described.notes.push_back(std::move(note));
    if (measured) draft.profile = **std::move(profile);
  }
  draft.reference_py = described.text.empty() ? options.text : described.text;
  draft.notes = described.notes;
  draft.torch = described.torch;
  for (const DescribedDim& dim : described.dims) {
    draft.inferred.push_back(fmt::format("size {}: {} in the file, {} to {} in hidden cases{}", dim_names.at(dim.name), dim.size, dim.low, dim.high,
                                         dim.multiple > 1 ? fmt::format(", a multiple of {}", dim.multiple) : ""));
  }
  const auto tensors = [&](const char* what, const std::vector<DescribedTensor>& list) {
    for (const DescribedTensor& tensor : list) {
      if (!tensor.value.empty()) continue;
      draft.inferred.push_back(fmt::format("{} {}: {}[{}]{}", what, tensor.name, tensor.dtype, fmt::join(tensor.shape, ", "),
                                           tensor.values.empty() ? "" : ", drawn as " + tensor.values));
    }
  };
  tensors("input", described.inputs);
  tensors("weight", described.state);
  tensors("output", described.outputs);
  draft.inferred.push_back(
      described.slice.empty()
          ? "no size is independent of the others: outputs are judged whole"
          : fmt::format("slice {}: outputs along it are independent, by permuting and by leaving out",
                        described.slice));
  const std::string file = options.file;
  Writer writer(options, std::move(described), std::move(dim_names), std::move(names));
  draft.task_toml = writer.WriteToml();
  HONE_ASSIGN_OR_RETURN(draft.seed_cu, writer.SeedText());
  const Result<Task> task = ParseTask(draft.task_toml, "task.toml of " + file);
  if (!task.ok()) return Status::Internal("the task that was made of it cannot be read: " + task.status().message());
  if (!draft.seed_cu.empty()) {
    if (const Result<Candidate> seed = ParseCandidate(draft.seed_cu, "seed.cu of " + file, *task); !seed.ok()) {
      return Status::Internal("the seed that was made of it cannot be read: " + seed.status().message());
    }
  }
  return draft;
}

}  // namespace hone
