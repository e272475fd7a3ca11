# What tests/packages/try and tests/packages/images have in common.  Sourced.
# shellcheck shell=bash
passed=0
failed=0

check() {
    local what=$1
    shift
    if "$@" >/tmp/check.log 2>&1; then
        passed=$((passed + 1))
        printf 'ok      %s\n' "$what"
    else
        failed=$((failed + 1))
        printf 'FAILED  %s\n' "$what"
        tail -n 5 /tmp/check.log
    fi
}
not() { ! "$@"; }

# How many there were; false if one failed.
count_checks() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}

# Points a configuration at servers that are not there.
nobody_to_talk_to() {
    sed 's/127.0.0.1:6379/127.0.0.1:1/; s/localhost:9092/127.0.0.1:1/
        s/127.0.0.1:8123/127.0.0.1:1/'
}

# answers PORT STATUS: what /readyz says, by bash alone.
answers() {
    local line
    exec 3<>"/dev/tcp/127.0.0.1/$1" || return
    printf 'GET /readyz HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n' >&3
    read -r line <&3
    exec 3>&-
    [[ $line == "HTTP/1.1 $2 "* ]]
}

# answers_by_and_by PORT STATUS PID LOG: while that process runs.
answers_by_and_by() {
    local left=120
    until answers "$1" "$2" 2>/dev/null; do
        if ! kill -0 "$3" || [ $((left -= 1)) -eq 0 ]; then
            cat "$4"
            return 1
        fi
        sleep 0.5
    done
}
