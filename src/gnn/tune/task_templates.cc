// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/task_templates.h"

#include "gnn/tune/template_table.h"
#include "hone/base/status.h"

namespace hone::gnn {

std::string_view TaskTemplate(std::string_view file) {
  for (const EmbeddedTemplate& embedded : EmbeddedTemplates()) {
    if (embedded.file == file) return embedded.text;
  }
  HONE_CHECK(false, "there is no template " + std::string(file));
  return {};
}

std::string Fill(std::string_view text, const Pieces& pieces) {
  std::string out;
  while (true) {
    const size_t open = text.find("{{");
    if (open == std::string_view::npos) return out + std::string(text);
    const size_t close = text.find("}}", open);
    HONE_CHECK(close != std::string_view::npos, "a template has '{{' without '}}'");
    const std::string_view name = text.substr(open + 2, close - open - 2);
    const auto piece = pieces.find(name);
    HONE_CHECK(piece != pieces.end(), "a template's place has no text: " + std::string(name));
    out += text.substr(0, open);
    out += Fill(piece->second, pieces);
    text.remove_prefix(close + 2);
  }
}

}  // namespace hone::gnn
