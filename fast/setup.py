"""One C file, in Python's stable ABI: a wheel serves Python 3.11 and all that come after it."""

from setuptools import Extension, setup

setup(
    ext_modules=[Extension("kafkadouble_fast", ["kafkadouble_fast.c"], py_limited_api=True)],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
    py_modules=[],
)
