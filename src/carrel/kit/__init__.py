"""What would serve any service. Knows nothing of Carrel.

    http          requests and answers
    sqlite        databases
    concurrency   cancellation and locks
    processes     the worker process

Beside these rooms stand the small modules that everybody uses: the clock, ids, log lines, amounts of money, and the
names of branches and paths in git.
"""
