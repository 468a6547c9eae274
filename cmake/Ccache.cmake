# Uses ccache where it is installed: a build folder made anew at the same path then costs seconds. A clone at another path
# compiles everything once more, for paths are among what ccache goes by; who has many of them sets CCACHE_BASEDIR to the
# folder above them, and CCACHE_NOHASHDIR=1.
find_program(HONE_CCACHE ccache)
if(HONE_CCACHE)
  foreach(language C CXX CUDA)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${HONE_CCACHE})
    endif()
  endforeach()
endif()
