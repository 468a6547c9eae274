// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone-gnn` on a full disk: the error names the file and says what to do, the older file is unchanged, and
// nothing half-written is left.
//
// The faults are real ones: a limit on the size of files (EFBIG), which every machine has; a file system in memory
// with no room left (ENOSPC), where the machine lets a test mount one; and /dev/full for standard output.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "tests/gnn/command.h"

namespace hone::gnn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FullDisk : public HoneGnn {
 protected:
  // Runs `script` in a shell whose "$@" is `hone-gnn` with the arguments.
  Outcome RunIn(const std::string& script, std::vector<std::string> arguments, std::vector<std::string> before = {}) {
    SubprocessOptions options;
    options.argv = std::move(before);
    for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), script, std::string("sh")}) {
      options.argv.push_back(word);
    }
    for (const std::string& word : Arguments(std::move(arguments))) options.argv.push_back(word);
    options.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "CUDA_VISIBLE_DEVICES="};
    options.limit_seconds = 300;
    Result<SubprocessResult> result = RunSubprocess(options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    EXPECT_EQ(result->exit.signal, 0) << result->exit.Describe();
    return {result->exit.exit_status, result->out, result->err};
  }
  // Runs `hone-gnn` with a limit of `kib` KiB on every file it writes.
  Outcome RunLimited(int kib, std::vector<std::string> arguments) {
    // ulimit counts in units of 512 bytes
    return RunIn("ulimit -f " + std::to_string(2 * kib) + " && exec \"$@\"", std::move(arguments));
  }
  static std::set<std::string> Names(const std::string& folder) {
    std::set<std::string> names;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) names.insert(entry.path().filename());
    return names;
  }
  // Trains an epoch into `folder`.
  void TrainOnce(const std::string& folder) { ASSERT_EQ(Train({"--epochs", "1", "--checkpoint", folder}).status, 0); }
  static std::string Bytes(const std::string& path) {
    const Result<std::string> bytes = ReadFile(path);
    return bytes.ok() ? *bytes : bytes.status().message();
  }
};

TEST_F(FullDisk, ACheckpointThatDoesNotFitLeavesTheOneBefore) {
  const std::string run = scratch_ / "run";
  TrainOnce(run);
  const std::string last = Bytes(run + "/last.safetensors"), best = Bytes(run + "/best.safetensors");
  ASSERT_GT(last.size(), 16u << 10);
  const Outcome outcome = RunLimited(
      8, {"train", kGraph, "--resume", run, "--epochs", "3", "--quiet", "--threads", "1", "--save-every", "9"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("saving the checkpoint"), HasSubstr("File too large"), HasSubstr("make room"),
                                 HasSubstr("'" + run + "/last.safetensors' is as it was"), HasSubstr("--resume '" + run + "'")));
  EXPECT_THAT(Names(run), ElementsAre("best.safetensors", "last.safetensors"));
  EXPECT_TRUE(Bytes(run + "/last.safetensors") == last);
  EXPECT_TRUE(Bytes(run + "/best.safetensors") == best);
  // The command at the end of the message continues the run to its end.
  const size_t at = outcome.err.find("Then go on: hone-gnn ");
  ASSERT_NE(at, std::string::npos) << outcome.err;
  const std::string command = outcome.err.substr(at + 21, outcome.err.find('\n', at) - at - 21);
  EXPECT_EQ(command,
            "train '" + std::string(kGraph) + "' --resume '" + run + "' --epochs 3 --save-every 9 --threads 1");
  const Outcome resumed = RunIn("exec \"$1\" " + command, {});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.out, AllOf(HasSubstr("\n    2 "), HasSubstr("\n    3 ")));
}

// Nothing was saved in the new folder, so the message says to resume from the old one.
TEST_F(FullDisk, ARunThatGoesOnInAnotherFolderIsToldToBeginThereAnew) {
  const std::string run = scratch_ / "it's", other = scratch_ / "other";
  TrainOnce(run);
  TrainOnce(other);
  const Outcome outcome =
      RunLimited(8, {"train", kGraph, "--resume", run, "--checkpoint", other, "--epochs", "2", "--quiet"});
  EXPECT_EQ(outcome.status, 3);
  const size_t at = outcome.err.find("Then go on: hone-gnn ");
  ASSERT_NE(at, std::string::npos) << outcome.err;
  const std::string command = outcome.err.substr(at + 21, outcome.err.find('\n', at) - at - 21);
  EXPECT_THAT(command, AllOf(HasSubstr("it'\\''s' --epochs 2"), HasSubstr("--checkpoint " + other)));
  EXPECT_EQ(RunIn("exec \"$1\" " + command, {}).status, 0);
}

TEST_F(FullDisk, ARunWithoutRoomForACheckpointEndsBeforeItsFirstStep) {
  const std::string run = scratch_ / "run";
  const Outcome outcome = RunLimited(8, {"train", kGraph, "--fanout", "4,4", "--hidden", "16", "--checkpoint", run, "--quiet"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("no '" + run + "/last.safetensors' was left"), HasSubstr("make room")));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("--resume")));
  EXPECT_THAT(Names(run), IsEmpty());
}

TEST_F(FullDisk, PredictionsThatDoNotFitLeaveTheOnesBefore) {
  const std::string run = scratch_ / "run", output = scratch_ / "predictions/classes.npy";
  TrainOnce(run);
  const std::string older = "\x93NUMPY, older";  // contents of an older file, which only whole predictions may replace
  ASSERT_TRUE(WriteFileAtomically(output, older).ok());
  const Outcome outcome = RunLimited(4, {"infer", kGraph, run, "--full", "--nodes", "all", "--output", output, "--quiet"});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("File too large"), HasSubstr("'" + output + "' is as it was"), HasSubstr("make room")));
  EXPECT_THAT(Names(scratch_ / "predictions"), ElementsAre("classes.npy"));
  EXPECT_EQ(Bytes(output), older);

  const Outcome scratch = RunLimited(4, {"infer", kGraph, run, "--full", "--scratch", scratch_ / "scratch", "--quiet"});
  EXPECT_EQ(scratch.status, 3);
  EXPECT_THAT(scratch.err, AllOf(HasSubstr(scratch_ / "scratch"), HasSubstr("File too large"), HasSubstr("--scratch")));
  EXPECT_THAT(Names(scratch_ / "scratch"), IsEmpty());
}

TEST_F(FullDisk, AContainerThatDoesNotFitLeavesTheOneBefore) {
  const std::string folder = scratch_ / "graphs", out = folder + "/g.hgraph";
  const std::string older = "HONEGRPH, an older one";
  ASSERT_TRUE(WriteFileAtomically(out, older).ok());
  std::string edges;
  for (int i = 0; i < 200000; ++i) edges += std::to_string(i % 5000) + " " + std::to_string(i * 7919 % 5000) + "\n";
  ASSERT_TRUE(WriteFileAtomicallyUnflushed(scratch_ / "edges.txt", edges).ok());
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } cases[] = {
      {{"convert", scratch_ / "edges.txt", out, "--quiet"}, "could not write '" + out + "'"},
      {{"convert", scratch_ / "edges.txt", out, "--memory", "1", "--quiet"}, "write sorted edges beside '" + out + "'"},
      {{"generate", "arxiv", out, "--nodes", "20000", "--quiet"}, "could not write '" + out + "'"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = RunLimited(256, c.arguments);
    EXPECT_EQ(outcome.status, 3) << c.message;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(c.message), HasSubstr("File too large"), HasSubstr("nothing was left behind; free some space")));
    EXPECT_THAT(Names(folder), ElementsAre("g.hgraph"));
    EXPECT_EQ(Bytes(out), older);
  }
}

TEST_F(FullDisk, AFileSystemWithoutRoomIsToldLikewise) {
  const std::string run = scratch_ / "run", disk = scratch_ / "disk";
  TrainOnce(run);
  ASSERT_TRUE(MakeDirectories(disk).ok());
  // The file system has 64 KiB, all but one page of them taken; the mount ends with its namespace. The last command
  // lists what is left in it.
  const std::string mount = "mount -t tmpfs -o size=64k none '" + disk + "' && mkdir '" + disk +
                            "/run' && head -c 61440 /dev/zero > '" + disk + "/fill' || exit 99; ";
  const std::string script = mount + "\"$@\"; s=$?; echo LEFT $(find '" + disk + "' -type f -printf '%f:%s ') >&2; exit $s";
  std::vector<std::string> namespaces;
  for (const std::string flags : {"-Urm", "-m"}) {
    std::vector<std::string> wanted = {"/usr/bin/unshare", flags};
    SubprocessOptions probe;
    probe.argv = wanted;
    for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), mount}) probe.argv.push_back(word);
    probe.environment = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
    probe.limit_seconds = 60;
    const Result<SubprocessResult> done = RunSubprocess(probe);
    if (done.ok() && done->exit.success()) namespaces = wanted;
    if (!namespaces.empty()) break;
  }
  if (namespaces.empty()) GTEST_SKIP() << "a test may not mount a file system in memory here";
  const std::vector<std::vector<std::string>> commands = {
      {"train", kGraph, "--fanout", "4,4", "--hidden", "16", "--checkpoint", disk + "/run", "--quiet"},
      {"infer", kGraph, run, "--nodes", "all", "--output", disk + "/classes.npy", "--quiet"},
      {"infer", kGraph, run, "--full", "--scratch", disk, "--quiet"},
      {"generate", "arxiv", disk + "/g.hgraph", "--nodes", "2000", "--quiet"},
  };
  for (const std::vector<std::string>& arguments : commands) {
    const Outcome outcome = RunIn(script, arguments, namespaces);
    EXPECT_EQ(outcome.status, 3) << arguments[0];
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("No space left on device"), HasSubstr(disk), testing::ContainsRegex("make room|free some space")));
    EXPECT_THAT(outcome.err, testing::ContainsRegex("LEFT fill:[0-9]+ *\n$"));
  }
}

TEST_F(FullDisk, StandardOutputThatCannotBeWrittenIsNoSuccess) {
  for (const std::string as : {"", "--json"}) {
    std::vector<std::string> arguments = {"info", kGraph, "--quiet"};
    if (!as.empty()) arguments.push_back(as);
    const Outcome outcome = RunIn("exec \"$@\" > /dev/full", arguments);
    EXPECT_EQ(outcome.status, 3);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("standard output"), HasSubstr("No space left on device")));
  }
}

}  // namespace
}  // namespace hone::gnn
