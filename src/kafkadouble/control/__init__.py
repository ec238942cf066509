"""The control plane: every verb of a double over HTTP, for programs in any language.

`ControlServer(kafka)` serves it; it needs the extra `kafkadouble[control]`. The routes are a table
(`routes.py`), the verbs are those of the registry, and both make the OpenAPI description.
"""
