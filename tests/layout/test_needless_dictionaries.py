"""Dictionaries are left out only for columns of which nearly all values of a block differ."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.layout.rows_of_numbers import column

from skipstone.layout.needless_dictionaries import needless_dictionaries
from skipstone.layout.sample import Sample
from skipstone.predicate.expr import Expr

ORDER, PRICE, KIND, NOTE = (column(name) for name in ("order", "price", "kind", "note.text"))
ROWS, SCALE, BLOCK = 20_000, 10.0, 1_000


@pytest.fixture(scope="module")
def sample() -> Sample:
    """A tenth of a table in which each order has 40 rows, so that of an order 4 rows are sampled."""
    rng = np.random.default_rng(5)
    columns: dict[Expr, pa.Array] = {
        ORDER: pa.array(np.arange(ROWS) // 4),
        PRICE: pa.array(rng.integers(0, 1 << 40, ROWS)),
        KIND: pa.array(rng.integers(0, 50, ROWS)),
        NOTE: pa.array(rng.integers(0, 1 << 40, ROWS)),
    }
    return Sample(np.zeros((ROWS, 0), np.bool_), columns, SCALE)


def test_columns_that_repeat_in_a_block_keep_their_dictionaries(sample: Sample) -> None:
    blocks = int(ROWS * SCALE / BLOCK)
    anywhere = (np.arange(ROWS) % blocks).astype(np.int32)
    assert needless_dictionaries(sample, lambda: anywhere, BLOCK) == (ORDER, PRICE)
    together = (np.arange(ROWS) * blocks // ROWS).astype(np.int32)
    assert needless_dictionaries(sample, lambda: together, BLOCK) == (PRICE,), "a block has few orders"


def test_small_blocks_and_samples_without_such_columns_need_no_block_numbers(sample: Sample) -> None:
    def never() -> np.ndarray:
        raise AssertionError

    assert needless_dictionaries(sample, never, 100) == ()
    kinds = Sample(sample.bits, {KIND: sample.columns[KIND]}, SCALE)
    assert needless_dictionaries(kinds, never, BLOCK) == ()
