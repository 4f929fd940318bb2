#include "emulator/hip/counters_json.hpp"

#include <string_view>

namespace radiance::emulator::hip {
namespace {

void member(std::string* object, std::string_view name, const std::string& value) {
  if (object->size() > 1) *object += ", ";
  *object += '"';
  *object += name;
  *object += "\": ";
  *object += value;
}

void member(std::string* object, std::string_view name, uint64_t value) {
  member(object, name, std::to_string(value));
}

std::string traffic(const Traffic& t, bool lines) {
  std::string object = "{";
  member(&object, "instructions", t.instructions);
  member(&object, "bytes", t.bytes);
  if (lines) {
    member(&object, "lines", t.lines);
    member(&object, "distinct_lines", t.distinct_lines);
  }
  return object + "}";
}

// A kernel's name is a symbol of an untrusted file.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      result += '?';
    } else {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace

std::string counters_json(const std::string& kernel, uint64_t launches, const Counters& counters) {
  std::string classes = "{";
  for (size_t i = 0; i < kOpClasses; ++i) {
    member(&classes, name(static_cast<OpClass>(i)), counters.instructions[i]);
  }
  classes += "}";
  std::string object = "{";
  member(&object, "name", quoted(kernel));
  member(&object, "launches", launches);
  member(&object, "workgroups", counters.workgroups);
  member(&object, "waves", counters.waves);
  member(&object, "wave_instructions", counters.total());
  member(&object, "instructions", classes);
  member(&object, "global_load", traffic(counters.global_load, true));
  member(&object, "global_store", traffic(counters.global_store, true));
  member(&object, "global_atomic", traffic(counters.global_atomic, true));
  member(&object, "lds_load", traffic(counters.lds_load, false));
  member(&object, "lds_store", traffic(counters.lds_store, false));
  member(&object, "lds_bank_conflict_cycles", counters.lds_bank_conflict_cycles);
  member(&object, "full_waits", counters.full_waits);
  member(&object, "barriers", counters.barriers);
  member(&object, "host_cpu_ns", counters.host_cpu_ns);
  return object + "}";
}

}  // namespace radiance::emulator::hip
