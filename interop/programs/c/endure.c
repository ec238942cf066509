#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

enum { AT_ONCE = 10, MOST = 200000, LASTING = 100 /* seconds after the end of the input; then it gives up */ };

/* What is known of each record, and of the ten that are under way. */
static bool acknowledged[MOST], seen[MOST];
static int first, owed;
static rd_kafka_resp_err_t refusal;

static bool input_has_ended(void)
{
    char taken[64];
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    return poll(&in, 1, 0) > 0 && read(STDIN_FILENO, taken, sizeof taken) <= 0;
}

/* Takes the reports that have come; when none is owed any more, tells how it went with the ten. */
static void take_reports(rd_kafka_queue_t *reports)
{
    rd_kafka_event_t *event;
    int before = owed;
    while (owed > 0 && (event = rd_kafka_queue_poll(reports, 0))) {
        const rd_kafka_message_t *one;
        while ((one = rd_kafka_event_message_next(event))) {
            owed--;
            refusal = one->err ? one->err : refusal;
        }
        rd_kafka_event_destroy(event);
    }
    if (owed || !before)
        return;
    if (refusal)
        printf("> failed %d %d %s\n", first, first + AT_ONCE, rd_kafka_err2name(refusal));
    else
        printf("> wrote %d %d\n", first, first + AT_ONCE);
    for (int n = first; n < first + AT_ONCE; n++)
        acknowledged[n] = !refusal;
    first += AT_ONCE;
}

static bool send_ten(rd_kafka_t *writer, const char *topic)
{
    refusal = 0;
    for (owed = 0; owed < AT_ONCE; owed++) {
        struct record one;
        make_record(&one, "none", first + owed);
        if (!send_one(writer, topic, &one))
            return false;
    }
    return true;
}

/* Gives how many records came. An error is printed, and the member goes on, as the library does. */
static int take_records(rd_kafka_t *member)
{
    int count = 0;
    for (int wait = 50;; wait = 0) {
        rd_kafka_message_t *message;
        struct record one;
        int number;
        if (!poll_record(member, wait, &message, &one)) {
            printf("> unread %s\n", why);
            continue;
        }
        if (!message)
            return count;
        if (sscanf(one.value.at, "none-%d-", &number) == 1 && number < MOST) {
            printf("> read %d %lld %d\n", message->partition, (long long)message->offset, number);
            seen[number] = true;
            count++;
        }
        rd_kafka_message_destroy(message);
    }
}

/* What fails, as with a rebalance, is committed with what is read next. */
static bool commits(rd_kafka_t *member)
{
    rd_kafka_resp_err_t error = rd_kafka_commit(member, NULL, 0);
    if (error && error != RD_KAFKA_RESP_ERR__NO_OFFSET) { /* all is committed */
        printf("> uncommitted %s\n", rd_kafka_err2name(error));
        return false;
    }
    printf("> committed\n");
    return true;
}

static bool whole(void)
{
    for (int n = 0; n < first; n++)
        if (acknowledged[n] && !seen[n])
            return false;
    return true;
}

static bool run(rd_kafka_t *writer, rd_kafka_queue_t *reports, rd_kafka_t *member, const char *topic)
{
    bool over = false, committed = false;
    for (time_t end = 0; !over || owed || !committed || !whole();) {
        if (!over && input_has_ended()) {
            over = true;
            end = time(NULL) + LASTING;
        }
        if (over && time(NULL) > end)
            return fail("not all was read and committed in time");
        if (!over && !owed && (first + AT_ONCE > MOST || !send_ten(writer, topic)))
            return false;
        bool came = take_records(member) > 0;
        take_reports(reports);
        if (came || !committed)
            committed = commits(member);
        fflush(stdout);
    }
    return true;
}

bool endure(const char *bootstrap, const char *topic, const char *group)
{
    const char *const pairs[] = {"acks", "all", "enable.idempotence", "true", NULL};
    rd_kafka_t *writer = client(RD_KAFKA_PRODUCER, bootstrap, pairs);
    rd_kafka_t *member = writer ? join(bootstrap, topic, group) : NULL;
    if (!member)
        return false;
    rd_kafka_queue_t *reports = rd_kafka_queue_get_main(writer);
    bool well = run(writer, reports, member, topic);
    leave(member);
    rd_kafka_queue_destroy(reports);
    rd_kafka_destroy(writer);
    return well;
}
