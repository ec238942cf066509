/* librdkafka's walk: PROGRAM VERB BOOTSTRAP TOPIC GROUP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client.h"

enum { PATIENCE = 60 }; /* seconds of a whole run */
static const int64_t far_future = 4102444800000; /* the year 2100, in ms */
static const unsigned everything = (1u << PARTITIONS) - 1;

static const char *bootstrap, *topic, *group;
static time_t end;

static bool in_time(const char *what)
{
    return time(NULL) < end || fail("%s did not come in time", what);
}

static bool create(rd_kafka_t *rk)
{
    rd_kafka_resp_err_t answer;
    return create_topic(rk, topic, PARTITIONS, &answer) && (!answer || fail("%s", rd_kafka_err2name(answer)));
}

static bool create_twice(rd_kafka_t *rk)
{
    rd_kafka_resp_err_t answer;
    if (!create_topic(rk, topic, PARTITIONS, &answer))
        return false;
    return answer == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS || fail("created twice: %s", rd_kafka_err2name(answer));
}

static bool described(rd_kafka_t *rk)
{
    int count = 0;
    while (count != PARTITIONS)
        if (!count_partitions(rk, topic, &count) || !in_time("the topic"))
            return false;
    return true;
}

static bool write_all(rd_kafka_t *rk)
{
    if (!step("create_topic", create(rk)) || !step("describe_topic", described(rk)))
        return false;
    if (!strcmp(report.verb, "walk") && !step("create_twice", create_twice(rk)))
        return false;
    for (int i = 0; i < CODECS; i++) {
        char behaviour[32];
        snprintf(behaviour, sizeof behaviour, "produce_%s", codecs[i]);
        if (!step(behaviour, produce(bootstrap, topic, codecs[i], 0, EACH)))
            return false;
        for (int number = 0; number < EACH; number++) {
            struct record one;
            make_record(&one, codecs[i], number);
            add(&one);
        }
    }
    return true;
}

/* What is wrong with the headers of what was read. */
struct wrong {
    int headers, null_header;
};

static void look(const struct record *one, struct wrong *wrong)
{
    char begins[64];
    int size = snprintf(begins, sizeof begins, "%.*s-%.*s-", (int)one->codec.size, one->codec.at ? one->codec.at : "",
                        (int)one->number.size, one->number.at ? one->number.at : "");
    wrong->headers += size > (int)one->value.size || memcmp(begins, one->value.at, (size_t)size) != 0;
    wrong->null_header += one->filled_header || !one->null_header;
    wrong->headers += one->filled_header;
}

static bool read_records(rd_kafka_t *member, struct wrong *wrong)
{
    while (total() < TOTAL) {
        rd_kafka_message_t *message;
        struct record one;
        if (!in_time("a record") || !poll_record(member, 200, &message, &one))
            return false;
        if (!message)
            continue;
        look(&one, wrong);
        bool well = add(&one);
        rd_kafka_message_destroy(message);
        if (!well)
            return false;
    }
    for (int i = 0; i < CODECS; i++)
        if (report.seen[i] != EACH)
            return fail("%d records of %s", report.seen[i], codecs[i]);
    return true;
}

static bool commit(rd_kafka_t *member, int partitions)
{
    rd_kafka_resp_err_t error = rd_kafka_commit(member, NULL, 0);
    if (error)
        return fail("commit: %s", rd_kafka_err2str(error));
    if (!committed(member, topic, partitions, &report.committed))
        return false;
    return report.committed == TOTAL || fail("%lld committed", report.committed);
}

static bool read_all(rd_kafka_t *member)
{
    struct wrong wrong = {0, 0};
    int partitions;
    if (!step("read", read_records(member, &wrong)))
        return false;
    bool well = step("headers", !wrong.headers || fail("%d records", wrong.headers));
    if (!strcmp(report.verb, "walk"))
        well = step("null_header", !wrong.null_header || fail("%d records", wrong.null_header)) && well;
    bool known = count_partitions(member, topic, &partitions);
    unsigned mine = assigned(member);
    known = known && (mine == (1u << partitions) - 1 || fail("one member has %x of %d", mine, partitions));
    return step("group", known) && step("commit", commit(member, partitions)) && well;
}

/* Polls for nothing. */
static bool idle(rd_kafka_t *member)
{
    rd_kafka_message_t *message;
    struct record one;
    if (!poll_record(member, 20, &message, &one))
        return false;
    if (!message)
        return true;
    rd_kafka_message_destroy(message);
    return fail("a record came again");
}

static bool both(rd_kafka_t *first, rd_kafka_t *second)
{
    unsigned one = 0, other = 0;
    while (!one || !other || (one ^ other) != everything) {
        if (!idle(first) || !idle(second) || !in_time("a share for both members"))
            return false;
        one = assigned(first), other = assigned(second);
    }
    return true;
}

static bool second_member(rd_kafka_t *first)
{
    rd_kafka_t *second = join(bootstrap, topic, group);
    if (!second)
        return false;
    bool well = both(first, second);
    leave(second);
    while (well && assigned(first) != everything)
        well = idle(first) && in_time("everything for the first member");
    return well;
}

/* Further records arrive, and nothing else. */
static bool further(rd_kafka_t *member)
{
    bool had[FURTHER] = {false};
    for (int count = 0; count < FURTHER;) {
        rd_kafka_message_t *message;
        struct record one;
        int number;
        if (!in_time("a further record") || !poll_record(member, 200, &message, &one))
            return false;
        if (!message)
            continue;
        char value[192];
        snprintf(value, sizeof value, "%.*s", (int)one.value.size, one.value.at);
        rd_kafka_message_destroy(message);
        if (sscanf(value, "none-%d-", &number) != 1 || number < EACH || number >= EACH + FURTHER || had[number - EACH])
            return fail("came again: %.20s", value);
        had[number - EACH] = true;
        count++;
    }
    return true;
}

static bool resume(void)
{
    if (!produce(bootstrap, topic, "none", EACH, EACH + FURTHER))
        return false;
    rd_kafka_t *member = join(bootstrap, topic, group);
    if (!member)
        return false;
    bool well = further(member);
    leave(member);
    return well;
}

static bool by_time(rd_kafka_t *rk)
{
    int64_t first, last;
    if (!offset_at(rk, topic, 0, &first) || !offset_at(rk, topic, far_future, &last))
        return false;
    return (first == 0 && (last > 0 || last == RD_KAFKA_OFFSET_END))
        || fail("offsets %lld and %lld", (long long)first, (long long)last);
}

static bool walk(rd_kafka_t *rk)
{
    if (!write_all(rk))
        return false;
    forget(); /* the report holds what was read from here on */
    rd_kafka_t *first = join(bootstrap, topic, group);
    bool well = step("group", first != NULL) && read_all(first) && step("second_member", second_member(first));
    if (first)
        leave(first);
    if (!well || !step("resume", resume()) || !step("offsets_by_time", by_time(rk)))
        return false;
    const char *asked = getenv("TRANSACTIONS");
    if (asked && !strcmp(asked, "1"))
        return step("transactions", transactions(rk, bootstrap, topic));
    left_out("transactions", "not tried");
    return true;
}

static bool read_only(void)
{
    rd_kafka_t *member = join(bootstrap, topic, group);
    bool well = step("group", member != NULL) && read_all(member);
    if (member)
        leave(member);
    return well;
}

int main(int count, char **words)
{
    const char *const verbs[] = {"walk", "write", "read", "endure"};
    bool known = false;
    for (int i = 0; count == 5 && i < 4; i++)
        known = known || !strcmp(words[1], verbs[i]);
    if (!known) {
        fprintf(stderr, "usage: %s walk|write|read|endure BOOTSTRAP TOPIC GROUP\n", words[0]);
        return 2;
    }
    bootstrap = words[2], topic = words[3], group = words[4];
    end = time(NULL) + PATIENCE;
    report_begin(words[1]);
    const char *const plain[] = {NULL};
    rd_kafka_t *rk = client(RD_KAFKA_PRODUCER, bootstrap, plain);
    if (!rk)
        return 1;
    bool well;
    switch (*report.verb) {
    case 'r':
        well = read_only();
        break;
    case 'e':
        well = step("endure", endure(bootstrap, topic, group));
        break;
    default:
        well = !strcmp(report.verb, "walk") ? walk(rk) : write_all(rk);
    }
    rd_kafka_destroy(rk);
    tell("librdkafka", rd_kafka_version_str());
    return !well;
}
