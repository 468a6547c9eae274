// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/guide.h"

namespace hone::gnn {
namespace {

using Statuses = std::vector<std::pair<int, std::string>>;

constexpr const char* kUsage = "wrong usage, or an input that is not there or not valid";
constexpr const char* kEnvironment = "the environment failed: a disk, the memory, a GPU, another rank";

Statuses StatusesOfCommand() { return {{0, "done"}, {2, kUsage}, {3, kEnvironment}}; }
// Returns the exit statuses of commands that use neither a GPU nor other ranks.
Statuses DoneOnTheHost() { return {{0, "done"}, {2, kUsage}, {3, "the environment failed: a disk or the memory"}}; }

const OptionGroup kModel{
    "Model",
    {"--model", "--hidden", "--layers", "--heads", "--aggregation", "--dropout", "--activation", "--norm", "--bias"}};
const OptionGroup kSampling{"Samples and batches", {"--fanout", "--frontier", "--batch", "--shards", "--seed"}};
const OptionGroup kLearning{"Learning",
                            {"--epochs", "--lr", "--weight-decay", "--clip-norm", "--class-weights", "--loss",
                             "--pos-weight", "--standardize", "--preset"}};
const OptionGroup kRates{"Learning rates by epoch",
                         {"--schedule", "--warmup", "--schedule-every", "--schedule-factor", "--schedule-patience",
                          "--plateau", "--plateau-factor", "--plateau-patience"}};
const OptionGroup kValidation{"Validation",
                              {"--split", "--eval-fanout", "--eval-batch", "--eval-every", "--early-stop", "--metric"}};
const OptionGroup kWhere{
    "Where it runs",
    {"--device", "--precision", "--threads", "--workers", "--queue", "--load", "--ranks", "--gpus", "--rank-timeout"}};
const OptionGroup kShown{"What is shown", {"--json", "--quiet"}};

std::vector<CommandPage> Pages() {
  return {
      {.command = "",
       .examples = {{"hone-gnn generate arxiv graph --nodes 20000", "Makes a graph to try things on.", true},
                    {"hone-gnn train graph --fanout 10,5 --hidden 32 --epochs 2 --checkpoint run",
                     "Trains GraphSAGE on it.", true},
                    {"hone-gnn infer graph run --full --nodes test",
                     "Predicts the classes of its test nodes, with every neighbor.", true}},
       .exit_statuses = {{0, "done"}, {1, "the run was stopped before its end"}, {2, kUsage}, {3, kEnvironment}},
       .document = "docs/training.md"},
      {.command = "convert",
       .groups = {{"The graph",
                   {"--symmetrize", "--coalesce", "--self-loops", "--nodes", "--first-id", "--allow-isolated"}},
                  {"Features, labels and splits",
                   {"--dtype", "--replace-nan", "--edge-features", "--labels", "--classes", "--split", "--split-seed",
                    "--split-index"}},
                  {"Where it runs", {"--memory", "--threads"}},
                  kShown},
       .examples = {{"hone-gnn convert ogbn_arxiv arxiv.graph --symmetrize",
                     "Reads a folder of the Open Graph Benchmark and adds the reverse of every edge."},
                    {"hone-gnn convert mine mine.graph --split 0.6,0.2,0.2",
                     "Reads edges.npy, features.npy and labels.npy of the folder mine, and makes a split."}},
       .exit_statuses = DoneOnTheHost(),
       .document = "docs/graphs.md"},
      {.command = "generate",
       .examples = {{"hone-gnn generate arxiv graph --nodes 20000 --seed 1",
                     "Makes a graph of 20,000 nodes in the shape of ogbn-arxiv.", true}},
       .exit_statuses = DoneOnTheHost(),
       .document = "docs/graphs.md"},
      {.command = "info",
       .examples = {{"hone-gnn info graph --verify", "Describes a graph and compares every checksum.", true},
                    {"hone-gnn info 'synthetic:arxiv?nodes=2000&seed=1' --json",
                     "Describes a graph that is made on the spot.", true}},
       .exit_statuses = DoneOnTheHost(),
       .document = "docs/graphs.md"},
      {.command = "models",
       .groups = {kModel,
                  {"Sizes of a graph", {"--graph", "--features", "--classes"}},
                  {"What is shown", {"--toml", "--json"}}},
       .examples = {{"hone-gnn models", "Lists the models, and the operations that a model of your own is made of.",
                     true},
                    {"hone-gnn models gat --layers 2 --heads 4 --graph graph",
                     "Shows the values of a model on a graph, their rows and columns.", true}},
       .exit_statuses = {{0, "done"}, {2, kUsage}},
       .document = "docs/models-spec.md"},
      {.command = "train",
       .groups = {kModel,
                  kSampling,
                  kLearning,
                  kRates,
                  kValidation,
                  {"What is kept", {"--checkpoint", "--overwrite", "--save-every", "--resume", "--init"}},
                  kWhere,
                  kShown},
       .examples = {{"hone-gnn train graph --model sage --fanout 10,5 --hidden 32 --epochs 2",
                     "Trains GraphSAGE for two epochs and keeps nothing.", true},
                    {"hone-gnn train graph --model gat --fanout 15,10,5 --checkpoint run --early-stop 5",
                     "Trains until validation has not improved five times, and keeps the best model."},
                    {"hone-gnn train graph --resume run --epochs 50",
                     "Continues a run that was stopped or killed, to the same bits."}},
       .exit_statuses =
           {{0, "done"}, {1, "the run was stopped by a signal; --resume continues it"}, {2, kUsage}, {3, kEnvironment}},
       .document = "docs/training.md"},
      {.command = "infer",
       .groups = {{"What is predicted",
                   {"--nodes", "--split", "--output", "--probabilities", "--logits", "--embeddings", "--confusion",
                    "--other-graph"}},
                  {"How", {"--full", "--fanout", "--frontier", "--batch", "--seed", "--scratch", "--chunk-mib"}},
                  kWhere,
                  kShown},
       .examples = {{"hone-gnn infer graph run --full --nodes all --output classes.npy",
                     "Writes the class of every node, computed with every neighbor.", true},
                    {"hone-gnn infer graph run --full --nodes all --embeddings 1 --output embeddings.npy",
                     "Writes the rows that the first layer computes for every node.", true},
                    {"hone-gnn infer graph run --fanout 20,20 --nodes test --json",
                     "Predicts the test nodes from samples.", true}},
       .exit_statuses = StatusesOfCommand(),
       .document = "docs/inference.md"},
      {.command = "serve",
       .groups = {kWhere, kShown},
       .examples = {{"echo '7 3' | hone-gnn serve graph run --quiet",
                     "Answers one request, for the classes of nodes 7 and 3.", true}},
       .exit_statuses = StatusesOfCommand(),
       .document = "docs/inference.md"},
      {.command = "tune-model",
       .groups = {{"The model", {"--hidden", "--layers", "--heads", "--aggregation"}},
                  {"Its batches", {"--graph", "--load", "--fanout", "--frontier", "--batch", "--batches", "--seed"}},
                  {"What is written", {"--precision", "--out"}},
                  {"Back into the engine", {"--apply", "--device", "--epochs"}},
                  kShown},
       .examples =
           {{"hone-gnn tune-model sage --graph graph --fanout 10,5 --hidden 32 --batches 4 --out tasks-of-sage",
             "Writes tasks for GraphSAGE's operations at the shapes of its batches.", true},
            {"hone-gnn tune-model gcn.toml --graph graph --out tasks",
             "Step 1 of 3: writes tasks for the operations of a model of your own. Step 2, on the GPU, for each "
             "task that has an engine.cu: hone tune TASK TASK/engine.cu --out TASK/winner.json."},
            {"hone-gnn tune-model gcn.toml --graph graph --apply tasks --out gcn.tuned.json",
             "Step 3 of 3, on the GPU: times epochs with these winners, and writes a file for train --tuned if "
             "they are surely faster."}},
       .exit_statuses = {{0, "done; with --apply: epochs are surely faster, and the file is written"},
                         {1,
                          "with --apply: no winner differs from the engine's kernels, or epochs are not surely faster"},
                         {2, kUsage},
                         {3, "the environment failed: a disk, the memory or a GPU"}},
       .document = "docs/tune-model.md"},
      {.command = "doctor",
       .examples = {{"hone-gnn doctor", "Lists what is here, what is missing, and how to get that.", true},
                    {"hone-gnn doctor --json", "Writes the same as JSON.", true}},
       .exit_statuses = {{0, "done, whatever is missing: without a GPU, everything runs on the CPU"},
                         {2, "wrong usage"}}},
      {.command = "bench",
       .examples = {{"hone-gnn bench sampler graph --batches 4", "Times the sampler over 4 batches.", true},
                    {"hone-gnn bench pipeline graph --fanout 10,5 --workers 2 --epochs 1",
                     "Times the preparation of an epoch's batches on two threads.", true},
                    {"hone-gnn bench epoch graph --fanout 10,5 --hidden 32 --epochs 1",
                     "Times an epoch of training and its parts.", true}},
       .exit_statuses = StatusesOfCommand(),
       .document = "docs/sampling.md"},
      {.command = "bench sampler",
       .examples = {{"hone-gnn bench sampler graph --fanout 15,10,5 --batches 4",
                     "Draws 4 batches on each thread and says how long one takes.", true}},
       .exit_statuses = DoneOnTheHost(),
       .document = "docs/sampling.md"},
      {.command = "bench pipeline",
       .examples = {{"hone-gnn bench pipeline graph --fanout 10,5 --workers 2 --epochs 1",
                     "Prepares the batches of an epoch on two threads.", true}},
       .exit_statuses = DoneOnTheHost(),
       .document = "docs/sampling.md"},
      {.command = "bench epoch",
       .groups = {kModel, kSampling, kLearning, kRates, kValidation, kWhere, kShown},
       .examples = {{"hone-gnn bench epoch graph --fanout 10,5 --hidden 32 --epochs 1",
                     "Times an epoch of training and its parts.", true}},
       .exit_statuses = StatusesOfCommand(),
       .document = "docs/training.md"},
      {.command = "help",
       .examples = {{"hone-gnn help bench epoch", "Prints what `hone-gnn bench epoch --help` does.", true}},
       .exit_statuses = {{0, "done"}, {2, "there is no such command"}}},
      {.command = "completion",
       .examples = {{"source <(hone-gnn completion bash)",
                     "Completes hone-gnn's commands, options and files in this shell."},
                    {"hone-gnn completion zsh > ~/.zfunc/_hone-gnn",
                     "Keeps the script where zsh looks for it, once ~/.zfunc is in fpath."},
                    {"hone-gnn completion fish > ~/.config/fish/completions/hone-gnn.fish",
                     "Keeps the script where fish looks for it."}},
       .exit_statuses = {{0, "done"}, {2, "wrong usage"}}},
  };
}

}  // namespace

Guide MakeGuide() {
  Guide guide;
  guide.program = "hone-gnn";
  guide.pages = Pages();
  const std::vector<std::string> synthetic = {"synthetic:arxiv", "synthetic:products", "synthetic:papers100M"};
  const ValueKind checkpoint{.name = "CHECKPOINT", .suffixes = {".safetensors"}, .folders = true};
  const ValueKind fanouts{.name = "N,N,...", .words = {"all"}};
  guide.values = {
      {"graph", {.name = "GRAPH", .words = synthetic, .suffixes = {""}}},
      {"source", {.name = "SOURCE", .suffixes = {""}}},
      {"out", {.name = "FILE", .suffixes = {""}}},
      {"shape", {.name = "SHAPE", .words = {"arxiv", "products", "papers100M"}}},
      {"checkpoint", checkpoint},
      {"--checkpoint", {.name = "DIR", .folders = true}},
      {"--resume", checkpoint},
      {"--init", checkpoint},
      {"--edge-features", {.name = "FILE.npy", .suffixes = {".npy"}}},
      {"--scratch", {.name = "DIR", .folders = true}},
      {"--output", {.name = "FILE", .suffixes = {".npy", ".csv"}}},
      {"--embeddings", {.name = "LAYER"}},
      {"infer --nodes", {.name = "NODES", .words = {"all", "train", "valid", "test"}, .suffixes = {".npy"}}},
      {"--model", {.name = "NAME", .words = {"sage", "gat", "gin", "sage-ri"}, .suffixes = {".toml"}}},
      {"models model", {.name = "MODEL", .words = {"sage", "gat", "gin", "sage-ri"}, .suffixes = {".toml"}}},
      {"tune-model model", {.name = "MODEL", .words = {"sage", "gat", "gin", "sage-ri"}, .suffixes = {".toml"}}},
      {"--graph", {.name = "GRAPH", .words = synthetic, .suffixes = {""}}},
      {"tune-model --out", {.name = "DIR", .folders = true}},
      {"tune-model --apply", {.name = "DIR", .folders = true}},
      {"--tuned", {.name = "FILE.json", .suffixes = {".json"}}},
      {"--aggregation", {.name = "NAME", .words = {"mean", "sum", "max"}}},
      {"--activation", {.name = "NAME", .words = {"relu", "leaky_relu", "elu"}}},
      {"--norm", {.name = "NAME", .words = {"none", "batch"}}},
      {"--frontier", {.name = "RULE", .words = {"all", "new"}}},
      {"--fanout", fanouts},
      {"--eval-fanout", fanouts},
      {"--device", {.name = "DEVICE", .words = {"auto", "cpu", "cuda", "cuda:0"}}},
      {"--dtype", {.name = "DTYPE", .words = {"float32", "float16", "bfloat16"}}},
      {"--class-weights", {.name = "W,W,..."}},
      {"--split", {.name = "TRAIN,VALID,TEST"}},
      {"train --split", {.name = "FILE.npy", .suffixes = {".npy"}}},
      {"infer --split", {.name = "FILE.npy", .suffixes = {".npy"}}},
      {"--schedule", {.name = "RULE", .words = {"constant", "cosine", "step", "validation"}}},
      {"--metric",
       {.name = "NAME",
        .words = {"auto", "accuracy", "macro-f1", "auc", "micro-f1", "average-precision", "rmse", "mae"}}},
      {"--loss", {.name = "NAME", .words = {"auto", "cross-entropy", "bce", "mse", "l1", "huber"}}},
      {"--labels", {.name = "KIND", .words = {"classes", "multi-label", "values"}}},
      {"--pipeline-without", {.name = "PART,PART,..."}},
      {"help command", {.name = "COMMAND"}},
  };
  guide.environment =
      "CUDA_VISIBLE_DEVICES\tThe GPUs that may be used; empty for none.\n"
      "NCCL_NVLS_ENABLE\tNVLink multicast in NCCL; it stays off (0) where it is not set.\n";
  return guide;
}

}  // namespace hone::gnn
