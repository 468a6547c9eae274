# cmake -DBUILD=… -DSOURCE=… -DGENERATOR=… -DCOMPILER=… -DWITH_CUDA=… -DWORK=… -P find_package.cmake: an example outside Hone's
# build is configured against an installed Hone, built, and trains its model; and what is missing is named with the remedy.
file(REMOVE_RECURSE ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix --component development COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
# The prefix is moved: nothing in it may know where it was installed, or where the sources are.
file(RENAME ${WORK}/prefix ${WORK}/moved)
file(GLOB_RECURSE texts ${WORK}/moved/lib/cmake/*)
foreach(text IN LISTS texts)
  file(READ ${text} content)
  if(content MATCHES "${SOURCE}/|${BUILD}/|${WORK}/")
    message(FATAL_ERROR "${text} names a folder of the machine that built it: ${CMAKE_MATCH_0}")
  endif()
endforeach()

set(common -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${WORK}/moved)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/examples/gnn_own_operation -B ${WORK}/example ${common} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/example COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/example/example_gnn_own_operation ${SOURCE}/examples/gnn_own_operation/gatv2.toml cpu COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/examples/judge_kernel -B ${WORK}/judge ${common} COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK}/judge COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/judge/example_judge_kernel ERROR_VARIABLE said)
if(NOT said MATCHES "usage: example_judge_kernel")
  message(FATAL_ERROR "example_judge_kernel of an installed Hone did not run: ${said}")
endif()

# expect(MESSAGE ARGUMENTS…): configuring `finds` with ARGUMENTS fails, and says MESSAGE.
function(expect message)
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE}/tests/consumer/finds -B ${WORK}/finds --fresh ${common} ${ARGN}
                  RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
  # CMake breaks lines where it likes.
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${message}" at)
  if(status EQUAL 0 OR at EQUAL -1)
    message(FATAL_ERROR "find_package(hone) with ${ARGN} should have failed with '${message}', and said: ${said}")
  endif()
endfunction()
expect("Hone has no component 'gnm'; it has gnn, gnn-cuda, tuner" -DASKED=gnm)
expect("links a library that is not here: the library openblas was not found: install libopenblas-openmp-dev" -DASKED=gnn -DHONE_LINKED_openblas=)
if(WITH_CUDA)
  expect("install the CUDA toolkit" -DASKED=gnn-cuda -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)
else()
  expect("configure, build and install Hone again with -DHONE_CUDA=ON" -DASKED=gnn-cuda)
endif()
file(REMOVE_RECURSE ${WORK})
