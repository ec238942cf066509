"""Files that are one JSON object."""

from __future__ import annotations

import json

from .checkpoint_text import text_of
from .errors import BadFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def json_object(data: bytes, file: str) -> dict[str, Any]:
    """The object. BadFile, with the position of the byte, when the text is not JSON, or is not an
    object."""
    text = text_of(data, file)
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        at = len(text[: error.pos].encode())
        raise BadFile(f"this is not JSON: {error.msg}", file=file, offset=at) from None
    except (ValueError, RecursionError) as error:  # numbers and nesting without bound
        raise BadFile(f"this is not JSON: {error}", file=file, offset=0) from None
    if not isinstance(found, dict):
        raise BadFile("this is JSON, but not an object", file=file, offset=0)
    return found
