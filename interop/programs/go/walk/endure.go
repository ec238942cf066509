package walk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	atOnce  = 10                     // records that are sent together
	between = 50 * time.Millisecond  // and the pause after them: the machine is shared
	seldom  = 300 * time.Millisecond // between commits: some libraries give one record at a time, and wait for each commit behind a fetch
	lasting = 100 * time.Second      // after the end of the input; then it gives up
)

// Writer is a producer that lasts, idempotent where the library has that.
type Writer interface {
	// Write returns when all records are acknowledged, or the library gives up on one of them.
	Write(ctx context.Context, records []Record) error
	Close() error
}

// endurance writes and reads while brokers are killed, until its input ends.
type endurance struct {
	*walker
	lock               sync.Mutex
	acknowledged, seen map[int]bool
}

func (w *walker) endure() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	e := &endurance{walker: w, acknowledged: map[int]bool{}, seen: map[int]bool{}}
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
		time.AfterFunc(lasting, cancel)
	}()
	written, read := make(chan struct{}), make(chan error, 1)
	go func() { read <- e.read(ctx, written) }()
	err := e.write(ctx, over)
	if err != nil {
		cancel()
	}
	close(written)
	return w.step("endure", errors.Join(err, <-read))
}

func (e *endurance) write(ctx context.Context, over <-chan struct{}) error {
	writer, err := e.Writer(e.topic)
	if err != nil {
		return err
	}
	for first := 0; ; first += atOnce {
		select {
		case <-over:
			return writer.Close()
		case <-time.After(between):
		}
		if err := writer.Write(ctx, records("none", first, first+atOnce)); err != nil {
			say("failed", first, first+atOnce, err)
			continue
		}
		e.lock.Lock()
		for n := first; n < first+atOnce; n++ {
			e.acknowledged[n] = true
		}
		e.lock.Unlock()
		say("wrote", first, first+atOnce)
	}
}

// read until all is read that was acknowledged, and committed.
func (e *endurance) read(ctx context.Context, written <-chan struct{}) error {
	member, err := e.Join(ctx, e.topic, e.group)
	if err != nil {
		return err
	}
	pending, last := 0, time.Now()
	for pending > 0 || !e.complete(written) {
		polled, err := member.Poll(ctx)
		if ctx.Err() != nil {
			return errors.Join(err, ctx.Err(), member.Close())
		}
		if err != nil { // the library goes on by itself: it only tells
			say("unread", err)
		}
		for _, one := range polled {
			n, err := strconv.Atoi(strings.Split(string(one.Value), "-")[1])
			if err != nil {
				return err
			}
			say("read", one.Partition, one.Offset, n)
			e.lock.Lock()
			e.seen[n] = true
			e.lock.Unlock()
		}
		pending += len(polled)
		if pending == 0 || len(polled) > 0 && time.Since(last) < seldom {
			continue
		}
		last = time.Now()
		if err := member.Commit(ctx); err != nil {
			say("uncommitted", err)
			continue
		}
		say("committed")
		pending = 0
	}
	return member.Close()
}

func (e *endurance) complete(written <-chan struct{}) bool {
	select {
	case <-written:
	default:
		return false
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	for n := range e.acknowledged {
		if !e.seen[n] {
			return false
		}
	}
	return true
}

var saying sync.Mutex

// say prints a line for the process that runs this one.
func say(words ...any) {
	saying.Lock()
	defer saying.Unlock()
	line := strings.TrimSpace(fmt.Sprintln(slices.Insert(words, 0, any(">"))...))
	fmt.Println(strings.ReplaceAll(line, "\n", " "))
}
