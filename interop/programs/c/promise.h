/* The records that every client writes, and the object that a program tells in its last line. */
#ifndef PROMISE_H
#define PROMISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODECS = 5, EACH = 200, FURTHER = 30, PARTITIONS = 3, TOTAL = CODECS * EACH };
extern const char *const codecs[CODECS];

/* A record as it is written, and as it is read. Bytes are not ended by a zero; a null key is NULL. */
struct bytes {
    const char *at;
    size_t size;
};
struct record {
    struct bytes key, value, codec, number;
    bool null_header, filled_header; /* "null" is there; its value is not null */
    char storage[192];
};

void make_record(struct record *made, const char *codec, int number);

/* The last failure, in words. `fail` gives false, so that a function can end with it. */
extern char why[512];
bool fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The result of a run. */
struct report {
    const char *verb;
    int seen[CODECS];
    uint32_t digest;
    long long committed;
};
extern struct report report;

void report_begin(const char *verb);
/* How a behaviour went, where the verb tells of it; gives `well` on. */
bool step(const char *behaviour, bool well);
void left_out(const char *behaviour, const char *how);
/* Counts a record; false where the codec that it tells is none. */
bool add(const struct record *one);
int total(void);
void forget(void);
void tell(const char *client, const char *version);

#endif
