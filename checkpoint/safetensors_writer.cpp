#include "checkpoint/safetensors_writer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checkpoint/failure.hpp"

namespace radiance {

uint64_t TensorSpec::bytes() const {
  uint64_t bytes = static_cast<uint64_t>(dtype_bytes(dtype));
  for (const int64_t extent : shape) bytes *= static_cast<uint64_t>(extent);
  return bytes;
}

SafetensorsWriter::SafetensorsWriter(const std::filesystem::path& path,
                                     std::vector<TensorSpec> tensors,
                                     const std::map<std::string, std::string>& metadata)
    : file_(path) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorSpec& a, const TensorSpec& b) {
    const int size_a = dtype_bytes(a.dtype);
    const int size_b = dtype_bytes(b.dtype);
    return size_a != size_b ? size_a > size_b : a.name < b.name;
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  // Appended as text: an ordered object searches all its keys at every insertion.
  std::string text = header.dump();
  text.pop_back();
  uint64_t offset = 0;
  for (const TensorSpec& tensor : tensors) {
    const nlohmann::ordered_json entry = {{"dtype", dtype_name(tensor.dtype)},
                                          {"shape", tensor.shape},
                                          {"data_offsets", {offset, offset + tensor.bytes()}}};
    if (text.size() > 1) text += ',';
    text += nlohmann::json(tensor.name).dump() + ':' + entry.dump();
    if (!slots_.try_emplace(tensor.name, Slot{offset, offset + tensor.bytes()}).second) {
      fail(RADIANCE_INTERNAL, "{}: tensor {} was announced twice", path.string(),
           quote_name(tensor.name));
    }
    offset += tensor.bytes();
  }
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');

  const uint64_t length = text.size();
  const uint64_t data_start = sizeof(length) + length;
  for (auto& [name, slot] : slots_) {
    slot.next += data_start;
    slot.end += data_start;
  }
  file_bytes_ = data_start + offset;
  file_.reserve(file_bytes_);
  file_.append({reinterpret_cast<const uint8_t*>(&length), sizeof(length)});
  file_.append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

void SafetensorsWriter::append(std::string_view tensor, std::span<const uint8_t> bytes) {
  const auto it = slots_.find(tensor);
  if (it == slots_.end() || bytes.size() > it->second.end - it->second.next) {
    fail(RADIANCE_INTERNAL, "{} bytes too many for tensor {}", bytes.size(), quote_name(tensor));
  }
  file_.write_at(it->second.next, bytes);
  it->second.next += bytes.size();
}

void SafetensorsWriter::finish() {
  for (const auto& [name, slot] : slots_) {
    if (slot.next != slot.end) {
      fail(RADIANCE_INTERNAL, "tensor {} lacks its last {} bytes", quote_name(name),
           slot.end - slot.next);
    }
  }
  file_.commit();
}

}  // namespace radiance
