# cmake -DSOURCE=… -DOUT=… -P WriteCommit.cmake: writes the commit that SOURCE is at to the source file OUT, and leaves OUT
# alone where it says so already. A folder that is no clone of its own (an unpacked archive, even inside another
# repository) has no commit: the string is empty.
set(commit "")
set(changed false)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} rev-parse --show-toplevel WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" source)
  if(top)
    file(REAL_PATH "${top}" top)
  endif()
  if(top STREQUAL source)
    execute_process(COMMAND ${GIT} rev-parse --verify HEAD WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    # --no-optional-locks: a build must not stand in the way of a git command that runs beside it.
    execute_process(COMMAND ${GIT} --no-optional-locks status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
                    OUTPUT_VARIABLE changes ERROR_QUIET)
    if(NOT changes STREQUAL "")
      set(changed true)
    endif()
  endif()
endif()
set(text "// Written by cmake/WriteCommit.cmake at build time.
extern const char hone_build_commit[];
extern const bool hone_build_changed;
const char hone_build_commit[] = \"${commit}\";
const bool hone_build_changed = ${changed};
")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUT} "${text}")
endif()
