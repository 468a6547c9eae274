// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Lists the fields of an evaluation and of the structs it holds, in the order of its JSON (docs/evaluation-json.md).
// Scripts, the run store and workers on other machines rely on the JSON: fields are added, never renamed.
#pragma once

#include "hone/tuner/evaluation.h"
#include "hone/tuner/profile.h"
#include "tuner/core/fields/field_list.h"

namespace hone {

template <MaybeConst<TimingDetail> Timing, typename Visitor>
void VisitFields(Timing& t, Visitor&& visit) {
  visit("status", t.status);
  visit("decision", t.decision);
  visit("quads", t.quads);
  visit("discarded_quads", t.discarded_quads);
  visit("plans_per_sample", t.plans_per_sample);
  visit("looks", t.looks);
}
inline bool IsEmpty(const TimingDetail& timing) { return timing.status.empty(); }

template <MaybeConst<LibraryResult> Library, typename Visitor>
void VisitFields(Library& l, Visitor&& visit) {
  visit("name", l.name);
  visit("time_us", l.time_us);
  visit("speedup", l.speedup);
  visit("detail", l.detail);
}

template <MaybeConst<CaseResult> Case, typename Visitor>
void VisitFields(Case& c, Visitor&& visit) {
  visit("dims", c.dims);
  visit("role", c.role);
  visit("time_us", c.time_us, OnlyTimed{});
  visit("baseline_us", c.baseline_us, OnlyTimed{});
  visit("speedup", c.speedup, OnlyTimed{});
  visit("warm_time_us", c.warm_time_us, OnlyTimed{});
  visit("warm_baseline_us", c.warm_baseline_us, OnlyTimed{});
  visit("warm_speedup", c.warm_speedup, OnlyTimed{});
  visit("calls_us", c.calls_us, OnlyTimed{});
  visit("floor_us", c.floor_us, OnlyTimed{});
  visit("floor_fraction", c.floor_fraction, OnlyTimed{});
  visit("refuse_below_us", c.refuse_below_us, OnlyTimed{});
  visit("libraries", c.libraries, OnlyTimed{});
  visit("timing", c.timing, OnlyTimed{});
  visit("max_scaled_error", c.max_scaled_error);
  visit("rms_error", c.rms_error);
  visit("sampled_block_fraction", c.sampled_block_fraction);
  visit("fallback", c.fallback, Unless{false});
}

template <MaybeConst<KernelResources> Resources, typename Visitor>
void VisitFields(Resources& r, Visitor&& visit) {
  visit("kernel", r.kernel);
  visit("registers", r.registers, Unless{-1});
  visit("spill_bytes", r.spill_bytes);
  visit("static_shared_bytes", r.static_shared_bytes);
  visit("dynamic_shared_bytes", r.dynamic_shared_bytes);
  visit("occupancy", r.occupancy, Unless{0.0});
}

template <MaybeConst<Stage> S, typename Visitor>
void VisitFields(S& s, Visitor&& visit) {
  visit("name", s.name);
  visit("seconds", s.seconds);
  visit("holds_device", s.holds_device);
}

template <MaybeConst<Mismatch> M, typename Visitor>
void VisitFields(M& m, Visitor&& visit) {
  visit("tensor", m.tensor);
  visit("dims", m.dims);
  visit("distribution", m.distribution);
  visit("index", m.index);
  visit("expected", m.expected);
  visit("actual", m.actual);
  visit("wrong_elements", m.wrong_elements);
  visit("total_elements", m.total_elements);
  visit("seed", m.seed);
}

template <MaybeConst<Finding> F, typename Visitor>
void VisitFields(F& f, Visitor&& visit) {
  visit("kind", f.kind);
  visit("message", f.message);
  visit("location", f.location);
  visit("dims", f.dims, UnlessEmpty{});
  visit("timed", f.timed, Unless{false});
  visit("shapes", f.shapes, Unless{int64_t{0}});
}

template <MaybeConst<MemorySite> Site, typename Visitor>
void VisitFields(Site& s, Visitor&& visit) {
  visit("location", s.location);
  visit("space", s.space);
  visit("operation", s.operation);
  visit("bytes", s.bytes);
  visit("requests", s.requests);
  visit("transfers_per_request", s.transfers_per_request);
  visit("ideal_transfers", s.ideal_transfers);
  visit("share", s.share);
}

template <MaybeConst<KernelProfile> Kernel, typename Visitor>
void VisitFields(Kernel& k, Visitor&& visit) {
  visit("kernel", k.kernel);
  visit("duration_us", k.duration_us);
  visit("blocks", k.blocks);
  visit("threads_per_block", k.threads_per_block);
  visit("shared_bytes", k.shared_bytes);
  visit("values", k.values);
  visit("sites", k.sites);
}

template <MaybeConst<CaseProfile> Case, typename Visitor>
void VisitFields(Case& c, Visitor&& visit) {
  visit("dims", c.dims);
  visit("kernels", c.kernels);
}

template <MaybeConst<ProfileFinding> F, typename Visitor>
void VisitFields(F& f, Visitor&& visit) {
  visit("kind", f.kind);
  visit("message", f.message);
  visit("evidence", f.evidence);
  visit("kernel", f.kernel);
  visit("location", f.location);
  visit("gain", f.gain);
  visit("dims", f.dims);
}

template <MaybeConst<SassLine> Line, typename Visitor>
void VisitFields(Line& l, Visitor&& visit) {
  visit("kernel", l.kernel);
  visit("location", l.location);
  visit("source", l.source);
  visit("instructions", l.instructions);
  visit("opcodes", l.opcodes);
}

template <MaybeConst<Profile> P, typename Visitor>
void VisitFields(P& p, Visitor&& visit) {
  visit("source", p.source);
  visit("modelled", p.modelled);
  visit("note", p.note);
  visit("findings", p.findings);
  visit("cases", p.cases);
  visit("sass", p.sass, UnlessEmpty{});
}

template <MaybeConst<Evaluation> E, typename Visitor>
void VisitFields(E& e, Visitor&& visit) {
  visit("verdict", e.verdict);
  visit("detail", e.detail);
  visit("task", e.task);
  visit("candidate", e.candidate);
  visit("source_hash", e.source_hash);
  visit("device", e.device);
  visit("modelled", e.modelled);
  visit("guarantee", e.guarantee);
  visit("baseline", e.baseline);
  visit("binding", e.binding);
  visit("labels", e.labels);
  visit("geomean_speedup", e.geomean_speedup, OnlyTimed{});
  visit("cases", e.cases);
  visit("mismatch", e.mismatch);
  visit("profile", e.profile, OnlyTimed{});
  visit("findings", e.findings);
  visit("resources", e.resources);
  visit("stages", e.stages);
  visit("wall_seconds", e.wall_seconds);
  visit("device_seconds", e.device_seconds);
  visit("gates", e.gates, Unless{0});
  visit("seed", e.seed);
  visit("metrics", e.metrics);
  visit("log", e.log);
}

}  // namespace hone
