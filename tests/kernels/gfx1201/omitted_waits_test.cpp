// Every wait and barrier of every main loop is there for a reason: without it the emulator's strict
// mode stops the kernel. What it does not notice is listed with the reason why it is redundant.
//
// Not among them: s_wait_alu and s_delay_alu. They order results within the arithmetic units,
// s_wait_alu as the hardware's hazards need it and s_delay_alu only to tell the scheduler how long;
// the emulator executes instructions one after the other, has no such hazards to show, and says so
// in docs/emulator.md. One s_delay_alu of each loop is omitted all the same: nothing may miss a
// hint.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "census/control_flow.hpp"
#include "census/instruction.hpp"
#include "census/main_loop.hpp"
#include "disasm/code_object.hpp"
#include "disasm/disassembler.hpp"
#include "kernels/gfx1201/code_objects.hpp"
#include "tests/kernels/gfx1201/emulated_gemm.hpp"
#include "tests/kernels/gfx1201/emulator_control.hpp"

namespace radiance::gfx1201 {
namespace {

using census::Class;
using Names = std::set<std::string>;

struct Omittable {
  uint64_t offset = 0;  // from the kernel's entry
  std::string text;
  bool hint = false;
};

// The waits and barriers of a kernel's main loop, and one hint; none where it has no loop.
std::vector<Omittable> waits_of(const disasm::CodeObject& code, const disasm::Kernel& kernel) {
  std::vector<Omittable> found;
  disasm::Disassembler disassembler;
  std::vector<census::Instruction> instructions;
  const auto bytes = code.code(kernel);
  for (uint64_t at = 0; at < bytes.size();) {
    const auto line = disassembler.decode(bytes.subspan(at), at);
    if (!line) break;
    instructions.push_back(census::parse_instruction({at, line->size, line->text}));
    at += line->size;
  }
  const census::ControlFlow flow = census::find_control_flow(instructions);
  const auto loop = census::find_main_loop(instructions, flow);
  if (!loop) return found;
  bool has_hint = false;
  for (const size_t block : flow.loops[*loop].blocks) {
    for (size_t i = flow.blocks[block].first; i < flow.blocks[block].last; ++i) {
      const census::Instruction& in = instructions[i];
      const bool waits = in.kind == Class::kWait && !in.is("s_wait_alu");
      if (waits || in.kind == Class::kBarrier) {
        found.push_back({in.address, in.mnemonic + " " + in.operands});
      } else if (in.is("s_delay_alu") && !has_hint) {
        has_hint = true;
        found.push_back({in.address, in.mnemonic, true});
      }
    }
  }
  return found;
}

// By kernel, of all that a product or the quantizer launches: not the ablations, which are there to
// be measured, and not the probes of the hardware.
std::map<std::string, std::vector<Omittable>> waits_of_shipped_kernels() {
  std::map<std::string, std::vector<Omittable>> all;
  for (const CodeObject& object : code_objects()) {
    const std::string name = object.name;
    if (name.starts_with("ablation") || name.ends_with("_probe")) continue;
    const disasm::CodeObject code = disasm::CodeObject::parse(object.bytes);
    for (const disasm::Kernel& kernel : code.kernels()) {
      std::vector<Omittable> waits = waits_of(code, kernel);
      if (!waits.empty()) all[kernel.name] = std::move(waits);
    }
  }
  return all;
}

// Ten slabs, so that each of four parts of K has two or three of them.
constexpr int64_t kDepth = 1280, kFeatures = 64;

test::Problem make_int4(int64_t m, int64_t group) {
  std::mt19937 rng(static_cast<unsigned>(m));
  return test::int4_problem(rng, m, kFeatures, kDepth, group);
}

// reach: how many binades the blocks of a feature are apart; up to 14 are folded into e4m3.
test::Problem make_mxfp4(int64_t m, int64_t k, int reach) {
  std::mt19937 rng(static_cast<unsigned>(m));
  return test::mxfp4_problem(rng, m, kFeatures, k, [&](int64_t, int64_t block) {
    return 110 + static_cast<int>(block % 2) * reach;
  });
}

// The problem on a device of its own: a kernel that was stopped leaves a device that only a reset
// helps.
class Session {
 public:
  explicit Session(const test::Problem& p) : problem_(p) { open(); }

  std::vector<Plan> configs() const { return backend_->configs(problem_.shape, problem_.m); }
  const test::EmulatorControl& control() const { return *control_; }

  void multiply(const std::string& config) {
    test::run(*device_, *backend_, problem_, *tensors_, header_, config);
  }

  // Rows of every type, whole, with a ragged end, and so short that no lane of a wave has a whole
  // piece, whose waits would do for all; into the problem's, which nothing else reads.
  void quantize() {
    for (const radiance_dtype type : {RADIANCE_F32, RADIANCE_BF16, RADIANCE_F16}) {
      for (const int64_t k : {problem_.shape.k, problem_.shape.k - 5, int64_t{7}, int64_t{6},
                              int64_t{5}, int64_t{4}, int64_t{3}, int64_t{2}, int64_t{1}}) {
        QuantizeCall call;
        call.m = problem_.m;
        call.k = k;
        call.x = rows_->get();
        call.x_dtype = type;
        call.ldx = problem_.shape.k;
        call.xq = tensors_->xq.get<uint8_t>();
        call.scales = tensors_->x_scales.get<float>();
        call.group = problem_.shape.group;
        call.row_sums = sums_->get<float>();
        backend_->quantize(call);
      }
    }
    device_->synchronize(nullptr);
  }

  // Why the emulator stopped it, or empty.
  std::string stopped(const std::function<void(Session&)>& work) {
    std::string why;
    try {
      work(*this);
    } catch (const Error& error) {
      why = error.what();
    }
    control_->set_option("omit", "none");
    if (!why.empty()) {
      sums_.reset();
      rows_.reset();
      tensors_.reset();
      backend_.reset();
      device_.reset();
      control_->reset_device();
      open();
    }
    return why;
  }

 private:
  void open() {
    device_ = test::open_emulator(7);
    control_.emplace();
    control_->set_option("quiet", "1");
    backend_ = make_backend(*device_);
    tensors_ = std::make_unique<test::OnDevice>(*device_, *backend_, problem_);
    backend_->pack(problem_.shape, problem_.desc(), tensors_->packed.get());
    device_->download(&header_, tensors_->packed.get(), sizeof(header_));
    const auto elements = static_cast<size_t>(problem_.m * problem_.shape.k);
    rows_ = std::make_unique<Buffer>(*device_, elements * 4);
    device_->fill(rows_->get(), 0x3f, elements * 4, nullptr);
    sums_ = std::make_unique<Buffer>(*device_,
                                     static_cast<size_t>(problem_.m * problem_.shape.groups()) * 4);
  }

  const test::Problem& problem_;
  std::optional<test::EmulatorControl> control_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<test::OnDevice> tensors_;
  std::unique_ptr<Buffer> rows_, sums_;
  PackedHeader header_;
};

// The kernels in parts that a test each can go through.
enum class Part { kGroupsOf128, kSmallGroups, kMxfp4, kOthers };

Part part_of(const std::string& kernel) {
  if (kernel.starts_with("mxfp4_")) return Part::kMxfp4;
  if (kernel.ends_with("_g64") || kernel.ends_with("_g32")) return Part::kSmallGroups;
  return kernel.starts_with("autoround_") ? Part::kGroupsOf128 : Part::kOthers;
}

// What strict mode need not notice.
struct Redundant {
  const char* kernel;
  const char* wait;
  const char* why;
};
constexpr Redundant kRedundant[] = {
    {"mxfp4_prefill_n4", "s_wait_dscnt 0x0",
     "before the barrier after which the slab in LDS is overwritten: its reads have all been "
     "waited "
     "for, outstanding are those of the fold tables, which nobody overwrites and which are waited "
     "for "
     "again where they are used"},
};

class OmittedWaits : public testing::TestWithParam<Part> {
 protected:
  // Runs the work once, and again for every wait of every kernel in it that was not seen before.
  void omit_each(Session& session, const std::string& what,
                 const std::function<void(Session&)>& work) {
    session.control().reset_counters();
    ASSERT_EQ(session.stopped(work), "") << what;
    for (const std::string& kernel : session.control().launched()) {
      const auto waits = waits_.find(kernel);
      if (waits == waits_.end() || part_of(kernel) != GetParam()) continue;
      if (!seen_.insert(kernel).second) continue;
      for (const Omittable& wait : waits->second) {
        const std::string where = kernel + "+" + std::to_string(wait.offset);
        ASSERT_TRUE(session.control().set_option("omit", where));
        const std::string why = session.stopped(work);
        EXPECT_EQ(why.find("to omit"), std::string::npos) << why;
        ++omitted_;
        if (wait.hint) {
          EXPECT_EQ(why, "") << where;
        } else if (why.empty()) {
          unnoticed_[kernel + ": " + wait.text].push_back(wait.offset);
        }
      }
    }
  }

  void omit_in_every_config(const test::Problem& p) {
    Session session(p);
    for (const Plan& plan : session.configs()) {
      omit_each(session, plan.config, [&](Session& s) { s.multiply(plan.config); });
    }
  }

  // Each entry of the list excuses one wait.
  std::string unexplained() const {
    std::string text;
    for (const auto& [what, offsets] : unnoticed_) {
      const auto listed = std::count_if(
          std::begin(kRedundant), std::end(kRedundant), [&what = what](const Redundant& entry) {
            return what == std::string(entry.kernel) + ": " + entry.wait;
          });
      if (static_cast<size_t>(listed) >= offsets.size()) continue;
      text += what + " at";
      for (const uint64_t offset : offsets) text += " +" + std::to_string(offset);
      text += "\n";
    }
    return text;
  }

  const std::map<std::string, std::vector<Omittable>> waits_ = waits_of_shipped_kernels();
  Names seen_;
  std::map<std::string, std::vector<uint64_t>> unnoticed_;  // offsets by kernel and text
  int omitted_ = 0;
};

TEST_P(OmittedWaits, AreNoticedByStrictMode) {
  const Part part = GetParam();
  for (const int64_t m : {1, 17, 33, 64, 130}) {
    if (part == Part::kGroupsOf128) omit_in_every_config(make_int4(m, 128));
    if (part == Part::kSmallGroups) {
      omit_in_every_config(make_int4(m, 64));
      omit_in_every_config(make_int4(m, 32));
    }
    if (part == Part::kMxfp4) {
      for (const int reach : {14, 15}) omit_in_every_config(make_mxfp4(m, kDepth, reach));
    }
  }
  if (part == Part::kMxfp4) omit_in_every_config(make_mxfp4(9, kDepth + 32, 0));
  if (part == Part::kOthers) {
    omit_in_every_config(make_int4(9, 40));
    const test::Problem p = make_int4(3, 128);
    Session session(p);
    omit_each(session, "quantize", [](Session& s) { s.quantize(); });
  }
  Names with_loops;
  for (const auto& [kernel, waits] : waits_) {
    if (part_of(kernel) == part) with_loops.insert(kernel);
  }
  EXPECT_FALSE(with_loops.empty());
  EXPECT_EQ(seen_, with_loops) << "every shipped kernel that has a main loop with waits";
  EXPECT_EQ(unexplained(), "") << omitted_ << " omitted, one at a time";
}

std::string name_of(const testing::TestParamInfo<Part>& part) {
  constexpr const char* kNames[] = {"GroupsOf128", "SmallGroups", "Mxfp4", "Others"};
  return kNames[static_cast<size_t>(part.param)];
}

INSTANTIATE_TEST_SUITE_P(Kernels, OmittedWaits,
                         testing::Values(Part::kGroupsOf128, Part::kSmallGroups, Part::kMxfp4,
                                         Part::kOthers),
                         name_of);

}  // namespace
}  // namespace radiance::gfx1201
