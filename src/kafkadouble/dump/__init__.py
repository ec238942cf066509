"""Kafka's files on disk, shown and checked: behind `kafkadouble dump` and `kafkadouble check`. No node runs, and nothing is written.

`items` gives all that one file holds, as plain fields, reading on behind what is broken. The formats themselves are
`kafkadouble.server.log.formats`; this package is the part that opens files and knows folders.
"""

from .dumping import Options, items
from .item import Item

__all__ = ["Item", "Options", "items"]
