#include "promise.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const codecs[CODECS] = {"none", "gzip", "snappy", "lz4", "zstd"};
char why[512];
struct report report;

enum { WALK = 1, WRITE = 2, READ = 4, ENDURE = 8 };
static struct behaviour {
    const char *name;
    int verbs;
    char outcome[600];
} behaviours[] = {
    {"create_topic", WALK | WRITE, ""},   {"create_twice", WALK, ""},           {"describe_topic", WALK, ""},
    {"produce_none", WALK | WRITE, ""},   {"produce_gzip", WALK | WRITE, ""},   {"produce_snappy", WALK | WRITE, ""},
    {"produce_lz4", WALK | WRITE, ""},    {"produce_zstd", WALK | WRITE, ""},   {"read", WALK | READ, ""},
    {"headers", WALK | READ, ""},         {"null_header", WALK, ""},            {"group", WALK | READ, ""},
    {"second_member", WALK, ""},          {"commit", WALK | READ, ""},          {"resume", WALK, ""},
    {"offsets_by_time", WALK, ""},        {"transactions", WALK, ""},         {"endure", ENDURE, ""},
};
enum { BEHAVIOURS = sizeof behaviours / sizeof *behaviours };

static const char padding[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                              "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

void make_record(struct record *made, const char *codec, int number)
{
    char *at = made->storage;
    int key = number % 10 == 9 ? 0 : sprintf(at, "k%d", number % 50);
    made->key = (struct bytes){key ? at : NULL, (size_t)key};
    at += key;
    made->value = (struct bytes){at, (size_t)sprintf(at, "%s-%d-%s", codec, number, padding)};
    made->codec = (struct bytes){at, strlen(codec)};
    at += made->value.size;
    made->number = (struct bytes){at, (size_t)sprintf(at, "%d", number)};
    made->null_header = true;
    made->filled_header = false;
}

bool fail(const char *format, ...)
{
    va_list words;
    va_start(words, format);
    vsnprintf(why, sizeof why, format, words);
    va_end(words);
    return false;
}

static int verb_of(const char *name)
{
    return !strcmp(name, "walk") ? WALK : !strcmp(name, "write") ? WRITE : !strcmp(name, "read") ? READ : ENDURE;
}

void report_begin(const char *verb)
{
    report.verb = verb;
    for (int i = 0; i < BEHAVIOURS; i++)
        strcpy(behaviours[i].outcome, "fail: not reached");
}

static void outcome(const char *name, const char *how, const char *reason)
{
    for (int i = 0; i < BEHAVIOURS; i++)
        if (!strcmp(behaviours[i].name, name))
            snprintf(behaviours[i].outcome, sizeof behaviours[i].outcome, "%s%s", how, reason);
}

bool step(const char *behaviour, bool well)
{
    outcome(behaviour, well ? "pass" : "fail: ", well ? "" : why);
    if (!well)
        fprintf(stderr, "%s: %s\n", behaviour, why);
    return well;
}

void left_out(const char *behaviour, const char *how)
{
    outcome(behaviour, how, "");
}

/* FNV-1a, 32 bits, a part at a time. */
static uint32_t fnv1a(uint32_t sum, struct bytes part)
{
    for (size_t i = 0; i < part.size; i++)
        sum = (sum ^ (uint8_t)part.at[i]) * 16777619u;
    return sum;
}

bool add(const struct record *one)
{
    const struct bytes bar = {"|", 1}, none = {"-", 1};
    uint32_t sum = fnv1a(fnv1a(2166136261u, one->codec), bar);
    sum = fnv1a(fnv1a(sum, one->key.at ? one->key : none), bar);
    report.digest += fnv1a(sum, one->value);
    for (int i = 0; i < CODECS; i++) {
        if (strlen(codecs[i]) == one->codec.size && !memcmp(codecs[i], one->codec.at, one->codec.size)) {
            report.seen[i]++;
            return true;
        }
    }
    return fail("a record of no codec: %.*s", (int)one->codec.size, one->codec.at);
}

int total(void)
{
    int sum = 0;
    for (int i = 0; i < CODECS; i++)
        sum += report.seen[i];
    return sum;
}

void forget(void)
{
    memset(report.seen, 0, sizeof report.seen);
    report.digest = 0;
}

static void text(const char *words)
{
    putchar('"');
    for (; *words; words++) {
        if (*words == '"' || *words == '\\')
            putchar('\\');
        putchar((unsigned char)*words < ' ' ? ' ' : *words);
    }
    putchar('"');
}

void tell(const char *client, const char *version)
{
    const char *comma = "";
    printf("{\"client\":\"%s\",\"version\":\"%s\",\"verb\":\"%s\",\"behaviours\":{", client, version, report.verb);
    for (int i = 0; i < BEHAVIOURS; i++) {
        if (behaviours[i].verbs & verb_of(report.verb)) {
            printf("%s\"%s\":", comma, behaviours[i].name);
            text(behaviours[i].outcome);
            comma = ",";
        }
    }
    printf("},\"seen\":{");
    for (int i = 0; i < CODECS; i++)
        printf("%s\"%s\":%d", i ? "," : "", codecs[i], report.seen[i]);
    printf("},\"digest\":%u,\"committed\":%lld}\n", report.digest, report.committed);
}
