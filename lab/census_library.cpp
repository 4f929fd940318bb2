#include "lab/census_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "census/library.hpp"
#include "radiance/error.hpp"
#if RADIANCE_HAVE_GFX1201
#include "kernels/gfx1201/code_objects.hpp"
#endif

namespace radiance::lab {

namespace fs = std::filesystem;

namespace {

constexpr const char* kLibrary = "libradiance_census.so";

template <typename Function>
void find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  if (*function == nullptr) {
    throw Error(RADIANCE_UNSUPPORTED, std::string("the census library has no ") + name);
  }
}

}  // namespace

void CensusLibrary::Close::operator()(void* library) const { dlclose(library); }

std::vector<std::string> CensusLibrary::paths() {
  if (const char* named = std::getenv("RADIANCE_CENSUS")) return {named};
  std::error_code error;
  const fs::path own = fs::canonical("/proc/self/exe", error).parent_path();
  std::vector<std::string> paths;
  for (const fs::path& folder :
       {own, own.parent_path() / RADIANCE_LIBDIR, own.parent_path() / "census",
        own.parent_path().parent_path() / "census"}) {
    paths.push_back((folder / kLibrary).string());
  }
  return paths;
}

CensusLibrary::CensusLibrary() {
  std::string places;
  for (const std::string& path : paths()) {
    library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (library_) break;
    // What is there but cannot be loaded has a reason to tell.
    const char* reason = fs::exists(path) ? dlerror() : nullptr;
    places += (places.empty() ? "" : ", ") + (reason != nullptr ? std::string(reason) : path);
  }
  if (!library_) {
    throw Error(RADIANCE_UNSUPPORTED,
                "the census needs libradiance_census, which is not here: " + places);
  }
  int (*version)() = nullptr;
  find(library_.get(), "radiance_census_version", &version);
  if (version() != kRadianceCensusVersion) {
    throw Error(RADIANCE_UNSUPPORTED, "the census library is of version " +
                                          std::to_string(version()) + ", not " +
                                          std::to_string(kRadianceCensusVersion));
  }
  find(library_.get(), "radiance_census_take", &take_);
  find(library_.get(), "radiance_census_free", &free_);
}

nlohmann::json CensusLibrary::take(std::span<const uint8_t> code_object) const {
  char* raw = nullptr;
  const int status = take_(code_object.data(), code_object.size(), &raw);
  const std::string text = raw != nullptr ? raw : "out of memory";
  free_(raw);
  if (status != 0) throw Error(RADIANCE_BAD_INPUT, text);
  return nlohmann::json::parse(text);
}

#if RADIANCE_HAVE_GFX1201
// The configurations that launch a kernel of this build, by its name; empty for one that is no
// product.
static std::string configs_of(std::string_view name) {
  for (const std::string_view format : {"autoround_", "mxfp4_"}) {
    if (name.starts_with(format)) name.remove_prefix(format.size());
  }
  constexpr std::string_view kSplit = "_split";
  // The weight chooses between a kernel and these of its kin: blocks that MXFP4 could not fold,
  // groups of 64 or 32.
  for (const std::string_view kin : {"_blocks", "_g64", "_g32"}) {
    if (name.ends_with(kin)) name.remove_suffix(kin.size());
  }
  if (name == "general") return "general";
  const bool ablation = name.starts_with("ablate_");
  if (!ablation && !name.starts_with("decode_") && !name.starts_with("prefill_")) return "";
  const bool split = name.ends_with(kSplit);
  if (split) name.remove_suffix(kSplit.size());
  std::string config(name);
  // An ablation is ablate/decode/r1/ and then a name of its own, with underscores.
  for (size_t i = 0, slashes = 0; i < config.size(); ++i) {
    if (config[i] == '_' && (!ablation || slashes++ < 3)) config[i] = '/';
  }
  if (!config.starts_with("decode/")) return config;
  return split ? config + "/s2 " + config + "/s4" : config + "/s1";
}
#endif

nlohmann::json take_embedded_census(const CensusLibrary& library) {
#if RADIANCE_HAVE_GFX1201
  nlohmann::json kernels = nlohmann::json::array();
  std::string compiler;
  for (const gfx1201::CodeObject& object : gfx1201::code_objects()) {
    const nlohmann::json census = library.take(object.bytes);
    for (nlohmann::json kernel : census.at("kernels")) {
      kernel["source"] = object.name;
      kernel["config"] = configs_of(kernel.at("name").get<std::string>());
      kernels.push_back(std::move(kernel));
    }
    compiler = census.at("device_compiler").get<std::string>();
  }
  return {{"kernels", std::move(kernels)}, {"device_compiler", compiler}};
#else
  (void)library;
  throw Error(
      RADIANCE_UNSUPPORTED,
      "no gfx1201 kernels are embedded: this build was configured without clang 22 or ROCm's "
      "clang; give a code object as a file");
#endif
}

}  // namespace radiance::lab
