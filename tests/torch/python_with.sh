# Sourced by the scripts of tests that need PyTorch.
#
# python_with BUILD MODULE…: sets `python` to the first interpreter that has all modules: HONE_PYTHON, BUILD/python/torch (where HONE_INSTALL_TORCH is
# set, as `make test-python` does, and HONE_PYTHON is not, it is made, with the packages that it lacks), python3. Returns 1 where none has them.
python_with() {
  local environment=$1/python/torch modules
  shift
  modules=$(IFS=,; echo "$*")
  has_all() { [ -x "$(command -v "$1")" ] && "$1" -c "import $modules" > /dev/null 2>&1; }
  mkdir -p "${environment%/*}"
  exec 9> "$environment.lock"
  flock 9  # tests run side by side, and one of them makes the environment
  if [ -n "${HONE_INSTALL_TORCH:-}" ] && [ -z "${HONE_PYTHON:-}" ] && ! has_all "$environment/bin/python" && ! has_all python3; then
    if ! "$environment/bin/python" -c "import torch" > /dev/null 2>&1; then
      rm -rf "$environment"
      python3 -m venv "$environment" > "$environment.log" 2>&1 || true
    fi
    # Each of these modules has the name of its package.
    "$environment/bin/pip" install --quiet --retries 1 --timeout 60 --disable-pip-version-check numpy pyyaml "$@" >> "$environment.log" 2>&1 || true
  fi
  flock -u 9
  for python in ${HONE_PYTHON:+"$HONE_PYTHON"} "$environment/bin/python" python3; do
    if has_all "$python"; then
      return 0
    fi
  done
  return 1
}
