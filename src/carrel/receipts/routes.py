"""`/runs/{id}/receipt` and `/receipt-keys`: a signed record of a run, and the keys that it can be checked with."""

from typing import cast

from carrel.accounts.service import ServiceDatabase
from carrel.auth import guard
from carrel.auth.programs import scopes
from carrel.http.answers.response import Response
from carrel.http.requests.describe import raises
from carrel.http.requests.routing import Router, get
from carrel.kit.processes.pool import WorkerPool
from carrel.receipts import gathering, making
from carrel.receipts.commitments import DisclosedText
from carrel.receipts.gathering import ReceiptNotReady
from carrel.receipts.keys import ReceiptKeys, Signer
from carrel.receipts.receipt import SignedReceipt
from carrel.runs.model.setup import RunId
from carrel.vault.workspace import Workspace


@get("/receipt", guards=[guard.session], opt=scopes.READ | raises(ReceiptNotReady))
async def read_receipt(
    run_id: RunId,
    workspace: Workspace,
    workers: WorkerPool,
    signer: Signer,
) -> Response[SignedReceipt]:
    """What was judged (as hashes), every verdict, and the ranking that follows, signed by the service.

    `carrel verify-receipt` checks it offline. Keep the bytes as they are: written in another way, it is refused.
    """
    receipt = await making.made(workspace, workers, signer, run_id)
    # Bytes already; the type is what they hold.
    return Response(cast(SignedReceipt, receipt))


@get("/receipt/texts/{text_name:str}", guards=[guard.session], opt=scopes.READ | raises(ReceiptNotReady))
async def read_receipt_text(run_id: RunId, text_name: str, workspace: Workspace) -> DisclosedText:
    """One text of the receipt with its salt, to be shown to whoever holds the receipt. It discloses no other text."""
    return await workspace.scan(gathering.disclose, run_id, text_name)


@get("/receipt-keys")
async def list_receipt_keys(signer: Signer, service: ServiceDatabase) -> ReceiptKeys:
    """The public keys of this service, for everybody who was shown one of its receipts."""
    return await signer.published(service)


router = Router("/runs/{run_id:str}", route_handlers=[read_receipt, read_receipt_text], tags=["Run artifacts"])
keys_router = Router("/", route_handlers=[list_receipt_keys], tags=["Receipts"])
