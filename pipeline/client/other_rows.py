"""The settings of Kafka's clients that have no effect here: a row for each, with its treatment.

Rows only: name, the kind of client (consumer, producer or every client), treatment, and the values
that are accepted without a warning because this client does that anyway (`empty` for no text, `-`
for none). `refused`: the setting would change which records are read, where records go, or the
identity of the client. `no-effect`: a warning, once per process.
"""

OTHERS = """
allow.auto.create.topics  consumer  no-effect  false
    Reading never creates a topic.
auto.commit.interval.ms  consumer  no-effect  -
    Nothing is committed in the background.
auto.include.jmx.reporter  client  no-effect  empty
    No metrics are kept.
auto.offset.reset  consumer  refused  none
    A read begins where the caller says; an offset that does not exist is an error.
bootstrap.resolve.timeout.ms  client  no-effect  -
    retry.backoff.ms and retry.backoff.max.ms say how long to wait before another attempt.
buffer.memory.allocation.strategy  producer  no-effect  -
    The system allocates memory.
check.crcs  consumer  no-effect  true
    Checksums are always checked.
client.dns.lookup  client  no-effect  use_all_dns_ips
    Every address of a host is tried.
config.providers  client  refused  empty
    Values are used as they are, so a placeholder would be the value itself.
enable.auto.commit  consumer  no-effect  false
    Nothing is committed in the background.
enable.metrics.push  client  no-effect  false
    No metrics are kept.
group.id  consumer  no-effect  -
    No group is joined.
group.instance.id  consumer  no-effect  -
    No group is joined.
group.protocol  consumer  no-effect  -
    No group is joined.
group.remote.assignor  consumer  no-effect  -
    No group is joined.
heartbeat.interval.ms  consumer  no-effect  -
    No group is joined.
interceptor.classes  client  refused  empty
    An interceptor could change what is read or written, and it is a Java class.
internal.throw.on.fetch.stable.offset.unsupported  consumer  no-effect  -
    No group is joined.
key.deserializer  consumer  refused  org.apache.kafka.common.serialization.ByteArrayDeserializer
    Keys and values are bytes.
key.serializer  producer  refused  org.apache.kafka.common.serialization.ByteArraySerializer
    Keys and values are bytes.
linger.ms  producer  no-effect  0
    The caller makes the batches.
max.block.ms  producer  no-effect  -
    default.api.timeout.ms and delivery.timeout.ms say how long a call may take.
max.in.flight.requests.per.connection  producer  no-effect  1
    One batch of each partition is in flight.
max.poll.interval.ms  consumer  no-effect  -
    No group is joined.
max.poll.records  consumer  no-effect  -
    Records come batch by batch.
metadata.cluster.check.enable  client  no-effect  false
    The cluster's id is not compared.
metadata.max.idle.ms  producer  no-effect  -
    A topic is removed from the metadata when 10,000 other topics were used after it.
metadata.recovery.rebootstrap.trigger.ms  client  no-effect  -
    bootstrap.servers are used again when no known broker answers.
metadata.recovery.strategy  client  no-effect  rebootstrap
    bootstrap.servers are used again when no known broker answers.
metric.reporters  client  no-effect  empty
    No metrics are kept.
metrics.num.samples  client  no-effect  empty
    No metrics are kept.
metrics.recording.level  client  no-effect  empty
    No metrics are kept.
metrics.sample.window.ms  client  no-effect  empty
    No metrics are kept.
partition.assignment.strategy  consumer  no-effect  -
    No group is joined.
partitioner.adaptive.partitioning.enable  producer  no-effect  false
    Rows without a key go to all partitions in turn.
partitioner.availability.timeout.ms  producer  no-effect  false
    Rows without a key go to all partitions in turn.
partitioner.class  producer  refused  empty
    It would change where rows go, and it is a Java class: give the partition of a row instead.
partitioner.rack.aware  producer  no-effect  false
    Rows without a key go to all partitions in turn.
reconnect.backoff.max.ms  client  no-effect  -
    retry.backoff.ms and retry.backoff.max.ms say how long to wait before another attempt.
reconnect.backoff.ms  client  no-effect  -
    retry.backoff.ms and retry.backoff.max.ms say how long to wait before another attempt.
sasl.client.callback.handler.class  client  refused  empty
    A Java class cannot authenticate the client: give sasl.jaas.config, or sasl.username and sasl.password.
sasl.kerberos.kinit.cmd  client  no-effect  -
    Kerberos is not supported.
sasl.kerberos.min.time.before.relogin  client  no-effect  -
    Kerberos is not supported.
sasl.kerberos.service.name  client  no-effect  -
    Kerberos is not supported.
sasl.kerberos.ticket.renew.jitter  client  no-effect  -
    Kerberos is not supported.
sasl.kerberos.ticket.renew.window.factor  client  no-effect  -
    Kerberos is not supported.
sasl.login.callback.handler.class  client  refused  empty
    A Java class cannot authenticate the client: give sasl.jaas.config, or sasl.username and sasl.password.
sasl.login.class  client  refused  empty
    A Java class cannot authenticate the client: give sasl.jaas.config, or sasl.username and sasl.password.
sasl.login.connect.timeout.ms  client  no-effect  -
    A token is read from its file for each connection.
sasl.login.read.timeout.ms  client  no-effect  -
    A token is read from its file for each connection.
sasl.login.refresh.buffer.seconds  client  no-effect  -
    A token is read from its file for each connection.
sasl.login.refresh.min.period.seconds  client  no-effect  -
    A token is read from its file for each connection.
sasl.login.refresh.window.factor  client  no-effect  -
    A token is read from its file for each connection.
sasl.login.refresh.window.jitter  client  no-effect  -
    A token is read from its file for each connection.
sasl.login.retry.backoff.max.ms  client  no-effect  -
    A token is read from its file for each connection.
sasl.login.retry.backoff.ms  client  no-effect  -
    A token is read from its file for each connection.
sasl.oauthbearer.allow.unverified.audience  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.allow.unverified.issuer  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.algorithm  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.claim.aud  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.claim.exp.seconds  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.claim.iss  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.claim.jti.include  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.claim.nbf.seconds  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.claim.sub  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.file  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.private.key.file  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.private.key.passphrase  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.assertion.template.file  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.client.credentials.client.id  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.client.credentials.client.secret  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.clock.skew.seconds  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.expected.audience  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.expected.issuer  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.header.urlencode  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.jwks.endpoint.refresh.ms  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.jwks.endpoint.url  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.jwt.retriever.class  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.jwt.validator.class  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.scope  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.scope.claim.name  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
sasl.oauthbearer.sub.claim.name  client  no-effect  -
    The token comes from a file: it is not requested, created or verified here.
security.providers  client  no-effect  empty
    It is for a Java virtual machine.
session.timeout.ms  consumer  no-effect  -
    No group is joined.
share.acknowledgement.mode  consumer  no-effect  -
    No share group is joined.
share.acquire.mode  consumer  no-effect  -
    No share group is joined.
socket.connection.setup.timeout.max.ms  client  no-effect  -
    retry.backoff.ms and retry.backoff.max.ms say how long to wait before another attempt.
ssl.engine.factory.class  client  refused  empty
    A Java class cannot decide which certificates are trusted: give ssl.truststore.location.
ssl.keymanager.algorithm  client  no-effect  empty
    It is for a Java virtual machine.
ssl.protocol  client  no-effect  -
    ssl.enabled.protocols says which versions are offered.
ssl.provider  client  no-effect  empty
    It is for a Java virtual machine.
ssl.secure.random.implementation  client  no-effect  empty
    It is for a Java virtual machine.
ssl.trustmanager.algorithm  client  no-effect  empty
    It is for a Java virtual machine.
transaction.timeout.ms  producer  no-effect  -
    There are no transactions.
transaction.two.phase.commit.enable  producer  refused  empty,false
    There are no transactions.
transactional.id  producer  refused  empty,false
    There are no transactions.
value.deserializer  consumer  refused  org.apache.kafka.common.serialization.ByteArrayDeserializer
    Keys and values are bytes.
value.serializer  producer  refused  org.apache.kafka.common.serialization.ByteArraySerializer
    Keys and values are bytes.
"""
