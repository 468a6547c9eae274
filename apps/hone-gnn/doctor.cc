// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone-gnn doctor lists what is here and what is missing, what each missing thing would bring and how to get it.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "common/build_facts.h"
#include "common/standard_output.h"
#include "gnn/doctor/engine_diagnosis.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/gpu.h"

namespace hone::gnn {

void RegisterDoctorCommand(CLI::App& app, CommandResult& result) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "list what this machine has, what it lacks, and how to get that");
  command->add_flag("--json", *as_json, "write JSON instead of a table");
  command->callback([as_json, &result] {
    EngineSurroundings surroundings;
    if (const Result<std::vector<GpuFacts>> gpus = ListGpus(); gpus.ok()) {
      std::vector<std::string> lines;
      const std::string built_for = ThisBuild().cuda_architectures;
      for (const GpuFacts& gpu : *gpus) {
        lines.push_back(fmt::format("cuda:{}: {}, compute capability {}.{}, {:.0f} GiB", gpu.ordinal, gpu.name, gpu.cc_major, gpu.cc_minor,
                                    static_cast<double>(gpu.total_bytes) / (1 << 30)));
        const bool hopper = gpu.cc_major == 9 && gpu.cc_minor == 0;
        const std::string own = fmt::format("{}{}{}", gpu.cc_major, gpu.cc_minor, hopper ? "a" : "");
        if (built_for.find(own) == std::string::npos) {
          lines.back() += fmt::format(
              "; this program has no code of its own for it, and may be slower than one of `make build "
              "CMAKE_FLAGS=-DHONE_CUDA_ARCHITECTURES={}`",
              own);
        }
      }
      surroundings.gpus = std::move(lines);
      surroundings.products = GpuProductsAreHere();
    } else {
      surroundings.gpus = gpus.status();
    }
    std::error_code error;
    surroundings.folder = std::filesystem::current_path(error).string();
    const Diagnosis diagnosis = DiagnoseEngine(surroundings);
    Print("{}", *as_json ? DiagnosisJson(diagnosis) + "\n" : DiagnosisText(diagnosis));
    result.exit_status = diagnosis.able ? 0 : 3;
  });
}

}  // namespace hone::gnn
