"""Runs: a preset's snapshot goes through candidates and judges, task by task; every result is a row before it counts.

Begin with `model.plan`, which says which tasks there are, and with `engine.engine`, which keeps every run of the
process going. Imports go down this list only:

    routes                    the HTTP interface
    engine                    works on runs: start, pause, resume, cancel, reevaluate
    creation                  makes a run, estimates its cost
    tasks                     plans, claims, attempts and commits tasks
    findings · publishing     gate, splits, trends, leaderboard; sends answers to the library or to GitHub
    verdicts · progress       turns verdicts into rankings; shows how far a run is
    checking                  makes the checks that need no judge
    scheduling · costs        decides who may call; what a call costs
    model                     states, plan, setup, texts, prompts, units, log, schemas
"""
