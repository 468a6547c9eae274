// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Opens graph containers, and writes any graph to a container.
#pragma once

#include <memory>
#include <string>

#include "gnn/graph/container/container_format.h"
#include "hone/base/status.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Returns whether the file begins like a container. False if it cannot be read.
bool IsContainer(const std::string& path);

// Reads only the header. kNotFound, kInvalidArgument, kIo.
Result<ContainerHeader> ReadContainerHeader(const std::string& path);

// Returns the text of the provenance section ("{}" if there is none): JSON, as its writer left it.
Result<std::string> ReadContainerProvenance(const std::string& path);

// Opens a container: copies it into anonymous huge pages and compares every chunk's checksum, or maps it and checks as
// much as options.check says. Row offsets, column ids, labels and splits are range-checked too, except with
// Check::kHeader.
Result<std::shared_ptr<const Graph>> OpenContainer(const std::string& path, const OpenGraphOptions& options);

// Writes `graph`, which is in memory, to `path`: for graphs made by other programs, and for tests. (The commands
// `convert` and `generate` write in pieces, so that a graph may be larger than memory.) `provenance` is JSON text on
// the graph's origin.
Status WriteContainer(const Graph& graph, const std::string& path, const std::string& provenance,
                      const GraphProgress& progress = {});

// Convert flags to and from the bits that a container's header holds.
uint32_t FlagBits(const GraphFlags& flags);
GraphFlags FlagsOfBits(uint32_t bits);

}  // namespace hone::gnn
