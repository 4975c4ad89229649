"""Server-sent events and jobs over HTTP, with work that needs no Spark."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.serving import Client, serving

from skipstone.errors import SkipstoneError
from skipstone.server.job import JobRequest
from skipstone.server.runner import Outcome, Running
from skipstone.server.waiting import Claim


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(tmp_path_factory.mktemp("state")) as client:
        yield client


def events_of(client: Client, path: str) -> Iterator[tuple[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=30)
    connection.request("GET", path, headers={"Authorization": f"Bearer {client.settings.token}"})
    response = connection.getresponse()
    assert response.status == 200
    assert response.getheader("content-type", "").startswith("text/event-stream")
    kind = ""
    for line in response:
        name, _, text = line.decode().rstrip("\n").partition(": ")
        if name == "event":
            kind = text
        elif name == "data":
            yield kind, json.loads(text)
    connection.close()


def test_a_client_hears_of_every_step_until_the_end(client: Client) -> None:
    go = threading.Event()

    def work(running: Running) -> Outcome:
        assert go.wait(20)
        running.progress("reading <b>", 1, 2)
        running.progress("writing", 2, 2)
        return Outcome('{"rows": 7}', "Done.")

    job = client.service.runner.submit(JobRequest("index", "t"), Claim("t", writes=True), work)
    events = events_of(client, f"/api/jobs/{job.id}/events")
    assert next(events)[1]["state"] in ("queued", "running")
    go.set()
    heard = list(events)
    assert [value["text"] for kind, value in heard if kind == "log"] == ["reading <b>", "writing"]
    kind, last = heard[-1]
    assert kind == "job"
    assert (last["state"], last["headline"], last["has_result"]) == ("done", "Done.", True)
    assert client.get(f"/api/jobs/{job.id}/result") == {"rows": 7}
    assert [line["text"] for line in client.get(f"/api/jobs/{job.id}")["log"]] == ["reading <b>", "writing"]


def test_the_events_of_a_job_that_has_ended_are_its_end(client: Client) -> None:
    job = client.service.runner.submit(JobRequest("index"), Claim(), lambda _: Outcome())
    client.ended(job.id)
    assert [value["state"] for _, value in events_of(client, f"/api/jobs/{job.id}/events")] == ["done"]
    assert client.call("GET", "/api/jobs/99/events").status == 404


def test_a_job_is_cancelled_over_http(client: Client) -> None:
    def work(running: Running) -> Outcome:
        while True:
            running.cancel.check()

    job = client.service.runner.submit(JobRequest("optimize", "t"), Claim("t", writes=True), work)
    waiting = client.service.runner.submit(JobRequest("index", "t"), Claim("t", writes=True), work)
    listed = client.get("/api/jobs?state=queued")["jobs"]
    assert [each["id"] for each in listed] == [waiting.id]
    assert listed[0]["waits_for"] == f"job {job.id} (optimize), which writes to t"
    assert client.call("POST", f"/api/jobs/{waiting.id}/cancel").json["state"] == "cancelled"
    assert client.call("POST", f"/api/jobs/{job.id}/cancel").status == 202
    assert client.ended(job.id)["state"] == "cancelled"
    answer = client.call("POST", f"/api/jobs/{job.id}/cancel")
    assert answer.status == 409
    assert answer.detail == f"Job {job.id} has ended already (cancelled)."
    assert (
        client.call("GET", f"/api/jobs/{job.id}/result").detail
        == f"Job {job.id} has no result: it was cancelled."
    )


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ({"action": "optimize"}, 422, "optimize needs a table"),
        ({"action": "optimize", "table": "nope"}, 404, "no table nope"),
        ({"action": "rm -rf", "table": "t"}, 404, "There is no action rm -rf; there are index,"),
        ({"action": "calibrate", "arguments": {"rows": 1}}, 422, "rows cannot be used"),
        ({"action": "calibrate", "arguments": {"rows": "many"}}, 422, "rows cannot be used"),
        ({"action": "calibrate", "arguments": {"what": 1}}, 422, "what cannot be used"),
        ({"action": "calibrate", "arguments": []}, 422, "arguments cannot be used"),
        ({}, 422, "action cannot be used: Field required"),
        ([], 422, "cannot be used"),
        (b"{", 422, "cannot be used"),
        (b"\xff", 400, ""),
        (b"[" * 100_000, 422, ""),
        ({"action": "x" * 300}, 422, "action cannot be used"),
    ],
)
def test_a_request_that_is_wrong_is_one_sentence(client: Client, body: Any, status: int, why: str) -> None:
    answer = client.call("POST", "/api/jobs", body)
    assert answer.status in (status, 400)
    assert why in answer.detail
    assert "\n" not in answer.detail


def test_what_is_not_there_is_one_sentence(client: Client) -> None:
    for path in ("/api/tables/x", "/api/tables/x/blocks", "/api/workloads/x", "/api/jobs/7777", "/api/x"):
        answer = client.call("GET", path)
        assert answer.status == 404
        assert answer.detail.endswith(".")
    assert client.call("PUT", "/api/tables").detail == "This address is not called in this way."


def test_every_action_of_the_list_but_those_for_reading_is_a_job(client: Client) -> None:
    from skipstone.actions.all_actions import ACTIONS, ENGINE_ACTIONS

    every: tuple[type[Any], ...] = (*ACTIONS, *ENGINE_ACTIONS)
    names = {action.name.split()[0] for action in every}
    offered = {each["name"] for each in client.get("/api/actions")["actions"]}
    # These only show something, need rows of Python, or are several.
    assert names - {"status", "explain", "replicas", "append", "log"} <= offered
    assert {"import_log", "clear_log"} <= offered


def test_two_servers_do_not_share_a_state(client: Client) -> None:
    with (
        pytest.raises(SkipstoneError, match=r"Another server uses .* already"),
        serving(client.settings.state),
    ):
        pass


def test_the_history_is_there_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as client:
        job = client.service.runner.submit(
            JobRequest("advise", "t"), Claim("t"), lambda _: Outcome('{"best": "x"}', "Best: x.")
        )
        client.ended(job.id)
        client.call("POST", "/api/workloads?name=a.sql", b"SELECT 1")
    with serving(tmp_path) as client:
        (found,) = client.get("/api/jobs")["jobs"]
        assert (found["state"], found["headline"]) == ("done", "Best: x.")
        assert client.get(f"/api/jobs/{job.id}/result") == {"best": "x"}
        assert [each["name"] for each in client.get("/api/workloads")["workloads"]] == ["a.sql"]


def test_a_table_is_forgotten_only_when_no_job_is_on_it(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    with serving(tmp_path / "state", roots=(tmp_path,)) as client:
        client.call("POST", "/api/tables", {"source": str(tmp_path / "t")})
        go = threading.Event()

        def work(_: Running) -> Outcome:
            assert go.wait(20)
            return Outcome()

        job = client.service.runner.submit(JobRequest("index", "t"), Claim("t", writes=True), work)
        answer = client.call("DELETE", "/api/tables/t")
        assert (answer.status, answer.detail) == (409, "Job 1 (index) is not done yet; cancel it first.")
        go.set()
        client.ended(job.id)
        assert client.call("DELETE", "/api/tables/t").status == 204


def test_a_link_that_is_put_in_place_of_a_table_leads_nowhere(tmp_path: Path) -> None:
    root, secret = tmp_path / "root", tmp_path / "secret"
    (root / "t").mkdir(parents=True)
    secret.mkdir()
    with serving(tmp_path / "state", roots=(root,)) as client:
        assert client.call("POST", "/api/tables", {"source": str(root / "t")}).status == 201
        (root / "t").rmdir()
        (root / "t").symlink_to(secret)
        job = client.ended(client.start("index", "t"))
        assert job["state"] == "failed"
        assert job["error"] == f"{root}/t is outside of what this server may touch: {root}."
        for path in ("status", "replicas", "auto", "log", "decisions"):
            assert client.call("GET", f"/api/tables/t/{path}").status == 422
        output = {"action": "optimize", "table": "t", "arguments": {"output": str(root / "t" / "x")}}
        assert client.call("POST", "/api/jobs", output).status == 422
