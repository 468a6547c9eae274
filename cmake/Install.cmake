# cmake --install BUILD --prefix DIR: the programs, which need nothing else (their libraries are inside them), and the tasks
# where `hone` looks for them, share/hone/tasks beside its folder. Libraries are not installed: a program of one's own has
# Hone in its build (add_subdirectory), for the headers promise no binary interface.
include(GNUInstallDirs)
install(TARGETS hone RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT hone)
install(TARGETS hone-gnn RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT hone-gnn)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tasks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/hone/tasks COMPONENT hone)
