// Ours: AutoRound int4, group 128, through the installed package's C++ interface.
#include "radiance/radiance.hpp"

#include "contestant.hpp"
#include "draw.hpp"
#include "numerics/f16.hpp"

namespace rivals {

namespace {

using radiance::api::check;
using radiance::api::make;

constexpr int64_t kGroup = 128;

class Radiance final : public Contestant {
 public:
  Radiance(const Problem& problem, const std::string& device)
      : Contestant(problem),
        device_(device.c_str(), problem.threads),
        codes_(draw_values<uint16_t>(problem.seed + 1, elements() / 4,
                                     [](uint64_t bits) { return static_cast<uint16_t>(bits); })),
        scales_(draw_values<uint16_t>(
            problem.seed + 2, static_cast<size_t>((problem.k + kGroup - 1) / kGroup * problem.n),
            draw_f16)) {
    auto weight = make<radiance_weight_desc>();
    weight.format = RADIANCE_AUTOROUND_INT4;
    weight.n = problem.n;
    weight.k = problem.k;
    weight.group = kGroup;
    weight.codes = codes_.data();
    weight.scales = scales_.data();
    check(radiance_packed_bytes(device_.get(), &weight, &weight_bytes_));
    for (int i = problem.copies(weight_bytes_); i > 0; --i) linears_.emplace_back(device_, weight);
  }

  std::string name() const override { return "radiance"; }
  std::string format() const override { return "autoround_int4 group 128"; }
  std::string scope() const override { return "op"; }
  std::string config() const override {
    char text[256] = "";
    check(radiance_explain(linears_.front().get(), args_.m, text, sizeof(text)));
    const std::string line(text);
    return line.substr(0, line.find_first_of(" :;,"));
  }
  size_t weight_bytes() const override { return weight_bytes_; }
  int copies() const override { return static_cast<int>(linears_.size()); }

  void prepare(int64_t m) override {
    const auto rows = static_cast<size_t>(m);
    y_.resize(rows * static_cast<size_t>(problem_.n));
    workspace_ =
        std::make_unique<radiance::api::Buffer>(device_, linears_.front().workspace_bytes(m));
    check(radiance_workspace_init(device_.get(), workspace_->get(), workspace_->bytes(), nullptr));
    args_ = make<radiance_forward_args>();
    args_.m = m;
    args_.x = problem_.x->data();
    args_.x_dtype = RADIANCE_BF16;
    args_.y = y_.data();
    args_.y_dtype = RADIANCE_BF16;
    args_.workspace = workspace_->get();
    args_.workspace_bytes = workspace_->bytes();
  }

  void run() override {
    next_ = (next_ + 1) % linears_.size();
    linears_[next_].forward(args_);
  }

  float output(int64_t row, int64_t column) const override {
    return radiance::bf16_to_f32(y_[static_cast<size_t>(row * problem_.n + column)]);
  }

  void weight_row(int64_t row, float* values) const override {
    for (int64_t k = 0; k < problem_.k; ++k) {
      // Words of eight codes along k, [k / 8][n]; drawn as halves of words.
      const int64_t half = (k / 8 * problem_.n + row) * 2 + k % 8 / 4;
      const int code = codes_[static_cast<size_t>(half)] >> (k % 4 * 4) & 15;
      const uint16_t scale = scales_[static_cast<size_t>(k / kGroup * problem_.n + row)];
      values[k] = static_cast<float>(code - 8) * radiance::f16_to_f32(scale);
    }
  }

 private:
  radiance::api::Device device_;
  std::vector<uint16_t> codes_, scales_;
  size_t weight_bytes_ = 0;
  std::vector<radiance::api::Linear> linears_;
  std::unique_ptr<radiance::api::Buffer> workspace_;
  std::vector<uint16_t> y_;
  radiance_forward_args args_{};
  size_t next_ = 0;
};

}  // namespace

Contestants make_radiance(const Problem& problem, const std::string& device) {
  Contestants contestants;
  contestants.push_back(std::make_unique<Radiance>(problem, device));
  return contestants;
}

}  // namespace rivals
