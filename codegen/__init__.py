"""Generates Python modules from message specifications. It is not installed and does not import
kafkadouble.

`python -m codegen` writes `messages/generated/`; `python -m codegen --check` lists stale files. The
stages are `spec` (text to a checked model), `layout` (model and version to wire operations),
`reading`, `writing` and `classes` (operations to Python), `module` (one file).
"""
