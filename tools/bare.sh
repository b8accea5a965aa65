#!/usr/bin/env bash
# Prove that a fresh clone works on a machine that has only what the README asks for: a minimal Debian, entered in
# namespaces of its own. The clone is of what is committed.
#
#   tools/bare.sh [--as user|root]... [STEP]...      as both and all steps by default; must be started by root
#
#   demo    make demo
#   test    make test
#   wheel   install a wheel into an empty environment and use it from another folder; then also its extra [local]
#   ci      .ci/run
#
# Variables: BARE_PACKAGES (packages more, by blanks), BARE_CACHE (folder of the cached root), BARE_KEEP=1 (keep the roots).
# Exit codes: 0 all green, 1 a step was red, 2 wrong argument, 77 this machine cannot make or enter a root.
set -euo pipefail
set -m # a step is a process group of its own, to be ended as one; and its processes do not ignore SIGINT
umask 022

accounts=() steps=()
while [ $# -gt 0 ]; do
  case $1 in
    demo | test | wheel | ci) steps+=("$1") ;;
    --as)
      [[ ${2-} =~ ^(user|root)$ ]] || { echo "bare: --as wants user or root, not '${2-}'" >&2; exit 2; }
      accounts+=("$2")
      shift
      ;;
    *)
      echo "bare: '$1' is not a step; there are demo, test, wheel and ci, and --as user|root before them" >&2
      exit 2
      ;;
  esac
  shift
done
[ ${#accounts[@]} -gt 0 ] || accounts=(user root)
[ ${#steps[@]} -gt 0 ] || steps=(demo test wheel ci)

cannot() {
  echo "bare: cannot run here: $*" >&2
  exit 77
}
[ "$(id -u)" = 0 ] || cannot "only root may make and enter a root file system; try: sudo make bare"
[ -e /etc/debian_version ] || cannot "the root is made by Debian's own tools, and this is not Debian"
command -v mmdebstrap >/dev/null || cannot "mmdebstrap is not installed; try: apt-get install mmdebstrap"
unshare --mount --pid --fork mount -t tmpfs tmpfs /mnt 2>/dev/null || cannot "mounting is forbidden; in Docker, add --privileged"
clone=$(git -C "$(dirname "$0")" rev-parse --show-toplevel) || cannot "git clones what is committed, and this is not a clone"

cache=${BARE_CACHE:-/var/cache/storage-matrix-bare}
install -d -m 700 "$cache"
work=$(mktemp -d "$cache/run.XXXXXX")
running=
# shellcheck disable=SC2317,SC2329  # the trap calls it
clean_up() {
  [ -z "$running" ] || kill -KILL -- "-$running" 2>/dev/null || true
  wait
  if [ -n "${BARE_KEEP-}" ]; then echo "bare: kept $work"; else rm -rf --one-file-system "$work"; fi
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The root, from this machine's own package sources. A name says what it was made of; after a week it is made anew.
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
packages=(python3 python3-venv make git ca-certificates)
read -ra more_packages <<<"${BARE_PACKAGES-}"
packages+=("${more_packages[@]}")
mapfile -t sources < <(find /etc/apt/sources.list /etc/apt/sources.list.d/debian.sources -size +0 2>/dev/null)
cached=$cache/$suite-$(cat "${sources[@]}" - <<<"${packages[*]}" | sha256sum | cut -c1-12).tar
find "$cache" -maxdepth 1 -name '*.tar' -mtime +7 -delete
if [ ! -s "$cached" ]; then
  echo "bare: making a root of Debian $suite ..."
  apt-config dump Acquire >"$work/apt.conf"
  mmdebstrap --quiet --variant=minbase --include="$(IFS=, && echo "${packages[*]}")" --aptopt="$work/apt.conf" \
    "$suite" "$work/new.tar" "${sources[@]}" || cannot "mmdebstrap failed"
  mv "$work/new.tar" "$cached"
fi

# How this machine reaches its package registries: names, certificates, what pip, uv and proxies are told.
# SSL_CERT_FILE itself stays outside: the Makefile must find the machine's certificates without it.
certificates=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
mapfile -t network < <(env | grep -iE '^(PIP_|UV_|(https?|no|all)_proxy=)' | grep -vE '^[A-Z_]*(CACHE_DIR|FIND_LINKS)=')
network_files=(/etc/resolv.conf /etc/hosts /etc/pip.conf /etc/uv/uv.toml)

# unpack ROOT USER: a root with a fresh clone in the home folder of USER.
unpack() {
  local root=$1 user=$2 file
  mkdir "$root"
  tar --extract --file "$cached" --directory "$root" --numeric-owner
  for file in "${network_files[@]}" "${network[@]#*=}"; do
    [ ! -f "$file" ] || install -D -m 644 "$(realpath "$file")" "$root$file"
  done
  [ ! -f "$certificates" ] || install -m 644 "$certificates" "$root/etc/ssl/certs/ca-certificates.crt"
  # An id that nobody has here: the kernel counts processes and open files of an id across all roots.
  [ "$user" = root ] || chroot "$root" useradd --create-home --uid 54321 "$user"
  chroot "$root" install -d -o "$user" -g "$user" "$(home_of "$user")/storage-matrix"
  git clone --quiet --no-local "$clone" "$root$(home_of "$user")/storage-matrix"
  chroot "$root" chown -R "$user:" "$(home_of "$user")/storage-matrix"
}
home_of() { if [ "$1" = root ]; then echo /root; else echo "/home/$1"; fi; }

# enter ROOT USER COMMAND: the kernel ends its processes and mounts together with the first of them, the inner shell.
# The root becomes a mount point by pivot_root. In a chroot, / is none, and `unshare --mount` inside would be refused.
enter() {
  local root=$1 user=$2 home
  home=$(home_of "$user")
  # shellcheck disable=SC2016  # for the inner shell to expand
  unshare --mount --propagation private --pid --ipc --uts --fork --kill-child bash -euc '
    root=$1 user=$2 home=$3
    shift 3
    ulimit -S -n 1024
    mount --bind "$root" "$root"
    cd "$root"
    mount -t proc proc proc
    mount -t sysfs -o ro sysfs sys
    mount -t tmpfs -o mode=755 tmpfs dev
    mkdir dev/shm dev/pts
    for node in null zero full random urandom tty; do
      touch dev/$node
      mount --bind /dev/$node dev/$node
    done
    mount -t tmpfs -o mode=1777 tmpfs dev/shm
    mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
    ln -s pts/ptmx dev/ptmx
    ln -s /proc/self/fd dev/fd
    ln -s fd/0 dev/stdin
    ln -s fd/1 dev/stdout
    ln -s fd/2 dev/stderr
    pivot_root . mnt
    umount --lazy /mnt
    PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin
    cd "$home/storage-matrix"
    setpriv --reuid="$user" --regid="$user" --clear-groups \
      env --ignore-environment PATH="$PATH" HOME="$home" USER="$user" "$@"
  ' -- "$root" "$user" "$home" "${network[@]}" bash -euxc "$3" </dev/null
}

# The wheel is built from a clone of its own, so that nothing of an earlier build gets into it.
# shellcheck disable=SC2016  # for the shell in the root to expand
wheel='
  make install
  git clone --quiet . ~/source
  .venv/bin/python -m pip wheel --quiet --no-deps --wheel-dir ~/wheels ~/source
  python3 -m venv ~/empty
  .venv/bin/uv pip install --quiet --system-certs --python ~/empty/bin/python ~/wheels/*.whl
  mkdir -p ~/elsewhere
  cd ~/elsewhere
  PATH=$HOME/empty/bin:$PATH
  matrix --help >/dev/null
  matrix plan ~/storage-matrix/events/published/efs-zero-byte.json
  matrix import --published
  matrix report published-yocto
  matrix results published-yocto
  if matrix run ~/storage-matrix/events/local/first.json --local; then exit 1; fi
  ~/storage-matrix/.venv/bin/uv pip install --quiet --system-certs --python ~/empty/bin/python "$(echo ~/wheels/*.whl)[local]"
  matrix run ~/storage-matrix/events/local/first.json --local'
declare -A commands=([demo]='make demo' [test]='make test' [ci]='CI=true .ci/run' [wheel]=$wheel)

# left ROOT HOME: what a step has left in the temporary and the home folder, beside the caches of pip and uv
# and what the steps here put there themselves.
left() {
  (cd "$1" && find tmp var/tmp ".$2" -mindepth 1 -maxdepth 1) |
    grep -vE '/(\.cache|storage-matrix|source|wheels|empty|elsewhere|\.bashrc|\.profile|\.bash_logout)$' || true
}

red=0 summary=
for account in "${accounts[@]}"; do
  user=${account/user/bare} root=$work/$account
  unpack "$root" "$user"
  for step in "${steps[@]}"; do
    began=$SECONDS verdict=green
    echo "bare: $step as $account"
    enter "$root" "$user" "${commands[$step]}" &
    running=$!
    wait "$running" || verdict=RED red=1
    running=
    summary+="bare: $step as $account was $verdict after $((SECONDS - began)) s"$'\n'
    summary+=$(left "$root" "$(home_of "$user")" | sed 's/^/bare:   left behind: /')$'\n'
  done
  [ -n "${BARE_KEEP-}" ] || rm -rf --one-file-system "$root"
done
grep . <<<"$summary"
exit "$red"
