// Package walk is what the Go programs share: the records that every client writes, the steps that it takes, and the object that it tells.
package walk

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"strings"
)

// Codecs in the order in which they are written.
var Codecs = []string{"none", "gzip", "snappy", "lz4", "zstd"}

const (
	each       = 200 // records of each codec
	further    = 30  // records that are written after the group has committed
	partitions = 3
)

// Header of a record; a nil Value is null.
type Header struct {
	Key   string
	Value []byte
}

// Record as it is written and as it is read; a nil Key is null. Where it was read it has its Partition and its Offset.
type Record struct {
	Key, Value []byte
	Headers    []Header
	Partition  int32
	Offset     int64
}

// record n of a codec.
func record(codec string, n int) Record {
	r := Record{Value: fmt.Appendf(nil, "%s-%d-%s", codec, n, strings.Repeat("x", 100))}
	if n%10 != 9 {
		r.Key = fmt.Appendf(nil, "k%d", n%50)
	}
	r.Headers = []Header{{"c", []byte(codec)}, {"n", fmt.Append(nil, n)}, {"null", nil}}
	return r
}

func records(codec string, from, to int) []Record {
	var made []Record
	for n := from; n < to; n++ {
		made = append(made, record(codec, n))
	}
	return made
}

// fingerprint is what one record adds to the digest.
func (r Record) fingerprint(codec string) uint32 {
	key := r.Key
	if key == nil {
		key = []byte("-")
	}
	sum := fnv.New32a()
	sum.Write(bytes.Join([][]byte{[]byte(codec), key, r.Value}, []byte("|")))
	return sum.Sum32()
}

// header gives the value, and whether there is exactly one of that name.
func (r Record) header(name string) ([]byte, bool) {
	var value []byte
	count := 0
	for _, h := range r.Headers {
		if h.Key == name {
			value, count = h.Value, count+1
		}
	}
	return value, count == 1
}

// codec that the record says it was written with, checked against its value.
func (r Record) codec() (string, error) {
	codec, one := r.header("c")
	n, another := r.header("n")
	if !one || !another || !bytes.HasPrefix(r.Value, fmt.Appendf(nil, "%s-%s-", codec, n)) {
		return "", fmt.Errorf("headers %v of the value %.20q", r.Headers, r.Value)
	}
	return string(codec), nil
}
