// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn models [MODEL] lists the published models and the operations that a user's model can be made of, and shows
// what a model is: its values with their rows and columns, its parameters, and its TOML.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/text/json_text.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/nn/spec_units.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/device.h"
#include "hone-gnn/train_flags.h"
#include "hone/gnn/model.h"

namespace hone::gnn {
namespace {

struct ModelsFlags {
  ModelFlags model;
  int64_t features = 128, classes = 16;
  std::string graph;  // whose features and classes are taken; empty: the numbers above
  bool toml = false, json = false;
  CLI::Option* name_argument = nullptr;
};

struct PublishedHelp {
  std::string_view name, what;
};
constexpr std::array kPublished = std::to_array<PublishedHelp>({
    {"sage", "GraphSAGE: the neighbors' mean, sum or maximum, beside the node's own row"},
    {"gat", "graph attention: neighbors weighed by learned scores, in one or several heads"},
    {"gin", "graph isomorphism: sums of neighbors, two linear maps a layer, a head of two"},
    {"sage-ri", "GraphSAGE with residual connections; its head reads the input and every layer"},
});

struct OperationHelp {
  std::string_view name, fields, what;
};
constexpr std::array kOperations = std::to_array<OperationHelp>({
    {"aggregate", "how = mean | sum | max, scale = none | symmetric",
     "combines the rows of the neighbors of each node"},
    {"attention", "width, heads, concatenate, negative_slope, bias",
     "sums neighbors and the node itself by learned weights"},
    {"linear", "width, bias, init = fan-in | xavier-relu | glorot", "multiplies each row by a matrix"},
    {"norm", "over = batch | layer", "normalises columns over the batch, or each row"},
    {"activate", "function = relu | leaky_relu | elu", "applies a function to each element"},
    {"drop", "probability, layer, site, after", "sets elements to zero at random while training"},
    {"add", "eps", "adds two or more values"},
    {"concat", "", "puts values side by side"},
    {"collect", "", "puts values side by side, for the seeds alone"},
    {"head", "bias", "multiplies each row by a matrix that gives the classes; the last value"},
});

// Returns the number of trainable weights of a model.
Result<int64_t> CountParameters(const ModelOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Model<float>> model, MakeModel(options));
  int64_t parameters = 0;
  for (const Parameter<float>* p : model->parameters()) {
    if (p->trainable()) parameters += static_cast<int64_t>(p->value.size());
  }
  return parameters;
}

// Says whose features and classes the sizes are for, and how to have those of one's own graph.
std::string SizesText(const ModelsFlags& flags) {
  return fmt::format("{} features and {} classes, {}", flags.features, flags.classes,
                     flags.graph.empty() ? "an example; --graph GRAPH takes those of a graph"
                                         : fmt::format("those of '{}'", flags.graph));
}

// Lists the published models and the operations, as text or as JSON.
Status List(const ModelsFlags& flags) {
  if (flags.toml) return Status::InvalidArgument("--toml: say which model, as in `hone-gnn models sage --toml`");
  nlohmann::json models = nlohmann::json::array(), operations = nlohmann::json::array();
  if (!flags.json) hone::Print("Published models, with their parameters for {}:\n\n", SizesText(flags));
  for (const PublishedHelp& published : kPublished) {
    ModelOptions options = flags.model.options;
    options.kind = published.name;
    options.in_width = flags.features;
    options.num_classes = flags.classes;
    if (flags.model.layers > 0) options.layers = flags.model.layers;
    HONE_ASSIGN_OR_RETURN(const int64_t parameters, CountParameters(options));
    if (!flags.json)
      hone::Print("  {:<10} {}\n  {:<10} {} parameters\n", published.name, published.what, "", parameters);
    models.push_back({{"name", published.name},
                      {"what", published.what},
                      {"layers", options.layers},
                      {"hidden", options.hidden},
                      {"parameters", parameters}});
  }
  if (!flags.json) {
    hone::Print(
        "\nOne of them is shown value by value, or as a file to change and to train:\n"
        "  hone-gnn models gat --layers 2\n"
        "  hone-gnn models gat --toml > mine.toml\n"
        "  hone-gnn train GRAPH --model mine.toml\n"
        "\nOperations of a model file (docs/models-spec.md has each field):\n\n");
  }
  for (const OperationHelp& operation : kOperations) {
    if (!flags.json) {
      hone::Print("  {:<10} {}\n{}", operation.name, operation.what,
                  operation.fields.empty() ? "" : fmt::format("  {:<10} {}\n", "", operation.fields));
    }
    operations.push_back({{"name", operation.name}, {"what", operation.what}, {"fields", operation.fields}});
  }
  if (flags.json) {
    const nlohmann::json listed = {{"features", flags.features},
                                   {"classes", flags.classes},
                                   {"models", std::move(models)},
                                   {"operations", std::move(operations)}};
    hone::Print("{}\n", DumpJson(listed, 2));
  }
  return Status::Ok();
}

std::string RowsText(int hop) { return hop == 0 ? "seeds" : fmt::format("{} hop{}", hop, hop == 1 ? "" : "s"); }

// How a GPU runs the model: with the program of a published model, or pass by pass if its spec equals none. For a model
// from a file, only batches from the host's cores, exact inference and `serve` are not supported there.
struct OnGpu {          // name of the published model's program; empty: none
  std::string program;  // empty: none
  std::vector<std::string> passes;
};
OnGpu LoweredOnGpu(const ModelOptions& options, const ModelSpec& spec, const SpecShapes& shapes) {
  // Programs of published models have no bias.
  if (options.spec == nullptr && !options.bias) return {options.kind, {}};
  return {"", DescribeUnits(spec, LowerToUnits(spec, shapes, /*for_steps=*/true))};
}

nlohmann::json ToJson(const ModelSpec& spec, const SpecShapes& shapes, int64_t parameters, const OnGpu& gpu) {
  nlohmann::json values = nlohmann::json::array();
  for (size_t i = 0; i < spec.values.size(); ++i) {
    const ValueSpec& value = spec.values[i];
    values.push_back({{"name", value.name},
                      {"operation", OperationName(value.operation)},
                      {"of", value.of},
                      {"hops", shapes.hop[i + 1]},
                      {"columns", shapes.width[i + 1]}});
  }
  return {{"name", spec.name},
          {"layers", shapes.layers},
          {"features", shapes.width[0]},
          {"classes", shapes.width.back()},
          {"parameters", parameters},
          {"values", values},
          {"gpu_program", gpu.program.empty() ? nlohmann::json(nullptr) : nlohmann::json(gpu.program)},
          {"gpu_passes", gpu.passes},
          {"toml", ModelSpecText(spec)}};
}

Status Run(ModelsFlags& flags) {
  if (!flags.graph.empty()) {
    HONE_ASSIGN_OR_RETURN(const GraphOutline outline, OutlineOf(flags.graph));
    if (outline.feature_width < 1 || outline.num_classes < 1) {
      return Status::InvalidArgument(fmt::format(
          "--graph: '{}' has {} features and {} classes, and a model needs both; leave --graph out, or give --features "
          "and --classes instead",
          flags.graph, outline.feature_width, outline.num_classes));
    }
    flags.features = outline.feature_width;
    flags.classes = outline.num_classes;
  }
  if (flags.name_argument->count() == 0) return List(flags);
  const std::string given_kind = flags.model.options.kind;
  HONE_RETURN_IF_ERROR(ReadModelFile(flags.model));
  ModelOptions& options = flags.model.options;
  options.in_width = flags.features;
  options.num_classes = flags.classes;
  if (flags.model.layers > 0) options.layers = flags.model.layers;
  HONE_ASSIGN_OR_RETURN(const ModelSpec spec,
                        given_kind.ends_with(".toml") ? ReadModelSpec(given_kind) : PublishedSpec(options));
  HONE_ASSIGN_OR_RETURN(const SpecShapes shapes, CheckModelSpec(spec, flags.features, flags.classes));
  const OnGpu gpu = LoweredOnGpu(options, spec, shapes);
  options.spec = std::make_shared<const ModelSpec>(spec);
  if (flags.toml) {
    hone::Print("{}", ModelSpecText(spec));
    return Status::Ok();
  }
  HONE_ASSIGN_OR_RETURN(const int64_t parameters, CountParameters(options));
  if (flags.json) {
    hone::Print("{}\n", DumpJson(ToJson(spec, shapes, parameters, gpu), 2));
    return Status::Ok();
  }
  hone::Print("{}: {} layers, {} parameters for {}\n\n", spec.name, shapes.layers, parameters, SizesText(flags));
  hone::Print("{:<16} {:<10} {:>8} {:>8}  {}\n", "value", "operation", "rows", "columns", "of");
  hone::Print("{:<16} {:<10} {:>8} {:>8}\n", kSpecInput, "", RowsText(shapes.hop[0]), shapes.width[0]);
  for (size_t i = 0; i < spec.values.size(); ++i) {
    const ValueSpec& value = spec.values[i];
    hone::Print("{:<16} {:<10} {:>8} {:>8}  {}\n", value.name, OperationName(value.operation),
                RowsText(shapes.hop[i + 1]), shapes.width[i + 1], fmt::join(value.of, ", "));
  }
  hone::Print("\nOn the CPU each operation runs by itself.\n");
  if (!gpu.program.empty()) {
    hone::Print("On a GPU it runs whole, as the program of {}.\n", gpu.program);
    return Status::Ok();
  }
  hone::Print("On a GPU, which has no program of this model whole, these run one after the other:\n");
  for (const std::string& pass : gpu.passes) hone::Print("  {}\n", pass);
  return Status::Ok();
}

}  // namespace

void RegisterModelsCommand(CLI::App& app, CommandResult& result) {
  auto flags = std::make_shared<ModelsFlags>();
  CLI::App* command = app.add_subcommand(
      "models",
      "list the models and the operations that models are made of, or show the layers and sizes of one model");
  flags->name_argument =
      command->add_option("model", flags->model.options.kind,
                          "sage, gat, gin, sage-ri, or a .toml file; without one, models and operations are listed");
  flags->model.all = {
      flags->name_argument,
      command
          ->add_option("--hidden", flags->model.options.hidden, "the width of the hidden layers; not for a .toml file")
          ->capture_default_str()
          ->check(kAboveZero),
      command
          ->add_option("--layers", flags->model.layers,
                       "the number of layers, 3 by default; a .toml file states its own")
          ->check(kAboveZero),
      command->add_option("--heads", flags->model.options.heads, "the number of attention heads (gat)")
          ->capture_default_str(),
  };
  CLI::Option* graph = command->add_option("--graph", flags->graph,
                                           "the graph whose numbers of features and classes are taken: a container, or "
                                           "a graph that is made on the spot");
  command->add_option("--features", flags->features, "how many features a node has")
      ->capture_default_str()
      ->check(kAboveZero)
      ->excludes(graph);
  command->add_option("--classes", flags->classes, "how many classes there are")
      ->capture_default_str()
      ->check(kAboveZero)
      ->excludes(graph);
  CLI::Option* toml = command->add_flag("--toml", flags->toml, "print the model as the text of a model file");
  command->add_flag("--json", flags->json, "print one JSON object")->excludes(toml);
  command->callback([flags, &result] { result.exit_status = ReportStatus(Run(*flags)); });
}

}  // namespace hone::gnn
