#include <fmt/format.h>

#include <vector>

#include "lab/suites/exact.hpp"
#include "lab/suites/suites.hpp"
#include "numerics/e4m3.hpp"

namespace radiance::lab {

// The operand bytes of all eight nibbles of random words, straight from each of the kernels'
// unpacks.
static void run_words(Gate& gate, HardwareProbes& probes, Random& random) {
  constexpr int kWords = 4096;
  std::vector<uint32_t> words;
  for (int i = 0; i < kWords; ++i) words.push_back(static_cast<uint32_t>(random.next() >> 32));
  for (const HardwareProbes::Unpack& unpack : probes.unpack(words)) {
    CaseResult result;
    result.suite = "unpack";
    result.name = "4096 words, " + unpack.name;
    for (size_t i = 0; i < unpack.bytes.size(); ++i) {
      const uint32_t nibble = words[i / 8] >> (4 * (i % 8)) & 15u;
      const float want = unpack.value[nibble] * unpack.unit;
      const float got = e4m3_to_f32(unpack.bytes[i]);
      if (got == want) continue;
      result.status = Status::kFailed;
      result.reason = fmt::format("nibble {} of {:#010x} gives {:#04x}, which is {}, not {}", i % 8,
                                  words[i / 8], unpack.bytes[i], got, want);
      break;
    }
    gate.add(std::move(result));
  }
}

// 128 features times 256 k are 4096 words of eight codes.
void run_unpack_suite(Gate& gate) {
  Random random = gate.random("unpack");
  HardwareProbes* const probes = gate.engine().backend().hardware_probes();
  if (probes != nullptr) {
    Random words = gate.random("unpack words");
    run_words(gate, *probes, words);
  }
  add_one_hot_cases(gate, "unpack", "4096 int4 words", random_int4_weight(random, 128, 256, 128));
  add_one_hot_cases(gate, "unpack", "4096 mxfp4 words", random_mxfp4_weight(random, 128, 256));
}

}  // namespace radiance::lab
