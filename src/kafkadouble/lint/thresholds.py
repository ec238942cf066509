"""The thresholds of the lint, each with its reason. A false finding is worse than a missed one, so
each is far from what confluent-kafka, aiokafka and kafka-python do in normal use."""

BUSY_FETCHES = 100
"""So many empty fetches in a row, on one connection. Clients wait for records at the broker, by
default up to 500 ms: an idle consumer sends two fetches a second."""

BUSY_WAIT_MS = 50
"""A fetch with a larger `max_wait_ms` is not busy. A consumer of 20 fetches a second costs a broker
little."""

STORM_REQUESTS, STORM_MS = 15, 1000
"""So many Metadata requests for the same topics, on one connection, in so many ms. After an error
clients wait for `retry.backoff.ms`, 100 ms, so ten a second are normal until the error is over;
without an error they refresh every five minutes."""

EXPLAINED_MS = 2000
"""An error or a broken connection explains the Metadata requests of the client for so long."""

SHORT_CONNECTIONS, SHORT_CONNECTIONS_MS = 30, 30_000
"""So many connections with one request, of one client id, in so many ms. A suite of tests that
starts a client for each test opens fewer; a producer for each message opens more in a second."""

SINGLE_COMMITS, SINGLE_COMMITS_MS = 100, 5000
"""So many commits in a row that each move a partition by one offset, in so many ms. Below 20
commits a second a commit for each record is a choice, for records that take long."""

EARLY_MS = 100
"""A request that comes so long after a throttled answer was sent is not one that was under way. A
process that is busy may read an answer late."""
