"""The generated table of the replay: orders of a web shop, which arrive in no order that filters ask about.

Every batch spans all countries, two years and all customers, so minimum and maximum of a file as it was
inserted exclude next to nothing. Couriers, regions, cities and what customers ask for go with countries, and
most values are skewed, as in real data. All is made by native expressions over a hash of the row number.
"""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.spark import DataFrame, SparkSession

__all__ = ["COUNTRIES", "COURIERS", "REQUESTS", "THINGS", "orders_batch"]

_CITIES = {
    "DE": ("Berlin", "Bremen", "Ulm"),
    "FR": ("Lyon", "Nantes", "Paris"),
    "PL": ("Gdynia", "Opole", "Warsaw"),
    "ES": ("Madrid", "Oviedo", "Vigo"),
    "IT": ("Bari", "Milan", "Rome"),
    "NL": ("Breda", "Leiden", "Zwolle"),
    "SE": ("Malmo", "Stockholm", "Visby"),
    "AT": ("Graz", "Linz", "Vienna"),
    "PT": ("Braga", "Lisbon", "Porto"),
    "CZ": ("Brno", "Ostrava", "Prague"),
    "NO": ("Bergen", "Hamar", "Oslo"),
    "IE": ("Cork", "Dublin", "Sligo"),
}
COUNTRIES = tuple(_CITIES)
_CITY_NAMES = tuple(city for cities in _CITIES.values() for city in cities)
COURIERS = ("Arrow", "Bluebird", "Comet", "Dash", "Express One", "Falcon", "Globe", "Harbour")
_REGIONS = ("east", "north", "south", "west")
_COLOURS = ("Blue", "Green", "Plain", "Red", "White")
_CLOTHS = ("Cotton", "Linen", "Silk", "Wool")
_CLOTHES = ("Blanket", "Coat", "Dress", "Scarf", "Shirt")
THINGS = ("Gift Card", *(f"{cloth} {clothes}" for cloth in _CLOTHS for clothes in _CLOTHES))
"""What a product's name may contain."""
REQUESTS = (
    "asks for a refund",
    "parcel was damaged",
    "invoice is missing",
    "leave it at the door",
    "wrong size was sent",
    "call before delivery",
    "address has changed",
    "wrap it as a gift",
)
"""What a customer's remarks may contain."""
_TALK = (
    "the first order came a week early",
    "my friend told me about the shop",
    "thanks for the quick answer again",
    "it was just like in the picture",
    "the colours are even nicer at home",
    "we had another one of these before",
    "next time I will order two of them",
    "it took a little longer than usual",
    "the neighbours took it in for us",
    "please send the catalogue once more",
    "the old one still works very well",
    "somebody from the shop has called me",
    "this is a present for my mother",
    "the box was far too large for it",
    "I could not find the size anywhere",
    "everything else was as it should be",
)
"""What else customers say."""
_SENTENCES = 6
_DICE = 14
_FILES = 4


def orders_batch(spark: SparkSession, batch: int, rows: int, seed: int = 0) -> DataFrame:
    """The rows that arrive together, in a few files."""
    dice = [f"pmod(xxhash64(id, {_DICE * seed + n}), 1000003) / 1000003D AS d{n}" for n in range(_DICE)]
    frame = spark.range(batch * rows, (batch + 1) * rows, 1, _FILES).selectExpr("id", *dice)
    frame = frame.selectExpr(
        "*",
        f"CAST(pow(d2, 1.5) * {len(COUNTRIES)} AS INT) AS nation",
        "date_sub(DATE'2025-12-31', CAST(pow(d4, 1.3) * 730 AS INT)) AS placed_on",
    )
    return frame.selectExpr(*_COLUMNS)


def _one_of(values: Sequence[str], index: str) -> str:
    """One of some texts by its index in SQL."""
    return f"array({', '.join(repr(value) for value in values)})[{index}]"


def _talk(seeds: range) -> str:
    """Some sentences."""
    return ", ".join(
        _one_of(_TALK, f"CAST(pmod(xxhash64(id, {100 + n}), {len(_TALK)}) AS INT)") for n in seeds
    )


_asked = _one_of(REQUESTS, f"(nation + CAST(d5 * 2 AS INT)) % {len(REQUESTS)}")
_COLUMNS = (
    "id AS order_id",
    "CAST(d1 * d1 * 100000 AS INT) AS customer_id",
    f"{_one_of(COUNTRIES, 'nation')} AS country",
    f"{_one_of(_CITY_NAMES, 'nation * 3 + CAST(d3 * 3 AS INT)')} AS city",
    "placed_on",
    "date_add(placed_on, 5) AS promised_on",
    "date_add(placed_on, IF(d5 < 0.03, 6, 1) + CAST(d6 * 4 AS INT)) AS delivered_on",
    f"""IF(d7 < 0.02, concat('Gift Card ', 25 * (1 + CAST(d0 * 4 AS INT))),
          concat_ws(' ', {_one_of(_COLOURS, f"CAST(d0 * {len(_COLOURS)} AS INT)")},
                         {_one_of(_CLOTHS, f"CAST(d6 * {len(_CLOTHS)} AS INT)")},
                         {_one_of(_CLOTHES, f"CAST(d7 * {len(_CLOTHES)} AS INT)")})) AS product""",
    "CAST(5 + d8 * d8 * 495 AS DECIMAL(8, 2)) AS price",
    """CASE WHEN d9 < 0.01 THEN 'open' WHEN d9 < 0.02 THEN 'disputed' WHEN d9 < 0.1 THEN 'returned'
            ELSE 'delivered' END AS status""",
    f"""named_struct('region', {_one_of(_REGIONS, "nation div 3")}, 'bay', CAST(d10 * 20 AS INT)) AS ship""",
    f"""map('courier', {_one_of(COURIERS, f"(nation + CAST(d11 * d11 * 3 AS INT)) % {len(COURIERS)}")},
            'channel', CASE WHEN d12 < 0.03 THEN 'phone' WHEN d12 < 0.1 THEN 'agent'
                            WHEN d12 < 0.4 THEN 'app' ELSE 'web' END,
            'weight', CAST(CAST(d13 * d13 * 30 AS INT) AS STRING),
            'device', CAST(pmod(xxhash64(id, 3), 40) AS STRING),
            'campaign', concat('spring-', pmod(xxhash64(id, 4), 90)),
            'warehouse', concat('W', nation, '-', pmod(xxhash64(id, 5), 7)),
            'slot', CAST(pmod(xxhash64(id, 6), 24) AS STRING),
            'packaging', IF(d8 < 0.7, 'box', 'bag'),
            'coupon', hex(pmod(xxhash64(id, 7), 100000)),
            'session', hex(xxhash64(id, 8))) AS attrs""",
    "concat(hex(xxhash64(id, 1)), hex(xxhash64(id, 2))) AS note",
    f"""concat_ws(' ', {_talk(range(_SENTENCES // 2))}, IF(pmod(xxhash64(id, 9), 5) = 0, {_asked}, NULL),
                  {_talk(range(_SENTENCES // 2, _SENTENCES))}) AS remarks""",
)
