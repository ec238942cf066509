"""Shows what Kafka sends or stores: as a line for logs, as a tree, as an annotated hexdump, as
JSON.

`line`, `tree` and `hexdump` show one message. `frame`, `response_frame`, `message`, `batch` and
`log` read bytes as far as possible and return objects (`Shown`) with every style and the first
`error` with its position. Nothing here is fast.
"""

from .batches import ShownBatch, batch
from .dumps import hexdump
from .frames import Frame, frame, message, response_frame
from .lines import line
from .logs import batches, log
from .payload import KINDS
from .row import FieldRow, render
from .shown import Shown
from .text import FULL, LINE, TREE, TextLimits
from .trees import tree

__all__ = [
    "FULL",
    "KINDS",
    "LINE",
    "TREE",
    "FieldRow",
    "Frame",
    "Shown",
    "ShownBatch",
    "TextLimits",
    "batch",
    "batches",
    "frame",
    "hexdump",
    "line",
    "log",
    "message",
    "render",
    "response_frame",
    "tree",
]
