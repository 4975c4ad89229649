"""Figures of the benchmark of joins, from what was measured."""

from __future__ import annotations

from benchmarks.joins.grouped import grouped_figures
from benchmarks.joins.queries import QUERIES, TRAINING
from benchmarks.joins.run import Options, figures
from benchmarks.pieces import Piece


def query(on: float, off: float, *, skips: bool, same: bool = True) -> Piece:
    return {
        "skips": skips,
        "same_result": same,
        "seconds_on": on,
        "seconds_off": off,
        "times_faster": off / on,
        "slower_percent": 100 * (on / off - 1),
        "more_cpu_percent": 100 * (on / off - 1),
    }


def test_gains_are_those_of_queries_that_can_skip_and_losses_those_of_all() -> None:
    measured = {
        "timed-date": {
            "month": query(1.0, 4.0, skips=True),
            "week": query(1.0, 1.0, skips=True),
            "brand": query(1.1, 1.0, skips=False),
        }
    }
    found = {figure.name: figure for figure in figures(measured, "make bench-joins")}
    assert found["date: best of the queries whose keys are in few files"].value == 4
    assert found["date: geometric mean of these"].value == 2
    assert found["date: queries at least 2 times faster"].value == 1
    lost = found["date: most that any query loses"]
    assert (round(lost.value), lost.holds) == (10, False)


def test_another_result_misses_its_bar() -> None:
    measured = {"timed-qdtree": {"month": query(1.0, 4.0, skips=True, same=False)}}
    (wrong,) = (figure for figure in figures(measured, "") if "another result" in figure.name)
    assert wrong.holds is False


def test_the_command_and_the_name_say_what_was_measured() -> None:
    assert Options().name() == "joins"
    assert Options(0.1, ("date",), 100).name() == "joins-sf0.1-100-date"
    assert Options(0.1, ("date",), 100).command() == (
        "python -m benchmarks joins --sf 0.1 --blocks 100 --only date"
    )
    assert len({each.name for each in QUERIES}) == len(QUERIES)
    assert all("l_shipdate" in text or "l_shipmode" in text for text in TRAINING)


def test_joins_without_a_shuffle_are_compared_with_sorting_buckets_and_sparks_own_choice() -> None:
    def way(cpu: float, shuffled: int = 0, answer: str = "1") -> Piece:
        return {"cpu_seconds": cpu, "shuffled_bytes": shuffled, "answer": [answer]}

    ways = {"grouped": way(2, 90), "sort-merge": way(4, 10**6), "bucketed": way(1), "default": way(3, 0, "2")}
    found = {figure.name: figure for figure in grouped_figures({"part": ways}, "make bench-joins")}
    faster = found["lineitem with part: CPU of a sort-merge join over that without a shuffle"]
    assert (faster.value, faster.holds) == (2, True)
    bucketed = found["lineitem with part: CPU without a shuffle over that of bucketed tables"]
    assert (bucketed.value, bucketed.holds) == (2, False)
    assert found["lineitem with part: ways with another answer"].holds is False
