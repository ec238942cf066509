"""An admin client of kafka-python that leaves nothing when its constructor fails.

kafka-python 3 keeps the thread, the selector and the sockets of a client that could not connect.
They stay until the process ends, and warn in the tests that run meanwhile.
"""

from __future__ import annotations

import warnings
from typing import Any

# It reads its message specifications by a call that Python 3.11 and 3.12 deprecate.
with warnings.catch_warnings():
    warnings.filterwarnings("ignore", r"(read|open)_text is deprecated", DeprecationWarning)
    from kafka import KafkaAdminClient


class RefusableAdmin(KafkaAdminClient):  # type: ignore[misc]
    def __init__(self, **config: Any) -> None:
        try:
            super().__init__(**config)
        except BaseException:
            self._client.close()
            raise
