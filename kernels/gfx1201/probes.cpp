#include "kernels/gfx1201/probes.hpp"

#include "kernels/gfx1201/code_objects.hpp"
#include "kernels/gfx1201/probe_geometry.hpp"
#include "runtime/hip_module.hpp"

namespace radiance::gfx1201 {
namespace {

// Which nibble of a word an operand byte comes from: the even ones make the first four.
constexpr int nibble_of_byte(int byte) { return byte < 4 ? 2 * byte : 2 * (byte - 4) + 1; }

class Probes final : public HardwareProbes {
 public:
  explicit Probes(HipDevice& device)
      : device_(device),
        perm_(device, code_object("perm_probe").data()),
        table_(device, code_object("table_probe").data()),
        unpack_(device, code_object("unpack_probe").data()) {}

  std::vector<uint32_t> permute(std::span<const PermOperands> operands) override {
    const Buffer from(device_, operands.size_bytes());
    const Buffer to(device_, operands.size() * sizeof(uint32_t));
    device_.upload(from.get(), operands.data(), operands.size_bytes());
    PermProbeParams params{from.get<u32>(), to.get<u32>(), static_cast<i32>(operands.size())};
    run(perm_.function("perm_probe"), operands.size(), kProbeThreads, &params);
    return download<uint32_t>(to, operands.size());
  }

  OperandTable multiply_by_one() override {
    const Buffer to(device_, sizeof(OperandTable));
    TableProbeParams params{to.get<float>(), to.get<float>() + 256};
    run(table_.function("table_probe"), 1, kWave, &params);
    OperandTable table;
    device_.download(&table, to.get(), sizeof(table));
    return table;
  }

  std::vector<Unpack> unpack(std::span<const uint32_t> words) override {
    const size_t bytes = 8 * words.size();
    const Buffer from(device_, words.size_bytes()), to(device_, kUnpacks * bytes);
    device_.upload(from.get(), words.data(), words.size_bytes());
    UnpackProbeParams params{from.get<u32>(), to.get<u32>(), static_cast<i32>(words.size())};
    run(unpack_.function("unpack_probe"), words.size(), kProbeThreads, &params);
    const std::vector<uint8_t> all = download<uint8_t>(to, kUnpacks * bytes);
    std::vector<Unpack> unpacks;
    for (int which = 0; which < kUnpacks; ++which) {
      Unpack unpack = described(which);
      unpack.bytes.resize(bytes);
      const uint8_t* mine = all.data() + static_cast<size_t>(which) * bytes;
      for (size_t i = 0; i < bytes; ++i) {
        unpack.bytes[i / 8 * 8 + static_cast<size_t>(nibble_of_byte(static_cast<int>(i % 8)))] =
            mine[i];
      }
      unpacks.push_back(std::move(unpack));
    }
    return unpacks;
  }

 private:
  static Unpack described(int which) {
    Unpack unpack{};
    for (int nibble = 0; nibble < 16; ++nibble) {
      unpack.value[nibble] = which < kUnpackE2m1
                                 ? static_cast<float>(from_zigzag(static_cast<u32>(nibble)))
                                 : e2m1_to_f32(static_cast<u8>(nibble));
    }
    if (which == kUnpackSigned) {
      unpack.name = "int4, by multiply-add";
      unpack.unit = 0x1p-8f;
    } else if (which == kUnpackTable) {
      unpack.name = "int4, by table";
      unpack.unit = 1.0f;
    } else {
      const int exponent = which - kUnpackE2m1 + kFoldMin;
      unpack.name = "e2m1 times 2^" + std::to_string(exponent);
      unpack.unit = power_of_two(exponent);
    }
    return unpack;
  }

  void run(hip::Function function, size_t items, int threads, void* params) {
    void* parameters[] = {params};
    HipLaunch how;
    how.grid[0] = static_cast<unsigned>((items + static_cast<size_t>(threads) - 1) /
                                        static_cast<size_t>(threads));
    how.block = static_cast<unsigned>(threads);
    const HipScope scope(device_.driver(), device_.id());
    launch(device_, function, how, parameters);
    device_.synchronize(nullptr);
  }

  template <typename T>
  std::vector<T> download(const Buffer& from, size_t count) {
    std::vector<T> to(count);
    device_.download(to.data(), from.get(), count * sizeof(T));
    return to;
  }

  HipDevice& device_;
  HipModule perm_, table_, unpack_;
};

}  // namespace

std::unique_ptr<HardwareProbes> make_hardware_probes(HipDevice& device) {
  return std::make_unique<Probes>(device);
}

}  // namespace radiance::gfx1201
