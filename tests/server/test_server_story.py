"""The whole story over HTTP, against real Spark: register, upload, analyze, advise, optimise, query."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from schemathesis.core.result import Ok
from tests.full_disk import full_disk
from tests.server.serving import Client, serving
from tests.shipments import ROWS, write_shipments

from skipstone.actions.action import perform
from skipstone.actions.optimize import Optimize
from skipstone.layout.options import LayoutOptions
from skipstone.server.job import JobRequest
from skipstone.server.runner import Outcome, Running
from skipstone.server.waiting import Claim

QUERIES = b"""
SELECT * FROM shipments WHERE k > 900;
SELECT count(*) FROM shipments WHERE lower(mode) = 'air';
SELECT * FROM shipments WHERE k BETWEEN 10 AND 20 AND mode = 'RAIL';
DROP TABLE shipments;
"""


@pytest.fixture(scope="module")
def home(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("server")
    write_shipments(spark, home / "data" / "shipments", "delta", ROWS)
    return home


@pytest.fixture(scope="module")
def client(spark: SparkSession, home: Path) -> Iterator[Client]:
    with serving(home / "state", lambda: spark, (home / "data",)) as client:
        yield client


@pytest.fixture(scope="module")
def table(client: Client, home: Path) -> str:
    answer = client.call("POST", "/api/tables", {"source": str(home / "data" / "shipments")})
    assert answer.status == 201, answer.body
    client.done("look", answer.json["id"])
    return str(answer.json["id"])


@pytest.fixture(scope="module")
def workload(client: Client) -> str:
    answer = client.call("POST", "/api/workloads?name=week.sql", QUERIES)
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


@pytest.fixture(scope="module")
def indexed(client: Client, table: str) -> str:
    client.done("index", table, arguments={"expression": ["lower(mode)"], "feature": ["k > 990"]})
    return table


@pytest.mark.parametrize(
    "text",
    [b"QUALIFY ME <script>alert(1)</script>", b"hi", b"SELECT TOP 5 [k] FROM [dbo].[t]", b"${env:PATH}"],
)
def test_a_workload_that_is_no_sql_or_in_another_dialect_is_refused(client: Client, text: bytes) -> None:
    answer = client.call("POST", "/api/workloads?name=week.sql", text)
    assert answer.status == 422
    assert answer.detail.startswith(
        "No statement of week.sql can be read as Spark's SQL, so give its dialect"
    )
    assert os.environ["PATH"] not in answer.detail
    assert client.call("POST", "/api/workloads?name=x.sql&dialect=klingon", b"SELECT 1").status == 422


def test_a_table_is_described_once_it_was_looked_at(client: Client, indexed: str) -> None:
    found = client.get(f"/api/tables/{indexed}")
    assert found["state"] == "ready"
    assert found["rows"] == ROWS
    assert found["files"] == found["files_indexed"] > 1
    assert found["health"] == {
        "code": "NO_LOG",
        "sentence": "There is no query log yet, so nobody knows what to arrange the table for.",
    }
    assert {"sql": "lower(mode)", "type": "string", "column": False} in found["columns"]


def test_blocks_are_told_column_by_column(client: Client, indexed: str) -> None:
    found = client.get(f"/api/tables/{indexed}/blocks?column=id&feature=0&paths=true")
    size = found["blocks"]
    assert sum(found["rows"]) == ROWS
    column = found["column"]
    for values in (found["bytes"], found["paths"], column["low"], column["high_at"], found["feature"]["bit"]):
        assert len(values) == size
    assert min(column["low_at"]) == 0
    assert max(column["high_at"]) == 1
    one = client.get(f"/api/tables/{indexed}/blocks/0")
    assert one["path"] == found["paths"][0]
    assert {each["sql"] for each in one["columns"]} >= {"id", "lower(mode)"}


def test_a_query_tells_for_each_block_whether_it_was_skipped_and_why(client: Client, indexed: str) -> None:
    job = client.query("SELECT count(*) FROM shipments WHERE id > 11500")
    assert job["state"] == "done", job
    found = client.get(f"/api/jobs/{job['id']}/result")
    assert found["same_result"] is True
    assert len(found["rows"]) == 1
    (scan,) = found["scans"]
    states = scan["blocks"]["state"]
    assert len(states) == scan["files_total"]
    assert states.count(0) == scan["files_read"]
    assert states.count(1) == scan["files_skipped"]
    skipped = [reason for state, reason in zip(states, scan["blocks"]["reason"], strict=True) if state == 1]
    assert all(scan["reasons"][reason]["sentence"] for reason in skipped)
    assert -1 not in scan["blocks"]["reason"], "each block has a reason, whoever leaves it out"


def test_a_query_that_is_only_explained_has_no_rows(client: Client, indexed: str) -> None:
    job = client.query("SELECT * FROM shipments WHERE id > 11500", run=False)
    found = client.get(f"/api/jobs/{job['id']}/result")
    assert found["rows"] is None
    assert found["scans"]


def test_rows_are_limited_and_values_are_json(client: Client, indexed: str) -> None:
    job = client.query("SELECT *, 1e300 * 1e300 AS big, array(1) AS many FROM shipments", compare=False)
    found = client.get(f"/api/jobs/{job['id']}/result")
    assert found["truncated"] is True
    assert len(found["rows"]) == client.settings.limits.query_rows
    assert found["rows"][0][-2:] == ["inf", "[1]"]


def test_every_step_runs_as_a_job(client: Client, indexed: str, workload: str) -> None:
    options = {"num_features": 2, "threshold": 1}
    analysis = client.done("analyze", indexed, workload=workload, arguments=options)
    assert {each["sql"] for each in analysis["columns"]} == {"k", "mode"}
    assert analysis["correlation"]["edges"]
    assert client.get(f"/api/tables/{indexed}/analysis")["analysis"] == analysis
    advice = client.done("advise", indexed, workload=workload, arguments={"block_rows": 250})
    assert client.get(f"/api/tables/{indexed}/advice")["advice"] == advice
    assert set(advice["maps"]) > {"current layout"}
    best = advice["maps"][advice["best"]]
    assert len(best["rows"]) == len(best["times"])
    # The map of the table as it is tells of the same reads as the figure beside it.
    now = advice["maps"]["current layout"]
    (row,) = [each for each in advice["layouts"] if each["layout"] == "current layout"]
    read = sum(rows * times for rows, times in zip(now["rows"], now["times"], strict=True))
    assert 100 * read / (ROWS * advice["queries"]) == pytest.approx(row["percent_scanned"], abs=0.1)
    done = client.done(
        "optimize", indexed, workload=workload, arguments={"layout": "qdtree", "block_rows": 250}
    )
    assert done["rows"] == ROWS
    assert client.get(f"/api/tables/{indexed}")["layout"]["strategy"] == "qdtree"
    tree = client.get(f"/api/tables/{indexed}/tree")
    assert tree["strategy"] == "qdtree"
    assert tree["nodes"][0]["blocks"] == sum(node["block"] is not None for node in tree["nodes"])
    below = client.get(f"/api/tables/{indexed}/tree/1/blocks")["blocks"]
    assert 0 < len(below) < client.get(f"/api/tables/{indexed}/blocks")["blocks"]
    assert client.get(f"/api/tables/{indexed}/blocks/{below[0]}/branch")["nodes"][:2] == [0, 1]
    replayed = client.done("replay", indexed, workload=workload)
    assert replayed["summary"]["same_results"]


def test_a_generated_workload_can_be_used(client: Client, indexed: str) -> None:
    arguments = {"queries": 12, "seed": 3, "zipf": 1.0, "columns": ["k", "mode"]}
    made = client.done("generate", indexed, arguments=arguments)
    assert len(made["queries"]) == 12
    assert client.done("generate", indexed, arguments=arguments)["queries"] == made["queries"]
    listed = client.get(f"/api/workloads/{made['workload']}/queries?limit=5")
    assert listed["total"] == 12
    analysis = client.done("analyze", indexed, workload=made["workload"], arguments={"num_features": 2})
    assert analysis["queries"] == 12


def test_a_table_that_vanished_is_one_sentence(client: Client, home: Path) -> None:
    shutil.copytree(home / "data" / "shipments", home / "data" / "gone")
    client.call("POST", "/api/tables", {"source": str(home / "data" / "gone")})
    client.done("look", "gone")
    shutil.rmtree(home / "data" / "gone")
    job = client.ended(client.start("index", "gone"))
    assert job["state"] == "failed"
    assert "gone does not exist" in job["error"]
    found = client.get("/api/tables/gone")
    assert found["state"] == "gone"
    assert found["health"]["code"] == "GONE"
    assert client.call("DELETE", "/api/tables/gone").status == 204


def test_a_full_disk_in_the_middle_of_a_job_is_one_sentence_and_loses_nothing(
    client: Client, home: Path, spark: SparkSession, indexed: str
) -> None:
    place = home / "data" / "filling"
    spark.range(0, 8_000, 1, 1).selectExpr("id", "sha2(string(id), 256) AS text").write.format("delta").save(
        str(place)
    )
    client.call("POST", "/api/tables", {"source": str(place)})
    before = client.done("look", "filling")
    # Jobs on two tables run at the same time.
    both = [client.start("index", name) for name in ("filling", indexed)]
    one, other = (client.ended(job) for job in both)
    assert (one["state"], other["state"]) == ("done", "done")
    assert one["started_at"] < other["ended_at"] > other["started_at"] < one["ended_at"]
    wanted = {"layout": "hyper", "block_rows": 4_000}
    with full_disk(spark):
        job = client.ended(client.start("optimize", "filling", arguments=wanted))
    assert job["state"] == "failed", job
    assert "File too large" in job["error"]
    assert "\n" not in job["error"]
    after = client.done("look", "filling")
    assert [after[name] for name in ("version", "files", "bytes")] == [
        before[name] for name in ("version", "files", "bytes")
    ]
    assert client.query("SELECT sum(id) FROM filling", compare=False)["state"] == "done"
    assert client.call("DELETE", "/api/tables/filling").status == 204


def test_what_somebody_else_commits_in_the_middle_of_a_job_stays_and_the_job_says_so(
    client: Client, home: Path, spark: SparkSession
) -> None:
    place = home / "data" / "shared"
    spark.range(0, 2_000, 1, 2).write.format("delta").save(str(place))
    client.call("POST", "/api/tables", {"source": str(place)})
    client.done("look", "shared")
    entry = client.service.tables.get("shared")
    told: list[str] = []

    def rewrite(running: Running) -> Outcome:
        def progress(what: str, done: int, total: int) -> None:
            if not told and "writing" in what:
                spark.sql(f"DELETE FROM delta.`{place}` WHERE id % 2 = 0")
                told.append(what)
            running.progress(what, done, total)

        options = LayoutOptions(block_rows=250)
        perform(Optimize(None, "hyper", options), client.service.source(entry), progress, running.cancel)
        return Outcome()

    request = JobRequest("optimize", "shared")
    job = client.service.runner.submit(request, Claim("shared", writes=True), rewrite)
    found = client.ended(job.id)
    assert told, "the table was rewritten too fast"
    assert found["state"] == "failed", found
    assert "changed" in found["error"]
    rows = client.query("SELECT count(*), sum(id) FROM shared", compare=False)
    assert client.get(f"/api/jobs/{rows['id']}/result")["rows"] == [[1_000, sum(range(1, 2_000, 2))]]
    assert client.call("DELETE", "/api/tables/shared").status == 204


def test_a_table_on_another_file_system_is_served_within_a_root_of_that(
    spark: SparkSession, home: Path, tmp_path: Path
) -> None:
    # A view of file systems, as clusters have it, with this machine's files below another name.
    spark._jsc.hadoopConfiguration().set("fs.viewfs.mounttable.lake.link./data", f"file://{home}/data")
    elsewhere = "viewfs://lake/data"
    with serving(tmp_path, lambda: spark, (elsewhere,)) as client:
        for refused in (f"{home}/data/shipments", "viewfs://lake", f"{elsewhere}/../data/shipments"):
            assert client.call("POST", "/api/tables", {"source": f"t={refused}"}).status == 422
        assert client.call("POST", "/api/tables", {"source": f"{elsewhere}/shipments"}).status == 201
        assert client.done("look", "shipments")["root"] == f"{elsewhere}/shipments"
        job = client.query("SELECT count(*) FROM shipments", compare=False)
        assert client.get(f"/api/jobs/{job['id']}/result")["rows"] == [[ROWS]]


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("DROP TABLE shipments", "it is DROP TABLE, not a query"),
        ("SELECT 1; SELECT 2", "2 statements"),
        ("INSERT INTO shipments SELECT * FROM shipments", "not a query"),
        ("SELECT * FROM parquet.`/etc`", "not a registered table"),
        ("SELECT * FROM delta.`{home}/data/shipments`", "not a registered table"),
        ("SELECT reflect('java.lang.System', 'exit', 1)", "reflect is not allowed here"),
        ("SELECT java_method('java.lang.Runtime', 'getRuntime')", "java_method is not allowed here"),
        ("SELECT try_reflect('java.lang.System', 'getenv', 'HOME')", "try_reflect is not allowed here"),
        ("SELECT IDENTIFIER('refl' || 'ect')('java.lang.System', 'exit', 1)", "IDENTIFIER"),
        ("SELECT count(*) FROM IDENTIFIER('shipments')", ""),
        ("SELECT * FROM IDENTIFIER('parquet.`/etc`')", "not a registered table"),
        ("SELECT * FROM IDENTIFIER('ship' || 'ments')", "IDENTIFIER"),
        ("SELECT from_protobuf(x, 'm', '/etc/passwd') FROM (SELECT X'00' AS x)", "from_protobuf"),
        ("SELECT from_avro(X'00', '{{}}', map('avroSchemaUrl', '/etc/passwd'))", "from_avro is not allowed"),
        ("SELECT from_xml('<a/>', 'a INT', map('rowValidationXSDPath', '/etc/passwd'))", "from_xml is not"),
        ("SELECT schema_of_xml('<a/>', map('rowValidationXSDPath', '/etc/passwd'))", "schema_of_xml is not"),
        ("SELECT (SELECT max(weight) FROM csv.`/etc/passwd`)", "not a registered table"),
        ("WITH a AS (SELECT * FROM text.`/etc/passwd`) SELECT * FROM a", "not a registered table"),
        ("SELECT * FROM other", "not a registered table (these are: shipments)"),
        ("SELECT * FROM secret_view", "not a registered table"),
        ("WITH secret_view AS (SELECT 1) SELECT * FROM (SELECT 2), secret_view", ""),
        ("SELECT TRANSFORM(weight) USING 'cat' FROM shipments", "TRANSFORM"),
        ("SELECT * FROM table_changes('shipments', 0)", "table_changes is not allowed here"),
        ("CALL system.x()", "not a query"),
        ("SET spark.sql.ansi.enabled=false", "not a query"),
        ("EXPLAIN SELECT 1", "not a query"),
        ("INSERT OVERWRITE DIRECTORY '/tmp/x' USING csv SELECT * FROM shipments", "not a query"),
        ("FROM shipments INSERT INTO shipments SELECT *", "not a query"),
        ("CREATE TABLE stolen AS SELECT * FROM shipments", "not a query"),
        ("CACHE TABLE stolen AS SELECT * FROM shipments", "not a query"),
        ("ADD JAR '/tmp/evil.jar'", "not a query"),
        ("EXECUTE IMMEDIATE 'DROP TABLE shipments'", "not a query"),
        ("BEGIN DROP TABLE shipments; END", "not a query"),
        ("FROM parquet.`/etc` |> SELECT *", "not a registered table"),
        ("SELECT * FROM shipments |> UNION ALL TABLE other", "not a registered table"),
        ("SELECT * FROM `{home}/data/shipments`", "not a registered table"),
        ("SELECT * FROM sql_keywords()", "sql_keywords is not allowed here"),
        ("SELECT (SELECT java_method('java.lang.System', 'getenv', 'HOME'))", "java_method is not allowed"),
        ("SELECT transform(array(1), x -> reflect('java.lang.System', 'exit', x))", "reflect is not allowed"),
        ("SELEC 1", "cannot be used"),
        ("'", "cannot be used"),
        ("SELECT evil(weight) FROM shipments", "PythonUDF is not allowed here"),
    ],
)
def test_only_one_select_over_registered_tables_runs(
    client: Client, indexed: str, spark: SparkSession, sql: str, why: str
) -> None:
    spark.range(3).createOrReplaceTempView("secret_view")
    spark.udf.register("evil", lambda x: x)
    job = client.query(sql.format(home=client.settings.state.parent), compare=False)
    if not why:
        assert job["state"] == "done", job
        return
    assert job["state"] == "failed", job
    assert why in job["error"]
    assert "\n" not in job["error"]


REACHES = "reflect('java.lang.System', 'setProperty', 'skipstone.reached', 'yes')"


def test_a_workload_reaches_no_class_and_no_path_outside_the_roots(
    client: Client, indexed: str, spark: SparkSession, home: Path
) -> None:
    statements = (
        f"SELECT * FROM shipments WHERE k > 5 AND mode = (SELECT {REACHES} FROM VALUES (1))",
        "SELECT * FROM text.`/etc/passwd` WHERE value = 'x'",
        f"SELECT count(*) FROM delta.`{home}/data/shipments` WHERE k > 990",
        "SELECT count(*) FROM shipments WHERE k > 990",
    )
    body = ";\n".join(statements).encode()
    workload = client.call("POST", "/api/workloads?name=evil.sql", body).json["id"]
    why = ["reflect is not allowed here", "text.`/etc/passwd` is outside of what may be looked at"]
    job = client.ended(client.start("analyze", indexed, workload=workload, arguments={"num_features": 1}))
    assert (job["state"], client.get(f"/api/jobs/{job['id']}/result")["queries"]) == ("done", 2)
    warned = " ".join(line["text"] for line in client.get(f"/api/jobs/{job['id']}")["log"])
    assert all(reason in warned for reason in why)
    replayed = client.done("replay", indexed, workload=workload)
    assert [each["sql"] for each in replayed["queries"]] == [statements[3]]
    assert [each["reason"] for each in replayed["broken"][:2]] == why
    assert "not a registered table" in replayed["broken"][2]["reason"], "what runs goes by names"
    for arguments in ({"expression": [REACHES]}, {"feature": [f"mode = {REACHES}"]}):
        failed = client.ended(client.start("index", indexed, arguments=arguments))
        assert "reflect is not allowed here" in failed["error"]
    assert spark._jvm.java.lang.System.getProperty("skipstone.reached") is None  # type: ignore[union-attr]


def test_a_query_reads_no_variable_and_no_setting_of_the_server(client: Client, indexed: str) -> None:
    names = ("env:PATH", "system:user.home", "spark.app.name", "hiveconf:spark.master")
    shown = ["${" + name + "}" for name in names]
    job = client.query(f"SELECT {', '.join(map(repr, shown))}", compare=False)
    assert client.get(f"/api/jobs/{job['id']}/result")["rows"] == [shown]


def test_a_query_that_takes_too_long_is_cancelled(spark: SparkSession, home: Path, tmp_path: Path) -> None:
    from skipstone.server.settings import Limits

    limits = Limits(query_seconds=1.0, query_bytes=1_000)
    with serving(tmp_path, lambda: spark, (home / "data",), limits) as client:
        job = client.query("SELECT repeat('x', 100) FROM range(100)", compare=False)
        found = client.get(f"/api/jobs/{job['id']}/result")
        assert (len(found["rows"]), found["truncated"]) == (10, True)
        job = client.query("SELECT count(*) FROM range(1000000000000) WHERE id % 7 = 3", compare=False)
        assert job["state"] == "failed"
        assert job["error"] == "The query took longer than 1 s and was cancelled."
        answer = client.call("POST", "/api/queries", {"sql": "SELECT count(*) FROM range(1000000000000)"})
        client.call("POST", f"/api/jobs/{answer.json['id']}/cancel")
        assert client.ended(answer.json["id"])["state"] in ("cancelled", "failed")


LIGHT = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def test_no_call_that_the_description_allows_is_an_error_of_the_server(client: Client, indexed: str) -> None:
    headers = {"Authorization": f"Bearer {client.settings.token}"}
    address = f"http://127.0.0.1:{client.port}/api/openapi.json"
    called = set()

    def call(case: schemathesis.Case[Any], known: bool) -> None:
        if known and case.method == "GET" and "table" in (case.path_parameters or {}):
            case.path_parameters["table"] = indexed
        answer = case.call(headers=headers, timeout=60)
        assert answer.status_code < 500, (case.method, case.formatted_path, answer.text)
        called.add((case.method, case.operation.path))

    for found in schemathesis.openapi.from_url(address, headers=headers).get_all_operations():
        assert isinstance(found, Ok)
        operation = found.ok()
        if not operation.path.endswith("/events"):  # a stream has no end
            LIGHT(given(case=operation.as_strategy(), known=st.booleans())(call))()
    assert len(called) > 20
