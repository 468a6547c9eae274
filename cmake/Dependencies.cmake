# Everything comes from Debian 12 or Ubuntu 24.04 packages; tools/setup installs them.
# Static where the distribution ships an archive, so that one `hone` binary runs on both.
# What is found is known to a project that has this one in a folder of its own, too: it links what our libraries link.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_path(HONE_TOMLPP_INCLUDE toml++/toml.h REQUIRED)

function(hone_static_library target header archive)
  find_path(${target}_INCLUDE ${header} REQUIRED)
  find_library(${target}_LIBRARY NAMES lib${archive}.a ${archive} REQUIRED)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${${target}_INCLUDE})
  target_link_libraries(${target} INTERFACE ${${target}_LIBRARY})
endfunction()

hone_static_library(hone_sqlite sqlite3.h sqlite3)
target_link_libraries(hone_sqlite INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
# SQLite's archive calls into libm (its FTS5 and math functions).
target_link_libraries(hone_sqlite INTERFACE m)
hone_static_library(hone_crypto openssl/evp.h crypto)
target_link_libraries(hone_crypto INTERFACE Threads::Threads ${CMAKE_DL_LIBS})
# A program that exports its symbols must not offer these to the OpenSSL that libcurl brings along at run time: two
# copies of one library would each use half of the other.
target_link_options(hone_crypto INTERFACE LINKER:--exclude-libs,libcrypto.a)
hone_static_library(hone_ssl openssl/ssl.h ssl)
target_link_libraries(hone_ssl INTERFACE hone_crypto)
target_link_options(hone_ssl INTERFACE LINKER:--exclude-libs,libssl.a)
hone_static_library(hone_zlib zlib.h z)
hone_static_library(hone_hiredis hiredis/hiredis.h hiredis)
# HTTP for a page on the same machine: its core and its protocols, without TLS.
hone_static_library(hone_libevent event2/http.h event_extra)
find_library(HONE_LIBEVENT_CORE NAMES libevent_core.a event_core REQUIRED)
target_link_libraries(hone_libevent INTERFACE ${HONE_LIBEVENT_CORE})
hone_static_library(hone_boost_context boost/context/detail/fcontext.hpp boost_context)

add_library(hone_toml INTERFACE)
target_include_directories(hone_toml SYSTEM INTERFACE ${HONE_TOMLPP_INCLUDE})
# Headers of the package, their out-of-line part compiled once by us: linked statically, and not header-only.
add_library(hone_fmt STATIC ${PROJECT_SOURCE_DIR}/src/base/fmt_definitions.cc)
get_target_property(HONE_FMT_INCLUDE fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(hone_fmt SYSTEM PUBLIC ${HONE_FMT_INCLUDE})
add_library(hone_json INTERFACE)
target_link_libraries(hone_json INTERFACE nlohmann_json::nlohmann_json)
add_library(hone_cli11 INTERFACE)
target_link_libraries(hone_cli11 INTERFACE CLI11::CLI11)

# Headers only: libcurl.so.4 is opened at run time (src/tuner/model/curl_library.h), so that `hone` runs without it.
find_path(HONE_CURL_INCLUDE curl/curl.h REQUIRED)
add_library(hone_curl_headers INTERFACE)
target_include_directories(hone_curl_headers SYSTEM INTERFACE ${HONE_CURL_INCLUDE})
target_link_libraries(hone_curl_headers INTERFACE ${CMAKE_DL_LIBS})

# Matrix products of the graph engine: OpenBLAS, linked statically, called from our own threads, its kernels chosen at
# run time by the CPU. The package's OpenMP build: its serial one hands the same work area to two callers now and then
# (linear_test shows it), and its pthread one starts a thread for every core when a program starts. OpenMP's runtime
# comes from the compiler, statically too.
find_path(HONE_BLAS_INCLUDE cblas.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
          PATH_SUFFIXES openblas-openmp REQUIRED NO_DEFAULT_PATH)
find_library(HONE_BLAS_LIBRARY NAMES libopenblas.a PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}
             PATH_SUFFIXES openblas-openmp REQUIRED NO_DEFAULT_PATH)
add_library(hone_openblas INTERFACE)
target_include_directories(hone_openblas SYSTEM INTERFACE ${HONE_BLAS_INCLUDE})
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libgomp.a OUTPUT_VARIABLE HONE_GOMP_LIBRARY
                OUTPUT_STRIP_TRAILING_WHITESPACE)
add_library(hone_openmp INTERFACE)
target_compile_options(hone_openmp INTERFACE -fopenmp)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_link_options(hone_openmp INTERFACE -fopenmp)  # clang's parallel loops call its own runtime (libomp-dev)
endif()
target_link_libraries(hone_openmp INTERFACE ${HONE_GOMP_LIBRARY} Threads::Threads ${CMAKE_DL_LIBS})
# As an object, for nothing would pull it out of an archive.
add_library(hone_openmp_policy OBJECT ${PROJECT_SOURCE_DIR}/src/gnn/ops/openmp_policy.cc)
target_sources(hone_openmp INTERFACE $<TARGET_OBJECTS:hone_openmp_policy>)
target_link_libraries(hone_openblas INTERFACE ${HONE_BLAS_LIBRARY} hone_openmp m)
