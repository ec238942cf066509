"""Generates Python code that decodes layouts: one straight-line function `(b, p) -> (message, p)`
for each distinct layout.

The generated code is fast because neighbouring fixed values and the length byte after them are
unpacked in one call. An array of numbers is one call. An array of fixed-size structs is one
iterator, if a strided slice shows that all tag sections are empty. Objects are created without
`__init__`. The generated code is safe because the position only grows. A read past the end raises,
or leaves the position past the end, and the caller checks the position once. A count above 127 is
compared with the number of remaining bytes. Rare cases call helpers of the package `wire`.
"""

from __future__ import annotations

from .layout import Array, Fixed, Layout, Nested, Op, Variable
from .literals import literal
from .model import SIZE, MessageSpec
from .source import Lines, Pool

PRIMITIVES = "kafkadouble.wire.primitives"
TAGGED = "kafkadouble.wire.tagged"
VARINT = "kafkadouble.wire.varint"


def reader(pool: Pool, message: MessageSpec, layout: Layout) -> str:
    """The body of the function that reads this layout."""
    emitter = _Reader(pool, message)
    if has_records(layout):
        emitter.out("view = memoryview(b)")
    emitter.struct(layout, "o")
    emitter.flush()
    emitter.out("return o, p")
    return emitter.out.text()


class _Reader:
    def __init__(self, pool: Pool, message: MessageSpec) -> None:
        self.pool = pool
        self.message = message
        self.out = Lines(depth=1)
        self._pending: list[tuple[str, str]] = []
        self._count = 0

    def name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def struct_class(self, layout: Layout) -> str:
        return class_name(self.message, layout)

    # Runs of fixed values: collected, then read in one call.

    def flush(self, last: tuple[str, str] | None = None) -> None:
        """Reads the pending values, and `last` (letter, target) after them."""
        run = [*self._pending, last] if last else self._pending
        self._pending = []
        if not run:
            return
        if len(run) == 1 and run[0][0] == "B":
            self.out(f"{run[0][1]} = b[p]", "p += 1")
            return
        letters = "".join(letter for letter, _ in run)
        targets = "".join(f"{target}, " for _, target in run)
        self.out(f"{targets.strip() if len(run) == 1 else targets.rstrip(', ')} = {self.pool.unpack(letters)}(b, p)")
        self.out(f"p += {sum(SIZE[letter] for letter, _ in run)}")
        for letter, target in run:
            if letter == "16s":
                self.out(f"{target} = {self.uuid(target)}")

    def uuid(self, value: str) -> str:
        return f"{self.pool.helper('..uuid', 'as_uuid')}({value})"

    # Values.

    def value(self, op: Op, target: str) -> None:
        if isinstance(op, Fixed):
            self._pending.append((op.letter, target))
        elif isinstance(op, Variable):
            self.variable(op, target)
        elif isinstance(op, Array):
            self.array(op, target)
        else:
            self.nested(op, target)

    def variable(self, op: Variable, target: str) -> None:
        kind = "text" if op.field.type == "string" else "bytes"
        size = self.length(op, kind)
        if not op.nullable:
            self.content(op, size, target)
            return
        with self.out.block(f"if {size}:" if op.compact else f"if {size} >= 0:"):
            self.content(op, size, target)
        with self.out.block("else:"):
            self.out(f"{target} = None")

    def length(self, op: Variable | Array, kind: str) -> str:
        """Reads the length or count into a variable: length + 1 when compact, so that 0 is null;
        else negative for null."""
        size = self.name("n")
        if op.compact:
            self.flush(("B", size))
            limit = f"if {size} > 127:" if op.nullable else f"if not 0 < {size} < 128:"
            with self.out.block(limit):
                self.out(f"{size}, p = {self.long_length(op, kind)}(b, {size}, p)")
            return size
        self.flush(("h" if kind == "text" else "i", size))
        if kind == "count":
            with self.out.block(f"if {size} > 127:" if op.nullable else f"if not 0 <= {size} < 128:"):
                helper = "check_count_or_null" if op.nullable else "check_count"
                self.out(f"{self.pool.helper(PRIMITIVES, helper)}(b, {size}, p)")
        elif not op.nullable:
            with self.out.block(f"if {size} < 0:"):
                self.out(f"{self.pool.helper(PRIMITIVES, 'refuse_null')}()")
        return size

    def long_length(self, op: Variable | Array, kind: str) -> str:
        if not op.nullable:
            return self.pool.helper(PRIMITIVES, f"long_{kind}")
        if kind == "bytes":
            return self.pool.helper(VARINT, "more_uvarint")
        return self.pool.helper(PRIMITIVES, f"long_{kind}_or_null")

    def content(self, op: Variable, size: str, target: str) -> None:
        self.out(f"q = p + {size} - 1" if op.compact else f"q = p + {size}")
        form = {"string": "b[p:q].decode()", "bytes": "b[p:q]", "records": "view[p:q]"}[op.field.type]
        self.out(f"{target} = {form}", "p = q")

    def nested(self, op: Nested, target: str) -> None:
        if not op.marker:
            self.whole_struct(op.layout, target)
            return
        mark = self.name("n")
        if op.marker == "int8":
            self.flush(("b", mark))
        else:
            self.out(f"{mark}, p = {self.pool.helper(VARINT, 'read_uvarint')}(b, p)")
        with self.out.block(f"if {mark} < 0:" if op.marker == "int8" else f"if not {mark}:"):
            self.out(f"{target} = None")
        with self.out.block("else:"):
            self.whole_struct(op.layout, target)

    def whole_struct(self, layout: Layout, target: str) -> None:
        made = self.name("o")
        self.struct(layout, made)
        self.flush()
        self.out(f"{target} = {made}")

    # Arrays.

    def array(self, op: Array, target: str) -> None:
        if isinstance(op.element, Fixed) and op.element.letter != "16s":
            self.numbers(op, op.element, target)
            return
        size = self.length(op, "count")
        count, some, none = (f"{size} - 1", f"{size} > 1", f"not {size}") if op.compact else (size, size, f"{size} < 0")
        quick_empty = isinstance(op.element, Layout) and op.element.fixed
        if not op.nullable and not quick_empty:
            self.elements(op, count, target)
            return
        if op.nullable:
            with self.out.block(f"if {none}:"):
                self.out(f"{target} = None")
        if quick_empty:
            with self.out.block(f"{'elif' if op.nullable else 'if'} {some}:"):
                self.elements(op, count, target)
            with self.out.block("else:"):
                self.out(f"{target} = []")
            return
        with self.out.block("else:"):
            self.elements(op, count, target)

    def numbers(self, op: Array, element: Fixed, target: str) -> None:
        """An array of numbers as a tuple, in one call; short ones by a table of unpackers."""
        size = self.name("n")
        self.flush(("B" if op.compact else "i", size))
        letter = element.letter
        table = self.pool.helper(PRIMITIVES, f"unpack_{'o' if letter == '?' else letter}")
        condition, index = (f"0 < {size} < 128", size) if op.compact else (f"0 <= {size} < 127", f"{size} + 1")
        with self.out.block(f"if {condition}:"):
            count = f"{element.size} * {size}" if element.size > 1 else size
            self.out(
                f"{target} = {table}[{index}](b, p)",
                f"p += {count} - {element.size}" if op.compact else f"p += {count}",
            )
        helper = self.pool.helper(PRIMITIVES, "long_numbers" if op.compact else "plain_numbers")
        with self.out.block("else:"):
            self.out(f'{target}, p = {helper}(b, {size}, p, "{letter}", {op.nullable})')

    def elements(self, op: Array, count: str, target: str) -> None:
        if isinstance(op.element, Fixed):
            self.pool.helper("..uuid", "read_uuids")
            self.out(f"{target}, p = read_uuids(b, {count}, p)")
        elif isinstance(op.element, Layout):
            self.structs(op.element, count, target)
        else:
            rows, item = self.name("r"), self.name("e")
            self.out(f"{rows} = []")
            with self.out.block(f"for _ in range({count}):"):
                self.variable(op.element, item)
                self.out(f"{rows}.append({item})")
            self.out(f"{target} = tuple({rows})")

    def structs(self, layout: Layout, count: str, target: str) -> None:
        if not layout.fixed:
            self.struct_loop(layout, count, target)
            return
        size = sum(op.size for op in layout.ops if isinstance(op, Fixed)) + layout.flexible
        end = self.name("q")
        self.out(f"{end} = p + {size} * ({count})" if " " in count else f"{end} = p + {size} * {count}")
        if not layout.flexible:
            self.fixed_structs(layout, end, target)
            return
        with self.out.block(f"if not any(b[p + {size - 1}:{end}:{size}]):"):
            self.fixed_structs(layout, end, target)
        with self.out.block("else:"):
            self.struct_loop(layout, count, target)

    def fixed_structs(self, layout: Layout, end: str, target: str) -> None:
        """Reads structs of one size, when all their tag sections are empty."""
        fields = [op.field for op in layout.ops]
        letters = "".join(op.letter for op in layout.ops if isinstance(op, Fixed)) + ("x" if layout.flexible else "")
        rows = self.name("r")
        self.out(f"{target} = {rows} = []")
        with self.out.block(f"for row in {self.pool.iterate(letters)}(b[p:{end}]):"):
            self.out(f"e = _new({self.struct_class(layout)})")
            self.out(f"{', '.join(f'e.{field.slot}' for field in fields)}{',' if len(fields) == 1 else ''} = row")
            for field in fields:
                if field.type == "uuid":
                    self.out(f"e.{field.slot} = {self.uuid(f'e.{field.slot}')}")
            for field in layout.struct.fields:
                if field not in fields:
                    self.out(f"e.{field.slot} = {literal(field, self.pool, self.message)}")
            self.out("e.unknown_tagged_fields = None", f"{rows}.append(e)")
        self.out(f"p = {end}")

    def struct_loop(self, layout: Layout, count: str, target: str) -> None:
        rows, made = self.name("r"), self.name("o")
        self.out(f"{target} = {rows} = []")
        with self.out.block(f"for _ in range({count}):"):
            self.struct(layout, made)
            self.flush()
            self.out(f"{rows}.append({made})")

    # Structs.

    def struct(self, layout: Layout, made: str) -> None:
        """Makes the object `made` and reads its fields; a last run of fixed values may stay
        pending."""
        self.out(f"{made} = _new({self.struct_class(layout)})")
        for op in layout.ops:
            self.value(op, f"{made}.{op.field.slot}")
        if layout.flexible:
            self.tag_section(layout, made)
        for field in layout.absent:
            self.out(f"{made}.{field.slot} = {literal(field, self.pool, self.message)}")
        if not layout.flexible:
            self.out(f"{made}.unknown_tagged_fields = None")

    def tag_section(self, layout: Layout, made: str) -> None:
        count = self.name("t")
        self.flush(("B", count))
        for op in layout.tags:
            self.out(f"{made}.{op.field.slot} = {literal(op.field, self.pool, self.message)}")
        self.out(f"{made}.unknown_tagged_fields = None")
        with self.out.block(f"if {count}:"):
            if layout.tags:
                self.known_tags(layout, made, count)
            else:
                self.out(f"{made}.unknown_tagged_fields, p = {self.pool.helper(TAGGED, 'read_unknown')}(b, {count}, p)")

    def known_tags(self, layout: Layout, made: str, count: str) -> None:
        tag, end = self.name("tag"), self.name("end")
        with self.out.block(f"if {count} > 127:"):
            self.out(f"{count}, p = {self.pool.helper(VARINT, 'more_uvarint')}(b, {count}, p)")
        self.out(f"{tag} = -1")
        with self.out.block(f"for _ in range({count}):"):
            self.out(f"{tag}, {end}, p = {self.pool.helper(TAGGED, 'read_tag')}(b, p, {tag})")
            for number, op in enumerate(layout.tags):
                with self.out.block(f"{'elif' if number else 'if'} {tag} == {op.field.tag}:"):
                    self.value(op, f"{made}.{op.field.slot}")
                    self.flush()
            with self.out.block("else:"):
                self.out(f"{self.pool.helper(TAGGED, 'keep_unknown')}({made}, {tag}, b[p:{end}])", f"p = {end}")
            with self.out.block(f"if p != {end}:"):
                self.out(f"{self.pool.helper(TAGGED, 'refuse_size')}()")


def has_records(layout: Layout) -> bool:
    """Whether this version contains records."""
    return any(_holds_records(op) for op in (*layout.ops, *layout.tags))


def _holds_records(op: Op) -> bool:
    inner = op.layout if isinstance(op, Nested) else op.element if isinstance(op, Array) else None
    return op.field.type == "records" or (isinstance(inner, Layout) and has_records(inner))


def class_name(message: MessageSpec, layout: Layout) -> str:
    """The global name of a struct's class inside its generated module."""
    return message.name if layout.struct is message.struct else f"_{message.name}_{layout.struct.name}"
