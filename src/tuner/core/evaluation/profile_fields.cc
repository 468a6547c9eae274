// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the table of counted figures. Metric names are those of Nsight Compute and CUPTI for compute capability 7.0 and
// later; cupti_counters_test.cc checks them with libcupti, if it is installed.
#include "hone/tuner/profile.h"

namespace hone {
namespace {

constexpr ProfileField kFields[] = {
    // Utilization.
    {"memory_throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%",
     "the busiest part of the memory system"},
    {"dram_throughput", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "device memory, of its peak"},
    {"l2_throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "%", "the L2 cache, of its peak"},
    {"l1_throughput", "l1tex__throughput.avg.pct_of_peak_sustained_active", "%",
     "the L1 cache and shared memory's data path, of their peak"},
    {"sm_throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "the busiest pipe of the multiprocessors"},
    {"issue_active", "smsp__issue_active.avg.pct_of_peak_sustained_active", "%", "cycles in which a scheduler issues"},
    {"tensor_active", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "%", "the tensor cores, of their peak"},
    // Data moved.
    {"dram_bytes_read", "dram__bytes_read.sum", "bytes", "read from device memory"},
    {"dram_bytes_written", "dram__bytes_write.sum", "bytes", "written to device memory"},
    {"dram_bytes", "", "bytes", "moved from and to device memory"},
    {"l1_hit_rate", "l1tex__t_sector_hit_rate.pct", "%", "sectors found in L1"},
    {"l2_hit_rate", "lts__t_sector_hit_rate.pct", "%", "sectors found in L2"},
    {"load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "", "warp-wide global loads"},
    {"load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "", "32-byte sectors that they touch"},
    {"load_bytes_per_sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "bytes",
     "of each loaded sector's 32 that threads use"},
    {"async_copies", "smsp__sass_inst_executed_op_ldgsts.sum", "", "warp-wide cp.async, which the average above leaves out"},
    {"store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "", "warp-wide global stores"},
    {"store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "", "32-byte sectors that they touch"},
    {"store_bytes_per_sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "bytes",
     "of each stored sector's 32 that threads write"},
    {"local_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "", "sectors of spilled or indexed local memory read"},
    {"local_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "", "the same, written"},
    {"atomic_requests", "", "", "warp-wide atomics on global memory"},
    {"atomic_return_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "", "those that return a value"},
    {"atomic_add_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "", "those that return none"},
    {"shared_passes", "", "", "passes over the banks of shared memory"},
    {"shared_load_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "", "passes of shared loads"},
    {"shared_store_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "", "passes of shared stores"},
    {"bank_conflicts", "", "", "passes that bank conflicts add"},
    {"shared_load_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "", "added to shared loads"},
    {"shared_store_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "", "added to shared stores"},
    {"cycles", "sm__cycles_elapsed.max", "", "of the multiprocessors' clock"},
    // Threads that hide latency.
    {"occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%", "resident warps, of what an SM holds"},
    {"waves", "", "", "grid over what the GPU holds at a time"},
    {"eligible_warps", "smsp__warps_eligible.avg.per_cycle_active", "warps", "of a scheduler, ready to issue"},
    {"load_bytes_in_flight", "", "bytes", "of loads under way in an SM, when all its warps wait for their first"},
    // Instructions.
    {"instructions", "smsp__inst_executed.sum", "", "warp-wide instructions"},
    {"active_threads", "smsp__thread_inst_executed_per_inst_executed.ratio", "threads", "of a warp's 32 in an instruction"},
    {"fma_instructions", "smsp__inst_executed_pipe_fma.sum", "", "on the float32 multiply-add pipe"},
    {"alu_instructions", "smsp__inst_executed_pipe_alu.sum", "", "integer, logic, comparison"},
    {"fp64_instructions", "smsp__inst_executed_pipe_fp64.sum", "", "double precision"},
    {"special_instructions", "smsp__inst_executed_pipe_xu.sum", "", "conversions, exp, sqrt and the like"},
    {"memory_instructions", "smsp__inst_executed_pipe_lsu.sum", "", "loads, stores, shuffles"},
    {"tensor_instructions", "smsp__inst_executed_pipe_tensor.sum", "",
     "on the tensor cores' pipe, which also moves constants"},
    {"branch_instructions", "smsp__sass_inst_executed_op_branch.sum", "", "branches"},
    {"barriers_per_warp", "", "", "__syncthreads a warp goes through"},
    // Reasons for stalls.
    {"stall_long_scoreboard", "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio", "warps",
     "data from global or local memory"},
    {"stall_short_scoreboard", "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio", "warps",
     "data from shared memory, or a special function"},
    {"stall_barrier", "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "warps", "other warps at a barrier"},
    {"stall_membar", "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio", "warps", "a memory fence"},
    {"stall_math_pipe", "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio", "warps",
     "a busy arithmetic pipe"},
    {"stall_mio", "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio", "warps",
     "room for shared-memory and special instructions"},
    {"stall_lg", "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio", "warps",
     "room for global and local memory instructions"},
    {"stall_wait", "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio", "warps", "a fixed latency between instructions"},
    {"stall_not_selected", "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio", "warps",
     "nothing: another warp was taken"},
    {"stall_no_instruction", "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio", "warps",
     "its next instruction: jumps, or code larger than the instruction cache"},
    {"stall_constant", "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio", "warps",
     "a constant that is not in its cache"},
    {"stall_dispatch", "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio", "warps", "the dispatcher"},
    {"stall_drain", "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio", "warps", "its last stores, to end"},
    {"stall_sleeping", "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio", "warps", "__nanosleep"},
    {"stall_branch", "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio", "warps", "a branch's target"},
    {"stall_gmma", "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "warps", "an asynchronous matrix product"},
    // Limits in the simulator's model: the time that each alone would take, in percent of the whole.
    {"limit_dram", "", "%", "device memory"},
    {"limit_l2", "", "%", "the L2 cache"},
    {"limit_atomics", "", "%", "atomics that queue for one place"},
    {"limit_lsu", "", "%", "load-store units and the banks of shared memory"},
    {"limit_issue", "", "%", "instruction issue, as far as memory instructions tell"},
    {"limit_tensor", "", "%", "tensor cores"},
    {"limit_dispatch", "", "%", "starting blocks"},
    {"limit_latency", "", "%", "waiting: chains of dependent loads, barriers"},
};

}  // namespace

std::span<const ProfileField> ProfileFields() { return kFields; }

double KernelProfile::Value(std::string_view field, double otherwise) const {
  const auto found = values.find(std::string(field));
  return found == values.end() ? otherwise : found->second;
}

bool KernelProfile::Has(std::string_view field) const { return values.contains(std::string(field)); }

}  // namespace hone
