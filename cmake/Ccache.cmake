# Uses ccache where it is installed: a rebuild from a fresh clone then costs seconds.
find_program(HONE_CCACHE ccache)
if(HONE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${HONE_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${HONE_CCACHE})
endif()
