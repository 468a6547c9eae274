// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/module_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "hone/tuner/task.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/torch/torch_reference.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

// Returns options that run fake_python.cc, which does `act`.
PythonOptions Fake(const std::string& act) {
  return {.environment = {"HONE_PYTHON=" HONE_FAKE_PYTHON, "PYTHONPATH=" + act}};
}

ModuleTaskOptions Options() {
  ModuleTaskOptions options;
  options.name = "made";
  options.file = "problem.py";
  options.text = "import torch\n";
  options.limit_seconds = 20;
  return options;
}

// The problem's own code ran in the process that reports, so a report may contradict itself.
TEST(ModuleTask, ANumberThatIsCalledBooleanIsNoTensor) {
  const Result<ModuleTaskDraft> draft =
      DraftOfReport(Options(), R"({"torch": "9.9", "class": "elementwise", "dims": [{"name": "n", "size": 4}],
                     "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}, {"name": "flag", "value": 1, "boolean": true}],
                     "outputs": [{"name": "y", "dtype": "float32", "shape": ["n"], "tolerance": {"c_max": 1e-4, "c_rms": 1e-5}}]})");
  ASSERT_TRUE(draft.ok()) << draft.status().message();
  EXPECT_THAT(draft->task_toml, testing::Not(HasSubstr("booleans")));
}

// Found by fuzzing: an output with a value got no name, and the lookup of the name ended the program.
TEST(ModuleTask, OnlyAnInputMayHaveAValue) {
  const std::string head = R"({"torch": "9.9", "class": "elementwise", "dims": [{"name": "n", "size": 4}],
                     "inputs": [{"name": "x", "dtype": "float32", "shape": ["n"]}],)";
  for (const std::string list : {"state", "outputs"}) {
    const Result<ModuleTaskDraft> draft =
        DraftOfReport(Options(), head + '"' + list + R"(": [{"name": "y", "dtype": "float32", "value": ["n"]}]})");
    ASSERT_FALSE(draft.ok()) << list;
    EXPECT_EQ(draft.status().message(),
              "the description of the module." + list + "[0].value: only an input may have a value: leave it out");
  }
}

TEST(ModuleTask, ADescriptionBecomesATaskThatCanBeRead) {
  const Result<ModuleTaskDraft> draft = DraftModuleTask(Options(), Fake("described"));
  ASSERT_TRUE(draft.ok()) << draft.status().message();
  const Result<Task> task = ParseTask(draft->task_toml, "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message() << "\n" << draft->task_toml;
  EXPECT_EQ(task->slice, "rows");
  ASSERT_EQ(task->dims.size(), 2u);
  EXPECT_EQ(task->dims[1].first, "stride_size") << "stride has a meaning in launch plans";
  ASSERT_NE(task->FindTensor("fc_weight"), nullptr);
  ASSERT_NE(task->FindTensor("fc_weight_tensor"), nullptr) << "two names of the module become one identifier";
  EXPECT_FALSE(task->FindTensor("fc_weight")->stress);
  EXPECT_EQ(task->FindTensor("fc_weight")->shape[1].text(), "stride_size");
  EXPECT_TRUE(HasTorchModule(*task));
  EXPECT_EQ(AnswerFile(*task), "reference.py");
  const TorchModule module = TorchModuleOf(*task);
  ASSERT_EQ(module.inputs.size(), 3u);
  EXPECT_EQ(module.inputs[0].tensor, "x");
  EXPECT_EQ(module.inputs[1].number, "2.0") << "a float stays one";
  ASSERT_NE(task->FindScalar("eps"), nullptr);
  EXPECT_EQ(std::stod(module.inputs[2].number), static_cast<double>(1e-5f))
      << "the module is given what the kernel receives";
  EXPECT_EQ(task->summary, "rows by a layer");
  ASSERT_GE(task->cases.size(), 2u);
  EXPECT_EQ(task->cases[1].role, CaseRole::kTime) << "a definition's other workloads are timed too";
  EXPECT_EQ(task->cases[1].dims.at("rows"), 16);
  ASSERT_EQ(module.state.size(), 2u);
  EXPECT_EQ(module.state[0], (std::pair<std::string, std::string>("fc_weight", "fc.weight")));
  ASSERT_EQ(module.sizes.size(), 1u);
  EXPECT_EQ(module.sizes[0], (std::pair<std::string, std::string>("stride_size", "stride")));
  ASSERT_EQ(task->hidden.size(), 1u);
  EXPECT_EQ(task->hidden[0].ranges[1].low, 8) << "a size that may not vary beside the others keeps its most";
  EXPECT_EQ(draft->reference_py, "import torch\n");
}

TEST(ModuleTask, TheTaskIsTheSameWhereverTheProblemLies) {
  ModuleTaskOptions options = Options();
  options.file = "/home/ann/KernelBench/level2/41_Gemm.py";
  const std::string ann = DraftModuleTask(options, Fake("described")).value().task_toml;
  options.file = "level2/41_Gemm.py";
  EXPECT_EQ(DraftModuleTask(options, Fake("described")).value().task_toml, ann);
  EXPECT_THAT(ann, testing::StartsWith("# Written by `hone new` from level2/41_Gemm.py, with PyTorch "));
}

TEST(ModuleTask, MeasuredTimesOfOperatorsStandInTheTaskAndInAFile) {
  ModuleTaskOptions options = Options();
  options.timing = {.wanted = true, .gpu = -1};
  const Result<ModuleTaskDraft> draft = DraftModuleTask(options, Fake("timed"));
  ASSERT_TRUE(draft.ok()) << draft.status().message();
  EXPECT_THAT(draft->task_toml, HasSubstr("# what forward's operators cost at the file's sizes, each by itself: time measured on some GPU with PyTorch 9.9 (median of 15 warm calls) and "
                                          "its share of all operators', bytes read and written: addmm 30 us, 75 %, 2 MB and 4 MFLOP; relu 10 us, 25 %, 1 MB\n"));
  EXPECT_THAT(draft->task_toml, testing::Not(HasSubstr("computed from shapes")));
  ASSERT_TRUE(draft->profile);
  EXPECT_EQ(draft->profile->calls, 15);
  ASSERT_TRUE(ParseTask(draft->task_toml, "task.toml").ok());
}

TEST(ModuleTask, OperatorsThatCannotBeTimedNeverFailATask) {
  for (const auto& [act, why] : {std::pair{"timed_badly", "no operator was timed: OutOfMemoryError: CUDA out of memory)"},
                                 {"timed_endlessly", "no operator was timed: PyTorch took too long)"},
                                 {"timed_until_it_crashed", "no operator was timed: the process that timed them ended with exit status 3)"}}) {
    ModuleTaskOptions options = Options();
    options.timing = {.wanted = true, .gpu = -1};
    const Result<ModuleTaskDraft> draft = DraftModuleTask(options, Fake(act));
    ASSERT_TRUE(draft.ok()) << draft.status().message();
    EXPECT_THAT(draft->task_toml, HasSubstr(std::string("(computed from shapes; ") + why + ": addmm 2 MB and 4 MFLOP, relu 1 MB\n"));
    EXPECT_FALSE(draft->profile);
    EXPECT_LT(draft->seconds, 10) << "a task is made at most two seconds later";
  }
  ModuleTaskOptions options = Options();
  options.timing.untimed = "no GPU was found here";
  const Result<ModuleTaskDraft> draft = DraftModuleTask(options, Fake("timed"));
  ASSERT_TRUE(draft.ok());
  EXPECT_THAT(draft->task_toml, HasSubstr("(computed from shapes; no operator was timed: no GPU was found here): addmm"));
}

TEST(DefinitionFiles, AreFoundWhereBenchmarksKeepThem) {
  Result<TemporaryDirectory> root = MakeTemporaryDirectory("", "hone-definitions-");
  ASSERT_TRUE(root.ok());
  const std::string base = root->path();
  const std::string line =
      R"({"workload": {"axes": {}, "inputs": {"x": {"type": "safetensors", "path": "blob/x.safetensors", "tensor_key": "x"},)"
      R"( "y": {"type": "safetensors", "path": "../y.safetensors", "tensor_key": "y"}}}})";
  ASSERT_TRUE(WriteFileAtomically(base + "/set/definitions/norm/a.json", "{}").ok());
  ASSERT_TRUE(WriteFileAtomically(base + "/set/workloads/norm/a.jsonl", line + "\nno json\n").ok());
  ASSERT_TRUE(WriteFileAtomically(base + "/set/blob/x.safetensors", "x").ok());
  ASSERT_TRUE(WriteFileAtomically(base + "/set/y.safetensors", "y").ok());
  const Result<DefinitionFiles> found = ReadDefinitionFiles(base + "/set/definitions/norm/a.json", "");
  ASSERT_TRUE(found.ok()) << found.status().message();
  EXPECT_EQ(found->workload_file, "a.jsonl");
  ASSERT_EQ(found->readable.size(), 1u);
  EXPECT_TRUE(found->readable[0].ends_with("/set/blob/x.safetensors"));
  EXPECT_EQ(found->files.at("../y.safetensors"), "") << "a path may not lead out of the data set";

  ASSERT_TRUE(WriteFileAtomically(base + "/flat/definitions/c.json", "{}").ok());
  ASSERT_TRUE(WriteFileAtomically(base + "/flat/workloads/c.jsonl", "{}\n").ok());
  EXPECT_EQ(ReadDefinitionFiles(base + "/flat/definitions/c.json", "")->workload_file, "c.jsonl");

  ASSERT_TRUE(WriteFileAtomically(base + "/sol/definition.json", "{}").ok());
  EXPECT_EQ(ReadDefinitionFiles(base + "/sol/definition.json", "")->workloads, "");
  ASSERT_TRUE(WriteFileAtomically(base + "/sol/workload.jsonl", "{}\n").ok());
  EXPECT_EQ(ReadDefinitionFiles(base + "/sol/definition.json", "")->workload_file, "workload.jsonl");
  ASSERT_TRUE(WriteFileAtomically(base + "/sol/b.json", "{}").ok());
  ASSERT_TRUE(WriteFileAtomically(base + "/sol/b.jsonl", "{}\n").ok());
  EXPECT_EQ(ReadDefinitionFiles(base + "/sol/b.json", "")->workload_file, "b.jsonl");
  EXPECT_THAT(ReadDefinitionFiles(base + "/sol/definition.json", base + "/none.jsonl").status().message(),
              HasSubstr("leave --workload out"));
}

// A behaviour of the fake Python, and the error that must result.
struct Failure {
  const char* act;
  StatusCode code;
  const char* says;
};

TEST(ModuleTask, WhatGoesWrongIsOneSentence) {
  for (const Failure& failure : {Failure{"missing", StatusCode::kUnavailable, "pip install torch"},
                                 Failure{"refused", StatusCode::kInvalidArgument, "forward returns a dict"},
                                 Failure{"silent", StatusCode::kInvalidArgument, "exit status 3 (Killed by itself)"},
                                 Failure{"other_fields", StatusCode::kInternal, "torch"}}) {
    const Result<ModuleTaskDraft> draft = DraftModuleTask(Options(), Fake(failure.act));
    ASSERT_FALSE(draft.ok()) << failure.act;
    EXPECT_EQ(draft.status().code(), failure.code) << failure.act << ": " << draft.status().message();
    EXPECT_THAT(draft.status().message(), HasSubstr(failure.says));
    EXPECT_EQ(draft.status().message().find('\n'), std::string::npos);
  }
  EXPECT_FALSE(DraftModuleTask(Options(), Fake("garbage")).ok());
  ModuleTaskOptions hasty = Options();
  hasty.limit_seconds = 0.3;
  const Result<ModuleTaskDraft> late = DraftModuleTask(hasty, Fake("endless"));
  ASSERT_FALSE(late.ok());
  EXPECT_THAT(late.status().message(), HasSubstr("--limit"));
}

TEST(ModuleTask, WithoutAPythonTheRemedyIsNamed) {
  const Result<ModuleTaskDraft> none = DraftModuleTask(Options(), {.environment = {"PATH=/nowhere"}});
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(none.status().message(), HasSubstr("HONE_PYTHON"));
  const Result<ModuleTaskDraft> wrong = DraftModuleTask(Options(), {.environment = {"HONE_PYTHON=/no/such/python"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(wrong.status().message(), HasSubstr("/no/such/python"));
}

TEST(ModuleTask, InputsOfAPackagesClassAreChecked) {
  ModuleTaskOptions options = Options();
  options.text.clear();
  options.module = "package.module";
  const auto says = [&](const std::string& input) {
    options.inputs = {input};
    const Result<ModuleTaskDraft> draft = DraftModuleTask(options, Fake("described"));
    return draft.ok() ? std::string("ok") : draft.status().message();
  };
  EXPECT_THAT(says("x"), HasSubstr("x=float32[batch,hidden]"));
  EXPECT_THAT(says("x=float31[n]"), HasSubstr("'float31' is no dtype"));
  EXPECT_THAT(says("x=int64[n]"), HasSubstr("integers need a bound"));
  EXPECT_THAT(says("x=float32[__import__('os')]"), HasSubstr("shapes hold names and numbers"));
  options.inputs.clear();
  const Result<ModuleTaskDraft> none = DraftModuleTask(options, Fake("described"));
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().message(), HasSubstr("--input"));
}

TEST(ModuleTask, AFileWithoutInputsIsToldWhatIsMissing) {
  const std::string text =
      "import torch\nfrom torch import nn\n\n\nclass Block(nn.Module):\n    pass\n\n\nclass Net(nn.Module):\n    "
      "pass\n";
  EXPECT_FALSE(IsModuleProblem(text));
  EXPECT_TRUE(IsModuleProblem(text + "\n\ndef get_inputs():\n    return []\n"));
  const std::string below = WhyNoModuleProblem(text, "./layers/net.py");
  EXPECT_THAT(below, HasSubstr("a class Model, get_inputs() and get_init_inputs()"));
  EXPECT_THAT(below, HasSubstr("takes: --from layers.net:Net --input 'x=float32[rows,width]' --case"));
  EXPECT_THAT(below, HasSubstr("the file has Block, Net"));
  EXPECT_THAT(WhyNoModuleProblem(text, "../net.py"), HasSubstr("from the folder of the file: --from net:Net"));
  EXPECT_THAT(WhyNoModuleProblem("print(1)\n", "net.py"), HasSubstr("neither a CUDA kernel (__global__) nor a class"));
}

TEST(ModuleTask, AProblemMayCallItsOnlyModuleAsItLikes) {
  const std::string model = "class Model(nn.Module):\n    pass\n", net = "class Net(nn.Module):\n    pass\n",
                    block = "class Block(torch.nn.Module):\n    pass\n";
  EXPECT_EQ(ProblemClass(block + model, "p.py", "mine").value(), "Model");
  EXPECT_EQ(ProblemClass(net, "p.py", "mine").value(), "Net");
  EXPECT_EQ(ProblemClass(net + "class Model(Net):\n    pass\n", "p.py", "mine").value(), "Model");
  EXPECT_EQ(ProblemClass("x = 1\n", "p.py", "mine").value(), "Model") << "Python says what is missing";
  const Result<std::string> several = ProblemClass(block + net, "layers/p.py", "mine");
  ASSERT_FALSE(several.ok());
  EXPECT_THAT(several.status().message(), HasSubstr("\n  hone new mine --from layers.p:Block\n  hone new mine --from layers.p:Net"));
  EXPECT_THAT(ProblemClass(block + net, "/tmp/p.py", "mine").status().message(), HasSubstr("from the folder of the file:\n  hone new mine --from p:Block"));
}

TEST(TorchReferences, AsManyAreKeptAsTheMemoryHolds) {
  constexpr int64_t kGiB = int64_t{1} << 30;
  EXPECT_EQ(ReferencesKept(8 * kGiB, 0), 3u);
  EXPECT_EQ(ReferencesKept(32 * kGiB, 0), 5u);
  EXPECT_EQ(ReferencesKept(128 * kGiB, 24 * kGiB), 3u) << "the GPU's memory holds no more";
  EXPECT_EQ(ReferencesKept(128 * kGiB, 80 * kGiB), 5u);
  EXPECT_EQ(ReferencesKept(2048 * kGiB, 192 * kGiB), 8u);
}

TEST(TorchReferences, TasksThatDifferInTheirCasesAloneShareAProcess) {
  const Result<ModuleTaskDraft> draft = DraftModuleTask(Options(), Fake("described"));
  ASSERT_TRUE(draft.ok()) << draft.status().message();
  const auto task = [&](const std::string& toml) {
    Task parsed = ParseTask(toml, "task.toml").value();
    parsed.oracle_source = draft->reference_py;
    return parsed;
  };
  TorchReferences references(3);
  const auto process = [&](const Task& of) { return references.Get(of, Fake("shares")).value().get(); };
  const HostReference* first = process(task(draft->task_toml));
  Task other_case = task(draft->task_toml);
  other_case.toml += "\n# a proposed case\n";
  other_case.cases.resize(1);
  EXPECT_EQ(process(other_case), first);
  Task other_text = task(draft->task_toml);
  other_text.oracle_source += "\n";
  EXPECT_NE(process(other_text), first);
  Task other_tensor = task(draft->task_toml);
  other_tensor.tensors[0].dtype = DType::kFloat16;
  EXPECT_NE(process(other_tensor), first);
  EXPECT_EQ(process(task(draft->task_toml)), first) << "kept beside the others";
}

TEST(ModuleTask, AReferenceThatCannotStartSaysSo) {
  const Result<ModuleTaskDraft> draft = DraftModuleTask(Options(), Fake("described"));
  ASSERT_TRUE(draft.ok()) << draft.status().message();
  Result<Task> task = ParseTask(draft->task_toml, "task.toml");
  ASSERT_TRUE(task.ok());
  const Result<std::unique_ptr<HostReference>> reference = StartTorchReference(*task, Fake("silent"));
  ASSERT_FALSE(reference.ok());
  EXPECT_THAT(reference.status().message(), HasSubstr("Killed by itself"));
}

// A mistake in task.toml, `what` replaced by `by`, and what the message must contain.
struct Mistake {
  const char* what;
  const char* by;
  const char* says;
};

// This block stands in for memory of a GPU. It is a memory file, which the fake Python maps too.
class FileBlock : public SharedBlock {
 public:
  FileBlock(int64_t bytes, int* live) : file_(MakeMemoryFile("block").value()), bytes_(bytes), live_(live) {
    EXPECT_EQ(ftruncate(file_.get(), bytes), 0);
    memory_ = mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    ++*live_;
  }
  ~FileBlock() override {
    munmap(memory_, static_cast<size_t>(bytes_));
    --*live_;
  }
  uint64_t address() const override { return reinterpret_cast<uint64_t>(memory_); }
  int64_t bytes() const override { return bytes_; }
  int descriptor() const override { return file_.get(); }

 private:
  UniqueFd file_;
  int64_t bytes_;
  int* live_;
  void* memory_;
};

// A reference on a GPU gets a block of the GPU's memory; the calls say what the judge does with it.
class SharedMemoryTest : public testing::Test {
 protected:
  // Calls ComputeOnDevice for `rows` rows of 64 floats. `said_` becomes what was called, with places as offsets in the
  // block, and `counts_` the two words that the fake Python has written: evaluations and blocks so far.
  Result<bool> Compute(HostReference& reference, int64_t rows) {
    said_.clear();
    counts_ = {};
    const auto place = [this](uint64_t address) { return std::to_string(address - block_); };
    return reference.ComputeOnDevice(
        {{"rows", rows}, {"stride_size", 64}},
        {.most_kept = most_kept_,
         .share = [&](int64_t bytes) -> Result<std::unique_ptr<SharedBlock>> {
           said_.push_back("share " + std::to_string(bytes >> 20));
           if (!share_.ok()) return share_;
           auto made = std::make_unique<FileBlock>(bytes, &live_);
           block_ = made->address();
           return std::unique_ptr<SharedBlock>(std::move(made));
         },
         .mine = [&](const SharedBlock& block) { return block.address() == block_ && mine_; },
         .fill =
             [&](const std::string& tensor, uint64_t address) {
               said_.push_back("fill " + tensor + " " + place(address));
               return fill_;
             },
         .take =
             [&](const std::string& tensor, uint64_t address) {
               said_.push_back("take " + tensor + " " + place(address));
               std::memcpy(counts_.data(), reinterpret_cast<const void*>(block_), sizeof counts_);
               return Status::Ok();
             },
         .wait =
             [&] {
               said_.push_back("wait");
               return Status::Ok();
             },
         .wipe =
             [&](uint64_t address, int64_t bytes) {
               said_.push_back("wipe " + place(address) + " " + std::to_string(bytes));
               return Status::Ok();
             }});
  }
  std::unique_ptr<HostReference> Start(const std::string& act) {
    const Result<ModuleTaskDraft> draft = DraftModuleTask(Options(), Fake("described"));
    Result<Task> task = ParseTask(draft->task_toml, "task.toml");
    task->oracle_source = draft->reference_py;
    PythonOptions options = Fake(act);
    options.gpu = 0;
    Result<std::unique_ptr<HostReference>> reference = StartTorchReference(*task, options);
    EXPECT_TRUE(reference.ok()) << reference.status().message();
    return std::move(*reference);
  }
  std::vector<std::string> said_;
  std::array<int64_t, 2> counts_{};
  uint64_t block_ = 0;
  int live_ = 0;  // blocks that exist
  bool mine_ = true;
  int64_t most_kept_ = int64_t{64} << 20;
  Status fill_, share_;
};

TEST_F(SharedMemoryTest, TensorsLieSideBySideAndAreWiped) {
  const std::unique_ptr<HostReference> reference = Start("shares");
  const Result<bool> computed = Compute(*reference, 65536);
  ASSERT_TRUE(computed.ok()) << computed.status().message();
  EXPECT_TRUE(*computed);
  // x has 65536 * 64 floats, fc_weight 8 * 64 and fc_weight_tensor 8. Results are doubles; fc_weight_tensor, which is
  // changed in place, has one too.
  EXPECT_THAT(said_, testing::ElementsAre("share 20", "fill x 0", "fill fc_weight 16777216", "fill fc_weight_tensor 16779264", "wait",
                                          "take fc_weight_tensor 16779520", "take out 16779776", "wipe 0 20974080"));
}

TEST_F(SharedMemoryTest, OneBlockServesAllCasesThatFit) {
  const std::unique_ptr<HostReference> reference = Start("shares");
  for (const int64_t rows : {int64_t{65536}, int64_t{64}, int64_t{1}, int64_t{65536}}) {
    EXPECT_TRUE(*Compute(*reference, rows));
    EXPECT_EQ(counts_[1], 1) << "the process maps one block";
    EXPECT_EQ(said_.back().substr(0, 7), "wipe 0 ");
  }
  EXPECT_EQ(counts_[0], 4);
  EXPECT_EQ(live_, 1);
}

TEST_F(SharedMemoryTest, ALargerCaseGetsALargerBlock) {
  const std::unique_ptr<HostReference> reference = Start("shares");
  EXPECT_TRUE(*Compute(*reference, 64));
  EXPECT_EQ(said_.front(), "share 16") << "a small case gets a block that serves others";
  EXPECT_TRUE(*Compute(*reference, 131072));
  EXPECT_EQ(said_.front(), "share 40");
  EXPECT_EQ(counts_, (std::array<int64_t, 2>{2, 2})) << "the process writes to the new block";
  EXPECT_EQ(live_, 1) << "and the judge has freed the old one";
  EXPECT_TRUE(*Compute(*reference, 64));
  EXPECT_EQ(counts_[1], 2);
}

TEST_F(SharedMemoryTest, ABlockOfAnotherDeviceIsReplaced) {
  const std::unique_ptr<HostReference> reference = Start("shares");
  EXPECT_TRUE(*Compute(*reference, 64));
  mine_ = false;
  EXPECT_TRUE(*Compute(*reference, 64));
  EXPECT_EQ(said_.front(), "share 16");
  EXPECT_EQ(counts_, (std::array<int64_t, 2>{2, 2}));
  EXPECT_EQ(live_, 1);
}

TEST_F(SharedMemoryTest, AVeryLargeBlockIsNotKept) {
  const std::unique_ptr<HostReference> reference = Start("shares");
  most_kept_ = int64_t{32} << 20;
  EXPECT_TRUE(*Compute(*reference, 131072));
  EXPECT_EQ(live_, 0);
  EXPECT_TRUE(*Compute(*reference, 65536));
  EXPECT_EQ(counts_, (std::array<int64_t, 2>{2, 2}));
  EXPECT_EQ(live_, 1);
}

TEST_F(SharedMemoryTest, TheMemoryIsWipedAfterAnErrorToo) {
  const std::unique_ptr<HostReference> reference = Start("shares");
  fill_ = Status::Internal("the device is lost");
  EXPECT_THAT(Compute(*reference, 64).status().message(), HasSubstr("the device is lost"));
  EXPECT_THAT(said_, testing::ElementsAre("share 16", "fill x 0", testing::StartsWith("wipe 0 ")));
}

TEST_F(SharedMemoryTest, AProcessThatEndsLeavesNoBlock) {
  std::unique_ptr<HostReference> reference = Start("shares_twice");
  EXPECT_TRUE(*Compute(*reference, 64));
  EXPECT_TRUE(*Compute(*reference, 64));
  EXPECT_THAT(Compute(*reference, 64).status().message(), HasSubstr("the Python process ended"));
  EXPECT_EQ(said_.back().substr(0, 7), "wipe 0 ");
  EXPECT_TRUE(reference->lost());
  EXPECT_EQ(live_, 0);
  EXPECT_FALSE(Compute(*reference, 64).ok());
  EXPECT_THAT(said_, testing::IsEmpty());
  reference = Start("shares");
  EXPECT_TRUE(*Compute(*reference, 64));
  EXPECT_EQ(counts_, (std::array<int64_t, 2>{1, 1})) << "the next process gets a block of its own";
  reference.reset();
  EXPECT_EQ(live_, 0);
}

TEST_F(SharedMemoryTest, WhereItCannotBeSharedItIsNotTriedAgain) {
  std::unique_ptr<HostReference> reference = Start("shares");
  share_ = Status::Unavailable("no");
  EXPECT_FALSE(*Compute(*reference, 64));
  EXPECT_THAT(said_, testing::ElementsAre("share 16"));
  share_ = Status::Ok();
  EXPECT_FALSE(*Compute(*reference, 64));
  EXPECT_THAT(said_, testing::IsEmpty());

  reference = Start("shares_badly");
  EXPECT_FALSE(*Compute(*reference, 64));
  EXPECT_EQ(live_, 0);
  EXPECT_FALSE(*Compute(*reference, 64));
  EXPECT_THAT(said_, testing::IsEmpty());
}

TEST_F(SharedMemoryTest, WithTooLittleMemoryItIsTriedAgain) {
  std::unique_ptr<HostReference> reference = Start("shares");
  share_ = Status::ResourceExhausted("all taken");
  EXPECT_FALSE(*Compute(*reference, 64));
  share_ = Status::Ok();
  EXPECT_TRUE(*Compute(*reference, 64));

  reference = Start("shares_nothing");
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(*Compute(*reference, 64));
    EXPECT_THAT(said_, testing::ElementsAre("share 16"));
    EXPECT_EQ(live_, 0);
  }
}

TEST(TorchModule, TheTableIsHeldAgainstTheTensors) {
  const Result<ModuleTaskDraft> draft = DraftModuleTask(Options(), Fake("described"));
  ASSERT_TRUE(draft.ok());
  for (const Mistake& mistake :
       {Mistake{"outputs = [\"out\"]", "outputs = [\"x\"]", "'x' has the role \"in\""},
        Mistake{"inputs = [\"x\", 2.0, \"eps\"]", "inputs = [2.0, \"eps\"]", "tensor 'x' is neither among"},
        Mistake{"inputs = [\"x\", 2.0, \"eps\"]", "inputs = [\"x\", 2.0]", "scalar 'eps' is not among inputs"},
        Mistake{"kind = \"torch\"", "kind = \"numpy\"", "kind"}, Mistake{"mode = \"train\"", "mode = \"test\"", "mode"},
        Mistake{"stride_size = \"stride\"\n\n", "width = \"stride\"\n\n", "'width' is not a dimension"}}) {
    std::string toml = draft->task_toml;
    const size_t at = toml.find(mistake.what);
    ASSERT_NE(at, std::string::npos) << mistake.what << "\n" << toml;
    toml.replace(at, std::string(mistake.what).size(), mistake.by);
    const Result<Task> task = ParseTask(toml, "task.toml");
    ASSERT_FALSE(task.ok()) << mistake.by;
    EXPECT_THAT(task.status().message(), HasSubstr(mistake.says));
  }
}

}  // namespace
}  // namespace hone
