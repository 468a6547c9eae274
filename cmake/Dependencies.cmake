# Everything comes from Debian 12 or Ubuntu 24.04 packages; tools/setup installs them.
# What is found is known to a project that has this one in a folder of its own, too: it links what our libraries link.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_path(HONE_TOMLPP_INCLUDE toml++/toml.h REQUIRED)

include(LinkedLibraries)
# hone_static_library(TARGET HEADER [find_path's arguments]): a library of LinkedLibraries.cmake with its headers.
function(hone_static_library target header)
  find_path(${target}_INCLUDE ${header} ${ARGN} REQUIRED)
  hone_linked_library(${target} missing GLOBAL)
  if(missing)
    message(FATAL_ERROR "${missing}")
  endif()
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE})
endfunction()

hone_static_library(hone_sqlite sqlite3.h)
hone_static_library(hone_crypto openssl/evp.h)
hone_static_library(hone_ssl openssl/ssl.h)
hone_static_library(hone_zlib zlib.h)
hone_static_library(hone_hiredis hiredis/hiredis.h)
hone_static_library(hone_libevent event2/http.h)
hone_static_library(hone_boost_context boost/context/detail/fcontext.hpp)
hone_static_library(hone_openblas cblas.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE} PATH_SUFFIXES openblas-openmp NO_DEFAULT_PATH)

target_compile_options(hone_openmp INTERFACE -fopenmp)
# The policy is linked as an object, because nothing would pull it out of an archive.
add_library(hone_openmp_policy OBJECT ${PROJECT_SOURCE_DIR}/src/gnn/ops/openmp_policy.cc)
target_sources(hone_openmp INTERFACE $<TARGET_OBJECTS:hone_openmp_policy>)

add_library(hone_toml INTERFACE)
target_include_directories(hone_toml SYSTEM INTERFACE ${HONE_TOMLPP_INCLUDE})
# Headers of the package, their out-of-line part compiled once by us: linked statically, and not header-only.
add_library(hone_fmt STATIC ${PROJECT_SOURCE_DIR}/src/base/fmt_definitions.cc)
get_target_property(HONE_FMT_INCLUDE fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(hone_fmt SYSTEM PUBLIC "$<BUILD_INTERFACE:${HONE_FMT_INCLUDE}>")
add_library(hone_json INTERFACE)
target_link_libraries(hone_json INTERFACE nlohmann_json::nlohmann_json)
add_library(hone_cli11 INTERFACE)
target_link_libraries(hone_cli11 INTERFACE CLI11::CLI11)

# Headers only: libcurl.so.4 is opened at run time (src/tuner/model/curl_library.h), so that `hone` runs without it.
find_path(HONE_CURL_INCLUDE curl/curl.h REQUIRED)
add_library(hone_curl_headers INTERFACE)
target_include_directories(hone_curl_headers SYSTEM INTERFACE ${HONE_CURL_INCLUDE})
target_link_libraries(hone_curl_headers INTERFACE ${CMAKE_DL_LIBS})
