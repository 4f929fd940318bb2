#include "lab/cublaslt.hpp"

#include <dlfcn.h>

#include "radiance/error.hpp"

namespace radiance::lab::cublaslt {

namespace {

template <typename Function>
void find(void* library, const std::string& library_name, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) {
    throw Error(RADIANCE_NO_DEVICE, library_name + " is not a cuBLASLt: it lacks " + name);
  }
}

}  // namespace

Library load(const std::vector<std::string>& names) {
  void* handle = nullptr;
  std::string all, found;
  for (const std::string& name : names) {
    all += (all.empty() ? "" : " or ") + name;
    if (handle != nullptr) continue;
    handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    found = name;
  }
  if (handle == nullptr) {
    throw Error(RADIANCE_NO_DEVICE, "cuBLASLt (" + all +
                                        ") is not here: install it, or name its folder in "
                                        "LD_LIBRARY_PATH, or leave the rivals out");
  }
  Library l{};
  const auto look = [&](const char* name, auto* function) { find(handle, found, name, function); };
  look("cublasLtGetVersion", &l.version);
  look("cublasLtGetStatusString", &l.status_string);
  look("cublasLtCreate", &l.create);
  look("cublasLtDestroy", &l.destroy);
  look("cublasLtMatmulDescCreate", &l.desc_create);
  look("cublasLtMatmulDescDestroy", &l.desc_destroy);
  look("cublasLtMatmulDescSetAttribute", &l.desc_set);
  look("cublasLtMatrixLayoutCreate", &l.layout_create);
  look("cublasLtMatrixLayoutDestroy", &l.layout_destroy);
  look("cublasLtMatmulPreferenceCreate", &l.preference_create);
  look("cublasLtMatmulPreferenceDestroy", &l.preference_destroy);
  look("cublasLtMatmulPreferenceSetAttribute", &l.preference_set);
  look("cublasLtMatmulAlgoGetHeuristic", &l.heuristic);
  look("cublasLtMatmul", &l.matmul);
  return l;
}

void check(const Library& library, Status status, const char* doing) {
  if (status == 0) return;
  const char* text = library.status_string(status);
  throw Error(RADIANCE_DEVICE_ERROR, std::string("cuBLASLt, ") + doing + ": " +
                                         (text != nullptr ? text : std::to_string(status)));
}

}  // namespace radiance::lab::cublaslt
