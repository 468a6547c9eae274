// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace hone {

// This Python text defines a function `_architecture()`, for files in which PyTorch compiles a kernel. PyTorch itself asks
// nvcc for sm_90 on a Hopper GPU, where instructions such as wgmma do not exist: they belong to sm_90a.
inline constexpr std::string_view kArchitectureOption = R"(def _architecture():
    """Returns nvcc's options for this machine's GPU, with the instructions that only its architecture has.

    The list is empty, so that PyTorch chooses, where TORCH_CUDA_ARCH_LIST is set or no GPU is there.
    """
    import os
    import torch
    if os.environ.get("TORCH_CUDA_ARCH_LIST") or not torch.cuda.is_available():
        return []
    major, minor = torch.cuda.get_device_capability()
    name = f"{major}{minor}a" if major >= 9 else f"{major}{minor}"
    return [f"-gencode=arch=compute_{name},code=sm_{name}"]
)";

}  // namespace hone
