// How a call of the runtime fails: a code for the program, a sentence for its author.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "emulator/hip/types.hpp"

namespace radiance::emulator::hip {

// Thrown inside the library; `api` turns it into the code that is returned.
class Failure : public std::exception {
 public:
  Failure(Result code, std::string sentence) : code_(code), sentence_(std::move(sentence)) {}
  Result code() const { return code_; }
  const std::string& sentence() const { return sentence_; }
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  Result code_;
  std::string sentence_;
};

[[noreturn]] inline void fail(Result code, std::string sentence) {
  throw Failure(code, std::move(sentence));
}

// Throws unless `good`.
inline void require(bool good, Result code, const char* sentence) {
  if (!good) fail(code, sentence);
}

const char* error_name(Result code);
const char* error_text(Result code);

// Notes code and sentence as this thread's last error. Failures are printed to stderr, each
// sentence once, unless option quiet is set.
Result note_error(Result code, const std::string& sentence) noexcept;

// This thread's last error, kept (peek) or forgotten.
Result last_error(bool forget);
// The sentence of this thread's last failed call.
const char* last_report();

// A kernel that faulted leaves the device unusable, as on a real one: every later call that needs
// the device fails with the same code and sentence, until hipDeviceReset.
void set_device_error(Result code, const std::string& sentence);
void clear_device_error();
void check_device();

// The body of an exported function: runs it and returns the code of what it throws.
template <typename Body>
Result api(const Body& body) noexcept {
  try {
    body();
    return kSuccess;
  } catch (const Failure& failure) {
    return note_error(failure.code(), failure.sentence());
  } catch (const std::bad_alloc&) {
    return note_error(kOutOfMemory, "the host has no memory left");
  } catch (const std::exception& error) {
    return note_error(kUnknown, error.what());
  }
}

// The same for a function that uses the device: initializes the runtime, and fails where an earlier
// kernel has.
template <typename Body>
Result device_api(const Body& body) noexcept {
  return api([&] {
    check_device();
    body();
  });
}

}  // namespace radiance::emulator::hip
