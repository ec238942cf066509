"""The control port without verbs: HTTP, who may call, bodies, problems, streams."""
