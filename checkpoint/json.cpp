#include "checkpoint/json.hpp"

#include <limits>
#include <unordered_set>
#include <vector>

#include "checkpoint/failure.hpp"

namespace radiance {

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  using nlohmann::json;
  // nlohmann keeps the last of two equal keys without a word; whoever reads the first one would see
  // another checkpoint. One set of keys an open object.
  std::vector<std::unordered_set<std::string>> keys;
  const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (depth >= kMaxJsonDepth) {
          bad_input("{} nests JSON deeper than the {} levels supported", where, kMaxJsonDepth);
        }
        if (event == json::parse_event_t::object_start) keys.emplace_back();
        break;
      case json::parse_event_t::object_end:
        keys.pop_back();
        break;
      case json::parse_event_t::key: {
        const auto& name = parsed.get_ref<const std::string&>();
        if (!keys.back().insert(name).second) {
          bad_input("{} holds the key {} twice in one object", where, quote_name(name));
        }
        break;
      }
      default:
        break;
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::exception& e) {
    // The library's text quotes the input; its identifier and position are enough.
    std::string what = e.what();
    if (const auto cut = what.find(" - "); cut != std::string::npos) what.resize(cut);
    bad_input("{} is not valid JSON: {}", where, what.substr(0, 200));
  }
}

std::string json_excerpt(const nlohmann::json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return quote_name(value.get_ref<const std::string&>());
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, 64);
}

namespace {

const nlohmann::json* present(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

}  // namespace

std::optional<std::string> string_field(const nlohmann::json& object, const char* key,
                                        const std::string& where) {
  const auto* value = present(object, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) {
    bad_input("{}: {} is {}, supported is a string", where, key, json_excerpt(*value));
  }
  return value->get<std::string>();
}

std::optional<bool> bool_field(const nlohmann::json& object, const char* key,
                               const std::string& where) {
  const auto* value = present(object, key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) {
    bad_input("{}: {} is {}, supported are true and false", where, key, json_excerpt(*value));
  }
  return value->get<bool>();
}

std::optional<int64_t> int_field(const nlohmann::json& object, const char* key,
                                 const std::string& where) {
  const auto* value = present(object, key);
  if (value == nullptr) return std::nullopt;
  // Negative numbers are stored as signed, all others as unsigned.
  const bool fits =
      value->is_number_unsigned()
          ? value->get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
          : value->is_number_integer();
  if (!fits) bad_input("{}: {} is {}, supported is an integer", where, key, json_excerpt(*value));
  return value->get<int64_t>();
}

}  // namespace radiance
