# Tests of the tree and its builds rather than of the code. They need the whole tree, so they are
# not Bazel's; each has the label `tree`.

function(_tree_test name)
  add_test(NAME "${name}" COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties("${name}" PROPERTIES LABELS tree TIMEOUT 900)
endfunction()

_tree_test(tests/build/bazel_targets_test tests/build/bazel_targets_test.py)
_tree_test(tests/build/format_test tests/build/format_test.sh)
_tree_test(tests/build/targets_in_step_test
  tests/build/targets_in_step_test.py "${PROJECT_BINARY_DIR}")
_tree_test(tests/functional/sentences_test
  tests/functional/sentences_test.py "${PROJECT_BINARY_DIR}")
_tree_test(tests/functional/exported_programs_test
  tests/functional/exported_programs_test.py "$<TARGET_FILE:sturnus_tests_functional_exported_programs>")
set_tests_properties(tests/functional/exported_programs_test PROPERTIES SKIP_RETURN_CODE 77)
_tree_test(tests/app/launcher_test tests/app/launcher_test.sh)
set_tests_properties(tests/app/launcher_test PROPERTIES RUN_SERIAL ON) # it measures time
_tree_test(tests/benchmarks/bench_test tests/benchmarks/bench_test.py)
if(STURNUS_BUILD_APP AND NOT STURNUS_SANITIZE)
  _tree_test(tests/app/readers_test
    tests/app/readers_test.py "$<TARGET_FILE:sturnus_app_sturnus>")
  set_tests_properties(tests/app/readers_test PROPERTIES SKIP_RETURN_CODE 77)
endif()

# What users do: install, then build against the installed Sturnus or against the source tree.
if(STURNUS_INSTALL AND NOT STURNUS_SANITIZE)
  set(prefix "${PROJECT_BINARY_DIR}/prefix")
  _tree_test(tests/consumer/install
    "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}" --prefix "${prefix}")
  set_tests_properties(tests/consumer/install PROPERTIES FIXTURES_SETUP prefix)

  function(_consumer_test name source)
    _tree_test("${name}"
      "${CMAKE_CTEST_COMMAND}" --build-and-test
      "${PROJECT_SOURCE_DIR}/${source}" "${PROJECT_BINARY_DIR}/${name}"
      --build-generator "${CMAKE_GENERATOR}" --build-noclean --build-target consumer
      --build-options "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}"
      --test-command consumer)
    set_tests_properties("${name}" PROPERTIES FIXTURES_REQUIRED prefix)
  endfunction()
  _consumer_test(tests/consumer/find_package tests/consumer)
  _consumer_test(tests/consumer/as_subdirectory tests/consumer/as_subdirectory)

  _tree_test(tests/docs/docs_test
    tests/docs/docs_test.py --prefix "${prefix}" --work "${PROJECT_BINARY_DIR}/tests/docs")
  set_tests_properties(tests/docs/docs_test PROPERTIES FIXTURES_REQUIRED prefix)
endif()
