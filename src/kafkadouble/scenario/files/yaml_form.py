"""Reads a scenario in YAML, with PyYAML's composer, which marks the place of each node.

Rules. Plain values have the types of YAML 1.2's core schema: `no` and `on` are texts, and so is a
date. A key is its text. A key that is there twice, a tag of another schema and a merge key are
refused. An alias counts as all values that it stands for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from kafkadouble.common.errors import UsageError
from kafkadouble.wire.plain_values import TOO_LARGE, scalar_fault

from .document import DEEPEST, FilePosition, ScenarioDocument, ValuePath, excess, problem_at

try:
    import yaml
    from yaml.composer import Composer, ComposerError
    from yaml.events import AliasEvent
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode
except ImportError:
    raise UsageError(
        "a scenario in YAML needs PyYAML: pip install 'kafkadouble[scenario]'; one in TOML needs nothing"
    ) from None

SCHEMA = "tag:yaml.org,2002:"
STRING, SEQUENCE, MAPPING = f"{SCHEMA}str", f"{SCHEMA}seq", f"{SCHEMA}map"
MERGE = "<<"
LIBYAML_TOO_DEEP = "exceeded maximum nesting depth"
"""What libyaml says from 0.2.6 on, when it looks 1000 levels ahead."""

CORE: dict[str, tuple[re.Pattern[str], Callable[[str], Any]]] = {
    f"{SCHEMA}null": (re.compile(r"|~|null|Null|NULL"), lambda text: None),
    f"{SCHEMA}bool": (re.compile(r"true|True|TRUE|false|False|FALSE"), lambda text: text.lower() == "true"),
    f"{SCHEMA}int": (
        re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"),
        lambda text: int(text, 0) if text[:2] in ("0o", "0x") else int(text),
    ),
    f"{SCHEMA}float": (
        re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"),
        lambda text: float(text.lower().replace(".inf", "inf").replace(".nan", "nan")),
    ),
}
"""By tag: what a plain text of this type looks like, and its value. The first that fits counts."""


class _Nodes(Composer):
    """The node of a text. libyaml parses it if PyYAML has that, which is four times as fast."""

    def __init__(self, text: str) -> None:
        super().__init__()
        fast = getattr(yaml, "CSafeLoader", None)
        self._events: Any = yaml.SafeLoader(text) if fast is None else fast(text)
        self._depth = self._count = 0

    def check_event(self, *choices: Any) -> Any:
        return self._events.check_event(*choices)

    def peek_event(self) -> Any:
        return self._events.peek_event()

    def get_event(self) -> Any:
        return self._events.get_event()

    def descend_resolver(self, *_: Any) -> None:
        """No tag depends on where a node is."""

    def ascend_resolver(self) -> None:
        """No tag depends on where a node is."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is not ScalarNode:
            return SEQUENCE if kind is SequenceNode else MAPPING
        is_plain = implicit[0]
        return next((tag for tag, (form, _) in CORE.items() if is_plain and form.fullmatch(value)), STRING)

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._depth += 1
        self._count += not self.check_event(AliasEvent)
        # There are as many keys as values, at most.
        if problem := excess(self._count // 2, self._depth):
            raise ComposerError(None, None, problem, self.peek_event().start_mark)
        node: Any = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Values:
    """Makes plain values of nodes."""

    def __init__(self, file: str) -> None:
        self._file, self._count = file, 0

    def of(self, node: Any, depth: int = 1) -> Any:
        self._count += 1
        if problem := excess(self._count, depth):
            raise self._problem(node, problem)
        if node.tag == MAPPING and isinstance(node, MappingNode):
            return self._mapping(node, depth)
        if node.tag == SEQUENCE and isinstance(node, SequenceNode):
            return [self.of(each, depth + 1) for each in node.value]
        if not isinstance(node, ScalarNode) or node.tag not in (STRING, *CORE):
            raise self._problem(node, f"the tag {node.tag.replace(SCHEMA, '!!')} means nothing here")
        value = node.value if node.tag == STRING else self._scalar(node)
        if fault := scalar_fault(value):
            raise self._problem(node, fault)
        return value

    def _scalar(self, node: Any) -> Any:
        form, convert = CORE[node.tag]
        if not form.fullmatch(node.value):
            raise self._problem(node, f"{node.value!r} is not of the type {node.tag.replace(SCHEMA, '!!')}")
        try:
            return convert(node.value)
        except ValueError:  # Python refuses thousands of digits
            raise self._problem(node, TOO_LARGE) from None

    def _mapping(self, node: Any, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise self._problem(key, "a key is a text")
            if key.value == MERGE and not key.style:
                raise self._problem(key, "YAML 1.2 has no merge key <<: write the fields, or an alias of the whole")
            if fault := scalar_fault(key.value):
                raise self._problem(key, fault)
            if key.value in made:
                raise self._problem(key, f"the key {key.value!r} is there twice")
            made[key.value] = self.of(value, depth + 1)
        return made

    def _problem(self, node: Any, text: str) -> UsageError:
        return problem_at(self._file, _position(node.start_mark), text)


def parse(file: str, text: str) -> ScenarioDocument:
    """The values of a text in YAML. Raises UsageError if it is not YAML. An empty text has no
    sections."""
    try:
        node: Any = _Nodes(text).get_single_node()
    except yaml.MarkedYAMLError as problem:
        raise problem_at(file, _position(problem.problem_mark or problem.context_mark), _said(problem)) from None
    except yaml.YAMLError as problem:
        raise problem_at(file, _of_reader(problem, text), f"not YAML: {getattr(problem, 'reason', problem)}") from None
    if node is None:
        return ScenarioDocument(file, {}, lambda path, of_key: FilePosition(1, 1))
    return ScenarioDocument(file, _Values(file).of(node), partial(_locate, node))


def _said(problem: yaml.MarkedYAMLError) -> str:
    said = problem.problem or problem.context or "it cannot be read"
    if said == LIBYAML_TOO_DEEP:
        return str(excess(0, DEEPEST + 1))
    return said if isinstance(problem, ComposerError) else f"not YAML: {said}"


def _position(mark: Any) -> FilePosition:
    return FilePosition(1, 1) if mark is None else FilePosition(mark.line + 1, mark.column + 1)


def _of_reader(problem: yaml.YAMLError, text: str) -> FilePosition:
    """The position of a character that YAML does not allow, such as a null."""
    offset = int(getattr(problem, "position", None) or 0)
    before = text.encode()[:offset].decode(errors="replace")
    return FilePosition(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _locate(node: Any, path: ValuePath, of_key: bool) -> FilePosition:
    found = node
    for step in path:
        if isinstance(found, MappingNode):
            pair = next((pair for pair in found.value if pair[0].value == step), None)
            if pair is None:
                break
            key, found = pair
        elif isinstance(found, SequenceNode) and isinstance(step, int) and step < len(found.value):
            key = found = found.value[step]
        else:
            break
    else:
        return _position((key if of_key and path else found).start_mark)
    return _position(found.start_mark)
