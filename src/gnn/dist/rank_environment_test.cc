// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/rank_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace hone::gnn {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<RankPlace> Find(const Variables& variables) {
  return FindRankPlace([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(RankEnvironment, NoVariablesMeanAProcessByItself) {
  const RankPlace place = Find({{"HOME", "/root"}}).value();
  EXPECT_EQ(place.size, 1);
  EXPECT_EQ(place.launcher, "");
}

TEST(RankEnvironment, OpenMpiOnOneHostNeedsNothingElse) {
  const Variables variables = {{"OMPI_COMM_WORLD_RANK", "2"},
                               {"OMPI_COMM_WORLD_SIZE", "4"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                               {"PMIX_NAMESPACE", "prterun-17@1"}};
  const RankPlace place = Find(variables).value();
  EXPECT_EQ(place.rank, 2);
  EXPECT_EQ(place.size, 4);
  EXPECT_EQ(place.local_rank, 2);
  EXPECT_EQ(place.master_address, "127.0.0.1");
  ASSERT_FALSE(place.ports.empty());
  for (const int port : place.ports) EXPECT_TRUE(port >= 20000 && port < 32000) << port;
  Variables rank_0 = variables;
  rank_0["OMPI_COMM_WORLD_RANK"] = "0";
  EXPECT_EQ(Find(rank_0)->ports, place.ports);
  Variables other_job = variables;
  other_job["PMIX_NAMESPACE"] = "prterun-18@1";
  EXPECT_NE(Find(other_job)->ports, place.ports);
}

TEST(RankEnvironment, SeveralHostsWithoutAnAddressAreToldWhatToSet) {
  Variables variables = {{"OMPI_COMM_WORLD_RANK", "2"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                         {"PMIX_NAMESPACE", "17"}};
  EXPECT_THAT(Find(variables).status().message(), HasSubstr("mpirun -x MASTER_ADDR=HOST"));
  variables["MASTER_ADDR"] = "node1";
  EXPECT_EQ(Find(variables)->master_address, "node1");
}

TEST(RankEnvironment, SlurmStepsNameTheirFirstHost) {
  const Variables variables = {{"SLURM_PROCID", "3"},  {"SLURM_NTASKS", "4"},
                               {"SLURM_LOCALID", "1"}, {"SLURM_STEP_ID", "0"},
                               {"SLURM_JOB_ID", "99"}, {"SLURM_STEP_NODELIST", "gpu[07-09,12]"}};
  const RankPlace place = Find(variables).value();
  EXPECT_EQ(place.rank, 3);
  EXPECT_EQ(place.local_rank, 1);
  EXPECT_EQ(place.master_address, "gpu07");
  // A batch script has the variables of one task of many, but no other task runs.
  Variables batch = variables;
  batch.erase("SLURM_STEP_ID");
  EXPECT_EQ(Find(batch)->size, 1);
  EXPECT_EQ(FirstHostOfList("login1,gpu2"), "login1");
  EXPECT_EQ(FirstHostOfList("rack[1-2]n[03-04]"), "rack1n03");
}

TEST(RankEnvironment, HydraAndPlainVariables) {
  const RankPlace hydra = Find({{"PMI_RANK", "1"},
                                {"PMI_SIZE", "2"},
                                {"MPI_LOCALRANKID", "1"},
                                {"MPI_LOCALNRANKS", "2"},
                                {"MASTER_PORT", "29500"}})
                              .value();
  EXPECT_EQ(hydra.rank, 1);
  EXPECT_EQ(hydra.ports, std::vector<int>{29500});
  const RankPlace plain =
      Find({{"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1234"}})
          .value();
  EXPECT_EQ(plain.rank, 5);
  EXPECT_EQ(plain.master_address, "a");
  // Our own launcher's ranks may run inside a job step.
  const RankPlace own = Find({{"HONE_RANK", "1"},
                              {"HONE_WORLD_SIZE", "3"},
                              {"HONE_LOCAL_RANK", "1"},
                              {"HONE_STORE_PORT", "40000"},
                              {"HONE_JOB", "j"},
                              {"SLURM_PROCID", "0"},
                              {"SLURM_STEP_ID", "0"}})
                            .value();
  EXPECT_EQ(own.size, 3);
}

TEST(RankEnvironment, NonsenseIsRefusedByName) {
  EXPECT_THAT(Find({{"RANK", "x"}, {"WORLD_SIZE", "2"}}).status().message(), HasSubstr("RANK is 'x'"));
  EXPECT_THAT(Find({{"RANK", "2"}, {"WORLD_SIZE", "2"}}).status().message(), HasSubstr("rank 2 of 2"));
  const Variables base = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}};
  EXPECT_THAT(Find(base).status().message(), HasSubstr("set MASTER_PORT"));
  Variables bad = base;
  bad["MASTER_PORT"] = "70000";
  EXPECT_THAT(Find(bad).status().message(), HasSubstr("MASTER_PORT is 70000"));
}

}  // namespace
}  // namespace hone::gnn
