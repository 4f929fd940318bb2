#include "runtime/emulator_path.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

namespace radiance {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libamdhip64.so.7";

// The folder of the library or program that holds this function.
fs::path own_folder() {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&emulator_paths), &info, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) == 0) {
    return {};
  }
  // The program itself has no name there, and dli_fname is what it was called by.
  const bool is_program = map == nullptr || map->l_name[0] == '\0';
  std::error_code error;
  const fs::path path = fs::canonical(is_program ? "/proc/self/exe" : map->l_name, error);
  return error ? fs::path{} : path.parent_path();
}

}  // namespace

std::vector<std::string> emulator_paths() {
  const fs::path own = own_folder();
  const fs::path parent = own.parent_path();
  std::vector<std::string> paths;
  for (const fs::path& folder :
       {own / "radiance" / "emulator", parent / RADIANCE_LIBDIR / "radiance" / "emulator",
        parent / "emulator" / "hip", parent.parent_path() / "emulator" / "hip"}) {
    paths.push_back((folder / kLibrary).string());
  }
  return paths;
}

}  // namespace radiance
