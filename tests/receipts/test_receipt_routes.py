"""`GET /runs/{id}/receipt` and `GET /receipt-keys` over HTTP."""

import httpx
import msgspec
import pytest

from carrel.accounts.rotation import Rotation
from carrel.accounts.service import ServiceDatabase
from carrel.config import Settings
from carrel.kit.ids import uuid7_factory
from carrel.receipts import verifying
from carrel.receipts.keys import Signer
from carrel.receipts.receipt import SignedReceipt
from carrel.receipts.verifying import ReceiptRefuted
from tests.support.clock import FakeClock
from tests.support.host import Host, code_of
from tests.support.web_runs import ended, planned


async def test_the_receipt_of_a_run_is_good_without_its_texts_and_each_text_fits_its_hash(
    client: httpx.AsyncClient, host: Host
) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await ended(client, session, documents=3, texts=("yes", "The harbour opened. " * 30, "no"))
    path = f"/api/runs/{run_id}/receipt"
    answer = await client.get(path, headers=session)
    assert answer.status_code == 200, answer.text
    assert (await client.get(path, headers=session)).content == answer.content
    keys = (await client.get("/api/receipt-keys")).json()["items"]
    assert [key["current"] for key in keys] == [True]
    found = verifying.verify(answer.content, {keys[0]["key"]})
    ranking = (await client.get(f"/api/runs/{run_id}/ranking", headers=session)).json()
    assert msgspec.json.decode(msgspec.json.encode(found.ranking)) == ranking["ranking"]
    assert found.grounds[0].words == ranking["verdict"]["sentence"]
    assert found.same_as_at_end
    assert b"harbour" not in answer.content
    assert {"d1", "criteria.1", "c1.instructions", "d2.c1.s1"} <= found.texts.keys()
    for name in found.texts:
        told = await client.get(f"{path}/texts/{name}", headers=session)
        assert verifying.disclosed(found.texts, told.content) == name
    shown = (await client.get(f"{path}/texts/d1", headers=session)).json()
    assert shown["text"] == "yes"
    with pytest.raises(ReceiptRefuted):
        verifying.disclosed(found.texts, msgspec.json.encode(shown | {"text": "no"}))
    nothing = await client.get(f"{path}/texts/d9", headers=session)
    assert (nothing.status_code, code_of(nothing)) == (404, "not-found")
    stranger = await host.signed_in("reader-0002")
    assert (await client.get(path, headers=stranger)).status_code == 404


async def test_a_short_text_cannot_be_found_by_trying_because_no_two_runs_hash_it_alike(
    client: httpx.AsyncClient, host: Host
) -> None:
    session = await host.signed_in("reader-0001")
    found = []
    for _ in range(2):
        run_id = await ended(client, session, texts=("yes",), compared=False)
        answer = await client.get(f"/api/runs/{run_id}/receipt", headers=session)
        receipt = msgspec.json.decode(answer.content, type=SignedReceipt).receipt
        found.append(receipt)
        assert b"seed" not in answer.content, "a run's seed follows from its texts alone"
    assert found[0].texts["d1"] != found[1].texts["d1"]
    assert found[0].ranking == found[1].ranking


async def test_a_run_without_a_result_has_no_receipt(client: httpx.AsyncClient, host: Host) -> None:
    session = await host.signed_in("reader-0001")
    run_id = await planned(client, session)
    for path in ("receipt", "receipt/texts/d1"):
        answer = await client.get(f"/api/runs/{run_id}/{path}", headers=session)
        assert (answer.status_code, code_of(answer)) == (409, "receipt-not-ready")
    assert (await client.post(f"/api/runs/{run_id}/cancel", headers=session)).is_success
    answer = await client.get(f"/api/runs/{run_id}/receipt", headers=session)
    assert code_of(answer) == "receipt-not-ready"


async def test_keys_from_before_a_rotation_of_the_service_key_stay_published(settings: Settings) -> None:
    clock = FakeClock()
    old, new = settings.service_key.reveal(), b"n" * 32
    new_id = uuid7_factory(clock)
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    before = ServiceDatabase(settings.data_dir, old, clock=clock, new_id=new_id)
    before.open()
    await Signer(old).publish(before)
    await Signer(old).publish(before)
    before.close()
    clock.advance(60)
    Rotation(settings.data_dir, old, new, clock=clock, new_id=new_id).run()
    after = ServiceDatabase(settings.data_dir, new, clock=clock, new_id=new_id)
    after.open()
    signer = Signer(new)
    await signer.publish(after)
    listed = await signer.published(after)
    after.close()
    assert [(key.key, key.current) for key in listed.items] == [(signer.public, True), (Signer(old).public, False)]
