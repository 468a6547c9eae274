// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses the PTX of one statement: braces, register declarations, predicates, operands. The opcodes are in
// ptx_instruction.cc.
#include "tuner/device/sim/cuda/ptx_translate.h"

#include <cctype>
#include <map>
#include <optional>
#include <vector>

#include "tuner/device/sim/cuda/ptx_instruction.h"

namespace hone {
namespace {

bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
std::string Trim(const std::string& s) {
  size_t begin = 0, end = s.size();
  while (begin < end && IsSpace(s[begin])) ++begin;
  while (end > begin && IsSpace(s[end - 1])) --end;
  return s.substr(begin, end - begin);
}

// Contents of an undefined register: a NaN as float, an invalid address as integer, so that its use shows.
constexpr char kUndefined[] = "0xffbadbadffbadbadull";

// Returns PTX without its comments.
std::string WithoutComments(const std::string& s) {
  std::string out;
  for (size_t i = 0; i < s.size();) {
    if (s.compare(i, 2, "//") == 0) {
      i = s.find('\n', i);
      if (i == std::string::npos) break;
    } else if (s.compare(i, 2, "/*") == 0) {
      const size_t end = s.find("*/", i + 2);
      out += ' ';
      if (end == std::string::npos) break;
      i = end + 2;
    } else {
      out += s[i++];
    }
  }
  return out;
}

// Splits `s` at commas outside brackets.
std::vector<std::string> SplitAtCommas(const std::string& s) {
  std::vector<std::string> pieces(1);
  int depth = 0;
  for (const char c : s) {
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c == ',' && depth == 0)
      pieces.emplace_back();
    else
      pieces.back() += c;
  }
  for (std::string& piece : pieces) piece = Trim(piece);
  if (pieces.size() == 1 && pieces[0].empty()) pieces.clear();
  return pieces;
}

// Returns the special registers that can be read, with the C++ expressions of their values.
const std::map<std::string, std::string>& SpecialRegisters() {
  static const std::map<std::string, std::string> registers = [] {
    std::map<std::string, std::string> r = {
        {"%laneid", "hone_sim::Index<HONE_SIM_LANE>()"},
        {"%warpid", "hone_sim::Index<HONE_SIM_WARP>()"},
        {"%smid", "hone_sim::Index<HONE_SIM_SM_ID>()"},
        {"%nsmid", "hone_sim::Index<HONE_SIM_SM_COUNT>()"},
        {"%dynamic_smem_size", "hone_sim::Index<HONE_SIM_DYNAMIC_SHARED>()"},
        {"%lanemask_eq", "hone_ptx::LaneMask('e')"},
        {"%lanemask_lt", "hone_ptx::LaneMask('l')"},
        {"%lanemask_le", "hone_ptx::LaneMask('L')"},
        {"%lanemask_gt", "hone_ptx::LaneMask('g')"},
        {"%lanemask_ge", "hone_ptx::LaneMask('G')"},
        {"%clock", "static_cast<uint32_t>(hone_sim_clock())"},
        {"%clock64", "hone_sim_clock()"},
        {"%globaltimer", "hone_sim_globaltimer()"},
        {"%globaltimer_lo", "static_cast<uint32_t>(hone_sim_globaltimer())"},
        {"WARP_SZ", "32"},
    };
    const std::pair<const char*, const char*> kTriples[] = {
        {"tid", "THREAD"}, {"ntid", "BLOCK_DIM"}, {"ctaid", "BLOCK"}, {"nctaid", "GRID_DIM"}};
    for (const auto& [ptx, index] : kTriples) {
      for (const char* axis : {"x", "y", "z"}) {
        std::string name(1, '%'), call = "hone_sim::Index<HONE_SIM_";
        name.append(ptx).append(".").append(axis);
        call.append(index).append("_").append(1, static_cast<char>(std::toupper(axis[0]))).append(">()");
        r[name] = call;
      }
    }
    return r;
  }();
  return registers;
}

class Translator {
 public:
  explicit Translator(const AsmStatement& statement) : statement_(statement) {}

  Result<std::string> Run() {
    HONE_RETURN_IF_ERROR(Bind());
    const std::string text = WithoutComments(statement_.text);
    size_t i = 0;
    while (i < text.size()) {
      const char c = text[i];
      if (IsSpace(c) || c == ';') {
        ++i;
      } else if (c == '{') {
        scopes_.emplace_back();
        body_ += "{ ";
        ++i;
      } else if (c == '}') {
        if (scopes_.size() == 1) return Fail("closes a brace that it did not open");
        scopes_.pop_back();
        body_ += "} ";
        ++i;
      } else {
        const size_t end = text.find(';', i);
        if (end == std::string::npos) return Fail("'" + RestoreAsmText(Trim(text.substr(i))) + "' has no semicolon");
        HONE_RETURN_IF_ERROR(TranslateStatement(Trim(text.substr(i, end - i))));
        i = end + 1;
      }
    }
    if (scopes_.size() != 1) return Fail("leaves a brace open");
    // `asm volatile("" ::: "memory")` orders memory accesses for the compiler, and must still do so.
    if (body_.empty()) body_ = "__atomic_signal_fence(__ATOMIC_SEQ_CST); ";
    return "do { " + entry_ + body_ + exit_ + "} while (0)";
  }

 private:
  using Scope = std::map<std::string, std::pair<std::string, bool>>;  // PTX name -> C++ name, is a predicate

  Status Fail(const std::string& what) const {
    return Status::InvalidArgument("line " + std::to_string(statement_.line) + ": inline PTX " + what);
  }
  // Restores, for messages, operand marks to the candidate's text.
  static std::string RestoreAsmText(const std::string& s) {
    std::string out;
    for (const char c : s) {
      if (c == kAsmOperandMark)
        out += '%';
      else if (c == kAsmTextMark)
        out += '#';
      else if (c != kAsmMarkEnd)
        out += c;
    }
    return out;
  }

  // Declares C++ variables for the operands: read at entry, written at exit.
  Status Bind() {
    for (size_t n = 0; n < statement_.operands.size(); ++n) {
      const AsmOperand& operand = statement_.operands[n];
      const std::string number = std::to_string(n), variable = "hone_p" + number;
      std::string letters;
      int tied = -1;
      bool reads = !operand.output;
      for (const char c : operand.constraint) {
        if (c == '+')
          reads = true;
        else if (c >= '0' && c <= '9')
          tied = c - '0';
        else if (c != '=' && c != '&' && c != ' ')
          letters += c;
      }
      const std::string expression = "(" + operand.expression + ")";
      if (tied >= 0) {
        // The operand shares a register with an output, which starts with this value.
        if (static_cast<size_t>(tied) >= n) return Fail("ties an operand to one that is not before it");
        entry_ += "hone_p" + std::to_string(tied) + " = hone_ptx::Enter" + expression + "; ";
        continue;
      }
      if (letters.size() != 1 || std::string("rlhfdn").find(letters) == std::string::npos) {
        return Fail("has a constraint \"" + operand.constraint + "\" that is not emulated");
      }
      std::string value = "hone_ptx::Enter" + expression;
      if (letters == "f") value = "hone_ptx::Enter(static_cast<float>" + expression + ")";
      if (letters == "d") value = "hone_ptx::Enter(static_cast<double>" + expression + ")";
      if (operand.output) {
        entry_ += "auto& hone_o" + number + " = " + expression + "; ";
        if (reads) value = "hone_ptx::Enter(hone_o" + number + ")";
        exit_ += "hone_ptx::Leave(hone_o" + number + ", " + variable + "); ";
      }
      entry_ += "uint64_t " + variable + " = " + (reads ? value : kUndefined) + "; ";
    }
    return Status::Ok();
  }

  // Translates one statement: a declaration, or an instruction with its guard.
  Status TranslateStatement(const std::string& s) {
    if (s[0] == '.') return Declare(s);
    std::string unguarded = s, guard;
    if (unguarded[0] == '@') {
      size_t end = 1;
      while (end < unguarded.size() && !IsSpace(unguarded[end])) ++end;
      const std::optional<PtxOperand> predicate = ParseOperand(unguarded.substr(1, end - 1));
      if (!predicate)
        return Fail("has a guard '" + RestoreAsmText(unguarded.substr(0, end)) + "' that is no predicate");
      // An asm operand as a guard would be an integer register in PTX, which is not legal.
      if (predicate->kind != PtxOperand::Kind::kPredicate) return Fail("has a guard that is no predicate");
      guard = "if (" + predicate->text + ") { ";
      unguarded = Trim(unguarded.substr(end));
    }
    size_t end = 0;
    while (end < unguarded.size() && !IsSpace(unguarded[end])) {
      if (unguarded[end] == '{' || unguarded[end] == '[') break;  // `ldmatrix…{%0}` without a space
      ++end;
    }
    PtxInstruction instruction;
    instruction.opcode = RestoreAsmText(unguarded.substr(0, end));
    if (instruction.opcode.empty()) return Fail("has an empty instruction");
    if (instruction.opcode.back() == ':' || unguarded.find(':', end) == end || instruction.opcode == "bra") {
      return Fail("'" + instruction.opcode + "': labels and branches are not emulated by the simulated GPU");
    }
    for (const char c : instruction.opcode) {
      if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != ':') {
        return Fail("'" + instruction.opcode + "' is not an opcode");
      }
    }
    instruction.parts.emplace_back();
    for (const char c : instruction.opcode) {
      if (c == '.')
        instruction.parts.emplace_back();
      else
        instruction.parts.back() += c;
    }
    // Opcodes are checked before operands, which gives the better message.
    for (const std::string& piece : SplitAtCommas(unguarded.substr(end))) {
      const std::optional<PtxOperand> operand = ParseOperand(piece);
      if (!operand) {
        PtxInstruction bare = instruction;
        const Result<std::string> emitted = EmitPtx(bare);
        if (!emitted.ok() && emitted.status().message().find("not emulated") != std::string::npos)
          return Located(emitted.status());
        return Fail("'" + instruction.opcode + "' has an operand '" + RestoreAsmText(piece) +
                    "' that is not understood");
      }
      instruction.operands.push_back(*operand);
    }
    const Result<std::string> emitted = EmitPtx(instruction);
    if (!emitted.ok()) return Located(emitted.status());
    body_ += guard + *emitted + (guard.empty() ? "" : "} ");
    return Status::Ok();
  }

  Status Located(const Status& status) const {
    return Status(status.code(), "line " + std::to_string(statement_.line) + ": " + status.message());
  }

  // Handles .reg .f32 a, b<4>;
  Status Declare(const std::string& s) {
    if (s.compare(0, 4, ".reg") != 0)
      return Fail("'" + RestoreAsmText(s.substr(0, s.find_first_of(" \t\n"))) +
                  "' is not emulated by the simulated GPU");
    const size_t dot = s.find('.', 4);
    size_t end = dot == std::string::npos ? dot : dot + 1;
    while (end < s.size() && std::isalnum(static_cast<unsigned char>(s[end]))) ++end;
    if (dot == std::string::npos) return Fail("'" + RestoreAsmText(s) + "' declares no type");
    const std::string type = s.substr(dot + 1, end - dot - 1);
    if (type == "b128" || type.compare(0, 1, "v") == 0)
      return Fail("'.reg ." + type + "' is not emulated by the simulated GPU");
    const bool predicate = type == "pred";
    auto declare = [&](const std::string& name) {
      std::string cpp = "hone_r_";
      for (const char c : name)
        cpp += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? std::string(1, c) : std::string("x");
      scopes_.back()[name] = {cpp, predicate};
      body_ += predicate ? "bool " + cpp + " = false; " : "uint64_t " + cpp + " = " + kUndefined + "; ";
    };
    for (const std::string& piece : SplitAtCommas(s.substr(end))) {
      const size_t angle = piece.find('<');
      if (angle == std::string::npos) {
        declare(piece);
        continue;
      }
      const int count = std::atoi(piece.c_str() + angle + 1);
      if (count <= 0 || count > 256) return Fail("'" + piece + "' declares an impossible number of registers");
      for (int k = 0; k < count; ++k) declare(piece.substr(0, angle) + std::to_string(k));
    }
    return Status::Ok();
  }

  // Parses an operand; nullopt: it is of no known form.
  std::optional<PtxOperand> ParseOperand(const std::string& text) const {
    PtxOperand operand;
    if (text.empty()) return std::nullopt;
    if (text == "_") {
      operand.kind = PtxOperand::Kind::kSink;
      return operand;
    }
    if (text.front() == '{') {
      if (text.back() != '}') return std::nullopt;
      operand.kind = PtxOperand::Kind::kVector;
      for (const std::string& piece : SplitAtCommas(text.substr(1, text.size() - 2))) {
        const std::optional<PtxOperand> element = ParseOperand(piece);
        if (!element) return std::nullopt;
        operand.elements.push_back(*element);
      }
      return operand;
    }
    if (text.front() == '[') {
      if (text.back() != ']') return std::nullopt;
      return ParseAddress(Trim(text.substr(1, text.size() - 2)));
    }
    const size_t bar = text.find('|');
    if (bar != std::string::npos) {
      std::optional<PtxOperand> first = ParseOperand(Trim(text.substr(0, bar)));
      const std::optional<PtxOperand> second = ParseOperand(Trim(text.substr(bar + 1)));
      if (!first || !second) return std::nullopt;
      if (second->kind == PtxOperand::Kind::kSink)
        first->pair = "_";
      else if (second->kind == PtxOperand::Kind::kPredicate)
        first->pair = second->text;
      else
        return std::nullopt;
      return first;
    }
    if (text.front() == '!') {
      std::optional<PtxOperand> inner = ParseOperand(Trim(text.substr(1)));
      if (!inner || inner->kind != PtxOperand::Kind::kPredicate) return std::nullopt;
      inner->text = "!" + inner->text;
      return inner;
    }
    if (text.front() == kAsmOperandMark) {
      if (text.back() != kAsmMarkEnd) return std::nullopt;
      const std::string number = text.substr(1, text.size() - 2);
      if (number.find(kAsmMarkEnd) != std::string::npos) return std::nullopt;
      const AsmOperand& bound = statement_.operands[static_cast<size_t>(std::stoul(number))];
      operand.kind = bound.constraint == "n" ? PtxOperand::Kind::kInteger : PtxOperand::Kind::kRegister;
      operand.text = "hone_p" + number;
      return operand;
    }
    if (text.front() == kAsmTextMark) {
      operand.text = "(" + text.substr(1, text.find(kAsmMarkEnd) - 1) + ")";
      return operand;
    }
    for (size_t k = scopes_.size(); k-- > 0;) {
      const auto found = scopes_[k].find(text);
      if (found == scopes_[k].end()) continue;
      operand.kind = found->second.second ? PtxOperand::Kind::kPredicate : PtxOperand::Kind::kRegister;
      operand.text = found->second.first;
      return operand;
    }
    const auto special = SpecialRegisters().find(text);
    if (special != SpecialRegisters().end()) {
      operand.text = special->second;
      return operand;
    }
    return ParseLiteral(text);
  }

  // Parses what stands in an address's brackets: a register or a number, and an offset.
  std::optional<PtxOperand> ParseAddress(const std::string& text) const {
    const size_t sign = text.find_first_of("+-", 1);
    const std::optional<PtxOperand> base = ParseOperand(Trim(text.substr(0, sign)));
    if (!base || (base->kind != PtxOperand::Kind::kRegister && base->kind != PtxOperand::Kind::kInteger))
      return std::nullopt;
    PtxOperand operand;
    operand.kind = PtxOperand::Kind::kAddress;
    operand.text = base->kind == PtxOperand::Kind::kInteger ? "static_cast<uint64_t>(" + base->text + ")" : base->text;
    if (sign != std::string::npos) {
      // Three forms of an offset are accepted: `[a + 16]`, `[a + -16]`, and `[a + %2]` where %2 is an "n" operand.
      const std::optional<PtxOperand> offset = ParseOperand(Trim(text.substr(sign + 1)));
      if (!offset || offset->kind != PtxOperand::Kind::kInteger) return std::nullopt;
      operand.text += " " + std::string(1, text[sign]) + " static_cast<uint64_t>(" + offset->text + ")";
    }
    return operand;
  }

  // Parses a number: an integer, or a float by its bits (0f3f800000).
  static std::optional<PtxOperand> ParseLiteral(const std::string& text) {
    PtxOperand operand;
    std::string digits = text;
    const bool negative = digits[0] == '-';
    if (negative) digits.erase(0, 1);
    if (digits.empty() || !std::isdigit(static_cast<unsigned char>(digits[0]))) return std::nullopt;
    if (digits.size() > 2 && digits[0] == '0' &&
        (digits[1] == 'f' || digits[1] == 'F' || digits[1] == 'd' || digits[1] == 'D')) {
      const bool is_float = digits[1] == 'f' || digits[1] == 'F';
      if (negative || digits.size() != (is_float ? 10u : 18u)) return std::nullopt;
      for (size_t k = 2; k < digits.size(); ++k) {
        if (!std::isxdigit(static_cast<unsigned char>(digits[k]))) return std::nullopt;
      }
      operand.kind = PtxOperand::Kind::kBits;
      operand.text = "0x" + digits.substr(2) + "ull";
      return operand;
    }
    const bool hexadecimal = digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    bool is_float = false;
    for (size_t k = hexadecimal ? 2 : 0; k < digits.size(); ++k) {
      const char c = digits[k];
      if (hexadecimal ? std::isxdigit(static_cast<unsigned char>(c)) : std::isdigit(static_cast<unsigned char>(c)))
        continue;
      if (!hexadecimal && (c == '.' || c == 'e' || c == 'E' || (c == '-' && k > 0) || (c == '+' && k > 0))) {
        is_float = true;
        continue;
      }
      if ((c == 'u' || c == 'U') && k + 1 == digits.size()) {
        digits.pop_back();
        break;
      }
      return std::nullopt;
    }
    operand.kind = is_float ? PtxOperand::Kind::kFloat : PtxOperand::Kind::kInteger;
    operand.text = (negative ? "-" : "") + digits + (is_float ? "" : "ll");
    return operand;
  }

  const AsmStatement& statement_;
  std::vector<Scope> scopes_ = std::vector<Scope>(1);
  std::string entry_, body_, exit_;
};

}  // namespace

Result<std::string> TranslatePtx(const AsmStatement& statement) { return Translator(statement).Run(); }

}  // namespace hone
