// oneDNN's matmul with the weight packed beforehand as the primitive asks for it: bf16, and u8 x s8
// with x given quantized.
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>

#include "contestant.hpp"
#include "draw.hpp"

namespace rivals {

namespace {

using dnnl::memory;
using Type = memory::data_type;

constexpr float kInputScale = 0x1p-5f;

class OneDnn final : public Contestant {
 public:
  OneDnn(const Problem& problem, Type weight_type)
      : Contestant(problem),
        integer_(weight_type == Type::s8),
        engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        weight_type_(weight_type) {
    omp_set_num_threads(problem.threads);
    if (integer_) {
      integers_ = draw_values<int8_t>(problem.seed + 21, elements(),
                                      [](uint64_t bits) { return static_cast<int8_t>(bits); });
      input_ = draw_values<uint8_t>(problem.seed + 22, problem.x->size(),
                                    [](uint64_t bits) { return static_cast<uint8_t>(bits); });
      for (const uint16_t bits :
           draw_values<uint16_t>(problem.seed + 23, static_cast<size_t>(problem.n), draw_bf16)) {
        scales_.push_back(radiance::bf16_to_f32(bits));
      }
    } else {
      values_ = draw_values<uint16_t>(problem.seed + 21, elements(), draw_bf16);
    }
  }

  std::string name() const override { return "onednn " + format(); }
  std::string format() const override { return integer_ ? "u8s8" : "bf16"; }
  std::string scope() const override { return integer_ ? "gemm" : "op"; }
  std::string config() const override { return description_.impl_info_str(); }
  size_t weight_bytes() const override { return description_.weights_desc().get_size(); }
  int copies() const override { return static_cast<int>(weights_.size()); }

  void prepare(int64_t m) override {
    const memory::desc x({m, problem_.k}, integer_ ? Type::u8 : Type::bf16, memory::format_tag::ab);
    const memory::desc any({problem_.k, problem_.n}, weight_type_, memory::format_tag::any);
    const memory::desc y({m, problem_.n}, Type::bf16, memory::format_tag::ab);
    dnnl::primitive_attr attributes;
    if (integer_) {
      attributes.set_scales_mask(DNNL_ARG_SRC, 0);
      attributes.set_scales_mask(DNNL_ARG_WEIGHTS, 1 << 1);
    }
    description_ = dnnl::matmul::primitive_desc(engine_, x, any, y, attributes);
    matmul_ = dnnl::matmul(description_);
    // Which layout is wanted depends on m.
    if (weights_.empty() || weights_.front().get_desc() != description_.weights_desc()) pack();

    y_.resize(static_cast<size_t>(m * problem_.n));
    void* input = integer_ ? const_cast<uint8_t*>(input_.data())
                           : static_cast<void*>(const_cast<uint16_t*>(problem_.x->data()));
    arguments_ = {{DNNL_ARG_SRC, memory(x, engine_, input)},
                  {DNNL_ARG_DST, memory(y, engine_, y_.data())}};
    if (integer_) {
      arguments_[DNNL_ARG_ATTR_SCALES | DNNL_ARG_SRC] =
          memory({{1}, Type::f32, memory::format_tag::x}, engine_, &input_scale_);
      arguments_[DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS] =
          memory({{problem_.n}, Type::f32, memory::format_tag::x}, engine_, scales_.data());
    }
  }

  void run() override {
    next_ = (next_ + 1) % weights_.size();
    arguments_[DNNL_ARG_WEIGHTS] = weights_[next_];
    matmul_.execute(stream_, arguments_);
    stream_.wait();
  }

  float output(int64_t row, int64_t column) const override {
    return radiance::bf16_to_f32(y_[static_cast<size_t>(row * problem_.n + column)]);
  }

  void weight_row(int64_t row, float* values) const override {
    for (int64_t k = 0; k < problem_.k; ++k) {
      const auto at = static_cast<size_t>(row * problem_.k + k);
      values[k] = integer_ ? integers_[at] * scales_[static_cast<size_t>(row)]
                           : radiance::bf16_to_f32(values_[at]);
    }
  }

  void input_row(int64_t row, float* values) const override {
    if (!integer_) return Contestant::input_row(row, values);
    for (int64_t k = 0; k < problem_.k; ++k) {
      values[k] = input_[static_cast<size_t>(row * problem_.k + k)] * kInputScale;
    }
  }

 private:
  void pack() {
    weights_.clear();
    // As checkpoints have it, [n][k].
    const memory::desc plain({problem_.k, problem_.n}, weight_type_, memory::format_tag::ba);
    void* data = integer_ ? static_cast<void*>(integers_.data()) : values_.data();
    memory source(plain, engine_, data);
    const memory::desc packed = description_.weights_desc();
    weights_.emplace_back(packed, engine_);
    dnnl::reorder(source, weights_.front()).execute(stream_, source, weights_.front());
    stream_.wait();
    for (int i = problem_.copies(packed.get_size()); i > 1; --i) {
      weights_.emplace_back(packed, engine_);
      std::memcpy(weights_.back().get_data_handle(), weights_.front().get_data_handle(),
                  packed.get_size());
    }
  }

  const bool integer_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  const Type weight_type_;
  std::vector<uint16_t> values_;  // bf16 [n][k]
  std::vector<int8_t> integers_;  // [n][k], for scales_ [n]
  std::vector<float> scales_;
  std::vector<uint8_t> input_;
  float input_scale_ = kInputScale;
  dnnl::matmul::primitive_desc description_;
  dnnl::matmul matmul_;
  std::vector<memory> weights_;
  std::unordered_map<int, memory> arguments_;
  std::vector<uint16_t> y_;
  size_t next_ = 0;
};

}  // namespace

std::string onednn_description() {
  const dnnl_version_t* version = dnnl_version();
  std::string text = std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
                     std::to_string(version->patch) + " (" + version->hash + "), up to ";
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx2:
      return text + "avx2";
    case dnnl::cpu_isa::avx2_vnni:
      return text + "avx2_vnni";
    case dnnl::cpu_isa::avx512_core:
      return text + "avx512_core";
    case dnnl::cpu_isa::avx512_core_vnni:
      return text + "avx512_core_vnni";
    case dnnl::cpu_isa::avx512_core_bf16:
      return text + "avx512_core_bf16";
    case dnnl::cpu_isa::avx512_core_fp16:
      return text + "avx512_core_fp16";
    case dnnl::cpu_isa::avx512_core_amx:
      return text + "avx512_core_amx";
    case dnnl::cpu_isa::avx512_core_amx_fp16:
      return text + "avx512_core_amx_fp16";
    default:
      return text + "another instruction set";
  }
}

Contestants make_onednn(const Problem& problem) {
  Contestants contestants;
  if (problem.wants("onednn bf16")) {
    contestants.push_back(std::make_unique<OneDnn>(problem, Type::bf16));
  }
  if (problem.wants("onednn u8s8")) {
    contestants.push_back(std::make_unique<OneDnn>(problem, Type::s8));
  }
  return contestants;
}

}  // namespace rivals
