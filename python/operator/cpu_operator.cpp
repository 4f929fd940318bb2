// torch.ops.radiance.packed_linear on the CPU without a line of Python: 2 us beyond the C call
// where the kernel in Python (radiance_autoround/op.py) takes 6 and more.
//
// torch calls it through its stable C interface, whose functions are found at run time: nothing is
// linked against torch, and where this torch has no such interface the kernel in Python serves.
// That one also gets every call which is not the plain case, so that each check and each sentence
// of an error exists once.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "radiance/radiance.h"

namespace {

// ---- torch/csrc/inductor/aoti_torch/c/shim.h, as far as it is needed ----

using Tensor = struct AtenTensorOpaque*;
using Library = struct TorchLibraryOpaque*;
using Value =
    uint64_t;  // StableIValue: an integer, or a Tensor, or a pointer to an optional's Value
using Kernel = void (*)(Value* stack, uint64_t arguments, uint64_t results);

struct Torch {
  int32_t (*library_init_impl)(const char* space, const char* key, const char* file, uint32_t line,
                               Library* made);
  int32_t (*library_impl)(Library library, const char* name, Kernel kernel);
  int32_t (*get_data_ptr)(Tensor tensor, void** pointer);
  int32_t (*get_dtype)(Tensor tensor, int32_t* dtype);
  int32_t (*get_dim)(Tensor tensor, int64_t* dimensions);
  int32_t (*get_numel)(Tensor tensor, int64_t* elements);
  int32_t (*get_sizes)(Tensor tensor, int64_t** sizes);
  int32_t (*get_strides)(Tensor tensor, int64_t** strides);
  int32_t (*is_contiguous)(Tensor tensor, bool* contiguous);
  int32_t (*empty_strided)(int64_t dimensions, const int64_t* sizes, const int64_t* strides,
                           int32_t dtype, int32_t device_type, int32_t device_index, Tensor* made);
  int32_t (*delete_tensor_object)(Tensor tensor);
  void (*check)(bool holds, const char* function, const char* file, uint32_t line,
                const char* sentence);
  int32_t (*device_type_cpu)();
  int32_t (*dtype_bfloat16)();
  int32_t (*dtype_float16)();
  int32_t (*dtype_float32)();
  int32_t (*dtype_uint8)();
};

// Python's kernel: takes the tensors over, returns a new one, or null and a sentence.
using Fallback = Tensor (*)(Tensor x, Tensor packed, int64_t n, Tensor bias, char* sentence,
                            size_t bytes);

constinit Torch torch{};
constinit Fallback fallback = nullptr;
constinit int32_t cpu = 0, bf16 = 0, f16 = 0, f32 = 0, u8 = 0;

// ---- the weights ----

struct Known {
  size_t bytes;
  radiance_device* device;
  const radiance_linear* linear;
  int64_t n, k;
  std::atomic<uint64_t> calls{0}, rows{0};
  std::atomic<size_t> workspace_bytes[32]{};  // for up to 2^i rows
};

// Calls hold the lock shared, so that a weight is forgotten between calls, never during one.
struct Table {
  std::shared_mutex mutex;
  std::unordered_map<const void*, Known> weights;
};

// Never destroyed: calls may come until the process ends.
alignas(Table) constinit unsigned char table_memory[sizeof(Table)]{};
Table& table() { return *std::launder(reinterpret_cast<Table*>(table_memory)); }

// ---- scratch: a thread is a stream ----

constinit std::atomic<uint64_t> forks{0};

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { free(); }

  bool fit(radiance_device* device, size_t bytes) {
    const uint64_t now = forks.load(std::memory_order_relaxed);
    if (pointer_ != nullptr && bytes_ >= bytes && forks_ == now) return true;
    free();
    forks_ = now;
    if (radiance_device_alloc(device, bytes, &pointer_) != RADIANCE_OK) {
      pointer_ = nullptr;
      return false;
    }
    device_ = device;
    bytes_ = bytes;
    return radiance_workspace_init(device, pointer_, bytes, nullptr) == RADIANCE_OK;
  }

  void* pointer() const { return pointer_; }
  size_t bytes() const { return bytes_; }

 private:
  void free() {
    // A forked child leaves its parent's device alone: threads that it counts on are not here.
    if (pointer_ != nullptr && forks_ == forks.load(std::memory_order_relaxed)) {
      radiance_device_free(device_, pointer_);
    }
    pointer_ = nullptr;
  }

  radiance_device* device_ = nullptr;
  void* pointer_ = nullptr;
  size_t bytes_ = 0;
  uint64_t forks_ = 0;
};

thread_local Scratch scratch;

// ---- the operator ----

constexpr int64_t kMostDimensions = 8;

radiance_dtype dtype_of(Tensor tensor) {
  int32_t dtype = 0;
  torch.get_dtype(tensor, &dtype);
  if (dtype == bf16) return RADIANCE_BF16;
  if (dtype == f16) return RADIANCE_F16;
  return dtype == f32 ? RADIANCE_F32 : radiance_dtype{};
}

// Bytes for m rows, rounded up to a power of two so that a few sizes serve all calls; 0 if unknown.
size_t workspace_bytes(Known& weight, int64_t m) {
  const int power = std::bit_width(static_cast<uint64_t>(m - 1));
  if (power >= 31) return 0;
  size_t bytes = weight.workspace_bytes[power].load(std::memory_order_relaxed);
  if (bytes == 0 &&
      radiance_workspace_bytes(weight.linear, int64_t{1} << power, &bytes) == RADIANCE_OK) {
    weight.workspace_bytes[power].store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

// Fills in rows and their distance if x is rows of k of a dtype that the library takes.
bool describe_rows(Tensor x, int64_t k, radiance_forward_args& args, int64_t& dimensions,
                   int64_t*& sizes) {
  args.x_dtype = dtype_of(x);
  if (args.x_dtype == radiance_dtype{} || torch.get_dim(x, &dimensions) != 0 || dimensions < 1 ||
      dimensions > kMostDimensions || torch.get_sizes(x, &sizes) != 0 ||
      sizes[dimensions - 1] != k) {
    return false;
  }
  args.m = 1;
  for (int64_t i = 0; i + 1 < dimensions; ++i) args.m *= sizes[i];
  args.ldx = k;
  bool contiguous = false;
  if (args.m == 0 || torch.is_contiguous(x, &contiguous) != 0) return false;
  if (!contiguous) {
    int64_t* strides = nullptr;
    if (dimensions != 2 || torch.get_strides(x, &strides) != 0 || strides[1] != 1 ||
        strides[0] < k) {
      return false;
    }
    args.ldx = strides[0];
  }
  void* pointer = nullptr;
  torch.get_data_ptr(x, &pointer);
  args.x = pointer;
  return true;
}

bool describe_bias(Tensor bias, int64_t n, radiance_forward_args& args) {
  if (bias == nullptr) return true;
  int64_t dimensions = 0, elements = 0;
  bool contiguous = false;
  void* pointer = nullptr;
  args.bias_dtype = dtype_of(bias);
  torch.get_dim(bias, &dimensions);
  torch.get_numel(bias, &elements);
  torch.is_contiguous(bias, &contiguous);
  torch.get_data_ptr(bias, &pointer);
  args.bias = pointer;
  return args.bias_dtype != radiance_dtype{} && dimensions == 1 && elements == n && contiguous;
}

Tensor empty_rows(int64_t dimensions, const int64_t* sizes, int64_t n, int32_t dtype) {
  int64_t shape[kMostDimensions], strides[kMostDimensions];
  int64_t stride = 1;
  for (int64_t i = dimensions - 1; i >= 0; --i) {
    shape[i] = i + 1 == dimensions ? n : sizes[i];
    strides[i] = stride;
    stride *= shape[i];
  }
  Tensor made = nullptr;
  return torch.empty_strided(dimensions, shape, strides, dtype, cpu, -1, &made) == 0 ? made
                                                                                     : nullptr;
}

// The plain case; null for every other, of which nothing was computed.
Tensor directly(Tensor x, Tensor packed, int64_t n, Tensor bias) {
  void* pointer = nullptr;
  int32_t dtype = 0;
  int64_t bytes = 0;
  torch.get_data_ptr(packed, &pointer);
  torch.get_numel(packed, &bytes);
  torch.get_dtype(packed, &dtype);
  const std::shared_lock lock(table().mutex);
  const auto found = table().weights.find(pointer);
  if (found == table().weights.end()) return nullptr;
  Known& weight = found->second;
  if (weight.n != n || weight.bytes != static_cast<size_t>(bytes) || dtype != u8) return nullptr;

  radiance_forward_args args{};
  args.struct_size = sizeof(args);
  int64_t dimensions = 0;
  int64_t* sizes = nullptr;
  if (!describe_rows(x, weight.k, args, dimensions, sizes) || !describe_bias(bias, n, args))
    return nullptr;
  const size_t needed = workspace_bytes(weight, args.m);
  if (needed == 0 || !scratch.fit(weight.device, needed)) return nullptr;
  args.workspace = scratch.pointer();
  args.workspace_bytes = scratch.bytes();

  int32_t x_dtype = 0;
  torch.get_dtype(x, &x_dtype);
  Tensor y = empty_rows(dimensions, sizes, n, x_dtype);
  if (y == nullptr) return nullptr;
  torch.get_data_ptr(y, &args.y);
  args.y_dtype = args.x_dtype;
  if (radiance_forward(weight.linear, &args) != RADIANCE_OK) {
    torch.delete_tensor_object(y);
    return nullptr;
  }
  weight.calls.fetch_add(1, std::memory_order_relaxed);
  weight.rows.fetch_add(static_cast<uint64_t>(args.m), std::memory_order_relaxed);
  return y;
}

// packed_linear(Tensor x, Tensor packed, SymInt n, Tensor? bias=None) -> Tensor. The arguments are
// ours.
void packed_linear(Value* stack, uint64_t /*arguments*/, uint64_t /*results*/) {
  const auto x = reinterpret_cast<Tensor>(stack[0]), packed = reinterpret_cast<Tensor>(stack[1]);
  const auto n = static_cast<int64_t>(stack[2]);
  Tensor bias = nullptr;
  if (auto* optional = reinterpret_cast<Value*>(stack[3])) {
    bias = reinterpret_cast<Tensor>(*optional);
    delete optional;
  }
  Tensor y = directly(x, packed, n, bias);
  if (y != nullptr) {
    torch.delete_tensor_object(x);
    torch.delete_tensor_object(packed);
    if (bias != nullptr) torch.delete_tensor_object(bias);
  } else {
    char sentence[2048] = "";
    y = fallback(x, packed, n, bias, sentence, sizeof(sentence));
    // Raises RuntimeError: nothing of this frame needs to be undone.
    if (y == nullptr) torch.check(false, "packed_linear", __FILE__, __LINE__, sentence);
  }
  stack[0] = reinterpret_cast<Value>(y);
}

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool find_torch() {
  // Loaded with its names kept to itself.
  void* library = dlopen("libtorch_cpu.so", RTLD_NOW | RTLD_NOLOAD);
  return library != nullptr &&
         find(library, "aoti_torch_library_init_impl", torch.library_init_impl) &&
         find(library, "aoti_torch_library_impl", torch.library_impl) &&
         find(library, "aoti_torch_get_data_ptr", torch.get_data_ptr) &&
         find(library, "aoti_torch_get_dtype", torch.get_dtype) &&
         find(library, "aoti_torch_get_dim", torch.get_dim) &&
         find(library, "aoti_torch_get_numel", torch.get_numel) &&
         find(library, "aoti_torch_get_sizes", torch.get_sizes) &&
         find(library, "aoti_torch_get_strides", torch.get_strides) &&
         find(library, "aoti_torch_is_contiguous", torch.is_contiguous) &&
         find(library, "aoti_torch_empty_strided", torch.empty_strided) &&
         find(library, "aoti_torch_delete_tensor_object", torch.delete_tensor_object) &&
         find(library, "aoti_torch_check", torch.check) &&
         find(library, "aoti_torch_device_type_cpu", torch.device_type_cpu) &&
         find(library, "aoti_torch_dtype_bfloat16", torch.dtype_bfloat16) &&
         find(library, "aoti_torch_dtype_float16", torch.dtype_float16) &&
         find(library, "aoti_torch_dtype_float32", torch.dtype_float32) &&
         find(library, "aoti_torch_dtype_uint8", torch.dtype_uint8);
}

}  // namespace

// ---- what Python calls ----

extern "C" {

// Registers the operator's kernel for CPU tensors; false if this torch has not what that needs.
RADIANCE_API bool radiance_torch_start(Fallback python) {
  if (!find_torch()) return false;
  new (table_memory) Table;
  fallback = python;
  cpu = torch.device_type_cpu();
  bf16 = torch.dtype_bfloat16();
  f16 = torch.dtype_float16();
  f32 = torch.dtype_float32();
  u8 = torch.dtype_uint8();
  Library library = nullptr;  // lives as long as the process
  return torch.library_init_impl("radiance", "CPU", __FILE__, __LINE__, &library) == 0 &&
         torch.library_impl(library, "packed_linear", packed_linear) == 0;
}

// Memory that will be dropped before it is freed.
RADIANCE_API void radiance_torch_add(const void* packed, size_t bytes, radiance_device* device,
                                     const radiance_linear* linear, int64_t n, int64_t k) {
  const std::unique_lock lock(table().mutex);
  table().weights.erase(packed);
  Known& weight = table().weights[packed];
  weight.bytes = bytes;
  weight.device = device;
  weight.linear = linear;
  weight.n = n;
  weight.k = k;
}

// linear: only if it is this one; null: whichever it is.
RADIANCE_API void radiance_torch_drop(const void* packed, const radiance_linear* linear) {
  const std::unique_lock lock(table().mutex);
  const auto found = table().weights.find(packed);
  if (found == table().weights.end() || (linear != nullptr && found->second.linear != linear))
    return;
  table().weights.erase(found);
}

// Adds a weight's calls and rows since they were last taken, and begins anew.
RADIANCE_API void radiance_torch_take_counts(const void* packed, uint64_t* calls, uint64_t* rows) {
  const std::shared_lock lock(table().mutex);
  const auto found = table().weights.find(packed);
  if (found == table().weights.end()) return;
  *calls += found->second.calls.exchange(0);
  *rows += found->second.rows.exchange(0);
}

// In the child: the lock may be held by a thread that is not here, and the devices are the
// parent's.
RADIANCE_API void radiance_torch_after_fork() {
  new (table_memory) Table;
  forks.fetch_add(1);
}

}  // extern "C"
