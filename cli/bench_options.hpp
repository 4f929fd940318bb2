// The options and the table that bench and compare share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/common.hpp"
#include "lab/bench.hpp"

namespace radiance::cli {

struct BenchCommandOptions {
  CommonOptions common;
  std::string shapes = "gate_up,down,out";
  std::string rows = "1,2,4,8,16,64,512";
  std::string format = "both";
  std::string scope = "both";
  std::string copies = "auto";
  std::string config;
  int64_t group = 128;
  int samples = 15;
  double row_seconds = 20;
  bool rivals = false, verbose = false;  // bench alone
};

// Adds what both have: shapes, rows, scope, copies, group, samples.
void add_bench_options(CLI::App& app, BenchCommandOptions& options);

// Throws Error naming the option that cannot be read.
lab::BenchOptions to_bench_options(const BenchCommandOptions& options);

// "cpu (hardware), arch, 2 threads; seed N; ..." above the table.
void print_bench_heading(const Engine& engine, const lab::BenchOptions& options);

// What a device that counts did, a line a row; every row has counters.
void print_counters(const std::vector<lab::BenchRow>& rows);

// What a discarded or missing sample means, and the columns, below the table.
void print_bench_notes(const std::vector<lab::BenchRow>& rows);

// A measured number with as many decimals as it is worth; "-" for NaN.
std::string us_text(double us);
std::string percent_text(double fraction);
std::string rate_text(double rate);

}  // namespace radiance::cli
