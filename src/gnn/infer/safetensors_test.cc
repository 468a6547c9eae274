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
  Result<TensorFile> tensor_file = ParseTensorFile(bytes, "test");
  ASSERT_TRUE(tensor_file.ok()) << tensor_file.status().message();
  EXPECT_EQ(tensor_file->metadata, file.metadata);
  ASSERT_EQ(tensor_file->tensors.size(), 2u);
  EXPECT_EQ(tensor_file->tensors[0].name, "convs.0.lin_l.weight");
  EXPECT_EQ(tensor_file->tensors[0].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(tensor_file->tensors[0].bytes, file.tensors[0].bytes);
  EXPECT_EQ(FloatValues(*tensor_file->Find("a.bias")).value(), std::vector<float>{0.25f});
  EXPECT_EQ(tensor_file->Find("absent"), nullptr);
  EXPECT_EQ(SerializeTensorFile(*tensor_file), bytes);
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
    Result<TensorFile> tensor_file = ParseTensorFile(bytes, "the file");
    EXPECT_FALSE(tensor_file.ok());
    EXPECT_EQ(tensor_file.status().code(), StatusCode::kInvalidArgument);
    return tensor_file.ok() ? std::string() : tensor_file.status().message();
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
  const std::string file_bytes = SerializeTensorFile(TwoTensors());
  uint64_t header = 0;
  std::memcpy(&header, file_bytes.data(), 8);
  for (size_t bit = 0; bit < 8 * file_bytes.size(); ++bit) {
    std::string bytes = file_bytes;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const Result<TensorFile> tensor_file = ParseTensorFile(bytes, "the file");
    if (bit / 8 >= 8 + header) {
      ASSERT_FALSE(tensor_file.ok()) << "bit " << bit;
      EXPECT_NE(tensor_file.status().message().find("the file is damaged: its checksum is"), std::string::npos);
      // A changed bit of the header may be padding. It may also be in the name of the checksum's key: the file then has
      // no checksum.
    } else if (tensor_file.ok()) {
      EXPECT_TRUE(!tensor_file->has_checksum || SerializeTensorFile(*tensor_file) == file_bytes) << "bit " << bit;
    }
  }
}

TEST(Safetensors, AFileWithoutAChecksumIsReadAndSaysSo) {
  const Result<TensorFile> tensor_file = ParseTensorFile(
      HandmadeFile(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd"),
      "it");
  ASSERT_TRUE(tensor_file.ok()) << tensor_file.status().message();
  EXPECT_FALSE(tensor_file->has_checksum);
  const Result<TensorFile> rewritten = ParseTensorFile(SerializeTensorFile(*tensor_file), "it");
  ASSERT_TRUE(rewritten.ok()) << rewritten.status().message();
  EXPECT_TRUE(rewritten->has_checksum);
  EXPECT_EQ(rewritten->metadata,
            tensor_file->metadata);  // the metadata that is read back does not contain the checksum
}

// Every changed byte and every cut must give a result or an error, never a crash or a longer tensor.
TEST(Safetensors, SurvivesDamage) {
  const std::string file_bytes = SerializeTensorFile(TwoTensors());
  Rng rng(7);
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = file_bytes;
    if (i % 3 == 0) bytes.resize(rng.Below(bytes.size()));
    if (!bytes.empty()) bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
    Result<TensorFile> tensor_file = ParseTensorFile(bytes, "damaged");
    if (!tensor_file.ok()) continue;
    for (const StoredTensor& tensor : tensor_file->tensors) EXPECT_LE(tensor.bytes.size(), bytes.size());
  }
}

}  // namespace
}  // namespace hone::gnn
