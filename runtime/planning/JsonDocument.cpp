//===- JsonDocument.cpp - JSON read strictly ------------------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonDocument.h"

#include <algorithm>
#include <vector>

using namespace sart;
using Json = nlohmann::ordered_json;

namespace {

constexpr size_t maxDepth = 64;
/// Members are compared with each other.
constexpr size_t maxMembers = 1024;

/// Builds the value from the parser's events; the first error ends it.
class Builder : public nlohmann::json_sax<Json> {
public:
  Json root;
  std::string problem;
  size_t problemAt = std::string::npos; ///< byte, where it is known

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t & /*text*/) override {
    return add(value);
  }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t & /*value*/) override { return false; }
  bool start_object(size_t /*size*/) override { return open(Json::object()); }
  bool start_array(size_t /*size*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t &name) override {
    if (nesting.back()->contains(name)) {
      problem = concat("member '", name, "': got it twice, expected it once");
      return false;
    }
    if (nesting.back()->size() >= maxMembers) {
      problem = concat("members: got more than ", maxMembers,
                       " in one object, expected less");
      return false;
    }
    member = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string & /*token*/,
                   const nlohmann::detail::exception & /*error*/) override {
    problem = "got no JSON, expected JSON";
    problemAt = position;
    return false;
  }

private:
  Json *place(Json value) {
    if (nesting.empty()) {
      root = std::move(value);
      return &root;
    }
    Json &outer = *nesting.back();
    if (outer.is_array()) {
      outer.push_back(std::move(value));
      return &outer.back();
    }
    return &(outer[member] = std::move(value));
  }
  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json value) {
    if (nesting.size() >= maxDepth) {
      problem = concat("depth: got more than ", maxDepth, ", expected less");
      return false;
    }
    nesting.push_back(place(std::move(value)));
    return true;
  }
  bool close() {
    nesting.pop_back();
    return true;
  }

  // An outer value does not grow while an inner one is open, so that pointers
  // into it stay.
  std::vector<Json *> nesting;
  std::string member;
};

} // namespace

Expected<Json> sart::parseJson(std::string_view text) {
  Builder builder;
  if (Json::sax_parse(text.begin(), text.end(), &builder))
    return std::move(builder.root);
  if (builder.problemAt == std::string::npos)
    return Status::error(builder.problem);
  auto end = text.begin() + static_cast<std::ptrdiff_t>(
                                std::min(builder.problemAt, text.size()));
  return makeError("line ", 1 + std::count(text.begin(), end, '\n'), ": ",
                   builder.problem);
}
