// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names the parts of a source that a conversion does not read, with the consequence for the graph.
//
// A graph is also converted without its edge weights, say, or with newly made splits, and the container does not show
// it. The conversion therefore reports every file of a folder, member of an archive and column of a table that it does
// not read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/graph/convert/zip_archive.h"

namespace hone::gnn {

struct UnreadPart {
  std::string name;     // a path relative to the source, "data.npz:node_year", or "edges.csv, columns from 3 on"
  std::string meaning;  // what its absence means for the graph, or under which name it would be read
};

// Returns what a file, member or column with this name usually holds, judged by the words in the name.
std::string MeaningOfUnread(std::string_view name);

// Returns the files below `folder` that are not in `read_paths` (paths as they were opened), in alphabetical order. A
// subfolder without any file that is read is one part, "mapping/". Links are not followed.
std::vector<UnreadPart> UnreadFiles(const std::string& folder, std::span<const std::string> read_paths);

// Adds the members of an archive that are not in `read_members`, a list of names without ".npy".
void NameUnreadMembers(const ZipArchive& archive, std::span<const std::string_view> read_members,
                       std::vector<UnreadPart>& unread);

}  // namespace hone::gnn
