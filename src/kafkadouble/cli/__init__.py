"""The verbs of the command line, one module each. `main(words)` takes the words after the verb and
returns the exit code."""
