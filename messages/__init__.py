"""Every message of Kafka 4.4 in every version: `from kafkadouble.messages import FetchRequest`
imports that API and nothing else.

`registry` lists the messages, `headers` reads and writes whole frames, `framed` and `coordinator`
the records of Kafka's internal topics.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .generated._all import *  # noqa: F403  # every message by name, for type checkers only
else:

    def __getattr__(name):
        """The message class with this name, from its generated module."""
        if not name[:1].isupper():  # a submodule that is being imported, or no message
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import registry

        try:
            message = registry.message(name)
        except registry.UnknownMessage as error:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}: {error}") from None
        globals()[name] = message
        return message

    def __dir__():
        """Every message with a version in Kafka 4.4, and the names that are already imported."""
        from . import registry

        return sorted({*globals(), *(entry.name for entry in registry.entries() if not entry.retired)})
