// llama.cpp's ggml. Its weights go where llama.cpp's loader would put them: into the first of the
// CPU device's buffer types, the extra ones (AMX, repacked) first, that takes the product.
#include <ggml-alloc.h>
#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <stdexcept>

#include "contestant.hpp"
#include "draw.hpp"

namespace rivals {

namespace {

struct Free {
  void operator()(ggml_context* context) const { ggml_free(context); }
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
  void operator()(ggml_backend* backend) const { ggml_backend_free(backend); }
  void operator()(ggml_threadpool* pool) const { ggml_threadpool_free(pool); }
};
template <typename T>
using Owner = std::unique_ptr<T, Free>;

Owner<ggml_context> make_context(size_t tensors) {
  ggml_init_params params{};
  params.mem_size =
      tensors * (ggml_tensor_overhead() + ggml_graph_overhead_custom(4, false)) + 4096;
  params.no_alloc = true;
  return Owner<ggml_context>(ggml_init(params));
}

// As weight_buft_supported of llama.cpp's llama-model-loader.cpp.
bool takes_product(ggml_backend_dev_t device, ggml_backend_buffer_type_t type, ggml_type format,
                   int64_t n, int64_t k) {
  const auto context = make_context(4);
  ggml_tensor* weight = ggml_new_tensor_2d(context.get(), format, k, n);
  ggml_tensor* rows = ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, k, 512);
  ggml_tensor* product = ggml_mul_mat(context.get(), weight, rows);
  const Owner<ggml_backend_buffer> buffer(ggml_backend_buft_alloc_buffer(type, 0));
  weight->buffer = buffer.get();
  return ggml_backend_dev_supports_op(device, product);
}

ggml_backend_buffer_type_t choose_buffer_type(ggml_type format, int64_t n, int64_t k) {
  ggml_backend_reg_t registry = ggml_backend_cpu_reg();
  ggml_backend_dev_t device = ggml_backend_reg_dev_get(registry, 0);
  const auto extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(registry, "ggml_backend_dev_get_extra_bufts"));
  if (extra != nullptr) {
    for (auto* type = extra(device); type != nullptr && *type != nullptr; ++type) {
      if (takes_product(device, *type, format, n, k)) return *type;
    }
  }
  return ggml_backend_dev_buffer_type(device);
}

// Blocks of random codes with plausible scales; layouts as ggml-common.h has them.
std::vector<uint8_t> draw_blocks(ggml_type format, size_t elements, uint64_t seed) {
  if (format == GGML_TYPE_BF16) {
    const auto values = draw_values<uint16_t>(seed, elements, draw_bf16);
    std::vector<uint8_t> bytes(values.size() * 2);
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  const size_t block = ggml_type_size(format);
  const size_t blocks = elements / static_cast<size_t>(ggml_blck_size(format));
  auto bytes = draw_values<uint8_t>(seed, blocks * block,
                                    [](uint64_t bits) { return static_cast<uint8_t>(bits); });
  Random random(seed + 1);
  for (size_t b = 0; b < blocks; ++b) {
    uint8_t* at = bytes.data() + b * block;
    const uint64_t bits = random.next();
    const uint16_t scale = draw_f16(bits), minimum = draw_f16(bits >> 20);
    if (format == GGML_TYPE_MXFP4) {
      at[0] = static_cast<uint8_t>(117 + bits % 4);
    } else {
      std::memcpy(at, &scale, 2);
      if (format == GGML_TYPE_Q4_K) std::memcpy(at + 2, &minimum, 2);
    }
  }
  return bytes;
}

class Ggml final : public Contestant {
 public:
  Ggml(const Problem& problem, ggml_type format, const char* label)
      : Contestant(problem),
        format_(format),
        label_(label),
        backend_(ggml_backend_cpu_init()),
        buffer_type_(choose_buffer_type(format, problem.n, problem.k)),
        blocks_(draw_blocks(format, elements(), problem.seed + 11)) {
    // As llama.cpp's programs do. With OpenMP the pool's threads are OpenMP's.
    auto params = ggml_threadpool_params_default(problem.threads);
    pool_.reset(ggml_threadpool_new(&params));
    ggml_backend_cpu_set_n_threads(backend_.get(), problem.threads);
    ggml_backend_cpu_set_threadpool(backend_.get(), pool_.get());

    {
      const auto context = make_context(1);
      weight_bytes_ = ggml_backend_buft_get_alloc_size(
          buffer_type_, ggml_new_tensor_2d(context.get(), format, problem.k, problem.n));
    }
    const int copies = problem.copies(weight_bytes_);
    weights_context_ = make_context(static_cast<size_t>(copies));
    for (int i = 0; i < copies; ++i) {
      weights_.push_back(ggml_new_tensor_2d(weights_context_.get(), format, problem.k, problem.n));
    }
    weights_buffer_.reset(
        ggml_backend_alloc_ctx_tensors_from_buft(weights_context_.get(), buffer_type_));
    if (weights_buffer_ == nullptr) throw std::runtime_error("ggml cannot allocate the weights");
    ggml_backend_buffer_set_usage(weights_buffer_.get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    ggml_backend_tensor_set(weights_.front(), blocks_.data(), 0, blocks_.size());
    for (size_t i = 1; i < weights_.size(); ++i) {
      std::memcpy(weights_[i]->data, weights_.front()->data, weight_bytes_);
    }
  }

  std::string name() const override { return std::string("ggml ") + label_; }
  std::string format() const override { return label_; }
  std::string scope() const override { return "op"; }
  std::string config() const override {
    return std::string("buffer type ") + ggml_backend_buft_name(buffer_type_);
  }
  size_t weight_bytes() const override { return weight_bytes_; }
  int copies() const override { return static_cast<int>(weights_.size()); }

  void prepare(int64_t m) override {
    graphs_.clear();
    call_buffer_.reset();
    call_context_ = make_context(2 + 2 * weights_.size());
    ggml_context* context = call_context_.get();
    ggml_tensor* x = ggml_new_tensor_2d(context, GGML_TYPE_F32, problem_.k, m);
    y_ = ggml_new_tensor_2d(context, GGML_TYPE_F32, problem_.n, m);
    call_buffer_.reset(
        ggml_backend_alloc_ctx_tensors_from_buft(context, ggml_backend_cpu_buffer_type()));
    for (int64_t row = 0; row < m; ++row) {
      input_row(row, static_cast<float*>(x->data) + row * problem_.k);
    }
    for (ggml_tensor* weight : weights_) {
      ggml_tensor* product = ggml_mul_mat(context, weight, x);
      product->buffer = y_->buffer;
      product->data = y_->data;
      graphs_.push_back(ggml_new_graph_custom(context, 4, false));
      ggml_build_forward_expand(graphs_.back(), product);
    }
  }

  void run() override {
    next_ = (next_ + 1) % graphs_.size();
    if (ggml_backend_graph_compute(backend_.get(), graphs_[next_]) != GGML_STATUS_SUCCESS) {
      throw std::runtime_error("ggml cannot compute the product");
    }
  }

  float output(int64_t row, int64_t column) const override {
    return static_cast<const float*>(y_->data)[row * problem_.n + column];
  }

  void weight_row(int64_t row, float* values) const override {
    const size_t bytes = ggml_row_size(format_, problem_.k);
    ggml_get_type_traits(format_)->to_float(blocks_.data() + static_cast<size_t>(row) * bytes,
                                            values, problem_.k);
  }

 private:
  const ggml_type format_;
  const char* const label_;
  Owner<ggml_threadpool> pool_;
  Owner<ggml_backend> backend_;
  const ggml_backend_buffer_type_t buffer_type_;
  const std::vector<uint8_t> blocks_;
  size_t weight_bytes_ = 0;
  Owner<ggml_context> weights_context_, call_context_;
  Owner<ggml_backend_buffer> weights_buffer_, call_buffer_;
  std::vector<ggml_tensor*> weights_;
  std::vector<ggml_cgraph*> graphs_;
  ggml_tensor* y_ = nullptr;
  size_t next_ = 0;
};

}  // namespace

std::string ggml_description() {
  // ggml_commit() would name the repository that happens to hold the build folder.
  std::string text =
      std::string(ggml_version()) + " of llama-cpp-python " RIVALS_LLAMA_CPP_PYTHON ":";
  ggml_backend_reg_t registry = ggml_backend_cpu_reg();
  const auto features = reinterpret_cast<ggml_backend_get_features_t>(
      ggml_backend_reg_get_proc_address(registry, "ggml_backend_get_features"));
  for (const auto* f = features(registry); f->name != nullptr; ++f) {
    if (std::strcmp(f->value, "0") != 0) text += std::string(" ") + f->name;
  }
  return text;
}

Contestants make_ggml(const Problem& problem) {
  Contestants contestants;
  const auto add = [&](ggml_type format, const char* label) {
    if (problem.k % ggml_blck_size(format) != 0) return;
    if (!problem.wants(std::string("ggml ") + label)) return;
    contestants.push_back(std::make_unique<Ggml>(problem, format, label));
  };
  add(GGML_TYPE_Q4_0, "q4_0");
  add(GGML_TYPE_Q4_K, "q4_K");
  add(GGML_TYPE_MXFP4, "mxfp4");
  add(GGML_TYPE_BF16, "bf16");
  return contestants;
}

}  // namespace rivals
