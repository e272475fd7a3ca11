# Runs suites of tests one after the other and counts what their last lines say.
# Sourced by tests/run and tests/run-long:
#
#   suite COMMAND...    runs one
#   suites_end          prints "N passed, N failed"; false when any failed
# shellcheck shell=bash
suites_out=$(mktemp)
trap 'rm -f "$suites_out"' EXIT
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
}

suites_end() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
