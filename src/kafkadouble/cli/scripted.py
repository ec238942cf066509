"""`kafkadouble scripted`: answers clients from a recording, in the foreground.

Exit codes: 0 ended by a signal; 1 the port is not available; 2 a wrong call, or no recording; 3
ended by a signal, and a request was not in the recording.
"""

from __future__ import annotations

import argparse
import logging
import signal
import sys

from kafkadouble.wire.client_log import printable
from kafkadouble.wire.errors import UsageError

NO_PORT, NOT_SCRIPTED = 1, 3

SHOWN = 20
"""The exchanges that are listed at the end."""

_EPILOG = """\
examples:
  kafkadouble serve --capture session.parquet --capture-frames
  kafkadouble scripted session.parquet --port 9092

When it is ready for clients, it prints bootstrap.servers=HOST:PORT. Exit codes: 0 ended by a signal, 1 the port
is not available, 2 a wrong call, or no recording, 3 ended by a signal, and a request was not in the recording.
"""


def main(words: list[str]) -> int:
    """Answers until a signal comes."""
    parser = _parser()
    options = parser.parse_args(words)
    signals = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        return _serve(options, signals)
    except UsageError as error:
        parser.error(str(error))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signals)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "kafkadouble scripted",
        description="Answer clients as the server of a recording did. A request that is not in the recording ends its connection.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("recording", metavar="RECORDING", help="a capture with frames: a file, or a folder")
    add("--host", default="127.0.0.1", help="the address to listen on (default 127.0.0.1: this machine only)")
    add("--port", type=int, default=9092, help="the port of the first broker, 0 for any free one (default 9092)")
    add("--run", metavar="NAME", help="the run to answer from, if the recording has several")
    return parser


def _serve(options: argparse.Namespace, signals: set[signal.Signals]) -> int:
    # A test session without a double needs none.
    from kafkadouble.scripted_double import ScriptedDouble

    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(message)s", stream=sys.stderr)
    double = ScriptedDouble(options.recording, host=options.host, port=options.port, run=options.run)
    try:
        double.start()
    except OSError as problem:
        print(printable(f"kafkadouble scripted: {options.host}:{options.port}: {problem.strerror}"), file=sys.stderr)
        return NO_PORT
    with double:
        print(f"bootstrap.servers={double.bootstrap_servers}", flush=True)
        signal.sigwait(signals)
    for title, found in (("not in the recording", double.unscripted), ("not asked", double.unasked)):
        for each in found[:SHOWN]:
            print(printable(f"{title}: {each!r}"), file=sys.stderr)
        if len(found) > SHOWN:
            print(f"{title}: and {len(found) - SHOWN} more", file=sys.stderr)
    return NOT_SCRIPTED if double.unscripted else 0
