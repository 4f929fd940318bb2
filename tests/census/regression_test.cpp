// The embedded kernels against what is recorded of them, and against what they must be.
//
// docs/results/census-gfx1201.json is written by `radiance census --json`; a change that makes a
// kernel larger fails here until somebody has looked at it and written the file anew.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/census_library.hpp"

namespace radiance::census {
namespace {

using nlohmann::json;

std::map<std::string, json> by_name(const json& census) {
  std::map<std::string, json> kernels;
  for (const json& kernel : census.at("kernels")) kernels[kernel.at("name")] = kernel;
  return kernels;
}

const std::map<std::string, json>& kernels() {
  static const std::map<std::string, json> all =
      by_name(lab::take_embedded_census(lab::CensusLibrary()));
  return all;
}

const json& kernel(const std::string& name) {
  const auto found = kernels().find(name);
  if (found == kernels().end()) throw std::runtime_error("no kernel is called " + name);
  return found->second;
}

const json& main_loop(const std::string& name) { return kernel(name).at("main_loop"); }

int vector_instructions(const json& loop) {
  return loop.at("valu").get<int>() + loop.at("vopd").get<int>();
}

// Kernels that multiply, but for those that leave something out on purpose.
std::vector<std::string> matrix_kernels() {
  std::vector<std::string> names;
  for (const auto& [name, kernel] : kernels()) {
    const bool multiplies =
        !kernel.at("main_loop").is_null() && kernel.at("main_loop").at("wmma") > 0;
    if (multiplies && name != "peak" && !name.starts_with("ablate_")) names.push_back(name);
  }
  return names;
}

TEST(Census, NamesConfigurations) {
  EXPECT_EQ(kernel("autoround_decode_r1").at("config"), "decode/r1/s1");
  EXPECT_EQ(kernel("autoround_decode_r4_split").at("config"), "decode/r4/s2 decode/r4/s4");
  EXPECT_EQ(kernel("autoround_prefill_baseline_n2_group").at("config"),
            "prefill/baseline/n2/group");
  EXPECT_EQ(kernel("mxfp4_prefill_n4_blocks").at("config"), "prefill/n4");
  EXPECT_EQ(kernel("general").at("config"), "general");
  EXPECT_EQ(kernel("ablate_decode_r1_no_unpack_scale").at("config"),
            "ablate/decode/r1/no_unpack_scale");
  EXPECT_EQ(kernel("stream_read").at("config"), "");
}

TEST(Regression, NothingSpills) {
  for (const auto& [name, kernel] : kernels()) {
    EXPECT_EQ(kernel.at("spills"), 0) << name;
    EXPECT_EQ(kernel.at("scratch_bytes"), 0) << name;
  }
}

TEST(Regression, NoWorseThanRecorded) {
  std::ifstream file(RADIANCE_RECORDED_CENSUS);
  const std::map<std::string, json> recorded = by_name(json::parse(file));
  for (const auto& [name, now] : kernels()) {
    const auto found = recorded.find(name);
    if (found == recorded.end()) {
      ADD_FAILURE() << name << " is not in " << RADIANCE_RECORDED_CENSUS
                    << "; radiance census --json writes it";
      continue;
    }
    const json& then = found->second;
    for (const char* field : {"vgprs", "lds_bytes"}) {
      EXPECT_LE(now.at(field), then.at(field)) << name << " " << field;
    }
    EXPECT_GE(now.at("occupancy"), then.at("occupancy")) << name;
    ASSERT_EQ(now.at("main_loop").is_null(), then.at("main_loop").is_null()) << name;
    if (now.at("main_loop").is_null()) continue;
    EXPECT_LE(now.at("main_loop").at("instructions"), then.at("main_loop").at("instructions"))
        << name;
  }
  for (const auto& [name, then] : recorded) {
    EXPECT_TRUE(kernels().contains(name)) << name << " is recorded and no longer built";
  }
}

// The same tiles as another build of clang 22 makes them of the seed's description.
TEST(Regression, BaselineNoWorseThanItsAnchors) {
  struct Anchor {
    const char* name;
    int vgprs, occupancy, lds_bytes;
    int wmma, vector_instructions, pipe_clocks;  // of the main loop
  };
  constexpr Anchor kAnchors[] = {
      {"autoround_decode_baseline_r1", 81, 12, 19584, 8, 156, 220},
      {"autoround_decode_baseline_r2", 104, 12, 21760, 16, 164, 292},
      {"autoround_decode_baseline_r3", 142, 10, 23936, 24, 176, 368},
      {"autoround_decode_baseline_r4", 141, 10, 26112, 32, 184, 440},
      {"autoround_prefill_baseline_n2", 128, 10, 23040, 32, 112, 368},
      {"autoround_prefill_baseline_n4", 236, 6, 27648, 64, 216, 728},
  };
  for (const Anchor& anchor : kAnchors) {
    const json& now = kernel(anchor.name);
    EXPECT_LE(now.at("vgprs"), anchor.vgprs) << anchor.name;
    EXPECT_GE(now.at("occupancy"), anchor.occupancy) << anchor.name;
    EXPECT_LE(now.at("lds_bytes"), anchor.lds_bytes) << anchor.name;
    const json& loop = now.at("main_loop");
    EXPECT_EQ(loop.at("wmma"), anchor.wmma) << anchor.name;
    EXPECT_LE(vector_instructions(loop), anchor.vector_instructions) << anchor.name;
    EXPECT_LE(loop.at("pipe_clocks"), anchor.pipe_clocks) << anchor.name;
  }
}

TEST(Regression, OneRoundTripForStagingBetweenBarriers) {
  for (const std::string& name : matrix_kernels()) {
    EXPECT_LE(main_loop(name).at("full_load_waits"), 1) << name;
    EXPECT_LE(main_loop(name).at("round_trips"), 1) << name;
  }
}

// Rows and codes come in 8 bytes a lane or more; narrower loads of the main loop are scales: 2
// bytes of an int4 weight, 4 where groups of 64 have two a slab, 2 or 4 of MXFP4's blocks.
TEST(Regression, StagingLoadsAreWide) {
  for (const std::string& name : matrix_kernels()) {
    const json& loads = main_loop(name).at("global_loads");
    int wide = 0;
    for (const auto& [width, count] : loads.items()) {
      if (width == "b64" || width == "b128") {
        wide += count.get<int>();
      } else if (name.starts_with("mxfp4_") || name.ends_with("_g64")) {
        EXPECT_TRUE(width == "b16" || width == "b32") << name << " " << width;
      } else {
        EXPECT_EQ(width, "b16") << name;
      }
    }
    EXPECT_GE(wide, 3) << name;
  }
}

// A scalar base and 32 bits a lane, also for the main loop's loads.
TEST(Regression, AddressesHaveScalarBases) {
  for (const std::string& name : matrix_kernels()) {
    const json& classes = main_loop(name).at("classes");
    EXPECT_EQ(classes.at("global_load_vector_base"), 0) << name;
    EXPECT_EQ(classes.at("address_pair"), 0) << name;
    // Outputs, also those of ragged blocks, and partial sums.
    const json& all = kernel(name).at("classes");
    EXPECT_EQ(all.at("global_store_vector_base"), 0) << name;
    // At least one output tile of eight rows in each of the three types.
    EXPECT_GE(all.at("global_store_scalar_base"), 3 * 8) << name;
  }
}

// The anchors' decode counts 12, 16, 21 and 25; docs/census.md says why it cannot be these.
TEST(Regression, LdsInstructionsAreAsFewAsTheirBytesAllow) {
  struct Loop {
    const char* name;
    int lds, bytes;  // instructions; bytes that a lane moves, of the kernels' tiles
  };
  constexpr Loop kLoops[] = {
      // 128 features and 16 to 64 rows of 128 k are stored by 256 lanes; a lane loads a feature's
      // and a row's half of each row tile.
      {"autoround_decode_baseline_r1", 13, 64 + 8 + 64 + 64},
      {"autoround_decode_baseline_r2", 17, 64 + 16 + 64 + 128},
      {"autoround_decode_baseline_r3", 22, 64 + 24 + 64 + 192},
      {"autoround_decode_baseline_r4", 26, 64 + 32 + 64 + 256},
      // 256 rows and 64 or 128 features of 64 k; two or four features' and four rows' halves.
      {"autoround_prefill_baseline_n2", 17, 64 + 16 + 2 * 32 + 4 * 32},
      {"autoround_prefill_baseline_n4", 22, 64 + 32 + 4 * 32 + 4 * 32},
  };
  for (const Loop& loop : kLoops) {
    const json& now = main_loop(loop.name);
    EXPECT_EQ(now.at("lds"), loop.lds) << loop.name;
    EXPECT_EQ(loop.lds, (loop.bytes + 15) / 16) << loop.name;
    EXPECT_NEAR(now.at("lds_bytes_per_wmma").get<double>() * now.at("wmma").get<int>(),
                32.0 * loop.bytes, 32.0)
        << loop.name;
  }
}

// What a variant is there to show must be in its code.
TEST(Regression, AblationsAreWhatTheyAreCalled) {
  const auto loop_class = [](const std::string& name, const char* which) {
    return main_loop(name).at("classes").value(which, 0);
  };
  EXPECT_GT(main_loop("ablate_decode_r1_predicate").at("round_trips"), 1);
  EXPECT_GT(main_loop("ablate_decode_r3_predicate").at("round_trips"), 1);
  EXPECT_GT(main_loop("ablate_prefill_n2_predicate").at("round_trips"), 1);
  for (const std::string name : {"decode_r1", "decode_r3", "prefill_n2"}) {
    // A wait of their own for the scales.
    EXPECT_EQ(main_loop("ablate_" + name + "_late_scale").at("full_waits"), 2) << name;
  }
  EXPECT_EQ(main_loop("ablate_decode_r3_spare_row_tile").at("wmma"), 32);
  // Three row tiles more read four fragments of two columns.
  EXPECT_EQ(main_loop("ablate_prefill_n2_reread_weights").at("lds").get<int>(),
            main_loop("autoround_prefill_baseline_n2").at("lds").get<int>() + 3 * 4);
  for (const std::string rows : {"1", "2", "4"}) {
    const json& dot = main_loop("ablate_decode_r1_dot" + rows);
    EXPECT_EQ(dot.at("wmma"), 0);
    EXPECT_GE(dot.at("valu"), 16 * std::stoi(rows));
  }
  const json& loads = main_loop("ablate_decode_r1_transposed_loads").at("global_loads");
  EXPECT_EQ(loads.at("b64"), 5);  // four of codes, one of rows
  // Signal and wait.
  EXPECT_EQ(loop_class("ablate_decode_r1_one_buffer", "barrier"), 4);
  EXPECT_EQ(loop_class("autoround_decode_r1", "barrier"), 2);
}

TEST(Regression, PrefillIsMostlyProducts) {
  for (const std::string tiles : {"n2", "n4"}) {
    const std::string name = "autoround_prefill_" + tiles;
    const json& baseline = main_loop("autoround_prefill_baseline_" + tiles);
    const json& loop = main_loop(name);
    EXPECT_GE(loop.at("wmma_share"), 78.0) << name;
    EXPECT_GE(kernel(name).at("occupancy"), 6) << name;
    EXPECT_GE(kernel(name).at("allocated_occupancy"), 6) << name;
    EXPECT_LE(loop.at("lds_bytes_per_wmma"), baseline.at("lds_bytes_per_wmma")) << name;
    EXPECT_LE(loop.at("global_bytes_per_wmma"), baseline.at("global_bytes_per_wmma")) << name;
    EXPECT_GE(main_loop("mxfp4_prefill_" + tiles).at("wmma_share"), 90.0) << tiles;
  }
}

TEST(Regression, DecodeLeavesTheVectorPipeAlone) {
  for (const std::string split : {"", "_split"}) {
    const json& one = main_loop("autoround_decode_r1" + split);
    EXPECT_EQ(one.at("wmma"), 8);  // a slab
    EXPECT_LE(vector_instructions(one), 70) << split;
    const json& four = main_loop("autoround_decode_r4" + split);
    EXPECT_EQ(four.at("wmma"), 32);
    EXPECT_GE(four.at("wmma_share"), 75.0) << split;
    EXPECT_LE(vector_instructions(main_loop("mxfp4_decode_r1" + split)), 70) << split;
  }
}

// The compiler's own figure, which it leaves in the assembly.
TEST(Regression, OccupancyIsTheCompilers) {
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RADIANCE_KERNEL_ASSEMBLY)) {
    if (entry.path().extension() != ".s") continue;
    std::ifstream file(entry.path());
    std::string name;
    for (std::string line; std::getline(file, line);) {
      constexpr std::string_view kKernel = "\t.amdhsa_kernel ", kOccupancy = "; Occupancy: ";
      if (line.starts_with(kKernel)) name = line.substr(kKernel.size());
      if (!line.starts_with(kOccupancy) || !kernels().contains(name)) continue;
      EXPECT_EQ(kernel(name).at("occupancy"), std::stoi(line.substr(kOccupancy.size()))) << name;
      ++compared;
    }
  }
  EXPECT_EQ(static_cast<size_t>(compared), kernels().size());
}

}  // namespace
}  // namespace radiance::census
