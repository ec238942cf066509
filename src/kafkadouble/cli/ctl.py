"""`kafkadouble ctl`: calls the verbs of a running `kafkadouble serve --control-port`.

The verbs, their parameters and their help are those of the registry. Exit codes: 0; 1 Kafka refused
it, a wait timed out, or an assertion does not hold; 2 a wrong call; 3 no control plane answers,
or it refuses the token.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from kafkadouble.common.errors import UsageError
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.control.client import ControlClient, ControlError
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Verb
from kafkadouble.wire.wording import Caller

from .calling import output as ctl_output
from .calling import words as ctl_words
from .calling.verbs import EVENTS, usable
from .parts.file_errors import FileErrors

if TYPE_CHECKING:
    from kafkadouble.cli.calling import completion
    from kafkadouble.records import bulk
    from kafkadouble.verbs.forms import json_form
else:  # a start waits for none of them
    bulk = OnFirstUse("kafkadouble.records.bulk")
    completion = OnFirstUse("kafkadouble.cli.calling.completion")
    json_form = OnFirstUse("kafkadouble.verbs.forms.json_form")


URL, TOKEN = "KAFKADOUBLE_CONTROL_URL", "KAFKADOUBLE_CONTROL_TOKEN"
DEFAULT_URL = "http://127.0.0.1:9099"
CODES = {"kafka": 1, "timeout": 1, "assertion": 1, "usage": 2}
"""Kind of an error -> exit code, if it is not 3."""

PART_BYTES = 4 << 20
"""How much of a file is sent in one call."""

_EPILOG = f"""
examples:
  kafkadouble serve --control-port 9099 --topic orders &
  kafkadouble ctl produce orders --value "two pears"
  kafkadouble ctl fail Produce NOT_LEADER_OR_FOLLOWER --topic orders --times 2
  kafkadouble ctl wait_for_records orders --count 3 --timeout 30
  kafkadouble ctl --json topics
  kafkadouble ctl VERB --help

The URL is that of --url, or of {URL}, or {DEFAULT_URL}.
The token is that of --token, or of {TOKEN}.

Exit codes: 0 it was done; 1 Kafka refused it, a wait timed out, or an assertion does not hold;
2 a wrong call; 3 no control plane answers, or it refuses the token.
"""


def main(words: list[str]) -> int:
    """Calls a verb, and prints its result."""
    options = _parser().parse_args(words)
    if options.completion is not None:
        print(completion.script(options.completion))
        return 0
    try:
        with FileErrors(str):
            return _call(options)
    except UsageError as problem:
        return _fail(2, problem.in_words_of(Caller.COMMAND_LINE))
    except UnicodeDecodeError as problem:
        return _fail(2, str(problem))
    except ControlError as problem:
        return _fail(CODES.get(problem.kind, 3), str(problem))
    except KeyboardInterrupt:
        return 0


def _call(options: argparse.Namespace) -> int:
    url, token = options.url or os.environ.get(URL) or DEFAULT_URL, options.token or os.environ.get(TOKEN)
    client = ControlClient(url, token, Caller.COMMAND_LINE)
    if options.verb == EVENTS:
        for name, data in client.events("/events"):
            if options.json:
                print(json.dumps({name: data}), flush=True)
            elif name == "request":
                print(data.get("text"), flush=True)
            else:
                print(f"{data.get('requests')} requests were missed", flush=True)
        return _fail(3, "the stream of requests has ended")
    _print(_result(client, _verb(options.verb), options.words), options.json)
    return 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "kafkadouble ctl",
        usage="kafkadouble ctl [--url URL] [--token TOKEN] [--json] VERB [VALUE ...] [--PARAMETER VALUE ...]",
        description="Call a verb of a running double.",
        epilog=f"verbs:\n{_listing()}\n{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--url", help="the URL of the control plane")
    made.add_argument("--token", help="the token of the control plane; better in the environment")
    made.add_argument("--json", action="store_true", help="print the result as JSON")
    made.add_argument("--completion", choices=("bash", "zsh", "fish"), help="print a script that completes words")
    made.add_argument("verb", nargs="?", help="the name of a verb; - may stand for _")
    made.add_argument("words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    return made


def _listing() -> str:
    rows = [(each.name, each.summary.partition(". ")[0].rstrip(".")) for each in usable()]
    rows.append((EVENTS, "Follows the requests of clients, one line each"))
    return "\n".join(f"  {name:<28} {shorten(summary, 68, placeholder=' ...')}" for name, summary in rows)


def _verb(name: str | None) -> Verb:
    if name is None:
        raise UsageError("ctl needs a verb: kafkadouble ctl --help lists them")
    verb = VERBS[name.replace("-", "_")]
    if not verb.is_for_json:
        raise UsageError(f"{verb.name} takes a function: only a Python program can call it")
    return verb


def _result(client: ControlClient, verb: Verb, words: list[str]) -> Any:
    parameters = ctl_words.parameters(verb, words)
    return _produce_file(client, verb, parameters) if verb.reads_file else client.call(verb.name, parameters)


def _produce_file(client: ControlClient, verb: Verb, given: Mapping[str, Any]) -> int:
    """Reads the file here, and sends its records in parts."""
    verb.check(given)
    more = {name: given[name] for name in ("topic", "partition") if name in given}
    return sum(client.call("produce_all", {**more, "records": part}) for part in _parts(given))


def _parts(given: Mapping[str, Any]) -> Iterator[list[Any]]:
    source = bulk.of_file(given["path"], given.get("format"), json_form.record_from_json)
    part: list[Any] = []
    size = 0
    for number, line in source.items:
        try:
            record = json_form.to_json(source.read(line))
        except UsageError as problem:
            raise UsageError("{where}: {problem}", where=f"{source.what} {number}", problem=problem) from None
        part.append({name: value for name, value in record.items() if value is not None})
        size += len(line)
        if size >= PART_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


def _print(result: Any, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result, indent=2))
        return
    for line in ctl_output.lines(result):
        print(line)


def _fail(code: int, sentence: str) -> int:
    print(f"kafkadouble: {sentence}", file=sys.stderr)
    return code
