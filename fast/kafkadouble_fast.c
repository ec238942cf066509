/* Where the fields of records lie, compiled: what `kafkadouble.wire.columns.native` calls (record batches of magic 2, KIP-98; headers KIP-82).

   Rules. Nothing is read outside of the bytes that a batch has, nothing is written outside of the arrays that were given, whatever either holds;
   every position is checked before it is used. A batch that is not perfectly in order is called odd, and no more is said about it: the plain
   reader, in Python, tells what is wrong. The interpreter is not held while there is work to do. */

#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const uint8_t *at, *end;
} Bytes;

/* An unsigned varint of at most 32 bits in at most 5 bytes. */
static inline int read32(Bytes *bytes, uint32_t *value)
{
    const uint8_t *at = bytes->at;
    uint64_t sum = 0;
    for (int shift = 0; shift < 35; shift += 7) {
        if (at == bytes->end)
            return 0;
        uint8_t byte = *at++;
        sum |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            bytes->at = at;
            *value = (uint32_t)sum;
            return sum <= UINT32_MAX;
        }
    }
    return 0;
}

/* The same for 63 bits in at most 9 bytes: what needs ten is odd. */
static inline int read63(Bytes *bytes, int64_t *value)
{
    const uint8_t *at = bytes->at;
    uint64_t sum = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        if (at == bytes->end)
            return 0;
        uint8_t byte = *at++;
        sum |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            bytes->at = at;
            *value = (int64_t)(sum >> 1) ^ -(int64_t)(sum & 1);
            return 1;
        }
    }
    return 0;
}

/* A length, and past as many bytes; any negative length is a null. */
static inline int read_span(Bytes *bytes, const uint8_t *base, int32_t *start, int32_t *size)
{
    uint32_t raw;
    if (!read32(bytes, &raw))
        return 0;
    *start = (int32_t)(bytes->at - base);
    if (raw & 1) {
        *size = -1;
        return 1;
    }
    *size = (int32_t)(raw >> 1);
    if (bytes->end - bytes->at < *size)
        return 0;
    bytes->at += *size;
    return 1;
}

static int skip_headers(Bytes *bytes, const uint8_t *base, int32_t count)
{
    int32_t start, size;
    for (; count > 0; count--)
        if (!read_span(bytes, base, &start, &size) || size < 0 || !read_span(bytes, base, &start, &size))
            return 0;
    return 1;
}

typedef struct {
    int64_t *timestamp_delta;
    int32_t *offset_delta, *key_start, *key_size, *value_start, *value_size, *header_start, *header_count;
} Records;

/* The record at `bytes`, which it leaves behind it. */
static inline int read_record(Bytes *bytes, const uint8_t *base, const Records *out, Py_ssize_t n)
{
    uint32_t length, offset, count;
    if (!read32(bytes, &length) || length & 1 || length < 2 || bytes->end - bytes->at < (int64_t)(length >> 1))
        return 0;
    Bytes inside = {bytes->at + 1, bytes->at + (length >> 1)}; /* the attributes mean nothing yet */
    bytes->at = inside.end;
    if (!read63(&inside, &out->timestamp_delta[n]) || !read32(&inside, &offset))
        return 0;
    out->offset_delta[n] = (int32_t)(offset >> 1) ^ -(int32_t)(offset & 1);
    if (!read_span(&inside, base, &out->key_start[n], &out->key_size[n])
        || !read_span(&inside, base, &out->value_start[n], &out->value_size[n]))
        return 0;
    if (!read32(&inside, &count) || count & 1)
        return 0;
    out->header_start[n] = (int32_t)(inside.at - base);
    out->header_count[n] = (int32_t)(count >> 1);
    return skip_headers(&inside, base, out->header_count[n]) && inside.at == inside.end;
}

/* The buffers of a call: read ones first, then written ones; all are let go together. */
#define MOST 13
typedef struct {
    Py_buffer each[MOST];
    int count;
} Buffers;

static void let_go(Buffers *buffers)
{
    while (buffers->count > 0)
        PyBuffer_Release(&buffers->each[--buffers->count]);
}

static int take(Buffers *buffers, PyObject *args, int reads, int writes)
{
    buffers->count = 0;
    if (PyTuple_Size(args) != reads + writes) {
        PyErr_Format(PyExc_TypeError, "%d buffers are expected", reads + writes);
        return 0;
    }
    for (int i = 0; i < reads + writes; i++) {
        if (PyObject_GetBuffer(PyTuple_GetItem(args, i), &buffers->each[i], i < reads ? PyBUF_SIMPLE : PyBUF_WRITABLE) < 0) {
            let_go(buffers);
            return 0;
        }
        buffers->count++;
    }
    return 1;
}

/* Whether buffers `from` to `to` all have room for `count` entries of `size` bytes. */
static int have_room(const Buffers *buffers, int from, int to, Py_ssize_t count, Py_ssize_t size)
{
    for (int i = from; i < to; i++)
        if (buffers->each[i].len / size < count)
            return 0;
    return 1;
}

static PyObject *done(Buffers *buffers, int fine)
{
    let_go(buffers);
    if (!fine) {
        PyErr_SetString(PyExc_ValueError, "the arrays do not fit one another");
        return NULL;
    }
    Py_RETURN_NONE;
}

static int find_all(const uint8_t *base, Py_ssize_t size, const int64_t *starts, const int64_t *ends, const int64_t *counts,
                    Py_ssize_t batches, Py_ssize_t room, const Records *out, uint8_t *odd)
{
    Py_ssize_t first = 0;
    for (Py_ssize_t i = 0; i < batches; i++) {
        if (starts[i] < 0 || starts[i] > ends[i] || ends[i] > size || counts[i] < 0 || counts[i] > room - first)
            return 0;
        Bytes bytes = {base + starts[i], base + ends[i]};
        Py_ssize_t n = first, last = first + (Py_ssize_t)counts[i];
        while (n < last && read_record(&bytes, base, out, n))
            n++;
        odd[i] = n < last || bytes.at != bytes.end;
        first = last;
    }
    return 1;
}

static PyObject *find(PyObject *self, PyObject *args)
{
    Buffers held;
    if (!take(&held, args, 4, 9))
        return NULL;
    Py_buffer *b = held.each;
    Py_ssize_t batches = b[1].len / 8, room = b[4].len / 8;
    int fine = b[0].len <= INT32_MAX && have_room(&held, 1, 4, batches, 8) && have_room(&held, 5, 12, room, 4)
               && have_room(&held, 12, 13, batches, 1);
    Records out = {b[4].buf, b[5].buf, b[6].buf, b[7].buf, b[8].buf, b[9].buf, b[10].buf, b[11].buf};
    Py_BEGIN_ALLOW_THREADS
    if (fine)
        fine = find_all(b[0].buf, b[0].len, b[1].buf, b[2].buf, b[3].buf, batches, room, &out, b[12].buf);
    Py_END_ALLOW_THREADS
    return done(&held, fine);
}

static int find_all_headers(const uint8_t *base, Py_ssize_t size, const int32_t *starts, const int32_t *counts,
                            Py_ssize_t records, Py_ssize_t room, int32_t *const out[4])
{
    Py_ssize_t n = 0;
    for (Py_ssize_t i = 0; i < records; i++) {
        if (starts[i] < 0 || starts[i] > size || counts[i] < 0 || counts[i] > room - n)
            return 0;
        Bytes bytes = {base + starts[i], base + size};
        for (int32_t left = counts[i]; left > 0; left--, n++)
            if (!read_span(&bytes, base, &out[0][n], &out[1][n]) || !read_span(&bytes, base, &out[2][n], &out[3][n]))
                return 0;
    }
    return 1;
}

static PyObject *find_headers(PyObject *self, PyObject *args)
{
    Buffers held;
    if (!take(&held, args, 3, 4))
        return NULL;
    Py_buffer *b = held.each;
    Py_ssize_t records = b[1].len / 4, room = b[3].len / 4;
    int fine = b[0].len <= INT32_MAX && have_room(&held, 2, 3, records, 4) && have_room(&held, 4, 7, room, 4);
    int32_t *const out[4] = {b[3].buf, b[4].buf, b[5].buf, b[6].buf};
    Py_BEGIN_ALLOW_THREADS
    if (fine)
        fine = find_all_headers(b[0].buf, b[0].len, b[1].buf, b[2].buf, records, room, out);
    Py_END_ALLOW_THREADS
    return done(&held, fine);
}

/* Copies the values together; their ends, after a 0, go to `ends`, and a bit for each that is not null to `valid`, which is all zeros. */
static int gather_all(const uint8_t *base, Py_ssize_t size, const int32_t *starts, const int32_t *sizes, Py_ssize_t count,
                      int32_t *ends, uint8_t *valid, uint8_t *out, Py_ssize_t room)
{
    Py_ssize_t end = 0;
    ends[0] = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int32_t length = sizes[i];
        if (length >= 0) {
            if (starts[i] < 0 || starts[i] > size || length > size - starts[i] || length > room - end)
                return 0;
            memcpy(out + end, base + starts[i], (size_t)length);
            end += length;
            valid[i >> 3] |= (uint8_t)(1 << (i & 7));
        }
        ends[i + 1] = (int32_t)end;
    }
    return 1;
}

static PyObject *gather(PyObject *self, PyObject *args)
{
    Buffers held;
    if (!take(&held, args, 3, 3))
        return NULL;
    Py_buffer *b = held.each;
    Py_ssize_t count = b[1].len / 4;
    int fine = b[0].len <= INT32_MAX && b[5].len <= INT32_MAX && have_room(&held, 2, 3, count, 4)
               && have_room(&held, 3, 4, count + 1, 4) && have_room(&held, 4, 5, (count + 7) / 8, 1);
    Py_BEGIN_ALLOW_THREADS
    if (fine)
        fine = gather_all(b[0].buf, b[0].len, b[1].buf, b[2].buf, count, b[3].buf, b[4].buf, b[5].buf, b[5].len);
    Py_END_ALLOW_THREADS
    return done(&held, fine);
}

static PyMethodDef methods[] = {
    {"find", find, METH_VARARGS,
     "find(data, starts, ends, counts, timestamp_delta, offset_delta, key_start, key_size, value_start, value_size, header_start, "
     "header_count, odd): where the fields of records lie. uint8; 3 int64 by batch; int64, 7 int32 by record; uint8 by batch."},
    {"find_headers", find_headers, METH_VARARGS,
     "find_headers(data, starts, counts, name_start, name_size, value_start, value_size): the same for headers. uint8; 2 int32 by record; "
     "4 int32 by header."},
    {"gather", gather, METH_VARARGS,
     "gather(data, starts, sizes, ends, valid, values): copies bytes together. uint8; 2 int32; int32, one more; bits; uint8."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "kafkadouble_fast", "The compiled part of kafkadouble.wire.columns.", 0, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit_kafkadouble_fast(void)
{
    return PyModuleDef_Init(&module);
}
