// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens graph containers, and writes any graph as one.
#pragma once

#include <memory>
#include <string>

#include "gnn/graph/container_format.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Whether the file begins as a container does. False where it cannot be read.
bool IsContainer(const std::string& path);

// The header alone. kNotFound, kInvalidArgument, kIo.
Result<ContainerHeader> ReadContainerHeader(const std::string& path);

// The text of the provenance section ("{}" where there is none): JSON, as its writer left it.
Result<std::string> ReadContainerProvenance(const std::string& path);

// Copied into anonymous huge pages, every chunk's checksum compared on the way; or mapped, and as much of it read through
// as options.check says. Row offsets, column ids, labels and splits are range-checked too, but for Check::kHeader.
Result<std::shared_ptr<const Graph>> OpenContainer(const std::string& path, const OpenGraphOptions& options);

// Writes `graph`, which is in memory, to `path`: for graphs of other programs, and for tests. (`convert` and `generate` write
// as they go, so that a graph may be larger than memory.) `provenance` is JSON text that says where it comes from.
Status WriteContainer(const Graph& graph, const std::string& path, const std::string& provenance,
                      const GraphProgress& progress = {});

uint32_t FlagBits(const GraphFlags& flags);
GraphFlags FlagsOfBits(uint32_t bits);

}  // namespace hone::gnn
