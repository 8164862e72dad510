"""Code that any service could use. It knows nothing about Carrel.

    http          requests and answers
    sqlite        databases
    concurrency   cancellation, locks, turns, and clients that leave
    processes     worker processes

Beside these packages are small modules that everybody uses: the clock, ids, log lines, amounts of money, JSON in
pieces, its size before it is decoded, what counts as text, and the names of branches and paths in git.
"""
