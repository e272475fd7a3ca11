# Runs suites of tests one after the other and counts what their last lines say.
# Sourced by tests/run and tests/run-long:
#
#   suite COMMAND...    runs one
#   left_out WHAT WHY   counts one that cannot be run here
#   suites_end          lists what was left out, with reasons, and prints
#                       "N passed, N failed, N skipped"; false when any failed
# shellcheck shell=bash
suites_out=$(mktemp)
suites_skipped=$(mktemp)
trap 'rm -f "$suites_out" "$suites_skipped"' EXIT
passed=0
failed=0

# count WHAT: the number before WHAT in a suite's last line, or 0.
count() {
    tail -n 1 "$suites_out" | grep -oE "[0-9]+ $1" | grep -oE '[0-9]+' || echo 0
}

# One that broke without naming a test has failed all the same.
suite() {
    local status bad
    "$@" 2>&1 | tee "$suites_out"
    status=${PIPESTATUS[0]}
    passed=$((passed + $(count '(fuzz targets )?passed')))
    bad=$(($(count failed) + $(count 'errors?')))
    [ "$status" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
    failed=$((failed + bad))
    grep -E '^SKIPPED \[[0-9]+\] ' "$suites_out" >>"$suites_skipped"
}

left_out() {
    echo "SKIPPED [1] $1: $2" | tee -a "$suites_skipped"
}

suites_end() {
    local skipped
    skipped=$(sed -E 's/^SKIPPED \[([0-9]+)\].*/\1/' "$suites_skipped" |
        awk '{n += $1} END {print n + 0}')
    if [ "$skipped" -gt 0 ]; then
        echo "$skipped tests were left out:"
        sort "$suites_skipped" | uniq -c |
            awk '{times = $1; $1 = ""; print " " $0 (times > 1 ? " (" times " times)" : "")}'
    fi
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
}
