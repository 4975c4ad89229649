"""Lists that many clients poll: made once, until something changes. No Spark."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from tests.server.serving import Client, serving

from skipstone.server.job import JobRequest
from skipstone.server.run import bound_socket
from skipstone.server.runner import Outcome
from skipstone.server.store import Store
from skipstone.server.waiting import Claim


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(tmp_path_factory.mktemp("state")) as client:
        yield client


def run_a_job(client: Client) -> int:
    job = client.service.runner.submit(JobRequest("index", "t"), Claim("t"), lambda _: Outcome())
    client.ended(job.id)
    return job.id


def test_many_clients_that_poll_ask_the_history_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    run_a_job(client)
    asked = []
    jobs = Store.jobs

    def counted(*arguments: object) -> object:
        asked.append(1)
        return jobs(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Store, "jobs", counted)
    bodies = {client.call("GET", "/api/jobs?limit=20").body for _ in range(20)}
    assert len(bodies) == 1
    assert len(asked) < 10, "one a second at most"


def test_every_change_is_seen_at_once(client: Client) -> None:
    for _ in range(3):
        client.get("/api/jobs")
        job = run_a_job(client)
        assert client.get("/api/jobs")["jobs"][0]["id"] == job
    client.get("/api/workloads")
    made = client.call("POST", "/api/workloads?name=seen.sql", b"SELECT 1").json["id"]
    assert [each["id"] for each in client.get("/api/workloads")["workloads"]] == [made]
    client.call("DELETE", f"/api/workloads/{made}")
    assert client.get("/api/workloads")["workloads"] == []


def test_who_has_a_reply_already_is_sent_nothing(client: Client) -> None:
    first = client.call("GET", "/api/jobs?limit=7")
    again = client.call("GET", "/api/jobs?limit=7", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status, again.body) == (304, b"")
    assert again.headers["content-security-policy"].startswith("default-src 'self'")
    run_a_job(client)
    fresh = client.call("GET", "/api/jobs?limit=7", headers={"If-None-Match": first.headers["etag"]})
    assert fresh.status == 200
    assert fresh.headers["etag"] != first.headers["etag"]


def test_what_is_kept_is_told_to_nobody_without_the_token(client: Client) -> None:
    known = client.call("GET", "/api/jobs")
    for headers in ({"Authorization": None}, {"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        answer = client.call("GET", "/api/jobs", headers={**headers, "If-None-Match": known.headers["etag"]})
        assert answer.status in (401, 403)


def test_refusals_are_not_kept(client: Client) -> None:
    for _ in range(2):
        assert client.call("GET", "/api/jobs?limit=0").status == 422
        assert client.call("PUT", "/api/jobs").status == 405


def test_no_answer_waits_for_the_client_to_confirm_its_headers(client: Client) -> None:
    plain = replace(client.settings, port=0)
    with bound_socket(plain) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            # What asyncio asks before it lets a connection send at once.
            assert (accepted.type, accepted.proto) == (socket.SOCK_STREAM, socket.IPPROTO_TCP)


def test_calls_leave_nothing_in_memory(client: Client) -> None:
    paths = ("/api/jobs?limit=3", "/api/server", "/api/tables", "/api/jobs/1", "/api/nothing", "/")

    def call(times: int) -> int:
        for number in range(times):
            client.call("GET", paths[number % len(paths)])
        gc.collect()
        return len(gc.get_objects())

    run_a_job(client)
    counts = [call(60), *(call(300) for _ in range(3))]
    # What else this process does adds to one round, and what a call leaves to each.
    least = min(after - before for before, after in pairwise(counts))
    assert least < 150, "less than half an object a call"
