/* What librdkafka meets on a broker that asks who it is: an attempt for each line of the input, an object for each attempt.
   walks/secure.py describes them. */
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIELDS = 10, PATIENCE_S = 30, OFTEN_MS = 100, HOUR_MS = 3600000 };
enum { BOOTSTRAP, PROTOCOL, MECHANISM, USER, SECRET, AUTHORITY, CERTIFICATE, TOPIC, COUNT, SIZE };

static char *fields[FIELDS];

/* What the callbacks were told of one attempt. */
static struct {
    bool reported;
    rd_kafka_resp_err_t error;
    int throttle_ms;
} told;

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static void on_report(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    (void)rk, (void)opaque;
    told.reported = true;
    if (!told.error)
        told.error = message->err;
}

/* It tries a login again without end, so the first failure counts. */
static void on_error(rd_kafka_t *rk, int error, const char *reason, void *opaque)
{
    (void)rk, (void)reason, (void)opaque;
    if (error == RD_KAFKA_RESP_ERR__AUTHENTICATION && !told.error)
        told.error = error;
}

static void on_throttle(rd_kafka_t *rk, const char *name, int32_t id, int ms, void *opaque)
{
    (void)rk, (void)name, (void)id, (void)opaque;
    if (ms > told.throttle_ms)
        told.throttle_ms = ms;
}

static void on_token(rd_kafka_t *rk, const char *config, void *opaque)
{
    (void)config, (void)opaque;
    char text[512];
    int64_t end = (int64_t)time(NULL) * 1000 + HOUR_MS;
    if (rd_kafka_oauthbearer_set_token(rk, fields[SECRET], end, fields[USER], NULL, 0, text, sizeof text))
        rd_kafka_oauthbearer_set_token_failure(rk, text);
}

static bool set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[512];
    if (!*value || !rd_kafka_conf_set(conf, name, value, text, sizeof text))
        return true;
    fprintf(stderr, "%s\n", text);
    return false;
}

static rd_kafka_t *producer(void)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set_dr_msg_cb(conf, on_report);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_throttle_cb(conf, on_throttle);
    rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf, on_token);
    bool has_password = strcmp(fields[MECHANISM], "OAUTHBEARER") != 0 && *fields[MECHANISM];
    bool well = set(conf, "bootstrap.servers", fields[BOOTSTRAP]) && set(conf, "security.protocol", fields[PROTOCOL]) &&
                set(conf, "sasl.mechanism", fields[MECHANISM]) &&
                set(conf, "sasl.username", has_password ? fields[USER] : "") &&
                set(conf, "sasl.password", has_password ? fields[SECRET] : "") &&
                set(conf, "ssl.ca.location", fields[AUTHORITY]) &&
                set(conf, "ssl.certificate.location", fields[CERTIFICATE]) &&
                set(conf, "ssl.key.location", fields[CERTIFICATE]) && set(conf, "log_level", "0");
    char text[512];
    rd_kafka_t *rk = well ? rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text) : NULL;
    if (!rk)
        rd_kafka_conf_destroy(conf);
    return rk;
}

/* Sends each record when the one before is acknowledged, until one fails. */
static void attempt(rd_kafka_t *rk)
{
    size_t size = strtoul(fields[SIZE], NULL, 10);
    char *value = malloc(size);
    memset(value, 'x', size);
    for (long left = strtol(fields[COUNT], NULL, 10); left > 0 && !told.error; left--) {
        told.reported = false;
        told.error = rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(fields[TOPIC]), RD_KAFKA_V_VALUE(value, size),
                                       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        for (double end = now() + PATIENCE_S; !told.reported && !told.error;) {
            rd_kafka_poll(rk, OFTEN_MS);
            if (now() > end)
                told.error = RD_KAFKA_RESP_ERR__TIMED_OUT;
        }
    }
    rd_kafka_poll(rk, OFTEN_MS);
    rd_kafka_purge(rk, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    free(value);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        char *rest = line;
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < FIELDS; i++)
            fields[i] = rest ? strsep(&rest, "\t") : "";
        memset(&told, 0, sizeof told);
        double began = now();
        rd_kafka_t *rk = producer();
        if (!rk)
            return 1;
        attempt(rk);
        rd_kafka_resp_err_t error = told.error;
        printf("{\"error\": \"%s\", \"seconds\": %f, \"throttle_ms\": %d, \"about\": \"%s\"}\n",
               error ? rd_kafka_err2name(error) : "", now() - began, told.throttle_ms, error ? rd_kafka_err2str(error) : "");
        fflush(stdout);
        rd_kafka_destroy(rk);
    }
    free(line);
    return 0;
}
