"""The command line: `kafkadouble VERB ...`, also `python -m kafkadouble`.

Each verb is a module of `kafkadouble.cli`, imported when it is used.
"""

from __future__ import annotations

import os
import sys

VERBS = {
    "serve": "run a broker, or several, until interrupted",
    "ctl": "call the verbs of a running double: topics, faults, waits and others",
    "format": "format log directories, as kafka-storage format does",
    "messages": "list every message of the protocol, with its versions",
    "supported": "list the APIs and versions that are served",
    "inspect": "decode bytes of the protocol: requests, responses, records",
    "dump": "show the contents of Kafka's files on disk",
    "check": "check whether Kafka's files on disk are valid",
    "observe": "show the metadata of a running quorum, and follow it",
    "replay": "send the requests of a recording to another Kafka, and compare the answers",
    "scripted": "answer clients from a recording",
    "traffic": "report on captured requests: clients, versions, errors, latencies",
}


def main(arguments: list[str] | None = None) -> int:
    """Runs a verb, and returns the exit code of the process."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        try:
            return _run(words)
        finally:  # argparse exits after a help
            sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(words: list[str]) -> int:
    if not words or words[0] not in VERBS:
        return _without_verb(words)
    from importlib import import_module  # `import kafkadouble` costs next to nothing

    return int(import_module(f"kafkadouble.cli.{words[0]}").main(words[1:]))


def _without_verb(words: list[str]) -> int:
    from argparse import ArgumentParser, RawDescriptionHelpFormatter  # without a verb alone

    from . import __version__  # without a verb alone

    listing = "\n".join(f"  {verb:<10} {meaning}" for verb, meaning in VERBS.items())
    parser = ArgumentParser(
        "kafkadouble",
        usage="kafkadouble VERB ...",
        description="A Kafka-wire-compatible server in Python, for tests.",
        epilog=f"verbs:\n{listing}\n\n`kafkadouble VERB --help` describes the options of a verb.",
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"kafkadouble {__version__}")
    parser.add_argument("verb", nargs="?", help="one of the verbs below")
    verb = parser.parse_known_args(words)[0].verb
    if verb is not None:
        from .server.configs.did_you_mean import near  # for an error alone

        parser.error(f"there is no verb {verb!r}{near(verb, VERBS) or ': choose from ' + ', '.join(VERBS)}")
    parser.print_help()
    return 2


if __name__ == "__main__":
    sys.exit(main())
