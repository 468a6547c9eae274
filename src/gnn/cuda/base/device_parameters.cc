// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/base/device_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

namespace hone::gnn::cuda {

int64_t ElementBytes(Element element) { return element == Element::kFloat32 ? 4 : 2; }

int64_t ParameterLayout::Reserve(int64_t count) {
  const int64_t at = count_;
  count_ += RoundUp(count, 64);
  return at;
}
int64_t ParameterLayout::ReserveBuffer(int64_t count) {
  const int64_t at = buffer_count_;
  buffer_count_ += RoundUp(count, 64);
  return at;
}
void ParameterLayout::PlaceMatrix(const std::string& name, int64_t out, int64_t in, int64_t at, int64_t stride) {
  Place({.name = name, .rows = out, .cols = in, .tensor_stride = in, .at = at, .stride = stride});
}
void ParameterLayout::PlaceVector(const std::string& name, int64_t size, int64_t at, bool buffer) {
  Place({.name = name, .buffer = buffer, .rows = 1, .cols = size, .tensor_stride = size, .at = at, .stride = size});
}
int64_t ParameterLayout::ReserveVector(const std::string& name, int64_t size, bool buffer) {
  const int64_t at = buffer ? ReserveBuffer(size) : Reserve(size);
  PlaceVector(name, size, at, buffer);
  return at;
}

namespace {

// Selects what Copy copies: parameters or buffers, values or gradients, and the prefix of the tensors' names.
struct Exchange {
  const char* prefix = "";
  bool buffers = false;    // buffers, which no optimizer touches, instead of parameters
  bool gradients = false;  // the tensor's gradient instead of its value
  bool to_device = false;
};

// Copies between tensors and their places in `flat`. Every tensor must be covered completely.
Status Copy(const std::vector<TensorPlace>& places, const std::vector<Parameter<float>*>& parameters,
            const Exchange& what, std::vector<float>& flat) {
  std::map<std::string, Parameter<float>*> parameters_by_name;
  for (Parameter<float>* parameter : parameters) parameters_by_name[parameter->name] = parameter;
  std::map<std::string, int64_t> covered;
  for (const TensorPlace& place : places) {
    if (place.buffer != what.buffers) continue;
    const std::string name = what.prefix + place.name;
    const auto found = parameters_by_name.find(name);
    if (found == parameters_by_name.end()) return Status::InvalidArgument("the model has no tensor '" + name + "'");
    std::vector<float>& values = what.gradients ? found->second->gradient : found->second->value;
    const int64_t end_element = place.from + (place.rows - 1) * place.tensor_stride + place.cols;
    if (end_element > static_cast<int64_t>(values.size())) {
      return Status::InvalidArgument(fmt::format("tensor '{}' has {} values where the engine's has at least {}", name,
                                                 values.size(), end_element));
    }
    for (int64_t row = 0; row < place.rows; ++row) {
      float* device = flat.data() + place.at + row * place.stride;
      float* tensor = values.data() + place.from + row * place.tensor_stride;
      if (what.to_device) {
        std::copy_n(tensor, place.cols, device);
      } else {
        std::copy_n(device, place.cols, tensor);
      }
    }
    covered[name] += place.rows * place.cols;
  }
  for (const auto& [name, parameter] : parameters_by_name) {
    if (!name.starts_with(what.prefix)) continue;
    if (*what.prefix == '\0' && parameter->trainable() == what.buffers) continue;
    const auto size = static_cast<int64_t>(parameter->value.size());
    if (covered[name] != size) {
      return Status::InvalidArgument(
          fmt::format("the GPU engine has a place for {} of the {} values of tensor '{}'", covered[name], size, name));
    }
  }
  return Status::Ok();
}

Status Download(const DeviceArray<float>& array, const std::vector<TensorPlace>& places,
                const std::vector<Parameter<float>*>& parameters, const Exchange& what) {
  std::vector<float> flat;
  HONE_RETURN_IF_ERROR(array.Download(flat));
  return Copy(places, parameters, what, flat);
}

Status Upload(DeviceArray<float>& array, const std::vector<TensorPlace>& places,
              const std::vector<Parameter<float>*>& parameters, const Exchange& what, std::vector<float>& flat) {
  flat.assign(static_cast<size_t>(array.size()), 0.0f);
  HONE_RETURN_IF_ERROR(Copy(places, parameters, what, flat));
  return array.Upload(flat.data(), static_cast<int64_t>(flat.size()));
}

}  // namespace

Status DeviceParameters::Make(ParameterLayout layout, Element element) {
  layout_ = std::move(layout);
  element_ = element;
  HONE_RETURN_IF_ERROR(master_.Allocate(layout_.count()));
  HONE_RETURN_IF_ERROR(gradient_.Allocate(layout_.count()));
  HONE_RETURN_IF_ERROR(moment1_.Allocate(layout_.count()));
  HONE_RETURN_IF_ERROR(moment2_.Allocate(layout_.count()));
  HONE_RETURN_IF_ERROR(buffers_.Allocate(layout_.buffer_count()));
  return compute_.Allocate(layout_.count() * ElementBytes(element_));
}

Status DeviceParameters::ExportValues(const std::vector<Parameter<float>*>& parameters) const {
  HONE_RETURN_IF_ERROR(Download(master_, layout_.places(), parameters, {}));
  return Download(buffers_, layout_.places(), parameters, {.buffers = true});
}

Status DeviceParameters::ExportFlat(const float* flat, const std::vector<Parameter<float>*>& parameters,
                                    const std::vector<Parameter<float>*>& moments) const {
  std::vector<float> part;
  const auto copy = [&](int64_t size, const std::vector<Parameter<float>*>& tensors, const Exchange& what) {
    part.assign(flat, flat + size);
    flat += size;
    return Copy(layout_.places(), tensors, what, part);
  };
  HONE_RETURN_IF_ERROR(copy(count(), parameters, {}));
  HONE_RETURN_IF_ERROR(copy(count(), moments, {.prefix = "exp_avg."}));
  HONE_RETURN_IF_ERROR(copy(count(), moments, {.prefix = "exp_avg_sq."}));
  return copy(buffer_count(), parameters, {.buffers = true});
}

Status DeviceParameters::ExportGradients(const std::vector<Parameter<float>*>& parameters) const {
  return Download(gradient_, layout_.places(), parameters, {.gradients = true});
}

Status DeviceParameters::ImportValues(const std::vector<Parameter<float>*>& parameters) {
  std::vector<float> flat;
  HONE_RETURN_IF_ERROR(Upload(buffers_, layout_.places(), parameters, {.buffers = true, .to_device = true}, flat));
  HONE_RETURN_IF_ERROR(Upload(master_, layout_.places(), parameters, {.to_device = true}, flat));
  return UploadCompute(flat);
}

Status DeviceParameters::ExportMoments(const std::vector<Parameter<float>*>& moments) const {
  HONE_RETURN_IF_ERROR(Download(moment1_, layout_.places(), moments, {.prefix = "exp_avg."}));
  return Download(moment2_, layout_.places(), moments, {.prefix = "exp_avg_sq."});
}

Status DeviceParameters::ImportMoments(const std::vector<Parameter<float>*>& moments) {
  std::vector<float> flat;
  HONE_RETURN_IF_ERROR(Upload(moment1_, layout_.places(), moments, {.prefix = "exp_avg.", .to_device = true}, flat));
  return Upload(moment2_, layout_.places(), moments, {.prefix = "exp_avg_sq.", .to_device = true}, flat);
}

Status DeviceParameters::UploadCompute(const std::vector<float>& master) {
  const auto count = static_cast<int64_t>(master.size());
  if (element_ == Element::kFloat32) {
    return compute_.Upload(reinterpret_cast<const unsigned char*>(master.data()), count * 4);
  }
  std::vector<uint16_t> half_values(master.size());
  for (size_t i = 0; i < master.size(); ++i) {  // rounds to nearest, ties to even, as the update does
    const auto bits = std::bit_cast<uint32_t>(master[i]);
    half_values[i] = static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  return compute_.Upload(reinterpret_cast<const unsigned char*>(half_values.data()), count * 2);
}

}  // namespace hone::gnn::cuda
