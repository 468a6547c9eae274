// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone devices lists the devices on which candidates can be judged here, and what is missing for the others.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/evaluate/worker/worker_main.h"

namespace hone {

void RegisterDevicesCommand(CLI::App& app, CommandContext& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("devices", "list the devices on which candidates can be judged");
  command->add_flag("--json", *as_json, "write JSON instead of a table");
  command->callback([as_json, &context] {
    const DeviceList list = ListDevices(context.cuda_home, context.cutlass_home, context.search_path);
    if (*as_json) {
      nlohmann::json devices = nlohmann::json::array();
      for (const DeviceFacts& facts : list.devices) devices.push_back(ReadJsonText(EncodeFacts(facts)));
      Print("{}\n", DumpJson(nlohmann::json{{"devices", devices}, {"missing", list.missing}}, 2));
      return;
    }
    for (const DeviceFacts& f : list.devices) {
      Print("{:<11} {} (sm_{}{}, {} SMs, {:.0f} GiB, L2 {:.0f} MiB, {:.2f} TB/s datasheet){}\n", f.id, f.name,
            f.cc_major, f.cc_minor, f.sm_count, static_cast<double>(f.memory_bytes) / (1 << 30),
            static_cast<double>(f.l2_bytes) / (1 << 20), f.memory_bandwidth / 1e12,
            f.modelled ? "; simulated on the CPU, times are modelled" : "; driver " + f.driver);
    }
    for (const std::string& missing : list.missing) Print("missing: {}\n", missing);
  });
}

}  // namespace hone
