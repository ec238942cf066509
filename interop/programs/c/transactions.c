#include <stdio.h>
#include <string.h>

#include "client.h"

enum { PART = 10, PARTS = 3, COMMITTED = 20, PATIENCE = 30000 };

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

static bool write_parts(const char *bootstrap, const char *topic)
{
    const char *const pairs[] = {"transactional.id", topic, "linger.ms", "20", NULL};
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, bootstrap, pairs);
    if (!rk)
        return false;
    bool fine = well("init", rd_kafka_init_transactions(rk, PATIENCE));
    for (int part = 0; fine && part < PARTS; part++)
        fine = one_part(rk, topic, part * PART, part != 1);
    rd_kafka_destroy(rk);
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
    bool fine = read_committed(reader);
    leave(reader);
    return fine;
}
