"""Random SQL conditions over a random table."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from tests.e2e.random_tables import KINDS, NESTED, RandomTable

NUMBERS = ("i8", "i16", "i32", "i64", "f32", "f64", "money", "k", "wide")
TEXTS = ("name", "mode")
COMPARISONS = ("=", "<", "<=", ">", ">=", "!=", "<=>", "=", "<", ">")
_UNITS = ("DAY", "MONTH", "HOUR")
KEPT = (
    "month(day)", "lower(name)", "m['c']", "i32 % 10", "year(ts)", "length(name)", "CAST(f64 AS INT)",
    "abs(i16)", "substring(name, 1, 2)", "date_trunc('DAY', ts)", "i64 + 1", "coalesce(mode, 'none')",
    "arr[0]", "-i8",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Conditions:
    """``ansi`` keeps away from what fails on overflow or on a broken cast."""

    random: Random
    table: RandomTable
    ansi: bool

    def condition(self, depth: int = 3) -> str:
        """Any condition."""
        r = self.random
        if depth == 0 or r.random() < 0.35:
            return self.atom()
        choice = r.random()
        if choice < 0.15:
            return f"NOT ({self.condition(depth - 1)})"
        joint = " AND " if choice < 0.65 else " OR "
        return "(" + joint.join(self.condition(depth - 1) for _ in range(r.choice((2, 2, 3)))) + ")"

    def atom(self) -> str:
        """A condition without AND, OR or NOT around it."""
        makers = (
            self.compare, self.compare, self.compare, self.member, self.between, self.null, self.like,
            self.arithmetic, self.function, self.columns, self.wrapped, self.cast,
        )  # fmt: skip
        return self.random.choice(makers)()

    def _column(self) -> tuple[str, str]:
        if self.random.random() < 0.2:
            return self.random.choice(list(NESTED.items()))
        name = self.random.choice(list(KINDS))
        return name, name

    def value(self, kind: str) -> Any:
        """A value that occurs, or a special one."""
        found = self.random.choice(self.table.values[kind])
        return (
            self.random.choice(KINDS[kind].special) if found is None or self.random.random() < 0.1 else found
        )

    def literal(self, kind: str) -> str:
        """The same as SQL."""
        return KINDS[kind].literal(self.value(kind))

    def compare(self) -> str:
        column, kind = self._column()
        sides = [column, self.literal(kind)]
        if self.random.random() < 0.2:
            sides.reverse()
        return f"{sides[0]} {self.random.choice(COMPARISONS)} {sides[1]}"

    def member(self) -> str:
        column, kind = self._column()
        values = [self.literal(kind) for _ in range(self.random.choice((1, 2, 3, 14)))]
        if self.random.random() < 0.15:
            values.append("NULL")
        return f"{column} {self.random.choice(('IN', 'IN', 'NOT IN'))} ({', '.join(values)})"

    def between(self) -> str:
        column, kind = self._column()
        word = self.random.choice(("BETWEEN", "BETWEEN", "NOT BETWEEN"))
        return f"{column} {word} {self.literal(kind)} AND {self.literal(kind)}"

    def null(self) -> str:
        column = self.random.choice([self._column()[0], "st", "m", "arr", "st.t"])
        return f"{column} IS {self.random.choice(('', 'NOT '))}NULL"

    def like(self) -> str:
        r, column = self.random, self.random.choice((*TEXTS, "st.b", "m['c']"))
        kind = {"st.b": "name", "m['c']": "mode"}.get(column, column)
        text = (
            self.value(kind)[: r.choice((1, 2, 3, 80))].replace("\\", "").replace("'", "").replace("\n", "")
        )
        pattern = r.choice(
            (f"{text}%", f"%{text}", f"%{text}%", text, f"{text[:1]}_%", f"{text}%{text[-1:]}")
        )
        make = r.choice(
            (
                "{} LIKE '{}'",
                "{} NOT LIKE '{}'",
                "startswith({}, '{}')",
                "contains({}, '{}')",
                "endswith({}, '{}')",
            )
        )
        return make.format(column, pattern if "LIKE" in make else text)

    def arithmetic(self) -> str:
        r, column = self.random, self.random.choice(NUMBERS[:-1])
        by = r.choice((1, 2, 3, 7, -5))
        forms = [
            "try_add({c}, {n})",
            "try_subtract({c}, {n})",
            "try_multiply({c}, {n})",
            "try_divide({c}, {n})",
        ]
        if not self.ansi:
            forms += [
                "{c} + {n}",
                "{c} - {n}",
                "{c} * {n}",
                "{c} / {n}",
                "-{c}",
                "abs({c})",
                "{n} - {c}",
                "{c} % {n}",
            ]
        left = r.choice(forms).format(c=column, n=by)
        return f"{left} {r.choice(COMPARISONS)} {r.choice((self.literal(column), str(by), '0'))}"

    def function(self) -> str:
        r = self.random
        forms = (
            lambda: f"month(day) {r.choice(COMPARISONS)} {r.randrange(1, 13)}",
            lambda: f"year(day) {r.choice(COMPARISONS)} {r.choice((1, 1582, 1899, 2019, 2020, 2021, 9999))}",
            lambda: f"year(ts) {r.choice(COMPARISONS)} {r.choice((1, 1582, 1899, 2022, 9999))}",
            lambda: f"hour(ts) {r.choice(COMPARISONS)} {r.randrange(24)}",
            lambda: f"lower(name) {r.choice(COMPARISONS)} lower({self.literal('name')})",
            lambda: f"upper(mode) = {self.literal('mode')}",
            lambda: f"length(name) {r.choice(COMPARISONS)} {r.choice((0, 1, 4, 70, 1100))}",
            lambda: f"substring(name, 1, {r.randrange(4)}) {r.choice(COMPARISONS)} {self.literal('name')}",
            lambda: f"date_trunc('{r.choice(_UNITS)}', ts) {r.choice(COMPARISONS)} {self.literal('ts')}",
            lambda: f"trunc(day, 'MM') {r.choice(COMPARISONS)} {self.literal('day')}",
            lambda: f"date_add(day, {r.choice((0, 5, -40))}) {r.choice(COMPARISONS)} {self.literal('day')}",
            lambda: f"isnan({r.choice(('f32', 'f64', 'st.t.x'))})",
            lambda: f"size(m) {r.choice(COMPARISONS)} {r.randrange(3)}",
            lambda: f"floor(f64) {r.choice(COMPARISONS)} {r.randrange(600)}",
            lambda: f"round(money) {r.choice(COMPARISONS)} {self.literal('money')}",
            lambda: f"name RLIKE '^{r.choice('abcxyzz')}{r.choice(('', '[aB]', '.*1'))}'",
            lambda: f"mode ILIKE '{r.choice(('air', '%AI%', 's%'))}'",
            lambda: f"concat(mode, '-') {r.choice(COMPARISONS)} {self.literal('mode')}",
            lambda: f"exists(arr, e -> e > {self.literal('i32')})",
        )
        return r.choice(forms)()

    def columns(self) -> str:
        r = self.random
        groups = (
            NUMBERS,
            ("name", "mode", "st.b", "m['c']"),
            ("day", "ts", "ntz"),
            ("i32", "st.a", "k", "arr[0]"),
        )
        left, right = r.sample(r.choice(groups), 2)
        return f"{left} {r.choice(COMPARISONS)} {right}"

    def wrapped(self) -> str:
        r = self.random
        column, kind = self._column()
        op = r.choice(COMPARISONS)
        return r.choice((
            f"coalesce({column}, {self.literal(kind)}) {op} {self.literal(kind)}",
            f"CASE WHEN {self.compare()} THEN {column} ELSE {self.literal(kind)} END {op} {column}",
            f"if({self.null()}, {column}, NULL) {op} {self.literal(kind)}",
            f"({self.compare()}) IS {r.choice(('', 'NOT '))}{r.choice(('NULL', 'TRUE', 'FALSE'))}",
            f"({self.compare()}) <=> ({self.null()})",
            f"coalesce({self.compare()}, {r.choice(('TRUE', 'FALSE'))})",
            f"nullif({column}, {self.literal(kind)}) {op} {self.literal(kind)}",
        ))  # fmt: skip

    def cast(self) -> str:
        r = self.random
        word = "try_cast" if self.ansi else r.choice(("CAST", "try_cast"))
        column, type_, kind = r.choice((
            ("i64", "INT", "i32"), ("i32", "TINYINT", "i8"), ("f64", "INT", "i32"), ("i32", "DOUBLE", "f64"),
            ("f64", "FLOAT", "f32"), ("name", "INT", "k"), ("i32", "STRING", "name"), ("ts", "DATE", "day"),
            ("day", "TIMESTAMP", "ts"), ("ts", "STRING", "name"), ("money", "INT", "i32"),
            ("wide", "DOUBLE", "f64"), ("k", "BOOLEAN", "flag"), ("i16", "DECIMAL(10, 2)", "money"),
            ("ntz", "DATE", "day"), ("wide", "DECIMAL(10, 2)", "money"), ("f32", "DOUBLE", "f64"),
            ("name", "DATE", "day"), ("ts", "TIMESTAMP_NTZ", "ntz"),
        ))  # fmt: skip
        return f"{word}({column} AS {type_}) {r.choice(COMPARISONS)} {self.literal(kind)}"
