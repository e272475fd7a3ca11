#!/bin/bash
# The steps that make a container's image of one program.  The Containerfile runs them,
# and tests/packages/run runs the same in bare Debians, where no container's daemon is.
#
# usage: tools/image.sh context FOLDER             what the recipe is given: the sources as
#                                                  committed, and the lists of `make deps`
#        tools/image.sh build                      in a bare Debian, there: the packages
#        tools/image.sh install PROGRAM PACKAGES   in another: the program, of that folder
#
# The last two run as root of a system that is thrown away, and change it.
set -euo pipefail

# The id is fixed, so that a volume fits the next image, and `runAsNonRoot` can check it.
readonly USER_ID=10001
readonly LISTS=(uap/regexes.yaml bots/crawler-user-agents.json
    bots/isbot-patterns.json sources/referrers.json
    uplot/uPlot.iife.min.js uplot/uPlot.min.css)

fail() {
    printf 'image: %s\n' "$*" >&2
    exit 1
}

# Runs apt, with output only if it fails.
quiet_apt() {
    local log
    log=$(mktemp)
    if ! DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends \
        -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" >"$log" 2>&1 </dev/null; then
        tail -n 20 "$log" >&2
        fail "apt-get $1 failed"
    fi
    rm "$log"
}

context() {
    local repo list
    repo=$(cd "$(dirname "$0")/.." && pwd)
    mkdir -p "$1"
    git -C "$repo" archive HEAD | tar -x -C "$1"
    for list in "${LISTS[@]}"; do
        [ -e "$repo/.deps/$list" ] ||
            fail ".deps/$list is missing: run 'make deps' first"
        install -D -m 644 "$repo/.deps/$list" "$1/.deps/$list"
    done
}

build() {
    local log
    cd "$(dirname "$0")/.."
    log=$(mktemp)
    quiet_apt update
    quiet_apt install dpkg-dev
    quiet_apt build-dep ./
    make deb >"$log" 2>&1 || {
        tail -n 30 "$log" >&2
        fail "make deb failed"
    }
    rm "$log"
    ls -sh build/deb/packages
}

# Runs before the package is installed, which uses an existing user.
make_user() {
    groupadd --gid "$USER_ID" shortloop
    useradd --uid "$USER_ID" --gid "$USER_ID" --no-create-home \
        --home-dir /var/lib/shortloop --shell /usr/sbin/nologin shortloop
}

# Removes files that only the package manager reads.
clean_up() {
    apt-get clean
    rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/dpkg.log \
        /var/log/alternatives.log /var/cache/debconf/*-old \
        /var/cache/ldconfig/aux-cache /var/lib/dpkg/*-old
}

install_program() {
    local program=$1 packages=$2 with=(ca-certificates)
    local entry=/usr/local/bin/entrypoint
    case $program in
    redirector | allocator | aggregator | reclaimer) ;;
    collector) with+=(publicsuffix) ;;
    *) fail "'$program' is none of the programs" ;;
    esac
    make_user
    quiet_apt update
    quiet_apt install "${with[@]}" "$packages"/shortloop-common_*.deb \
        "$packages/shortloop-$program"_*.deb
    install -d -m 750 -o "$USER_ID" -g "$USER_ID" /var/lib/shortloop \
        /var/log/shortloop /run/shortloop
    ln -s "/usr/bin/$program" "$entry"
    clean_up
    "$entry" --version
}

case "${1:-} $#" in
"context 2") context "$2" ;;
"build 1") build ;;
"install 3") install_program "$2" "$3" ;;
*) fail "context FOLDER, build, or install PROGRAM PACKAGES" ;;
esac
