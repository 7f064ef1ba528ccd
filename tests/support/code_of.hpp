// The code of the error that an action throws; it is a failure if it throws none.
#pragma once

#include <shoal/base/error.hpp>

#include <gtest/gtest.h>

namespace shoal::test {

ErrorCode code_of(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::internal;
}

}  // namespace shoal::test
