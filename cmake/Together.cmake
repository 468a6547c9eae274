# hone_compile_together(TARGET AT_ONCE n [APART files…]): hands the compiler TARGET's sources n at a time, which CMake
# calls a unity build. Headers, and templates that every file instantiates anew, are most of what our files cost: tests
# (GoogleTest), the programs' commands (CLI11), whatever deals in text and JSON. Kernels and the graph engine's arithmetic
# (ops, nn, sample, batch) stay apart: their files are few, large and compiled with flags of their own.
#   APART  files that are compiled by themselves, because they give a name of their own (in an unnamed namespace, a
#          macro) that another file of the target gives as well. "Redefinition of …" between two files says that one of
#          them belongs here, or wants a better name.
# Files with compile options of their own stay apart by themselves. -DHONE_COMPILE_TOGETHER=OFF compiles each file alone:
# the better choice while editing one test, and what shows an #include that only a neighbour has.
option(HONE_COMPILE_TOGETHER "Compile several sources of tests and programs at once" ON)
function(hone_compile_together target)
  cmake_parse_arguments(arg "" "AT_ONCE" "APART" ${ARGN})
  if(NOT HONE_COMPILE_TOGETHER)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE BATCH UNITY_BUILD_BATCH_SIZE ${arg_AT_ONCE})
  if(arg_APART)
    get_target_property(sources ${target} SOURCES)
    foreach(file IN LISTS arg_APART)
      if(NOT file IN_LIST sources)
        message(FATAL_ERROR "${target} has no source ${file} to compile apart")
      endif()
    endforeach()
    set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
