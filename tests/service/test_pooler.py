"""The service behind PgBouncer in transaction mode: calls of many roles share two connections of the server."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from broker.service.settings import Settings
from tests import pooler as pgbouncer
from tests.service.conftest import BASE, Db, Jobs, Running, Start, Token, bearer

pytestmark = pytest.mark.own_database

AGENTS, JOBS = 12, 60


@pytest.fixture
def pooled(settings: Settings, start: Start) -> Iterator[Running]:
    """A service with eight connections to PgBouncer, which has two to the server."""
    if pgbouncer.PROGRAM is None:
        pytest.skip("PgBouncer is not installed")
    pooler = pgbouncer.Pooler(settings.dsn, size=2)
    yield start(dsn=pooler.dsn(settings.dsn), connections=8)
    pooler.close()


def test_roles_and_subjects_do_not_leak_between_calls_behind_a_pooler(
    db: Db, pooled: Running, token: Token, jobs: Jobs
) -> None:
    jobs(JOBS)
    viewer = bearer(token("viewer"))

    def work(number: int) -> list[int]:
        """Run jobs as one agent, which reports and ends each; a viewer reads in between."""
        name = f"agent-{number}"
        done = []
        with httpx.Client(base_url=pooled.url + BASE, headers=bearer(tokens[name]), timeout=30) as client:
            while (found := client.post("/match", json={"resources": [{"CPUTime": 86400}]})).status_code == 200:
                (match,) = found.json()["matches"]
                held = {"job_id": match["job_id"], "attempt": match["attempt"]}
                assert client.post("/jobs/report", json=[held]).json()[0]["action"] == "continue"
                # a viewer may not match, and an agent may not look
                assert client.post("/match", json={"resources": [{}]}, headers=viewer).status_code == 403
                assert client.get(f"/jobs/{match['job_id']}").status_code == 403
                assert client.get(f"/jobs/{match['job_id']}", headers=viewer).status_code == 200
                assert client.post("/jobs/finish", json=[held]).json()[0]["outcome"] == "finished"
                done.append(match["job_id"])
            assert found.status_code == 204, found.text
        return done

    tokens = {f"agent-{number}": token("agent", f"agent-{number}") for number in range(AGENTS)}
    with ThreadPoolExecutor(AGENTS) as pool:
        done = list(pool.map(work, range(AGENTS)))
    assert sorted(job for some in done for job in some) == list(range(1, JOBS + 1))
    named: dict[int, str] = dict(
        db.execute("select job_id, subject from taskqueue.history where event = 'matched'").fetchall()
    )
    assert named == {job: f"token agent-{number}" for number, some in enumerate(done) for job in some}
    connections = (
        "select count(*) from pg_stat_activity where usename = 'broker_service' and datname = current_database()"
    )
    assert db.execute(connections).fetchone() == (2,)
