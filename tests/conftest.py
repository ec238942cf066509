"""Settings and fixtures for all tests."""

import asyncio
import gc
import importlib
import inspect
import pkgutil
from collections.abc import Generator, Iterator

import pytest
from hypothesis import settings

from kafkadouble import server
from tests.support.garbage import freeze_between_modules
from tests.support.setting_reads import checked_reads

# The time of an example depends on the load of the machine, so there is no deadline.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects all tests without the garbage collector, which took two fifths of that time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """The items of all tests are half a million objects that stay. Each full collection would
    traverse them, which took a tenth of the time of all tests."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Runs a test that is a coroutine in an event loop of its own, for at most 30 seconds."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**arguments), 30))
    return True


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    freeze_between_modules(item, nextitem)


OF_CERTIFICATES = (
    "cryptography.x509",
    "cryptography.hazmat.primitives.asymmetric.ec",
    "cryptography.hazmat.primitives.serialization.pkcs12",
)


@pytest.fixture(scope="session")
def broker_imported() -> None:
    """Imports every module of the broker before a test uses pytester, which after each test unloads
    the modules that were imported meanwhile. A class would exist twice without this, and tables
    whose keys are classes would not find the second one. Compiled parts of `cryptography` keep its
    first classes.
    """
    for module in pkgutil.walk_packages(server.__path__, f"{server.__name__}."):
        importlib.import_module(module.name)
    for name in (
        "kafkadouble.double",
        "kafkadouble.rules.rule_handle",
        "kafkadouble.scenario.files.yaml_form",
        *OF_CERTIFICATES,
    ):
        importlib.import_module(name)


@pytest.fixture
def pytester(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A suite whose output is the same on every machine: pytest cuts the lines of its summary to
    the width of the terminal, but leaves them whole where a variable says that it runs in CI."""
    for name in ("CI", "BUILD_NUMBER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    return pytester


@pytest.fixture(scope="session", autouse=True)
def _no_reads_of_settings_without_effect() -> Iterator[None]:
    """Fails a test in which code reads a setting that is listed as one that nothing reads."""
    with checked_reads():
        yield
