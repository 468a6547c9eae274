# cmake -DBUILD=… -DPREFIX=… -DCACHE=… -P installed.cmake: what is installed works from where it lies, without the source
# tree, started in a folder that has no tasks.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --component hone COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
set(ENV{HONE_CACHE} ${CACHE})
execute_process(COMMAND ${PREFIX}/bin/hone eval relu ${PREFIX}/share/hone/tasks/relu/seed.cu --device sim --no-time
                WORKING_DIRECTORY ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
# Help names the documents where they lie.
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --component documents COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
execute_process(COMMAND ${PREFIX}/bin/hone optimize --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
if(NOT help MATCHES "More: ([^\n]+)\n")
  message(FATAL_ERROR "`hone optimize --help` of an installed program names no document")
endif()
if(NOT EXISTS "${CMAKE_MATCH_1}")
  message(FATAL_ERROR "`hone optimize --help` of an installed program names no document that is there: ${CMAKE_MATCH_1}")
endif()
file(REMOVE_RECURSE ${PREFIX})
