"""Models, keys, limits, usage and settings in the terminal."""

import io
from collections.abc import Callable

import msgspec
import pytest
from click.testing import Result
from rich.console import Console

from carrel.cli.interface.terminal import CommandOutput

Terminal = Callable[..., Result]
KEY = "sk-canary-0123456789-wxyz"


def lines(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [msgspec.json.decode(line, type=dict[str, object]) for line in result.stdout.splitlines()]


def test_models_are_listed_and_shown(signed_in: Terminal) -> None:
    found = lines(signed_in("models", "list", "LOCAL", "--role", "judge", "--available", "--json"))
    assert {str(model["model"]) for model in found} == {"local:reader", "local:statistician"}
    assert "local:lead" in signed_in("models", "list").output
    assert "Not a language model" in signed_in("models", "show", "local:lead").output
    assert signed_in("models", "show", "local:none").exit_code == 4


def test_the_price_of_a_model_of_ones_own_is_set_listed_and_removed(signed_in: Terminal) -> None:
    set_price = ("models", "set-price", "ollama:llama3", "--input", "0.5")
    assert "ollama:llama3: $0.5 in and $0 out" in signed_in(*set_price, "--output", "0").output
    assert signed_in("models", "set-price", "vllm", "--input", "1", "--output", "2").exit_code == 0
    listed = signed_in("models", "prices").output
    assert "vllm, all others" in listed
    assert "$0.5, $0" in listed
    assert "price    $0.5, $0, yours" in signed_in("models", "show", "ollama:llama3").output
    refused = signed_in(*set_price, "--output", "much")
    assert (refused.exit_code, "output_per_million" in refused.output) == (1, True)
    assert signed_in("models", "unset-price", "vllm").exit_code == 0
    assert signed_in("models", "unset-price", "vllm").exit_code == 4
    (left,) = lines(signed_in("models", "prices", "--json"))
    assert (left["model"], left["input_per_million"], left["output_per_million"]) == ("ollama:llama3", "0.5", "0")


def test_a_key_goes_in_on_stdin_and_never_comes_out(signed_in: Terminal) -> None:
    assert signed_in("keys", "set", "openai", stdin=f"{KEY}\n").exit_code == 2
    assert signed_in("keys", "set", "openai", "--key-stdin", stdin="\n").exit_code == 2
    stored = signed_in("keys", "set", "openai", "--key-stdin", stdin=f"{KEY}\n")
    assert stored.exit_code == 0
    listed = signed_in("keys", "list")
    assert "wxyz" in listed.output
    assert KEY not in stored.output + listed.output
    assert signed_in("keys", "delete", "openai").exit_code == 0
    assert signed_in("keys", "test", "openai").exit_code == 4
    assert lines(signed_in("keys", "list", "--json")) == []


def test_limits_are_set_one_by_one_and_reset(signed_in: Terminal) -> None:
    assert signed_in("rate-limits", "set", "openai", "--requests", "10", "--at-once", "3").exit_code == 0
    (saved,) = lines(signed_in("rate-limits", "set", "openai", "--tokens", "5000", "--json"))
    assert (saved["requests_per_minute"], saved["tokens_per_minute"], saved["concurrency"]) == (10, 5000, 3)
    (saved,) = lines(signed_in("rate-limits", "set", "openai", "--requests", "none", "--json"))
    assert (saved["requests_per_minute"], saved["tokens_per_minute"]) == (None, 5000)
    assert "5,000" in signed_in("rate-limits", "list").output
    assert signed_in("rate-limits", "set", "openai", "--requests", "many").exit_code == 2
    assert signed_in("rate-limits", "set", "nobody", "--requests", "1").exit_code == 4
    assert signed_in("rate-limits", "reset", "openai").exit_code == 0
    found = {row["provider"]: row["is_default"] for row in lines(signed_in("rate-limits", "list", "--json"))}
    assert found["openai"] is True


def test_usage_and_credits_are_told(signed_in: Terminal) -> None:
    (usage,) = lines(signed_in("usage", "show", "--by", "model", "--by", "day", "--from", "2026-01-01", "--json"))
    assert usage["items"] == []
    assert "in all" in signed_in("usage", "show").output
    assert signed_in("usage", "show", "--from", "yesterday").exit_code == 1
    assert lines(signed_in("usage", "calls", "--json")) == []
    assert signed_in("usage", "calls").exit_code == 0
    assert "0 credits" in signed_in("usage", "credits").output
    assert lines(signed_in("usage", "ledger", "--json")) == []


def test_settings_are_changed_one_by_one(signed_in: Terminal) -> None:
    changed = signed_in("settings", "set", "theme=dark", "default_judges=[local:reader]", "retention_days=90")
    assert changed.exit_code == 0, changed.output
    (now,) = lines(signed_in("settings", "set", "retention_days=null", "--json"))
    assert (now["theme"], now["default_judges"], now["retention_days"]) == ("dark", ["local:reader"], None)
    assert "theme: dark" in signed_in("settings", "show").output


@pytest.mark.parametrize("pair", ["theme", "colour=red", "etag=x", "retention_days=soon", "theme=[", "theme=pink"])
def test_a_setting_that_is_none_is_wrong_usage(signed_in: Terminal, pair: str) -> None:
    refused = signed_in("settings", "set", pair)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("carrel: ")


def test_a_narrow_terminal_loses_neither_ids_nor_names() -> None:
    told = io.StringIO()
    console = Console(file=told, width=44, force_terminal=True, color_system=None)
    rows = [("01a1fdc4-2a5b-7f26-ad7a-45f991268c26", "Which summary is the best of all?", "completed")]
    columns = {"id": lambda row: row[0], "name": lambda row: row[1], "state": lambda row: row[2]}
    output = CommandOutput(as_json=False, console=console)
    output.show_rows(rows, columns)
    assert rows[0][0] in told.getvalue()
    assert "completed" in told.getvalue()
    assert "".join(told.getvalue().split()).count("Whichsummaryisthebestofall?") == 1
    output.show_rows([], columns)
