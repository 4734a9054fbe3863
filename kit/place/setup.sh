#!/bin/sh
# Make .venv with the pinned packages, unless it is there and works; make calls this first.
# The argument says for whom: student (the default), grading, or dev, each with more packages.
set -eu
role=${1:-student}
rank() { # of a role: the packages of a lower one are among those of a higher one
  case $1 in student) echo 1 ;; grading) echo 2 ;; dev) echo 3 ;; *) echo 0 ;; esac
}
if [ "$(rank "$role")" = 0 ]; then
  echo "setup.sh takes student, grading or dev, not $role." >&2
  exit 1
fi
fits='import sys; (3, 11) <= sys.version_info[:2] <= (3, 13) or sys.exit(1)'
# A Python that was built without optimisation, as pyenv does it, costs the labs a tenth of
# their time: Linux' own is taken in its place, or another that is there.
quick="$fits; import ensurepip, sysconfig"'
built = sysconfig.get_config_var("CONFIG_ARGS") or ""
sys.base_prefix == "/usr" or "--enable-optimizations" in built or sys.exit(1)'
first() { # of what is there; what is asked of it
  for python in python3 /usr/bin/python3 python3.12 python3.11 python3.13; do
    "$python" -c "$1" 2>/dev/null && return
  done
  return 1
}
if [ -n "${PYTHON:-}" ]; then
  python=$PYTHON
  "$python" -c "$fits" 2>/dev/null || python=none
else
  first "$quick" || first "$fits" || python=none
fi
if [ "$python" = none ]; then
  found=$("${PYTHON:-python3}" --version 2>&1 | head -n 1)
  echo "Scaling Labs needs Python 3.11, 3.12 or 3.13; found: ${found:-none}." >&2
  echo "Install one of them (its command may be python3.12), or use make PYTHON=/path/to/python." >&2
  exit 1
fi
stamp=$(cat requirements*.txt pyproject.toml kit/place/setup.sh | cksum)
if [ -f .venv/ready ]; then
  # Its scripts name the folder and the Python that they were made with.
  if [ "$(head -n 1 .venv/ready)" != "$PWD" ] || ! .venv/bin/labs --help >/dev/null 2>&1; then
    echo "The environment in .venv does not start here: the folder or Python has changed."
    rm -rf .venv
  else
    before=$(sed -n 2p .venv/ready)
    # What is there is brought up to date, too.
    [ "$(rank "$before")" -lt "$(rank "$role")" ] || role=$before
    if [ "$before" = "$role" ] && [ "$(tail -n 1 .venv/ready)" = "$stamp" ]; then
      exit 0
    fi
  fi
fi
if ! .venv/bin/python -c "$fits" 2>/dev/null || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
  echo "Setting up .venv with $("$python" --version) ..."
  if ! "$python" -m venv --clear .venv; then
    rm -rf .venv
    echo "This Python cannot make virtual environments; on Debian: apt-get install python3-venv." >&2
    exit 1
  fi
fi
# uv installs the same pinned packages several times as fast; where uv fails, pip does it.
# Compiled once here: else TensorFlow takes three times as long to start, in every box of
# grading (it cannot write there) and wherever PYTHONDONTWRITEBYTECODE is set.
pip=".venv/bin/python -m pip --disable-pip-version-check --quiet"
install="$pip install"
if command -v uv >/dev/null || $pip install uv 2>/dev/null; then
  uv=$(command -v uv || echo .venv/bin/uv)
  install="$uv pip install --quiet --compile-bytecode --python .venv/bin/python"
fi
echo "Installing the pinned packages, some minutes the first time ..."
add() { $install "$@" || $pip install "$@"; }
add --requirement requirements.txt
[ "$(rank "$role")" -lt 2 ] || add --requirement requirements-grading.txt
[ "$(rank "$role")" -lt 3 ] || add --requirement requirements-dev.txt
# The same pins without hashes: pip asks for the hash of every package once it sees one.
sed -e '/^ *--hash/d' -e 's/ *\\$//' requirements.txt >.venv/constraints.txt
if nvidia-smi -L 2>/dev/null | grep -q GPU; then
  echo "Found an NVIDIA driver: adding the CUDA libraries ..."
  add --constraint .venv/constraints.txt "tensorflow[and-cuda]"
fi
add --no-deps --editable .
mkdir -p .venv/etc/ipython
echo 'c.InteractiveShellApp.extensions = ["helpers.notebook.kernel_patch"]' >.venv/etc/ipython/ipython_kernel_config.py
# Also a JupyterLab that `labs lab` did not start has the kit's part.
mkdir -p .venv/etc/jupyter/jupyter_server_config.d
ln -sf "$PWD/kit/jupyter/jupyter_server_config.d/labs.json" .venv/etc/jupyter/jupyter_server_config.d/
ln -sfn "$PWD/kit/jupyter/labconfig" .venv/etc/jupyter/labconfig
mkdir -p .venv/share/jupyter/labextensions
ln -sfn "$PWD/kit/jupyter/labextension" .venv/share/jupyter/labextensions/scaling-labs
printf "%s\n" "$PWD" "$role" "$stamp" >.venv/ready
