# Links with gold where binutils brings it: it takes a third to a half of the time of GNU's other linker, and the tests are some ninety
# programs.
include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=gold HONE_LINKS_WITH_GOLD)
if(HONE_LINKS_WITH_GOLD)
  add_link_options($<$<LINK_LANGUAGE:C,CXX>:-fuse-ld=gold>)
endif()
