// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements safetensors.h. Headers are untrusted, so every number in them is checked before it is used.
#include "gnn/infer/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files/file.h"
#include "base/numbers/rounding.h"
#include "base/text/json_fields.h"
#include "gnn/graph/container/crc32c.h"
#include "gnn/infer/write_output.h"
#include "gnn/ops/convert_rows.h"

namespace hone::gnn {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are stored as they lie in memory");

constexpr int64_t kMaxHeader = 100'000'000;  // the format's own bound
constexpr std::string_view kMetadata = "__metadata__";

// Returns the bytes of an element; 0 for a dtype that the format does not have.
int64_t DtypeBytes(std::string_view dtype) {
  if (dtype == "F64" || dtype == "I64" || dtype == "U64") return 8;
  if (dtype == "F32" || dtype == "I32" || dtype == "U32") return 4;
  if (dtype == "F16" || dtype == "BF16" || dtype == "I16" || dtype == "U16") return 2;
  if (dtype == "I8" || dtype == "U8" || dtype == "BOOL" || dtype == "F8_E4M3" || dtype == "F8_E5M2") return 1;
  return 0;
}

Status DamagedFile(std::string_view what, std::string_view problem) {
  return Status::InvalidArgument(fmt::format("{} is not a whole safetensors file: {}", what, problem));
}

// Returns the CRC-32C of the file's contents. The length of each part is included, so that bytes cannot move from one
// part to the next unnoticed.
uint32_t ContentChecksum(const TensorFile& file) {
  uint32_t crc = 0;
  const auto add = [&](std::string_view part) {
    const uint64_t size = part.size();
    crc = Crc32c(crc, &size, sizeof(size));
    crc = Crc32c(crc, part.data(), part.size());
  };
  for (const auto& [key, value] : file.metadata) {
    if (key == kChecksumKey) continue;
    add(key);
    add(value);
  }
  for (const StoredTensor& tensor : file.tensors) {
    add(tensor.name);
    add(tensor.dtype);
    add({reinterpret_cast<const char*>(tensor.shape.data()), tensor.shape.size() * sizeof(int64_t)});
    add(tensor.bytes);
  }
  return crc;
}

// Compares the file's checksum, if it has one, and removes it from the metadata.
Status CheckChecksum(TensorFile& file, std::string_view what) {
  const auto stored = file.metadata.find(std::string(kChecksumKey));
  if (stored == file.metadata.end()) return Status::Ok();
  const std::string computed = fmt::format("{:08x}", ContentChecksum(file));
  if (stored->second != computed) {
    return Status::InvalidArgument(fmt::format(
        "{} is damaged: its checksum is {} and its content gives {}. Copy it again from where it was whole, or go back "
        "to "
        "another checkpoint of the run; if another program changed it on purpose, take {} out of its metadata",
        what, stored->second, computed, kChecksumKey));
  }
  file.metadata.erase(stored);
  file.has_checksum = true;
  return Status::Ok();
}

}  // namespace

int64_t StoredTensor::elements() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

const StoredTensor* TensorFile::Find(std::string_view name) const {
  for (const StoredTensor& tensor : tensors) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

StoredTensor MakeFloatTensor(std::string name, std::vector<int64_t> shape, std::span<const float> values) {
  StoredTensor tensor{std::move(name), "F32", std::move(shape), std::string(values.size_bytes(), '\0')};
  HONE_CHECK(tensor.elements() == static_cast<int64_t>(values.size()), "shape and values of " + tensor.name);
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

Result<std::vector<float>> FloatValues(const StoredTensor& tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.elements()));
  const char* bytes = tensor.bytes.data();
  const auto convert = [&]<typename Stored>(Stored, auto to_float) {
    for (size_t i = 0; i < values.size(); ++i) {
      Stored stored;
      std::memcpy(&stored, bytes + i * sizeof(Stored), sizeof(Stored));
      values[i] = to_float(stored);
    }
  };
  if (tensor.dtype == "F32") {
    if (!values.empty()) std::memcpy(values.data(), bytes, tensor.bytes.size());
  } else if (tensor.dtype == "F64") {
    convert(double{}, [](double v) { return static_cast<float>(v); });
  } else if (tensor.dtype == "F16") {
    convert(uint16_t{}, HalfToFloat);
  } else if (tensor.dtype == "BF16") {
    convert(uint16_t{}, BFloat16ToFloat);
  } else if (tensor.dtype == "I64") {
    convert(int64_t{}, [](int64_t v) { return static_cast<float>(v); });
  } else {
    return Status::InvalidArgument(
        fmt::format("tensor '{}' is {}; values are read from F32, F64, F16, BF16 or I64", tensor.name, tensor.dtype));
  }
  return values;
}

std::string SerializeTensorFile(const TensorFile& file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::map<std::string, std::string> metadata = file.metadata;
  metadata[std::string(kChecksumKey)] = fmt::format("{:08x}", ContentChecksum(file));
  header[std::string(kMetadata)] = metadata;
  size_t offset = 0;
  for (const StoredTensor& tensor : file.tensors) {
    header[tensor.name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {offset, offset + tensor.bytes.size()}}};
    offset += tensor.bytes.size();
  }
  std::string text = DumpJson(header);
  text.resize(RoundUp(text.size(), 8), ' ');
  std::string bytes;
  bytes.reserve(8 + text.size() + offset);
  const uint64_t length = text.size();
  bytes.append(reinterpret_cast<const char*>(&length), sizeof(length));
  bytes += text;
  for (const StoredTensor& tensor : file.tensors) bytes += tensor.bytes;
  return bytes;
}

Result<TensorFile> ParseTensorFile(std::string_view bytes, std::string_view what) {
  uint64_t length = 0;
  if (bytes.size() < sizeof(length)) return DamagedFile(what, fmt::format("it has {} bytes", bytes.size()));
  std::memcpy(&length, bytes.data(), sizeof(length));
  bytes.remove_prefix(sizeof(length));
  if (length > static_cast<uint64_t>(kMaxHeader) || length > bytes.size()) {
    return DamagedFile(what, fmt::format("its header says to have {} bytes, and {} follow", length, bytes.size()));
  }
  HONE_ASSIGN_OR_RETURN(const nlohmann::json header, ParseJson(bytes.substr(0, length), what));
  if (!header.is_object()) return DamagedFile(what, "its header is not a JSON object");
  const std::string_view body = bytes.substr(length);

  TensorFile file;
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [name, entry] : header.items()) {
    if (name == kMetadata) {
      if (!entry.is_object()) return DamagedFile(what, "__metadata__ is not an object");
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) return DamagedFile(what, fmt::format("__metadata__.{} is not a string", key));
        file.metadata[key] = value.get<std::string>();
      }
      continue;
    }
    StoredTensor tensor;
    tensor.name = name;
    std::vector<int64_t> offsets;
    JsonFields fields(entry, fmt::format("{}: {}", what, name));
    fields.Require("dtype", tensor.dtype);
    fields.Require("shape", tensor.shape);
    fields.Require("data_offsets", offsets);
    HONE_RETURN_IF_ERROR(fields.status());
    int64_t size = DtypeBytes(tensor.dtype);
    if (size == 0) return DamagedFile(what, fmt::format("tensor '{}' has the unknown dtype '{}'", name, tensor.dtype));
    for (int64_t extent : tensor.shape) {
      if (extent < 0 || __builtin_mul_overflow(size, extent, &size)) {
        return DamagedFile(what, fmt::format("tensor '{}' has an impossible shape", name));
      }
    }
    if (offsets.size() != 2 || offsets[0] < 0 || offsets[1] < offsets[0] ||
        static_cast<uint64_t>(offsets[1]) > body.size() || offsets[1] - offsets[0] != size) {
      return DamagedFile(what, fmt::format("the data_offsets of tensor '{}' do not fit its {} bytes or the file's {}",
                                           name, size, body.size()));
    }
    ranges.emplace_back(offsets[0], offsets[1]);
    tensor.bytes = body.substr(static_cast<size_t>(offsets[0]), static_cast<size_t>(size));
    file.tensors.push_back(std::move(tensor));
  }

  // The arrays must cover the rest of the file without gaps or overlaps: a gap could hide bytes, and overlapping arrays
  // could take unlimited memory.
  std::vector<size_t> order(ranges.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return ranges[a] < ranges[b]; });
  uint64_t end = 0;
  std::vector<StoredTensor> sorted;
  for (size_t i : order) {
    if (ranges[i].first != end) {
      return DamagedFile(what, fmt::format("tensor '{}' starts at byte {}, the one before ends at {}",
                                           file.tensors[i].name, ranges[i].first, end));
    }
    end = ranges[i].second;
    sorted.push_back(std::move(file.tensors[i]));
  }
  if (end != body.size()) return DamagedFile(what, fmt::format("{} bytes belong to no tensor", body.size() - end));
  file.tensors = std::move(sorted);
  HONE_RETURN_IF_ERROR(CheckChecksum(file, what));
  return file;
}

std::string NoChecksumNote(std::string_view what) {
  return fmt::format(
      "{} has no checksum (another program or an older hone-gnn wrote it): damage to its numbers would go unseen",
      what);
}

Result<TensorFile> ReadTensorFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  return ParseTensorFile(bytes, fmt::format("'{}'", path));
}

Status WriteTensorFile(const std::string& path, const TensorFile& file) {
  return WriteOutput(path, SerializeTensorFile(file));
}

}  // namespace hone::gnn
