//===- NpyFormat.cpp - One array of a NumPy archive -----------------------===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "NpzFormat.h"

#include "sparseattn-rt/CheckedMath.h"

#include <algorithm>
#include <cstring>

using namespace sart;

static constexpr std::string_view magic("\x93NUMPY", 6);
static constexpr size_t maxDimensions = 32;

int64_t NpzArray::elements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int64_t npz::elementBytes(std::string_view dtype) {
  static constexpr std::string_view known[] = {
      "f2", "f4", "f8", "b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"};
  for (std::string_view name : known)
    if (name == dtype)
      return name[1] - '0';
  return 0;
}

namespace {

/// The header: a Python dictionary literal with the keys descr, fortran_order
/// and shape, in any order.
class HeaderParser {
public:
  explicit HeaderParser(std::string_view text) : text(text) {}

  std::string descr;
  bool fortranOrder = false;
  std::vector<int64_t> shape;

  Status parse() {
    SART_RETURN_IF_ERROR(expect('{'));
    bool haveDescr = false, haveOrder = false, haveShape = false;
    while (!accept('}')) {
      std::string key;
      SART_RETURN_IF_ERROR(parseString(key));
      SART_RETURN_IF_ERROR(expect(':'));
      bool *have = key == "descr"           ? &haveDescr
                   : key == "fortran_order" ? &haveOrder
                   : key == "shape"         ? &haveShape
                                            : nullptr;
      if (!have || *have)
        return makeError("key of an npy header ",
                         have ? "stands twice" : "not known", ": got '", key,
                         "', expected descr, fortran_order and shape");
      *have = true;
      if (have == &haveDescr)
        SART_RETURN_IF_ERROR(parseDescr());
      else if (have == &haveOrder)
        SART_RETURN_IF_ERROR(parseBool());
      else
        SART_RETURN_IF_ERROR(parseShape());
      if (!accept(',')) {
        SART_RETURN_IF_ERROR(expect('}'));
        break;
      }
    }
    skipSpace();
    if (position != text.size())
      return unexpected("the end of the header");
    if (!haveDescr || !haveOrder || !haveShape)
      return makeError("npy header not complete: expected descr, "
                       "fortran_order and shape");
    return Status::success();
  }

private:
  Status unexpected(const char *expected) const {
    std::string found =
        position < text.size() ? concat("'", text[position], "'") : "its end";
    if (position < text.size() &&
        (text[position] < 0x20 || text[position] > 0x7e))
      found =
          concat("byte ",
                 static_cast<int>(static_cast<unsigned char>(text[position])));
    return makeError("npy header malformed at character ", position, ": got ",
                     found, ", expected ", expected);
  }
  void skipSpace() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\n' ||
            text[position] == '\t'))
      ++position;
  }
  bool accept(char c) {
    skipSpace();
    if (position >= text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }
  Status expect(char c) {
    if (accept(c))
      return Status::success();
    const char wanted[] = {'\'', c, '\'', 0};
    return unexpected(wanted);
  }

  Status parseString(std::string &value) {
    skipSpace();
    char quote = accept('\'') ? '\'' : accept('"') ? '"' : 0;
    if (!quote)
      return unexpected("a string");
    size_t end = text.find(quote, position);
    if (end == std::string_view::npos)
      return makeError("npy header malformed: string without end");
    value = std::string(text.substr(position, end - position));
    position = end + 1;
    return Status::success();
  }

  Status parseDescr() {
    skipSpace();
    if (position < text.size() && text[position] == '[')
      return makeError("dtype not supported: got a structured dtype, expected "
                       "f2, f4, f8, b1 or an integer dtype");
    return parseString(descr);
  }

  Status parseBool() {
    skipSpace();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text.substr(position, word.size()) == word) {
        position += word.size();
        fortranOrder = value;
        return Status::success();
      }
    }
    return unexpected("True or False");
  }

  Status parseShape() {
    SART_RETURN_IF_ERROR(expect('('));
    while (!accept(')')) {
      skipSpace();
      int64_t size = 0;
      size_t begin = position;
      while (position < text.size() && text[position] >= '0' &&
             text[position] <= '9') {
        std::optional<int64_t> more = checkedMul(size, 10);
        if (more)
          more = checkedAdd(*more, text[position] - '0');
        if (!more)
          return makeError("size of an array out of range: expected below "
                           "2^63");
        size = *more;
        ++position;
      }
      if (position == begin)
        return unexpected("a size");
      // Python 2 wrote long integers.
      if (position < text.size() && text[position] == 'L')
        ++position;
      if (shape.size() == maxDimensions)
        return makeError("number of dimensions out of range: expected at most ",
                         maxDimensions);
      shape.push_back(size);
      if (!accept(',')) {
        SART_RETURN_IF_ERROR(expect(')'));
        break;
      }
    }
    return Status::success();
  }

  std::string_view text;
  size_t position = 0;
};

} // namespace

/// Copies Fortran-ordered elements to C order.
static std::vector<uint8_t> transposed(const uint8_t *data,
                                       const NpzArray &array, int64_t bytes) {
  std::vector<uint8_t> result(static_cast<size_t>(array.elements() * bytes));
  size_t rank = array.shape.size();
  std::vector<int64_t> index(rank, 0), strides(rank, bytes);
  for (size_t d = 1; d < rank; ++d)
    strides[d] = strides[d - 1] * array.shape[d - 1];
  int64_t source = 0;
  for (size_t target = 0; target < result.size();
       target += static_cast<size_t>(bytes)) {
    std::memcpy(result.data() + target, data + source,
                static_cast<size_t>(bytes));
    // The next index in C order, the last dimension fastest.
    for (size_t d = rank; d-- > 0;) {
      source += strides[d];
      if (++index[d] < array.shape[d])
        break;
      source -= strides[d] * array.shape[d];
      index[d] = 0;
    }
  }
  return result;
}

/// Drops the byte order, which must be little endian.
static Status takeDType(const std::string &descr, std::string &dtype) {
  bool ordered = !descr.empty() && std::strchr("<>=|", descr[0]);
  dtype = descr.substr(ordered ? 1 : 0);
  int64_t bytes = npz::elementBytes(dtype);
  if (bytes == 0)
    return makeError("dtype not supported: got '", descr,
                     "', expected f2, f4, f8, b1 or an integer dtype "
                     "(bfloat16 as u2)");
  if (descr[0] == '>' && bytes > 1)
    return makeError("byte order not supported: got big-endian '", descr,
                     "', expected little-endian '<", dtype, "'");
  if (descr[0] == '|' && bytes > 1)
    return makeError("byte order missing: got '", descr, "', expected '<",
                     dtype, "'");
  return Status::success();
}

Expected<NpzArray> npz::parseNpy(const uint8_t *data, size_t size) {
  if (size < 10 || std::memcmp(data, magic.data(), magic.size()) != 0)
    return makeError("npy magic missing: got ", size,
                     " bytes without it, expected an array that NumPy saved");
  int major = data[6];
  size_t headerBytes = data[8] | size_t(data[9]) << 8, begin = 10;
  if (major < 1 || major > 3)
    return makeError("npy version not supported: got ", major,
                     ", expected 1 to 3");
  if (major > 1) {
    if (size < 12)
      return makeError("npy header truncated: got ", size,
                       " bytes, expected at least 12");
    headerBytes |= size_t(data[10]) << 16 | size_t(data[11]) << 24;
    begin = 12;
  }
  if (headerBytes > size - begin)
    return makeError("npy header truncated: got ", size - begin,
                     " bytes, expected ", headerBytes);
  HeaderParser header(std::string_view(
      reinterpret_cast<const char *>(data + begin), headerBytes));
  SART_RETURN_IF_ERROR(header.parse());
  NpzArray array;
  SART_RETURN_IF_ERROR(takeDType(header.descr, array.dtype));
  array.shape = std::move(header.shape);
  int64_t bytes = elementBytes(array.dtype);
  bool empty = std::count(array.shape.begin(), array.shape.end(), 0) > 0;
  // NumPy refuses an empty array by its other sizes too.
  std::optional<int64_t> extent = checkedExtent(bytes, array.shape);
  if (!extent)
    return makeError("size of an array out of range: expected below 2^63 "
                     "bytes");
  int64_t total = empty ? 0 : *extent;
  size_t present = size - begin - headerBytes;
  if (static_cast<uint64_t>(total) != present)
    return makeError("data of an array does not match its shape: got ", present,
                     " bytes, expected ", total);
  const uint8_t *elements = data + begin + headerBytes;
  if (header.fortranOrder && array.shape.size() > 1 && !empty)
    array.data = transposed(elements, array, bytes);
  else
    array.data.assign(elements, elements + present);
  return array;
}

std::string npz::npyHeader(const NpzArray &array) {
  std::string text =
      concat("{'descr': '", elementBytes(array.dtype) == 1 ? "|" : "<",
             array.dtype, "', 'fortran_order': False, 'shape': (");
  for (size_t d = 0; d < array.shape.size(); ++d)
    text += concat(d > 0 ? " " : "", array.shape[d],
                   d + 1 < array.shape.size() || d == 0 ? "," : "");
  text += "), }";
  // The array begins on a 64-byte border, as NumPy has it.
  size_t length = (10 + text.size() + 1 + 63) / 64 * 64 - 10;
  text.resize(length - 1, ' ');
  text += '\n';
  std::string result(magic);
  result += '\1';
  result += '\0';
  result += static_cast<char>(length & 0xFF);
  result += static_cast<char>(length >> 8);
  return result + text;
}
