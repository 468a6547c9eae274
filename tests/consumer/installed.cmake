# cmake -DBUILD=… -DPREFIX=… -DCACHE=… -P installed.cmake: what is installed works from where it lies, without the source
# tree, started in a folder that has no tasks.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX} --component hone COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
set(ENV{HONE_CACHE} ${CACHE})
execute_process(COMMAND ${PREFIX}/bin/hone eval relu ${PREFIX}/share/hone/tasks/relu/seed.cu --device sim --no-time
                WORKING_DIRECTORY ${PREFIX} COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${PREFIX})
