"""SQL conditions with calls of all kinds, and constants of types without an order."""

from __future__ import annotations

CONTAINERS = r"""
array('SFO', 'LAX')
array('it\'s', '\\', NULL, 'a\nb')
array(1, NULL, -2147483648)
array(DATE '2020-01-01', DATE '-0001-01-01')
array(1.5D, double('NaN'), -0.0D)
array(1.50BD, 22.1BD)
array(array(1, 2), array())
array(X'00FF')
named_struct('a', 1, 'odd name', named_struct('b', 'x'))
array(named_struct('a', 1L, 'b', NULL))
array(TIMESTAMP '2020-01-01 00:00:00.5', NULL)
array(TIMESTAMP_NTZ '2020-01-01 00:00:00')
array(INTERVAL '1-2' YEAR TO MONTH)
array(INTERVAL '1 02:03:04' DAY TO SECOND)
array(1Y, -128Y)
array(true, NULL)
CAST(array() AS ARRAY<STRING>)
array(9223372036854775807L, 5L)
""".strip().splitlines()

CALLS = r"""
year(da) = 2020
month(ts) IN (1, 2)
day(da) = 3
dayofweek(da) = 1
weekofyear(da) = 2
lower(s) = 'a'
upper(s) LIKE 'A%_b'
trim(s) = 'x'
trim(BOTH 'x' FROM s) = 'y'
ltrim('x', s) = 'y'
rtrim(s) = 'y'
substring(s, 2, 3) = 'ab'
length(s) > 3
concat(s, 'x') = 'yx'
lpad(s, 5, '0') = '0000a'
rpad(s, 5, '0') = 'a0000'
replace(s, 'a', 'b') = 'b'
instr(s, 'a') > 0
split(s, ',')[0] = 'a'
regexp_extract(s, '(\\d+)', 1) = '1'
regexp_replace(s, 'a', 'b') = 'b'
s RLIKE '^\\d+\'x$'
s LIKE '50\\%' OR s LIKE '%a_'
s LIKE 'a!%%' ESCAPE '!'
s LIKE "a'_%" ESCAPE "'"
i + 1 > 5
i - (1 - l) > 5
-i > 5
i * 2 + l > 7
i div 2 = 1
i % 7 = 3
pmod(i, 7) = 3
i / 2 > 1.5D
de * 2 > 10
de + 1.5 > 3
try_add(i, 1) = 2
try_divide(d, 0) IS NULL
i & 3 = 1
(i | 4) ^ 1 = 5
~i = 3
shiftleft(i, 2) = 8
abs(i) = 1
round(d, 2) = 1.5D
bround(d, 1) = 1.5D
floor(d) = 1
ceil(de) = 2
ln(d) > 1
log(2, d) > 1
greatest(i, l) > 3
coalesce(i, 0) = 0
nullif(i, 1) = 2
if(bo, i, l) = 3
CASE WHEN bo THEN i WHEN i > 3 THEN 4 ELSE 5 END = 4
CASE WHEN bo THEN s END = 'x'
CAST(s AS INT) = 5
TRY_CAST(s AS DATE) = DATE '2020-01-01'
CAST(ts AS DATE) = DATE '2020-01-01'
CAST(l AS DECIMAL(20,0)) = 5
date_add(da, 5) > DATE '2020-01-01'
datediff(da, DATE '2020-01-01') > 5
add_months(da, 1) = DATE '2020-02-01'
ts + INTERVAL 1 DAY > TIMESTAMP '2020-01-01 00:00:00'
ts - INTERVAL '1-2' YEAR TO MONTH > ts
da - DATE '2020-01-01' > INTERVAL '3' DAY
ts - tn > INTERVAL '3' DAY
date_trunc('month', ts) = TIMESTAMP '2020-01-01 00:00:00'
trunc(da, 'year') = DATE '2020-01-01'
date_format(da, 'yyyy') = '2020'
to_date(s, 'yyyy') = DATE '2020-01-01'
to_timestamp(s, 'yyyy') > ts
unix_timestamp(ts) > 5
from_unixtime(l) = 'x'
timestamp_seconds(l) > ts
make_date(i, 1, 1) = da
last_day(da) = da
attrs['k'] = 'v'
element_at(attrs, 'it\'s') = 'v'
keyed[1] > 2
arr[0] = 1
element_at(arr, -1) = 2
array_contains(arr, i)
array_contains(texts, 'it\'s')
size(arr) = 2
map_contains_key(attrs, 'k')
arrays_overlap(arr, array(1, 2))
st.a = 1
st.`odd name`.b = 'x'
st = named_struct('a', 1, 'odd name', named_struct('b', 'x'))
`user` = 5
`a``b c` = 'x'
s LIKE concat(s, '%')
s LIKE concat(s, '/%') ESCAPE '/'
extract(SECOND FROM ts) > 1.5
extract(DAY FROM dti) = 1
floor(de, 1) = 1
ceil(de, 2) = 1
to_char(de, '999') = '1'
get_json_object(s, '$.a') = 'x'
hash(i, s) = 5
xxhash64(i) = 5
md5(s) = 'x'
sha2(s, 256) = 'x'
base64(by) = 'x'
unbase64(s) = X'00'
hex(i) = 'A'
soundex(s) = 'x'
levenshtein(s, 'abc') < 2
translate(s, 'a', 'b') = 'b'
s || 'x' = 'ax'
repeat(s, 2) = 'aa'
initcap(s) = 'A'
locate('a', s) = 1
isnan(d)
bit_count(i) = 3
typeof(i) = 'int'
s NOT LIKE '%x%'
i IN (1, 2, NULL)
i NOT IN (1, 2)
s BETWEEN 'a' AND 'b'
(i, s) = (1, 'a')
i <=> l
bo <=> NULL
NOT bo OR i IS NULL
ts + make_interval(0, 1, 0, 2) > ts
coalesce(i, CAST(NULL AS INT)) = 1
struct(i, s).s = 'x'
array(i, 2)[1] = 2
map('a', i)['a'] = 2
map('k', 1.5D, 'q', NULL)[s] = 1.5D
map(1, array('x'))[i] = array('y')
map(1Y, named_struct('a', NULL))[ti].a IS NULL
""".strip().splitlines()
