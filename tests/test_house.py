"""The structure of the repository: layers and their links, generated files, and what the tree may
contain."""

import ast
import re
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parent.parent
FLOORS = ("wire", "messages", "server", "pipeline")
BARE_IMPORT = re.compile(rf"^\s*(?:from|import) ({'|'.join(FLOORS)})(?:\.|\s|$)", re.MULTILINE)
TREES = (
    *FLOORS,
    "binary",
    "checks",
    "codegen",
    "src/kafkadouble",
    "tests",
    "interop",
    "helpers",
    "benchmarks",
    "examples",
)


def sources(*trees: str) -> list[Path]:
    return [path for tree in trees for path in sorted((HOUSE / tree).rglob("*.py")) if "__pycache__" not in path.parts]


@pytest.mark.parametrize("floor", FLOORS)
def test_every_floor_is_linked_into_the_package(floor: str) -> None:
    link = HOUSE / "src" / "kafkadouble" / floor
    assert link.is_symlink()
    assert link.readlink() == Path("..", "..", floor)
    assert (HOUSE / floor / "__init__.py").is_file()


def test_packages_are_imported_as_kafkadouble_packages() -> None:
    wrong = [path for path in sources(*TREES) if BARE_IMPORT.search(path.read_text())]
    assert wrong == []


def test_no_test_module_imports_another() -> None:
    """Code that tests share is in a module beside them, so that no test depends on another."""
    imports = re.compile(r"^\s*(?:from|import) [^#\n]*\btest_\w+", re.MULTILINE)
    found = {
        path.relative_to(HOUSE).as_posix(): imports.findall(path.read_text()) for path in sources("tests", "interop")
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_tests_do_not_import_interop_which_imports_only_their_support() -> None:
    """One direction: what both need is in `tests/support`."""
    outside = re.compile(r"^\s*(?:from|import) tests\b(?!\.support\b| import support\b)", re.MULTILINE)
    upwards = re.compile(r"^\s*(?:from|import) interop\b", re.MULTILINE)
    wrong = [path for path in sources("tests") if upwards.search(path.read_text())]
    wrong += [path for path in sources("interop") if outside.search(path.read_text())]
    assert wrong == []


def front_door() -> list[Path]:
    return [path for path in sources("src/kafkadouble") if path.parts[-2] != "generated" and not path.is_symlink()]


def test_an_import_inside_a_function_of_the_front_door_says_why() -> None:
    """At the end of the line, or above it for the imports that follow."""
    wrong = []
    for path in front_door():
        lines = path.read_text().splitlines()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                imports = [each for each in ast.walk(node) if isinstance(each, ast.Import | ast.ImportFrom)]
                wrong += [f"{path}:{each.lineno}" for each in imports if not _says_why(lines, each.lineno - 1)]
    assert wrong == []


def _says_why(lines: list[str], at: int) -> bool:
    above = at - 1
    while lines[above].strip().startswith(("from ", "import ")):
        above -= 1
    return "  # " in lines[at] or lines[above].strip().startswith("# ") or lines[at].rstrip().endswith("(")


def test_only_a_double_reads_its_own_private_attributes() -> None:
    """Others ask for its host, `host_of(kafka)`."""
    private = re.compile(r"\b(?:kafka|double)\._\w+")
    found = {
        f"{path.relative_to(HOUSE)}: {read}" for path in front_door() for read in private.findall(path.read_text())
    }
    assert found == {
        "src/kafkadouble/host/host.py: double._apply_scenario",
        "src/kafkadouble/host/host.py: double._double_host",
        "src/kafkadouble/external/real_kafka.py: kafka._remote",
    }


def test_generated_code_is_fresh() -> None:
    done = subprocess.run([sys.executable, "-m", "codegen", "--check"], cwd=HOUSE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_press_imports_nothing_of_ours() -> None:
    wrong = [
        path
        for path in sources("codegen")
        if re.search(r"^\s*(from|import) kafkadouble", path.read_text(), re.MULTILINE)
    ]
    assert wrong == []


def test_only_the_shell_touches_sockets_threads_and_the_clock() -> None:
    """Among the layers, only the modules in `shell` may import these; tests and the front door are
    outside."""
    shell = {
        "listener.py",
        "acceptor.py",
        "handshakes.py",
        "handshake_turns.py",
        "tls_outgoing.py",
        "connection_protocol.py",
        "outgoing.py",
        "peers.py",
        "peer_connection.py",
        "peer_login.py",
        "key_fetches.py",
        "http_get.py",
        "shaped_connection.py",
        "thread.py",
        "turns.py",
        "watches.py",
        "cluster.py",
        "clock.py",
    }
    modules = "(?:asyncio|socket|ssl|threading|time|selectors|datetime)"
    forbidden = re.compile(rf"^\s*(?:from|import) {modules}\b", re.MULTILINE)
    wrong = [
        path
        for path in sources("wire", "messages", "server")
        if not (path.parent.name == "network" and path.name in shell) and forbidden.search(_without_contexts(path))
    ]
    assert wrong == []


def _without_contexts(path: Path) -> str:
    """The text, without the import of `ssl` where contexts are made of key stores, or typed: only
    the shell gives them sockets."""
    text = path.read_text()
    makes_contexts = path.parent.name == "tls"
    return text.replace("import ssl\n", "") if makes_contexts or path.name == "peer_security.py" else text


def test_every_module_logs_by_the_logger_that_escapes_text_of_clients() -> None:
    """The others configure loggers, and log nothing by them."""
    configuring = {
        "server/broker/broker_loggers.py",
        "src/kafkadouble/cli/observe.py",
        "src/kafkadouble/cli/serving/log_lines.py",
        "src/kafkadouble/double.py",
        "wire/client_log.py",
    }
    found = {
        path.relative_to(HOUSE).as_posix()
        for path in sources("wire", "messages", "server", "pipeline", "src/kafkadouble")
        if "logging.getLogger(" in path.read_text() and not {*path.relative_to(HOUSE).parts[2:3]} & {*FLOORS}
    }
    assert found == configuring


def test_near_misses_are_found_by_a_single_module() -> None:
    found = {
        path.relative_to(HOUSE).as_posix()
        for path in sources("wire", "messages", "server", "pipeline", "src/kafkadouble")
        if "difflib" in path.read_text() and not {*path.relative_to(HOUSE).parts[2:3]} & {*FLOORS}
    }
    assert found == {"server/configs/did_you_mean.py"}


def test_sasl_logins_are_made_by_a_single_package() -> None:
    found = {
        path.relative_to(HOUSE).as_posix()
        for path in sources("server", "pipeline", "src/kafkadouble")
        if re.search(r"Sasl(Handshake|Authenticate)Request\(", path.read_text())
        and not {*path.relative_to(HOUSE).parts[2:3]} & {*FLOORS}
    }
    assert found == {"server/client/sasl_login.py"}


def test_no_hand_written_file_is_a_wall() -> None:
    tall = {
        path.relative_to(HOUSE).as_posix(): count
        for path in sources(*TREES)
        if "generated" not in path.parts and (count := len(path.read_text().splitlines())) > 400
    }
    assert tall == {}


def rows_of_house(head: str) -> list[list[str]]:
    """The cells of the table in docs/house.md that has this head."""
    lines = iter((HOUSE / "docs" / "house.md").read_text().splitlines())
    next(line for line in lines if line.startswith(head))
    next(lines)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in takewhile(bool, lines)]


def test_the_map_has_every_room_of_the_server_in_the_order_of_the_layers() -> None:
    rooms = [re.findall(r"`(\w+)[/.]", first)[0] for first, *_ in rows_of_house("| package |")]
    layers = re.findall(r'"kafkadouble\.server\.(\w+)",', (HOUSE / "pyproject.toml").read_text())
    there = {path.stem for path in (HOUSE / "server").iterdir() if path.name[0] not in "._"} - {
        "__init__",
        "__pycache__",
    }
    assert rooms == list(dict.fromkeys(layers))
    assert set(rooms) == there


def test_the_files_that_the_map_names_are_there() -> None:
    for what, where in rows_of_house("| to find |"):
        folder = Path()
        for name in re.findall(r"`([\w/.]+)`", where):
            folder = Path(name).parent if "/" in name else folder
            assert (HOUSE / folder / Path(name).name).is_file(), f"{what}: {name}"
