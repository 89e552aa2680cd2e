#!/bin/sh
# Links pas and pas-mock-server in ~/.local/bin, for you only; with --remove takes the links away.
set -e
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
place=$HOME/.local/bin

# A link of an unpacked pas, even of one that is gone.
is_ours() {
  [ -L "$1" ] || return 1
  [ -e "$1" ] || return 0
  [ -e "$(dirname -- "$(readlink -f -- "$1")")/app/bin/pas.js" ]
}
is_there() { [ -e "$1" ] || [ -L "$1" ]; }

if [ "${1-}" = --remove ]; then
  for name in pas pas-mock-server; do
    if is_ours "$place/$name"; then rm -- "$place/$name"; fi
  done
  echo "The links of pas in $place are removed."
  exit 0
fi

for name in pas pas-mock-server; do
  if is_there "$place/$name" && ! is_ours "$place/$name"; then
    echo "$place/$name is another program. Nothing was changed." >&2
    echo "Move it away, or add this folder to your PATH yourself: $here" >&2
    exit 2
  fi
done
mkdir -p -- "$place"
for name in pas pas-mock-server; do ln -sf -- "$here/$name" "$place/$name"; done
echo "pas and pas-mock-server are in $place."
case :$PATH: in
  *":$place:"*) ;;
  *)
    echo 'This folder is not on your PATH yet. Add this line to ~/.profile (zsh: ~/.zprofile):'
    echo '  export PATH="$HOME/.local/bin:$PATH"'
    ;;
esac
