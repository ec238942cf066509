"""Shows and checks Kafka's files on disk, for `kafkadouble dump` and `kafkadouble check`. No node
runs, and nothing is written.

`items` gives everything in one file as plain fields, and continues after a corrupt part. The
formats are in `kafkadouble.server.log.formats`; this package opens files and knows the folders.
"""

from .contents.item import Item
from .contents.options import Options
from .dumping import items

__all__ = ["Item", "Options", "items"]
