# Outside libraries, each brought in when a BUILD.bazel first names it: the system's where it has
# one, else a pinned release (the pins are those of bazel/deps.bzl). NetCDF comes from the system
# alone: it stands on HDF5, and both have builds of their own.
include_guard(GLOBAL)
include(FetchContent)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON) # so that projects which add this one see them too
set(CMAKE_POLICY_DEFAULT_CMP0077 NEW) # fetched projects heed the options set here
if(POLICY CMP0135)
  cmake_policy(SET CMP0135 NEW) # files of an archive are as old as their unpacking
endif()

# Defines the CMake targets of the library that Bazel calls @<repository>. Sets `found_by` to the
# arguments with which find_package finds it.
function(sturnus_provide repository)
  if(repository STREQUAL "com_google_absl")
    set(CMAKE_CXX_STANDARD 20)
    set(ABSL_PROPAGATE_CXX_STD ON)
    set(ABSL_ENABLE_INSTALL "${STURNUS_INSTALL}")
    _provide(absl absl::strings ""
      https://github.com/abseil/abseil-cpp/releases/download/20240722.0/abseil-cpp-20240722.0.tar.gz
      f50e5ac311a81382da7fa75b97310e4b9006474f9560ac46f54a9967f07d4ae3)
  elseif(repository STREQUAL "boost") # 1.75 is the first with PFR
    _provide("Boost 1.75" Boost::headers "."
      https://archives.boost.io/release/1.84.0/source/boost_1_84_0.tar.gz
      a5800f405508f5df8114558ca9855d2640a2de8f0445f051fa1c7c3383045724)
  elseif(repository STREQUAL "cli11")
    _provide(CLI11 CLI11::CLI11 include
      https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.5.0.tar.gz
      17e02b4cddc2fa348e5dbdbb582c59a3486fa2b2433e70a0c3bacb871334fd55)
  elseif(repository STREQUAL "eigen")
    _provide(Eigen3 Eigen3::Eigen "."
      https://gitlab.com/libeigen/eigen/-/archive/3.4.0/eigen-3.4.0.tar.gz
      8586084f71f9bde545ee7fa6d00288b264a2b7ac3607b974e54d13e7162c1c72)
  elseif(repository STREQUAL "nlohmann_json")
    _provide(nlohmann_json nlohmann_json::nlohmann_json include
      https://github.com/nlohmann/json/archive/refs/tags/v3.11.3.tar.gz
      0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406)
  elseif(repository STREQUAL "netcdf")
    _provide(netCDF netCDF::netcdf "" "" "")
  elseif(repository STREQUAL "com_google_googletest")
    set(INSTALL_GTEST OFF)
    _provide(GTest GTest::gmock ""
      https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz
      8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7)
  elseif(repository STREQUAL "com_github_google_benchmark")
    set(BENCHMARK_ENABLE_TESTING OFF)
    set(BENCHMARK_ENABLE_INSTALL OFF)
    _provide(benchmark benchmark::benchmark ""
      https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz
      6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce)
  endif()
  set(found_by "${found_by}" PARENT_SCOPE)
endfunction()

# `headers` is the include folder of a header-only library, empty for one that has to be built.
function(_provide package target headers url sha256)
  set(found_by "${package}" PARENT_SCOPE)
  string(REPLACE " " ";" package "${package}") # a name, perhaps with a version
  if(NOT TARGET "${target}")
    find_package(${package} QUIET CONFIG)
  endif()
  if(TARGET "${target}")
    return()
  endif()
  list(GET package 0 name)
  if(url STREQUAL "")
    string(TOLOWER "${name}" name)
    message(FATAL_ERROR "lib${name} is not on this system, and is not fetched. Install it (Debian and "
      "Ubuntu: apt-get install lib${name}-dev).")
  endif()
  message(STATUS "${name}: not on this system, fetching ${url}")
  if(headers)
    set(no_build SOURCE_SUBDIR no_build) # a folder that is not there: downloads and stops
  endif()
  FetchContent_Declare("${name}" URL "${url}" URL_HASH "SHA256=${sha256}" ${no_build})
  FetchContent_MakeAvailable("${name}")
  if(headers)
    FetchContent_GetProperties("${name}" SOURCE_DIR source)
    add_library("${target}" INTERFACE IMPORTED GLOBAL)
    target_include_directories("${target}" INTERFACE "${source}/${headers}")
  endif()
endfunction()
