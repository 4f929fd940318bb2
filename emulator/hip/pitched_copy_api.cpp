// Copies and fills of rows and of planes of rows.
#include <cstring>

#include "emulator/hip/copy.hpp"
#include "emulator/hip/errors.hpp"
#include "emulator/hip/stream.hpp"

namespace radiance::emulator::hip {
namespace {

// Rows of bytes in memory: where the first begins, and how far apart rows and planes are.
template <typename Byte>
struct Rows {
  Byte* first;
  size_t pitch, plane;

  Byte* row(size_t y, size_t z) const { return first + z * plane + y * pitch; }
};

void copy_rows(Rows<char> to, Rows<const char> from, Extent extent, int kind) {
  for (size_t z = 0; z < extent.depth; ++z) {
    for (size_t y = 0; y < extent.height; ++y) {
      copy_now(to.row(y, z), from.row(y, z), extent.width, kind);
    }
  }
}

bool empty(Extent extent) { return extent.width == 0 || extent.height == 0 || extent.depth == 0; }

// What a 2D copy is, checked.
std::function<void()> copy_2d(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, int kind) {
  require(to != nullptr && from != nullptr, kInvalidValue,
          "a copy's source or destination is null");
  require(width <= to_pitch && width <= from_pitch, kInvalidPitchValue,
          "a row is longer than its pitch");
  const Rows<char> rows_to{static_cast<char*>(to), to_pitch, 0};
  const Rows<const char> rows_from{static_cast<const char*>(from), from_pitch, 0};
  return [=] { copy_rows(rows_to, rows_from, {width, height, 1}, kind); };
}

// The rows of a pitched pointer from a position on.
template <typename Byte>
Rows<Byte> rows_of(const PitchedPointer& memory, const Position& at, const Extent& extent) {
  require(memory.pointer != nullptr, kInvalidValue, "a copy's source or destination is null");
  require(at.x + extent.width <= memory.pitch, kInvalidPitchValue,
          "a row is longer than its pitch");
  require(extent.depth == 1 || at.y + extent.height <= memory.height, kInvalidValue,
          "a plane has fewer rows than are copied");
  const size_t plane = memory.pitch * memory.height;
  return {static_cast<Byte*>(memory.pointer) + at.z * plane + at.y * memory.pitch + at.x,
          memory.pitch, plane};
}

std::function<void()> copy_3d(const Copy3DParameters& p) {
  require(p.source_array == nullptr && p.destination_array == nullptr, kNotSupported,
          "arrays, which are for images, are not supported");
  const auto from = rows_of<const char>(p.source, p.source_position, p.extent);
  const auto to = rows_of<char>(p.destination, p.destination_position, p.extent);
  return [to, from, extent = p.extent, kind = p.kind] { copy_rows(to, from, extent, kind); };
}

std::function<void()> fill_rows(const PitchedPointer& memory, int value, const Extent& extent) {
  const auto rows = rows_of<char>(memory, {}, extent);
  return [=] {
    for (size_t z = 0; z < extent.depth; ++z) {
      for (size_t y = 0; y < extent.height; ++y) {
        require_device(rows.row(y, z), extent.width, "destination");
        std::memset(rows.row(y, z), value, extent.width);
      }
    }
  };
}

}  // namespace

RADIANCE_HIP_EXPORT Result hipMemcpy2D(void* to, size_t to_pitch, const void* from,
                                       size_t from_pitch, size_t width, size_t height, int kind) {
  return device_api([&] {
    if (width == 0 || height == 0) return;
    forbid_during_capture("hipMemcpy2D");
    issue(nullptr, copy_2d(to, to_pitch, from, from_pitch, width, height, kind));
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpy2DAsync(void* to, size_t to_pitch, const void* from,
                                            size_t from_pitch, size_t width, size_t height,
                                            int kind, Stream* stream) {
  return device_api([&] {
    if (width == 0 || height == 0) return;
    issue(stream, copy_2d(to, to_pitch, from, from_pitch, width, height, kind));
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpy3D(const Copy3DParameters* parameters) {
  return device_api([&] {
    require(parameters != nullptr, kInvalidValue, "the copy's parameters are null");
    if (empty(parameters->extent)) return;
    forbid_during_capture("hipMemcpy3D");
    issue(nullptr, copy_3d(*parameters));
  });
}

RADIANCE_HIP_EXPORT Result hipMemcpy3DAsync(const Copy3DParameters* parameters, Stream* stream) {
  return device_api([&] {
    require(parameters != nullptr, kInvalidValue, "the copy's parameters are null");
    if (!empty(parameters->extent)) issue(stream, copy_3d(*parameters));
  });
}

RADIANCE_HIP_EXPORT Result hipMemset2D(void* pointer, size_t pitch, int value, size_t width,
                                       size_t height) {
  return device_api([&] {
    if (width == 0 || height == 0) return;
    forbid_during_capture("hipMemset2D");
    issue(nullptr, fill_rows({pointer, pitch, width, height}, value, {width, height, 1}));
  });
}

RADIANCE_HIP_EXPORT Result hipMemset2DAsync(void* pointer, size_t pitch, int value, size_t width,
                                            size_t height, Stream* stream) {
  return device_api([&] {
    if (width == 0 || height == 0) return;
    issue(stream, fill_rows({pointer, pitch, width, height}, value, {width, height, 1}));
  });
}

RADIANCE_HIP_EXPORT Result hipMemset3D(PitchedPointer memory, int value, Extent extent) {
  return device_api([&] {
    if (empty(extent)) return;
    forbid_during_capture("hipMemset3D");
    issue(nullptr, fill_rows(memory, value, extent));
  });
}

RADIANCE_HIP_EXPORT Result hipMemset3DAsync(PitchedPointer memory, int value, Extent extent,
                                            Stream* stream) {
  return device_api([&] {
    if (!empty(extent)) issue(stream, fill_rows(memory, value, extent));
  });
}

}  // namespace radiance::emulator::hip
