"""Random C++ functions without undefined behaviour, for two compilers to agree about.

A function is a list of statements over typed variables. Floats never flow into integers by their
bits, for the bits of a NaN are not the same everywhere; any other mixture of types is made.
"""

import random

INTEGERS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
FLOATS = ["f16", "f32", "f64"]
VECTORS = {"i16x2": ("i16", 2), "u16x2": ("u16", 2), "i8x4": ("i8", 4), "f16x2": ("f16", 2),
           "f32x2": ("f32", 2), "i32x2": ("i32", 2)}
TYPES = INTEGERS + FLOATS + list(VECTORS)
WEIGHTS = [2, 2, 3, 3, 10, 10, 5, 6, 6, 10, 4, 3, 3, 2, 4, 2, 2]

# Where a Block or Uniform holds what, and how many.
FIELDS = {"i32": ("w", 8), "i64": ("l", 4), "f32": ("f", 8), "f64": ("d", 4), "f16": ("h", 8),
          "i16": ("s", 8), "i8": ("c", 16)}
UNIFORM = {"i32": ("w", 4), "i64": ("l", 2), "f32": ("f", 4), "f64": ("d", 2)}

INTEGER_CONSTANTS = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 63, 64, 100, 127, 255, 256, 4095, 65535]
FLOAT_CONSTANTS = ["0.0", "1.0", "-1.0", "0.5", "2.0", "-4.0", "3.25", "1e-3", "0.1", "-17.5", "240.0"]
MATH = {"f16": "f16", "f32": "f", "f64": ""}


class Function:
    def __init__(self, number, rng):
        self.number = number
        self.rng = rng
        self.lines = []
        self.variables = {t: [] for t in TYPES}
        self.names = 0
        self.helpers = []
        self.indent = 1

    # ---- expressions ----

    def literal(self, t):
        if t in INTEGERS:
            value = self.rng.choice(INTEGER_CONSTANTS)
            if self.rng.random() < 0.3:
                value = self.rng.getrandbits({"8": 7, "6": 15, "2": 31, "4": 63}[t[-1]])
            return f"{t}({value}{'ull' if t == 'u64' else 'll' if t == 'i64' else ''})"
        if t in FLOATS:
            # No zero of f16: LLVM 22 packs -0 into a pair as +0.
            return f"{t}({self.rng.choice(FLOAT_CONSTANTS[t == 'f16':])})"
        element, count = VECTORS[t]
        return "(%s){%s}" % (t, ", ".join(self.literal(element) for _ in range(count)))

    def variable(self, t):
        return self.rng.choice(self.variables[t]) if self.variables[t] else self.literal(t)

    def leaf(self, t):
        return self.literal(t) if self.rng.random() < 0.12 else self.variable(t)

    def condition(self, depth):
        if depth > 0 and self.rng.random() < 0.2:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return f"({a} {self.rng.choice(['&&', '||'])} {b})"
        t = self.rng.choice(INTEGERS + FLOATS)
        return f"({self.expression(t, depth - 1)} " + \
            f"{self.rng.choice(['<', '<=', '>', '>=', '==', '!='])} {self.expression(t, depth - 1)})"

    def expression(self, t, depth):
        if depth <= 0 or self.rng.random() < 0.1:
            return self.leaf(t)
        if self.rng.random() < 0.1:
            return f"({self.condition(depth - 1)} ? {self.expression(t, depth - 1)} : " + \
                f"{self.expression(t, depth - 1)})"
        if t in INTEGERS:
            return self.integer(t, depth)
        return self.floating(t, depth) if t in FLOATS else self.vector(t, depth)

    def integer(self, t, depth):
        def e(kind=t):
            return self.expression(kind, depth - 1)
        unsigned, wide = t[0] == "u", t in ("u32", "u64")
        choice = self.rng.randrange(20)
        if choice < 7:
            return f"{t}({e()} {self.rng.choice('+-*&|^')} {e()})"
        if choice == 7:
            return f"{self.rng.choice(['shl', 'shr'])}<{t}>({e()}, {e('u32')})"
        if choice == 8:
            # No ~ of 64 bits: where LLVM 22 knows the upper half of x to be zero, it takes that of
            # y | ~x for undefined, though it is all ones.
            return f"{t}({self.rng.choice('~-' if t[1:] != '64' else '-')}{e()})"
        if choice == 9:
            return f"{self.rng.choice(['divide', 'remainder'])}<{t}>({e()}, {e()})"
        if choice == 10:
            name = self.rng.choice(["min", "max", "add_sat", "sub_sat"])
            if t[1:] == "64" and name.endswith("_sat"):
                return f"{name}({e()}, {e()})"
            return f"__builtin_elementwise_{name}({e()}, {e()})"
        if choice == 11 and not unsigned:
            return f"__builtin_elementwise_abs({e()})"
        if choice == 12 and t in ("i32", "u32"):
            return f"high_product({e()}, {e()})"
        if choice == 13 and wide:
            name = self.rng.choice(["leading_zeros", "trailing_zeros"])
            return f"{t}({name}({e()}))"
        if choice == 14 and wide:
            size = t[1:]
            name = self.rng.choice(["bitreverse", "bswap"])
            return f"{t}(__builtin_{name}{size}({e()}))"
        if choice == 15 and wide:
            return f"{t}(__builtin_popcount{'ll' if t == 'u64' else ''}({e()}))"
        if choice == 16 and t == "u32":
            name = self.rng.choice(["pick_bytes", "funnel_shift", "field"])
            return f"{name}({e()}, {e()}, {e()})"
        if choice == 17:
            return f"truncated<{t}>({self.expression(self.rng.choice(FLOATS), depth - 1)})"
        if choice == 18:
            vectors = [v for v, (element, _) in VECTORS.items() if element == t]
            if vectors:
                v = self.rng.choice(vectors)
                lane = self.rng.randrange(VECTORS[v][1])
                return f"{t}(({e(v)})[{lane}])"
            if t == "u32":
                return f"bits<u32>({e(self.rng.choice(['i16x2', 'u16x2', 'i8x4']))})"
        return f"{t}({e(self.rng.choice(INTEGERS))})"

    def floating(self, t, depth):
        def e(kind=t):
            return self.expression(kind, depth - 1)
        choice = self.rng.randrange(16)
        if choice < 7:
            name = self.rng.choice(["sum", "sum", "difference", "difference", "*", "*", "/"])
            return f"{name}({e()}, {e()})" if len(name) > 1 else f"({e()} {name} {e()})"
        if choice == 7:
            return f"(-{e()})"
        if choice == 8:
            return f"{t}(__builtin_fabs{MATH[t]}({e()}))"
        if choice == 9 and t != "f16":
            return f"__builtin_fma{MATH[t]}({e()}, {e()}, {e()})"
        if choice == 10 and t != "f16":
            name = self.rng.choice(["floor", "ceil", "trunc", "rint"])
            return f"__builtin_{name}{MATH[t]}({e()})"
        if choice == 11 and t != "f16":
            return f"__builtin_sqrt{MATH[t]}({e()})"
        if choice == 12 and t != "f16":
            return f"{t}({e(self.rng.choice(INTEGERS))})"
        if choice == 13:
            vectors = [v for v, (element, _) in VECTORS.items() if element == t]
            if vectors:
                v = self.rng.choice(vectors)
                return f"({e(v)})[{self.rng.randrange(VECTORS[v][1])}]"
        if choice == 14 and t != "f16":
            return f"__builtin_ldexp{MATH[t]}({e()}, {e('i32')} % 200)"
        convert = "narrow" if t == "f16" else t
        return f"{convert}({e(self.rng.choice(FLOATS))})"

    def vector(self, t, depth):
        element, count = VECTORS[t]

        def e(kind=t):
            return self.expression(kind, depth - 1)
        choice = self.rng.randrange(10)
        if choice < 5:
            operators = "+-*" if element in FLOATS else "+-*&|^"
            return f"({e()} {self.rng.choice(operators)} {e()})"
        if choice == 5 and element in INTEGERS:
            return f"__builtin_elementwise_{self.rng.choice(['min', 'max'])}({e()}, {e()})"
        if choice == 6 and t in ("i16x2", "u16x2"):
            return f"({e()} {self.rng.choice(['<<', '>>'])} ({e()} & 15))"
        if choice == 7 and t == "f16x2":
            return f"narrow({e('f32x2')})"
        if choice == 7 and t == "f32x2":
            return f"__builtin_convertvector({e('f16x2')}, f32x2)"
        if choice == 7 and t in ("i16x2", "u16x2", "i8x4"):
            return f"bits<{t}>({e('u32')})"
        return "(%s){%s}" % (t, ", ".join(e(element) for _ in range(count)))

    # ---- statements ----

    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def declare(self, t, value):
        name = f"v{self.names}"
        self.names += 1
        self.emit(f"{t} {name} = {value};")
        return name

    def new_variable(self, t, value):
        self.variables[t].append(self.declare(t, value))

    def pick_type(self):
        return self.rng.choices(TYPES, WEIGHTS)[0]

    def assign(self, depth=2):
        t = self.pick_type()
        targets = [name for name in self.variables[t] if name[0] == "v"]  # not a loop's count
        if targets:
            self.emit(f"{self.rng.choice(targets)} = {self.expression(t, depth)};")

    def block(self, count):
        """Assignments and variables of their own inside braces."""
        kept = {t: list(names) for t, names in self.variables.items()}
        self.indent += 1
        for _ in range(count):
            if self.rng.random() < 0.3:
                t = self.pick_type()
                self.new_variable(t, self.expression(t, 2))
            else:
                self.assign()
        self.indent -= 1
        self.variables = kept

    def statement(self):
        choice = self.rng.randrange(22)
        if choice < 10:
            t = self.pick_type()
            self.new_variable(t, self.expression(t, 3))
        elif choice < 13:
            self.emit(f"if ({self.condition(2)}) {{")
            self.block(self.rng.randrange(1, 4))
            if self.rng.random() < 0.5:
                self.emit("} else {")
                self.block(self.rng.randrange(1, 4))
            self.emit("}")
        elif choice < 15:
            limit = self.expression("u32", 1)
            step = f"step{self.names}"
            self.names += 1
            self.emit(f"for (u32 {step} = 0, n = {limit} & 7; {step} < n; ++{step}) {{")
            self.variables["u32"].append(step)
            self.block(self.rng.randrange(1, 4))
            self.variables["u32"].remove(step)
            self.emit("}")
        elif choice == 15:
            self.emit(f"switch ({self.expression('u32', 1)} & 3) {{")
            for case in range(3):
                self.emit(f"  case {case}: {{")
                self.indent += 1
                self.block(2)
                self.emit("  break;")
                self.indent -= 1
                self.emit("  }")
            self.emit("  default: break;")
            self.emit("}")
        elif choice == 16:
            t = self.rng.choice(INTEGERS + FLOATS)
            name = f"a{self.names}"
            self.names += 1
            values = ", ".join(self.expression(t, 1) for _ in range(4))
            self.emit(f"{t} {name}[4] = {{{values}}};")
            self.emit(f"{name}[{self.expression('u32', 1)} & 3] = {self.expression(t, 2)};")
            self.new_variable(t, f"{name}[{self.expression('u32', 1)} & 3]")
        elif choice < 19:
            # This thread's words of LDS, in every width.
            t = self.rng.choice(INTEGERS)
            count = {"8": 64, "6": 32, "2": 16, "4": 8}[t[-1]]
            memory = f"reinterpret_cast<{t} __attribute__((may_alias))*>(local)"
            self.emit(f"{memory}[{self.expression('u32', 1)} & {count - 1}] = " +
                      f"{self.expression(t, 2)};")
            self.new_variable(t, f"{memory}[{self.expression('u32', 1)} & {count - 1}]")
        elif choice == 19:
            t = self.rng.choice(["i32", "i64"])
            where = f"&out->{FIELDS[t][0]}[{self.rng.randrange(4)}]"
            name = self.rng.choice(["add", "sub", "and", "or", "xor", "min", "max"])
            if self.rng.random() < 0.4:
                where = f"reinterpret_cast<i32*>(local) + {self.rng.randrange(16)}"
                t = "i32"
            call = f"__atomic_fetch_{name}({where}, {self.expression(t, 2)}, __ATOMIC_RELAXED)"
            if self.rng.random() < 0.3:
                call = f"__atomic_exchange_n({where}, {self.expression(t, 2)}, __ATOMIC_RELAXED)"
            self.new_variable(t, call)
        elif choice == 20:
            self.call()
        else:
            t = self.rng.choice(list(FIELDS))
            name, count = FIELDS[t]
            self.new_variable(t, f"in->{name}[{self.expression('u32', 1)} & {count - 1}]")

    def call(self):
        """A call of a function that is not inlined."""
        t = self.rng.choice(["i32", "u32", "i64", "f32", "f64", "f16"])
        takes = [self.rng.choice(["i32", "u32", "u64", "f32", "f64", "f16"]) for _ in range(3)]
        helper = Function(f"{self.number}_{len(self.helpers)}", self.rng)
        for i, kind in enumerate(takes):
            helper.variables[kind].append(f"p{i}")
        body = helper.expression(t, 3)
        parameters = ", ".join(f"{kind} p{i}" for i, kind in enumerate(takes))
        self.helpers.append(f"static __attribute__((noinline)) DEVICE {t} "
                            f"helper{helper.number}({parameters}) {{ return {body}; }}")
        values = ", ".join(self.expression(kind, 1) for kind in takes)
        self.new_variable(t, f"helper{helper.number}({values})")

    def text(self):
        for t, (name, count) in FIELDS.items():
            for _ in range(2):
                self.new_variable(t, f"in->{name}[{self.rng.randrange(count)}]")
        for t, (name, count) in UNIFORM.items():
            self.new_variable(t, f"u.{name}[{self.rng.randrange(count)}]")
        for t in ("u8", "u16", "u32", "u64"):
            source = "i" + t[1:]
            name, count = FIELDS[source]
            self.new_variable(t, f"{t}(in->{name}[{self.rng.randrange(count)}])")
        for _ in range(self.rng.randrange(8, 28)):
            self.statement()
        for t, (name, count) in FIELDS.items():
            first = 4 if t in ("i32", "i64") else 0  # below: atomics
            if t == "i64":
                self.emit(f"out->l[3] = {self.expression(t, 2)};")
                continue
            for i in range(first, count):
                if t in FLOATS or i % 2 == 0:
                    self.emit(f"out->{name}[{i}] = {self.expression(t, 1)};")
        head = f"static DEVICE void function{self.number}(const Block* in, Block* out, const Uniform& u, " \
            "u32* local) {"
        return "\n".join(self.helpers + [head] + self.lines + ["}"])


def program(seed, functions):
    """The source of `functions` functions, for host and device."""
    rng = random.Random(seed)
    parts = [f"// seed {seed}", '#include "prelude.hpp"', ""]
    for number in range(functions):
        parts += [Function(str(number), rng).text(), ""]
    parts.append("#if defined(__HIP__)")
    for n in range(functions):
        parts.append(f"""KERNEL k{n}(const Block* in, Block* out, Uniform u, i32 count) {{
  SHARED static u32 local[kThreads][kLocalWords];
  const int lane = static_cast<int>(__builtin_amdgcn_workitem_id_x());
  const int i = static_cast<int>(__builtin_amdgcn_workgroup_id_x()) * kThreads + lane;
  if (i >= count) return;
  for (int w = 0; w < kLocalWords; ++w) local[lane][w] = w * 0x9e3779b9u;
  function{n}(in + i, out + i, u, local[lane]);
}}""")
    parts.append("#else")
    parts.append("using Any = void (*)(const Block*, Block*, const Uniform&, u32*);")
    names = ", ".join(f"function{n}" for n in range(functions))
    parts.append(f"""static constexpr Any kFunctions[] = {{{names}}};
extern "C" __attribute__((visibility("default"))) void run(int function, const Block* in, Block* out,
                                                           const Uniform* u, int count) {{
  for (int i = 0; i < count; ++i) {{
    alignas(16) u32 local[kLocalWords];
    for (u32 w = 0; w < kLocalWords; ++w) local[w] = w * 0x9e3779b9u;
    kFunctions[function](in + i, out + i, *u, local);
  }}
}}""")
    parts.append("#endif")
    return "\n".join(parts) + "\n"
