#include "lab/rivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "lab/replayed.hpp"
#include "lab/rotation.hpp"
#include "numerics/bf16.hpp"
#include "numerics/e4m3.hpp"
#include "radiance/error.hpp"
#include "runtime/cuda_device.hpp"

namespace radiance::lab {

namespace {

CudaDevice& cuda_device(const Engine& engine) {
  auto* device = dynamic_cast<CudaDevice*>(&engine.device());
  if (device == nullptr) {
    throw Error(RADIANCE_INVALID_ARGUMENT,
                "the rivals are cuBLASLt's products, which need --device cuda:N, not " +
                    engine.device().info().name);
  }
  return *device;
}

int64_t element_bytes(RivalKind kind) { return kind == RivalKind::kFp8 ? 1 : 2; }
int element_type(RivalKind kind) {
  return kind == RivalKind::kFp8 ? cublaslt::kE4m3 : cublaslt::kBf16;
}

// Normally distributed weights. A piece of them is repeated, of a length that no row and no tile
// divides: only the values' distribution costs power, not which stands where.
std::vector<uint8_t> drawn_weights(RivalKind kind, size_t bytes) {
  constexpr size_t kPiece = 1000003;
  Random random(0x5eed);
  std::vector<uint8_t> piece(kPiece * static_cast<size_t>(element_bytes(kind)));
  for (size_t i = 0; i < kPiece; ++i) {
    if (kind == RivalKind::kFp8) {
      piece[i] = f32_to_e4m3(64 * random.normal());
    } else {
      const uint16_t bits = f32_to_bf16(0.02f * random.normal());
      std::memcpy(&piece[2 * i], &bits, 2);
    }
  }
  std::vector<uint8_t> all(bytes);
  for (size_t at = 0; at < bytes; at += piece.size()) {
    std::memcpy(&all[at], piece.data(), std::min(piece.size(), bytes - at));
  }
  return all;
}

}  // namespace

const char* rival_name(RivalKind kind) {
  return kind == RivalKind::kFp8 ? "cuBLASLt fp8" : "cuBLASLt bf16";
}

RivalLibrary::RivalLibrary(const Engine& engine) : engine_(&engine) {
  const CudaScope scope(cuda_device(engine).context());
  functions_ = cublaslt::load();
  cublaslt::check(functions_, functions_.create(&handle_), "starting");
}

RivalLibrary::~RivalLibrary() {
  if (handle_ != nullptr) functions_.destroy(handle_);
}

std::string RivalLibrary::version() const {
  const size_t version = functions_.version();  // 10000 * major + 100 * minor + patch
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

RivalWeights::RivalWeights(const RivalLibrary& library, RivalKind kind, int64_t n, int64_t k,
                           const HostRows& rows)
    : library_(&library), kind_(kind), n_(n), k_(k) {
  Device& device = library.engine().device();
  const auto bytes = static_cast<size_t>(n * k * element_bytes(kind));
  const std::vector<uint8_t> host = drawn_weights(kind, bytes);
  const int copies = automatic_copies(device.info(), bytes);
  for (int i = 0; i < copies; ++i) {
    weights_.emplace_back(device, bytes);
    device.upload(weights_.back().get(), host.data(), bytes);
  }
  const int64_t padded = (rows.m + kRowGranule - 1) / kRowGranule * kRowGranule;
  rows_ = Buffer(device, static_cast<size_t>(padded * k * element_bytes(kind)));
  y_ = Buffer(device, static_cast<size_t>(padded * n * 2));
  workspace_ = Buffer(device, kWorkspaceBytes);
  one_ = Buffer(device, 256);
  device.fill(rows_.get(), 0, rows_.bytes(), nullptr);
  device.synchronize(nullptr);
  const float one = 1;
  device.upload(one_.get(), &one, sizeof(one));
  if (kind == RivalKind::kBf16) {
    device.upload(rows_.get(), rows.data.data(), rows.data.size());
    return;
  }
  const Buffer x(device, rows.data.size());
  const Buffer scales(device, static_cast<size_t>(rows.m) * 4);
  device.upload(x.get(), rows.data.data(), rows.data.size());
  QuantizeCall quantize;
  quantize.m = rows.m;
  quantize.k = k;
  quantize.x = x.get();
  quantize.ldx = rows.ld;
  quantize.xq = rows_.get<uint8_t>();
  quantize.scales = scales.get<float>();
  library.engine().quantize(quantize);
  device.synchronize(nullptr);
}

// cuBLASLt's matrices are column-major: our weight [N][K] is its K x N, to be transposed, our rows
// [M][K] its K x M, our output [M][N] its N x M.
RivalProduct::RivalProduct(RivalWeights& weights, int64_t m) : weights_(&weights), rows_(m) {
  const CudaScope scope(cuda_device(weights.library().engine()).context());
  try {
    if (!describe(m)) {
      constexpr int64_t kGranule = RivalWeights::kRowGranule;
      const int64_t padded = (m + kGranule - 1) / kGranule * kGranule;
      release();
      if (padded == m || !describe(padded)) {
        throw Error(RADIANCE_UNSUPPORTED,
                    fmt::format("no algorithm for {}x{}", weights.n(), weights.k()));
      }
    }
    choose();
  } catch (const Error& error) {
    release();
    throw Error(error.status(), fmt::format("{} of {} rows: {}", name(), m, error.what()));
  }
}

RivalProduct::~RivalProduct() { release(); }

void RivalProduct::release() {
  const cublaslt::Library& l = weights_->library().functions();
  if (desc_ != nullptr) l.desc_destroy(desc_);
  for (cublaslt::MatrixLayout layout : {a_, b_, d_}) {
    if (layout != nullptr) l.layout_destroy(layout);
  }
  desc_ = nullptr;
  a_ = b_ = d_ = nullptr;
}

bool RivalProduct::describe(int64_t rows) {
  rows_ = rows;
  const cublaslt::Library& l = weights_->library().functions();
  const auto check = [&](cublaslt::Status status) {
    cublaslt::check(l, status, "describing a product");
  };
  const auto n = static_cast<uint64_t>(weights_->n()), k = static_cast<uint64_t>(weights_->k());
  const auto m = static_cast<uint64_t>(rows);
  const int type = element_type(weights_->kind());
  check(l.desc_create(&desc_, cublaslt::kComputeF32, cublaslt::kF32));
  const int32_t transposed = cublaslt::kTransposed;
  check(l.desc_set(desc_, cublaslt::kTransposeA, &transposed, sizeof(transposed)));
  if (weights_->kind() == RivalKind::kFp8) {
    const float* one = weights_->one();
    const int8_t fast = 1;
    check(l.desc_set(desc_, cublaslt::kScalePointerA, &one, sizeof(one)));
    check(l.desc_set(desc_, cublaslt::kScalePointerB, &one, sizeof(one)));
    check(l.desc_set(desc_, cublaslt::kFastAccumulation, &fast, sizeof(fast)));
  }
  check(l.layout_create(&a_, type, k, n, weights_->k()));
  check(l.layout_create(&b_, type, k, m, weights_->k()));
  check(l.layout_create(&d_, cublaslt::kBf16, n, m, weights_->n()));
  cublaslt::Preference preference = nullptr;
  check(l.preference_create(&preference));
  const size_t workspace = RivalWeights::kWorkspaceBytes;
  named_.resize(kCandidates);
  int found = 0;
  cublaslt::Status status =
      l.preference_set(preference, cublaslt::kMaxWorkspaceBytes, &workspace, sizeof(workspace));
  if (status == 0) {
    // It answers "not supported" where it has none.
    const cublaslt::Status answer = l.heuristic(weights_->library().handle(), desc_, a_, b_, d_, d_,
                                                preference, kCandidates, named_.data(), &found);
    if (answer != 0) found = 0;
  }
  l.preference_destroy(preference);
  check(status);
  named_.resize(static_cast<size_t>(found));
  return found > 0;
}

cublaslt::Status RivalProduct::multiply(const cublaslt::Algorithm& algorithm, StreamHandle stream) {
  const CudaScope scope(cuda_device(weights_->library().engine()).context());
  const float alpha = 1, beta = 0;
  return weights_->library().functions().matmul(
      weights_->library().handle(), desc_, &alpha, weights_->next(), a_, weights_->rows(), b_,
      &beta, weights_->y(), d_, weights_->y(), d_, &algorithm, weights_->workspace(),
      RivalWeights::kWorkspaceBytes, stream);
}

void RivalProduct::choose() {
  Device& device = weights_->library().engine().device();
  double best = std::numeric_limits<double>::infinity();
  for (const cublaslt::Candidate& candidate : named_) {
    if (candidate.state != 0) continue;
    const cublaslt::Status status = multiply(candidate.algorithm, nullptr);
    // Replays are on another stream, and the workspace holds counters of a split K.
    device.synchronize(nullptr);
    if (status != 0) continue;
    const double us = replayed_us(device, [&](StreamHandle stream) {
      cublaslt::check(weights_->library().functions(), multiply(candidate.algorithm, stream),
                      "multiplying");
    });
    ++candidates_;
    if (us >= best) continue;
    best = us;
    chosen_ = candidate.algorithm;
  }
  if (candidates_ == 0) {
    throw Error(RADIANCE_UNSUPPORTED, fmt::format("none of the {} algorithms named for {}x{} runs",
                                                  named_.size(), weights_->n(), weights_->k()));
  }
}

Contestant RivalProduct::contestant() {
  Contestant result;
  result.name = fmt::format("{} of {} rows", name(), rows_);
  result.call = [this](StreamHandle stream) {
    cublaslt::check(weights_->library().functions(), multiply(chosen_, stream), "multiplying");
  };
  result.copies = weights_->copies();
  return result;
}

}  // namespace radiance::lab
