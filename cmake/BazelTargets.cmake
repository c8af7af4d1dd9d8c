# Makes CMake targets from BUILD.bazel files, so that one list of sources serves both builds.
#
#   sturnus_add_bazel_targets(<folder>...)     folders of the project that have a BUILD.bazel
#
# Reads the literal subset of Bazel's language that the project uses: rules with keyword arguments
# whose values are strings, True, False, lists of strings, or a dictionary of strings. All else
# (glob, select, a variable, an unknown rule, attribute or label) is an error.
#
#   //src/runtime:runtime         library sturnus_runtime, alias sturnus::runtime
#   //src/app:sturnus             program <build>/src/app/sturnus, target sturnus_app_sturnus
#   //tests/runtime:buffer_test   program <build>/tests/runtime/buffer_test, and the test of that name
include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/Dependencies.cmake")

# What each rule may say.
set(_attributes_cc_library
    name srcs hdrs deps copts linkopts data tags testonly include_prefix strip_include_prefix)
set(_attributes_cc_binary name srcs deps copts linkopts linkshared data tags testonly)
set(_attributes_cc_test name srcs deps copts linkopts data env tags size)
set(_attributes_sh_test name srcs data env tags size)
set(_attributes_filegroup name srcs)
set(_attributes_alias name actual)
set(_attributes_package default_visibility)
set(_attributes_exports_files "")
set(_attributes_load "")

# Labels of outside libraries: how they are linked, and their CMake targets.
# PUBLIC: our public headers include theirs. PRIVATE: we link them. HEADERS: only our sources
# include theirs, so that users of an installed Sturnus do not need them.
set("@boost//:headers" PUBLIC Boost::headers)
set("@eigen//:eigen" PUBLIC Eigen3::Eigen)
set("@cli11//:cli11" HEADERS CLI11::CLI11)
set("@nlohmann_json//:json" HEADERS nlohmann_json::nlohmann_json)
set("@xla_cpu_pjrt//:build_cache" HEADERS sturnus_pjrt_build_cache)
set("@xla_cpu_pjrt//:headers" HEADERS sturnus_pjrt_headers)
set("@netcdf//:netcdf" PRIVATE netCDF::netcdf)
set("@com_github_google_benchmark//:benchmark" PRIVATE benchmark::benchmark)
set("@com_github_google_benchmark//:benchmark_main" PRIVATE benchmark::benchmark_main)
set("@com_google_googletest//:gtest" PRIVATE GTest::gmock GTest::gtest)
set("@com_google_googletest//:gtest_main" PRIVATE GTest::gmock GTest::gtest GTest::gtest_main)

# Bazel's time limits for tests, in seconds.
set(_limit_small 60)
set(_limit_ 300)
set(_limit_medium 300)
set(_limit_large 900)
set(_limit_enormous 3600)

function(sturnus_add_bazel_targets)
  foreach(folder IN LISTS ARGN)
    _read_build_file("${folder}")
  endforeach()
  get_property(uses GLOBAL PROPERTY sturnus_uses)
  while(uses)
    list(POP_FRONT uses user used target)
    if(NOT TARGET "${target}")
      message(FATAL_ERROR "${user}: there is no `${used}`.")
    endif()
  endwhile()
endfunction()

# Cuts a BUILD file into tokens, sets a variable for each attribute of a rule (`name`, `srcs`, ...;
# empty where not given), and calls the function _add_<rule>, which sees these variables.
function(_read_build_file package)
  set(file "${PROJECT_SOURCE_DIR}/${package}/BUILD.bazel")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  file(READ "${file}" text)
  string(REGEX REPLACE "(^|\n)[ ]*#[^\n]*" "\\1" text "${text}")
  string(REPLACE "[" "<" text "${text}") # within brackets CMake does not split lists
  string(REPLACE "]" ">" text "${text}")
  string(REGEX MATCHALL "\"[^\"\n]*\"|[A-Za-z0-9_]+|[^ \n]" tokens "${text}")

  set(rule "")
  foreach(token IN LISTS tokens)
    if(token MATCHES "^\"(.*)\"$")
      list(APPEND "${attribute}" "${CMAKE_MATCH_1}")
    elseif(token MATCHES "^(True|False)$")
      set("${attribute}" "${token}")
    elseif(token STREQUAL "(")
      set(attribute positional)
    elseif(token STREQUAL ")")
      if(COMMAND "_add_${rule}")
        cmake_language(CALL "_add_${rule}")
      endif()
      set(rule "")
    elseif(token MATCHES "^[=,:<>{}]$")
      continue()
    elseif(rule STREQUAL "" AND DEFINED "_attributes_${token}")
      set(rule "${token}")
      foreach(attribute IN LISTS _attributes_cc_library _attributes_cc_binary _attributes_cc_test)
        set("${attribute}" "")
      endforeach()
    elseif(NOT rule STREQUAL "" AND token IN_LIST "_attributes_${rule}")
      set(attribute "${token}")
    else()
      message(FATAL_ERROR "${file}: ${rule} ${name}: `${token}` is not a rule, attribute or literal "
        "that cmake/BazelTargets.cmake reads. Do without it, or teach it there.")
    endif()
  endforeach()
endfunction()

# Sets <out> to the name behind `sturnus_` and `sturnus::`, empty for a file of the source tree:
# "//src/runtime:runtime", "//src/runtime", or ":runtime" within that folder -> runtime;
# "//tests/runtime:libfake.so" -> tests_runtime_libfake_so. Sets <out>_FILE to the file.
function(_resolve label out)
  if(label MATCHES "^//([^:]+):([^:]+)$")
    set(folder "${CMAKE_MATCH_1}")
    set(last "${CMAKE_MATCH_2}")
  elseif(label MATCHES "^//(.*/)?([^/:]+)$")
    set(folder "${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    set(last "${CMAKE_MATCH_2}")
  elseif(label MATCHES "^:?([^:@]+)$")
    set(folder "${package}")
    set(last "${CMAKE_MATCH_1}")
  else()
    message(FATAL_ERROR "//${package}:${name}: `${label}` is not a label within the project.")
  endif()
  set(file "${PROJECT_SOURCE_DIR}/${folder}/${last}")
  set(short "")
  if(NOT EXISTS "${file}")
    get_filename_component(folder_name "${folder}" NAME)
    string(REGEX REPLACE "^src(/|$)" "" short "${folder}")
    if(NOT last STREQUAL folder_name)
      string(APPEND short "/${last}")
    endif()
    string(REGEX REPLACE "^/" "" short "${short}")
    string(MAKE_C_IDENTIFIER "${short}" short)
    set(file "$<TARGET_FILE:sturnus_${short}>")
  endif()
  set("${out}" "${short}" PARENT_SCOPE)
  set("${out}_FILE" "${file}" PARENT_SCOPE)
endfunction()

# Links what `deps` names. Each label becomes a scope and CMake targets, as in the table above.
function(_link target)
  foreach(label IN LISTS deps)
    if(label MATCHES "^@([^/]+)")
      sturnus_provide("${CMAKE_MATCH_1}")
    endif()
    if(label MATCHES "^@com_google_absl//absl/.*[/:]([^/:]+)$|^@com_google_absl//absl/([^/:]+)$")
      set(libraries PRIVATE "absl::${CMAKE_MATCH_1}${CMAKE_MATCH_2}")
    elseif(DEFINED "${label}")
      set(libraries "${${label}}")
    elseif(label MATCHES "^@")
      message(FATAL_ERROR "//${package}:${name}: `${label}` does not stand in the table of outside "
        "libraries in cmake/BazelTargets.cmake.")
    else()
      _resolve("${label}" short)
      set(libraries PUBLIC "sturnus::${short}")
      set_property(GLOBAL APPEND PROPERTY sturnus_uses
        "//${package}:${name}" "${label}" "sturnus::${short}")
    endif()
    list(POP_FRONT libraries scope)
    if(scope STREQUAL "HEADERS")
      set(scope PRIVATE)
      list(TRANSFORM libraries REPLACE "(.+)" "$<BUILD_INTERFACE:\\1>")
    endif()
    get_target_property(type "${target}" TYPE)
    if(type STREQUAL "INTERFACE_LIBRARY")
      set(scope INTERFACE)
    endif()
    target_link_libraries("${target}" "${scope}" ${libraries})
    if(label MATCHES "^@" AND NOT libraries MATCHES "BUILD_INTERFACE" AND package MATCHES "^src/")
      set_property(GLOBAL APPEND PROPERTY sturnus_find_dependencies
        "find_dependency(${found_by} CONFIG)")
    endif()
  endforeach()
endfunction()

# What compiled targets of every kind share.
function(_configure target)
  target_compile_features("${target}" PRIVATE cxx_std_20)
  set_target_properties("${target}" PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories("${target}" PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options("${target}" PRIVATE ${STURNUS_COMPILE_OPTIONS} ${copts})
  target_link_libraries("${target}" PRIVATE ${linkopts})
  _link("${target}")
  if(PROJECT_IS_TOP_LEVEL AND NOT copts)
    _precompile("${target}")
  endif()
endfunction()

# Headers that nearly every file of a kind includes are parsed once. There is one such set for each
# kind of flags: tests, the rooms that define ops, those that use them, and the program. Files still
# include all that they use, as Bazel has no such thing.
set(_precompiled_tests <gmock/gmock.h> <gtest/gtest.h> <sturnus/functional/grad.h>
    <sturnus/functional/jit.h> <sturnus/functional/vmap.h> <sturnus/ops/arithmetic.h>)
set(_precompiled_ops <sturnus/functional/op.h> <sturnus/functional/transform.h>)
set(_precompiled_inference <sturnus/functional/control_flow.h> <sturnus/functional/grad.h>
    <sturnus/functional/jit.h> <sturnus/functional/vmap.h> <sturnus/ops/arithmetic.h>)
set(_precompiled_app <filesystem> <functional> <nlohmann/json.hpp> <sturnus/functional/jit.h>)
set(CMAKE_PCH_PROLOGUE "") # else they would count as headers of the system, without warnings

function(_precompile target)
  get_target_property(type "${target}" TYPE)
  if(deps MATCHES "@com_google_googletest//")
    set(kind tests)
    set(libraries GTest::gmock GTest::gtest)
  elseif(package MATCHES "^src/(functional|ops)$")
    set(kind ops)
    set(libraries Boost::headers)
  elseif(package MATCHES "^src/inference/")
    set(kind inference)
    set(libraries)
  elseif(package STREQUAL "src/app" AND type STREQUAL "STATIC_LIBRARY")
    set(kind app)
    set(libraries nlohmann_json::nlohmann_json)
  else()
    return()
  endif()
  set(owner "sturnus_precompiled_${kind}")
  if(NOT TARGET "${owner}")
    set(empty "${PROJECT_BINARY_DIR}/precompiled/${kind}.cc")
    file(CONFIGURE OUTPUT "${empty}" CONTENT "")
    add_library("${owner}" OBJECT "${empty}")
    target_compile_features("${owner}" PRIVATE cxx_std_20)
    get_target_property(pic "${target}" POSITION_INDEPENDENT_CODE)
    # Without a launcher: ccache 4.7 may give back a precompiled header of older headers.
    set_target_properties("${owner}" PROPERTIES
      CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE "${pic}" CXX_COMPILER_LAUNCHER "")
    target_include_directories("${owner}" PRIVATE "${PROJECT_BINARY_DIR}/include")
    target_compile_options("${owner}" PRIVATE ${STURNUS_COMPILE_OPTIONS})
    target_link_libraries("${owner}" PRIVATE ${libraries})
    target_precompile_headers("${owner}" PRIVATE ${_precompiled_${kind}})
  endif()
  target_precompile_headers("${target}" REUSE_FROM "${owner}")
endfunction()

function(_add_cc_library)
  _resolve(":${name}" short)
  set(target "sturnus_${short}")
  list(TRANSFORM srcs PREPEND "${PROJECT_SOURCE_DIR}/${package}/")
  if(srcs MATCHES "\\.cc")
    add_library("${target}" ${srcs})
    target_compile_features("${target}" PUBLIC cxx_std_20)
    target_include_directories("${target}" PUBLIC
      "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
      "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    if(NOT testonly) # a test's own library is compiled as the test is
      set_target_properties("${target}" PROPERTIES POSITION_INDEPENDENT_CODE ON)
    endif()
    _configure("${target}")
  else()
    add_library("${target}" INTERFACE)
    target_compile_features("${target}" INTERFACE cxx_std_20)
    target_include_directories("${target}" INTERFACE
      "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
      "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    _link("${target}")
  endif()
  add_library("sturnus::${short}" ALIAS "${target}")
  set_target_properties("${target}" PROPERTIES EXPORT_NAME "${short}")

  if(STURNUS_INSTALL AND package MATCHES "^src(/.*)?$" AND NOT package STREQUAL "src/app")
    install(TARGETS "${target}" EXPORT sturnus_targets)
    list(TRANSFORM hdrs PREPEND "${PROJECT_SOURCE_DIR}/${package}/")
    install(FILES ${hdrs} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/sturnus${CMAKE_MATCH_1}")
  endif()
endfunction()

function(_add_cc_binary)
  _resolve(":${name}" short)
  set(target "sturnus_${short}")
  list(TRANSFORM srcs PREPEND "${PROJECT_SOURCE_DIR}/${package}/")
  if(linkshared)
    add_library("${target}" MODULE ${srcs})
    set_target_properties("${target}" PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${package}" PREFIX "" SUFFIX "")
  else()
    add_executable("${target}" ${srcs})
    set_target_properties("${target}" PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${package}")
  endif()
  set_target_properties("${target}" PROPERTIES OUTPUT_NAME "${name}")
  _configure("${target}")

  if(STURNUS_INSTALL AND package STREQUAL "src/app")
    set_target_properties("${target}" PROPERTIES
      INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
    install(TARGETS "${target}")
  endif()
endfunction()

# Tests run in the source tree, as Bazel runs them in its image of it.
function(_add_test)
  add_test(NAME "${package}/${name}" COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set(environment "")
  while(env)
    list(POP_FRONT env variable value)
    if(value MATCHES "^\\$\\(rootpath (.+)\\)$")
      _resolve("${CMAKE_MATCH_1}" short)
      set(value "${short_FILE}")
    endif()
    list(APPEND environment "${variable}=${value}")
  endwhile()
  set(limit "${_limit_${size}}")
  if(STURNUS_SANITIZE)
    math(EXPR limit "4 * ${limit}")
  endif()
  set_tests_properties("${package}/${name}" PROPERTIES
    ENVIRONMENT "${environment};${STURNUS_TEST_ENVIRONMENT}" LABELS "${tags}" TIMEOUT "${limit}")
  if("exclusive" IN_LIST tags)
    set_tests_properties("${package}/${name}" PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()

function(_add_cc_test)
  _add_cc_binary()
  _resolve(":${name}" short)
  foreach(label IN LISTS data)
    if(NOT label MATCHES "^@")
      _resolve("${label}" used)
      if(used)
        add_dependencies("sturnus_${short}" "sturnus_${used}")
      endif()
    endif()
  endforeach()
  _add_test("sturnus_${short}")
endfunction()

# Files that tests read in the source tree: nothing to build, but a label to depend on.
function(_add_filegroup)
  _resolve(":${name}" short)
  if(short)
    add_custom_target("sturnus_${short}")
  endif()
endfunction()

function(_add_sh_test)
  _add_test("${PROJECT_SOURCE_DIR}/${package}/${srcs}")
endfunction()
