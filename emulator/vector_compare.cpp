// VALU: comparisons. v_cmp writes a lane mask, v_cmpx writes EXEC.
#include "emulator/vector_ops.hpp"

namespace radiance::emulator {
namespace {

// Bits of inactive lanes are zero.
void commit(const Instruction& in, Wave& wave, uint32_t mask, bool to_exec) {
  mask &= wave.exec();
  if (to_exec) {
    wave.set_exec(mask);
  } else {
    wave.set_scalar(in.dst[0], mask);
  }
}

template <typename T, auto Op, bool ToExec>
void compare(const Instruction& in, Wave& wave) {
  const typename T::Source a(in, wave, 0);
  const typename T::Source b(in, wave, 1);
  uint32_t mask = 0;
  for (int i = 0; i < kLanes; ++i) mask |= Op(a[i], b[i]) ? lane_bit(i) : 0u;
  commit(in, wave, mask, ToExec);
}

// Classes are of the bits, before denormals are flushed.
template <int Dwords, bool ToExec>
void classify(const Instruction& in, Wave& wave) {
  uint32_t mask = 0;
  Lanes buffer;
  const Lanes& wanted = wave.lanes(in.src[1], buffer);
  const Operand& source = in.src[0];
  const auto modify = [&](uint64_t bits, int sign) {
    if (source.absolute) bits &= ~(1ull << sign);
    if (source.negate) bits ^= 1ull << sign;
    return bits;
  };
  if constexpr (Dwords == 2) {
    const U64::Source a(in, wave, 0);
    for (int i = 0; i < kLanes; ++i) {
      mask |= (float_class<52, 11>(modify(a[i], 63)) & wanted.v[i]) ? lane_bit(i) : 0u;
    }
  } else if constexpr (Dwords == 1) {
    const U32::Source a(in, wave, 0);
    for (int i = 0; i < kLanes; ++i) {
      mask |= (float_class<23, 8>(modify(a[i], 31)) & wanted.v[i]) ? lane_bit(i) : 0u;
    }
  } else {
    const U16::Source a(in, wave, 0);
    const U16::Source which(in, wave, 1);
    for (int i = 0; i < kLanes; ++i) {
      mask |= (float_class<10, 5>(modify(a[i], 15)) & which[i]) ? lane_bit(i) : 0u;
    }
  }
  commit(in, wave, mask, ToExec);
}

constexpr auto kEq = [](auto a, auto b) { return a == b; };
constexpr auto kNe = [](auto a, auto b) { return a != b; };
constexpr auto kLt = [](auto a, auto b) { return a < b; };
constexpr auto kLe = [](auto a, auto b) { return a <= b; };
constexpr auto kGt = [](auto a, auto b) { return a > b; };
constexpr auto kGe = [](auto a, auto b) { return a >= b; };
// Floats only; the negated ones are true where either is NaN.
constexpr auto kLg = [](auto a, auto b) { return a < b || a > b; };
constexpr auto kOrdered = [](auto a, auto b) { return !__builtin_isunordered(a, b); };
constexpr auto kUnordered = [](auto a, auto b) { return __builtin_isnan(a) || __builtin_isnan(b); };
constexpr auto kNlt = [](auto a, auto b) { return !(a < b); };
constexpr auto kNle = [](auto a, auto b) { return !(a <= b); };
constexpr auto kNgt = [](auto a, auto b) { return !(a > b); };
constexpr auto kNge = [](auto a, auto b) { return !(a >= b); };
constexpr auto kNlg = [](auto a, auto b) { return !(a < b || a > b); };

constexpr Opcode cmp(std::string_view mnemonic, Handler handler, ConstantType type) {
  return {mnemonic, handler, OpClass::kVector, 1, kNoFlags, {type, type}};
}
constexpr Opcode cmpx(std::string_view mnemonic, Handler handler, ConstantType type) {
  return {mnemonic, handler, OpClass::kVector, 0, kWritesExec, {type, type}};
}

template <typename T, bool X>
constexpr std::array<Handler, 6> integer_handlers() {
  return {compare<T, kLt, X>, compare<T, kEq, X>, compare<T, kLe, X>,
          compare<T, kGt, X>, compare<T, kNe, X>, compare<T, kGe, X>};
}
constexpr size_t kIntegerOps = 6;
constexpr size_t kFloatOps = 14;

// Names are put together once, at compile time: v_cmp[x]_<op>_<type>.
struct Name {
  char text[24];
  size_t size;
  constexpr Name(std::string_view prefix, std::string_view op, std::string_view type)
      : text(), size(0) {
    for (const std::string_view part : {prefix, op, type}) {
      for (const char c : part) text[size++] = c;
    }
  }
  constexpr Name() : text(), size(0) {}
  constexpr operator std::string_view() const { return {text, size}; }
};

constexpr std::string_view kIntegerNames[kIntegerOps] = {"lt", "eq", "le", "gt", "ne", "ge"};
constexpr std::string_view kFloatNames[kFloatOps] = {
    "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt"};
constexpr std::string_view kIntegerTypes[] = {"_i16", "_u16", "_i32", "_u32", "_i64", "_u64"};
constexpr std::string_view kFloatTypes[] = {"_f16", "_f32", "_f64"};
constexpr size_t kCount = 2 * (kIntegerOps * 6 + kFloatOps * 3 + 3);

struct Names {
  Name all[kCount];
  constexpr Names() : all() {
    size_t i = 0;
    for (const std::string_view prefix :
         {std::string_view("v_cmp_"), std::string_view("v_cmpx_")}) {
      for (const std::string_view type : kIntegerTypes) {
        for (const std::string_view op : kIntegerNames) all[i++] = Name(prefix, op, type);
      }
      for (const std::string_view type : kFloatTypes) {
        for (const std::string_view op : kFloatNames) all[i++] = Name(prefix, op, type);
        all[i++] = Name(prefix, "class", type);
      }
    }
  }
};
constexpr Names kNames;

struct Table {
  Opcode opcodes[kCount];
  size_t size = 0;

  template <bool X>
  constexpr void add(Handler handler, ConstantType type, ConstantType second) {
    Opcode opcode =
        X ? cmpx(kNames.all[size], handler, type) : cmp(kNames.all[size], handler, type);
    opcode.constants[1] = second;
    opcodes[size++] = opcode;
  }
  template <typename T, bool X>
  constexpr void integers(ConstantType type) {
    for (const Handler handler : integer_handlers<T, X>()) add<X>(handler, type, type);
  }
  template <typename T, bool X, int Dwords>
  constexpr void floats(ConstantType type) {
    constexpr Handler kHandlers[kFloatOps] = {
        compare<T, kLt, X>,      compare<T, kEq, X>,        compare<T, kLe, X>,
        compare<T, kGt, X>,      compare<T, kLg, X>,        compare<T, kGe, X>,
        compare<T, kOrdered, X>, compare<T, kUnordered, X>, compare<T, kNge, X>,
        compare<T, kNlg, X>,     compare<T, kNgt, X>,       compare<T, kNle, X>,
        compare<T, kNe, X>,      compare<T, kNlt, X>};
    for (const Handler handler : kHandlers) add<X>(handler, type, type);
    add<X>(classify<Dwords, X>, type,
           type == ConstantType::k16 ? ConstantType::k16 : ConstantType::k32);
  }
  template <bool X>
  constexpr void all() {
    integers<I16, X>(ConstantType::k16);
    integers<U16, X>(ConstantType::k16);
    integers<I32, X>(ConstantType::k32);
    integers<U32, X>(ConstantType::k32);
    integers<I64, X>(ConstantType::kI64);
    integers<U64, X>(ConstantType::kI64);
    floats<F16, X, 0>(ConstantType::k16);
    floats<F32, X, 1>(ConstantType::k32);
    floats<F64, X, 2>(ConstantType::kF64);
  }
  constexpr Table() : opcodes() {
    all<false>();
    all<true>();
  }
};
constexpr Table kTable;
static_assert(kTable.size == kCount);

}  // namespace

std::span<const Opcode> vector_compare_opcodes() { return kTable.opcodes; }

}  // namespace radiance::emulator
