package walk

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
)

var behaviours = map[string][]string{
	"walk": {"create_topic", "create_twice", "describe_topic", "produce_none", "produce_gzip", "produce_snappy", "produce_lz4", "produce_zstd",
		"read", "headers", "null_header", "group", "second_member", "commit", "resume", "offsets_by_time", "transactions"},
	"write": {"create_topic", "produce_none", "produce_gzip", "produce_snappy", "produce_lz4", "produce_zstd"},
	"read":  {"read", "headers", "group", "commit"},

	"endure": {"endure"},
}

// report is the object in the last line.
type report struct {
	Client     string            `json:"client"`
	Version    string            `json:"version"`
	Verb       string            `json:"verb"`
	Behaviours map[string]string `json:"behaviours"`
	Seen       map[string]int    `json:"seen"`
	Digest     uint32            `json:"digest"`
	Committed  int64             `json:"committed"`
}

func newReport(client, module, verb string) *report {
	r := &report{Client: client, Version: version(module), Verb: verb, Behaviours: map[string]string{}, Seen: map[string]int{}}
	for _, codec := range Codecs {
		r.Seen[codec] = 0
	}
	for _, name := range behaviours[verb] {
		r.Behaviours[name] = "fail: not reached"
	}
	return r
}

// step records how a behaviour went, if the verb tells of it, and hands the error on.
func (r *report) step(name string, err error) error {
	if slices.Contains(behaviours[r.Verb], name) {
		r.Behaviours[name] = "pass"
		if err != nil {
			r.Behaviours[name] = "fail: " + err.Error()
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// add counts a record of the promise.
func (r *report) add(codec string, one Record) {
	r.Seen[codec]++
	r.Digest += one.fingerprint(codec)
}

func (r *report) total() int {
	total := 0
	for _, count := range r.Seen {
		total += count
	}
	return total
}

// tell writes the object; the exit code is 0 if all went well.
func (r *report) tell(err error) int {
	code := 0
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return 1
	}
	return code
}

// version of a module that this binary was built with.
func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, dep := range info.Deps {
		if dep.Path == module {
			return dep.Version
		}
	}
	return "unknown"
}
