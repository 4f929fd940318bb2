// The gate's suites, one a file; each adds its cases to the gate.
#pragma once

#include "lab/gate.hpp"

namespace radiance::lab {

// Every code's value through the device, exactly.
void run_table_suite(Gate& gate);
// All eight nibbles of 4096 random words, exactly.
void run_unpack_suite(Gate& gate);
// The map of gfx1201's byte-permute selectors; skipped elsewhere.
void run_perm_suite(Gate& gate);
// Codes that vary in n (mode 0), in k (1) and in both (2) under one-hot activations, exactly.
void run_onehot_suite(Gate& gate);
// Sums that cancel: codes all 8, codes 7..9, one code a feature, under one-signed activations.
void run_cancel_suite(Gate& gate);
// The 60 decode and 27 prefill cases, each forced to that kind of configuration; the latter also
// for gfx1201's variants of the project's log.
void run_decode_suite(Gate& gate);
void run_prefill_suite(Gate& gate);
// Prefill against decode configurations at M = 64 on the production shapes.
void run_cross_suite(Gate& gate);
void run_mxfp4_suite(Gate& gate);
// Every configuration that the backend lists, by name, on each kind of weight that it has kernels
// for.
void run_configs_suite(Gate& gate);
// Decode configurations, those that split K among workgroups too, again and again in other orders:
// the same bits.
void run_order_suite(Gate& gate);
// Every variant that leaves something out or adds it: right where it claims to be, and otherwise
// complete and the same each time.
void run_ablate_suite(Gate& gate);
// Random legal calls, also with NaN rows and other numbers of threads.
void run_fuzz_suite(Gate& gate);
// The quantized layers of GateOptions::model on their own weights.
void run_model_suite(Gate& gate);

}  // namespace radiance::lab
