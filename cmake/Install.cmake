# cmake --install BUILD --prefix DIR: the programs, which need nothing else (their libraries are inside them), the tasks
# where `hone` looks for them, share/hone/tasks beside its folder, man pages, completions, the documents that messages
# name, and what a program of one's own links (InstallLibraries.cmake).
include(GNUInstallDirs)
install(TARGETS hone RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT hone)
install(TARGETS hone-gnn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT hone-gnn)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tasks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/hone/tasks COMPONENT hone)
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
include(InstallLibraries)

# The programs describe themselves: each writes its man pages and completions.
set(shell ${PROJECT_BINARY_DIR}/shell)
set(commands "")
foreach(program hone hone-gnn)
  list(APPEND commands
    COMMAND $<TARGET_FILE:${program}> __man ${shell}/man1
    COMMAND $<TARGET_FILE:${program}> completion bash > ${shell}/bash/${program}
    COMMAND $<TARGET_FILE:${program}> completion zsh > ${shell}/zsh/_${program}
    COMMAND $<TARGET_FILE:${program}> completion fish > ${shell}/fish/${program}.fish)
endforeach()
add_custom_command(OUTPUT ${shell}/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${shell}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${shell}/bash ${shell}/zsh ${shell}/fish
  ${commands}
  # Without their own names and dates in them, so that the same build gives the same bytes.
  COMMAND gzip -9nf ${shell}/man1/*.1
  COMMAND gzip -9nc ${CMAKE_CURRENT_LIST_DIR}/debian/changelog > ${shell}/changelog.gz
  COMMAND ${CMAKE_COMMAND} -E touch ${shell}/stamp
  DEPENDS hone hone-gnn ${CMAKE_CURRENT_LIST_DIR}/debian/changelog
  COMMENT "Writing man pages and completions")
add_custom_target(shell_files ALL DEPENDS ${shell}/stamp)

install(DIRECTORY ${shell}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT shell OPTIONAL)
install(DIRECTORY ${shell}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT shell OPTIONAL)
install(DIRECTORY ${shell}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT shell OPTIONAL)
install(DIRECTORY ${shell}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT zsh OPTIONAL)
set(documents share/doc/hone)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${documents} COMPONENT documents)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${documents} COMPONENT documents)
# A package's own: where Debian's zsh looks, and what its policy asks for.
install(DIRECTORY ${shell}/zsh/ DESTINATION share/zsh/vendor-completions COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian/copyright ${shell}/changelog.gz DESTINATION ${documents} COMPONENT debian EXCLUDE_FROM_ALL)

# cmake --build BUILD --target package: BUILD/hone_VERSION_ARCHITECTURE.deb, for the distribution it is built on and those
# with a newer C library. The target is our own, for CPack's builds everything there is: tests and benchmarks too.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hone)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_CMAKE_PROJECTS "")
foreach(component hone hone-gnn shell documents debian)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS ${PROJECT_BINARY_DIR} hone ${component} /)
endforeach()
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The Hone Authors")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The simulated GPU compiles candidates with g++, and openai: and anthropic: models are asked through libcurl, whose package
# has one name in Debian 12 and another in Ubuntu 24.04; all else works without either.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, libcurl4 | libcurl4t64")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "GPU kernel tuner and graph network trainer")
set(CPACK_PACKAGE_DESCRIPTION
"hone judges CUDA kernels (are they right, how fast are they?), sweeps their
tunables, and looks for faster ones with language models or mechanical
rewrites; a simulated GPU serves machines without one. hone-gnn trains graph
neural networks on sampled mini-batches, on CPUs and on NVIDIA GPUs.")
set(CPACK_OUTPUT_CONFIG_FILE ${PROJECT_BINARY_DIR}/packaging/CPackConfig.cmake)
set(CPACK_SOURCE_OUTPUT_CONFIG_FILE ${PROJECT_BINARY_DIR}/packaging/CPackSourceConfig.cmake)
include(CPack)
# BUILD/hone-dev_VERSION_ARCHITECTURE.deb: what find_package(hone) finds. Programs that link Hone link these packages' archives.
install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian/copyright ${shell}/changelog.gz DESTINATION share/doc/hone-dev COMPONENT debian-dev EXCLUDE_FROM_ALL)
add_custom_target(package
  COMMAND ${CMAKE_CPACK_COMMAND} --config ${CPACK_OUTPUT_CONFIG_FILE}
  COMMAND ${CMAKE_CPACK_COMMAND} --config ${CPACK_OUTPUT_CONFIG_FILE} -D CPACK_PACKAGE_NAME=hone-dev
    -D "CPACK_INSTALL_CMAKE_PROJECTS=${PROJECT_BINARY_DIR};hone;development;/;${PROJECT_BINARY_DIR};hone;debian-dev;/"
    -D CPACK_DEBIAN_PACKAGE_SECTION=libdevel -D CPACK_DEBIAN_PACKAGE_SHLIBDEPS=OFF
    -D "CPACK_DEBIAN_PACKAGE_DEPENDS=g++, libopenblas-openmp-dev, libssl-dev, zlib1g-dev"
    -D "CPACK_DEBIAN_PACKAGE_RECOMMENDS=cmake, hone, libboost-context-dev, libhiredis-dev, libsqlite3-dev"
    -D "CPACK_PACKAGE_DESCRIPTION_SUMMARY=headers and libraries of Hone, for find_package(hone)"
    -D "CPACK_PACKAGE_DESCRIPTION=Headers and static libraries of the graph engine and of the judge of CUDA kernels."
  DEPENDS shell_files
  USES_TERMINAL VERBATIM)
