// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/file.h"

namespace hone::gnn {
namespace {

class CheckpointFormat : public testing::Test {
 protected:
  CheckpointFormat() {
    header_.model = {.kind = "gin", .in_width = 3, .hidden = 4, .num_classes = 2, .layers = 2, .seed = ~uint64_t{0}};
    header_.train.fanouts = {3, kAllNeighbors};
    header_.train.frontier = FrontierRule::kNewOnly;
    header_.train.learning_rate = 0.1 + 0.2;  // has more digits than careless printing keeps
    header_.train.class_weights = {1.0 / 3, 2};
    header_.train.seed = 0xfedcba9876543210;
    header_.position = {.epoch = 3,
                        .step = 5,
                        .loss_sum = std::nextafter(1e9, 2e9),
                        .weight_sum = 1.0 / 9,
                        .labelled = 101,
                        .correct = 77,
                        .sampled_nodes = int64_t{1} << 40,
                        .sampled_edges = int64_t{1} << 41,
                        .best_epoch = 2,
                        .worse_validations = 4,
                        .ended_early = true};
    header_.position.plateau.bad_steps = 6;
    header_.position.plateau.cooldown_left = 7;
    header_.learning_rate = 1.0 / 7;
    header_.optimizer_steps = 41;
    header_.graph_fingerprint = "abc";
    model_ = MakeModel(header_.model).value();
    optimizer_ = std::make_unique<Adam<float>>(model_->parameters(), AdamOptions{});
    float next = 0.5f;
    for (Parameter<float>* parameter : model_->parameters()) {
      for (float& g : parameter->gradient) g = next = -1.01f * next;
    }
    optimizer_->Step(1);
  }
  // Returns the checkpoint written to bytes and read back, as from disk.
  TensorFile Stored() {
    return ParseTensorFile(SerializeTensorFile(MakeCheckpoint(header_, *model_, *optimizer_)), "it").value();
  }
  CheckpointHeader header_;
  std::unique_ptr<Model<float>> model_;
  std::unique_ptr<Adam<float>> optimizer_;
};

TEST_F(CheckpointFormat, KeepsEveryBit) {
  const TensorFile file = Stored();
  const CheckpointHeader header = ReadCheckpointHeader(file, "it").value();
  const std::unique_ptr<Model<float>> model = MakeModel(header.model).value();
  Adam<float> optimizer(model->parameters(), {});
  ASSERT_TRUE(RestoreCheckpoint(file, "it", header, *model, optimizer).ok());
  EXPECT_EQ(SerializeTensorFile(MakeCheckpoint(header, *model, optimizer)),
            SerializeTensorFile(MakeCheckpoint(header, *model_, [&]() -> Adam<float>& {
              optimizer_->set_steps(41);
              optimizer_->set_learning_rate(1.0 / 7);
              return *optimizer_;
            }())));
  const RunPosition &stored = header.position, &given = header_.position;
  EXPECT_EQ(stored.epoch, given.epoch);
  EXPECT_EQ(stored.step, given.step);
  EXPECT_EQ(stored.loss_sum, given.loss_sum);
  EXPECT_EQ(stored.weight_sum, given.weight_sum);
  EXPECT_EQ(stored.labelled, given.labelled);
  EXPECT_EQ(stored.correct, given.correct);
  EXPECT_EQ(stored.sampled_nodes, given.sampled_nodes);
  EXPECT_EQ(stored.sampled_edges, given.sampled_edges);
  EXPECT_EQ(stored.plateau.bad_steps, given.plateau.bad_steps);
  EXPECT_EQ(stored.plateau.cooldown_left, given.plateau.cooldown_left);
  EXPECT_EQ(stored.best_epoch, given.best_epoch);
  EXPECT_EQ(stored.worse_validations, given.worse_validations);
  EXPECT_EQ(stored.ended_early, given.ended_early);
  EXPECT_EQ(header.train.learning_rate, header_.train.learning_rate);
  EXPECT_EQ(header.train.class_weights, header_.train.class_weights);
  EXPECT_EQ(header.train.fanouts, header_.train.fanouts);
  EXPECT_EQ(header.train.seed, header_.train.seed);
  EXPECT_EQ(header.model.seed, header_.model.seed);
  EXPECT_TRUE(std::isnan(header.position.best_accuracy));
  EXPECT_TRUE(std::isinf(header.position.plateau.best));
  EXPECT_EQ(optimizer.steps(), 41);
  EXPECT_EQ(optimizer.learning_rate(), 1.0 / 7);
}

TEST_F(CheckpointFormat, SaysWhatIsMissing) {
  TensorFile file = Stored();
  const auto message = [&] { return ReadCheckpointHeader(file, "it").status().message(); };
  file.metadata["hone.format"] = "2";
  EXPECT_NE(message().find("format 2"), std::string::npos);
  file.metadata.erase("hone.format");
  EXPECT_NE(message().find("--init"), std::string::npos);
  file = Stored();
  file.metadata["hone.state"] = R"({"epoch": 1})";
  EXPECT_NE(message().find("hone.state.step"), std::string::npos) << message();
  for (const char* count : {"epoch", "step", "optimizer_steps"}) {
    nlohmann::json state = nlohmann::json::parse(Stored().metadata.at("hone.state"));
    state[count] = -1;
    file.metadata["hone.state"] = state.dump();
    EXPECT_NE(message().find("must not be negative"), std::string::npos) << count << ": " << message();
  }
  file.metadata.erase("hone.train");
  EXPECT_NE(message().find("hone.train"), std::string::npos) << message();
  file = Stored();
  std::erase_if(file.tensors, [](const StoredTensor& t) { return t.name == "optimizer.exp_avg_sq.lin1.bias"; });
  const Status status = RestoreCheckpoint(file, "it", header_, *model_, *optimizer_);
  EXPECT_NE(status.message().find("'optimizer.exp_avg_sq.lin1.bias' is missing"), std::string::npos);
}

// Every key, field and kind of tensor in a file must be in the document.
TEST_F(CheckpointFormat, IsDescribedInFull) {
  const std::string document = ReadFile(HONE_SOURCE_DIR "/docs/formats/checkpoint.md").value();
  const auto described = [&](const std::string& name) { return document.find("`" + name + "`") != std::string::npos; };
  const TensorFile file = Stored();
  int fields = 0;
  for (const auto& [key, value] : file.metadata) {
    EXPECT_TRUE(described(key)) << key;
    if (value.front() != '{') continue;
    const nlohmann::json json = nlohmann::json::parse(value);
    for (const auto& [field, ignored] : json.items()) {
      EXPECT_TRUE(described(field)) << key << "." << field;
      ++fields;
    }
  }
  EXPECT_GT(fields, 30);
  EXPECT_TRUE(described(file.metadata.at("hone.format")));
  for (const char* part : {"optimizer.exp_avg.NAME", "optimizer.exp_avg_sq.NAME", "num_batches_tracked"}) {
    EXPECT_TRUE(described(part)) << part;
  }
}

}  // namespace
}  // namespace hone::gnn
