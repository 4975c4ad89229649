"""Pruning by what other tables hold for the rows of a block, partner by partner."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skipstone.predicate.evaluate import evaluate, order_key
from skipstone.predicate.expr import And, Column, Comparison, Expr, In, IsNull, Like, Literal, Not, Or, Value
from skipstone.predicate.joined_column import JoinedColumn
from skipstone.predicate.normalize import TRUE, normalize_filter
from skipstone.predicate.partner import Partner
from skipstone.predicate.types import INT, STRING
from skipstone.pruning.blocks import BlockSet, Statistics, ValueSets
from skipstone.pruning.prune import prune
from skipstone.pruning.reasons import Code

K, V = Column(("k",), INT), Column(("v",), INT)
ID, AGE, LAND = (Column((name,), INT) for name in ("id", "age", "land"))
CITY, NAME = Column(("city",), STRING), Column(("name",), STRING)
PEOPLE = Partner((K,), "/t/people", (ID,), TRUE, "now")
LANDS = Partner((LAND,), "/t/lands", (ID,), TRUE, "now")
Row = Mapping[Column, Value]


def asks(where: Expr, state: str = "now") -> Expr:
    return Partner((K,), "/t/people", (ID,), where, state).call


def is_(column: Column, value: Value) -> Expr:
    return Comparison("=", column, Literal(value, column.type))


@dataclass(frozen=True, slots=True)
class Tables:
    """Blocks of keys, the people that have them and these people's lands."""

    blocks: Sequence[Sequence[Value]]
    people: Sequence[Row]
    lands: Sequence[Row] = ()

    def partners(self, key: Value) -> list[Row]:
        return [row for row in self.people if key is not None and row[ID] == key]

    def lands_of(self, row: Row) -> list[Row]:
        return [land for land in self.lands if row[LAND] is not None and land[ID] == row[LAND]]

    def known(self, width: int = 1) -> BlockSet:
        """What is kept of all joined columns; ranges are ``width`` values wide."""
        statistics: dict[Expr, Statistics] = {
            JoinedColumn(PEOPLE, column).call: sets_of(
                column,
                [[row[column] for k in block for row in self.partners(k)] for block in self.blocks],
                width,
            )
            for column in (AGE, CITY)
        }
        names = [
            [land[NAME] for k in block for row in self.partners(k) for land in self.lands_of(row)]
            for block in self.blocks
        ]
        statistics[JoinedColumn(PEOPLE, JoinedColumn(LANDS, NAME).call).call] = sets_of(NAME, names, width)
        return BlockSet.of(np.array([len(block) for block in self.blocks]), statistics)

    def holds(self, where: Expr, block: Sequence[Value]) -> bool:
        """By the definition: some row has a partner that satisfies the condition, by its lands too."""
        return any(
            evaluate(normalize_filter(where), {**row, **{asks_land(n): self.in_land(row, n) for n in "xyz"}})
            is True
            for key in block
            for row in self.partners(key)
        )

    def in_land(self, row: Row, name: str) -> bool:
        return any(land[NAME] == name for land in self.lands_of(row))


def asks_land(name: str) -> Expr:
    return Partner((LAND,), "/t/lands", (ID,), is_(NAME, name), "now").call


def sets_of(column: Column, values: Sequence[Sequence[Value]], width: int = 1) -> Statistics:
    every = sorted({value for block in values for value in block if value is not None}, key=order_key)
    first = every[::width]
    last = [every[min(start + width, len(every)) - 1] for start in range(0, len(every), width)]
    words = np.zeros((len(values), (len(first) + 63) // 64), np.uint64)
    for number, block in enumerate(values):
        for value in block:
            if value is not None:
                bit = every.index(value) // width
                words[number, bit // 64] |= np.uint64(1 << bit % 64)
    nulls = np.array([0 if None not in block else -1 for block in values], np.int64)
    none = pa.nulls(len(values), pa.string() if column.type == STRING else pa.int64())
    sets = ValueSets(tuple(first), words, np.ones(len(values), np.bool_), None if width == 1 else tuple(last))
    return Statistics(column.type, none, none, nulls, np.zeros(len(values), np.int64), sets)


def person(key: Value, city: Value, age: Value = 1, land: Value = None) -> Row:
    return {ID: key, CITY: city, AGE: age, LAND: land}


def skipped(filter_: Expr, blocks: BlockSet) -> list[int]:
    return np.flatnonzero(prune(normalize_filter(filter_), blocks).skip).tolist()


SMALL = Tables(
    [[1, 2], [3], [4, None], [99]],
    [person(1, "a", 5), person(2, "b", 6), person(3, "c", 7), person(3, "d", 8), person(4, None, 9)],
)


def test_any_condition_on_a_kept_column_skips_the_blocks_without_such_a_partner() -> None:
    blocks = SMALL.known()
    assert skipped(asks(is_(CITY, "b")), blocks) == [1, 2, 3]
    assert skipped(asks(In(CITY, (Literal("d", STRING), Literal("zz", STRING)))), blocks) == [0, 2, 3]
    assert skipped(asks(Like(CITY, "%c%")), blocks) == [0, 2, 3]
    assert skipped(asks(Comparison(">", AGE, Literal(7, INT))), blocks) == [0, 3]
    assert skipped(asks(Or((is_(CITY, "a"), is_(AGE, 9)))), blocks) == [1, 3]
    assert skipped(asks(IsNull(CITY)), blocks) == [0, 1, 3]
    assert skipped(asks(Not(IsNull(CITY))), blocks) == [2, 3]
    decision = prune(normalize_filter(asks(is_(CITY, "b"))), blocks)
    assert decision.why(1).code is Code.PARTNER
    assert "no row has a partner as in EXISTS (SELECT 1 FROM people" in decision.why(1).sentence
    assert decision.unused == ()


def test_conditions_of_one_join_hold_for_one_partner_those_of_two_joins_perhaps_for_two() -> None:
    blocks = SMALL.known()
    both = And((is_(CITY, "c"), is_(CITY, "d")))
    assert skipped(asks(both), blocks) == [0, 1, 2, 3]
    assert skipped(And((asks(is_(CITY, "c")), asks(is_(CITY, "d")))), blocks) == [0, 2, 3]


def test_nothing_is_known_of_another_state_other_keys_or_another_column() -> None:
    blocks = SMALL.known()
    where = is_(CITY, "b")
    assert skipped(asks(where, "before"), blocks) == []
    assert skipped(asks(where, ""), blocks) == []
    assert skipped(Partner((V,), "/t/people", (ID,), where, "now").call, blocks) == []
    assert skipped(Partner((K,), "/t/people", (AGE,), where, "now").call, blocks) == []
    assert skipped(Partner((K,), "/t/others", (ID,), where, "now").call, blocks) == []
    assert skipped(asks(is_(NAME, "b")), blocks) == []
    assert skipped(asks(is_(Column(("city",), INT), 1)), blocks) == []
    assert [each.predicate for each in prune(asks(is_(NAME, "b")), blocks).unused] == [asks(is_(NAME, "b"))]


def test_a_block_whose_set_is_not_known_is_read() -> None:
    whole = SMALL.known()
    ((key, city), *rest) = [(k, s) for k, s in whole.statistics.items() if s.type == STRING]
    assert city.values is not None
    sets = ValueSets(city.values.dictionary, city.values.words, np.array([True, False, True, True]))
    some = Statistics(city.type, city.low, city.high, city.nulls, city.nans, sets)
    assert skipped(asks(is_(CITY, "b")), BlockSet.of(whole.rows, {key: some})) == [2, 3]
    none = Statistics(city.type, city.low, city.high, city.nulls, city.nans)
    assert skipped(asks(is_(CITY, "b")), BlockSet.of(whole.rows, {key: none})) == []
    assert rest


def test_random_conditions_never_skip_a_block_that_has_such_a_partner() -> None:
    skips = cases = 0
    for seed in range(60):
        rng = random.Random(f"joined {seed}")

        def maybe(value: Value, rng: random.Random = rng) -> Value:
            return None if rng.random() < 0.1 else value

        people = [
            person(
                maybe(rng.randrange(12)),
                maybe(rng.choice("abcdef")),
                maybe(rng.randrange(6)),
                maybe(rng.randrange(4)),
            )
            for _ in range(rng.randrange(20))
        ]
        lands = [
            {ID: maybe(rng.randrange(4)), NAME: maybe(rng.choice("xyz"))} for _ in range(rng.randrange(6))
        ]
        blocks = [[maybe(rng.randrange(16)) for _ in range(rng.randrange(1, 4))] for _ in range(12)]
        tables = Tables(blocks, people, lands)
        known = tables.known(rng.choice((1, 1, 2, 3)))
        for _ in range(12):
            wheres = [random_condition(rng) for _ in range(rng.choice((1, 1, 2)))]
            decision = prune(normalize_filter(And(tuple(map(asks, (*wheres, wheres[0]))))), known)
            for number, block in enumerate(blocks):
                # A row needs all of them; a block that lacks one for all of its rows may go.
                possible = any(all(tables.holds(where, [key]) for where in wheres) for key in block)
                cases, skips = cases + 1, skips + bool(decision.skip[number])
                assert not (possible and decision.skip[number]), (seed, wheres, block, people, lands)
    assert 0.3 < skips / cases < 1


def random_condition(rng: random.Random, depth: int = 0) -> Expr:
    if depth < 2 and rng.random() < 0.4:
        kind = rng.choice((And, Or))
        return kind((random_condition(rng, depth + 1), random_condition(rng, depth + 1)))
    city, age = Literal(rng.choice("abcdefg"), STRING), Literal(rng.randrange(-1, 7), INT)
    return rng.choice(
        (
            Comparison(rng.choice(("=", "<", ">=", "<=>")), CITY, city),
            Comparison(rng.choice(("=", "<", ">=", ">")), AGE, age),
            In(CITY, (city, Literal(rng.choice("abc"), STRING))),
            Not(Comparison("=", CITY, city)),
            IsNull(CITY),
            Not(IsNull(AGE)),
            Like(CITY, f"{city.value}%"),
            asks_land(rng.choice("xyz")),
        )
    )
