//===- Status.h - Errors of the runtime -------------------------*- C++ -*-===//
//
// Part of the sparseattn project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime neither throws nor aborts: every function that can fail returns
// a Status or an Expected. Messages read `<what> <relation>: got X, expected
// Y`, lower case, without a final stop.
//
//===----------------------------------------------------------------------===//
#ifndef SPARSEATTN_RT_STATUS_H
#define SPARSEATTN_RT_STATUS_H

#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace sart {

/// Success, or one error message.
class [[nodiscard]] Status {
public:
  static Status success() { return Status(); }
  static Status error(std::string message) {
    Status status;
    status.failureMessage = std::move(message);
    return status;
  }
  bool ok() const { return !failureMessage.has_value(); }
  /// The message of a failed status; empty on success.
  const std::string &message() const {
    static const std::string none;
    return failureMessage ? *failureMessage : none;
  }

private:
  std::optional<std::string> failureMessage;
};

/// Builds a message from streamable parts.
template <typename... Parts>
std::string concat(const Parts &...parts) {
  std::ostringstream stream;
  (stream << ... << parts);
  return stream.str();
}

/// A failed status whose message is the concatenation of `parts`.
template <typename... Parts>
Status makeError(const Parts &...parts) {
  return Status::error(concat(parts...));
}

/// A value, or the Status that says why there is none.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : stored(std::move(value)) {}
  Expected(Status failure) : failure(std::move(failure)) {}
  bool ok() const { return stored.has_value(); }
  explicit operator bool() const { return ok(); }
  const Status &status() const { return failure; }
  const std::string &message() const { return failure.message(); }
  T &operator*() { return *stored; }
  const T &operator*() const { return *stored; }
  T *operator->() { return &*stored; }
  const T *operator->() const { return &*stored; }

private:
  std::optional<T> stored;
  Status failure;
};

} // namespace sart

/// Returns from the enclosing function when `expression` is a failed Status.
#define SART_RETURN_IF_ERROR(expression)                                       \
  do {                                                                         \
    if (::sart::Status sartStatus = (expression); !sartStatus.ok())            \
      return sartStatus;                                                       \
  } while (false)

#endif // SPARSEATTN_RT_STATUS_H
