// A reader for MessagePack, the encoding of a code object's metadata note. The input is untrusted:
// every length is checked against what is left, and nesting is bounded.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace radiance::disasm {

class MessagePackError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One value. Maps keep their entries in the order of the file; keys that are no strings are
// refused.
struct MessagePackValue {
  using Array = std::vector<MessagePackValue>;
  struct Map {
    std::vector<std::string> keys;
    std::vector<MessagePackValue> values;
  };
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Map> value;

  // The entry of a map, null where this is no map or has none of that name.
  const MessagePackValue* find(std::string_view key) const;
  // Null where the value is of another type.
  const std::string* string() const { return std::get_if<std::string>(&value); }
  const Array* array() const { return std::get_if<Array>(&value); }
  // A non-negative integer or bool at `key`, else `otherwise`.
  uint64_t number(std::string_view key, uint64_t otherwise) const;
  // The string at `key`, else empty.
  std::string text(std::string_view key) const;
};

// The value that fills `bytes`, or the first one where more follows (notes are padded).
MessagePackValue read_message_pack(std::span<const uint8_t> bytes);

}  // namespace radiance::disasm
