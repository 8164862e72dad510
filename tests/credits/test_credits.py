"""Credits: what the host adds is what the ledger says, once, and never more than the books can hold."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from carrel.accounts import accounts as account_rows
from carrel.accounts.accounts import MIGRATIONS, Accounts
from carrel.config import Settings
from carrel.credits import folding, ledger, reservation_store
from carrel.credits.reservation_store import Want
from carrel.credits.schemas import AddIn
from carrel.errors import BadInput
from carrel.kit.ids import uuid7_factory
from carrel.kit.money import MAX_MICROS, micros_of, text_of
from carrel.kit.sqlite import database
from carrel.kit.sqlite.migrate import migrate
from carrel.kit.sqlite.paging import Paging
from carrel.runs.costs.quotes import credits_of
from carrel.vault.pool import LOOK_AGAIN_SECONDS
from tests.support.clock import FakeClock
from tests.support.host import PLUGIN, Host, code_of

ADD, BALANCE, LEDGER = "/api/credits/add", "/api/credits", "/api/credits/ledger"

amounts = st.integers(1, 999_999_999_999_999).map(text_of)


async def add(client: httpx.AsyncClient, amount: object, key: str | None = None, **body: Any) -> httpx.Response:
    headers = PLUGIN | ({} if key is None else {"Idempotency-Key": key})
    return await client.post(ADD, json={"uuid": "ada", "amount": amount} | body, headers=headers)


async def test_what_is_added_is_the_balance_and_an_entry_of_the_ledger(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    assert (await client.get(BALANCE, headers=session)).json()["balance"] == "0"
    answer = await add(client, "12.50", reason="first invoice")
    assert (answer.status_code, answer.json()["balance"], answer.json()["reserved"]) == (200, "12.5", "0")
    await add(client, "0.000001")
    assert (await client.get(BALANCE, headers=session)).json()["balance"] == "12.500001"
    assert (await client.get("/api/users/me", headers=session)).json()["credits"] == "12.500001"
    entries = (await client.get(LEDGER, headers=session)).json()["items"]
    assert [(entry["kind"], entry["amount"], entry["balance"], entry["reason"]) for entry in entries] == [
        ("add", "0.000001", "12.500001", None),
        ("add", "12.5", "12.5", "first invoice"),
    ]


async def test_the_ledger_stays_bounded_and_its_sum_is_the_balance(
    client: httpx.AsyncClient,
    host: Host,
    app: Any,
    settings: Settings,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folding, "KEPT", 8)
    monkeypatch.setattr(folding, "STEP", 2)
    session = await host.signed_in("ada")
    accounts = Accounts(settings.data_dir, settings.service_key.reveal(), clock=clock, new_id=uuid7_factory(clock))
    await add(client, "100")
    for number in range(20):
        want = Want(f"call-{number}", 2_000_000)
        assert await accounts.run("ada", reservation_store.reserve, [want]) == {want.id}
        await accounts.run("ada", reservation_store.settle, {want.id: 1_000_000})
        await add(client, "0.5")
        entries = (await client.get(LEDGER, params={"limit": 200}, headers=session)).json()["items"]
        assert len(entries) <= 8 + 2 + 5
        total = Decimal(0)
        for entry in reversed(entries):
            total += Decimal(entry["amount"])
            assert total == Decimal(entry["balance"])
        assert total == Decimal((await client.get(BALANCE, headers=session)).json()["balance"])
    assert [entry["reason"] for entry in entries[-2:]] == ["The sum of earlier entries."] * 2
    accounts.close()


async def test_a_number_is_read_digit_by_digit(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    headers = PLUGIN | {"Content-Type": "application/json"}
    for sent, balance in (
        ("0.1", "0.1"), ("0.2", "0.3"), ("0.000001", "0.300001"), ("1e2", "100.300001"), ("5e-1", "100.800001"),
        ("899999899.199998", "899999999.999999"),
    ):  # fmt: skip
        answer = await client.post(ADD, content=f'{{"uuid": "ada", "amount": {sent}}}', headers=headers)
        assert (answer.status_code, answer.json()["balance"]) == (200, balance), sent
    entries = (await client.get(LEDGER, headers=session)).json()["items"]
    assert [entry["amount"] for entry in entries[::-1]] == ["0.1", "0.2", "0.000001", "100", "0.5", "899999899.199998"]


async def test_holds_are_given_in_order_up_to_the_first_that_the_balance_does_not_cover(
    client: httpx.AsyncClient, host: Host, settings: Settings, clock: FakeClock
) -> None:
    await host.signed_in("ada")
    await add(client, "10")
    accounts = Accounts(settings.data_dir, settings.service_key.reveal(), clock=clock, new_id=uuid7_factory(clock))
    wants = [Want("first", 6_000_000), Want("too much", 5_000_000), Want("small", 1_000_000)]
    assert await accounts.run("ada", reservation_store.reserve, wants) == {"first"}
    assert await accounts.run("ada", reservation_store.reserve, [Want("the rest", 4_000_000)]) == {"the rest"}
    await host.signed_in("bob")
    assert await accounts.run("bob", reservation_store.reserve, [Want("of nothing", 1)]) == frozenset()
    accounts.close()


async def test_a_sweep_leaves_the_holds_of_calls_under_way_and_what_no_call_took_comes_back(
    client: httpx.AsyncClient, host: Host, settings: Settings, clock: FakeClock
) -> None:
    session = await host.signed_in("ada")
    await add(client, "10")
    accounts = Accounts(settings.data_dir, settings.service_key.reveal(), clock=clock, new_id=uuid7_factory(clock))
    await accounts.run("ada", reservation_store.reserve, [Want("used", 1_000_000), Want("old", 2_000_000)])
    assert await accounts.run("ada", reservation_store.sweep, "9999", {"used"})
    accounts.close()
    balance = (await client.get(BALANCE, headers=session)).json()
    assert (balance["balance"], balance["reserved"]) == ("7", "1")
    clock.advance(LOOK_AGAIN_SECONDS + 1)
    balance = (await client.get(BALANCE, headers=await host.signed_in("ada"))).json()
    assert (balance["balance"], balance["reserved"]) == ("10", "0")


def test_a_part_of_a_millionth_costs_a_whole_one() -> None:
    assert [credits_of(cost, Decimal("1.1")) for cost in (0, 1, 10, 11)] == [0, 2, 11, 13]


NO_AMOUNTS = [
    *(
        '""',
        '"0"',
        '"0.000000"',
        '"-1"',
        '"1.0000001"',
        '"NaN"',
        '"Infinity"',
        '"0x10"',
        '"1,5"',
        '"1 000"',
        '"\\u00b2"',
    ),
    *('"1000000000"', f'"{"9" * 30}"', '"1.1.1"', "true", "null", '["1"]', '{"value": "1"}'),
    *("0", "-1", "-0.0", "0.1000000000000000000000001", "1000000000", "1e9", "1e400", "1e-400", "9" * 30),
]


async def test_what_is_no_amount_is_400_naming_the_field(client: httpx.AsyncClient, host: Host) -> None:
    await host.create("ada")
    headers = PLUGIN | {"Content-Type": "application/json"}
    for amount in NO_AMOUNTS:
        answer = await client.post(ADD, content=f'{{"uuid": "ada", "amount": {amount}}}', headers=headers)
        assert (answer.status_code, code_of(answer)) == (400, "invalid-input"), amount
        assert [fault["path"] for fault in answer.json()["errors"]] == ["amount"], amount


async def test_a_long_reason_an_unknown_field_and_an_unknown_user_are_refused(
    client: httpx.AsyncClient, host: Host
) -> None:
    await host.create("ada")
    for body, path in (({"reason": "x" * 201}, "reason"), ({"currency": "USD"}, "currency")):
        answer = await add(client, "1", **body)
        assert (answer.status_code, answer.json()["errors"][0]["path"]) == (400, path)
    unknown = await add(client, "1", uuid="nobody")
    assert (unknown.status_code, code_of(unknown)) == (404, "user-not-found")


async def test_the_balance_never_passes_its_bound(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    assert (await add(client, "999999999.999999")).status_code == 200
    refused = await add(client, "0.000002")
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "amount")
    assert (await add(client, "0.000001")).json()["balance"] == "1000000000"
    assert len((await client.get(LEDGER, headers=session)).json()["items"]) == 2


async def test_a_repeated_addition_counts_once(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    await host.create("bob")
    first = await add(client, "5", "invoice-1")
    again = await add(client, "5", "invoice-1")
    assert (again.status_code, again.content) == (first.status_code, first.content)
    other = await add(client, "6", "invoice-1")
    assert (other.status_code, code_of(other)) == (409, "idempotency-mismatch")
    assert (await add(client, "5", "invoice-1", uuid="bob")).json()["balance"] == "5", "a key is the user's own"
    assert (await client.get(BALANCE, headers=session)).json()["balance"] == "5"


async def test_a_refused_addition_does_not_use_its_key_up(client: httpx.AsyncClient, host: Host) -> None:
    assert (await add(client, "5", "invoice-1")).status_code == 404
    await host.create("ada")
    assert (await add(client, "5", "invoice-1")).status_code == 200


async def test_additions_at_the_same_time_all_count(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("ada")
    answers = await asyncio.gather(*(add(client, "0.1", f"invoice-{number % 20}") for number in range(40)))
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert all(code_of(answer) == "idempotency-in-progress" for answer in answers if answer.status_code == 409)
    assert (await client.get(BALANCE, headers=session)).json()["balance"] == "2"
    entries = (await client.get(LEDGER, headers=session, params={"limit": 200})).json()["items"]
    assert sum(Decimal(entry["amount"]) for entry in entries) == 2
    assert len(entries) == 20


async def test_a_user_sees_the_own_ledger_only(client: httpx.AsyncClient, host: Host) -> None:
    bob = await host.signed_in("bob")
    await host.create("ada")
    await add(client, "5")
    assert (await client.get(LEDGER, headers=bob)).json()["items"] == []
    assert (await client.get(BALANCE, headers=bob)).json()["balance"] == "0"


@hypothesis_settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(amounts, st.just("0"))))
def test_the_balance_is_the_sum_of_the_ledger_at_any_instant(
    tmp_path_factory: pytest.TempPathFactory, sent: list[str]
) -> None:
    clock = FakeClock()
    path: Path = tmp_path_factory.mktemp("account") / "account.db"
    conn = database.create(path, bytes(32), clock=clock, new_id=uuid7_factory(clock))
    migrate(conn, MIGRATIONS)
    account_rows.insert(conn, "ada", "paid")
    total = 0
    for amount in sent:
        try:
            with database.transaction(conn):
                ledger.add(conn, AddIn(uuid="ada", amount=Decimal(amount)))
        except BadInput:
            assert micros_of(amount) == 0 or total + micros_of(amount) > MAX_MICROS
        else:
            total += micros_of(amount)
        row = conn.one("SELECT coalesce(sum(amount_micros), 0) FROM ledger")
        assert row == (total,)
        assert ledger.balance(conn).balance == text_of(total)
    entries = ledger.entries(conn, Paging(200, None)).items
    assert [entry.balance for entry in entries[:1]] == ([text_of(total)] if entries else [])
    database.close(conn)
