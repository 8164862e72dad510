"""Code that any service could use. It knows nothing about Carrel.

    http          requests and answers
    sqlite        databases
    concurrency   cancellation, locks, and turns in threads
    processes     worker processes

Beside these packages are small modules that everybody uses: the clock, ids, log lines, amounts of money, the
size of JSON before it is decoded, what counts as text, in which encoding it is, placeholders in it, and the names of
branches and paths in git.
"""
