# Sourced: `need PROGRAM PACKAGE` installs Debian's package if the program is not there and that is simple, else says so.
need() {
  if command -v "$1" >/dev/null; then return; fi
  if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
    echo "$0 needs $1, which is not here (Debian's package $2)" >&2
    exit 1
  fi
  echo "installing $2"
  { apt-get update -qq && apt-get install -qq -y --no-install-recommends "$2"; } >/dev/null ||
    { echo "$0 needs $1: apt-get could not install $2" >&2; exit 1; }
}
