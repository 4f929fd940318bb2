#include "checkpoint/quantize_weight.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>

#include "checkpoint/failure.hpp"
#include "checkpoint/float_tensor.hpp"
#include "numerics/int4.hpp"

namespace radiance {

namespace {

// Rows worked on together. Sixteen neighbouring n fill a cache line of the [k / 8][n] words.
constexpr int64_t kRows = 16;

constexpr uint32_t kZeroWord = 0x77777777u;  // zero - 1 = 7 in every nibble

// Row `n` of the matrix, as floats.
void read_row(const FloatMatrix& weight, int64_t n, std::vector<float>& row) {
  const auto row_bytes =
      static_cast<size_t>(weight.k) * static_cast<size_t>(dtype_bytes(weight.dtype));
  convert_to_float(weight.dtype,
                   weight.bytes.subspan(static_cast<size_t>(n) * row_bytes, row_bytes), row);
}

[[noreturn]] void throw_fault(const FloatMatrix& weight, int64_t n, RowFault fault) {
  if (fault == RowFault::kOverflow) {
    bad_input("row {} has an absolute maximum whose scale overflows fp16", n);
  }
  std::vector<float> row(static_cast<size_t>(weight.k));
  read_row(weight, n, row);
  const auto bad = std::find_if(row.begin(), row.end(), [](float x) { return !std::isfinite(x); });
  bad_input("element [{}][{}] is {}, supported are finite weights", n, bad - row.begin(), *bad);
}

// Calls work(first row, past the last row, error) -> (row, fault) for blocks of kRows rows, over
// `threads` threads, and adds the errors in the order of the rows: the sum does not depend on who
// did what.
template <typename MakeWork>
WeightError for_row_blocks(const FloatMatrix& weight, int threads, MakeWork make_work) {
  const int64_t blocks = (weight.n + kRows - 1) / kRows;
  std::vector<WeightError> errors(static_cast<size_t>(blocks));
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> bad_row{weight.n};  // the first
  const auto run = [&] {
    auto work = make_work();
    for (int64_t block = next++; block < blocks; block = next++) {
      const int64_t end = std::min(weight.n, (block + 1) * kRows);
      for (int64_t n = block * kRows; n < end; ++n) {
        const RowFault fault = work.row(n, n - block * kRows, errors[static_cast<size_t>(block)]);
        if (fault == RowFault::kNone) continue;
        int64_t seen = bad_row;
        while (n < seen && !bad_row.compare_exchange_weak(seen, n)) {
        }
        return;  // blocks are taken in order: no earlier row is left to others' later blocks
      }
      work.finish(block * kRows, end);
    }
  };
  std::vector<std::thread> pool;
  for (int i = 1; i < threads && i < blocks; ++i) pool.emplace_back(run);
  run();
  for (std::thread& thread : pool) thread.join();
  if (bad_row < weight.n) {
    auto work = make_work();
    WeightError ignored;
    throw_fault(weight, bad_row, work.row(bad_row, 0, ignored));
  }
  WeightError sum;
  for (const WeightError& error : errors) sum.add(error);
  return sum;
}

// Eight codes, one a byte, to a word of nibbles.
uint32_t pack_word(const uint8_t* codes) {
  uint64_t x;
  std::memcpy(&x, codes, sizeof(x));
  x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
  x = (x | x >> 8) & 0x0000ffff0000ffffu;
  return static_cast<uint32_t>(x | x >> 16);
}

class Int4Work {
 public:
  Int4Work(const FloatMatrix& weight, int64_t group, QuantizedInt4& out)
      : weight_(weight),
        group_(group),
        groups_((weight.k + group - 1) / group),
        out_(out),
        row_(static_cast<size_t>(weight.k)),
        codes_(static_cast<size_t>(kRows * weight.k)),
        scales_(static_cast<size_t>(kRows * groups_)) {}

  RowFault row(int64_t n, int64_t slot, WeightError& error) {
    read_row(weight_, n, row_);
    return round_row_int4(row_, group_, codes_.data() + slot * weight_.k,
                          scales_.data() + slot * groups_, error);
  }

  // Transposes the block into place, a cache line at a time.
  void finish(int64_t begin, int64_t end) {
    for (int64_t word = 0; word < weight_.k / kCodesPerWord; ++word) {
      uint32_t* to = out_.qweight.data() + word * weight_.n + begin;
      const uint8_t* from = codes_.data() + word * kCodesPerWord;
      for (int64_t slot = 0; slot < end - begin; ++slot)
        to[slot] = pack_word(from + slot * weight_.k);
    }
    for (int64_t g = 0; g < groups_; ++g) {
      uint16_t* to = out_.scales.data() + g * weight_.n + begin;
      for (int64_t slot = 0; slot < end - begin; ++slot)
        to[slot] = scales_[static_cast<size_t>(slot * groups_ + g)];
    }
  }

 private:
  const FloatMatrix& weight_;
  int64_t group_;
  int64_t groups_;
  QuantizedInt4& out_;
  std::vector<float> row_;
  std::vector<uint8_t> codes_;    // [kRows][k]
  std::vector<uint16_t> scales_;  // [kRows][groups]
};

class Mxfp4Work {
 public:
  Mxfp4Work(const FloatMatrix& weight, QuantizedMxfp4& out)
      : weight_(weight),
        out_(out),
        row_(static_cast<size_t>(weight.k)),
        codes_(static_cast<size_t>(weight.k)) {}

  RowFault row(int64_t n, int64_t, WeightError& error) {
    read_row(weight_, n, row_);
    const RowFault fault = round_row_mxfp4(row_, codes_.data(),
                                           out_.weight_scale.data() + n * (weight_.k / 32), error);
    uint8_t* to = out_.weight_packed.data() + n * (weight_.k / 2);
    for (int64_t i = 0; i < weight_.k / 2; ++i) {
      to[i] = static_cast<uint8_t>(codes_[static_cast<size_t>(2 * i)] |
                                   codes_[static_cast<size_t>(2 * i + 1)] << 4);
    }
    return fault;
  }
  void finish(int64_t, int64_t) {}

 private:
  const FloatMatrix& weight_;
  QuantizedMxfp4& out_;
  std::vector<float> row_;
  std::vector<uint8_t> codes_;
};

}  // namespace

QuantizedInt4 quantize_int4(const FloatMatrix& weight, int64_t group, int threads) {
  const int64_t step = group == -1 ? weight.k : std::min(group, weight.k);
  const int64_t groups = (weight.k + step - 1) / step;
  QuantizedInt4 out;
  out.qweight.resize(static_cast<size_t>(weight.k / kCodesPerWord * weight.n));
  out.qzeros.assign(static_cast<size_t>(groups * (weight.n / kCodesPerWord)), kZeroWord);
  out.scales.resize(static_cast<size_t>(groups * weight.n));
  out.error = for_row_blocks(weight, threads, [&] { return Int4Work(weight, step, out); });
  return out;
}

QuantizedMxfp4 quantize_mxfp4(const FloatMatrix& weight, int threads) {
  QuantizedMxfp4 out;
  out.weight_packed.resize(static_cast<size_t>(weight.n * (weight.k / 2)));
  out.weight_scale.resize(static_cast<size_t>(weight.n * (weight.k / 32)));
  out.error = for_row_blocks(weight, threads, [&] { return Mxfp4Work(weight, out); });
  return out;
}

}  // namespace radiance
