"""The demo's table: orders of a web shop, as they arrive.

Every file is one hub's export of about ten weeks. So a file has few couriers and few countries, yet from A
to Z of the alphabet; the newest files alone have open orders; gift cards are bought before Christmas, and
parcels were late in two strikes. Minimum and maximum of a column show little of that. All is made by native
expressions over a hash of the row number: the same table every time, whatever its size.
"""

from __future__ import annotations

from pathlib import Path

import skipstone

__all__ = ["EXPRESSIONS", "FEATURES", "FILES", "QUERIES", "write_orders"]

FILES = 64
_HUBS = 4
_PERIODS = FILES // _HUBS
_DAYS = 1096  # 2023 to 2025

# Per hub: couriers, and countries with their cities. Each hub's lists span the alphabet.
_COURIERS = (
    "array('Bring', 'UPS')",
    "array('Austrian Post', 'UPS')",
    "array('An Post', 'Royal Mail')",
    "array('Correos', 'Packeta')",
)
_CITIES = (
    "array('BE Ghent', 'DK Aarhus', 'NO Oslo', 'SE Malmö')",
    "array('AT Graz', 'CZ Brno', 'HU Pécs', 'SK Nitra')",
    "array('GB Leeds', 'IE Cork', 'IS Akureyri', 'NL Utrecht')",
    "array('AD Encamp', 'ES Vigo', 'FR Lyon', 'PT Porto')",
)

EXPRESSIONS = ("attrs['courier']", "month(ordered_on)", "lower(city)")
FEATURES = ("product LIKE '%Gift Card%'", "delivered_on > promised_on")

QUERIES = """\
-- The demo's queries: plain SQL, as anybody would write it.

SELECT count(*), sum(price) FROM orders WHERE attrs['courier'] = 'Bring';

SELECT product, count(*) FROM orders WHERE country = 'NO' GROUP BY product;

SELECT status, count(*) FROM orders WHERE status IN ('open', 'in transit') GROUP BY status;

SELECT sum(price) FROM orders WHERE month(ordered_on) = 12 AND year(ordered_on) < 2025;

SELECT count(*), sum(price) FROM orders WHERE product LIKE '%Gift Card%';

SELECT country, count(*) FROM orders WHERE delivered_on > promised_on GROUP BY country;

SELECT count(*) FROM orders WHERE lower(city) = 'porto' AND voucher = 'LUCKY' OR status = 'open';

WITH express AS (SELECT * FROM orders WHERE express)
SELECT city, avg(price) FROM express WHERE price > 400 GROUP BY city;

SELECT o.country, count(*) FROM orders o
WHERE o.product IN (SELECT product FROM orders WHERE attrs['courier'] = 'An Post' AND price > 499)
  AND o.country IN ('AD', 'SK') AND o.ordered_on >= DATE'2025-07-01' GROUP BY o.country;

-- Nothing is kept that could help here: every file has such a customer.
SELECT count(*) FROM orders WHERE customer_id % 1000 = 7;
"""


def write_orders(path: Path, rows: int) -> None:
    """Write the Delta table, one file per task."""
    per_file = max(rows // FILES, 1)
    frame = skipstone.session().range(0, per_file * FILES, 1, FILES)
    frame = frame.selectExpr("id", f"cast(id div {per_file} AS int) AS file", *_dice("d", 8))
    frame = frame.selectExpr("*", f"file div {_HUBS} AS period", f"file % {_HUBS} AS hub")
    frame = frame.selectExpr(
        "*", f"date_add(DATE'2023-01-01', cast((period + d0) * {_DAYS / _PERIODS} AS int)) AS day"
    )
    frame = frame.selectExpr("*", f"{_by_hub(_CITIES)}[cast(d1 * 4 AS int)] AS place")
    frame.selectExpr(*_COLUMNS).write.format("delta").save(str(path))


def _dice(prefix: str, count: int) -> list[str]:
    """Numbers from 0 to 1 that follow from the row's own."""
    return [f"pmod(xxhash64(id, {seed}), 1000003) / 1000003D AS {prefix}{seed}" for seed in range(count)]


def _by_hub(choices: tuple[str, ...]) -> str:
    cases = " ".join(f"WHEN {hub} THEN {choice}" for hub, choice in enumerate(choices))
    return f"(CASE hub {cases} END)"


_STRIKE = "file IN (13, 42)"
_OPEN = f"period = {_PERIODS - 1} AND d2 < 0.3"
_SEASON = "array('LUCKY', 'TREAT')[period % 2]"
_COLUMNS = (
    "id AS order_id",
    "day AS ordered_on",
    "cast(d3 * 250000 AS bigint) AS customer_id",
    "substring(place, 1, 2) AS country",
    "substring(place, 4) AS city",
    """CASE WHEN month(day) = 12 AND d4 < 0.08
            THEN concat('Printed Gift Card ', 25 * (1 + cast(d5 * 4 AS int)))
            ELSE concat_ws(' ', array('Blue', 'Green', 'Plain', 'Red', 'White')[cast(d4 * 5 AS int)],
                                array('Cotton', 'Linen', 'Silk', 'Wool')[cast(d5 * 4 AS int)],
                                array('Blanket', 'Coat', 'Dress', 'Scarf')[cast(d6 * 4 AS int)])
       END AS product""",
    "cast(5 + d6 * d7 * 495 AS decimal(8, 2)) AS price",
    "hub = 2 AND d7 < 0.2 AS express",
    f"""CASE WHEN {_OPEN} THEN if(d3 < 0.5, 'open', 'in transit')
             WHEN d2 < 0.94 THEN 'delivered' ELSE 'returned' END AS status""",
    f"""CASE WHEN d5 < 0.04 THEN array('ALOHA', 'WELCOME')[cast(d1 * 2 AS int)]
             WHEN d5 < 0.06 THEN {_SEASON} END AS voucher""",
    "date_add(day, 5) AS promised_on",
    f"""if({_OPEN}, NULL,
           date_add(day, if({_STRIKE} AND d6 < 0.4, 7, 1) + cast(d7 * 4 AS int))) AS delivered_on""",
    f"""map('courier', {_by_hub(_COURIERS)}[cast(d6 * 2 AS int)],
            'weight', cast(cast(d7 * 30 AS int) AS string)) AS attrs""",
)
