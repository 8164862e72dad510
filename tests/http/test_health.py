import httpx


async def test_health_tells_that_the_service_is_up(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/health")
    assert answer.status_code == 200
    assert answer.json()["status"] == "ok"


async def test_safe_to_restart_counts_runs_and_keys(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api/health/safe-to-restart")
    assert answer.json() == {"safe": True, "active_runs": 0, "cached_keys": 0}
