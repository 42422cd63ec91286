# Reads the output of `go test -v`. Shows the packages, the whole output of a
# package that failed, and every line with "measured:"; closes with the count of
# tests. Fails when no test ran and, where ci is set, when one was skipped.
/measured:/ { sub(/^ +/, ""); print; fflush() }
/^--- PASS: / { passed++ }
/^--- FAIL: / { failed++ }
/^ *--- SKIP: / { skipped++; names = names "\n  " $3 }
/^ok +\t/ { print; fflush(); held = 0; next }
/^\? +\t/ { held = 0; next }
/^FAIL\t/ { show(); print; fflush(); broken++; held = 0; next }
{ line[held++] = $0 }

function show(  i) {
    for (i = 0; i < held; i++)
        if (line[i] !~ /^ *(=== |--- PASS)/) print line[i]
}

END {
    # What is left belongs to no package: a build that never began.
    if (held && !passed && !broken) show()
    if (skipped) print "skipped:" names
    if (broken && !failed) failed = broken
    print passed + 0, failed + 0, skipped + 0 > out
    if (!passed && !failed) print "no test ran"
    else if (skipped && ci != "") print "a skipped test is a failure in CI"
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    if (failed || (!passed && !failed) || (skipped && ci != "")) exit 1
}
