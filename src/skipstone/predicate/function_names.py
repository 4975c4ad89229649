"""What SQL calls the functions that our calls name after Spark's classes.

A call is named after its Catalyst class in snake case. For most of Spark's functions that is their SQL name
too; here are the others. A test compares the table with Spark's own registry.
"""

from __future__ import annotations

__all__ = ["EXTRACTED", "OPERATORS", "SQL_NAMES", "TRY_NAMES"]

# fmt: off
SQL_NAMES = {
    "b_round": "bround", "bitwise_count": "bit_count", "bitwise_get": "bit_get",
    "create_array": "array", "create_map": "map", "create_named_struct": "named_struct",
    "date_diff": "datediff", "day_name": "dayname", "day_of_month": "dayofmonth",
    "day_of_week": "dayofweek", "day_of_year": "dayofyear", "from_unix_time": "from_unixtime",
    "init_cap": "initcap", "is_nan": "isnan", "log": "ln", "logarithm": "log",
    "micros_to_timestamp": "timestamp_micros", "millis_to_timestamp": "timestamp_millis",
    "month_name": "monthname", "murmur3_hash": "hash", "r_like": "rlike",
    "reg_exp_extract_all": "regexp_extract_all", "reg_exp_in_str": "regexp_instr",
    "round_ceil": "ceil", "round_floor": "floor",
    "seconds_to_timestamp": "timestamp_seconds", "shift_left": "shiftleft", "shift_right": "shiftright",
    "shift_right_unsigned": "shiftrightunsigned", "sound_ex": "soundex", "string_instr": "instr",
    "string_l_pad": "lpad", "string_locate": "locate", "string_r_pad": "rpad", "string_repeat": "repeat",
    "string_replace": "replace", "string_space": "space", "string_split": "split",
    "string_to_map": "str_to_map", "string_translate": "translate", "string_trim": "trim",
    "string_trim_left": "ltrim", "string_trim_right": "rtrim", "structs_to_csv": "to_csv",
    "structs_to_xml": "to_xml", "to_character": "to_char", "to_degrees": "degrees",
    "to_radians": "radians", "type_of": "typeof",
    "un_base64": "unbase64", "week_day": "weekday", "week_of_year": "weekofyear", "xx_hash64": "xxhash64",
}
OPERATORS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "remainder": "%", "mod": "%", "div": "div",
    "integral_divide": "div", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^",
    "date_add_interval": "+", "date_add_ym_interval": "+", "timestamp_add_interval": "+",
    "timestamp_add_ym_interval": "+", "subtract_dates": "-", "subtract_timestamps": "-",
}
TRY_NAMES = {
    "add": "try_add", "subtract": "try_subtract", "multiply": "try_multiply", "divide": "try_divide",
    "remainder": "try_mod",
}
EXTRACTED = {
    "second_with_fraction": "SECOND", "extract_ansi_interval_years": "YEAR",
    "extract_ansi_interval_months": "MONTH", "extract_ansi_interval_days": "DAY",
    "extract_ansi_interval_hours": "HOUR", "extract_ansi_interval_minutes": "MINUTE",
    "extract_ansi_interval_seconds": "SECOND",
}
# fmt: on
