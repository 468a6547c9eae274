# hone_library(NAME SOURCES … LIBRARIES …): a static library of ours. LIBRARIES are public: what a target may
# include is what it links, and that is how the direction of dependencies is enforced.
function(hone_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_compile_features(${name} PUBLIC cxx_std_20)  # the headers are, whatever a project that links us compiles as
  hone_include_directories(${name})
  hone_headers_of_the_build(arg_LIBRARIES ${arg_LIBRARIES})
  hone_headers_of_the_build(arg_PRIVATE ${arg_PRIVATE} hone_warnings)
  target_link_libraries(${name} PUBLIC ${arg_LIBRARIES} PRIVATE ${arg_PRIVATE} PUBLIC hone_sanitizers)
endfunction()
# hone_include_directories(TARGET): where our headers are, in the build and for a project that uses an installed Hone.
function(hone_include_directories name)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                             $<INSTALL_INTERFACE:include>)
endfunction()
# hone_headers_of_the_build(OUT LIBRARIES…): LIBRARIES, with those marked that are nothing but headers and flags which the
# build needs: no public header includes them, so that a project which uses an installed Hone does not need them.
function(hone_headers_of_the_build out)
  set(libraries ${ARGN})
  list(TRANSFORM libraries REPLACE "^(hone_json|hone_toml|hone_cli11|hone_curl_headers|hone_cuda_headers|hone_warnings)$" "$<BUILD_INTERFACE:\\1>")
  set(${out} "${libraries}" PARENT_SCOPE)
endfunction()
# hone_optimize_for_speed(TARGET): for targets whose loops are the product (the simulated GPU, the graph engine).
function(hone_optimize_for_speed name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O3> $<$<CONFIG:RelWithDebInfo>:-O3>)
endfunction()
# hone_optimize_for_build_time(TARGET…): for targets that spend their time waiting, for a model, a device, a disk or a
# person. -Og takes a third of the compiler's time at -O2 away (docs/design/0021-time-of-a-first-build.md). nvcc does not
# know it, so CUDA files keep their options.
# hone_optimize_a_little(TARGET…): for those that also read long texts or work out many small expressions; -O1.
function(hone_optimize_for_build_time)
  foreach(name IN LISTS ARGN)
    target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
  endforeach()
endfunction()
function(hone_optimize_a_little)
  foreach(name IN LISTS ARGN)
    target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  endforeach()
endfunction()
