#include "checkpoint/safetensors.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "checkpoint/failure.hpp"
#include "checkpoint/json.hpp"

namespace radiance {

std::string shape_text(std::span<const int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr size_t kMaxDimensions = 16;

uint64_t unsigned_value(const nlohmann::json& value, const std::string& subject) {
  if (!value.is_number_unsigned()) {
    bad_input("{} is {}, supported is a number of 0 or more", subject, json_excerpt(value));
  }
  return value.get<uint64_t>();
}

TensorInfo parse_tensor(const std::string& name, const nlohmann::json& entry, uint64_t data_start,
                        uint64_t data_bytes, const std::string& where) {
  const std::string subject = where + ": tensor " + quote_name(name);
  if (!entry.is_object()) bad_input("{} is not described by a JSON object", subject);
  for (const char* field : {"dtype", "shape", "data_offsets"}) {
    if (!entry.contains(field)) bad_input("{} has no {}", subject, field);
  }
  for (const auto& [field, value] : entry.items()) {
    if (field != "dtype" && field != "shape" && field != "data_offsets") {
      bad_input("{} has the unknown field {}", subject, quote_name(field));
    }
  }
  TensorInfo tensor;
  tensor.name = name;
  const auto dtype_text = string_field(entry, "dtype", subject).value_or("");
  const auto dtype = dtype_from_name(dtype_text);
  if (!dtype) bad_input("{} has the unknown dtype {}", subject, quote_name(dtype_text));
  tensor.dtype = *dtype;

  const auto& shape = entry.at("shape");
  if (!shape.is_array() || shape.size() > kMaxDimensions) {
    bad_input("{}: shape is no list of at most {} numbers", subject, kMaxDimensions);
  }
  uint64_t elements = 1;
  for (const auto& dimension : shape) {
    const uint64_t extent = unsigned_value(dimension, subject + ": a dimension");
    // Bounded so that no product of two of them or with an element's size can wrap.
    if (extent > (uint64_t{1} << 48) || __builtin_mul_overflow(elements, extent, &elements) ||
        elements > (uint64_t{1} << 56)) {
      bad_input("{}: its shape has more elements than any file can hold", subject);
    }
    tensor.shape.push_back(static_cast<int64_t>(extent));
  }

  const auto& offsets = entry.at("data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) {
    bad_input("{}: data_offsets is no list of two numbers", subject);
  }
  const uint64_t begin = unsigned_value(offsets[0], subject + ": an offset");
  const uint64_t end = unsigned_value(offsets[1], subject + ": an offset");
  if (begin > end || end > data_bytes) {
    bad_input("{} lies at bytes {}..{} of the data, which has {} bytes", subject, begin, end,
              data_bytes);
  }
  const uint64_t expected = elements * static_cast<uint64_t>(dtype_bytes(tensor.dtype));
  if (end - begin != expected) {
    bad_input("{} has {} bytes, but {} {} needs {}", subject, end - begin, dtype_text,
              shape_text(tensor.shape), expected);
  }
  tensor.begin = data_start + begin;
  tensor.end = data_start + end;
  return tensor;
}

void check_contiguous(std::vector<TensorInfo>& tensors, uint64_t data_start, uint64_t file_bytes,
                      const std::string& where) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  uint64_t cursor = data_start;
  const TensorInfo* previous = nullptr;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.begin < cursor) {
      bad_input("{}: tensors {} and {} overlap", where, quote_name(previous->name),
                quote_name(tensor.name));
    }
    if (tensor.begin > cursor) {
      bad_input("{}: {} bytes before tensor {} belong to no tensor", where, tensor.begin - cursor,
                quote_name(tensor.name));
    }
    cursor = tensor.end;
    previous = &tensor;
  }
  if (cursor != file_bytes) {
    bad_input("{}: the last {} bytes belong to no tensor", where, file_bytes - cursor);
  }
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::span<const uint8_t> file, uint64_t file_bytes,
                                           const std::string& where) {
  if (file_bytes < kLengthBytes) {
    bad_input("{} is truncated: {} bytes are no safetensors file", where, file_bytes);
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);  // little-endian, as every supported host
  if (length > kMaxSafetensorsHeader) {
    bad_input("{}: the safetensors header claims {} bytes, supported are at most {}", where, length,
              kMaxSafetensorsHeader);
  }
  if (length > file_bytes - kLengthBytes) {
    bad_input("{} is truncated: its header claims {} bytes, the file has {} after the length",
              where, length, file_bytes - kLengthBytes);
  }
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes,
                              static_cast<size_t>(length));
  if (!text.starts_with('{')) bad_input("{}: the safetensors header is no JSON object", where);
  const nlohmann::json json = parse_json(text, where + ": the safetensors header");
  if (!json.is_object()) bad_input("{}: the safetensors header is no JSON object", where);

  SafetensorsHeader header;
  const uint64_t data_start = kLengthBytes + length;
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") {
      if (!entry.is_object()) bad_input("{}: __metadata__ is no JSON object", where);
      for (const auto& [key, value] : entry.items()) {
        if (!value.is_string()) {
          bad_input("{}: __metadata__ entry {} is no string", where, quote_name(key));
        }
        header.metadata.emplace(key, value.get<std::string>());
      }
      continue;
    }
    header.tensors.push_back(parse_tensor(name, entry, data_start, file_bytes - data_start, where));
  }
  check_contiguous(header.tensors, data_start, file_bytes, where);
  return header;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path)
    : file_(path),
      header_(parse_safetensors_header(file_.bytes(), file_.bytes().size(), path.string())) {}

}  // namespace radiance
