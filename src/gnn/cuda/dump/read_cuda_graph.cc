// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads graphs through the driver's API, because the runtime's does not report kernels that a library launched.
#include <cuda.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/dump/graph_reader.h"

namespace hone::gnn::cuda {
namespace {

struct Driver {
  decltype(&cuGetErrorString) error_string = nullptr;
  decltype(&cuGraphGetNodes) nodes = nullptr;
  decltype(&cuGraphNodeGetType) type = nullptr;
  decltype(&cuGraphNodeGetDependencies) dependencies = nullptr;
  decltype(&cuGraphKernelNodeGetParams) kernel = nullptr;
  decltype(&cuGraphKernelNodeGetAttribute) attribute = nullptr;
  decltype(&cuGraphMemsetNodeGetParams) fill = nullptr;
  decltype(&cuGraphMemcpyNodeGetParams) copy = nullptr;
  decltype(&cuFuncGetName) function_name = nullptr;
  decltype(&cuFuncGetParamInfo) function_parameter = nullptr;
  decltype(&cuKernelGetName) kernel_name = nullptr;
  decltype(&cuKernelGetParamInfo) kernel_parameter = nullptr;
  decltype(&cuPointerGetAttributes) pointer = nullptr;
  std::string missing;

  Driver() {
    Load("cuGetErrorString", error_string);
    Load("cuGraphGetNodes", nodes);
    Load("cuGraphNodeGetType", type);
    Load("cuGraphNodeGetDependencies", dependencies);
    Load("cuGraphKernelNodeGetParams", kernel);
    Load("cuGraphKernelNodeGetAttribute", attribute);
    Load("cuGraphMemsetNodeGetParams", fill);
    Load("cuGraphMemcpyNodeGetParams", copy);
    Load("cuFuncGetName", function_name);
    Load("cuFuncGetParamInfo", function_parameter);
    Load("cuKernelGetName", kernel_name);
    Load("cuKernelGetParamInfo", kernel_parameter);
    Load("cuPointerGetAttributes", pointer);
  }

 private:
  template <typename Function>
  void Load(const char* name, Function& function) {
    void* address = nullptr;
    cudaDriverEntryPointQueryResult found{};
    // Asks for the version of the headers, which define the types above.
    const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &address, CUDA_VERSION, cudaEnableDefault, &found);
    if (error == cudaSuccess && found == cudaDriverEntryPointSuccess) {
      function = reinterpret_cast<Function>(address);
    } else if (missing.empty()) {
      missing = name;
    }
  }
};

const Driver& TheDriver() {
  static const Driver driver;
  return driver;
}

Status DriverStatus(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return Status::Ok();
  const char* text = nullptr;
  if (TheDriver().error_string(result, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  return Status::Device(fmt::format("{}: {}", what, text));
}

template <typename T>
std::vector<unsigned char> RawBytes(const T& value) {
  const auto* first_byte = reinterpret_cast<const unsigned char*>(&value);
  return {first_byte, first_byte + sizeof(T)};
}

std::string DemangledName(const char* name) {
  int status = 0;
  char* const plain = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string result = plain == nullptr ? name : plain;
  std::free(plain);
  return result;
}

Status ReadKernel(CUgraphNode node, GraphNodeFacts& facts) {
  const Driver& driver = TheDriver();
  CUDA_KERNEL_NODE_PARAMS parameters{};
  HONE_RETURN_IF_ERROR(DriverStatus(driver.kernel(node, &parameters), "reading a kernel of a graph"));
  const char* name = nullptr;
  HONE_RETURN_IF_ERROR(DriverStatus(parameters.kern != nullptr ? driver.kernel_name(&name, parameters.kern)
                                                               : driver.function_name(&name, parameters.func),
                                    "reading a kernel's name"));
  facts.kind = "kernel";
  facts.padded = true;
  facts.name = ShortKernelName(DemangledName(name));
  facts.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
  facts.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
  facts.shared_bytes = parameters.sharedMemBytes;
  CUkernelNodeAttrValue value{};
  HONE_RETURN_IF_ERROR(
      DriverStatus(driver.attribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value), "reading a kernel's priority"));
  facts.priority = value.priority;
  // The arguments of a library's kernels are left out: they hold stack addresses and meaningless bytes.
  const bool is_hone_kernel = std::string_view(name).find("4hone3gnn4cuda") != std::string_view::npos;
  for (size_t i = 0; is_hone_kernel && parameters.kernelParams != nullptr; ++i) {
    size_t offset = 0, bytes = 0;
    const CUresult name_result = parameters.kern != nullptr
                                     ? driver.kernel_parameter(parameters.kern, i, &offset, &bytes)
                                     : driver.function_parameter(parameters.func, i, &offset, &bytes);
    if (name_result != CUDA_SUCCESS) break;  // past the last parameter
    const auto* first_byte = static_cast<const unsigned char*>(parameters.kernelParams[i]);
    facts.arguments.emplace_back(first_byte, first_byte + bytes);
  }
  return Status::Ok();
}

Status ReadNode(CUgraphNode node, GraphNodeFacts& facts) {
  const Driver& driver = TheDriver();
  CUgraphNodeType type{};
  HONE_RETURN_IF_ERROR(DriverStatus(driver.type(node, &type), "reading a node's type"));
  switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return ReadKernel(node, facts);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      CUDA_MEMSET_NODE_PARAMS fill{};
      HONE_RETURN_IF_ERROR(DriverStatus(driver.fill(node, &fill), "reading a fill of a graph"));
      facts.kind = "fill";
      facts.arguments = {RawBytes(fill.dst), RawBytes(fill.value), RawBytes(fill.elementSize), RawBytes(fill.width),
                         RawBytes(fill.height)};
      return Status::Ok();
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY: {
      CUDA_MEMCPY3D copy{};
      HONE_RETURN_IF_ERROR(DriverStatus(driver.copy(node, &copy), "reading a copy of a graph"));
      facts.kind = "copy";
      facts.arguments = {copy.dstMemoryType == CU_MEMORYTYPE_HOST ? RawBytes(copy.dstHost) : RawBytes(copy.dstDevice),
                         copy.srcMemoryType == CU_MEMORYTYPE_HOST ? RawBytes(copy.srcHost) : RawBytes(copy.srcDevice),
                         RawBytes(copy.WidthInBytes), RawBytes(copy.Height), RawBytes(copy.Depth)};
      return Status::Ok();
    }
    default: facts.kind = fmt::format("node of type {}", static_cast<int>(type)); return Status::Ok();
  }
}

std::function<void(cudaGraph_t)>& Watch() {
  static std::function<void(cudaGraph_t)> watch;
  return watch;
}

}  // namespace

void WatchGraphs(std::function<void(cudaGraph_t)> watch) { Watch() = std::move(watch); }

Result<std::vector<GraphNodeFacts>> ReadGraph(cudaGraph_t graph) {
  const Driver& driver = TheDriver();
  if (!driver.missing.empty()) return Status::Unavailable("the GPU's driver lacks " + driver.missing);
  size_t count = 0;
  HONE_RETURN_IF_ERROR(DriverStatus(driver.nodes(graph, nullptr, &count), "counting the nodes of a graph"));
  std::vector<CUgraphNode> nodes(count);
  HONE_RETURN_IF_ERROR(DriverStatus(driver.nodes(graph, nodes.data(), &count), "reading the nodes of a graph"));
  std::map<CUgraphNode, size_t> numbers;
  for (size_t i = 0; i < nodes.size(); ++i) numbers[nodes[i]] = i;
  std::vector<GraphNodeFacts> node_facts(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    HONE_RETURN_IF_ERROR(ReadNode(nodes[i], node_facts[i]));
    size_t edges = 0;
    HONE_RETURN_IF_ERROR(
        DriverStatus(driver.dependencies(nodes[i], nullptr, nullptr, &edges), "counting dependencies"));
    std::vector<CUgraphNode> dependencies(edges);
    std::vector<CUgraphEdgeData> edge_data(edges);
    HONE_RETURN_IF_ERROR(DriverStatus(driver.dependencies(nodes[i], dependencies.data(), edge_data.data(), &edges),
                                      "reading dependencies"));
    for (const CUgraphNode node : dependencies) node_facts[i].after.push_back(numbers.at(node));
    std::sort(node_facts[i].after.begin(), node_facts[i].after.end());
  }
  return node_facts;
}

std::optional<MemoryRange> FindMemory(uint64_t address) {
  CUdeviceptr begin = 0;
  size_t bytes = 0;
  unsigned type = 0;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
                                      CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* values[] = {&begin, &bytes, &type};
  if (TheDriver().pointer(3, attributes, values, address) != CUDA_SUCCESS || bytes == 0) return std::nullopt;
  return MemoryRange{begin, bytes, type == CU_MEMORYTYPE_HOST ? "host" : "device"};
}

}  // namespace hone::gnn::cuda

// The linker's --wrap redirects the engine's calls of cudaGraphInstantiate to this function.
extern "C" {
cudaError_t __real_cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t __wrap_cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  if (hone::gnn::cuda::Watch()) hone::gnn::cuda::Watch()(graph);
  return __real_cudaGraphInstantiate(exec, graph, flags);
}
}
