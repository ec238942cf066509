#include <stdio.h>
#include <string.h>

#include "client.h"

enum { PART = 10, PARTS = 3, COMMITTED = 20, PATIENCE = 30000, OFFSET = 5 };

/* Gives what an error of a transaction says, and ends it. */
static bool well(const char *what, rd_kafka_error_t *error)
{
    if (!error)
        return true;
    fail("%s: %s", what, rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    return false;
}

static bool one_part(rd_kafka_t *rk, const char *topic, int first, bool commit)
{
    if (!well("begin", rd_kafka_begin_transaction(rk)))
        return false;
    rd_kafka_queue_t *acks = rd_kafka_queue_get_main(rk);
    bool sent = send_all(rk, acks, topic, "none", first, first + PART);
    rd_kafka_queue_destroy(acks);
    if (!sent)
        return false;
    return commit ? well("commit", rd_kafka_commit_transaction(rk, PATIENCE))
                  : well("abort", rd_kafka_abort_transaction(rk, PATIENCE));
}

static rd_kafka_t *producer(const char *bootstrap, const char *id, const char *timeout_ms)
{
    const char *const pairs[] = {"transactional.id", id, "transaction.timeout.ms", timeout_ms, "linger.ms", "20", NULL};
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, bootstrap, pairs);
    if (!rk || well("init", rd_kafka_init_transactions(rk, PATIENCE)))
        return rk;
    rd_kafka_destroy(rk);
    return NULL;
}

static bool write_parts(const char *bootstrap, const char *topic)
{
    rd_kafka_t *rk = producer(bootstrap, topic, "60000");
    if (!rk)
        return false;
    bool fine = true;
    for (int part = 0; fine && part < PARTS; part++)
        fine = one_part(rk, topic, part * PART, part != 1);
    rd_kafka_destroy(rk);
    return fine;
}

static bool offset_in_transaction(rd_kafka_t *rk, rd_kafka_t *reader, const char *topic, int64_t offset, bool commit)
{
    rd_kafka_topic_partition_list_t *offsets = rd_kafka_topic_partition_list_new(1);
    rd_kafka_consumer_group_metadata_t *group = rd_kafka_consumer_group_metadata(reader);
    rd_kafka_topic_partition_list_add(offsets, topic, 0)->offset = offset;
    bool fine = well("begin", rd_kafka_begin_transaction(rk)) &&
                well("offsets", rd_kafka_send_offsets_to_transaction(rk, offsets, group, PATIENCE)) &&
                well("end", commit ? rd_kafka_commit_transaction(rk, PATIENCE) : rd_kafka_abort_transaction(rk, PATIENCE));
    rd_kafka_consumer_group_metadata_destroy(group);
    rd_kafka_topic_partition_list_destroy(offsets);
    return fine;
}

/* An offset of an aborted transaction, and then one of a committed transaction. */
static bool offsets(const char *bootstrap, rd_kafka_t *reader, const char *topic)
{
    rd_kafka_t *rk = producer(bootstrap, topic, "60000");
    if (!rk)
        return false;
    bool fine = offset_in_transaction(rk, reader, topic, 7, false) && offset_in_transaction(rk, reader, topic, OFFSET, true);
    rd_kafka_destroy(rk);
    long long sum = 0;
    /* librdkafka waits until the offset is stable: it reads what is committed */
    if (fine && (fine = committed(reader, topic, 1, &sum)) && sum != OFFSET)
        fine = fail("committed is %lld", sum);
    return fine;
}

/* Leaves a transaction open. */
static bool open_part(rd_kafka_t *rk, const char *topic)
{
    if (!rk || !well("begin", rd_kafka_begin_transaction(rk)))
        return false;
    rd_kafka_queue_t *acks = rd_kafka_queue_get_main(rk);
    bool sent = send_all(rk, acks, topic, "gzip", 0, PART);
    rd_kafka_queue_destroy(acks);
    return sent;
}

static bool refused(rd_kafka_t *rk)
{
    rd_kafka_error_t *error = rd_kafka_commit_transaction(rk, PATIENCE);
    if (!error)
        return fail("a fenced producer has committed");
    rd_kafka_error_destroy(error);
    return true;
}

/* A newer producer fences one; the broker aborts the transaction of the other, which held back what follows. */
static bool fenced(const char *bootstrap, rd_kafka_t *reader, const char *topic)
{
    rd_kafka_message_t *message = NULL;
    struct record one;
    char id[320];
    snprintf(id, sizeof id, "%s-late", topic);
    rd_kafka_t *zombie = producer(bootstrap, topic, "60000"), *late = producer(bootstrap, id, "5000"), *newer = NULL;
    bool fine = open_part(zombie, topic) && open_part(late, topic) && (newer = producer(bootstrap, topic, "60000")) &&
                one_part(newer, topic, PARTS * PART, true) && refused(zombie) && poll_record(reader, PATIENCE, &message, &one);
    if (fine && !message)
        fine = fail("nothing is read after the timeout of a transaction");
    if (message) {
        if (fine && (one.value.size < 4 || memcmp(one.value.at, "none", 4)))
            fine = fail("a record of an aborted transaction is read");
        rd_kafka_message_destroy(message);
    }
    fine = fine && refused(late);
    for (size_t index = 0; index < 3; index++) {
        rd_kafka_t *each = (rd_kafka_t *[]){zombie, late, newer}[index];
        if (each)
            rd_kafka_destroy(each);
    }
    return fine;
}

static bool read_committed(rd_kafka_t *reader)
{
    for (int count = 0; count < COMMITTED; count++) {
        rd_kafka_message_t *message;
        struct record one, expected;
        make_record(&expected, "none", count < PART ? count : count + PART);
        if (!poll_record(reader, PATIENCE, &message, &one))
            return false;
        if (!message)
            return fail("%d committed records", count);
        bool same = one.value.size == expected.value.size && !memcmp(one.value.at, expected.value.at, one.value.size);
        if (!same)
            fail("%.*s is the committed record %d", 10, one.value.at, count);
        rd_kafka_message_destroy(message);
        if (!same)
            return false;
    }
    return true;
}

bool transactions(rd_kafka_t *rk, const char *bootstrap, const char *beside)
{
    char topic[300];
    rd_kafka_resp_err_t answer = RD_KAFKA_RESP_ERR_NO_ERROR;
    snprintf(topic, sizeof topic, "%s-transactions", beside);
    if (!create_topic(rk, topic, 1, &answer) || answer)
        return answer ? fail("%s", rd_kafka_err2name(answer)) : false;
    if (!write_parts(bootstrap, topic))
        return false;
    rd_kafka_t *reader = join(bootstrap, topic, topic); /* what is committed is what librdkafka reads by default */
    if (!reader)
        return false;
    bool fine = read_committed(reader) && offsets(bootstrap, reader, topic) && fenced(bootstrap, reader, topic);
    leave(reader);
    return fine;
}
