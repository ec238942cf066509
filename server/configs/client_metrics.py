"""The configurations of a client metrics subscription (KIP-714).

`table.py` describes the format of a row.
"""

from .table import ConfigDef

ROWS = """
metrics  list  ""  medium
    Prefixes of the names of the metrics that clients push; empty for none, * for all.
interval.ms  int  300000  medium
    Time between two pushes (ms).
match  list  ""  medium
    Which clients are meant: a list of PROPERTY=REGEX, all of which must match; empty for every client.
"""

CLIENT_METRICS = ConfigDef(lambda: iter((ROWS,)))
