#include "disasm/message_pack.hpp"

#include <bit>

namespace radiance::disasm {
namespace {

constexpr int kMaxDepth = 32;

class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  MessagePackValue value(int depth) {
    if (depth > kMaxDepth) throw MessagePackError("metadata is nested too deeply");
    const auto tag = static_cast<uint8_t>(big_endian(1));
    if (tag < 0x80) return {static_cast<uint64_t>(tag)};
    if (tag < 0x90) return map(tag & 15u, depth);
    if (tag < 0xa0) return array(tag & 15u, depth);
    if (tag < 0xc0) return {string(tag & 31u)};
    switch (tag) {
      case 0xc0:
        return {};
      case 0xc2:
        return {false};
      case 0xc3:
        return {true};
      case 0xc4:
        return {string(big_endian(1))};
      case 0xc5:
        return {string(big_endian(2))};
      case 0xc6:
        return {string(big_endian(4))};
      case 0xca:
        return {static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(big_endian(4))))};
      case 0xcb:
        return {std::bit_cast<double>(big_endian(8))};
      case 0xcc:
        return {big_endian(1)};
      case 0xcd:
        return {big_endian(2)};
      case 0xce:
        return {big_endian(4)};
      case 0xcf:
        return {big_endian(8)};
      case 0xd0:
        return {static_cast<int64_t>(static_cast<int8_t>(big_endian(1)))};
      case 0xd1:
        return {static_cast<int64_t>(static_cast<int16_t>(big_endian(2)))};
      case 0xd2:
        return {static_cast<int64_t>(static_cast<int32_t>(big_endian(4)))};
      case 0xd3:
        return {static_cast<int64_t>(big_endian(8))};
      case 0xd9:
        return {string(big_endian(1))};
      case 0xda:
        return {string(big_endian(2))};
      case 0xdb:
        return {string(big_endian(4))};
      case 0xdc:
        return array(big_endian(2), depth);
      case 0xdd:
        return array(big_endian(4), depth);
      case 0xde:
        return map(big_endian(2), depth);
      case 0xdf:
        return map(big_endian(4), depth);
      default:
        break;
    }
    if (tag >= 0xe0) return {static_cast<int64_t>(static_cast<int8_t>(tag))};
    throw MessagePackError("metadata holds an unsupported MessagePack type");
  }

 private:
  uint64_t big_endian(size_t size) {
    if (size > bytes_.size()) throw MessagePackError("metadata ends inside a value");
    uint64_t out = 0;
    for (size_t i = 0; i < size; ++i) out = out << 8 | bytes_[i];
    bytes_ = bytes_.subspan(size);
    return out;
  }

  std::string string(uint64_t size) {
    if (size > bytes_.size()) throw MessagePackError("metadata ends inside a string");
    std::string out(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return out;
  }

  // No reservation by the stated count: every element takes at least a byte, so a false one ends
  // soon.
  MessagePackValue array(uint64_t count, int depth) {
    MessagePackValue::Array out;
    for (uint64_t i = 0; i < count; ++i) out.push_back(value(depth + 1));
    return {std::move(out)};
  }

  MessagePackValue map(uint64_t count, int depth) {
    MessagePackValue::Map out;
    for (uint64_t i = 0; i < count; ++i) {
      MessagePackValue key = value(depth + 1);
      if (!key.string()) throw MessagePackError("metadata has a map key that is no string");
      out.keys.push_back(*key.string());
      out.values.push_back(value(depth + 1));
    }
    return {std::move(out)};
  }

  std::span<const uint8_t> bytes_;
};

}  // namespace

const MessagePackValue* MessagePackValue::find(std::string_view key) const {
  const auto* map = std::get_if<Map>(&value);
  if (!map) return nullptr;
  for (size_t i = 0; i < map->keys.size(); ++i) {
    if (map->keys[i] == key) return &map->values[i];
  }
  return nullptr;
}

uint64_t MessagePackValue::number(std::string_view key, uint64_t otherwise) const {
  const MessagePackValue* entry = find(key);
  if (!entry) return otherwise;
  if (const auto* u = std::get_if<uint64_t>(&entry->value)) return *u;
  if (const auto* i = std::get_if<int64_t>(&entry->value); i && *i >= 0) {
    return static_cast<uint64_t>(*i);
  }
  if (const auto* b = std::get_if<bool>(&entry->value)) return *b ? 1 : 0;
  return otherwise;
}

std::string MessagePackValue::text(std::string_view key) const {
  const MessagePackValue* entry = find(key);
  return entry && entry->string() ? *entry->string() : std::string();
}

MessagePackValue read_message_pack(std::span<const uint8_t> bytes) {
  return Reader(bytes).value(0);
}

}  // namespace radiance::disasm
