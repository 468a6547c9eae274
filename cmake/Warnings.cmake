# Warnings for our own targets; never directory-wide, so that dependencies stay quiet.
add_library(hone_warnings INTERFACE)
# -Wpedantic would complain of every line directive in what nvcc writes.
target_compile_options(hone_warnings INTERFACE -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic> -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
                       -Wno-missing-field-initializers)
