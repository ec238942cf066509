"""The press: message specifications in, Python modules out. It is not installed and imports nothing of kafkadouble.

`python -m codegen` writes `messages/generated/`; `python -m codegen --check` says which files are stale. The stages are
`spec` (text to a checked model), `layout` (model and version to wire operations), `reading`, `writing` and `classes`
(operations to Python), `module` (one file).
"""
