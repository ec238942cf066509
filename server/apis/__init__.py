"""All facts of each API that is served: one row per API in `rows`. ApiVersions, dispatch,
forwarding, faults, captures, the authorizer and the docs read the rows. `served` has the APIs of
each kind of listener."""
