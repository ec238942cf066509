"""What goes into the one binary of the program."""

from __future__ import annotations

from importlib import import_module

from binary.__main__ import libraries, modules


def test_the_binary_has_every_library_that_serve_uses() -> None:
    assert libraries() >= {"crc32c", "cramjam", "zstandard", "uvicorn", "starlette", "cryptography", "pyyaml"}
    assert {"crc32c", "cramjam", "zstandard", "uvicorn", "starlette", "cryptography", "yaml", "jwt"} <= {*modules()}


def test_the_libraries_of_the_binary_can_be_imported() -> None:
    for name in modules():
        import_module(name)
