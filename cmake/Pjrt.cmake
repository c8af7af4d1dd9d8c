# The XLA CPU plugin and its C header, from the wheel that src/runtime/fetch_plugin.py pins.
#
#   STURNUS_PJRT_DIR     the unpacked wheel, holding xla_plugins/xla_cpu_pjrt: nothing is fetched
#   STURNUS_PJRT_WHEEL   the wheel itself, already downloaded
#   STURNUS_CACHE        where wheels are unpacked, shared by all builds; default ~/.cache/sturnus
# Each is a CMake or an environment variable.
#
# Defines the targets sturnus_pjrt_headers and sturnus_pjrt_build_cache, and STURNUS_PJRT_PACKAGE,
# the folder of the plugin.
include_guard(GLOBAL)

foreach(variable STURNUS_PJRT_DIR STURNUS_PJRT_WHEEL STURNUS_CACHE)
  if(DEFINED "${variable}")
    set("ENV{${variable}}" "${${variable}}")
  endif()
endforeach()

if(NOT "$ENV{STURNUS_PJRT_DIR}" STREQUAL "")
  set(unpacked "$ENV{STURNUS_PJRT_DIR}")
  get_filename_component(unpacked "${unpacked}" ABSOLUTE BASE_DIR "${CMAKE_BINARY_DIR}")
  set(build_cache "${unpacked}/xla_plugins/xla_cpu_pjrt")
else()
  find_package(Python3 3.8 COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(FATAL_ERROR "Python 3.8 or newer is needed to fetch the XLA CPU plugin. Install it "
      "(Debian and Ubuntu: apt-get install python3 python3-pip), or set STURNUS_PJRT_DIR to the "
      "unpacked wheel.")
  endif()
  execute_process(
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/src/runtime/fetch_plugin.py" cpu
    OUTPUT_VARIABLE unpacked OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_VARIABLE message RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${message}")
  endif()
  get_filename_component(build_cache "${unpacked}/../../.." ABSOLUTE)
endif()

set(STURNUS_PJRT_PACKAGE "${unpacked}/xla_plugins/xla_cpu_pjrt")
foreach(file xla_cpu_pjrt.so include/pjrt_c_api.h)
  if(NOT EXISTS "${STURNUS_PJRT_PACKAGE}/${file}")
    message(FATAL_ERROR "STURNUS_PJRT_DIR is ${unpacked}, where there is no "
      "xla_plugins/xla_cpu_pjrt/${file}. Set it to the unpacked wheel xla-cpu-pjrt.")
  endif()
endforeach()
message(STATUS "XLA CPU plugin: ${STURNUS_PJRT_PACKAGE}")

add_library(sturnus_pjrt_headers INTERFACE IMPORTED GLOBAL)
target_include_directories(sturnus_pjrt_headers INTERFACE "${STURNUS_PJRT_PACKAGE}/include")
add_library(sturnus_pjrt_build_cache INTERFACE IMPORTED GLOBAL)
target_compile_definitions(sturnus_pjrt_build_cache INTERFACE STURNUS_BUILD_CACHE="${build_cache}")

# A fixed place for scripts and people to look.
file(CREATE_LINK "${STURNUS_PJRT_PACKAGE}" "${PROJECT_BINARY_DIR}/plugin" SYMBOLIC)
