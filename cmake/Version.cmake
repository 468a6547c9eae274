# Facts about this build that `--version` prints. The commit stands in a file of its own, which a build step rewrites only
# when the commit has changed: a new commit compiles one small file and links the programs, and nothing else.
set(HONE_COMMIT_FILE ${PROJECT_BINARY_DIR}/generated/commit.cc)
add_custom_target(hone_commit
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${HONE_COMMIT_FILE} -P ${PROJECT_SOURCE_DIR}/cmake/WriteCommit.cmake
  BYPRODUCTS ${HONE_COMMIT_FILE}
  COMMENT "Looking at the commit"
  VERBATIM)

set(HONE_CUDA_VERSION "")
if(HONE_HAVE_CUDA)
  execute_process(COMMAND ${HONE_NVCC} --version OUTPUT_VARIABLE hone_nvcc_version ERROR_QUIET)
  if(hone_nvcc_version MATCHES "V([0-9.]+)")
    set(HONE_CUDA_VERSION ${CMAKE_MATCH_1})
  endif()
endif()
