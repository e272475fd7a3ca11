# Bare Debians made with debootstrap, and commands in them.  Sourced by
# tests/fresh/run and tests/packages/run, which have set NAME, for messages.
# shellcheck shell=bash disable=SC2153

say() { printf '%s: %s\n' "$NAME" "$*"; }
fail() {
    printf '%s: %s\n' "$NAME" "$*" >&2
    exit 1
}

# suite_of 12|13
suite_of() {
    case $1 in
    12) echo bookworm ;;
    13) echo trixie ;;
    *) fail "Debian 12 or 13, not '$1'" ;;
    esac
}

need_root() {
    [ "$(id -u)" -eq 0 ] || fail "has to be root, for debootstrap and chroot"
    command -v debootstrap >/dev/null || fail "install the package debootstrap"
}

# make_root ROOT SUITE PACKAGES: anew.
make_root() {
    rm -rf --one-file-system "$1"
    mkdir -p "$1"
    say "making a bare Debian ($2) in $1"
    debootstrap --variant=minbase --include="$3" "$2" "$1" >"$1.log" 2>&1 ||
        fail "debootstrap failed; see $1.log"
    trust_as_here "$1"
}

# What lets package clients reach their registries from here.
trust_as_here() {
    local file
    for file in /usr/local/share/ca-certificates/*.crt \
        /etc/apt/apt.conf.d/*proxy* /etc/pip.conf /root/.npmrc \
        /root/.config/pip/pip.conf /root/.m2/settings.xml \
        /etc/resolv.conf /etc/hosts; do
        [ -f "$file" ] || continue
        mkdir -p "$1$(dirname "$file")"
        cp "$file" "$1$file"
    done
    chroot "$1" update-ca-certificates >/dev/null 2>&1
    # Services stay down: there is no init to look after them.
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod +x "$1/usr/sbin/policy-rc.d"
}

# kept_variables ROOT: those that name proxies, certificates or ports, unless they
# name a file that is not in the root.
kept_variables() {
    local name value
    while IFS='=' read -r -d '' name value; do
        case $name in
        *[pP][rR][oO][xX][yY]* | *CERT* | *CA_BUNDLE* | *CAINFO* | \
            npm_config_* | PIP_* | SHORTLOOP_* | DEMO_*) ;;
        *) continue ;;
        esac
        [[ $value == /* && ! -e $1$value ]] || printf '%s=%s\n' "$name" "$value"
    done < <(env -0)
}

# in_root ROOT COMMAND...: in a namespace of processes and mounts of its own, so
# that what it leaves running or mounted ends with it.
in_root() {
    local root=$1 variables
    shift
    mapfile -t variables < <(kept_variables "$root")
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -ec '
        # A root that is no mount can have no namespace of mounts within.
        mount --bind "$0" "$0"
        mount --rbind /dev "$0/dev"
        mount --rbind /sys "$0/sys"
        mount -t proc proc "$0/proc"
        exec chroot "$0" "$@"' "$root" \
        env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        TERM="${TERM:-dumb}" "${variables[@]}" "$@" &
    # Killed, this script takes the namespace with it (unshare takes no TERM).
    trap 'kill -KILL $!; exit 1' INT TERM
    wait $!
}
