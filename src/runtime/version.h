#pragma once

namespace sturnus {

inline constexpr const char* version = "0.1.0";

}  // namespace sturnus
