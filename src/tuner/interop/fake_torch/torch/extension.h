// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Imitates the part of PyTorch's C++ interface that generated bindings use, so that they can be compiled and run
// without PyTorch. "CUDA" tensors are in host memory. Only names and types match, not behaviour.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace torch {

enum ScalarType { kFloat64, kFloat32, kFloat16, kBFloat16, kInt64, kInt32, kUInt32, kInt16, kInt8, kUInt8 };
constexpr int kCUDA = 1;
inline int64_t BytesOf(ScalarType t) {
  constexpr int64_t bytes[] = {8, 4, 2, 2, 8, 4, 4, 2, 1, 1};
  return bytes[t];
}

struct Device {
  int index = 0;
  bool operator==(const Device& other) const { return index == other.index; }
};
inline std::ostream& operator<<(std::ostream& out, const Device& d) { return out << "cuda:" << d.index; }

class IntArrayRef {
 public:
  IntArrayRef(const std::vector<int64_t>& values) : values_(values) {}
  IntArrayRef(std::initializer_list<int64_t> values) : values_(values) {}
  bool operator==(const IntArrayRef& other) const { return values_ == other.values_; }
  const std::vector<int64_t>& values() const { return values_; }

 private:
  std::vector<int64_t> values_;
};
inline std::ostream& operator<<(std::ostream& out, const IntArrayRef& a) {
  out << "[";
  for (size_t i = 0; i < a.values().size(); ++i) out << (i == 0 ? "" : ", ") << a.values()[i];
  return out << "]";
}

struct TensorOptions {
  ScalarType type = kFloat32;
  Device place;
  TensorOptions dtype(ScalarType t) const {
    TensorOptions copy = *this;
    copy.type = t;
    return copy;
  }
  TensorOptions device(int) const { return *this; }
};

class Tensor {
 public:
  Tensor(std::vector<int64_t> shape, TensorOptions options, bool cuda = true)
      : shape_(std::move(shape)), options_(options), cuda_(cuda) {
    strides_.assign(shape_.size(), 1);
    for (size_t i = shape_.size(); i-- > 1;) strides_[i - 1] = strides_[i] * shape_[i];
    const size_t bytes = static_cast<size_t>(numel() * BytesOf(options_.type));
    storage_ = std::shared_ptr<char>(static_cast<char*>(std::aligned_alloc(256, (bytes + 256) / 256 * 256)), std::free);
  }
  int64_t numel() const {
    int64_t n = 1;
    for (const int64_t e : shape_) n *= e;
    return n;
  }
  int64_t dim() const { return static_cast<int64_t>(shape_.size()); }
  int64_t size(int64_t axis) const { return shape_.at(static_cast<size_t>(axis)); }
  IntArrayRef sizes() const { return shape_; }
  IntArrayRef strides() const { return strides_; }
  bool is_contiguous() const { return contiguous; }
  bool is_cuda() const { return cuda_; }
  ScalarType scalar_type() const { return options_.type; }
  Device device() const { return options_.place; }
  TensorOptions options() const { return options_; }
  void* data_ptr() const { return storage_.get(); }

  bool contiguous = true;  // a test may set it to false

 private:
  std::vector<int64_t> shape_, strides_;
  TensorOptions options_;
  bool cuda_;
  std::shared_ptr<char> storage_;
};
inline Tensor empty(std::vector<int64_t> shape, TensorOptions options) { return Tensor(std::move(shape), options); }

template <typename... T>
void CheckOrThrow(bool holds, const T&... text) {
  if (holds) return;
  std::ostringstream out;
  (out << ... << text);
  throw std::runtime_error(out.str());
}

}  // namespace torch

#define TORCH_CHECK(condition, ...) ::torch::CheckOrThrow(static_cast<bool>(condition), __VA_ARGS__)

namespace pybind11 {
struct arg {
  explicit arg(const char*) {}
  template <typename T>
  arg& operator=(const T&) {
    return *this;
  }
};
struct module_ {
  template <typename F, typename... Rest>
  module_& def(const char* name, F, const char*, Rest...) {
    defined.push_back(name);
    return *this;
  }
  std::vector<std::string> defined;
};
}  // namespace pybind11
#define PYBIND11_MODULE(name, m) void FakeModule(pybind11::module_& m)

#include <ATen/fake_products.h>
