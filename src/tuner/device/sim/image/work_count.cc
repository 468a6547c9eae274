// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/image/work_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tuner/device/sim/image/math_functions.h"

namespace hone::sim {
namespace {

bool StartsWith(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }
bool EndsWith(std::string_view text, std::string_view with) {
  return text.size() >= with.size() && text.substr(text.size() - with.size()) == with;
}

struct Instruction {
  std::string_view name, operands;  // without the tabs around them
};

// Returns the instruction on a line; an empty name for a label, a directive or nothing.
Instruction InstructionOf(std::string_view line) {
  if (line.size() < 2 || line[0] != '\t' || std::isalpha(static_cast<unsigned char>(line[1])) == 0) return {};
  line.remove_prefix(1);
  const size_t space = std::min(line.find_first_of(" \t"), line.size());
  Instruction instruction{line.substr(0, space), {}};
  const size_t operands = line.find_first_not_of(" \t", space);
  if (operands != std::string_view::npos) instruction.operands = line.substr(operands);
  return instruction;
}

// Returns the function that a call names, without relocation suffixes; empty for a call through a pointer.
std::string_view CalledFunction(const Instruction& instruction) {
  if (instruction.name != "call") return {};
  std::string_view target = instruction.operands;
  if (StartsWith(target, "*")) target.remove_prefix(1);
  if (target.empty() || target[0] == '%' || target[0] == '(') return {};
  return target.substr(0, target.find_first_of("@("));
}

struct Arithmetic {
  int64_t single = 0, wide = 0;  // operations of single and of double precision
  int64_t special = 0;           // operations of the special-function unit
};

// The kind of text that an instruction was compiled from.
enum class Origin {
  kCandidate,
  kLibrary,        // a header of the toolkit, of CUTLASS or of the host
  kSimulator,      // a header of the simulator
  kFloatByDouble,  // a header of the simulator that computes with doubles what a GPU computes without
  kRounded,        // the same; in addition each result is rounded to float once
};

// Returns the origin of the text in a file that a `.file` directive names. `headers`: the folder of the simulator's own
// headers. Every header has an absolute path, and the candidate's own directives name files without a folder
// (PlainFileNames), so a candidate cannot choose the origin of its text.
Origin OriginOf(std::string_view path, std::string_view headers) {
  if (path == kEntryFile) return Origin::kSimulator;
  if (!StartsWith(path, "/")) return Origin::kCandidate;
  if (headers.empty() || !StartsWith(path, headers) || path.substr(headers.size(), 1) != "/") return Origin::kLibrary;
  if (EndsWith(path, "detail/float_by_double.h")) return Origin::kRounded;
  for (const char* header : {"detail/fast_math.h", "detail/half_common.h", "detail/half_arithmetic.inc",
                             "detail/float8.h", "detail/mma.h", "detail/wgmma.h", "cuda_fp16.h", "cuda_bf16.h", "cuda_fp4.h", "cuda_fp8.h"}) {
    if (EndsWith(path, header)) return Origin::kFloatByDouble;
  }
  return Origin::kSimulator;
}

// Follows `.file N "path"` and `.loc N line`.
class Positions {
 public:
  explicit Positions(std::string_view headers) : headers_(headers) {}
  // Forgets the origin of the instructions before: a function begins, and its first .loc follows.
  void BeginFunction() { known_ = false; }
  // Follows the .file and .loc directives, so that the origin of the next instructions is known.
  void Follow(std::string_view line) {
    while (!line.empty() && (line[0] == '\t' || line[0] == ' ')) line.remove_prefix(1);
    if (StartsWith(line, ".loc ")) {
      const auto file = files_.find(LeadingNumber(line.substr(5)));
      origin_ = file != files_.end() ? file->second : Origin::kCandidate;
      known_ = true;
    } else if (StartsWith(line, ".file ")) {
      const size_t digit = line.find_first_not_of(" \t", 5), open = line.find('"'), close = line.rfind('"');
      if (digit == std::string_view::npos || std::isdigit(static_cast<unsigned char>(line[digit])) == 0 || close <= open) return;
      files_[LeadingNumber(line.substr(digit))] = OriginOf(line.substr(open + 1, close - open - 1), headers_);
    }
  }
  Origin origin() const { return origin_; }
  // Returns whether a .loc has told the origin since the function began.
  bool known() const { return known_; }

 private:
  static int64_t LeadingNumber(std::string_view text) {
    const size_t digit = text.find_first_not_of(" \t");
    int64_t number = -1;
    if (digit != std::string_view::npos) std::from_chars(text.data() + digit, text.data() + text.size(), number);
    return number;
  }
  std::string_view headers_;
  std::map<int64_t, Origin> files_;
  Origin origin_ = Origin::kCandidate;
  bool known_ = false;
};

// Returns the floating-point operations of one instruction, by kind.
Arithmetic ArithmeticOf(const Instruction& instruction) {
  Arithmetic work;
  if (const std::string_view function = CalledFunction(instruction); !function.empty()) {
    if (const std::optional<MathCost> cost = CostOfMathFunction(function)) {
      work.single = cost->single;
      work.special = cost->special;
      work.wide = cost->wide;
    }
    return work;
  }
  std::string_view name = instruction.name;
  if (StartsWith(name, "v")) name.remove_prefix(1);
  if (name.size() < 5) return work;
  const std::string_view type = name.substr(name.size() - 2);
  const bool single = type == "ss" || type == "ps", wide = type == "sd" || type == "pd";
  if (!single && !wide) return work;
  const std::string_view stem = name.substr(0, name.size() - 2);
  const bool fused = StartsWith(stem, "fmadd") || StartsWith(stem, "fmsub") || StartsWith(stem, "fnmadd") ||
                     StartsWith(stem, "fnmsub");
  const bool division = stem == "div", root = stem == "sqrt";
  if (!fused && !division && !root && stem != "add" && stem != "sub" && stem != "mul" && stem != "min" && stem != "max")
    return work;
  const int64_t bytes = instruction.operands.find("%ymm") != std::string_view::npos ? 32 : 16;
  const int64_t lanes = type[0] == 's' ? 1 : bytes / (single ? 4 : 8);
  if (single) work.single = lanes;
  if (wide) work.wide = lanes * (division || root ? kWideQuotient : 1);
  if (single && (division || root)) work.special = lanes;
  return work;
}

// Returns the operations on integers that a GPU needs at least for this instruction.
int64_t IntegersOf(const Instruction& instruction) {
  std::string_view name = instruction.name;
  if (name.size() < 3) return 0;
  const char width = name.back();
  if (width != 'l' && width != 'q') return 0;
  const bool wide = width == 'q';
  const std::string_view stem = name.substr(0, name.size() - 1);
  const std::string_view operands = instruction.operands;
  const size_t comma = operands.rfind(", ");
  const bool of_registers = comma != std::string_view::npos && operands[0] == '%';
  // A register combined with itself is a way to zero or to test it.
  if (of_registers && operands.substr(0, comma) == operands.substr(comma + 2)) return 0;
  const auto is = [&](std::initializer_list<std::string_view> stems) {
    return std::find(stems.begin(), stems.end(), stem) != stems.end();
  };
  if (is({"idiv", "div"})) return wide ? 40 : 16;
  if (is({"rol", "ror", "rorx"})) return wide ? 2 : 1;
  if (is({"shr", "shrx"})) return wide ? 2 : 1;
  if (is({"xor"})) return wide ? (of_registers ? 2 : 0) : 1;
  if (is({"mul", "mulx"})) return wide ? 2 : 1;
  if (is({"imul"})) return 1;
  if (wide) return 0;  // 64-bit operations mostly compute addresses
  if (is({"shl", "sal", "sar", "shlx", "sarx", "not", "neg", "popcnt", "lzcnt", "tzcnt", "bsr", "bsf"})) return 1;
  if (is({"and", "or", "andn"})) return 1;
  if (is({"add", "sub"})) return of_registers ? 1 : 0;
  return 0;
}

// Returns the bytes that an instruction moves between a register and memory, as far as its name shows.
int64_t BytesOf(const Instruction& instruction) {
  std::string_view name = instruction.name;
  if (StartsWith(name, "v")) name.remove_prefix(1);
  for (const std::string_view mnemonic : {"movup", "movap", "movdqu", "movdqa", "movntp", "movntdq"}) {
    if (StartsWith(name, mnemonic)) return instruction.operands.find("%ymm") != std::string_view::npos ? 32 : 16;
  }
  if (StartsWith(name, "movzb") || StartsWith(name, "movsb")) return 1;
  if (StartsWith(name, "movzw") || StartsWith(name, "movsw")) return 2;
  if (StartsWith(name, "movsl")) return 4;
  if (EndsWith(name, "ss") || name == "movd") return 4;
  if (EndsWith(name, "sd")) return 8;
  switch (name.empty() ? ' ' : name.back()) {
    case 'q':
      return 8;
    case 'w':
      return 2;
    case 'b':
      return 1;
    default:
      return 4;
  }
}

struct Function {
  bool counted = false;  // the function belongs to the candidate
  int64_t frame = 0;     // bytes of its locals
  bool has_frame_pointer = false;
  std::vector<std::string_view> callees;  // called functions, as far as the calls name them
  int64_t deepest = 0;   // bytes of the frames in the largest chain of calls that this function is part of
};

// Computes Function::deepest: the frames that exist at the same time are a function's own, those of its callers and
// those of the functions it calls. An array that is cut into the frames of several functions needs as many registers as
// one.
class CallChains {
 public:
  // Finds, for each function, the functions that it calls and those that call it. `by_name`: their indexes.
  explicit CallChains(std::vector<Function>& functions, const std::map<std::string_view, size_t>& by_name) : functions_(functions) {
    below_.assign(functions.size(), kUnknown);
    above_.assign(functions.size(), 0);
    for (size_t i = 0; i < functions.size(); ++i) {
      std::vector<size_t>& callees = callees_.emplace_back();
      for (const std::string_view name : functions[i].callees) {
        if (const auto at = by_name.find(name); at != by_name.end()) callees.push_back(at->second);
      }
    }
    for (size_t i = 0; i < functions.size(); ++i) Below(i, 0);
    // Callers come before what they call.
    std::vector<size_t> order = order_;
    std::reverse(order.begin(), order.end());
    for (const size_t i : order) {
      for (const size_t callee : callees_[i]) above_[callee] = std::max(above_[callee], above_[i] + Own(i));
    }
    for (size_t i = 0; i < functions.size(); ++i) functions[i].deepest = above_[i] + below_[i];
  }

 private:
  static constexpr int64_t kUnknown = -1;
  static constexpr int kMostDeep = 100;  // limit on the length of a chain, because a recursion has no end
  // Returns the frame of function i, if it counts. Below returns the largest sum of frames along a chain of calls that
  // begins at i; a recursion counts as more than there are registers.
  int64_t Own(size_t i) const { return functions_[i].counted ? functions_[i].frame : 0; }
  int64_t Below(size_t i, int depth) {
    if (below_[i] != kUnknown) return below_[i];
    if (depth > kMostDeep || in_progress_.contains(i)) return kRegisterBytes + 1;
    in_progress_.insert(i);
    int64_t most = 0;
    for (const size_t callee : callees_[i]) most = std::max(most, Below(callee, depth + 1));
    in_progress_.erase(i);
    order_.push_back(i);
    return below_[i] = Own(i) + most;
  }

  std::vector<Function>& functions_;
  std::vector<std::vector<size_t>> callees_;
  std::vector<int64_t> below_, above_;
  std::set<size_t> in_progress_;
  std::vector<size_t> order_;
};

// One straight-line piece of code: everything in it runs as often as its first instruction.
struct Piece {
  std::vector<std::string_view> lines;
  size_t first = 0;  // line before which the counting is inserted; 0: nothing to count so far
  bool counts = false;
  int64_t single = 0, special = 0, rounded = 0, wide = 0, integers = 0;
  int64_t read = 0, written = 0, hooked_read = 0, hooked_written = 0;
  bool announced = false;  // there are accesses whose size is not in the hook's name
};

int64_t ParseNumber(std::string_view digits) {
  int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// Parts of the memory operand "displacement(base, index, scale)": its base and whether it has an index.
struct Place {
  std::string_view base;
  bool indexed = false, stored = false;
};
bool PlaceOf(const Instruction& instruction, Place* place) {
  const std::string_view operands = instruction.operands;
  const size_t open = operands.find('(');
  if (open == std::string_view::npos || StartsWith(instruction.name, "lea") || StartsWith(instruction.name, "call") ||
      StartsWith(instruction.name, "j") || StartsWith(instruction.name, "nop") ||
      StartsWith(instruction.name, "prefetch")) {
    return false;
  }
  const size_t close = operands.find(')', open);
  if (close == std::string_view::npos) return false;
  const std::string_view inside = operands.substr(open + 1, close - open - 1);
  place->base = inside.substr(0, inside.find(','));
  place->indexed = inside.find(',') != std::string_view::npos;
  place->stored = operands.find_first_not_of(" \t", close + 1) == std::string_view::npos && operands.find(',') < open;
  return true;
}

// Adds the work of one instruction to the piece of code that it belongs to.
void CountInstruction(Piece& piece, const Function& function, const Instruction& instruction, Origin origin,
                      size_t line) {
  Arithmetic work = ArithmeticOf(instruction);
  if (origin == Origin::kFloatByDouble || origin == Origin::kRounded) work.wide = 0;
  // A sum or product in a stated rounding is computed in double and rounded; on a GPU it is one operation.
  if (origin == Origin::kRounded && (instruction.name == "vcvtsd2ss" || instruction.name == "cvtsd2ss")) work.single = 1;
  const int64_t integers = origin == Origin::kCandidate ? IntegersOf(instruction) : 0;
  bool counts = work.single + work.special + work.wide + integers > 0;
  piece.single += work.single;
  piece.special += work.special;
  piece.wide += work.wide;
  piece.integers += integers;
  // This instruction rounds a result to a float16 or a bfloat16.
  const bool to_bfloat16 = (instruction.name == "addl" && StartsWith(instruction.operands, "$32767,")) ||
                           (instruction.name == "leal" && StartsWith(instruction.operands, "32767("));
  if (instruction.name == "vcvtps2ph" || to_bfloat16) {
    ++piece.rounded;
    counts = true;
  }
  if (function.deepest > kRegisterBytes) {
    std::string_view callee = CalledFunction(instruction);
    if (StartsWith(callee, "hone_sim_")) piece.announced = true;
    if (StartsWith(callee, "__tsan_")) {
      const bool is_read = callee.find("read") != std::string_view::npos,
                 is_write = callee.find("write") != std::string_view::npos;
      const size_t digits = callee.find_last_not_of("0123456789") + 1;
      if ((!is_read && !is_write) || digits == callee.size()) {
        piece.announced = true;
      } else {
        (is_read ? piece.hooked_read : piece.hooked_written) += ParseNumber(callee.substr(digits));
      }
    }
    Place place;
    if (PlaceOf(instruction, &place)) {
      const bool frame = place.base == "%rsp" || (place.base == "%rbp" && function.has_frame_pointer);
      // Data at a fixed position of the frame may be a register on a GPU.
      if (place.base != "%rip" && (!frame || place.indexed)) {
        (place.stored ? piece.written : piece.read) += BytesOf(instruction);
        counts = true;
      }
    }
  }
  if (counts && !piece.counts) {
    piece.counts = true;
    piece.first = line;
  }
}

// Bytes that hooks have announced and that no instruction has moved yet: there may be a branch between the two.
struct Announced {
  int64_t read = 0, written = 0;
};

// Returns the bytes moved but not announced. Further announced bytes belong to the next piece.
int64_t UnannouncedBytes(int64_t moved, int64_t hooked, int64_t* pending) {
  const int64_t total_bytes = hooked + *pending;
  *pending = std::max<int64_t>(0, total_bytes - moved);
  return std::max<int64_t>(0, moved - total_bytes);
}

// Writes the counted work of a piece into the text, if it has any, and begins the next piece.
void Finish(Piece& piece, Announced& pending, std::string* out) {
  std::array<int64_t, kWorkKinds> work{};
  constexpr auto kUnit = static_cast<int64_t>(kWorkPerOperation);
  // Rounding to 16 bits ends one operation, however many instructions it takes here.
  work[kWorkOperations] = kUnit * std::max<int64_t>(0, piece.single - piece.rounded) + kUnit / 2 * piece.rounded;
  work[kWorkSpecial] = piece.special;
  work[kWorkDoubles] = piece.wide;
  // One or two integer operations are the steps of a loop, or an index, which a GPU's compiler may fold into an
  // address. Counting them everywhere would slow the simulator down more than it is worth.
  constexpr int64_t kFewIntegers = 2;
  work[kWorkIntegers] = piece.integers > kFewIntegers ? piece.integers : 0;
  if (!piece.announced) {
    work[kWorkLocalReads] = UnannouncedBytes(piece.read, piece.hooked_read, &pending.read);
    work[kWorkLocalWrites] = UnannouncedBytes(piece.written, piece.hooked_written, &pending.written);
  }
  const bool any = std::any_of(work.begin(), work.end(), [](int64_t n) { return n > 0; });
  for (size_t i = 0; i < piece.lines.size(); ++i) {
    if (any && i == piece.first) {
      *out += "\tpushq\t%rax\n\tpushq\t%rcx\n\tmovq\thone_sim_work@gottpoff(%rip), %rax\n";
      for (int kind = 0; kind < kWorkKinds; ++kind) {
        const int64_t count = work[static_cast<size_t>(kind)];
        if (count == 0) continue;
        *out += fmt::format("\tmovq\t%fs:{0}(%rax), %rcx\n\tleaq\t{1}(%rcx), %rcx\n\tmovq\t%rcx, %fs:{0}(%rax)\n",
                            8 * kind, count);
      }
      *out += "\tpopq\t%rcx\n\tpopq\t%rax\n";
    }
    out->append(piece.lines[i]);
    *out += '\n';
  }
  piece = Piece();
}

template <typename Use>
void EachLine(std::string_view text, Use&& use) {
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    use(text.substr(at, end - at));
    at = end + 1;
  }
}

// Returns whether a function has a name of the simulator's own functions that are not counted: those of hone_sim and
// hone_sim_entry, and the product of fragments. A candidate can define a function of such a name, so the origin of the
// function's text has to agree.
bool HasNameOfTheSimulator(std::string_view name) {
  for (const std::string_view own :
       {"_ZN8hone_sim", "_ZNK8hone_sim", "_ZZN8hone_sim", "_ZN14hone_sim_entry", "_ZN6nvcuda4wmma6detail8MultiplyI"}) {
    if (StartsWith(name, own)) return true;
  }
  return false;
}
bool OfTheSimulator(Origin origin) { return origin != Origin::kCandidate && origin != Origin::kLibrary; }

// Returns the name of the function that begins on a line; empty if none does.
std::string_view FunctionLabel(std::string_view line) {
  if (line.size() < 2 || line.back() != ':' || line[0] == '.' || line[0] == '\t' || line[0] == ' ' || line[0] == '"')
    return {};
  return line.substr(0, line.size() - 1);
}

// Returns the mathematical function whose address a line takes, in an instruction other than a call or in data; empty if
// it takes none. A call through that address names no function, and would not be counted.
std::string_view AddressTaken(std::string_view line, const Instruction& instruction) {
  std::string_view symbol;
  if (const size_t mark = line.find("@GOTPCREL"); mark != std::string_view::npos) {
    if (instruction.name == "call") return {};
    size_t begin = mark;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(line[begin - 1])) != 0 || line[begin - 1] == '_')) --begin;
    symbol = line.substr(begin, mark - begin);
  } else if (StartsWith(line, "\t.quad\t")) {
    symbol = line.substr(7);
    symbol = symbol.substr(0, symbol.find_first_of(" \t+-"));
  }
  const std::optional<MathCost> cost = CostOfMathFunction(symbol);
  return cost && cost->single + cost->special + cost->wide > 0 ? symbol : std::string_view();
}

// Returns the name of the function that counts the work of `function` and jumps to it. The dots keep C++ text from
// spelling it.
std::string CountedName(std::string_view function) { return fmt::format("hone.counted.{}", function); }

std::string ByCountedAddress(std::string_view line, std::string_view function) {
  const auto at = static_cast<size_t>(function.data() - line.data());
  return fmt::format("{}{}{}", line.substr(0, at), CountedName(function), line.substr(at + function.size()));
}

// Returns assembly of a function that adds the work of the mathematical function `function` to the counters, and jumps
// to that function. Arguments and the caller's return address stay as they are.
std::string CountedJump(std::string_view function) {
  const std::string name = CountedName(function), jump = fmt::format("\tjmp\t*{}@GOTPCREL(%rip)", function);
  std::string out = fmt::format("\t.text\n\t.type\t{0}, @function\n{0}:\n", name);
  const MathCost cost = CostOfMathFunction(function).value_or(MathCost());
  Piece piece;
  piece.single = cost.single;
  piece.special = cost.special;
  piece.wide = cost.wide;
  piece.counts = true;
  piece.lines = {jump};
  Announced pending;
  Finish(piece, pending, &out);
  return out + fmt::format("\t.size\t{0}, .-{0}\n", name);
}

}  // namespace

bool HasVariableFrame(std::string_view assembly, std::string_view headers) {
  Positions positions(headers);
  bool own_name = false, counted = true, found = false;
  EachLine(assembly, [&](std::string_view line) {
    if (const std::string_view name = FunctionLabel(line); !name.empty()) {
      own_name = HasNameOfTheSimulator(name);
      counted = true;
      positions.BeginFunction();
    }
    const bool known = positions.known();
    positions.Follow(line);
    if (own_name && !known && positions.known()) counted = !OfTheSimulator(positions.origin());
    const Instruction instruction = InstructionOf(line);
    found |= counted && instruction.name == "subq" && StartsWith(instruction.operands, "%") && EndsWith(instruction.operands, ", %rsp");
  });
  return found;
}

std::string CountWork(std::string_view assembly, std::string_view headers) {
  // A function's frame size is in its prologue, or elsewhere if the compiler moved it past an early return. The first
  // .loc of a function is the place of its definition.
  std::vector<Function> functions(1);
  functions[0].counted = false;
  std::map<std::string_view, size_t> by_name;
  Positions first_positions(headers);
  bool own_name = false;
  EachLine(assembly, [&](std::string_view line) {
    if (const std::string_view name = FunctionLabel(line); !name.empty()) {
      functions.emplace_back();
      functions.back().counted = true;
      own_name = HasNameOfTheSimulator(name);
      first_positions.BeginFunction();
      by_name.emplace(name, functions.size() - 1);
      return;
    }
    const bool known = first_positions.known();
    first_positions.Follow(line);
    if (own_name && !known && first_positions.known()) functions.back().counted = !OfTheSimulator(first_positions.origin());
    const Instruction instruction = InstructionOf(line);
    if (instruction.name == "subq" && StartsWith(instruction.operands, "$") &&
        EndsWith(instruction.operands, ", %rsp")) {
      functions.back().frame = std::max(functions.back().frame, ParseNumber(instruction.operands.substr(1)));
    }
    if (instruction.name == "movq" && instruction.operands == "%rsp, %rbp") functions.back().has_frame_pointer = true;
    if (const std::string_view callee = CalledFunction(instruction); !callee.empty())
      functions.back().callees.push_back(callee);
  });
  CallChains chains(functions, by_name);

  std::string out;
  out.reserve(assembly.size() + assembly.size() / 4);
  size_t number = 0;
  Piece piece;
  Announced pending;
  Positions positions(headers);
  std::set<std::string_view> by_address;   // mathematical functions whose addresses are taken
  std::deque<std::string> changed_lines;  // lines of pieces that differ from the assembly's
  bool inline_assembly = false;  // inline assembly of the simulator's headers; a candidate's own is refused or was
                                 // translated
  EachLine(assembly, [&](std::string_view line) {
    const bool label = !line.empty() && line.back() == ':' && line[0] != '\t' && line[0] != ' ';
    if (label) {
      Finish(piece, pending, &out);
      if (!FunctionLabel(line).empty()) {
        ++number;
        pending = {};
      }
    }
    if (line == "#APP") inline_assembly = true;
    if (line == "#NO_APP") inline_assembly = false;
    positions.Follow(line);
    const Instruction instruction = InstructionOf(line);
    // A candidate's text that is inlined into a function of the simulator, such as an operator that a reduction calls,
    // counts there.
    const bool counts = functions[number].counted || (number > 0 && positions.origin() == Origin::kCandidate);
    if (!instruction.name.empty() && counts && !inline_assembly)
      CountInstruction(piece, functions[number], instruction, positions.origin(), piece.lines.size());
    if (const std::string_view function = AddressTaken(line, instruction); !function.empty()) {
      by_address.insert(function);
      changed_lines.push_back(ByCountedAddress(line, function));
      piece.lines.push_back(changed_lines.back());
    } else {
      piece.lines.push_back(line);
    }
    if (StartsWith(instruction.name, "j") || StartsWith(instruction.name, "ret") || instruction.name == "ud2" ||
        instruction.name == "notrack" || instruction.name == "hlt") {
      Finish(piece, pending, &out);
    }
  });
  Finish(piece, pending, &out);
  for (const std::string_view function : by_address) out += CountedJump(function);
  return out;
}

}  // namespace hone::sim
