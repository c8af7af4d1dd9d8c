# What `find_package(sturnus CONFIG)` and the installed program need. Libraries, headers and program
# are installed where they are defined, in BazelTargets.cmake.
include(CMakePackageConfigHelpers)

set(config_folder "${CMAKE_INSTALL_LIBDIR}/cmake/sturnus")
install(EXPORT sturnus_targets NAMESPACE sturnus:: FILE sturnusTargets.cmake
  DESTINATION "${config_folder}")

get_property(dependencies GLOBAL PROPERTY sturnus_find_dependencies)
list(REMOVE_DUPLICATES dependencies)
list(JOIN dependencies "\n" dependencies)
file(CONFIGURE OUTPUT sturnusConfig.cmake @ONLY CONTENT [[
include(CMakeFindDependencyMacro)
@dependencies@
include("${CMAKE_CURRENT_LIST_DIR}/sturnusTargets.cmake")
]])
write_basic_package_version_file(sturnusConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/sturnusConfig.cmake" "${PROJECT_BINARY_DIR}/sturnusConfigVersion.cmake"
  DESTINATION "${config_folder}")

install(PROGRAMS src/runtime/fetch_plugin.py DESTINATION "${CMAKE_INSTALL_DATADIR}/sturnus")
if(STURNUS_INSTALL_PLUGIN)
  install(FILES "${STURNUS_PJRT_PACKAGE}/xla_cpu_pjrt.so"
    DESTINATION lib/sturnus/xla_plugins/xla_cpu_pjrt)
endif()
