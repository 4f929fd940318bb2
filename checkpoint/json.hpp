// JSON from untrusted files: duplicate keys, deep nesting and broken UTF-8 are refused.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace radiance {

inline constexpr int kMaxJsonDepth = 64;

// Parses the whole of `text`; `where` names its source in sentences. Throws Error
// (RADIANCE_BAD_INPUT) for malformed text, a key given twice in one object, or nesting past
// kMaxJsonDepth.
nlohmann::json parse_json(std::string_view text, const std::string& where);

// The field of an object, empty when it is absent or null. Throws Error (RADIANCE_BAD_INPUT) naming
// `where`, the field and what was found when its type is another one.
std::optional<std::string> string_field(const nlohmann::json& object, const char* key,
                                        const std::string& where);
std::optional<bool> bool_field(const nlohmann::json& object, const char* key,
                               const std::string& where);
std::optional<int64_t> int_field(const nlohmann::json& object, const char* key,
                                 const std::string& where);

// The value as short text for a sentence.
std::string json_excerpt(const nlohmann::json& value);

}  // namespace radiance
