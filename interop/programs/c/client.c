#include "client.h"

#include <string.h>

enum { PATIENCE = 30000 }; /* ms of any one call */

static char text[512];

rd_kafka_t *client(rd_kafka_type_t type, const char *bootstrap, const char *const *pairs)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_events(conf, type == RD_KAFKA_PRODUCER ? RD_KAFKA_EVENT_DR : 0);
    bool well = !rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap, text, sizeof text);
    for (; well && *pairs; pairs += 2)
        well = !rd_kafka_conf_set(conf, pairs[0], pairs[1], text, sizeof text);
    rd_kafka_t *rk = well ? rd_kafka_new(type, conf, text, sizeof text) : NULL;
    if (!rk) {
        rd_kafka_conf_destroy(conf);
        fail("%s", text);
    }
    return rk;
}

bool create_topic(rd_kafka_t *rk, const char *topic, int partitions, rd_kafka_resp_err_t *answer)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_NewTopic_t *new_topic = rd_kafka_NewTopic_new(topic, partitions, 1, text, sizeof text);
    rd_kafka_CreateTopics(rk, &new_topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, PATIENCE);
    bool well = event && !rd_kafka_event_error(event);
    if (well) {
        size_t count;
        *answer = rd_kafka_topic_result_error(
            rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)[0]);
    } else {
        fail("%s", event ? rd_kafka_event_error_string(event) : "no answer");
    }
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(new_topic);
    rd_kafka_queue_destroy(queue);
    return well;
}

bool count_partitions(rd_kafka_t *rk, const char *topic, int *count)
{
    const struct rd_kafka_metadata *found;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(rk, topic, NULL);
    rd_kafka_resp_err_t error = rd_kafka_metadata(rk, 0, handle, &found, PATIENCE);
    if (!error) {
        *count = found->topic_cnt == 1 && !found->topics[0].err ? found->topics[0].partition_cnt : 0;
        rd_kafka_metadata_destroy(found);
    }
    rd_kafka_topic_destroy(handle);
    return !error || fail("metadata: %s", rd_kafka_err2str(error));
}

bool send_one(rd_kafka_t *rk, const char *topic, const struct record *one)
{
    rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
    rd_kafka_header_add(headers, "c", -1, one->codec.at, (ssize_t)one->codec.size);
    rd_kafka_header_add(headers, "n", -1, one->number.at, (ssize_t)one->number.size);
    rd_kafka_header_add(headers, "null", -1, NULL, 0);
    rd_kafka_resp_err_t error = rd_kafka_producev(
        rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_KEY(one->key.at, one->key.size),
        RD_KAFKA_V_VALUE((void *)one->value.at, one->value.size), RD_KAFKA_V_HEADERS(headers),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
    if (error)
        rd_kafka_headers_destroy(headers);
    return !error || fail("produce: %s", rd_kafka_err2str(error));
}

/* Takes the reports of what was sent, until none is owed. */
static bool acknowledged(rd_kafka_t *rk, rd_kafka_queue_t *reports, int owed)
{
    while (owed > 0) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(reports, PATIENCE);
        if (!event)
            return fail("%d records are not acknowledged", owed);
        const rd_kafka_message_t *one;
        rd_kafka_resp_err_t error = 0;
        while ((one = rd_kafka_event_message_next(event))) {
            owed--;
            error = one->err ? one->err : error;
        }
        rd_kafka_event_destroy(event);
        if (error)
            return fail("%s: %s", rd_kafka_name(rk), rd_kafka_err2str(error));
    }
    return true;
}

bool send_all(rd_kafka_t *rk, rd_kafka_queue_t *acks, const char *topic, const char *codec, int first, int end)
{
    for (int number = first; number < end; number++) {
        struct record one;
        make_record(&one, codec, number);
        if (!send_one(rk, topic, &one))
            return false;
    }
    return acknowledged(rk, acks, end - first);
}

bool produce(const char *bootstrap, const char *topic, const char *codec, int first, int end)
{
    const char *const pairs[] = {"compression.type", codec, "linger.ms", "20", NULL};
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, bootstrap, pairs);
    if (!rk)
        return false;
    rd_kafka_queue_t *acks = rd_kafka_queue_get_main(rk);
    bool well = send_all(rk, acks, topic, codec, first, end);
    rd_kafka_queue_destroy(acks);
    rd_kafka_destroy(rk);
    return well;
}

rd_kafka_t *join(const char *bootstrap, const char *topic, const char *group)
{
    const char *const pairs[] = {"group.id", group, "auto.offset.reset", "earliest", "enable.auto.commit", "false",
                                 "heartbeat.interval.ms", "200", NULL};
    rd_kafka_t *member = client(RD_KAFKA_CONSUMER, bootstrap, pairs);
    if (!member)
        return NULL;
    rd_kafka_poll_set_consumer(member);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = rd_kafka_subscribe(member, topics);
    rd_kafka_topic_partition_list_destroy(topics);
    if (error) {
        fail("subscribe: %s", rd_kafka_err2str(error));
        leave(member);
        return NULL;
    }
    return member;
}

void leave(rd_kafka_t *member)
{
    rd_kafka_consumer_close(member);
    rd_kafka_destroy(member);
}

static struct bytes header(const rd_kafka_headers_t *headers, const char *name, bool *there)
{
    const void *at;
    size_t size;
    *there = headers && !rd_kafka_header_get_last(headers, name, &at, &size);
    return *there ? (struct bytes){at, size} : (struct bytes){NULL, 0};
}

bool poll_record(rd_kafka_t *member, int ms, rd_kafka_message_t **message, struct record *one)
{
    *message = rd_kafka_consumer_poll(member, ms);
    if (!*message)
        return true;
    if ((*message)->err) {
        fail("poll: %s", rd_kafka_message_errstr(*message));
        rd_kafka_message_destroy(*message);
        *message = NULL;
        return false;
    }
    rd_kafka_headers_t *headers = NULL;
    bool there;
    rd_kafka_message_headers(*message, &headers);
    one->key = (struct bytes){(*message)->key, (*message)->key_len};
    one->value = (struct bytes){(*message)->payload, (*message)->len};
    one->codec = header(headers, "c", &there);
    one->number = header(headers, "n", &there);
    one->filled_header = header(headers, "null", &one->null_header).at != NULL;
    return true;
}

unsigned assigned(rd_kafka_t *member)
{
    rd_kafka_topic_partition_list_t *mine;
    unsigned bits = 0;
    if (rd_kafka_assignment(member, &mine))
        return 0;
    for (int i = 0; i < mine->cnt; i++)
        bits |= 1u << mine->elems[i].partition;
    rd_kafka_topic_partition_list_destroy(mine);
    return bits;
}

bool committed(rd_kafka_t *rk, const char *topic, int partitions, long long *sum)
{
    rd_kafka_topic_partition_list_t *requested = rd_kafka_topic_partition_list_new(partitions);
    for (int partition = 0; partition < partitions; partition++)
        rd_kafka_topic_partition_list_add(requested, topic, partition);
    rd_kafka_resp_err_t error = rd_kafka_committed(rk, requested, PATIENCE);
    *sum = 0;
    for (int i = 0; i < requested->cnt; i++) {
        error = error ? error : requested->elems[i].err;
        *sum += requested->elems[i].offset > 0 ? requested->elems[i].offset : 0;
    }
    rd_kafka_topic_partition_list_destroy(requested);
    return !error || fail("committed: %s", rd_kafka_err2str(error));
}

bool offset_at(rd_kafka_t *rk, const char *topic, int64_t ms, int64_t *offset)
{
    rd_kafka_topic_partition_list_t *requested = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(requested, topic, 0)->offset = ms;
    rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(rk, requested, PATIENCE);
    error = error ? error : requested->elems[0].err;
    *offset = requested->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(requested);
    return !error || fail("offsets for times: %s", rd_kafka_err2str(error));
}
