// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// See npy_array.h.
#include "gnn/graph/convert/npy_array.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "gnn/graph/feature_dtype.h"

namespace hone::gnn {
namespace {

constexpr size_t kMaxHeader = 1 << 20;  // bytes
constexpr int64_t kMaxItems = int64_t{1} << 46;
constexpr size_t kItemsAtOnce = 128 * 1024;

Status BadArray(const std::string& name, const std::string& why) {
  return Status::InvalidArgument(fmt::format("'{}' is no array that can be read: {}", name, why));
}

// Returns the text after `'key':` in the header's dictionary, from its first non-blank on; empty when absent.
std::string_view HeaderValue(std::string_view dictionary, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    size_t at = dictionary.find(quoted);
    if (at == std::string_view::npos) continue;
    at = dictionary.find_first_not_of(" \t", at + quoted.size());
    if (at == std::string_view::npos || dictionary[at] != ':') continue;
    at = dictionary.find_first_not_of(" \t", at + 1);
    if (at != std::string_view::npos) return dictionary.substr(at);
  }
  return {};
}

// Parses the dictionary of a .npy header.
Result<NpyHeader> ParseDictionary(std::string_view text, const std::string& name) {
  NpyHeader header;
  const std::string_view descr = HeaderValue(text, "descr");
  if (descr.size() < 2 || (descr[0] != '\'' && descr[0] != '"')) {
    return BadArray(name, "its items are records; write plain arrays of numbers");
  }
  const std::string_view type = descr.substr(1, descr.find(descr[0], 1) - 1);
  if (type == "|O" || type == "O") {
    return BadArray(name, "it holds pickled Python objects; write an array of numbers instead");
  }
  int bytes = 0;
  if (type.size() >= 3) std::from_chars(type.data() + 2, type.data() + type.size(), bytes);
  const bool known_order = !type.empty() && (type[0] == '<' || type[0] == '|' || (type[0] == '>' && bytes == 1));
  const char kind = type.size() >= 3 ? type[1] : '?';
  const bool is_supported = (kind == 'f' && (bytes == 2 || bytes == 4 || bytes == 8)) ||
                            ((kind == 'i' || kind == 'u') && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8)) ||
                            (kind == 'b' && bytes == 1);
  if (!is_supported || !known_order) {
    return BadArray(name, fmt::format("items of type '{}' are not read (little-endian integers and floats are)", type));
  }
  header.kind = kind;
  header.item_bytes = bytes;
  const std::string_view order = HeaderValue(text, "fortran_order");
  if (order.starts_with("True")) header.fortran_order = true;
  else if (!order.starts_with("False")) return BadArray(name, "its header has no fortran_order");
  std::string_view shape = HeaderValue(text, "shape");
  const size_t close = shape.find(')');
  if (!shape.starts_with('(') || close == std::string_view::npos) return BadArray(name, "its header has no shape");
  shape = shape.substr(1, close - 1);
  int64_t items = 1;
  while (true) {
    const size_t digit = shape.find_first_of("0123456789");
    if (digit == std::string_view::npos) break;
    int64_t extent = 0;
    const auto [end, error] = std::from_chars(shape.data() + digit, shape.data() + shape.size(), extent);
    if (error != std::errc() || header.shape.size() == 8 || (extent > 0 && items > kMaxItems / extent)) {
      return BadArray(name, "its shape is impossible");
    }
    items *= extent;
    header.shape.push_back(extent);
    shape = shape.substr(static_cast<size_t>(end - shape.data()));
  }
  return header;
}

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <typename T, typename Out>
void Convert(const std::byte* from, std::span<Out> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Out>(Load<T>(from + i * sizeof(T)));
}

// Converts integers and bools of any width. Returns false for floats, which are not converted.
template <typename Out>
bool ConvertIntegers(char kind, size_t bytes, const std::byte* from, std::span<Out> out) {
  if (kind == 'f') return false;
  const bool is_signed = kind == 'i';
  switch (bytes) {
    case 1: is_signed ? Convert<int8_t>(from, out) : Convert<uint8_t>(from, out); return true;
    case 2: is_signed ? Convert<int16_t>(from, out) : Convert<uint16_t>(from, out); return true;
    case 4: is_signed ? Convert<int32_t>(from, out) : Convert<uint32_t>(from, out); return true;
    default: is_signed ? Convert<int64_t>(from, out) : Convert<uint64_t>(from, out); return true;
  }
}

}  // namespace

int64_t NpyHeader::items() const {
  int64_t product = 1;
  for (const int64_t extent : shape) product *= extent;
  return product;
}

std::string NpyHeader::Text() const {
  const char* type = kind == 'f' ? "float" : kind == 'i' ? "int" : kind == 'u' ? "uint" : "bool";
  return fmt::format("{}{} [{}]", type, kind == 'b' ? std::string() : std::to_string(item_bytes * 8), fmt::join(shape, ", "));
}

Result<NpyHeader> ReadNpyHeader(ByteStream& stream) {
  std::byte prefix[12];
  HONE_RETURN_IF_ERROR(ReadExactly(stream, std::span(prefix).first(10)));
  if (std::memcmp(prefix, "\x93NUMPY", 6) != 0) return BadArray(stream.name(), "it does not begin as a .npy file does");
  const int major = static_cast<int>(prefix[6]);
  size_t length = Load<uint16_t>(prefix + 8);
  if (major == 2 || major == 3) {
    HONE_RETURN_IF_ERROR(ReadExactly(stream, std::span(prefix).last(2)));
    length = Load<uint32_t>(prefix + 8);
  } else if (major != 1) {
    return BadArray(stream.name(), fmt::format("format version {} is not known", major));
  }
  if (length > kMaxHeader) return BadArray(stream.name(), "its header is too long");
  std::string text(length, '\0');
  HONE_RETURN_IF_ERROR(ReadExactly(stream, std::as_writable_bytes(std::span(text))));
  return ParseDictionary(text, stream.name());
}

NpyItems::NpyItems(std::unique_ptr<ByteStream> stream, const NpyHeader& header)
    : stream_(std::move(stream)), kind_(header.kind), item_bytes_(static_cast<size_t>(header.item_bytes)) {}

Result<std::span<const std::byte>> NpyItems::Fetch(size_t items) {
  if (buffer_.size() < items * item_bytes_) buffer_.resize(items * item_bytes_);
  const std::span<std::byte> bytes = std::span(buffer_).first(items * item_bytes_);
  HONE_RETURN_IF_ERROR(ReadExactly(*stream_, bytes));
  position_ += static_cast<int64_t>(items);
  return std::span<const std::byte>(bytes);
}

Status NpyItems::ReadIntegers(std::span<int64_t> out) {
  while (!out.empty()) {
    const size_t take = std::min(out.size(), kItemsAtOnce);
    HONE_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, Fetch(take));
    if (!ConvertIntegers(kind_, item_bytes_, bytes.data(), out.first(take))) {
      return BadArray(stream_->name(), "integers are expected here and it holds floats");
    }
    out = out.subspan(take);
  }
  return Status::Ok();
}

Status NpyItems::ReadFloats(std::span<float> out) {
  while (!out.empty()) {
    const size_t take = std::min(out.size(), kItemsAtOnce);
    HONE_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, Fetch(take));
    const std::span<float> part = out.first(take);
    if (!ConvertIntegers(kind_, item_bytes_, bytes.data(), part)) {
      if (item_bytes_ == 4) std::memcpy(part.data(), bytes.data(), take * 4);
      else if (item_bytes_ == 8) Convert<double>(bytes.data(), part);
      else for (size_t i = 0; i < take; ++i) part[i] = FloatFromHalf(Load<uint16_t>(bytes.data() + i * 2));
    }
    out = out.subspan(take);
  }
  return Status::Ok();
}

Result<std::unique_ptr<ByteStream>> NpyArray::OpenAt(int64_t skip_bytes) const {
  return archive_ != nullptr ? archive_->OpenMember(*member_, skip_bytes) : OpenFileStream(path_, skip_bytes);
}

Result<NpyArray> NpyArray::InFile(const std::string& path) {
  NpyArray array;
  array.name_ = array.path_ = path;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, OpenFileStream(path));
  std::error_code error;
  if (std::filesystem::file_size(path, error) < 10 && !error)
    return BadArray(path, "it is too short for a .npy file, which numpy.save writes");
  HONE_ASSIGN_OR_RETURN(array.header_, ReadNpyHeader(*stream));
  const int64_t file_bytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
  // The length of the padded header is stated in the array's first bytes.
  std::byte prefix[12];
  HONE_ASSIGN_OR_RETURN(stream, OpenFileStream(path));
  HONE_RETURN_IF_ERROR(ReadExactly(*stream, prefix));
  array.header_bytes_ = prefix[6] == std::byte{1} ? 10 + Load<uint16_t>(prefix + 8) : 12 + int64_t{Load<uint32_t>(prefix + 8)};
  const int64_t expected = array.header_bytes_ + array.header_.items() * array.header_.item_bytes;
  if (!error && file_bytes < expected) {
    return BadArray(path, fmt::format("it has {} bytes and its shape {} needs {}; copy it again", file_bytes,
                                 array.header_.Text(), expected));
  }
  return array;
}

Result<NpyArray> NpyArray::InArchive(std::shared_ptr<const ZipArchive> archive, const std::string& name) {
  NpyArray array;
  array.name_ = archive->path() + ":" + name;
  const ZipMember* member = archive->Find(name + ".npy");
  if (member == nullptr) member = archive->Find(name);
  if (member == nullptr) {
    std::string member_names;
    for (const ZipMember& m : archive->members()) member_names += (member_names.empty() ? "" : ", ") + m.name;
    return Status::NotFound(fmt::format("'{}' has no member '{}' (it has: {})", archive->path(), name, member_names));
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, archive->OpenMember(*member));
  std::byte prefix[12];
  HONE_RETURN_IF_ERROR(ReadExactly(*stream, prefix).WithContext(array.name_));
  array.header_bytes_ = prefix[6] == std::byte{1} ? 10 + Load<uint16_t>(prefix + 8) : 12 + int64_t{Load<uint32_t>(prefix + 8)};
  HONE_ASSIGN_OR_RETURN(stream, archive->OpenMember(*member));
  Result<NpyHeader> header = ReadNpyHeader(*stream);
  if (!header.ok()) return header.status().WithContext(array.name_);
  array.header_ = std::move(header).value();
  if (member->bytes - array.header_bytes_ < array.header_.items() * array.header_.item_bytes) {
    return BadArray(array.name_, fmt::format("it is shorter than its shape {}", array.header_.Text()));
  }
  array.member_ = *member;
  array.archive_ = std::move(archive);
  return array;
}

Result<NpyItems> NpyArray::Open(int64_t first) const {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> stream, OpenAt(header_bytes_ + first * header_.item_bytes));
  return NpyItems(std::move(stream), header_);
}

Result<std::vector<int64_t>> NpyArray::Integers() const {
  HONE_ASSIGN_OR_RETURN(NpyItems items, Open());
  std::vector<int64_t> values(static_cast<size_t>(header_.items()));
  HONE_RETURN_IF_ERROR(items.ReadIntegers(values));
  return values;
}

Result<std::vector<float>> NpyArray::Floats() const {
  HONE_ASSIGN_OR_RETURN(NpyItems items, Open());
  std::vector<float> values(static_cast<size_t>(header_.items()));
  HONE_RETURN_IF_ERROR(items.ReadFloats(values));
  return values;
}

}  // namespace hone::gnn
