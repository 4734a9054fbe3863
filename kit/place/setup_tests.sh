#!/bin/sh
# Install what the tests need besides Python packages; make test calls this.
# It names each package that it cannot install, and the tests that pytest then leaves out.
set -u
sudo=$([ "$(id -u)" = 0 ] || echo "sudo -n")
updated=""
install() { # Debian package
  command -v apt-get >/dev/null || return 1
  [ -z "$sudo" ] || $sudo true 2>/dev/null || return 1
  [ -n "$updated" ] || $sudo apt-get update -qq || return 1
  updated=yes
  echo "Installing $1 for the tests ..."
  $sudo apt-get install -qq -y --no-install-recommends "$1" >/dev/null
}
need() { # Debian package, what is left out without it
  install "$1" || echo "Cannot install Debian's package $1. Left out: $2." >&2
}
# The same engine without a window's parts: it takes a quarter less processor time.
command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null ||
  install chromium-headless-shell || need chromium "the tests in a browser"
command -v bwrap >/dev/null || need bubblewrap "the tests of the grading sandbox"
command -v tc >/dev/null || need iproute2 "the tests of a room of laptops"
[ -d /usr/share/datasets/fashion-mnist ] ||
  need dataset-fashion-mnist "the tests of the real Fashion-MNIST; the labs use a synthetic set"
exit 0
