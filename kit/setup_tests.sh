#!/bin/sh
# Install what the tests need besides Python packages; make test calls this.
# What cannot be installed is named, with the tests that are then left out.
set -u
missing=""
need() { # command or folder, Debian package, what is left out without it
  [ -e "$1" ] || command -v "$1" >/dev/null || missing="$missing$2|$3
"
}
need chromium chromium "the tests in a browser (tests/browser)"
need bwrap bubblewrap "the tests of the grading sandbox (tests/kit/grading)"
need /usr/share/datasets/fashion-mnist dataset-fashion-mnist "the tests of the real Fashion-MNIST"
[ -n "$missing" ] || exit 0
packages=$(printf %s "$missing" | cut -d "|" -f 1 | tr "\n" " ")
sudo=$([ "$(id -u)" = 0 ] || echo "sudo -n")
if command -v apt-get >/dev/null && { [ -z "$sudo" ] || $sudo true 2>/dev/null; }; then
  echo "Installing for the tests: $packages..."
  # shellcheck disable=SC2086
  $sudo apt-get update -qq &&
    $sudo apt-get install -qq -y --no-install-recommends $packages >/dev/null && exit 0
fi
printf %s "$missing" | while IFS="|" read -r package tests; do
  echo "Not installed: $package (Debian's package). Left out: $tests." >&2
done
