"""Which tests `make test-fast` leaves out. Whoever adds a test that takes seconds adds its file here."""

PLACES = (
    "tests/browser/",
    "tests/contract/test_client_generators.py",
    "tests/contract/test_openapi_behaviour.py",
    "tests/crash/",
    "tests/demo/",
    "tests/deploy/",
    "tests/packaging/",
    "tests/privacy/",
    "tests/proxy/",
    # Real processes: services, workers, terminal programs.
    "tests/backup/",
    "tests/campaigns/",
    "tests/cli/test_demo.py",
    "tests/cli/test_main.py",
    "tests/cli/test_reload.py",
    "tests/cli/test_serve.py",
    "tests/kit/processes/",
    "tests/sdk/test_host.py",
    "tests/vault/test_data_folder.py",
    "tests/vault/test_process.py",
    # Real connections and their time limits, on the clock of the wall.
    "tests/cli/test_protocol.py",
    "tests/documents/test_routes.py::test_a_hostile_file_gets_a_clear_answer_and_nothing_is_kept",
    "tests/generation/test_stream.py",
    "tests/runs/progress/test_eta.py::test_scores_that_are_planned_with_the_answers_count_among_what_is_to_come",
    "tests/runs/test_remote_models.py",
    # Thousands of inputs, histories or simulated tournaments.
    "tests/auth/test_disk_full.py",
    "tests/auth/test_interleavings.py",
    "tests/auth/test_memory.py",
    "tests/auth/test_sentinels.py",
    "tests/auth/test_sessions_stateful.py",
    "tests/credits/test_spending.py",
    "tests/evaluation/test_coverage.py",
    "tests/evaluation/test_early.py",
    "tests/evaluation/ranking/test_power.py",
    "tests/runs/judging/test_combining_recovery.py",
    "tests/runs/tasks/test_stopping_recovery.py",
    "tests/vault/test_memory.py",
    "tests/vault/test_pool_machine.py",
)
"""Folders, files and tests, by the beginning of a test's address."""

FIXTURES = frozenset({"service", "stopped"})
"""Those that start a service as a process of its own."""


def is_slow_place(address: str) -> bool:
    """Whether everything at `address` takes seconds."""
    return address.startswith(PLACES)


def is_slow(address: str, fixtures: list[str]) -> bool:
    """Whether the test at `address` takes seconds."""
    return is_slow_place(address) or not FIXTURES.isdisjoint(fixtures)
