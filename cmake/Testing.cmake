# hone_test(NAME [LABELS …] [TIMEOUT s] [COST s] [APART …] SOURCES … LIBRARIES …): one GoogleTest program, one CTest entry.
# COST: about how many seconds it takes, where that is many: CTest starts the longest first, and a clean clone has no
# record of its own. APART: see hone_compile_together.
# TIMEOUT ends what hangs, and is far above what a test takes on a machine that has much else to do.
# An empty program is a failure: gtest's own "no tests" exit is caught by the count check.
if(HONE_BUILD_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
endif()
function(hone_test name)
  if(NOT HONE_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "COST;TIMEOUT" "APART;SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gmock GTest::gtest GTest::gtest_main hone_warnings hone_sanitizers)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE HONE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" HONE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  # Tests run once: optimising them costs more time than it saves.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  hone_compile_together(${name} AT_ONCE 6 APART ${arg_APART})
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
  if(arg_COST)
    set_tests_properties(${name} PROPERTIES COST ${arg_COST})
  endif()
endfunction()
