#!/bin/sh
# Start JupyterHub for a class on this machine; make hub calls this after the set-up of .venv.
set -eu
export HUB_ADDRESS="${HUB_ADDRESS:-http://127.0.0.1:8000}" # which only this machine can reach
export HUB_COURSE="${HUB_COURSE:-$PWD}"                   # what git can clone
folder=${HUB_FOLDER:-hub}                                 # has a folder for each student
proxy=configurable-http-proxy@5.1.0 # the newest for the Node.js 18 of Debian 12

if ! command -v npm >/dev/null || ! command -v git >/dev/null; then
  echo "The hub needs git, and npm for its proxy; on Debian: apt-get install git npm." >&2
  exit 1
fi
mkdir -p "$folder"
chmod 700 "$folder"
exec 9>"$folder/lock"
if ! flock --nonblock 9; then
  echo "A hub is running in $folder: stop it first, or choose another HUB_FOLDER." >&2
  exit 1
fi
# JupyterHub has an environment of its own, so that students' packages stay as they are pinned.
stamp="$PWD $proxy $(cat requirements-hub.txt .venv/pyvenv.cfg | cksum)"
if [ "$(cat .venv-hub/ready 2>/dev/null)" != "$stamp" ]; then
  echo "Setting up .venv-hub ..."
  .venv/bin/python -m venv --clear .venv-hub
  uv=$(command -v uv || echo .venv/bin/uv) # as in setup.sh
  "$uv" pip install --quiet --python .venv-hub/bin/python --requirement requirements-hub.txt 2>/dev/null ||
    .venv-hub/bin/python -m pip --quiet install --requirement requirements-hub.txt
  npm install --silent --no-audit --no-fund --no-package-lock --prefix .venv-hub "$proxy"
  echo "$stamp" >.venv-hub/ready
fi
config=$PWD/kit/place/jupyterhub_config.py
hub=$PWD/.venv-hub/bin
cd "$folder"
[ -s password ] || "$hub/python" -c 'import secrets; print(secrets.token_urlsafe(9))' >password
link=$("$hub/python" -c '
import os, urllib.parse
query = {"repo": os.environ["HUB_COURSE"], "targetPath": "scaling-labs", "urlpath": "start"}
print(os.environ["HUB_ADDRESS"] + "/hub/user-redirect/git-pull?" + urllib.parse.urlencode(query))')
echo "Each student logs in with a name and the password $(cat password), and opens:"
echo "    $link"
echo "Folders of students: $PWD/students. Ctrl+C ends the hub and its servers."
exec "$hub/jupyterhub" --config "$config"
