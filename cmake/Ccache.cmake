# Uses ccache where it is installed: a rebuild from a fresh clone then costs seconds.
find_program(HONE_CCACHE ccache)
if(HONE_CCACHE)
  foreach(language C CXX CUDA)
    if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${HONE_CCACHE})
    endif()
  endforeach()
endif()
