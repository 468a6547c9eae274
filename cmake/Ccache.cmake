# Uses ccache where it is installed: a build folder made anew at the same path then costs seconds. A clone at another path
# compiles everything once more, for paths are among what ccache goes by; who has many of them sets CCACHE_BASEDIR to the
# folder above them, and CCACHE_NOHASHDIR=1.
#   CCACHE_DEPEND      what a file includes is taken from the compiler's own list. ccache would run the preprocessor over
#                      each file for it, 0.4 s a file of a first build.
#   CCACHE_SLOPPINESS  without these two, nothing that uses a precompiled header (Testing.cmake) is ever found again. No
#                      source of ours says __TIME__.
#   CCACHE_IGNOREOPTIONS  how often the compiler tidies its memory changes nothing of what it writes.
# Files in C are compiled without it: they embed other files (EmbedText.cmake), which no list of includes names, so an edited
# script would come out of the cache as it was before.
find_program(HONE_CCACHE ccache)
if(HONE_CCACHE)
  foreach(language CXX CUDA)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
          CCACHE_IGNOREOPTIONS=--param=ggc-min-heapsize=* ${HONE_CCACHE})
    endif()
  endforeach()
endif()
