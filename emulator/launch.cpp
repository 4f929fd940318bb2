// Launches: the state that a kernel descriptor asks for, and workgroups over threads.
#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <random>
#include <thread>

#include "emulator/emulator.hpp"
#include "emulator/program.hpp"
#include "emulator/workgroup.hpp"

namespace radiance::emulator {
namespace {

// Enough for what a dynamic stack usually needs beyond the static part; an overflow is reported.
constexpr uint32_t kDynamicStackBytes = 16 * 1024;
// What is in registers that nobody wrote: the same on every run, and of no use.
constexpr uint32_t kUnwritten = 0xdeadbeef;

bool hidden(const disasm::KernelArgument& argument) { return argument.kind.starts_with("hidden_"); }

// Everything a launch hands to its waves, in one piece of memory that kernels may read.
struct LaunchMemory {
  std::vector<uint8_t> bytes;
  uint64_t kernarg = 0;
  uint64_t packet = 0;
  uint64_t queue = 0;
};

struct Launch {
  const Module& module;
  const disasm::Kernel& kernel;
  const Program& program;
  const Instruction* entry;
  Dim3 grid;
  Dim3 block;
  uint32_t lds_bytes;
  uint32_t scratch_bytes;
  const LaunchOptions& options;
  LaunchMemory memory;
  std::shared_ptr<const AllocationList> allocations = {};
  std::vector<uint32_t> order = {};  // of the workgroups, where random
  uint64_t workgroups;

  // Shared by the threads from here on.
  std::atomic<uint64_t> next = 0;
  std::atomic<bool> stop = false;
  std::mutex mutex = {};
  Counters counters = {};
  TouchedLines touched[3] = {};
  std::string error = {};
};

template <typename T>
void put(std::vector<uint8_t>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void fill_hidden(const disasm::Kernel& kernel, Dim3 grid, Dim3 block, uint32_t dynamic_lds,
                 size_t given, std::vector<uint8_t>& bytes, size_t base) {
  const auto set = [&](const disasm::KernelArgument& argument, uint64_t value) {
    std::memcpy(bytes.data() + base + argument.offset, &value,
                std::min<size_t>(argument.size, sizeof value));
  };
  const uint32_t dims = grid[2] > 1 || block[2] > 1 ? 3 : grid[1] > 1 || block[1] > 1 ? 2 : 1;
  for (const disasm::KernelArgument& argument : kernel.arguments) {
    if (!hidden(argument) || argument.offset < given) continue;
    const std::string_view kind = argument.kind;
    const size_t axis = kind.back() >= 'x' && kind.back() <= 'z' ? kind.back() - 'x' : 0u;
    if (kind.starts_with("hidden_block_count_")) {
      set(argument, grid[axis]);
    } else if (kind.starts_with("hidden_group_size_")) {
      set(argument, block[axis]);
    } else if (kind == "hidden_grid_dims") {
      set(argument, dims);
    } else if (kind == "hidden_dynamic_lds_size") {
      set(argument, dynamic_lds);
    } else if (kind == "hidden_shared_base") {
      set(argument, kSharedAperture >> 32);
    } else if (kind == "hidden_private_base") {
      set(argument, kPrivateAperture >> 32);
    }
    // Remainders are zero: grids are whole workgroups. The rest (heap, hostcall, queues) is null.
  }
}

LaunchMemory make_memory(const disasm::Kernel& kernel, uint64_t kernel_object, Dim3 grid,
                         Dim3 block, uint32_t dynamic_lds, std::span<const uint8_t> kernarg) {
  // Kernel arguments are 64-byte aligned, the dispatch packet and an empty queue follow.
  const size_t kernarg_bytes =
      (std::max<size_t>({kernel.descriptor.kernarg_bytes, kernarg.size(), 1}) + 63) / 64 * 64;
  LaunchMemory out;
  out.bytes.resize(kernarg_bytes + 64 + 256 + 64);
  const auto address = reinterpret_cast<uint64_t>(out.bytes.data());
  const size_t base = (64 - address % 64) % 64;
  out.kernarg = address + base;
  std::ranges::copy(kernarg, out.bytes.begin() + static_cast<ptrdiff_t>(base));
  fill_hidden(kernel, grid, block, dynamic_lds, kernarg.size(), out.bytes, base);

  // hsa_kernel_dispatch_packet_t
  const size_t packet = base + kernarg_bytes;
  out.packet = address + packet;
  put<uint16_t>(out.bytes, packet + 2, 3);
  for (size_t axis = 0; axis < 3; ++axis) {
    put(out.bytes, packet + 4 + 2 * axis, static_cast<uint16_t>(block[axis]));
    put(out.bytes, packet + 12 + 4 * axis, grid[axis] * block[axis]);
  }
  put(out.bytes, packet + 24, kernel.descriptor.private_segment_bytes);
  put(out.bytes, packet + 28, kernel.descriptor.group_segment_bytes + dynamic_lds);
  put(out.bytes, packet + 32, kernel_object);
  put(out.bytes, packet + 40, out.kernarg);
  out.queue = out.packet + 64;
  return out;
}

// --- An omitted instruction ---------------------------------------------------------------------

// The kernel's code with one instruction overwritten by s_nop, decoded for one launch.
class ChangedProgram {
 public:
  ChangedProgram(const Module& module, const disasm::Kernel& kernel, uint64_t offset) {
    const auto code = module.code().code(kernel);
    code_.assign(code.begin(), code.end());
    constexpr uint32_t kNop = 0xbf800000;
    const uint64_t address = module.base() + kernel.entry;
    const Instruction* at = module.program().find(address + offset);
    if (!at || offset >= code_.size()) return;
    for (unsigned i = 0; i < at->bytes; i += 4) std::memcpy(code_.data() + offset + i, &kNop, 4);
    program_ = std::make_unique<Program>(code_, address, std::vector<uint64_t>{});
  }
  // Null where no instruction begins at the offset.
  const Program* program() const { return program_.get(); }

 private:
  std::vector<uint8_t> code_;
  std::unique_ptr<Program> program_;
};

// --- Waves
// -------------------------------------------------------------------------------------------

void set_user_sgprs(const Launch& launch, Wave& wave) {
  const disasm::KernelDescriptor& d = launch.kernel.descriptor;
  unsigned at = 0;
  const auto push = [&](uint64_t value, unsigned dwords) {
    for (unsigned i = 0; i < dwords; ++i) {
      wave.sgpr[at++] = static_cast<uint32_t>(value >> (32 * i));
    }
  };
  if (d.dispatch_ptr()) push(launch.memory.packet, 2);
  if (d.queue_ptr()) push(launch.memory.queue, 2);
  if (d.kernarg_segment_ptr()) push(launch.memory.kernarg, 2);
  if (d.dispatch_id()) push(0, 2);
  if (d.private_segment_size()) push(launch.scratch_bytes, 1);
  // Kernel arguments preloaded into the SGPRs that follow.
  const unsigned preload = d.kernarg_preload & 127;
  const unsigned offset = d.kernarg_preload >> 7;
  for (unsigned i = 0; i < preload && at < 32; ++i) {
    uint32_t value = 0;
    std::memcpy(&value, reinterpret_cast<const uint8_t*>(launch.memory.kernarg) + 4 * (offset + i),
                sizeof value);
    push(value, 1);
  }
  if (wave.strict) wave.strict->mark_sgprs(0, std::max(at, d.user_sgprs()));
}

void set_work_items(const Launch& launch, uint32_t first, Wave& wave) {
  const uint32_t x_size = launch.block[0];
  const uint32_t y_size = launch.block[1];
  const uint32_t total = x_size * y_size * launch.block[2];
  uint32_t active = 0;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t item = first + lane;
    const uint32_t x = item % x_size;
    const uint32_t y = item / x_size % y_size;
    const uint32_t z = item / x_size / y_size;
    wave.vgpr[0].v[lane] = x | y << 10 | z << 20;
    if (item < total) active |= 1u << lane;
  }
  wave.launched_lanes = active;
  wave.set_exec(active);
  if (wave.strict) wave.strict->mark_vgprs(0, 1, kAllLanes);
}

void start_wave(const Launch& launch, Workgroup& group, uint32_t index, Wave& wave) {
  for (uint32_t& reg : wave.sgpr) reg = kUnwritten;
  for (unsigned i = kNull; i < kScalarRegisters; ++i) wave.sgpr[i] = 0;
  const unsigned vgprs = launch.kernel.vgprs ? launch.kernel.vgprs : kVectorRegisters;
  for (unsigned i = 0; i < std::min<unsigned>(vgprs, kVectorRegisters); ++i) {
    for (uint32_t& lane : wave.vgpr[i].v) lane = kUnwritten;
  }
  const auto high = [](uint64_t address) { return static_cast<uint32_t>(address >> 32); };
  wave.sgpr[kSharedBase + 1] = high(kSharedAperture);
  wave.sgpr[kSharedLimit] = 0xffffffff;
  wave.sgpr[kSharedLimit + 1] = high(kSharedAperture);
  wave.sgpr[kPrivateBase + 1] = high(kPrivateAperture);
  wave.sgpr[kPrivateLimit] = 0xffffffff;
  wave.sgpr[kPrivateLimit + 1] = high(kPrivateAperture);
  // The trap registers carry the workgroup's place: x in ttmp9, y and z in the halves of ttmp7, the
  // wave's number in bits 29:25 of ttmp8.
  wave.sgpr[kTtmp0 + 9] = group.id[0];
  wave.sgpr[kTtmp0 + 7] = group.id[1] | group.id[2] << 16;
  wave.sgpr[kTtmp0 + 8] = index << 25;

  if (launch.options.strict) {
    if (!wave.strict) wave.strict = std::make_unique<StrictState>();
    wave.strict->reset();
    wave.strict->mark_sgprs(kTtmp0 + 7, 3);
  } else {
    wave.strict.reset();
  }
  set_user_sgprs(launch, wave);
  set_work_items(launch, index * kLanes, wave);

  wave.next = launch.entry;
  wave.current = nullptr;
  wave.state = RunState::kRunning;
  wave.mode.bits = launch.kernel.descriptor.float_mode();
  wave.group = &group;
  wave.program = &launch.program;
  wave.index = index;
  wave.instructions = 0;
  wave.budget = launch.options.instruction_budget;
  wave.barrier_phase = 0;
  wave.barrier_passed = 0;
}

// Where a fault happened: "kernel k, +0x24 (v_add ...), workgroup (1, 0, 0), wave 2: ...".
std::string located(const Launch& launch, const Workgroup& group, const std::string& sentence) {
  std::string where = fmt::format("kernel {}", launch.kernel.name);
  const Wave* wave = group.last_wave;
  const Instruction* at = wave ? wave->current : nullptr;
  if (at) {
    where += fmt::format(", {:#x}", at->address - launch.module.base());
    const std::string line = launch.module.source_line(at->address);
    if (!line.empty()) where += " (" + line + ")";
  }
  where += fmt::format(", workgroup ({}, {}, {})", group.id[0], group.id[1], group.id[2]);
  if (wave) where += fmt::format(", wave {}", wave->index);
  return where + ": " + sentence;
}

// --- Threads
// -----------------------------------------------------------------------------------------

uint64_t thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// What one thread needs to run workgroups one after the other.
class Worker {
 public:
  explicit Worker(Launch& launch)
      : launch_(launch),
        view_(launch.allocations),
        waves_((launch.block[0] * launch.block[1] * launch.block[2] + kLanes - 1) / kLanes) {
    group_.lds.resize(kMaxLdsBytes + 64);
    group_.lds_bytes = launch.lds_bytes;
    group_.strict = launch.options.strict;
    group_.flush_fp8 = launch.options.flush_fp8;
    for (uint32_t i = 0; i < waves_; ++i) group_.waves.push_back(std::make_unique<Wave>());
    scratch_.resize(static_cast<size_t>(waves_) * kLanes * launch.scratch_bytes);
  }

  void run() {
    const uint64_t begin = thread_cpu_ns();
    while (!launch_.stop) {
      const uint64_t index = launch_.next++;
      if (index >= launch_.workgroups) break;
      run_workgroup(launch_.order.empty() ? index : launch_.order[index]);
    }
    counters_.host_cpu_ns = thread_cpu_ns() - begin;
    const std::lock_guard lock(launch_.mutex);
    launch_.counters.add(counters_);
    for (size_t kind = 0; kind < 3; ++kind) {
      launch_.touched[kind].add(view_.touched(static_cast<AccessKind>(kind)));
    }
  }

 private:
  void run_workgroup(uint64_t number) {
    const Dim3& grid = launch_.grid;
    group_.id = {static_cast<uint32_t>(number % grid[0]),
                 static_cast<uint32_t>(number / grid[0] % grid[1]),
                 static_cast<uint32_t>(number / grid[0] / grid[1])};
    group_.reset(waves_);
    for (uint32_t i = 0; i < waves_; ++i) {
      Wave& wave = *group_.waves[i];
      start_wave(launch_, group_, i, wave);
      wave.memory = &view_;
      wave.counters = &counters_;
      wave.scratch_bytes = launch_.scratch_bytes;
      wave.scratch = scratch_.data() + static_cast<size_t>(i) * kLanes * launch_.scratch_bytes;
    }
    ++counters_.workgroups;
    counters_.waves += waves_;
    try {
      group_.run(launch_.options.seed ? std::optional(*launch_.options.seed + number)
                                      : std::nullopt);
    } catch (const Fault& fault) {
      const std::lock_guard lock(launch_.mutex);
      if (launch_.error.empty()) launch_.error = located(launch_, group_, fault.what());
      launch_.stop = true;
    }
  }

  Launch& launch_;
  MemoryView view_;
  uint32_t waves_;
  Workgroup group_;
  std::vector<uint8_t> scratch_;
  Counters counters_;
};

// A sentence where the configuration is not one the hardware takes, else empty.
std::string refuse(const disasm::Kernel& kernel, Dim3 grid, Dim3 block, uint64_t lds_bytes,
                   size_t kernarg_bytes) {
  const disasm::KernelDescriptor& d = kernel.descriptor;
  if (!d.wave32()) return "is compiled for waves of 64 lanes, which the emulator does not run";
  for (size_t axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 0 || block[axis] == 0) {
      return fmt::format("has an empty grid: {} x {} x {} workgroups of {} x {} x {}", grid[0],
                         grid[1], grid[2], block[0], block[1], block[2]);
    }
    if (axis > 0 && grid[axis] > 65535) {
      return fmt::format("has {} workgroups along axis {}; the limit is 65535", grid[axis], axis);
    }
  }
  const uint64_t items = uint64_t{block[0]} * block[1] * block[2];
  if (block[0] > 1024 || block[1] > 1024 || block[2] > 1024 || items > kernel.max_workgroup_size) {
    return fmt::format("has {} work items a workgroup; it is compiled for at most {}", items,
                       kernel.max_workgroup_size);
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    const uint32_t required = kernel.required_workgroup_size[axis];
    if (required && required != block[axis]) {
      return fmt::format("is compiled for {} work items along axis {}, not {}", required, axis,
                         block[axis]);
    }
  }
  if (lds_bytes > kMaxLdsBytes) {
    return fmt::format("needs {} bytes of LDS; a workgroup has {}", lds_bytes, kMaxLdsBytes);
  }
  size_t explicit_bytes = 0;
  for (const disasm::KernelArgument& argument : kernel.arguments) {
    if (!hidden(argument)) {
      explicit_bytes = std::max<size_t>(explicit_bytes, argument.offset + argument.size);
    }
  }
  if (kernarg_bytes < explicit_bytes) {
    return fmt::format("takes {} bytes of arguments, {} were given", explicit_bytes, kernarg_bytes);
  }
  return {};
}

}  // namespace

LaunchResult launch(Memory& memory, const Module& module, const disasm::Kernel& kernel, Dim3 grid,
                    Dim3 block, uint32_t dynamic_lds_bytes, std::span<const uint8_t> kernarg,
                    const LaunchOptions& options) {
  LaunchResult result;
  const disasm::KernelDescriptor& d = kernel.descriptor;
  const uint64_t lds_bytes = uint64_t{d.group_segment_bytes} + dynamic_lds_bytes;
  if (std::string why = refuse(kernel, grid, block, lds_bytes, kernarg.size()); !why.empty()) {
    result.status = LaunchStatus::kBadConfiguration;
    result.error = "the launch of kernel " + kernel.name + " " + why;
    return result;
  }

  const Program* program = &module.program();
  std::optional<ChangedProgram> changed;
  if (options.omit && options.omit->kernel == kernel.name) {
    changed.emplace(module, kernel, options.omit->offset);
    program = changed->program();
    if (!program) {
      result.status = LaunchStatus::kBadConfiguration;
      result.error = fmt::format("kernel {} has no instruction at offset {:#x} to omit",
                                 kernel.name, options.omit->offset);
      return result;
    }
  }

  Launch state{
      .module = module,
      .kernel = kernel,
      .program = *program,
      .entry = program->find(module.base() + kernel.entry),
      .grid = grid,
      .block = block,
      .lds_bytes = static_cast<uint32_t>(lds_bytes),
      .scratch_bytes = d.private_segment_bytes + (d.dynamic_stack() ? kDynamicStackBytes : 0),
      .options = options,
      .memory = make_memory(kernel, module.base() + kernel.descriptor_address, grid, block,
                            dynamic_lds_bytes, kernarg),
      .workgroups = uint64_t{grid[0]} * grid[1] * grid[2]};
  if (!state.entry) {
    result.status = LaunchStatus::kFault;
    result.error = "the entry of kernel " + kernel.name + " is no instruction";
    return result;
  }
  memory.adopt(state.memory.bytes.data(), state.memory.bytes.size());
  state.allocations = memory.list();
  if (options.seed && state.workgroups <= UINT32_MAX) {
    state.order.resize(state.workgroups);
    std::iota(state.order.begin(), state.order.end(), 0u);
    std::mt19937_64 random(*options.seed);
    std::ranges::shuffle(state.order, random);
  }

  const unsigned asked =
      options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  const auto threads = static_cast<unsigned>(std::min<uint64_t>(asked, state.workgroups));
  const auto work = [&state] { Worker(state).run(); };
  std::vector<std::thread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  memory.forget(state.memory.bytes.data());

  result.counters = state.counters;
  result.counters.global_load.distinct_lines = state.touched[0].count();
  result.counters.global_store.distinct_lines = state.touched[1].count();
  result.counters.global_atomic.distinct_lines = state.touched[2].count();
  if (!state.error.empty()) {
    result.status = LaunchStatus::kFault;
    result.error = std::move(state.error);
  }
  return result;
}

}  // namespace radiance::emulator
