# What a program of one's own needs of an installed Hone, as the component `development`: public headers, our static
# libraries below lib/hone, and lib/cmake/hone, by which find_package(hone) makes hone::gnn, hone::gnn_cuda and hone::tuner.
include(CMakePackageConfigHelpers)
set(hone_cmake_folder lib/cmake/hone)

# hone_libraries_of(OURS OTHERS TARGET…): all libraries that TARGETs link, and theirs: OURS are those of this build, TARGETs
# among them, and OTHERS imported ones.
function(hone_libraries_of ours others)
  set(todo ${ARGN})
  set(built "")
  set(imported "")
  while(todo)
    list(POP_FRONT todo target)
    if(target IN_LIST built OR target IN_LIST imported)
      continue()
    endif()
    get_target_property(is_imported ${target} IMPORTED)
    if(is_imported)
      list(APPEND imported ${target})
    else()
      list(APPEND built ${target})
    endif()
    get_target_property(items ${target} INTERFACE_LINK_LIBRARIES)
    # Without what only the build needs, and without the expressions around names.
    string(REGEX REPLACE "\\$<BUILD_INTERFACE:[^>]*>" "" items "${items}")
    string(REGEX REPLACE "\\$<[A-Z_]+:" " " items "${items}")
    string(REGEX MATCHALL "[A-Za-z0-9_:]+" names "${items}")
    foreach(name IN LISTS names)
      if(TARGET ${name})
        list(APPEND todo ${name})
      endif()
    endforeach()
  endwhile()
  set(${ours} ${built} PARENT_SCOPE)
  set(${others} ${imported} PARENT_SCOPE)
endfunction()

# hone_install_component(COMPONENT TARGET…): a component of find_package with TARGETs and what they link, except what an
# earlier component has, which hone-config.cmake then reads first.
set(hone_installed_components "")
set(hone_component_facts "")
macro(hone_install_component component)
  hone_libraries_of(ours others ${ARGN})
  set(own "")
  set(after "")
  foreach(library IN LISTS ours)
    if(DEFINED hone_component_of_${library})
      list(APPEND after ${hone_component_of_${library}})
    else()
      list(APPEND own ${library})
      set(hone_component_of_${library} ${component})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES after)
  list(FILTER others INCLUDE REGEX "^hone_")
  install(TARGETS ${own} EXPORT hone-${component} ARCHIVE DESTINATION lib/hone COMPONENT development)
  install(EXPORT hone-${component} FILE hone-${component}-targets.cmake NAMESPACE hone:: DESTINATION ${hone_cmake_folder}
          COMPONENT development)
  list(APPEND hone_installed_components ${component})
  string(APPEND hone_component_facts "set(hone_${component}_after \"${after}\")\nset(hone_${component}_links \"${others}\")\n")
endmacro()

set_target_properties(hone_gnn PROPERTIES EXPORT_NAME gnn)
set_target_properties(hone_tuner PROPERTIES EXPORT_NAME tuner)
# The tuner does not need what the graph engine links, nor the other way round: `base` is what both have.
hone_libraries_of(of_gnn others hone_gnn)
hone_libraries_of(of_tuner others hone_tuner)
set(of_both "")
foreach(library IN LISTS of_gnn)
  if(library IN_LIST of_tuner)
    list(APPEND of_both ${library})
  endif()
endforeach()
hone_install_component(base ${of_both})
hone_install_component(gnn hone_gnn)
if(HONE_HAVE_GNN_CUDA)
  set_target_properties(hone_gnn_cuda PROPERTIES EXPORT_NAME gnn_cuda)
  hone_install_component(gnn-cuda hone_gnn_cuda)
endif()
hone_install_component(tuner hone_tuner)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/hone DESTINATION include COMPONENT development)
# OpenMP's policy is an object (Dependencies.cmake).
install(FILES $<TARGET_OBJECTS:hone_openmp_policy> DESTINATION lib/hone RENAME openmp_policy.o COMPONENT development)
configure_file(${CMAKE_CURRENT_LIST_DIR}/hone-config.cmake.in ${PROJECT_BINARY_DIR}/packaging/hone-config.cmake @ONLY)
# The headers of 0.1 may change in 0.2.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/packaging/hone-config-version.cmake VERSION ${PROJECT_VERSION}
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/packaging/hone-config.cmake ${PROJECT_BINARY_DIR}/packaging/hone-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/LinkedLibraries.cmake
        DESTINATION ${hone_cmake_folder} COMPONENT development)
