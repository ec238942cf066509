"""The handlers: a module per API, named for it in snake case.

A handler has `answer(node, request)`, as `requests/request.py` says, and `refuse(request, code,
message)`, the response in which everything that was asked for failed with that code. Which APIs are
served stands in `apis`. Modules are imported when the first request for them comes.
"""
