// What others offer for the same layer on the same card: cuBLASLt's products of fp8 and of bf16
// weights, timed in the loop of ours.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/cublaslt.hpp"
#include "lab/inputs.hpp"
#include "lab/interleaved.hpp"

namespace radiance::lab {

enum class RivalKind {
  kFp8,   // e4m3 weights and activations with one scale each, bf16 out, fast accumulation
  kBf16,  // bf16 weights and activations, bf16 out
};

const char* rival_name(RivalKind kind);

// Throws Error with a sentence where the rivals cannot run: another device than cuda:N, or no
// cuBLASLt.
class RivalLibrary {
 public:
  explicit RivalLibrary(const Engine& engine);
  ~RivalLibrary();
  RivalLibrary(const RivalLibrary&) = delete;
  RivalLibrary& operator=(const RivalLibrary&) = delete;

  const Engine& engine() const { return *engine_; }
  const cublaslt::Library& functions() const { return functions_; }
  cublaslt::Handle handle() const { return handle_; }
  std::string version() const;  // "13.1.0"

 private:
  const Engine* engine_;
  cublaslt::Library functions_;
  cublaslt::Handle handle_ = nullptr;
};

// A weight of N x K in copies past the last cache, activations for max_m rows, an output.
class RivalWeights {
 public:
  // rows: bf16, max_m of them; the fp8 rival gets them as our quantizer gives them.
  RivalWeights(const RivalLibrary& library, RivalKind kind, int64_t n, int64_t k,
               const HostRows& rows);

  RivalKind kind() const { return kind_; }
  const RivalLibrary& library() const { return *library_; }
  int copies() const { return static_cast<int>(weights_.size()); }
  int64_t n() const { return n_; }
  int64_t k() const { return k_; }
  const void* next() { return weights_[at_ = (at_ + 1) % weights_.size()].get(); }
  const void* rows() const { return rows_.get(); }
  void* y() const { return y_.get(); }
  void* workspace() const { return workspace_.get(); }
  const float* one() const { return one_.get<float>(); }

  static constexpr size_t kWorkspaceBytes = size_t{64} << 20;
  static constexpr int64_t kRowGranule = 16;  // rows are there up to a multiple of it

 private:
  const RivalLibrary* library_;
  RivalKind kind_;
  int64_t n_, k_;
  std::vector<Buffer> weights_;
  Buffer rows_, y_, workspace_, one_;
  size_t at_ = 0;
};

// The product for m rows, by the fastest of the algorithms that cuBLASLt's heuristic names first,
// which are timed here as replayed graphs. fp8 may refuse a number of rows: then it gets as many as
// the next multiple of 16 has, as a user of it would pad.
class RivalProduct {
 public:
  static constexpr int kCandidates = 8;

  RivalProduct(RivalWeights& weights, int64_t m);
  ~RivalProduct();
  RivalProduct(const RivalProduct&) = delete;
  RivalProduct& operator=(const RivalProduct&) = delete;

  // Borrows this.
  Contestant contestant();
  const char* name() const { return rival_name(weights_->kind()); }
  int candidates() const { return candidates_; }  // that ran
  int64_t rows() const { return rows_; }          // m, or what it was padded to

 private:
  bool describe(int64_t rows);  // whether there are algorithms for so many
  cublaslt::Status multiply(const cublaslt::Algorithm& algorithm, StreamHandle stream);
  void choose();
  void release();

  RivalWeights* weights_;
  int64_t rows_;
  cublaslt::MatmulDesc desc_ = nullptr;
  cublaslt::MatrixLayout a_ = nullptr, b_ = nullptr, d_ = nullptr;
  std::vector<cublaslt::Candidate> named_;
  cublaslt::Algorithm chosen_{};
  int candidates_ = 0;
};

}  // namespace radiance::lab
