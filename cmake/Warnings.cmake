# Warnings for our own targets; never directory-wide, so that dependencies stay quiet.
add_library(hone_warnings INTERFACE)
target_compile_options(hone_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
                       -Wno-missing-field-initializers)
