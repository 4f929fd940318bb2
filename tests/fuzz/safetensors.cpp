// The header of a safetensors file: any bytes are either refused with an Error, or describe tensors
// that lie within the file, one after the other.
#include "checkpoint/safetensors.hpp"

#include <cstdlib>

#include "radiance/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto header = radiance::parse_safetensors_header({data, size}, size, "input");
    uint64_t end = header.tensors.empty() ? size : header.tensors.front().begin;
    for (const auto& tensor : header.tensors) {
      if (tensor.begin != end || tensor.end < tensor.begin || tensor.end > size) std::abort();
      uint64_t bytes = static_cast<uint64_t>(radiance::dtype_bytes(tensor.dtype));
      for (const int64_t extent : tensor.shape) bytes *= static_cast<uint64_t>(extent);
      if (bytes != tensor.bytes()) std::abort();
      end = tensor.end;
    }
    if (end != size) std::abort();
  } catch (const radiance::Error&) {
  }
  return 0;
}
