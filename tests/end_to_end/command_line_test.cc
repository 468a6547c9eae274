// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone` as a user types it: results, exit statuses, JSON fields, and the errors for bad input.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/files/file.h"
#include "base/process/frames.h"
#include "base/process/sandbox.h"
#include "base/process/subprocess.h"

namespace hone {
namespace {

using nlohmann::json;
using testing::HasSubstr;
const std::string kSource = HONE_SOURCE_DIR;

struct Outcome {
  int status = -1;
  std::string out, err;
};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = MakeTemporaryDirectory();
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
  }
  Outcome Hone(std::vector<std::string> arguments, const std::string& folder = kSource) {
    SubprocessOptions options;
    options.argv = {HONE_BINARY_DIR "/bin/hone"};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = {"PATH=/usr/local/cuda/bin:/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                           "HONE_STATE=" + scratch_.path()};
    options.working_directory = folder;
    options.limit_seconds = 300;
    Result<SubprocessResult> result = RunSubprocess(options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    EXPECT_EQ(result->exit.signal, 0) << result->exit.Describe();
    return {result->exit.exit_status, result->out, result->err};
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = scratch_ / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << text;
    return path;
  }
  TemporaryDirectory scratch_;
};

TEST_F(CommandLine, SaysOnceWhatThisKernelCannotProtect) {
  const Outcome outcome = Hone({"eval", "relu", kSource + "/tasks/relu/seed.cu", "--device", "sim", "--no-time", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::string wanted;
  for (const std::string& warning : ProbeSandbox().Warnings()) wanted += "hone: warning: " + warning + "\n";
  EXPECT_EQ(outcome.err, wanted);
  EXPECT_EQ(json::parse(outcome.out).at("sandbox_warnings"), json(ProbeSandbox().Warnings()));
}

TEST_F(CommandLine, FindingsPointIntoACandidateOfAnAbsolutePath) {
  std::string source = ReadFile(kSource + "/tasks/transpose/seed.cu").value();
  const std::string padded = "tile[kTile][kTile + 1]";
  ASSERT_NE(source.find(padded), std::string::npos);
  source.replace(source.find(padded), padded.size(), "tile[kTile][kTile]");
  const Outcome outcome = Hone({"compare", "transpose", kSource + "/tasks/transpose/seed.cu", Write("flat/tile.cu", source),
                                "--device", "sim", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json e = json::parse(outcome.out);
  EXPECT_EQ(e.at("candidate"), scratch_ / "flat/tile.cu");
  EXPECT_EQ(e.at("sandbox_warnings"), json(ProbeSandbox().Warnings()));
  bool placed = false;
  for (const json& finding : e.at("findings")) {
    placed |= finding.at("kind") == "bank_conflict" && finding.at("location").get<std::string>().rfind("tile.cu:", 0) == 0;
  }
  EXPECT_TRUE(placed) << e.at("findings").dump(1);
}

TEST_F(CommandLine, AFullStandardOutputIsNoSuccess) {
  const auto shell = [&](const std::string& line) {
    SubprocessOptions options;
    options.argv = {"/bin/sh", "-c", line, "sh", HONE_BINARY_DIR "/bin/hone"};
    options.environment = {"PATH=/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache", "HONE_STATE=" + scratch_.path()};
    options.working_directory = kSource;
    options.limit_seconds = 300;
    return RunSubprocess(options).value();
  };
  for (const char* arguments : {"tasks", "--version", "--help", "eval relu tasks/relu/seed.cu --device sim --no-time --json"}) {
    const SubprocessResult full = shell(std::string("exec \"$1\" ") + arguments + " > /dev/full");
    EXPECT_EQ(full.exit.exit_status, 3) << arguments;
    EXPECT_THAT(full.err, testing::AnyOf(HasSubstr("standard output"), HasSubstr("No space left"))) << arguments;
  }
  // A file beyond the size limit is an error like a full disk, and not a signal.
  const SubprocessResult limited = shell("ulimit -f 0; exec \"$1\" tasks > '" + (scratch_ / "tasks.txt") + "'");
  EXPECT_EQ(limited.exit.signal, 0);
  EXPECT_EQ(limited.exit.exit_status, 3);
  EXPECT_THAT(limited.err, testing::AnyOf(HasSubstr("standard output"), HasSubstr("File too large")));
}

// The first evaluation with an empty cache precompiles headers in a temporary folder, which takes a second or more.
TEST_F(CommandLine, AnInterruptedEvaluationLeavesNoTemporaryFolder) {
  SubprocessOptions options;
  options.argv = {"/bin/sh", "-c",
                  "{ \"$1\" eval relu tasks/relu/seed.cu --device sim --no-time & hone=$!\n"
                  "until ls -d \"$2\"/sim-*/precompiled-* 2>/dev/null || ! kill -0 $hone; do sleep 0.01; done\n"
                  "kill -TERM $hone; wait $hone; echo ended by $?; } | cat\n",
                  "sh", HONE_BINARY_DIR "/bin/hone", scratch_ / "cache"};
  options.environment = {"PATH=/usr/bin:/bin", "HONE_CACHE=" + (scratch_ / "cache"), "HONE_STATE=" + scratch_.path()};
  options.working_directory = kSource;
  options.limit_seconds = 300;
  // cat ends only when the process that removes temporary files has closed its output too.
  const SubprocessResult result = RunSubprocess(options).value();
  if (!result.out.ends_with("ended by 143\n")) GTEST_SKIP() << "the evaluation was over before it was interrupted: " << result.out;
  ASSERT_THAT(result.out, HasSubstr("/precompiled-"));
  const std::string folder = result.out.substr(0, result.out.find('\n'));
  EXPECT_FALSE(FileExists(folder)) << folder;
}

TEST_F(CommandLine, OptimizeAndWorkerSaySoTooAndInTheirJson) {
  const std::vector<std::string> warnings = ProbeSandbox().Warnings();
  std::string wanted;
  for (const std::string& warning : warnings) wanted += "hone: warning: " + warning + "\n";
  // relu's seed is as fast as the floor, so no attempt is made.
  const Outcome optimize = Hone({"optimize", "relu", "--device", "sim", "--attempts", "1", "--json"});
  EXPECT_EQ(optimize.err, wanted);
  EXPECT_EQ(json::parse(optimize.out).at("sandbox_warnings"), json(warnings));
  std::filesystem::create_directory(scratch_ / "spool");
  const Outcome worker = Hone({"worker", "--spool", scratch_ / "spool", "--once", "--device", "sim", "--json"});
  EXPECT_EQ(worker.status, 0);
  EXPECT_EQ(worker.err, wanted);
  EXPECT_EQ(json::parse(worker.out).at("sandbox_warnings"), json(warnings));
}

// Every field of the JSON that a command prints must be in its documents, by its own name.
TEST_F(CommandLine, FieldsOfEveryCommandsJsonAreDocumented) {
  std::string pages;
  for (const char* page : {"docs/evaluation-json.md", "docs/interop.md", "docs/apply.md", "docs/formats/run-store.md"}) {
    pages += ReadFile(kSource + "/" + page).value();
  }
  std::set<std::string> words;
  for (size_t at = 0; at < pages.size();) {
    const auto is_word = [&](size_t i) { return std::isalnum(static_cast<unsigned char>(pages[i])) != 0 || pages[i] == '_'; };
    size_t end = at;
    while (end < pages.size() && is_word(end)) ++end;
    words.insert(pages.substr(at, end - at));
    at = end + 1;
  }
  // Keys of these objects are data: names of dimensions, tunables, settings and counters. Those of a profile have a
  // table in the source.
  const std::set<std::string> data = {"dims", "binding", "metrics", "options", "tolerance", "values"};
  const std::function<void(const json&, const std::string&)> check = [&](const json& value, const std::string& where) {
    if (value.is_array()) {
      for (const json& item : value) check(item, where);
    } else if (value.is_object()) {
      for (const auto& [key, item] : value.items()) {
        EXPECT_TRUE(words.contains(key)) << where << " prints '" << key << "'";
        if (!data.contains(key)) check(item, where + "." + key);
      }
    }
  };
  const std::string spool = scratch_ / "spool";
  std::filesystem::create_directory(spool);
  const struct {
    std::vector<std::string> arguments;
    int status;
  } commands[] = {
      {{"devices"}, 0},
      {{"tasks"}, 0},
      {{"tasks", "show", "rmsnorm"}, 0},
      {{"doctor"}, 0},
      {{"--version"}, 0},
      {{"tune", "relu", "examples/kernels/relu.cu", "--device", "sim", "--points", "2", "--out", scratch_ / "t.cu"}, 0},
      {{"eval", "relu", "tasks/relu/seed.cu", "--device", "sim", "--no-time", "--profile"}, 0},
      {{"worker", "--spool", spool, "--once", "--device", "sim"}, 0},
      {{"optimize", "relu", "--device", "sim", "--attempts", "1"}, 1},  // the seed is as fast as the floor
      {{"runs"}, 0},
      {{"show", "last"}, 0},
      {{"show", "last", "0"}, 0},
      {{"report", "last"}, 0},
  };
  for (const auto& command : commands) {
    std::vector<std::string> arguments = command.arguments;
    arguments.push_back("--json");
    const Outcome outcome = Hone(arguments);
    EXPECT_EQ(outcome.status, command.status) << arguments[0] << ": " << outcome.err;
    const json value = json::parse(outcome.out, nullptr, false);
    ASSERT_FALSE(value.is_discarded()) << arguments[0] << ": " << outcome.out.substr(0, 300);
    check(value, arguments[0]);
  }
}

TEST_F(CommandLine, ListsTheTasksAsJson) {
  const Outcome outcome = Hone({"tasks", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json tasks = json::parse(outcome.out).at("tasks");
  EXPECT_GE(tasks.size(), 12u);
  for (const json& task : tasks) {
    EXPECT_TRUE(task.at("has_seed").get<bool>()) << task.at("name");
    for (const json& c : task.at("cases")) EXPECT_TRUE(c.contains("bytes"));
  }
}

TEST_F(CommandLine, ListsEverySimulatedGpuAndSaysThatTheirTimesAreModelled) {
  const Outcome outcome = Hone({"devices", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json devices = json::parse(outcome.out).at("devices");
  std::set<std::string> simulated;
  for (const json& device : devices) {
    const std::string id = device.at("id");
    if (id.rfind("sim", 0) != 0) continue;
    EXPECT_TRUE(device.at("modelled").get<bool>()) << id;
    simulated.insert(id);
  }
  EXPECT_THAT(simulated, testing::UnorderedElementsAre("sim", "sim:h100", "sim:a100", "sim:rtx4090"));
  // Each id that is listed can be given to --device.
  for (const std::string& id : simulated) {
    EXPECT_EQ(Hone({"eval", "relu", "tasks/relu/seed.cu", "--device", id, "--no-time"}).status, 0) << id;
  }
}

TEST_F(CommandLine, EvaluatesASeedOnTheSimulatorWithTheDocumentedFields) {
  const Outcome outcome = Hone({"eval", "silu_and_mul", "tasks/silu_and_mul/seed.cu", "--device", "sim", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  const json e = json::parse(outcome.out);
  EXPECT_EQ(e.at("verdict"), "ok") << e.dump(1);
  EXPECT_TRUE(e.at("modelled").get<bool>());
  for (const char* field : {"detail", "device", "geomean_speedup", "resources", "stages", "wall_seconds"}) {
    EXPECT_TRUE(e.contains(field)) << field;
  }
  int timed = 0;
  for (const json& c : e.at("cases")) {
    EXPECT_TRUE(c.contains("dims") && c.contains("role"));
    if (c.at("role") != "time") continue;
    ++timed;
    EXPECT_GT(c.at("time_us").at("median").get<double>(), 0);
    EXPECT_TRUE(c.at("time_us").contains("ci95"));
    EXPECT_TRUE(c.at("speedup").contains("ci95"));
    EXPECT_GT(c.at("baseline_us").get<double>(), 0);
    EXPECT_GT(c.at("floor_us").get<double>(), 0);
    EXPECT_GT(c.at("floor_fraction").get<double>(), 0);
  }
  EXPECT_GE(timed, 3);
  // The seed is timed against itself.
  EXPECT_NEAR(e.at("geomean_speedup").get<double>(), 1.0, 1e-9);
}

TEST_F(CommandLine, RejectsAWrongCandidateWithStatusOneAndNoTimes) {
  const Outcome outcome = Hone({"eval", "relu", "tests/cheats/identity.cu", "--device", "sim", "--json"});
  EXPECT_EQ(outcome.status, 1);
  const json e = json::parse(outcome.out);
  EXPECT_EQ(e.at("verdict"), "wrong_output");
  for (const json& c : e.at("cases")) EXPECT_NE(c.at("role"), "time");
}

TEST_F(CommandLine, NamesTheOptionsThatHelpWhereASimulationIsSlow) {
  // The kernel computes without end. A thread that waits for another one would be recognised before the limit.
  const std::string slow = Write("slow.cu", "/*hone\n[[launch]]\nkernel = \"slow\"\ngrid = [\"1\"]\nblock = [\"32\"]\n"
                                            "args = [\"x\", \"out\", \"rows * d:i64\"]\n*/\n"
                                            "__global__ void slow(const float* x, float* out, long long n) {\n"
                                            "  for (long long round = 0; round < 1000000000; ++round)\n"
                                            "    for (long long i = threadIdx.x; i < n; i += 32) out[i] = fmaxf(x[i], 0.0f);\n"
                                            "}\n");
  const std::vector<std::string> hang = {"eval", "relu", slow, "--device", "sim", "--launch-limit", "0.1"};
  const Outcome timed = Hone(hang);
  EXPECT_EQ(timed.status, 1) << timed.err;
  EXPECT_THAT(timed.out, testing::AllOf(HasSubstr("--launch-limit SECONDS"), HasSubstr("--case N"), HasSubstr("--no-time")));
  std::vector<std::string> checked = hang;
  checked.push_back("--no-time");
  const Outcome untimed = Hone(checked);
  EXPECT_THAT(untimed.out, testing::AllOf(HasSubstr("--launch-limit SECONDS"), testing::Not(HasSubstr("--case N"))));
}

TEST_F(CommandLine, TellsWhatIsWrongWithAPlan) {
  const std::string path = Write("bad.cu", "/*hone\n[[launch]]\nkernel = \"k\"\ngird = [\"1\"]\nblock = [\"1\"]\nargs = []\n*/\n__global__ void k() {}\n");
  const Outcome outcome = Hone({"eval", "relu", path, "--device", "sim"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.out, HasSubstr("bad.cu:4"));
  EXPECT_THAT(outcome.out, HasSubstr("field 'gird': is not a known field (did you mean 'grid'?)"));
}

TEST_F(CommandLine, TellsWhatIsWrongWithATask) {
  std::string toml = *ReadFile(kSource + "/tasks/relu/task.toml");
  toml.replace(toml.find("role = \"in\""), 11, "role = \"into\"");
  Write("task/task.toml", toml);
  const Outcome outcome = Hone({"eval", scratch_ / "task", "tasks/relu/seed.cu", "--device", "sim"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("task.toml:"));
  EXPECT_THAT(outcome.err, HasSubstr("role"));
}

TEST_F(CommandLine, NamesTheTasksThereAreWhenOneIsNot) {
  const Outcome outcome = Hone({"eval", "no_such_task", "x.cu"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("silu_and_mul"));
}

TEST_F(CommandLine, SaysThatACandidateCannotBeRead) {
  const Outcome outcome = Hone({"eval", "relu", "/no/such/file.cu", "--device", "sim"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("/no/such/file.cu"));
}

TEST_F(CommandLine, ASourceThatIsNoUtf8IsToldByFileAndLine) {
  const std::string path = Write("latin.cu", "// caf\xe9\n");
  const std::string spool = "spool:" + (scratch_ / "spool");
  for (const std::vector<std::string>& asked :
       {std::vector<std::string>{"eval", "relu", path, "--device", "sim"}, {"eval", "relu", path, "--device", spool},
        {"tune", "relu", path, "--device", "sim"}, {"optimize", "relu", "--seed-kernel", path, "--device", "sim"}}) {
    const Outcome outcome = Hone(asked);
    EXPECT_EQ(outcome.status, 2) << asked[0] << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("latin.cu:1: the byte 0xe9"));
  }
  const Outcome named = Hone({"eval", "relu", Write("caf\xe9.cu", "x"), "--device", spool});
  EXPECT_EQ(named.status, 2) << named.err;
  EXPECT_THAT(named.err, HasSubstr("rename"));
}

TEST_F(CommandLine, ACandidateMayBeginWithAByteOrderMarkAndEndItsLinesAsWindowsDoes) {
  std::string text = "\xef\xbb\xbf";
  const std::string seed = ReadFile(kSource + "/tasks/relu/seed.cu").value();
  for (const char c : seed) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
  const Outcome outcome = Hone({"eval", "relu", Write("windows.cu", text), "--device", "sim", "--no-time"});
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

TEST_F(CommandLine, RefusesUnknownOptionsAndDevices) {
  EXPECT_EQ(Hone({"eval", "relu", "tasks/relu/seed.cu", "--devise", "sim"}).status, 2);
  const Outcome outcome = Hone({"eval", "relu", "tasks/relu/seed.cu", "--device", "tpu:0"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("cuda:N"));
}

TEST_F(CommandLine, ComparesTwoCandidates) {
  const Outcome outcome = Hone({"compare", "transpose", "tests/honest/transpose_naive.cu",
                                "tests/honest/transpose_padded_tile.cu", "--device", "sim", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err << outcome.out;
  const json e = json::parse(outcome.out);
  EXPECT_GT(e.at("geomean_speedup").get<double>(), 1.2) << "a tile in shared memory beats strided writes";
}

TEST_F(CommandLine, TuneWritesTheFileThatIsAskedForWhereNothingIsBetterToo) {
  const std::string out = scratch_ / "tuned.cu";
  const Outcome outcome = Hone({"tune", "relu", "examples/kernels/relu.cu", "--device", "sim", "--points", "1", "--out", out});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the candidate as it is"));
  EXPECT_EQ(ReadFile(out).value(), ReadFile(kSource + "/examples/kernels/relu.cu").value());
}

// For a candidate that is not right, the sweep's text names the verdicts; below them stands the reason, which its
// author can act on.
TEST_F(CommandLine, TuneSaysWhyNoBindingIsRight) {
  const std::string broken = Write("broken.cu",
                                   "/*hone\n[tune]\nB = [32, 64]\n[[launch]]\nkernel = \"relu\"\ngrid = [1]\nblock = [\"B\"]\n"
                                   "args = [\"x\", \"out\"]\n*/\n__global__ void relu(const float* x, float* out) { nothing(); }\n");
  const Outcome outcome = Hone({"tune", "relu", broken, "--device", "sim"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.out, HasSubstr("none of the 2 bindings tried is right"));
  EXPECT_THAT(outcome.out, HasSubstr("compile_error with B=32:\n  broken.cu:10:"));
  EXPECT_THAT(outcome.out, HasSubstr("nothing"));
}

TEST_F(CommandLine, TuneShowsWhatItFoundWhereItCannotBeWritten) {
  std::filesystem::create_symlink("/dev/full/none", scratch_ / "away");
  const Outcome outcome = Hone({"tune", "relu", "examples/kernels/relu.cu", "--device", "sim", "--points", "1", "--out",
                                scratch_ / "away/tuned.cu"});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("binding"));
  EXPECT_THAT(outcome.out, HasSubstr("best"));
  EXPECT_THAT(outcome.err, HasSubstr("away"));
}

// A sweep that is stopped shows what it has judged, and writes no candidate.
TEST_F(CommandLine, TuneStopsWithWhatItHas) {
  std::string source = ReadFile(kSource + "/tasks/relu/seed.cu").value();
  const std::string choices = "BLOCK = [256, 128, 512, 1024]";
  ASSERT_NE(source.find(choices), std::string::npos);
  std::string many = "BLOCK = [32";
  for (int block = 64; block <= 1024; block += 32) many += ", " + std::to_string(block);
  source.replace(source.find(choices), choices.size(), many + "]");
  SubprocessOptions options;
  options.argv = {"/bin/sh", "-c",
                  "\"$1\" tune relu \"$2\" --device sim --parallel 1 --out \"$3\" > \"$4\" & hone=$!\n"
                  "until grep -q ' 1 of 32' \"$4\" || ! kill -0 $hone; do sleep 0.01; done\n"
                  "kill -TERM $hone; wait $hone; echo ended by $?; cat \"$4\"\n",
                  "sh", HONE_BINARY_DIR "/bin/hone", Write("many.cu", source), scratch_ / "tuned.cu", scratch_ / "told"};
  options.environment = {"PATH=/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache", "HONE_STATE=" + scratch_.path()};
  options.working_directory = kSource;
  options.limit_seconds = 300;
  const SubprocessResult result = RunSubprocess(options).value();
  if (result.out.starts_with("ended by 0\n")) GTEST_SKIP() << "the sweep was over before it was stopped";
  EXPECT_THAT(result.out, testing::StartsWith("ended by 1\n")) << result.err;
  EXPECT_THAT(result.out, HasSubstr("not tried: the sweep was stopped, and nothing is written"));
  EXPECT_THAT(result.out, HasSubstr("BLOCK=32 "));
  EXPECT_FALSE(FileExists(scratch_ / "tuned.cu"));
}

// The run is stored and its result printed, even if the report cannot be written.
TEST_F(CommandLine, OptimizeTellsItsResultWhereItsReportCannotBeWritten) {
  std::filesystem::create_symlink("/dev/full/none", scratch_ / "away");
  const Outcome outcome = Hone({"optimize", "relu", "--device", "sim", "--attempts", "1", "--report", scratch_ / "away/report.html"});
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Ended: floor_reached"));
  EXPECT_THAT(outcome.err, HasSubstr("the run itself is stored: hone report "));
}

TEST_F(CommandLine, CompareEndsAsEvalDoesForAPlanThatCannotBeRead) {
  const std::string broken = Write("broken.cu", "/*hone\n[[launch]]\n*/\n");
  EXPECT_EQ(Hone({"eval", "relu", broken, "--device", "sim"}).status, 2);
  EXPECT_EQ(Hone({"compare", "relu", broken, "tasks/relu/seed.cu", "--device", "sim"}).status, 2);
  EXPECT_EQ(Hone({"compare", "relu", "tasks/relu/seed.cu", broken, "--device", "sim"}).status, 2);
}

TEST_F(CommandLine, CompareSaysWhichOfTheTwoIsWrong) {
  std::string source = ReadFile(kSource + "/tasks/relu/seed.cu").value();
  const std::string right = "fmaxf(x, 0.0f)";
  ASSERT_NE(source.find(right), std::string::npos);
  const std::string wrong = Write("wrong.cu", source.replace(source.find(right), right.size(), "fmaxf(x, 0.5f)"));
  const Outcome outcome = Hone({"compare", "relu", wrong, "tasks/relu/seed.cu", "--device", "sim"});
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("is the first of the two, which the second is timed against; it is not right itself"));
}

// A user in a container often has no home. Commands that only read make no folder there; those that must write name the
// variable that helps.
TEST_F(CommandLine, FoldersThatCannotBeWrittenAreToldWithWhatHelps) {
  const auto run = [&](std::vector<std::string> arguments) {
    SubprocessOptions options;
    options.argv = {HONE_BINARY_DIR "/bin/hone"};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    options.environment = {"PATH=/usr/bin:/bin", "HOME=/dev/null/home"};
    options.working_directory = kSource;
    const SubprocessResult result = RunSubprocess(options).value();
    return Outcome{result.exit.exit_status, result.out, result.err};
  };
  const Outcome eval = run({"eval", "relu", "tasks/relu/seed.cu", "--device", "sim"});
  EXPECT_EQ(eval.status, 3);
  EXPECT_THAT(eval.err, HasSubstr("set HONE_CACHE"));
  EXPECT_THAT(run({"tasks", "check", "relu"}).err, HasSubstr("set HONE_CACHE"));
  const Outcome optimize = run({"optimize", "relu", "--device", "sim"});
  EXPECT_EQ(optimize.status, 3);
  EXPECT_THAT(optimize.err, HasSubstr("HONE_STATE names another folder"));
  EXPECT_EQ(run({"runs"}).status, 0);
  const Outcome show = run({"show", "last"});
  EXPECT_EQ(show.status, 2);
  EXPECT_THAT(show.err, HasSubstr("there are no runs yet"));
}

TEST_F(CommandLine, ACacheThatAnotherUserMadeIsNotUsed) {
  const std::string guessed = scratch_ / ("hone-" + std::to_string(getuid()));
  std::filesystem::create_directory(guessed);
  SubprocessOptions options;
  options.argv = {HONE_BINARY_DIR "/bin/hone", "eval", "relu", "tasks/relu/seed.cu", "--device", "sim", "--no-time"};
  options.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + scratch_.path()};
  options.working_directory = kSource;
  if (chown(guessed.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root can give a folder away";
  const SubprocessResult refused = RunSubprocess(options).value();
  EXPECT_EQ(refused.exit.exit_status, 3);
  EXPECT_THAT(refused.err, HasSubstr("belongs to another user"));
  EXPECT_TRUE(std::filesystem::is_empty(guessed));
}

TEST_F(CommandLine, TuneRefusesFewerGroupsThanAnIntervalNeeds) {
  const Outcome outcome = Hone({"tune", "relu", "examples/kernels/relu.cu", "--device", "sim", "--quads", "4"});
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("10 to 10000"));
}

TEST_F(CommandLine, RefusesNumbersThatCannotBeMeant) {
  const std::vector<std::string> eval = {"eval", "relu", "tasks/relu/seed.cu", "--device", "sim"};
  const struct {
    std::vector<std::string> flags;
    const char* told;
  } asked[] = {{{"--case", "99"}, "--case 99: relu has 4 timed cases, counted from 0"},
               {{"--trials", "0"}, "use 1 to 1000"},
               {{"--launch-limit", "0"}, "more than 0"},
               {{"--jobs", "-1"}, "0 (one per core) or more"}};
  for (const auto& [flags, told] : asked) {
    std::vector<std::string> arguments = eval;
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const Outcome outcome = Hone(arguments);
    EXPECT_EQ(outcome.status, 2) << flags[0];
    EXPECT_THAT(outcome.err, HasSubstr(told));
  }
}

TEST_F(CommandLine, TellsAtOnceWhatCannotBeMeant) {
  // A run that began with a NaN could not be read again, though `last` named it. An option that --resume would ignore
  // is refused.
  const struct {
    std::vector<std::string> arguments;
    const char* message;
  } cases[] = {
      {{"optimize", "relu", "--keep-above", "nan"}, "no finite number"},
      {{"optimize", "relu", "--keep-above", "-1"}, "--keep-above (in a config file keep_above) is -1"},
      {{"optimize", "relu", "--run-seed", "-1"}, "--run-seed: '-1' is negative"},
      {{"optimize", "relu", "--report", scratch_.path()}, "is a folder"},
      {{"optimize", "--resume", "last", "--attempts", "9"}, "--attempts cannot be given with --resume"},
      {{"optimize", "--resume", ""}, "is empty"},
      {{"optimize", "relu", "--strategy", "best"}, "there is no strategy 'best' (known: refine, team"},
      {{"optimize", "relu", "--prices", scratch_ / "none.toml"}, "none.toml"},  // refused although the builtin model
                                                                                // has no price
      {{"bench", "strategies", "relu", "--strategy", "tree"}, "--strategies A,B"},
      {{"optimise", "relu"}, "there is no subcommand 'optimise' (did you mean 'optimize'?); known: devices"},
      {{"tasks", "chek", "relu"}, "there is no subcommand 'chek' (did you mean 'check'?)"},
      {{"eval", "--jsn"}, "there is no option --jsn (did you mean '--json'?)"},
      {{"eval", "relu", "tasks/relu/seed.cu", "--sede", "7"}, "there is no option --sede (did you mean '--seed'?)"},
      {{"eval", "relu", "tasks/relu/seed.cu", "another.cu"}, "'another.cu' is one argument too many"},
      {{"eval", "relu", "tasks/relu/seed.cu", "--baseline"}, "--baseline needs a value"},
      {{"eval", "rleu", "tasks/relu/seed.cu"}, "no task named 'rleu' (did you mean 'relu'?)"},
      {{"eval", "relu", scratch_.path()}, "is a folder"},
      {{"eval", "relu", "tasks/relu/seed.cu", "--bind", "NOPE=3"}, "has no tunable 'NOPE'"},
      {{"tune", "relu", "tasks/relu/seed.cu", "--out", scratch_.path()}, "is a folder"},
      {{"runs", "--store", scratch_ / "typo.sqlite"}, "there is no such file"},
      {{"worker", "--spool", scratch_ / "typo", "--once", "--device", "sim"}, "there is no such folder"},
      {{"eval", "relu", "tasks/relu/seed.cu", "--device", "spool:" + (scratch_ / "typo/spool")}, "there is no folder"},
      {{"show", "last", "-1"}, "'-1' is too small"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = Hone(c.arguments);
    EXPECT_EQ(outcome.status, 2) << testing::PrintToString(c.arguments);
    EXPECT_THAT(outcome.err, testing::AllOf(testing::StartsWith("hone: "), HasSubstr(c.message)));
    EXPECT_EQ(outcome.out, "") << testing::PrintToString(c.arguments);
  }
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "typo.sqlite"));
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "typo"));
  EXPECT_THAT(Hone({"runs"}).out, HasSubstr("No runs yet"));  // no run has begun
}

TEST_F(CommandLine, AnExportedRunIsReadUnderAnyNameAndACutOneIsToldShortly) {
  // the seed is as fast as the floor
  ASSERT_EQ(Hone({"optimize", "relu", "--device", "sim", "--attempts", "1"}).status, 1);
  const std::string exported = scratch_ / "exported";  // the program runs in the file's folder, and the name has
                                                       // neither a slash nor .jsonl
  ASSERT_EQ(Hone({"show", "last", "--export", exported}).status, 0);
  EXPECT_EQ(Hone({"show", "exported"}, scratch_.path()).status, 0);
  const std::string text = ReadFile(exported).value();
  const Outcome cut = Hone({"show", Write("cut.jsonl", text.substr(0, text.size() / 2))});
  EXPECT_EQ(cut.status, 2);
  EXPECT_THAT(cut.err, HasSubstr("the file was cut off"));
  EXPECT_LT(cut.err.size(), 300u);
  EXPECT_TRUE(json::parse(Hone({"optimize", "--settings", "--json"}).out).at("settings")[0].contains("default"));
}

// A model's words, another person's file and a compiler's quotation are all printed, and no control sequence in them
// reaches the terminal.
TEST_F(CommandLine, WhatStrangersWriteReachesATerminalAsTextOnly) {
  const std::string hostile = "\x1b]0;your title\x07 \u202eedoc";
  const auto harmless = [](const Outcome& outcome) {
    const std::string all_output = outcome.out + outcome.err;
    return all_output.find_first_of("\x1b\x07\r") == std::string::npos &&
           all_output.find("\u202e") == std::string::npos;
  };
  // In this recorded run a stranger wrote the ideas.
  std::istringstream lines(ReadFile(kSource + "/examples/runs/sample-softmax.jsonl").value());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    json record = json::parse(line);
    if (record.contains("payload") && record["payload"].contains("idea")) record["payload"]["idea"] = hostile;
    text += record.dump() + "\n";
  }
  const std::string run = Write("hostile.jsonl", text), page = scratch_ / "page.html";
  const std::string shown = "\\x1b]0;your title\\x07 \\u202eedoc";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"show", run}, {"show", run, "1"}, {"optimize", "--replay", run}}) {
    const Outcome outcome = Hone(command);
    EXPECT_THAT(outcome.out, HasSubstr("\\x1b]0;your title\\x07")) << command[0] << outcome.err;
    EXPECT_TRUE(harmless(outcome)) << command[0];
  }
  EXPECT_EQ(json::parse(Hone({"show", run, "1", "--json"}).out).at("idea"), hostile) << "JSON is exact";
  EXPECT_EQ(Hone({"report", run, "--out", page}).status, 0);
  const std::string html = ReadFile(page).value();
  EXPECT_THAT(html, HasSubstr(shown));
  EXPECT_TRUE(harmless({0, html, ""}));
  // A compiler's message quotes the source that it compiles.
  const std::string bad =
      Write("bad.cu", ReadFile(kSource + "/tasks/relu/seed.cu").value() + "\n#error \x1b]0;your title\x07\n");
  const Outcome refused = Hone({"eval", "relu", bad, "--device", "sim"});
  EXPECT_EQ(refused.status, 1) << refused.err;
  EXPECT_THAT(refused.out, testing::AllOf(HasSubstr("compile_error"), HasSubstr("your title")));
  EXPECT_TRUE(harmless(refused));
  // File names and unknown options are printed in messages too.
  for (const std::vector<std::string>& command : {std::vector<std::string>{"eval", "relu", "no" + hostile + ".cu"},
                                                  {"show", hostile + ".jsonl"},
                                                  {"eval", "--" + hostile}}) {
    const Outcome outcome = Hone(command);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("\\x1b]0;your title"));
    EXPECT_TRUE(harmless(outcome)) << outcome.err;
  }
}

TEST_F(CommandLine, SaysWhatIsWrongWithATasksLibraries) {
  const auto eval = [&](const std::string& task, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"eval", task, kSource + "/tasks/relu/seed.cu", "--device", "sim", "--case", "0", "--libraries"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Hone(arguments);
  };
  EXPECT_THAT(eval("relu", {}).out, HasSubstr("run on a GPU only"));
  EXPECT_THAT(eval("relu", {"--no-time"}).err, HasSubstr("leave out --libraries"));
  for (const char* file : {"task.toml", "oracle.cu", "seed.cu"}) {
    Write(std::string("mine/") + file, ReadFile(kSource + "/tasks/relu/" + file).value());
  }
  EXPECT_THAT(eval(scratch_ / "mine", {}).out, HasSubstr("write a baseline.toml"));
  Write("mine/baseline.toml", "[[library]]\nkind = \"torhc\"\n");
  const Outcome wrong = eval(scratch_ / "mine", {});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.out, testing::AllOf(HasSubstr("invalid_task"), HasSubstr("baseline.toml:2"), HasSubstr("kind")));
  const Outcome linted = Hone({"tasks", "check", scratch_ / "mine", "--device", "sim"});
  EXPECT_EQ(linted.status, 2);
  EXPECT_THAT(linted.err, HasSubstr("baseline.toml:2"));
}

TEST_F(CommandLine, ASweepGoesOnWhereTheLastOneEndedAndIsExplained) {
  const std::string out = scratch_ / "tuned.cu";
  const auto tune = [&](const char* points, const std::string& more) {
    std::vector<std::string> arguments = {"tune", "relu", "examples/kernels/relu.cu", "--device", "sim", "--points", points, "--quads", "10", "--out", out, "--json"};
    if (!more.empty()) arguments.push_back(more);
    const Outcome outcome = Hone(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return json::parse(outcome.out);
  };
  EXPECT_EQ(tune("1", "").at("known"), 0);
  const json second = tune("2", "");
  EXPECT_EQ(second.at("known"), 1);
  EXPECT_EQ(second.at("points").size(), 2u);
  EXPECT_EQ(tune("2", "--again").at("known"), 0);
  const json entry = json::parse(Hone({"db", "show", "relu", "--json"}).out);
  EXPECT_EQ(entry.at("id"), second.at("entry"));
  EXPECT_EQ(entry.at("sittings"), 3);
  EXPECT_EQ(entry.at("bindings").size(), 2u);
  EXPECT_EQ(entry.at("shapes").size(), second.at("winners").size());
  EXPECT_THAT(Hone({"db", "list"}).out, HasSubstr(second.at("entry").get<std::string>()));

  // The export has the winners of all sweeps without measuring anything: the same file as the last sweep's.
  const std::string exported = scratch_ / "exported.cu";
  EXPECT_EQ(Hone({"db", "export", "relu", "--candidate", exported, "--out", scratch_ / "package"}).status, 0);
  EXPECT_EQ(ReadFile(exported).value(), ReadFile(out).value());
  EXPECT_TRUE(FileExists(scratch_ / "package/hone_relu.cuh"));

  const std::string copy = scratch_ / "copy.sqlite";
  EXPECT_THAT(Hone({"db", "merge", scratch_ / "tunings.sqlite", "--db", copy}).out, HasSubstr("1 new entry and 4 new points"));
  EXPECT_EQ(Hone({"db", "prune"}).status, 2);
  EXPECT_THAT(Hone({"db", "prune", "--task", "relu"}).out, HasSubstr("--yes"));
  EXPECT_EQ(Hone({"db", "prune", "--task", "relu", "--yes"}).status, 0);
  EXPECT_EQ(Hone({"db", "show", "relu"}).status, 2);
  EXPECT_EQ(Hone({"db", "show", "relu", "--db", copy}).status, 0);  // the merged database keeps the entries
}

TEST_F(CommandLine, JudgesThroughASpool) {
  const std::string spool = scratch_ / "spool";
  const std::vector<std::string> eval = {"eval", "relu", "tests/honest/relu_scalar.cu", "--no-time", "--json", "--device", "spool:" + spool};
  const Outcome asked = Hone(eval);
  EXPECT_EQ(asked.status, 4) << asked.out << asked.err;
  EXPECT_THAT(asked.err, HasSubstr("hone worker"));
  const Outcome worked = Hone({"worker", "--spool", spool, "--once", "--device", "sim"});
  EXPECT_EQ(worked.status, 0) << worked.err;
  const Outcome answered = Hone(eval);
  EXPECT_EQ(answered.status, 0) << answered.err;
  EXPECT_EQ(json::parse(answered.out).at("verdict"), "ok");
}

// Returns whether `parent` has a running child process that is a simulated GPU.
bool HasSimulatedGpu(pid_t parent) {
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const Result<std::string> command = ReadFile(entry.path() / "cmdline"), status = ReadFile(entry.path() / "status");
    if (command.ok() && status.ok() && command->find("__sim-child") != std::string::npos &&
        status->find("\nPPid:\t" + std::to_string(parent) + "\n") != std::string::npos) {
      return true;
    }
  }
  return false;
}

// Two bundles have launches that never end; the worker judges one at a time.
TEST_F(CommandLine, ASecondSignalAndAKillEndAWorkerInTheMiddleOfAJudgement) {
  std::string source = ReadFile(kSource + "/tests/honest/relu_scalar.cu").value();
  source.insert(source.find('{', source.find("__global__")) + 1, "\n  for (volatile int turn = 0; turn >= 0; turn = 1) {}\n");
  const std::string spool = scratch_ / "spool";
  for (const char* name : {"a.cu", "b.cu"}) {
    ASSERT_EQ(Hone({"eval", "relu", Write(name, source), "--no-time", "--device", "spool:" + spool}).status, 4);
  }
  const auto bundles = [&](const char* state) {
    std::error_code none;
    std::filesystem::directory_iterator entry(spool + "/" + state, none);
    return std::distance(entry, std::filesystem::directory_iterator());
  };
  for (const int signal : {SIGINT, SIGKILL}) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd errors(ends[0]);
    UniqueFd writing(ends[1]);
    ChildOptions options;
    options.argv = {HONE_BINARY_DIR "/bin/hone", "worker", "--spool", spool, "--device", "sim",
                    "--parallel", "1", "--launch-limit", "1000", "--poll", "1000"};
    options.environment = {"PATH=/usr/bin:/bin", "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                           "HONE_STATE=" + scratch_.path()};
    options.descriptors = {{writing.get(), 2}};
    ChildProcess worker = ChildProcess::Start(options).value();
    writing.Reset();
    int looks = 0;
    while (!HasSimulatedGpu(worker.pid())) ASSERT_TRUE(++looks < 12000 && !worker.Wait(0.01).has_value());
    EXPECT_EQ(bundles("running"), 1) << "the worker has begun with one, and leaves the other to others";
    kill(worker.pid(), signal);
    if (signal == SIGINT) {
      EXPECT_FALSE(worker.Wait(0.3).has_value()) << "the first signal ended it";
      // The signal is sent repeatedly: of two that arrive at the same time, one is lost.
      for (int i = 0; i < 600 && !worker.Wait(0.1); ++i) kill(worker.pid(), signal);
    }
    const std::optional<ExitState> end = worker.Wait(60);
    ASSERT_TRUE(end.has_value());
    EXPECT_EQ(end->signal, signal);
    // The simulated GPU keeps the worker's standard error open as long as it lives.
    char said[4096];
    ssize_t n = 1;
    while (WaitReadable(errors.get(), 60).value() && n > 0) n = read(errors.get(), said, sizeof(said));
    EXPECT_EQ(n, 0) << "a child outlived the worker";
    const bool put_back = signal == SIGINT;
    EXPECT_EQ(bundles("pending"), put_back ? 2 : 1);
    EXPECT_EQ(bundles("running"), put_back ? 0 : 1);
    EXPECT_EQ(bundles("done"), 0);
  }
}

}  // namespace
}  // namespace hone
