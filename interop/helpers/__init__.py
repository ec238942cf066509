"""Runs the tests of the helper libraries of other languages, with the kafkadouble of this checkout:
`pytest interop/helpers`. A language whose tools are missing is skipped, with the reason."""
