# Finds the CUDA toolkit. The CUDA device needs it only for its headers and for nvcc, which compiles the
# harness kernels into a fat binary embedded in `hone`; driver, NVRTC and NVML are loaded at run time.
set(HONE_HAVE_CUDA OFF)
set(hone_cuda_wanted ON)
if(HONE_CUDA STREQUAL "OFF")
  set(hone_cuda_wanted OFF)
elseif(HONE_CUDA STREQUAL "IF_GPU" AND NOT HONE_CUDA_ARCHITECTURES)  # whoever names architectures wants code for them
  execute_process(COMMAND nvidia-smi -L RESULT_VARIABLE rc OUTPUT_VARIABLE gpus ERROR_QUIET)
  if(NOT rc EQUAL 0 OR gpus STREQUAL "")
    set(hone_cuda_wanted OFF)
  endif()
endif()
if(hone_cuda_wanted)
  find_program(HONE_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  if(HONE_NVCC)
    get_filename_component(HONE_CUDA_ROOT ${HONE_NVCC} REALPATH)
    get_filename_component(HONE_CUDA_ROOT ${HONE_CUDA_ROOT} DIRECTORY)
    get_filename_component(HONE_CUDA_ROOT ${HONE_CUDA_ROOT} DIRECTORY)
    if(EXISTS ${HONE_CUDA_ROOT}/include/cuda.h)
      set(HONE_HAVE_CUDA ON)
    endif()
  endif()
  if(HONE_CUDA STREQUAL "ON" AND NOT HONE_HAVE_CUDA)
    message(FATAL_ERROR "HONE_CUDA=ON, but nvcc and cuda.h were not found: install the CUDA toolkit (12.8 or newer) "
                        "or set CUDA_HOME")
  endif()
endif()

# What no GPU at hand will run need only compile: with nvcc's fastest setting, and nothing is kept of it. CI builds for
# one architecture and checks the other (.ci/run): a third of the time that both take.
set(HONE_CUDA_CHECKED_ARCHITECTURES "" CACHE STRING "Architectures for which our kernels are only compiled, to see that they do")
option(HONE_CUDA_FAST_COMPILE "Compile device code in half the time, into slow kernels; for machines without a GPU" OFF)
# The graph engine's CUDA form and the tests for a GPU are then left out of the target `all`: hone-gnn is built without a CUDA
# device, and CI compiles their sources only to see that they do. Tests run the engine on the emulated GPU.
option(HONE_CHECK_GPU_CODE "Only see whether the graph engine's CUDA form and the tests for a GPU compile; for machines without a GPU" OFF)
set(HONE_HAVE_GNN_CUDA OFF)
if(HONE_HAVE_CUDA AND NOT HONE_CHECK_GPU_CODE)
  set(HONE_HAVE_GNN_CUDA ON)
endif()
if(HONE_HAVE_CUDA AND (HONE_CUDA_CHECKED_ARCHITECTURES OR HONE_CUDA_FAST_COMPILE OR HONE_CHECK_GPU_CODE))
  # Known since toolkit 12.9; before, checking costs what compiling does.
  execute_process(COMMAND ${HONE_NVCC} --help OUTPUT_VARIABLE hone_nvcc_help ERROR_QUIET)
  set(HONE_CUDA_CHECK_FLAGS "")
  if(hone_nvcc_help MATCHES "--Ofast-compile")
    set(HONE_CUDA_CHECK_FLAGS -Ofc=max)
  endif()
endif()
# hone_check_device_code(SOURCES … [FOR_ONE files…] [ARCHITECTURES …] OPTIONS …): compiles SOURCES, of this folder or with their whole
# paths, for HONE_CUDA_CHECKED_ARCHITECTURES, device code alone. nvcc's front end reads host code there as well, and its host half
# compiles that code in the real build.
#   ARCHITECTURES  those for which all SOURCES are checked besides: with HONE_CHECK_GPU_CODE, the build's own
#   FOR_ONE  those of SOURCES that have code for some architectures alone. If the build has code for an older architecture than the
#            checked one, only these are checked: a newer GPU has every instruction that the other sources were compiled to.
function(hone_check_device_code)
  cmake_parse_arguments(arg "" "" "SOURCES;FOR_ONE;ARCHITECTURES;OPTIONS" ${ARGN})
  list(TRANSFORM arg_ARCHITECTURES REPLACE "-real$" "")
  foreach(arch IN LISTS HONE_CUDA_CHECKED_ARCHITECTURES arg_ARCHITECTURES)
    set(sources ${arg_SOURCES})
    if(NOT arch IN_LIST arg_ARCHITECTURES)
      string(REGEX MATCH "^[0-9]+" number "${arch}")
      foreach(built IN LISTS HONE_CUDA_ARCHITECTURES)
        string(REGEX MATCH "^[0-9]+" older "${built}")
        if(older LESS number)
          set(sources ${arg_FOR_ONE})
        endif()
      endforeach()
    endif()
    foreach(source IN LISTS sources)
      get_filename_component(stem ${source} NAME_WE)
      get_filename_component(path ${source} ABSOLUTE)
      set(cubin ${CMAKE_CURRENT_BINARY_DIR}/checked/${stem}.sm_${arch}.cubin)
      file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/checked)
      add_custom_command(
        OUTPUT ${cubin}
        COMMAND ${HONE_NVCC} -cubin -arch=sm_${arch} ${HONE_CUDA_CHECK_FLAGS} ${arg_OPTIONS} -DNDEBUG
                -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_SOURCE_DIR}/src
                -MD -MF ${cubin}.d -MT ${cubin} ${path} -o ${cubin}
        DEPENDS ${path}
        DEPFILE ${cubin}.d
        COMMENT "Checking ${source} for sm_${arch}"
        VERBATIM)
      add_custom_target(${stem}_checked_${arch} ALL DEPENDS ${cubin})
    endforeach()
  endforeach()
endfunction()

if(HONE_HAVE_CUDA AND NOT HONE_CUDA_ARCHITECTURES)
  # The architectures of the GPUs present, else 80 with PTX, which every GPU since then can run; 90a as well would
  # double the time of a build that no GPU here will run.
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE caps ERROR_QUIET RESULT_VARIABLE rc OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(found "")
  if(rc EQUAL 0 AND NOT caps STREQUAL "")
    string(REPLACE "\n" ";" caps "${caps}")
    foreach(cap IN LISTS caps)
      string(STRIP "${cap}" cap)
      string(REPLACE "." "" cap "${cap}")
      if(cap STREQUAL "90")
        set(cap 90a)
      endif()
      list(APPEND found ${cap})
    endforeach()
    list(REMOVE_DUPLICATES found)
  else()
    set(found 80)
    set(hone_no_gpu_found ON)
  endif()
  set(HONE_CUDA_ARCHITECTURES "${found}" CACHE STRING "Architectures of the embedded harness kernels" FORCE)
endif()

if(HONE_HAVE_CUDA)
  set(HONE_GENCODE "")
  foreach(arch IN LISTS HONE_CUDA_ARCHITECTURES)
    string(REPLACE "-real" "" arch ${arch})
    list(APPEND HONE_GENCODE "-gencode=arch=compute_${arch},code=sm_${arch}")
  endforeach()
  # PTX of the oldest, for GPUs newer than this build; 80-real, as CMake has it, means no PTX.
  list(GET HONE_CUDA_ARCHITECTURES 0 first)
  if(NOT first MATCHES "-real$")
    string(REPLACE "a" "" first ${first})
    list(APPEND HONE_GENCODE "-gencode=arch=compute_${first},code=compute_${first}")
  endif()
  if(HONE_CUDA_FAST_COMPILE)
    list(APPEND HONE_GENCODE ${HONE_CUDA_CHECK_FLAGS})
  endif()
  add_library(hone_cuda_headers INTERFACE)
  target_include_directories(hone_cuda_headers SYSTEM INTERFACE ${HONE_CUDA_ROOT}/include)
  set(hint "")
  if(hone_no_gpu_found)
    string(CONCAT hint " (no GPU is here, so for every GPU since the A100. For an H100 or H200 elsewhere, "
                       "CMAKE_FLAGS=-DHONE_CUDA_ARCHITECTURES=90a is faster)")
  endif()
  message(STATUS "CUDA device: toolkit ${HONE_CUDA_ROOT}, architectures ${HONE_CUDA_ARCHITECTURES}${hint}")
endif()
# Makefile prints this file when it has built the programs: a line of the configuration has scrolled away by then.
set(left_out_file ${PROJECT_BINARY_DIR}/left-out.txt)
if(HONE_HAVE_CUDA)
  file(REMOVE ${left_out_file})
else()
  set(remedy "To build it for the GPUs of another machine: make build CMAKE_FLAGS=-DHONE_CUDA=ON")
  if(hone_cuda_wanted)
    set(reason "the CUDA toolkit was not found")
    set(remedy "To build it, install the toolkit (12.8 or newer) or set CUDA_HOME, and: make build CMAKE_FLAGS=-DHONE_CUDA=ON")
  elseif(HONE_CUDA STREQUAL "IF_GPU")
    set(reason "this machine has no GPU")
  else()
    set(reason "HONE_CUDA=OFF")
  endif()
  string(CONCAT left_out "CUDA device: LEFT OUT (${reason}). These programs cannot use a GPU: hone judges on the simulated GPU, and "
                         "hone-gnn trains on the CPU. ${remedy}")
  file(CONFIGURE OUTPUT ${left_out_file} CONTENT "${left_out}\n" @ONLY)
  message(STATUS "${left_out}")
endif()
