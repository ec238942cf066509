"""The three clients in Python as programs: `python -m interop.programs.python CLIENT VERB BOOTSTRAP
TOPIC GROUP`."""
