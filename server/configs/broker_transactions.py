"""Settings of a broker: transactions.

Rows only; `table.py` describes their format.
"""

ROWS = """
transaction.state.log.min.isr  int  2  high  >=1
    Least in-sync replicas of __transaction_state.
transaction.state.log.load.buffer.size  int  5242880  high  >=1
    Bytes read at once when transactions are loaded from their topic.
transaction.state.log.replication.factor  short  3  high  >=1
    Replicas of __transaction_state.
transaction.state.log.num.partitions  int  50  high  >=1
    Partitions of __transaction_state; a transactional id lives in the one that it hashes to.
transaction.state.log.segment.bytes  int  104857600  high  >=1
    Segment size of __transaction_state.
transaction.partition.verification.enable  boolean  true  low  cluster-wide
    Whether a transactional write is checked against the coordinator first.
transaction.max.timeout.ms  int  900000  high  >=1
    Longest transaction timeout that a producer may ask for (ms).
transaction.abort.timed.out.transaction.cleanup.interval.ms  int  10000  low  >=1
    Time between two searches for transactions to abort (ms).
transaction.remove.expired.transaction.cleanup.interval.ms  int  3600000  low  >=1
    Time between two searches for transactional ids to forget (ms).
transaction.two.phase.commit.enable  boolean  false  low
    Whether producers may take part in two-phase commits.
transactional.id.expiration.ms  int  604800000  high  >=1
    Disuse after which a transactional id is forgotten (ms).
add.partitions.to.txn.retry.backoff.ms  int  20  high  >=1
    First pause before the server adds partitions to a transaction again (ms).
add.partitions.to.txn.retry.backoff.max.ms  int  100  high  >=0
    Longest pause before the server adds partitions to a transaction again (ms).
"""
