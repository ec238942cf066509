"""The messages of `serve` when it cannot start."""

from __future__ import annotations

import errno
from os import environ

from kafkadouble.common.listening import text_of


def no_port(host: str, port: int, problem: Exception) -> str:
    """Explains why nothing can listen on this port."""
    place = text_of(host, port)
    if isinstance(problem, OSError) and problem.errno == errno.EADDRINUSE:
        return f"{place} is taken: something listens there already; --port 0 takes any free port"
    return f"cannot listen on {place}: {getattr(problem, 'strerror', None) or problem}"


def jaas_file_is_not_read(problem: str) -> str:
    """The end of an error about a login that is missing, if Kafka would read it from a file."""
    from re import search  # seldom needed

    named = search(r"-Djava\.security\.auth\.login\.config=(\S+)", environ.get("KAFKA_OPTS", ""))
    if named is None or "sasl.jaas.config is missing" not in problem:
        return ""
    return f" (KAFKA_OPTS names {named[1]}, which is not read here: write its login into that setting)"


def in_words(problem: Exception) -> str:
    """The problem in the words of the command line's options. UsageError is not imported for it."""
    worded = getattr(problem, "in_words_of", None)
    if worded is None:
        return str(problem)
    from kafkadouble.wire.wording import Caller  # for an error alone

    return str(worded(Caller.COMMAND_LINE))
