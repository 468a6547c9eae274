# The kernels that were judged as they are now (judged.txt). `make test` leaves these out, except for a few that try the examples'
# way to the judge, and `make test-whole` judges all. A line has a kernel's name and a hash of its file and of its task's files, so
# that an edit of either has the kernel judged again.
#   cmake -P examples/kernels/judged.cmake   writes judged.txt anew, after `make test-whole` has passed
set(HONE_ALWAYS_JUDGED relu silu_and_mul gather_mean h200_rmsnorm)

# hone_judged_kernels(KERNELS): sets KERNELS to the kernels that the simulated GPU judges.
function(hone_judged_kernels out)
  set(depends CONFIGURE_DEPENDS)
  if(CMAKE_SCRIPT_MODE_FILE)
    set(depends "")  # allowed in a build alone
  endif()
  file(GLOB kernels ${depends} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/*.cu ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/h200/*.cu)
  list(FILTER kernels EXCLUDE REGEX "/h200/(fp8|matmul)")  # tensor maps: not simulated
  set(${out} ${kernels} PARENT_SCOPE)
endfunction()

# hone_kernel_facts(KERNEL): sets `name` (h200_NAME in h200/), `task`, `sources` (all files of which the hash is) and `line`.
macro(hone_kernel_facts kernel)
  get_filename_component(task ${kernel} NAME_WE)
  get_filename_component(name ${kernel} NAME_WLE)
  if("${kernel}" MATCHES "/h200/")
    string(PREPEND name "h200_")
  endif()
  set(folder ${CMAKE_CURRENT_LIST_DIR}/../../tasks/${task})
  set(sources ${kernel} ${folder}/task.toml ${folder}/oracle.cu)
  set(hashes "")
  foreach(source IN LISTS sources)
    file(SHA256 ${source} hash)
    string(APPEND hashes ${hash})
  endforeach()
  string(SHA256 hash "${hashes}")
  set(line "${name} ${hash}")
endmacro()

if(CMAKE_SCRIPT_MODE_FILE)
  set(text "")
  hone_judged_kernels(kernels)
  foreach(kernel IN LISTS kernels)
    hone_kernel_facts(${kernel})
    string(APPEND text "${line}\n")
  endforeach()
  file(WRITE ${CMAKE_CURRENT_LIST_DIR}/judged.txt "${text}")
endif()
