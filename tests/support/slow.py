"""Which tests `make test-fast` leaves out. Whoever adds a test that takes seconds adds its file here."""

PLACES = (
    "tests/browser/",
    "tests/cluster/",
    "tests/contract/test_client_generators.py",
    "tests/contract/test_openapi_behaviour.py",
    "tests/crash/",
    "tests/carrel_website/",
    "tests/deploy/",
    "tests/packaging/",
    "tests/privacy/",
    "tests/proxy/",
    # Real processes: services, workers, terminal programs.
    "tests/backup/",
    "tests/benchmarks/",
    "tests/campaigns/",
    "tests/cli/test_demo.py",
    "tests/cli/test_full_disk.py",
    "tests/cli/test_main.py",
    "tests/cli/test_mcp.py",
    "tests/cli/test_rank.py",
    "tests/cli/test_reload.py",
    "tests/cli/test_serve.py",
    "tests/cli/test_spreadsheet_guide.py",
    "tests/cli/test_without_service.py",
    "tests/datasets/result_files/test_hostile_files.py",
    "tests/docs/test_how_to_extend.py",
    "tests/documents/test_extract.py::test_of_200_broken_files_none_ends_a_worker_and_costly_ones_stay_within_their_limits",
    "tests/kit/processes/",
    "tests/sdk/test_host.py",
    "tests/sdk/test_typescript.py",
    "tests/providers/local/test_provider.py",
    "tests/providers/test_prices.py::test_prices_are_not_read_at_the_start",
    "tests/providers/protocols/test_openai_chat.py::test_the_http_client_is_not_imported_before_the_first_call",
    "tests/vault/test_data_folder.py",
    "tests/vault/test_process.py",
    "tests/vault/test_rebuilds.py",
    # Real connections and their time limits, on the clock of the wall.
    "tests/cli/test_protocol.py",
    "tests/documents/test_routes.py::test_a_hostile_file_gets_a_clear_answer_and_nothing_is_kept",
    "tests/single_calls/test_stream.py",
    "tests/judges/test_leaving.py",
    "tests/providers/test_hostile_answers.py",
    "tests/providers/test_transcripts.py",
    "tests/runs/engine/test_impatient_providers.py",
    "tests/runs/progress/test_eta.py::test_scores_that_are_planned_with_the_answers_count_among_what_is_to_come",
    "tests/runs/test_remote_models.py",
    # Whole runs, exports and imports, of which tests/runs/engine and tests/transfer/test_fields.py keep enough.
    "tests/github/test_deliveries_again.py",
    "tests/github/test_export.py",
    "tests/rate_limits/test_routes.py::test_a_refusal_of_the_providers_makes_the_run_ask_for_less_at_once",
    "tests/runs/checking/test_checking.py::test_a_run_that_dies_at_any_commit_ends_with_the_same_marks",
    "tests/runs/creation/test_dry_run_costs.py",
    "tests/runs/engine/test_batches.py",
    "tests/runs/engine/test_busy_runs.py",
    "tests/runs/engine/test_credit_runs.py",
    "tests/runs/engine/test_credit_troubles.py",
    "tests/runs/engine/test_every_move.py",
    "tests/runs/engine/test_retention.py",
    "tests/runs/engine/test_unknown_costs.py",
    "tests/runs/tasks/test_stopping.py",
    "tests/runs/test_injections.py",
    "tests/runs/test_three_protocols.py",
    "tests/transfer/test_export.py",
    "tests/transfer/test_import.py",
    # Thousands of inputs, histories or simulated tournaments.
    "tests/accounts/test_accounts.py::test_creation_survives_every_failure_of_the_disk",
    "tests/accounts/test_service.py::test_its_making_survives_every_failure_of_the_disk",
    "tests/auth/test_broken_files.py",
    "tests/auth/test_disk_full.py",
    "tests/auth/test_interleavings.py",
    "tests/auth/test_memory.py",
    "tests/auth/test_sentinels.py",
    "tests/auth/test_sessions_stateful.py",
    "tests/credits/test_spending.py",
    "tests/datasets/test_routes.py::test_a_million_rows_are_too_many_and_the_error_says_how_many_may_be",
    "tests/evaluation/test_coverage.py",
    "tests/evaluation/test_early.py",
    "tests/evaluation/test_gate.py",
    "tests/evaluation/test_worlds.py",
    "tests/evaluation/ranking/test_panels.py",
    "tests/evaluation/ranking/test_power.py",
    "tests/evaluation/ranking/test_scores_alone.py",
    "tests/evaluation/ranking/test_stopping.py",
    "tests/evaluation/test_properties.py",
    "tests/evaluation/statistics/test_clusters.py",
    "tests/http/test_validation.py::test_no_value_is_ever_repeated",
    "tests/providers/local/test_markdown.py",
    "tests/runs/findings/test_one_rule.py",
    "tests/runs/verdicts/test_combining_recovery.py",
    "tests/runs/tasks/test_stopping_recovery.py",
    "tests/vault/test_memory.py",
    "tests/vault/test_pool_machine.py",
    "tests/vault/test_workspace.py::test_endless_scans_of_four_users_keep_nobody_elses_scan_waiting",
    "tests/vault/test_workspace.py::test_long_work_of_one_user_goes_on_although_another_never_ends",
    "tests/vault/test_workspace.py::test_writes_survive_every_failure_of_the_disk",
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
