"""What `make lint` checks besides ruff: how the project writes, and the subjects of its commits.
Not shipped."""
