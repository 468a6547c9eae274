// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads task.toml (docs/task-format.md) and refuses a task that does not make sense: every shape of every case of a
// Task can be resolved without further checks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/files/file.h"
#include "base/text/toml_document.h"
#include "hone/tuner/task.h"
#include "tuner/core/plan/expression_fields.h"
#include "tuner/core/plan/reserved_names.h"
#include "tuner/core/task/packed_numbers.h"
#include "tuner/core/task/property.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/core/task/torch_module.h"

namespace hone {

namespace {

bool IsSigned(DType dtype) {
  return dtype != DType::kUInt8 && dtype != DType::kUInt32 && dtype != DType::kUInt64 && dtype != DType::kBool;
}

constexpr size_t kMaxRank = 8;  // limit on the axes of a tensor
// Limit on the errors that are reported at once, one line each; a file written by hand may have several.
constexpr size_t kMostErrors = 20;
// Seeds for which a [[hidden]] group must yield a shape when the task is read, so that later draws succeed too.
constexpr uint64_t kHiddenProbes = 16;
constexpr double kMostVary = 1e6;            // limit of the field `vary` of values
constexpr int64_t kMaxFileBytes = 64 << 20;  // limit on a task's files, because a name such as /dev/zero has no end

class TaskParser {
 public:
  TaskParser(const TomlNode& root, std::string_view file) : root_(root), errors_(file, kMostErrors) {}

  Result<Task> Run() {
    TableReader reader(root_, "", errors_);
    task_.name = reader.RequiredString("name");
    if (!task_.name.empty() && !IsIdentifier(task_.name)) {
      reader.Error("name", fmt::format("'{}' is not an identifier (letters, digits, underscores)", task_.name));
    }
    task_.summary = reader.RequiredString("summary");
    ReadClass(reader);
    ReadDims(reader);
    usual_special_ = ReadSpecial(reader).value_or(kUsualSpecials);
    task_.slice = reader.String("slice").value_or("");
    if (!task_.slice.empty() && !IsDim(task_.slice)) {
      reader.Error("slice", fmt::format("'{}' is not a dimension{}", task_.slice, Suggestion(task_.slice, dim_names_)));
    }
    ReadTensors(reader);
    tensors_known_ = errors_.ok();
    CheckSlice(reader);
    ReadScalars(reader);
    ReadTolerances(reader);
    if (tensors_known_)
      ReadTorchModule(reader, task_, errors_);
    else
      (void)reader.Table("reference");
    ReadWork(reader);
    ReadCases(reader);
    ReadHidden(reader);
    ReadHand(reader);
    if (tensors_known_) {
      ReadProperties(reader, task_, errors_);
    } else {
      for (const std::string_view key : {"property", "example"}) (void)reader.Tables(key);
    }
    reader.Finish();
    if (!errors_.ok()) return errors_.status();
    return std::move(task_);
  }

 private:
  bool IsDim(const std::string& name) const {
    return std::find(dim_names_.begin(), dim_names_.end(), name) != dim_names_.end();
  }

  // Refuses a slice that is not an axis of any output: timed shapes would pass without a comparison, since no part of
  // an output would belong to a slice.
  void CheckSlice(TableReader& reader) {
    if (task_.slice.empty() || !tensors_known_) return;
    std::string outputs;
    for (const TensorSpec& tensor : task_.tensors) {
      if (!IsOutput(tensor)) continue;
      if (tensor.slice_axis >= 0) return;
      std::vector<std::string> axes;
      for (const Expression& axis : tensor.shape) axes.push_back(axis.text());
      outputs += fmt::format("{}{} is [{}]", outputs.empty() ? "" : ", ", tensor.name, fmt::join(axes, ", "));
    }
    reader.Error("slice",
                 fmt::format("no output has an axis that is '{0}' alone ({1}): give one the shape [\"{0}\", …], as "
                             "`--shape NAME={0},…` of `hone new` does, or leave `slice` out",
                             task_.slice, outputs));
  }

  // Adds `name` to the task's names (of dimensions, tensors and scalars), or reports why that is not possible.
  void TakeName(TableReader& reader, std::string_view key, const std::string& name) {
    if (!IsIdentifier(name)) {
      reader.Error(key, fmt::format("'{}' is not an identifier (letters, digits, underscores)", name));
    } else if (IsReservedName(name)) {
      reader.Error(key, fmt::format("'{}' has a meaning of its own in launch plans; choose another name", name));
    } else if (!names_.insert(name).second) {
      reader.Error(key, fmt::format("'{}' is already the name of a dimension, tensor or scalar", name));
    }
  }

  // Adds an error if an expression names something that is no dimension.
  void CheckNames(TableReader& reader, std::string_view key, const Expression& expression) {
    if (dim_names_.empty()) return;  // reported already
    for (const std::string& name : expression.Names()) {
      if (IsDim(name)) continue;
      reader.Error(
          key, fmt::format("'{}' in '{}' is not a dimension{}", name, expression.text(), Suggestion(name, dim_names_)));
      return;
    }
  }

  // Reads `class`.
  void ReadClass(TableReader& reader) {
    const std::string name = reader.RequiredString("class");
    if (name.empty()) return;
    if (const std::optional<WorkloadClass> workload = WorkloadClassFromName(name)) {
      task_.workload = *workload;
      return;
    }
    std::vector<std::string> known_names;
    for (int i = 0; i <= static_cast<int>(WorkloadClass::kOther); ++i) {
      known_names.emplace_back(WorkloadClassName(static_cast<WorkloadClass>(i)));
    }
    reader.Error("class", fmt::format("'{}' is not one of {}", name, fmt::join(known_names, ", ")));
  }

  // Reads [dims].
  void ReadDims(TableReader& reader) {
    const TomlNode* table = reader.Table("dims");
    if (table == nullptr || table->entries.empty()) {
      if (errors_.ok()) reader.Missing("dims", "a task has at least one dimension: [dims] with name = \"description\"");
      return;
    }
    TableReader dims(*table, "[dims]", errors_);
    for (const auto& [name, node] : table->entries) {
      const std::optional<std::string> description = dims.String(name);
      TakeName(dims, name, name);
      dim_names_.push_back(name);
      task_.dims.emplace_back(name, description.value_or(""));
    }
  }

  // Returns "[[tensor]] #2 'out'", or less if the name is not known.
  static std::string Context(std::string_view table, size_t index, const std::string& name = {}) {
    return name.empty() ? fmt::format("[[{}]] #{}", table, index + 1)
                        : fmt::format("[[{}]] #{} '{}'", table, index + 1, name);
  }

  // Reads all tensors, and checks what concerns several of them.
  void ReadTensors(TableReader& reader) {
    const std::vector<const TomlNode*> tables = reader.Tables("tensor");
    for (size_t i = 0; i < tables.size(); ++i) ReadTensor(*tables[i], i);
    if (!errors_.ok()) return;
    if (std::none_of(task_.tensors.begin(), task_.tensors.end(),
                     [](const TensorSpec& tensor) { return tensor.role != TensorRole::kIn; })) {
      reader.Missing("tensor", "a task has at least one tensor with role \"out\" or \"inout\"");
    }
    for (size_t i = 0; i < tables.size() && errors_.ok(); ++i) {
      const TensorSpec& tensor = task_.tensors[i];
      if (tensor.alias.empty()) continue;
      TableReader fields(*tables[i], Context("tensor", i, tensor.name), errors_);
      const TensorSpec* target = task_.FindTensor(tensor.alias);
      if (tensor.role != TensorRole::kOut) {
        fields.Error("alias", "only a tensor with role \"out\" may share an input's storage");
      } else if (target == nullptr || target->role != TensorRole::kIn) {
        fields.Error("alias", fmt::format("'{}' is not a tensor with role \"in\"", tensor.alias));
      } else if (target->dtype != tensor.dtype) {
        fields.Error("alias",
                     fmt::format("'{}' has another dtype; storage is shared between equal types only", tensor.alias));
      }
    }
  }

  // Reads one [[tensor]].
  void ReadTensor(const TomlNode& table, size_t index) {
    TensorSpec tensor;
    if (const TomlNode* name = table.Find("name"); name != nullptr) tensor.name = name->string;
    TableReader reader(table, Context("tensor", index, tensor.name), errors_);
    tensor.name = reader.RequiredString("name");
    if (!tensor.name.empty()) TakeName(reader, "name", tensor.name);

    if (!reader.Has("role")) reader.Missing("role", "one of in, out, inout");
    if (const std::optional<std::string> role = reader.Word("role", {"in", "out", "inout"})) {
      tensor.role = *role == "in" ? TensorRole::kIn : *role == "out" ? TensorRole::kOut : TensorRole::kInOut;
    }
    const std::string dtype = reader.RequiredString("dtype");
    if (const std::optional<DType> parsed_dtype = DTypeFromName(dtype)) {
      tensor.dtype = *parsed_dtype;
    } else {
      reader.Error("dtype", fmt::format("'{}' is not one of {}", dtype, DTypeNames()));
    }
    if (std::optional<std::vector<Expression>> shape = TakeExpressions(reader, "shape")) {
      tensor.shape = std::move(*shape);
    } else if (!reader.Has("shape")) {
      reader.Missing("shape", "an array of expressions over the dimensions");
    }
    if (tensor.shape.size() > kMaxRank) reader.Error("shape", fmt::format("has more than {} axes", kMaxRank));
    for (const Expression& extent : tensor.shape) CheckNames(reader, "shape", extent);
    if (std::optional<std::vector<Expression>> strides = TakeExpressions(reader, "strides")) {
      tensor.strides = std::move(*strides);
      for (const Expression& stride : tensor.strides) CheckNames(reader, "strides", stride);
      if (tensor.strides.size() != tensor.shape.size()) {
        reader.Error("strides", fmt::format("has {} entries, and the shape {}; give one per axis, in elements",
                                            tensor.strides.size(), tensor.shape.size()));
      }
    }
    tensor.align = reader.Integer("align").value_or(16);
    const bool power_of_two = tensor.align > 0 && (tensor.align & (tensor.align - 1)) == 0;
    if (!power_of_two || tensor.align > 4096 || tensor.align < DTypeBytes(tensor.dtype)) {
      reader.Error("align", fmt::format("{} is not a power of two between the element's size ({}) and 4096",
                                        tensor.align, DTypeBytes(tensor.dtype)));
    }
    tensor.alias = reader.String("alias").value_or("");
    for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
      if (!task_.slice.empty() && tensor.shape[axis].text() == task_.slice) {
        if (tensor.slice_axis >= 0) {
          reader.Error("shape", fmt::format("two axes are the slice dimension '{}'; at most one may be", task_.slice));
        }
        tensor.slice_axis = static_cast<int>(axis);
      }
    }
    if (reader.Has("values") && tensor.role == TensorRole::kOut) {
      reader.Error("values", "an output is not drawn; leave its values out");
    }
    if (reader.Has("stress") && tensor.role == TensorRole::kOut) {
      reader.Error("stress", "an output is not drawn; leave this out");
    }
    GiveValuesOfTheDType(tensor);
    ReadValues(reader, tensor);
    CheckValuesOfTheDType(reader, tensor);
    // Offsets must ascend and an index must stay below its bound, whatever the inputs are. So stress inputs only make
    // rows longer and shorter, and the values of an index repeat.
    tensor.stress = reader.Boolean("stress").value_or(true) && (!DrawsIntegers(tensor.values.distribution) || !IsFloating(tensor.dtype));
    tensor.values.any_power = tensor.dtype == DType::kFloat8E8M0 && !reader.Has("values");
    const std::optional<unsigned> special = ReadSpecial(reader);
    if (special && (tensor.role == TensorRole::kOut || !tensor.stress || !IsFloating(tensor.dtype))) {
      reader.Error("special",
                   "only floating-point inputs that are stressed are drawn with special values; leave this out");
    }
    if (tensor.role != TensorRole::kOut && tensor.stress && IsFloating(tensor.dtype)) {
      tensor.values.special = special.value_or(usual_special_);
      // Powers of two have no infinity, and those that float32 holds as subnormal numbers are numbers like all others.
      if (tensor.dtype == DType::kFloat8E8M0) tensor.values.special &= kSpecialNan;
    }
    reader.Finish();
    task_.tensors.push_back(std::move(tensor));
  }

  // Sets the default values of dtypes for which normal numbers make no sense: a truth value is 0 or 1, and a block's
  // scale is a positive power of two.
  static void GiveValuesOfTheDType(TensorSpec& tensor) {
    if (tensor.dtype == DType::kBool) {
      tensor.values.distribution = Distribution::kIndex;
      tensor.values.index_bound = std::move(*Expression::Parse("2"));
    } else if (tensor.dtype == DType::kFloat8E8M0) {
      tensor.values.distribution = Distribution::kLogUniform;
      tensor.values.low = 0x1p-8;
      tensor.values.high = 0x1p8;
    }
  }
  // Checks that a tensor's values fit its dtype.
  void CheckValuesOfTheDType(TableReader& reader, const TensorSpec& tensor) {
    if (tensor.role == TensorRole::kOut) return;
    const ValueSpec& values = tensor.values;
    if (tensor.dtype == DType::kBool && values.distribution != Distribution::kZero &&
        !(values.distribution == Distribution::kIndex && values.index_bound && values.index_bound->text() == "2")) {
      reader.Error("values", "a bool is 0 or 1: leave the values out, or say { distribution = \"index\", bound = 2 }");
    }
    if (tensor.dtype == DType::kFloat8E8M0 && values.distribution != Distribution::kLogUniform) {
      reader.Error("values",
                   "float8_e8m0fnu holds positive powers of two: say { distribution = \"log_uniform\", low = …, high = … }");
    }
  }

  // Returns the bits of `special`, the special values (NaN, infinities, …) that the task or one tensor may contain;
  // nullopt: the field is absent.
  std::optional<unsigned> ReadSpecial(TableReader& reader) {
    const std::optional<std::vector<std::string>> names = reader.Strings("special");
    if (!names) return std::nullopt;
    unsigned special = 0;
    for (const std::string& name : *names) {
      const std::optional<SpecialValue> value = SpecialValueFromName(name);
      if (!value) {
        reader.Error("special",
                     fmt::format("'{}' is not one of inf, -inf, nan, subnormal; [] covers none of them", name));
        continue;
      }
      special |= *value;
    }
    return special;
  }

  void ReadValues(TableReader& reader, TensorSpec& tensor) {
    if (const TomlNode* table = reader.Table("values")) ReadValueTable(*table, reader.context() + " values", tensor);
  }

  // Reads a table such as { distribution = "uniform", low = -1, high = 1 } into the tensor's values.
  void ReadValueTable(const TomlNode& table, const std::string& context, TensorSpec& tensor) {
    TableReader values(table, context, errors_);
    const std::string name = values.RequiredString("distribution");
    const std::optional<Distribution> distribution = DistributionFromName(name);
    if (!distribution && name.empty()) return;  // reported already
    if (!distribution) {
      std::vector<std::string> known_names;
      for (int i = 0; i <= static_cast<int>(Distribution::kOffsets); ++i) {
        known_names.emplace_back(DistributionName(static_cast<Distribution>(i)));
      }
      values.Error("distribution", fmt::format("'{}' is not one of {}", name, fmt::join(known_names, ", ")));
      return;
    }
    ValueSpec& spec = tensor.values;
    spec.distribution = *distribution;
    // Stress inputs (sorted, cancelling, heavy-tailed, …) use the tensor's scale and offset too, so every distribution
    // of floating-point numbers may set them.
    if (!DrawsIntegers(*distribution)) {
      ReadParameter(values, "scale", spec.scale, spec.scale_text);
      ReadParameter(values, "offset", spec.offset, spec.offset_text);
    }
    switch (*distribution) {
      case Distribution::kUniform:
      case Distribution::kLogUniform: {
        const bool positive = *distribution == Distribution::kLogUniform;
        if (positive) spec.low = 1e-3;
        ReadParameter(values, "low", spec.low, spec.low_text);
        ReadParameter(values, "high", spec.high, spec.high_text);
        const bool numbers = !spec.low_text && !spec.high_text;  // expressions are checked case by case
        if (numbers && (!(spec.low < spec.high) || (positive && !(spec.low > 0)))) {
          values.Error("low", fmt::format("needs {}low < high, found low = {}, high = {}", positive ? "0 < " : "",
                                          spec.low, spec.high));
        }
        break;
      }
      case Distribution::kIndex:
      case Distribution::kOffsets:
        spec.index_bound = TakeExpression(values, "bound");
        if (!values.Has("bound")) {
          values.Missing("bound", *distribution == Distribution::kIndex
                                      ? "an index tensor says below what its values stay"
                                      : "offsets say where the last row ends");
        }
        if (spec.index_bound) CheckNames(values, "bound", *spec.index_bound);
        if (IsFloating(tensor.dtype)) {
          values.Error("distribution", fmt::format("'{}' needs an integer dtype, and this tensor is {}", name,
                                                   DTypeName(tensor.dtype)));
        }
        if (*distribution == Distribution::kIndex) {
          ReadParameter(values, "low", spec.low, spec.low_text);
          if (!spec.low_text && !(spec.low >= 0 && spec.low == std::floor(spec.low) && spec.low < 0x1p53)) {
            values.Error("low", fmt::format("{} is not a whole number of 0 or more", spec.low));
            spec.low = 0;
          }
          ReadIndexOrder(values, tensor);
        }
        break;
      case Distribution::kZero:
        break;
      default:
        spec.vary = values.Number("vary").value_or(spec.vary);
        if (!(spec.vary >= 1 && spec.vary <= kMostVary)) {
          values.Error(
              "vary",
              fmt::format("{} is not between 1 and {}: scale and offset are each multiplied by a factor from 1 / "
                          "vary to vary",
                          spec.vary, kMostVary));
          spec.vary = 1;
        }
        break;
    }
    for (const double value : {spec.low, spec.high, spec.scale, spec.offset}) {
      if (!std::isfinite(value) || std::fabs(value) > 3e38)
        values.Error("", "parameters must be finite float32 numbers");
    }
    values.Finish();
  }

  // Reads a number into `number`, or a string with an expression over the dimensions into `text`. Leaves both unchanged
  // if the key is absent.
  void ReadParameter(TableReader& values, std::string_view key, double& number, std::optional<Expression>& text) {
    const TomlNode* node = values.Take(key);
    if (node == nullptr) return;
    if (node->kind == TomlNode::Kind::kString) {
      text = TakeExpression(values, key);
      if (text) CheckNames(values, key, *text);
    } else {
      number = values.Number(key).value_or(number);
    }
  }

  // Reads how the elements of an index tensor are related: `distinct`, `sorted`, `padding`.
  void ReadIndexOrder(TableReader& values, TensorSpec& tensor) {
    ValueSpec& spec = tensor.values;
    if (const std::optional<std::string> distinct = values.Word("distinct", {"tensor", "row"})) {
      spec.index_order = *distinct == "row" ? IndexOrder::kDistinctRows : IndexOrder::kDistinct;
      const int last = static_cast<int>(tensor.shape.size()) - 1;
      if (*distinct == "row" && (last < 0 || tensor.slice_axis == last)) {
        values.Error(
            "distinct",
            "the last axis is the slice dimension, so a row would lie across slices; only \"tensor\" can be said");
      }
    }
    const bool sorted = values.Boolean("sorted").value_or(false);
    spec.padding = values.Number("padding").value_or(0.0);
    if (!(spec.padding >= 0 && spec.padding < 1)) {
      values.Error("padding",
                   fmt::format("{} is not a share of the elements: 0 or more and less than 1", spec.padding));
      spec.padding = 0;
    }
    if (spec.padding > 0 && !IsSigned(tensor.dtype)) {
      values.Error("padding", fmt::format("padding entries are -1, which {} cannot hold", DTypeName(tensor.dtype)));
    }
    if (sorted) {
      if (spec.index_order != IndexOrder::kIndependent || spec.padding > 0) {
        values.Error("sorted",
                     "sorted indices repeat and have no padding; leave out `distinct` and `padding`, or this");
      }
      spec.index_order = IndexOrder::kAscending;
    }
    ReadMask(values, tensor);
  }

  // Reads `ones`, `some` and `along`, which make a mask of an index tensor with the bound 2.
  void ReadMask(TableReader& values, TensorSpec& tensor) {
    const bool has_share = values.Has("ones"), has_lines = values.Has("some") || values.Has("along");
    if (!has_share && !has_lines) return;
    ValueSpec& spec = tensor.values;
    if (!spec.index_bound || spec.index_bound->text() != "2" || spec.low != 0 || spec.low_text ||
        spec.index_order != IndexOrder::kIndependent || spec.padding > 0) {
      values.Error(has_share ? "ones" : "some",
                   "a mask holds zeros and ones: say bound = 2, and leave out low, distinct, sorted and padding");
    }
    spec.index_order = IndexOrder::kMask;
    spec.share_of_ones = values.Number("ones").value_or(0.5);
    if (!(spec.share_of_ones > 0 && spec.share_of_ones < 1)) {
      values.Error("ones", fmt::format("{} is not a share of ones: more than 0 and less than 1", spec.share_of_ones));
      spec.share_of_ones = 0.5;
    }
    if (!has_lines) return;
    const std::optional<int64_t> some = values.Integer("some"), along = values.Integer("along");
    const auto axes = static_cast<int64_t>(tensor.shape.size());
    if (!some || !along || *some < 0 || *some > 1 || *along < 0 || *along >= axes) {
      values.Error("some",
                   fmt::format("say which value, 0 or 1, each line holds at least once, and in `along` the axis of "
                               "the lines, 0 to {}",
                               axes - 1));
    } else if (*along == tensor.slice_axis) {
      values.Error("along", "this axis is the slice dimension, so a line would lie across slices; name another axis");
    } else {
      spec.guaranteed_value = static_cast<int>(*some);
      spec.line_axis = static_cast<int>(*along);
    }
  }

  // Reads all [[scalar]] entries.
  void ReadScalars(TableReader& reader) {
    const std::vector<const TomlNode*> tables = reader.Tables("scalar");
    for (size_t i = 0; i < tables.size(); ++i) {
      ScalarSpec scalar;
      TableReader fields(*tables[i], Context("scalar", i), errors_);
      scalar.name = fields.RequiredString("name");
      if (!scalar.name.empty()) TakeName(fields, "name", scalar.name);
      const std::string dtype = fields.String("dtype").value_or("float32");
      if (const std::optional<DType> parsed_dtype = DTypeFromName(dtype);
          parsed_dtype && IsFloating(*parsed_dtype) && DTypeBytes(*parsed_dtype) > 1) {
        scalar.dtype = *parsed_dtype;
      } else {
        fields.Error("dtype", fmt::format("'{}' is not one of float64, float32, float16, bfloat16; an integer is a "
                                          "dimension or an expression of the plan",
                                          dtype));
      }
      const std::optional<double> value = fields.Number("value");
      if (!fields.Has("value")) fields.Missing("value");
      scalar.value = value.value_or(0.0);
      fields.Finish();
      task_.scalars.push_back(std::move(scalar));
    }
  }

  // Reads [tolerance]: one table for each output.
  void ReadTolerances(TableReader& reader) {
    const TomlNode* table = reader.Table("tolerance");
    std::vector<std::string> outputs;
    for (const TensorSpec& tensor : task_.tensors) {
      if (tensor.role != TensorRole::kIn) outputs.push_back(tensor.name);
    }
    for (const std::string& output : outputs) {
      // In a task with properties, an output may have more than one right value and then needs no tolerance.
      if (tensors_known_ && !reader.Has("property") && (table == nullptr || table->Find(output) == nullptr)) {
        reader.Missing("tolerance", fmt::format("output '{0}' needs [tolerance.{0}] with c_max and c_rms", output));
      }
    }
    if (table == nullptr) return;
    TableReader tolerances(*table, "[tolerance]", errors_);
    for (const std::string& output : outputs) {
      const TomlNode* entry = tolerances.Table(output);
      if (entry == nullptr) continue;
      TableReader fields(*entry, fmt::format("[tolerance.{}]", output), errors_);
      Tolerance tolerance;
      for (const auto& [key, target] : {std::pair{"c_max", &tolerance.c_max}, std::pair{"c_rms", &tolerance.c_rms}}) {
        const std::optional<double> value = fields.Number(key);
        if (!fields.Has(key)) fields.Missing(key);
        if (value && !(*value >= 0 && std::isfinite(*value)))
          fields.Error(key, "must be a finite number, zero or more");
        *target = value.value_or(0.0);
      }
      for (const auto& [key, target] :
           {std::pair{"abs", &tolerance.absolute}, std::pair{"c_small", &tolerance.c_small}}) {
        *target = fields.Number(key).value_or(0.0);
        if (!(*target >= 0 && std::isfinite(*target))) fields.Error(key, "must be a finite number, zero or more");
      }
      tolerance.small_floor = fields.Number("small_floor").value_or(tolerance.small_floor);
      if (!(tolerance.small_floor >= 0 && tolerance.small_floor <= 1))
        fields.Error("small_floor", "must lie between 0 and 1");
      if (fields.Has("small_floor") && tolerance.c_small == 0)
        fields.Error("small_floor", "means nothing without c_small");
      fields.Finish();
      task_.tolerance[output] = tolerance;
    }
    if (tensors_known_) tolerances.Finish();
  }

  // Reads [work]: operations and bytes of one launch.
  void ReadWork(TableReader& reader) {
    const TomlNode* table = reader.Table("work");
    if (table == nullptr) return;
    TableReader work(*table, "[work]", errors_);
    task_.flops = TakeExpression(work, "flops");
    task_.bytes = TakeExpression(work, "bytes");
    if (task_.flops) CheckNames(work, "flops", *task_.flops);
    if (task_.bytes) CheckNames(work, "bytes", *task_.bytes);
    work.Finish();
  }

  // Returns the sizes of exactly the task's dimensions; reports one that is missing, unknown or negative.
  Dims ReadCaseDims(TableReader& reader) {
    Dims dims;
    const TomlNode* table = reader.Table("dims");
    if (table == nullptr) {
      if (errors_.ok()) reader.Missing("dims", "such as dims = { tokens = 16, d = 64 }");
      return dims;
    }
    TableReader fields(*table, reader.context() + " dims", errors_);
    for (const std::string& name : dim_names_) {
      const std::optional<int64_t> value = fields.Integer(name);
      if (!fields.Has(name)) fields.Missing(name, "a case gives every dimension a size");
      if (value && *value < 0) fields.Error(name, "must not be negative");
      dims[name] = value.value_or(0);
    }
    fields.Finish();
    return dims;
  }

  // Checks that everything that depends on dimensions has a value for `dims`.
  void CheckResolves(TableReader& reader, std::string_view key, const Dims& dims) {
    if (!errors_.ok()) return;
    for (const TensorSpec& tensor : task_.tensors) {
      Result<TensorShape> shape = ResolveShape(tensor, dims);
      if (!shape.ok()) {
        reader.Error(key, shape.status().message());
        return;
      }
      if (const Status drawable = CheckDrawable(tensor, *shape, dims); !drawable.ok()) {
        reader.Error(key, drawable.message());
      }
      if (!tensor.alias.empty()) {
        Result<TensorShape> target = ResolveShape(*task_.FindTensor(tensor.alias), dims);
        if (target.ok() && (target->shape != shape->shape || target->strides != shape->strides)) {
          reader.Error(key, fmt::format("tensor '{}' and its alias '{}' have different shapes or strides", tensor.name,
                                        tensor.alias));
        }
      }
    }
    for (const std::optional<Expression>* work : {&task_.flops, &task_.bytes}) {
      if (!*work) continue;
      Result<int64_t> value = (*work)->Evaluate(dims);
      if (!value.ok()) {
        reader.Error(key, value.status().message());
      } else if (*value < 0) {
        reader.Error(key, fmt::format("the work '{}' is negative ({})", (*work)->text(), *value));
      }
    }
  }

  // Reads other values of inputs for one check case: `values.x = { … }`, written like a tensor's.
  void ReadCaseValues(TableReader& reader, Case& one) {
    const TomlNode* table = reader.Table("values");
    if (table == nullptr) return;
    if (one.role != CaseRole::kCheck) reader.Error("values", "only check cases have values of their own");
    TableReader values(*table, reader.context() + " values", errors_);
    for (const auto& [name, node] : table->entries) {
      const TensorSpec* tensor = task_.FindTensor(name);
      if (tensor == nullptr || tensor->role == TensorRole::kOut || !IsFloating(tensor->dtype)) {
        values.Take(name);
        values.Error(name, tensor == nullptr ? "there is no tensor of this name"
                                             : "only floating-point inputs may be drawn otherwise");
        continue;
      }
      const TomlNode* values_table = values.Table(name);
      if (values_table == nullptr) continue;
      TensorSpec drawn = *tensor;
      drawn.values = {};
      drawn.values.special = tensor->values.special;
      ReadValueTable(*values_table, values.context() + " " + name, drawn);
      if (errors_.ok()) {
        // Check that the tensor can be drawn with these values at this case's dimensions.
        const Result<TensorShape> shape = ResolveShape(drawn, one.dims);
        const Status drawable = shape.ok() ? CheckDrawable(drawn, *shape, one.dims) : shape.status();
        if (!drawable.ok()) values.Error(name, drawable.message());
      }
      one.values[name] = std::move(drawn.values);
    }
    values.Finish();
  }

  // Reads all [[case]] entries.
  void ReadCases(TableReader& reader) {
    const std::vector<const TomlNode*> tables = reader.Tables("case");
    for (size_t i = 0; i < tables.size(); ++i) {
      TableReader fields(*tables[i], Context("case", i), errors_);
      Case one;
      if (!fields.Has("role")) fields.Missing("role", "one of time, check");
      if (const std::optional<std::string> role = fields.Word("role", {"time", "check"})) {
        one.role = *role == "time" ? CaseRole::kTime : CaseRole::kCheck;
      }
      one.dims = ReadCaseDims(fields);
      CheckResolves(fields, "dims", one.dims);
      ReadCaseValues(fields, one);
      fields.Finish();
      task_.cases.push_back(std::move(one));
    }
    if (errors_.ok() && std::none_of(task_.cases.begin(), task_.cases.end(),
                                     [](const Case& task_case) { return task_case.role == CaseRole::kCheck; })) {
      reader.Missing("case", "a task has at least one [[case]] with role = \"check\"");
    }
  }

  // Reads all [[hidden]] entries.
  void ReadHidden(TableReader& reader) {
    const std::vector<const TomlNode*> tables = reader.Tables("hidden");
    for (size_t i = 0; i < tables.size(); ++i) {
      TableReader fields(*tables[i], Context("hidden", i), errors_);
      HiddenGroup group;
      const int64_t count = fields.Integer("count").value_or(1);
      if (count < 1 || count > 64) fields.Error("count", fmt::format("{} is not between 1 and 64", count));
      group.count = static_cast<int>(std::clamp<int64_t>(count, 1, 64));
      for (const std::string& name : dim_names_) {
        if (fields.Has(name)) {
          group.ranges.push_back(ReadRange(fields, name));
        } else {
          fields.Missing(name, "a hidden group gives every dimension a range { low, high } or a size");
        }
      }
      fields.Finish();
      if (errors_.ok()) CheckGroup(fields, group);
      task_.hidden.push_back(std::move(group));
    }
  }

  // Orders the ranges so that each comes after those that it names, computes the ends of such related ranges, and
  // checks the shapes at the corners, which stand for the shapes between them.
  void CheckGroup(TableReader& fields, HiddenGroup& group) {
    if (!OrderRanges(fields, group)) return;
    Dims low, high;
    bool corners = true;
    for (HiddenRange& range : group.ranges) {
      const std::optional<HiddenRange> least = ResolveRange(range, low), most = ResolveRange(range, high);
      corners = corners && least && most;
      if (range.related()) {
        range.low = least ? least->low : most ? most->low : 1;
        range.high = std::max(range.low, most ? most->high : least ? least->high : 1);
      }
      const HiddenRange& at_low = least ? *least : range;
      const HiddenRange& at_high = most ? *most : range;
      low[range.dim] = (at_low.low + at_low.multiple - 1) / at_low.multiple * at_low.multiple;
      high[range.dim] = at_high.high / at_high.multiple * at_high.multiple;
    }
    if (corners) {
      CheckResolves(fields, "", low);
      CheckResolves(fields, "", high);
    }
    if (!errors_.ok()) return;
    Task task_of_one_group = task_;
    task_of_one_group.hidden = {group};
    for (uint64_t seed = 1; seed <= kHiddenProbes; ++seed) {
      if (DrawHiddenCases(task_of_one_group, seed).size() == static_cast<size_t>(group.count)) continue;
      fields.Error(
          "",
          "hardly any shape of these ranges can be drawn: relations between dimensions or distinct indices leave no "
          "size; make the ranges agree, such as with high = \"slots\"");
      return;
    }
  }

  // Sorts a group's ranges so that each follows the dimensions that its expressions name. Returns false after an error:
  // they name each other in a circle.
  bool OrderRanges(TableReader& fields, HiddenGroup& group) {
    std::vector<HiddenRange> ordered;
    const auto is_known_name = [&](const std::string& name) {
      return std::any_of(ordered.begin(), ordered.end(), [&](const HiddenRange& range) { return range.dim == name; });
    };
    while (!group.ranges.empty()) {
      const auto next = std::find_if(group.ranges.begin(), group.ranges.end(), [&](const HiddenRange& range) {
        for (const std::optional<Expression>* text : {&range.low_text, &range.high_text, &range.multiple_text}) {
          if (!*text) continue;
          const std::vector<std::string> names = (*text)->Names();
          if (!std::all_of(names.begin(), names.end(), is_known_name)) return false;
        }
        return true;
      });
      if (next == group.ranges.end()) {
        fields.Error(group.ranges.front().dim,
                     "its range depends on itself by way of other dimensions; let one of them be numbers");
        return false;
      }
      ordered.push_back(std::move(*next));
      group.ranges.erase(next);
    }
    group.ranges = std::move(ordered);
    return true;
  }

  // Reads an integer into `number`, or an expression over other dimensions into `text`.
  void ReadBound(TableReader& reader, std::string_view key, int64_t& number, std::optional<Expression>& text) {
    const std::optional<Expression> bound = TakeExpression(reader, key);
    if (!bound) return;
    CheckNames(reader, key, *bound);
    if (const Result<int64_t> constant = bound->Evaluate(Dims{}); constant.ok()) {
      number = *constant;
    } else {
      text = *bound;
    }
  }

  // Reads the range of one dimension: a size, or a table with low, high and multiple.
  HiddenRange ReadRange(TableReader& fields, const std::string& name) {
    HiddenRange range;
    range.dim = name;
    const TomlNode* node = fields.Take(name);
    if (node->kind == TomlNode::Kind::kInteger || node->kind == TomlNode::Kind::kString) {
      ReadBound(fields, name, range.low, range.low_text);
      range.high = range.low;
      range.high_text = range.low_text;
    } else if (node->kind == TomlNode::Kind::kTable) {
      TableReader reader(*node, fmt::format("{} {}", fields.context(), name), errors_);
      if (!reader.Has("low")) reader.Missing("low");
      if (!reader.Has("high")) reader.Missing("high");
      ReadBound(reader, "low", range.low, range.low_text);
      range.high = range.low;
      ReadBound(reader, "high", range.high, range.high_text);
      ReadBound(reader, "multiple", range.multiple, range.multiple_text);
      reader.Finish();
    } else {
      fields.Error(name, "expected a size, an expression in a string, or { low = …, high = … }");
    }
    const bool numbers = !range.related();
    const bool sane = range.low >= 1 && (range.low <= range.high || !numbers) && range.multiple >= 1 &&
                      range.high < (int64_t{1} << 40);
    if (!sane || (numbers && range.high / range.multiple * range.multiple < range.low)) {
      fields.Error(name, fmt::format("no size is left between low = {} and high = {} with multiple = {}; needs "
                                     "1 <= low <= high (zero sizes belong into check cases)",
                                     range.low, range.high, range.multiple));
      range.low = range.high = range.multiple = 1;
    }
    return range;
  }

  // Appends the numbers of a possibly nested array to `values`, in row-major order. Returns false if it contains
  // anything else.
  static bool Flatten(const TomlNode& node, std::vector<double>& values) {
    switch (node.kind) {
      case TomlNode::Kind::kInteger:
      case TomlNode::Kind::kFloat:
        values.push_back(node.number);
        return true;
      case TomlNode::Kind::kArray:
        return std::all_of(node.items.begin(), node.items.end(),
                           [&](const TomlNode& item) { return Flatten(item, values); });
      default:
        return false;
    }
  }

  // Reads the values of tensors in a [[hand]] entry. `inputs`: whether input or output tensors are read.
  void ReadHandValues(TableReader& fields, std::string_view key, const Dims& dims, bool inputs,
                      std::map<std::string, std::vector<double>>& values) {
    static const TomlNode kNone = [] {
      TomlNode none;
      none.kind = TomlNode::Kind::kTable;
      return none;
    }();
    const TomlNode* table = fields.Table(key);
    TableReader reader(table == nullptr ? kNone : *table, fmt::format("{} {}", fields.context(), key), errors_);
    for (const TensorSpec& tensor : task_.tensors) {
      if (tensor.role == (inputs ? TensorRole::kOut : TensorRole::kIn)) continue;
      const TomlNode* node = reader.Take(tensor.name);
      if (node == nullptr) {
        fields.Error(key, fmt::format("'{}.{}' is missing", key, tensor.name));
        return;
      }
      std::vector<double>& numbers = values[tensor.name];
      Result<TensorShape> shape = ResolveShape(tensor, dims);
      if (node->kind != TomlNode::Kind::kArray || !Flatten(*node, numbers)) {
        reader.Error(tensor.name, "expected an array of numbers");
      } else if (const int64_t wanted = !shape.ok() ? 0 : inputs ? shape->elements : AnswerNumbers(tensor, *shape);
                 shape.ok() && static_cast<int64_t>(numbers.size()) != wanted) {
        reader.Error(tensor.name, fmt::format("has {} numbers where the shape holds {}{}", numbers.size(), wanted,
                                              wanted != shape->elements ? ", two in each byte" : ""));
      }
    }
    reader.Finish();
  }

  // Reads all [[hand]] entries, the cases with results worked out by hand.
  void ReadHand(TableReader& reader) {
    const std::vector<const TomlNode*> tables = reader.Tables("hand");
    for (const TensorSpec& tensor : task_.tensors) {
      if (tables.empty() || tensor.role == TensorRole::kIn || task_.tolerance.contains(tensor.name) || !tensors_known_) continue;
      reader.Error("hand", fmt::format("'{}' has no tolerance, so the oracle has no answer to compare with one worked out by hand: write [[example]]", tensor.name));
    }
    for (size_t i = 0; i < tables.size(); ++i) {
      TableReader fields(*tables[i], Context("hand", i), errors_);
      HandWorkedCase hand;
      hand.dims = ReadCaseDims(fields);
      hand.candidates = fields.Boolean("candidates").value_or(true);
      CheckResolves(fields, "dims", hand.dims);
      if (errors_.ok()) ReadHandValues(fields, "inputs", hand.dims, /*inputs=*/true, hand.inputs);
      if (errors_.ok()) ReadHandValues(fields, "outputs", hand.dims, /*inputs=*/false, hand.outputs);
      for (const std::string_view key : {"inputs", "outputs"}) (void)fields.Take(key);
      fields.Finish();
      task_.hand_worked_cases.push_back(std::move(hand));
    }
  }

  const TomlNode& root_;
  TomlErrors errors_;
  Task task_;
  unsigned usual_special_ = kUsualSpecials;  // the task's special values, for tensors that do not give their own
  bool tensors_known_ = true;                // false: some tensor's name or role could not be read
  std::set<std::string> names_;
  std::vector<std::string> dim_names_;
};

// Returns the text of a task's file. A file that cannot be read is kInvalidArgument, like one that makes no sense.
Result<std::string> ReadText(const std::string& path) {
  Result<std::string> text = ReadFile(path, kMaxFileBytes);
  if (text.ok() || text.status().code() == StatusCode::kNotFound) return text;
  return Status::InvalidArgument(text.status().message());
}

}  // namespace

Result<Task> ParseTask(std::string_view toml, std::string_view file) {
  HONE_ASSIGN_OR_RETURN(const TomlNode root, ParseToml(toml, file));
  HONE_ASSIGN_OR_RETURN(Task task, TaskParser(root, file).Run());
  task.toml = std::string(toml);
  return task;
}

Result<Task> LoadTask(const std::string& directory) {
  const std::filesystem::path base(directory);
  std::error_code ignored;
  if (!std::filesystem::is_directory(base, ignored)) {
    return Status::NotFound(
        fmt::format("'{}' is not a folder; a task is a folder with task.toml and oracle.cu", directory));
  }
  const std::string file = (base / "task.toml").string();
  HONE_ASSIGN_OR_RETURN(const std::string toml, ReadText(file));
  HONE_ASSIGN_OR_RETURN(Task task, ParseTask(toml, file));
  Result<std::string> answers = ReadText((base / AnswerFile(task)).string());
  if (answers.status().code() == StatusCode::kNotFound) {
    return Status::NotFound(answers.status().message() +
                            "; it computes the right answers that candidates are held against (task-format.md in the "
                            "documentation), and `hone new` writes one for a kernel");
  }
  HONE_ASSIGN_OR_RETURN(task.oracle_source, std::move(answers));
  if (std::filesystem::exists(base / "seed.cu", ignored)) {
    HONE_ASSIGN_OR_RETURN(task.seed_source, ReadText((base / "seed.cu").string()));
  }
  if (std::filesystem::exists(base / "baseline.toml", ignored)) {
    HONE_ASSIGN_OR_RETURN(task.baseline_toml, ReadText((base / "baseline.toml").string()));
  }
  task.directory = directory;
  return task;
}

}  // namespace hone
