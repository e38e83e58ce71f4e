//===- TextLimits.cpp - Text that the parser can take ---------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "sparseattn/Support/TextLimits.h"

#include <algorithm>
#include <unordered_map>

using namespace mlir::sparseattn;
using sart::Status;

namespace {

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool isNamePart(char c) {
  return isLetter(c) || (c >= '0' && c <= '9') || c == '.' || c == '$';
}

class TextScan {
public:
  explicit TextScan(std::string_view text) : text(text) {}

  Status run() {
    for (; at < text.size(); ++at)
      if (const char *what = step())
        return sart::makeError("line ", line, ": ", what, ": got more than ",
                               maxTextNesting, ", expected at most that");
    return Status::success();
  }

private:
  char next() const { return at + 1 < text.size() ? text[at + 1] : '\0'; }

  /// What there is too much of, or null.
  const char *step() {
    switch (text[at]) {
    case '\n':
      ++line;
      return nullptr;
    case '"':
      skipString();
      return nullptr;
    case '/':
      if (next() == '/') {
        at = std::min(text.find('\n', at), text.size());
        ++line;
      }
      return nullptr;
    case '<':
      return next() == '=' ? nullptr : open();
    case '(':
    case '[':
    case '{':
      return open();
    case '>':
      // The ends of an arrow and of a comparison open nothing.
      if (next() != '=' && (at == 0 || text[at - 1] != '-'))
        close();
      return nullptr;
    case ')':
    case ']':
    case '}':
      close();
      return nullptr;
    case '+':
    case '*':
      return countOperator();
    case '-':
      return next() == '>' ? nullptr : countOperator();
    case 'm':
      return isWord("mod") ? countOperator() : nullptr;
    case 'f':
      return isWord("floordiv") ? countOperator() : nullptr;
    case 'c':
      return isWord("ceildiv") ? countOperator() : nullptr;
    case ',':
    case ':':
    case '=':
      operators[depth] = 0;
      return nullptr;
    case '!':
    case '#':
      return name();
    default:
      return nullptr;
    }
  }

  void skipString() {
    // A string, or the rest of the line when it has no end.
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
    line += at < text.size() && text[at] == '\n';
  }

  const char *open() {
    if (depth == maxTextNesting)
      return "nesting of the text";
    operators[++depth] = 0;
    deepest = std::max(deepest, depth - begin);
    return nullptr;
  }

  void close() { depth -= depth > 0; }

  const char *countOperator() {
    return ++operators[depth] > maxTextNesting ? "operators of an expression"
                                               : nullptr;
  }

  /// What stands before does not matter: `2mod` are two words.
  bool isWord(std::string_view word) const {
    return text.substr(at, word.size()) == word &&
           (at + word.size() == text.size() ||
            !isNamePart(text[at + word.size()]));
  }

  /// The definition of an alias, or a use of what may be one, which nests as
  /// deeply as the alias does.
  const char *name() {
    size_t end = at + 1;
    while (end < text.size() && (isNamePart(text[end]) || text[end] == '-'))
      ++end;
    std::string_view name = text.substr(at, end - at);
    at = end - 1;
    size_t behind = text.find_first_not_of(" \t\r\n", end);
    if (behind != std::string_view::npos && text[behind] == '=' &&
        text.substr(behind, 2) != "==") {
      if (!defined.empty())
        aliases[defined] = deepest;
      defined = name;
      begin = depth;
      deepest = 0;
      return nullptr;
    }
    // The first use of an alias is behind its definition, whose end is not
    // looked for: what stands between counts as its own.
    if (name == defined) {
      aliases[name] = deepest;
      defined = {};
    }
    auto alias = aliases.find(name);
    int64_t nested = 1 + (alias == aliases.end() ? 0 : alias->second);
    if (depth + nested > maxTextNesting)
      return "nesting of the text";
    deepest = std::max(deepest, depth - begin + nested);
    return nullptr;
  }

  std::string_view text;
  size_t at = 0;
  int64_t line = 1, depth = 0;
  int64_t operators[maxTextNesting + 1] = {}; ///< of each open bracket
  /// The alias that was defined last, the depth of its definition, and how much
  /// deeper what follows it nests.
  std::string_view defined;
  int64_t begin = 0, deepest = 0;
  std::unordered_map<std::string_view, int64_t> aliases;
};

} // namespace

Status mlir::sparseattn::checkTextLimits(std::string_view text) {
  return TextScan(text).run();
}
