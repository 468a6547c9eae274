// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names what a source holds and a conversion does not read, with what that means for the graph.
//
// A graph converts without its edge weights or with splits of its own making, and nothing in the container shows it.
// So every file of a folder, member of an archive and column of a table that is passed over is reported.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gnn/graph/zip_archive.h"

namespace hone::gnn {

struct UnreadPart {
  std::string name;     // a path relative to the source, "data.npz:node_year", or "edges.csv, columns from 3 on"
  std::string meaning;  // what its absence means, or under which name it would be read
};

// What a file, member or column with this name usually holds, judged by the words in it.
std::string MeaningOfUnread(std::string_view name);

// The files below `folder` that are not in `read` (paths as they were opened), in alphabetical order. A folder without
// any file that is read is one part, "mapping/". Links are not followed.
std::vector<UnreadPart> UnreadFiles(const std::string& folder, std::span<const std::string> read);

// Adds the members of an archive that are not in `read`, which has their names without ".npy".
void NameUnreadMembers(const ZipArchive& archive, std::span<const std::string_view> read,
                       std::vector<UnreadPart>& unread);

}  // namespace hone::gnn
