// Every wait and barrier of every main loop is there for a reason: without it the emulator's strict
// mode stops the kernel. What it does not notice is listed with the reason why it is redundant.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "census/control_flow.hpp"
#include "census/instruction.hpp"
#include "census/main_loop.hpp"
#include "disasm/code_object.hpp"
#include "disasm/disassembler.hpp"
#include "kernels/gfx1201/code_objects.hpp"
#include "runtime/emulator_path.hpp"
#include "tests/kernels/gfx1201/emulated_gemm.hpp"

namespace radiance::gfx1201 {
namespace {

using census::Class;

// The emulator's own functions, of the library that the device has loaded.
struct EmulatorControl {
  int (*set_option)(const char*, const char*) = nullptr;
  const char* (*counters)() = nullptr;
  void (*reset_counters)() = nullptr;
  int (*reset_device)() = nullptr;

  EmulatorControl() {
    void* library = nullptr;
    for (const std::string& path : emulator_paths()) {
      if (!library) library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    }
    if (!library) return;
    set_option =
        reinterpret_cast<decltype(set_option)>(dlsym(library, "radiance_emulator_set_option"));
    counters = reinterpret_cast<decltype(counters)>(dlsym(library, "radiance_emulator_counters"));
    reset_counters = reinterpret_cast<decltype(reset_counters)>(
        dlsym(library, "radiance_emulator_reset_counters"));
    reset_device = reinterpret_cast<decltype(reset_device)>(dlsym(library, "hipDeviceReset"));
  }
};

struct Omittable {
  uint64_t offset = 0;  // from the kernel's entry
  std::string text;
  bool hint = false;
};

// The waits and barriers of a kernel's main loop, and one hint, which nothing must miss. s_wait_alu
// is none of them: it orders results within the vector unit, which has no memory to wait for.
std::vector<Omittable> waits_of(std::span<const uint8_t> object, const std::string& name) {
  const disasm::CodeObject code = disasm::CodeObject::parse(object);
  const disasm::Kernel* kernel = code.find_kernel(name);
  std::vector<Omittable> found;
  if (!kernel) return found;
  disasm::Disassembler disassembler;
  std::vector<census::Instruction> instructions;
  const auto bytes = code.code(*kernel);
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

test::Problem make_problem(int64_t m) {
  std::mt19937 rng(static_cast<unsigned>(m));
  test::Problem p;
  p.shape = {RADIANCE_AUTOROUND_INT4, 150, 1280, 128};
  p.m = m;
  p.codes.resize(static_cast<size_t>(p.shape.k / 2 * p.shape.n));
  for (uint8_t& byte : p.codes) byte = static_cast<uint8_t>(rng());
  std::vector<uint16_t> scales;
  for (int64_t i = 0; i < p.shape.groups() * p.shape.n; ++i) {
    scales.push_back(test::random_f16(rng, 20));
  }
  p.scales.resize(scales.size() * 2);
  std::memcpy(p.scales.data(), scales.data(), p.scales.size());
  test::fill_rows(rng, p);
  return p;
}

// Kernels that the last calls launched, by the emulator's counters.
std::vector<std::string> launched(const EmulatorControl& control) {
  std::vector<std::string> names;
  const auto counters = nlohmann::json::parse(control.counters());
  for (const auto& kernel : counters["kernels"]) {
    names.push_back(kernel["name"].get<std::string>());
  }
  return names;
}

// The problem on a device of its own: a kernel that was stopped leaves a device that only a reset
// helps.
class Session {
 public:
  explicit Session(const test::Problem& p) : problem_(p) { open(); }

  std::vector<Plan> configs() const { return backend_->configs(problem_.shape, problem_.m); }
  EmulatorControl& control() { return control_; }

  // Why the emulator stopped it, or empty.
  std::string stopped(const std::string& config) {
    try {
      test::run(*device_, *backend_, problem_, *tensors_, header_, config);
    } catch (const Error& error) {
      control_.set_option("omit", "none");
      tensors_.reset();
      backend_.reset();
      device_.reset();
      control_.reset_device();
      open();
      return error.what();
    }
    control_.set_option("omit", "none");
    return {};
  }

 private:
  void open() {
    device_ = test::open_emulator(7);
    control_ = EmulatorControl();
    if (!control_.set_option) {
      throw std::runtime_error("the emulator's library has no options");
    }
    control_.set_option("quiet", "1");
    backend_ = make_backend(*device_);
    tensors_ = std::make_unique<test::OnDevice>(*device_, *backend_, problem_);
    backend_->pack(problem_.shape, problem_.desc(), tensors_->packed.get());
    device_->download(&header_, tensors_->packed.get(), sizeof(header_));
  }

  const test::Problem& problem_;
  EmulatorControl control_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<test::OnDevice> tensors_;
  PackedHeader header_;
};

TEST(OmittedWaits, StrictModeNoticesEachOfThem) {
  std::set<std::string> kernels_seen;
  std::string unnoticed;
  int omitted = 0;
  for (const int64_t m : {1, 17, 33, 64, 130}) {
    const test::Problem p = make_problem(m);
    Session session(p);
    for (const Plan& plan : session.configs()) {
      session.control().reset_counters();
      ASSERT_EQ(session.stopped(plan.config), "") << plan.config;
      for (const std::string& kernel : launched(session.control())) {
        if (!kernels_seen.insert(kernel).second) continue;
        for (const CodeObject& object : code_objects()) {
          for (const Omittable& wait : waits_of(object.bytes, kernel)) {
            ++omitted;
            const std::string where = kernel + "+" + std::to_string(wait.offset);
            ASSERT_EQ(session.control().set_option("omit", where.c_str()), 0);
            const std::string why = session.stopped(plan.config);
            EXPECT_EQ(why.find("to omit"), std::string::npos) << why;
            if (wait.hint) {
              EXPECT_EQ(why, "") << where;
            } else if (why.empty()) {
              unnoticed += where + ": " + wait.text + "\n";
            }
          }
        }
      }
    }
  }
  EXPECT_GT(omitted, 100);
  EXPECT_EQ(unnoticed, "") << omitted << " omitted, one at a time";
}

}  // namespace
}  // namespace radiance::gfx1201
