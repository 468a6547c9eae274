// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/infer/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/numbers/random.h"

namespace hone::gnn {
namespace {

// Makes a file as another program would write it.
std::string HandmadeFile(const std::string& header, const std::string& body) {
  const uint64_t length = header.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  return bytes + header + body;
}

TensorFile TwoTensors() {
  TensorFile file;
  file.metadata["format"] = "pt";
  file.metadata["note"] = "quote \" and \xc3\xa9";
  const float weight[] = {1, -2.5f, 3e-30f, 0, 5, 6};
  const float bias[] = {0.25f};
  file.tensors.push_back(MakeFloatTensor("convs.0.lin_l.weight", {2, 3}, weight));
  file.tensors.push_back(MakeFloatTensor("a.bias", {1}, bias));
  return file;
}

TEST(Safetensors, ReadsBackWhatItWrote) {
  const TensorFile file = TwoTensors();
  const std::string bytes = SerializeTensorFile(file);
  EXPECT_EQ(bytes, SerializeTensorFile(file));
  Result<TensorFile> read = ParseTensorFile(bytes, "test");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->metadata, file.metadata);
  ASSERT_EQ(read->tensors.size(), 2u);
  EXPECT_EQ(read->tensors[0].name, "convs.0.lin_l.weight");
  EXPECT_EQ(read->tensors[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(read->tensors[0].bytes, file.tensors[0].bytes);
  EXPECT_EQ(FloatValues(*read->Find("a.bias")).value(), std::vector<float>{0.25f});
  EXPECT_EQ(read->Find("absent"), nullptr);
  EXPECT_EQ(SerializeTensorFile(*read), bytes);
}

TEST(Safetensors, StartsTheDataAtAMultipleOfEight) {
  const std::string bytes = SerializeTensorFile(TwoTensors());
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  EXPECT_EQ(length % 8, 0u);
}

TEST(Safetensors, ConvertsHalvesAndDoubles) {
  const uint16_t half[] = {0x3c00, 0xc100, 0x0001, 0x7c00, 0x8000};  // 1, -2.5, 2^-24, inf, -0
  const uint16_t brain[] = {0x3f80, 0xc020};                         // 1, -2.5
  const double wide[] = {0.1};
  StoredTensor tensor{"t", "F16", {5}, std::string(reinterpret_cast<const char*>(half), sizeof(half))};
  std::vector<float> values = FloatValues(tensor).value();
  EXPECT_EQ(values[0], 1.0f);
  EXPECT_EQ(values[1], -2.5f);
  EXPECT_EQ(values[2], 0x1p-24f);
  EXPECT_TRUE(std::isinf(values[3]));
  EXPECT_TRUE(std::signbit(values[4]));
  tensor = {"t", "BF16", {2}, std::string(reinterpret_cast<const char*>(brain), sizeof(brain))};
  EXPECT_EQ(FloatValues(tensor).value(), (std::vector<float>{1.0f, -2.5f}));
  tensor = {"t", "F64", {1}, std::string(reinterpret_cast<const char*>(wide), sizeof(wide))};
  EXPECT_EQ(FloatValues(tensor).value(), std::vector<float>{0.1f});
  tensor.dtype = "U64";
  EXPECT_EQ(FloatValues(tensor).status().code(), StatusCode::kInvalidArgument);
}

TEST(Safetensors, RefusesWhatTheFormatRefuses) {
  const std::string four(4, 'x');
  const auto message = [](const std::string& bytes) {
    Result<TensorFile> read = ParseTensorFile(bytes, "the file");
    EXPECT_FALSE(read.ok());
    EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
    return read.ok() ? std::string() : read.status().message();
  };
  EXPECT_NE(message("abc").find("3 bytes"), std::string::npos);
  EXPECT_NE(message(HandmadeFile("{}", four)).find("belong to no tensor"), std::string::npos);
  EXPECT_NE(
      message(HandmadeFile(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", four)).find("data_offsets"),
      std::string::npos);
  EXPECT_NE(message(HandmadeFile(R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", four)).find("F31"),
            std::string::npos);
  EXPECT_NE(message(HandmadeFile(R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}})", four))
                .find("impossible shape"),
            std::string::npos);
  EXPECT_NE(message(HandmadeFile(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                             four))
                .find("starts at byte 0"),
            std::string::npos);
  EXPECT_NE(message(HandmadeFile(R"({"a":{"dtype":"F32","shape":[1]}})", four)).find("data_offsets"),
            std::string::npos);
  EXPECT_NE(message(HandmadeFile("[1]", "")).find("JSON object"), std::string::npos);
  EXPECT_NE(message(HandmadeFile(R"({"__metadata__":{"a":1}})", "")).find("__metadata__.a"), std::string::npos);
  uint64_t huge = ~uint64_t{0};
  EXPECT_NE(message(std::string(reinterpret_cast<const char*>(&huge), 8) + "{}").find("header says"),
            std::string::npos);
}

// One flipped bit of an exponent makes a weight 2^128 times as large. Only the checksum notices this.
TEST(Safetensors, NoticesEveryBitThatChanges) {
  const std::string whole = SerializeTensorFile(TwoTensors());
  uint64_t header = 0;
  std::memcpy(&header, whole.data(), 8);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const Result<TensorFile> read = ParseTensorFile(bytes, "the file");
    if (bit / 8 >= 8 + header) {
      ASSERT_FALSE(read.ok()) << "bit " << bit;
      EXPECT_NE(read.status().message().find("the file is damaged: its checksum is"), std::string::npos);
      // A changed bit of the header may be padding. It may also be in the name of the checksum's key: the file then has
      // no checksum.
    } else if (read.ok()) {
      EXPECT_TRUE(!read->has_checksum || SerializeTensorFile(*read) == whole) << "bit " << bit;
    }
  }
}

TEST(Safetensors, AFileWithoutAChecksumIsReadAndSaysSo) {
  const Result<TensorFile> read = ParseTensorFile(
      HandmadeFile(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd"),
      "it");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_FALSE(read->has_checksum);
  const Result<TensorFile> ours = ParseTensorFile(SerializeTensorFile(*read), "it");
  ASSERT_TRUE(ours.ok()) << ours.status().message();
  EXPECT_TRUE(ours->has_checksum);
  EXPECT_EQ(ours->metadata, read->metadata);  // the metadata that is read back does not contain the checksum
}

// Every changed byte and every cut must give a result or an error, never a crash or a longer tensor.
TEST(Safetensors, SurvivesDamage) {
  const std::string whole = SerializeTensorFile(TwoTensors());
  Rng rng(7);
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = whole;
    if (i % 3 == 0) bytes.resize(rng.Below(bytes.size()));
    if (!bytes.empty()) bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
    Result<TensorFile> read = ParseTensorFile(bytes, "damaged");
    if (!read.ok()) continue;
    for (const StoredTensor& tensor : read->tensors) EXPECT_LE(tensor.bytes.size(), bytes.size());
  }
}

}  // namespace
}  // namespace hone::gnn
