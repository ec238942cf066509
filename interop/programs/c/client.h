/* What the walk needs of librdkafka. Every function that can fail gives false and says why. */
#ifndef CLIENT_H
#define CLIENT_H

#include <librdkafka/rdkafka.h>

#include "promise.h"

/* NULL where the client cannot be made. `pairs` are names and values of settings, ended by NULL. */
rd_kafka_t *client(rd_kafka_type_t type, const char *bootstrap, const char *const *pairs);

bool create_topic(rd_kafka_t *rk, const char *topic, int partitions, rd_kafka_resp_err_t *answer);
bool count_partitions(rd_kafka_t *rk, const char *topic, int *count);
/* Sends a record; what becomes of it is reported to the producer's main queue. */
bool send_one(rd_kafka_t *rk, const char *topic, const struct record *one);
/* Records [first, end) of a codec; returns when all are acknowledged. */
bool produce(const char *bootstrap, const char *topic, const char *codec, int first, int end);
/* The same with a producer that is there; `acks` is its main queue. */
bool send_all(rd_kafka_t *rk, rd_kafka_queue_t *acks, const char *topic, const char *codec, int first, int end);
rd_kafka_t *join(const char *bootstrap, const char *topic, const char *group);
/* Leaves the group. */
void leave(rd_kafka_t *member);
/* The next record within so many ms, or *message NULL. The record lives as long as the message. */
bool poll_record(rd_kafka_t *member, int ms, rd_kafka_message_t **message, struct record *one);
/* A bit for each partition that a member has. */
unsigned assigned(rd_kafka_t *member);
bool committed(rd_kafka_t *rk, const char *topic, int partitions, long long *sum);
bool offset_at(rd_kafka_t *rk, const char *topic, int64_t ms, int64_t *offset);

/* Ten records that are committed, ten that are aborted, ten that are committed, to a topic of their own; read back as a reader of what is
   committed sees them. Offsets of a transaction, a producer that is fenced, and a transaction that the broker aborts. */
bool transactions(rd_kafka_t *rk, const char *bootstrap, const char *topic);

/* Writes and reads while brokers are killed, until the input ends; then until all is read that was acknowledged, and committed. Tells what happens, a
   line for each thing. */
bool endure(const char *bootstrap, const char *topic, const char *group);

#endif
