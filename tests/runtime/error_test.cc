#include <gtest/gtest.h>
#include <sturnus/runtime/error.h>

#include <type_traits>

namespace sturnus {
namespace {

static_assert(std::is_base_of_v<std::runtime_error, Error>);
static_assert(std::is_base_of_v<Error, PluginError>);
static_assert(std::is_base_of_v<Error, RuntimeError>);
static_assert(std::is_nothrow_copy_constructible_v<Error>);

TEST(ErrorCode, HasTheNumbersAndNamesOfPjrt) {
  constexpr std::string_view names[] = {"OK",
                                        "CANCELLED",
                                        "UNKNOWN",
                                        "INVALID_ARGUMENT",
                                        "DEADLINE_EXCEEDED",
                                        "NOT_FOUND",
                                        "ALREADY_EXISTS",
                                        "PERMISSION_DENIED",
                                        "RESOURCE_EXHAUSTED",
                                        "FAILED_PRECONDITION",
                                        "ABORTED",
                                        "OUT_OF_RANGE",
                                        "UNIMPLEMENTED",
                                        "INTERNAL",
                                        "UNAVAILABLE",
                                        "DATA_LOSS",
                                        "UNAUTHENTICATED"};
  int number = 0;
  for (std::string_view name : names) EXPECT_EQ(to_string(static_cast<ErrorCode>(number++)), name);
  EXPECT_EQ(number - 1, static_cast<int>(ErrorCode::unauthenticated));
  EXPECT_EQ(to_string(ErrorCode::resource_exhausted), "RESOURCE_EXHAUSTED");
}

TEST(ErrorCode, OfAFutureVersionShowsItsNumber) {
  EXPECT_EQ(to_string(static_cast<ErrorCode>(17)), "code 17");
  EXPECT_EQ(to_string(static_cast<ErrorCode>(-1)), "code -1");
}

TEST(RuntimeError, KeepsCallCodeAndDetail) {
  RuntimeError error("PJRT_Client_Compile", ErrorCode::invalid_argument, "no such flag");
  EXPECT_EQ(error.call(), "PJRT_Client_Compile");
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error.detail(), "no such flag");
  EXPECT_STREQ(error.what(), "PJRT_Client_Compile: no such flag [INVALID_ARGUMENT]");
}

}  // namespace
}  // namespace sturnus
