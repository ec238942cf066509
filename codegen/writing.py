"""Generates Python code that encodes layouts: one straight-line function `(m, w)` for each distinct
layout; `w` is `append` of a list of buffers.

The generated code is fast because one `pack` writes a whole run of fixed values, lengths, arrays of
numbers and the empty tag section. Only strings, bytes and records are appended on their own,
without a copy. A wrong value raises an error of Python or of the package `wire`; the caller then
finds the field slowly (`messages.unfit`).
"""

from __future__ import annotations

from .layout import Array, Fixed, Layout, Nested, Op, Variable
from .literals import differs
from .model import FieldSpec, MessageSpec
from .runs import Numbers, Run, Value, arguments, condition, template
from .source import Lines, Pool

PRIMITIVES = "kafkadouble.wire.primitives"
VARINT = "kafkadouble.wire.varint"
TAGGED = "kafkadouble.wire.tagged"


def writer(pool: Pool, message: MessageSpec, layout: Layout) -> str:
    """The body of the function that writes this layout."""
    emitter = _Writer(pool, message)
    emitter.struct(layout, "m")
    emitter.flush()
    return emitter.out.text() or "    pass\n"


class _Writer:
    def __init__(self, pool: Pool, message: MessageSpec) -> None:
        self.pool = pool
        self.message = message
        self.out = Lines(depth=1)
        self._pending: Run = []
        self._count = 0

    def name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    # Runs: collected, then written by one pack.

    def take(self) -> Run:
        run, self._pending = self._pending, []
        return run

    def flush(self) -> None:
        run = self.take()
        limits = condition(run)
        if not limits:
            self.put(run)
            return
        with self.out.block(f"if {limits}:"):
            self.put(run)
        with self.out.block("else:"):
            self.put_plain(run)

    def put(self, run: Run) -> None:
        """One pack for the whole run."""
        arrays = [item for item in run if isinstance(item, Numbers)]
        if not arrays:
            if run:
                self.out(f"w({self.packed(run)})")
            return
        counts = ", ".join(array.count for array in arrays)
        shapes = self.pool.shapes("".join(template(item) for item in run))
        values = ", ".join(arguments(item) for item in run)
        self.out(f"w({shapes}[{counts}]({values}))")

    def put_plain(self, run: Run) -> None:
        """One pack for each run between arrays, and a helper for each array: for nulls and long
        arrays."""
        between: Run = []
        for item in run:
            if isinstance(item, Value):
                between.append(item)
                continue
            self.put(between)
            between = []
            helper = self.pool.helper(PRIMITIVES, "write_numbers" if item.compact else "write_plain_numbers")
            self.out(f'{helper}(w, {item.value}, "{item.letter}")')
        self.put(between)

    def packed(self, run: Run) -> str:
        if len(run) == 1 and run[0].letter == "B" and run[0].value.isidentifier():
            return f"{self.pool.helper(VARINT, 'ONE_BYTE')}[{run[0].value}]"
        if len(run) == 1 and run[0] == Value("B", "0"):
            return 'b"\\0"'
        letters = "".join(item.letter for item in run)
        return f"{self.pool.pack(letters)}({', '.join(item.value for item in run)})"

    # Values.

    def value(self, op: Op, value: str) -> None:
        if isinstance(op, Fixed):
            self.fixed(op, value)
        elif isinstance(op, Variable):
            self.variable(op, value)
        elif isinstance(op, Array):
            self.array(op, value)
        else:
            self.nested(op, value)

    def fixed(self, op: Fixed, value: str) -> None:
        if op.letter == "16s":
            name = self.name("x")
            self.out(f"{name} = {value}")
            with self.out.block(f"if len({name}) != 16:"):
                self.out(f"{self.pool.helper(PRIMITIVES, 'refuse_uuid')}()")
            value = name
        self._pending.append(Value("B" if op.letter == "?" else op.letter, value))

    def variable(self, op: Variable, value: str) -> None:
        content, size = self.name("x"), self.name("n")
        if op.nullable:
            with self.out.block(f"if ({content} := {value}) is None:"):
                self.out(f"{size} = {0 if op.compact else -1}", f'{content} = b""')
            with self.out.block("else:"):
                self.content(op, content, content, size)
        else:
            self.content(op, value, content, size)
        self.length(op.compact, "text" if op.field.type == "string" else "bytes", size)
        self.out(f"w({content})")

    def content(self, op: Variable, value: str, content: str, size: str) -> None:
        """Puts the bytes of a value that is not null into the variable `content`, and its length
        into `size`."""
        if op.field.type == "string":
            self.out(f"{content} = {value}.encode()")
        else:
            if value != content:
                self.out(f"{content} = {value}")
            with self.out.block(f"if {content}.__class__ is not bytes:"):
                self.out(f"{content} = {self.pool.helper(PRIMITIVES, 'buffer')}({content})")
        self.out(f"{size} = len({content}) + 1" if op.compact else f"{size} = len({content})")

    def length(self, compact: bool, kind: str, size: str) -> None:
        """Writes the pending values and the length. When compact, `size` is length + 1; a helper
        writes it when it does not fit in one byte."""
        if not compact:
            self._pending.append(Value("h" if kind == "text" else "i", size))
            self.flush()
            return
        run = self.take()
        limits = " and ".join(filter(None, [f"{size} < 128", condition(run)]))
        with self.out.block(f"if {limits}:"):
            self.put([*run, Value("B", size)])
        with self.out.block("else:"):
            self.put_plain(run)
            helper = "text_size" if kind == "text" else "size"
            self.out(f"w({self.pool.helper(PRIMITIVES, helper)}({size}))")

    def nested(self, op: Nested, value: str) -> None:
        name = self.name("x")
        if op.marker == "int8":
            self.flush()
        self.out(f"{name} = {value}")
        if not op.marker:
            self.default_struct(op, name)
            self.struct(op.layout, name)
            return
        with self.out.block(f"if {name} is None:"):
            self.out('w(b"\\xff")' if op.marker == "int8" else 'w(b"\\0")')
        with self.out.block("else:"):
            self._pending.append(Value("B", "1"))
            self.struct(op.layout, name)
            self.flush()

    def default_struct(self, op: Nested, name: str) -> None:
        if not op.field.lazy or op.field.struct is None or op.layout.version in op.field.tagged:
            return  # a tagged struct is written only when it is not null
        default = self.pool.default_struct(f"{self.message.name}.{op.field.struct.name}")
        with self.out.block(f"if {name} is None:"):
            self.out(f"{name} = {default}")

    # Arrays.

    def array(self, op: Array, value: str) -> None:
        name, size = self.name("x"), self.name("n")
        self.out(f"{name} = {value}")
        if isinstance(op.element, Fixed) and op.element.letter != "16s":
            self.out(f"{size} = -1 if {name} is None else len({name})" if op.nullable else f"{size} = len({name})")
            letter = "B" if op.element.letter == "?" else op.element.letter
            self._pending.append(Numbers(letter, name, size, op.compact, op.nullable))
            return
        more = " + 1" if op.compact else ""
        null = f"{0 if op.compact else -1} if {name} is None else " if op.nullable else ""
        self.out(f"{size} = {null}len({name}){more}")
        self.length(op.compact, "count", size)
        if not op.nullable:
            self.elements(op, name)
            return
        with self.out.block(f"if {name}:"):
            self.elements(op, name)

    def elements(self, op: Array, name: str) -> None:
        if isinstance(op.element, Fixed):
            self.out(f"w({self.pool.helper(PRIMITIVES, 'join_uuids')}({name}))")
            return
        if isinstance(op.element, Variable):
            with self.out.block(f"if {name}.__class__ is str:"):
                self.out(f"{self.pool.helper(PRIMITIVES, 'refuse_text')}()")
        item = self.name("e")
        with self.out.block(f"for {item} in {name}:"):
            if isinstance(op.element, Variable):
                self.variable(op.element, item)
            else:
                self.struct(op.element, item)
                self.flush()

    # Structs.

    def struct(self, layout: Layout, name: str) -> None:
        """Writes the fields of the object `name`; a last run may stay pending, except after a tag
        section."""
        self.refuse_absent([field for field in layout.absent if not field.ignorable], layout, name)
        for op in layout.ops:
            self.value(op, f"{name}.{op.field.slot}")
        if layout.flexible:
            self.tag_section(layout, name)

    def refuse_absent(self, fields: list[FieldSpec], layout: Layout, name: str) -> None:
        conditions = [self.differs(field, name) for field in fields]
        if not layout.flexible:
            conditions.append(f"{name}.unknown_tagged_fields")
        if conditions:
            with self.out.block(f"if {' or '.join(conditions)}:"):
                self.out(f"{self.pool.helper(PRIMITIVES, 'refuse_absent')}()")

    def differs(self, field: FieldSpec, name: str) -> str:
        return differs(field, f"{name}.{field.slot}", self.pool, self.message)

    def tag_section(self, layout: Layout, name: str) -> None:
        run = self.take()
        conditions = [self.differs(op.field, name) for op in layout.tags]
        written = " or ".join([*conditions, f"{name}.unknown_tagged_fields"])
        limits = condition(run)
        if not limits:
            with self.out.block(f"if {written}:"):
                self.put(run)
                self.tags(layout, name, conditions)
            with self.out.block("else:"):
                self.put([*run, Value("B", "0")])
            return
        with self.out.block(f"if {limits} and not ({written}):"):
            self.put([*run, Value("B", "0")])
        with self.out.block("else:"):
            self.put_plain(run)
            self.tags(layout, name, conditions)

    def tags(self, layout: Layout, name: str, conditions: list[str]) -> None:
        """Writes the tag section. Each tagged field that differs from its default is first written
        to a separate list."""
        section = self.name("tags")
        self.out(f"{section} = {{}}")
        for op, differing in zip(layout.tags, conditions, strict=True):
            with self.out.block(f"if {differing}:"):
                outer = self.name("w")
                self.out(f"{outer} = w", f"{section}[{op.field.tag}] = []", f"w = {section}[{op.field.tag}].append")
                self.value(op, f"{name}.{op.field.slot}")
                self.flush()
                self.out(f"w = {outer}")
        known = tuple(op.field.tag for op in layout.tags)
        self.out(f"{self.pool.helper(TAGGED, 'write_tags')}(w, {section}, {name}.unknown_tagged_fields, {known})")
