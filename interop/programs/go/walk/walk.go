package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

const (
	patience  = 60 * time.Second
	farFuture = 4102444800000 // the year 2100, in ms
)

// ErrExists is what Create gives for a topic that exists already.
var ErrExists = errors.New("the topic exists")

// Client is a client library in the words of the walk. Nothing here retries beyond what the library itself does.
type Client interface {
	Create(ctx context.Context, topic string, partitions int) error
	// Partitions of a topic; 0 if there is no such topic yet.
	Partitions(ctx context.Context, topic string) (int, error)
	// Produce returns when all records are acknowledged.
	Produce(ctx context.Context, topic, codec string, records []Record) error
	Writer(topic string) (Writer, error)
	// Join makes a member of a group that reads from the beginning where nothing is committed.
	Join(ctx context.Context, topic, group string) (Member, error)
	// Members of a group: the partitions of each.
	Members(ctx context.Context, topic, group string) ([][]int32, error)
	// Committed is the sum of the group's offsets.
	Committed(ctx context.Context, topic, group string, partitions int) (int64, error)
	// OffsetAt is the first offset of a time or later: -1 or the end where there is none.
	OffsetAt(ctx context.Context, topic string, partition int32, ms int64) (int64, error)
	Close()
}

// Member of a group.
type Member interface {
	// Poll gives what has come until the context ends; a context that ends is no error.
	Poll(ctx context.Context) ([]Record, error)
	// Commit the positions, and wait for the answer.
	Commit(ctx context.Context) error
	// Close leaves the group.
	Close() error
}

// Transactor is a client that has transactions.
type Transactor interface {
	// Begin makes a producer with a transactional id, and begins a transaction.
	Begin(ctx context.Context, topic, id string, timeout time.Duration) (Transaction, error)
	// TransactOffset commits or aborts a transaction with the group's offset after the first record.
	TransactOffset(ctx context.Context, topic, group string, commit bool) error
	// ReadCommitted reads a topic from the beginning until it has so many records.
	ReadCommitted(ctx context.Context, topic string, count int) ([]Record, error)
}

// Transaction of a producer.
type Transaction interface {
	// Send returns when all records are acknowledged.
	Send(ctx context.Context, records []Record) error
	// End commits or aborts, and closes the producer.
	End(ctx context.Context, commit bool) error
}

// Main runs PROGRAM VERB BOOTSTRAP TOPIC GROUP.
func Main(client, module string, dial func(bootstrap []string) (Client, error)) {
	if len(os.Args) != 5 || behaviours[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: PROGRAM walk|write|read|endure BOOTSTRAP TOPIC GROUP")
		os.Exit(2)
	}
	verb, bootstrap, topic, group := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	r := newReport(client, module, verb)
	os.Exit(r.tell(r.run(strings.Split(bootstrap, ","), topic, group, dial)))
}

func (r *report) run(bootstrap []string, topic, group string, dial func([]string) (Client, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c, err := dial(bootstrap)
	if err != nil {
		return err
	}
	defer c.Close()
	w := &walker{r, c, topic, group}
	switch r.Verb {
	case "walk":
		return w.walk(ctx)
	case "write":
		return w.write(ctx)
	case "endure":
		return w.endure()
	}
	member, err := w.read(ctx)
	if err != nil {
		return err
	}
	return member.Close()
}

type walker struct {
	*report
	Client
	topic, group string
}

func (w *walker) walk(ctx context.Context) error {
	if err := w.write(ctx); err != nil {
		return err
	}
	clear(w.Seen) // the report holds what was read from here on
	w.Digest = 0
	first, err := w.read(ctx)
	if err != nil {
		return err
	}
	if err := w.step("second_member", w.second(ctx, first)); err != nil {
		return err
	}
	if err := first.Close(); err != nil {
		return err
	}
	if err := w.step("resume", w.resume(ctx)); err != nil {
		return err
	}
	if err := w.step("offsets_by_time", w.byTime(ctx)); err != nil {
		return err
	}
	return w.transactions(ctx)
}

func (w *walker) write(ctx context.Context) error {
	if err := w.step("create_topic", w.Create(ctx, w.topic, partitions)); err != nil {
		return err
	}
	if err := w.step("describe_topic", w.described(ctx)); err != nil {
		return err
	}
	if w.Verb == "walk" {
		if err := w.step("create_twice", w.again(ctx)); err != nil {
			return err
		}
	}
	for _, codec := range Codecs {
		made := records(codec, 0, each)
		if err := w.step("produce_"+codec, w.Produce(ctx, w.topic, codec, made)); err != nil {
			return err
		}
		for _, one := range made {
			w.add(codec, one)
		}
	}
	return nil
}

func (w *walker) again(ctx context.Context) error {
	if err := w.Create(ctx, w.topic, partitions); !errors.Is(err, ErrExists) {
		return fmt.Errorf("created twice, the answer is %v", err)
	}
	return nil
}

func (w *walker) described(ctx context.Context) error {
	return until(ctx, func() (bool, any, error) {
		count, err := w.Partitions(ctx, w.topic)
		return count == partitions, count, err
	})
}

// read everything with one member that commits its positions, and hand the member on.
func (w *walker) read(ctx context.Context) (Member, error) {
	count, err := w.Partitions(ctx, w.topic)
	if err != nil {
		return nil, err
	}
	member, err := w.Join(ctx, w.topic, w.group)
	if err != nil {
		return nil, w.step("group", err)
	}
	if err := w.readAll(ctx, member); err != nil {
		return nil, err
	}
	if err := w.step("group", w.spread(ctx, 1, count)); err != nil {
		return nil, err
	}
	return member, w.step("commit", w.commit(ctx, member, count))
}

func (w *walker) readAll(ctx context.Context, member Member) error {
	var wrong, filled error
	for w.total() < each*len(Codecs) {
		polled, err := member.Poll(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return w.step("read", fmt.Errorf("%w after %d records", err, w.total()))
		}
		for _, one := range polled {
			codec, err := one.codec()
			w.add(codec, one)
			wrong = errors.Join(wrong, err)
			if value, there := one.header("null"); value != nil || !there && w.Verb == "walk" {
				filled = fmt.Errorf("headers %v", one.Headers)
			}
		}
	}
	return errors.Join(w.step("read", w.complete()), w.step("headers", wrong), w.step("null_header", filled))
}

func (w *walker) complete() error {
	for _, codec := range Codecs {
		if w.Seen[codec] != each {
			return fmt.Errorf("records of each codec: %v", w.Seen)
		}
	}
	return nil
}

func (w *walker) commit(ctx context.Context, member Member, count int) (err error) {
	if err = member.Commit(ctx); err == nil {
		w.report.Committed, err = w.Client.Committed(ctx, w.topic, w.group, count)
	}
	if err == nil && w.report.Committed != int64(w.total()) {
		err = fmt.Errorf("%d committed of %d", w.report.Committed, w.total())
	}
	return err
}

// second joins a second member, sees both with partitions, and the first with all of them when it has left.
func (w *walker) second(ctx context.Context, first Member) error {
	polling, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- nothing(polling, first) }()
	err := w.joined(ctx)
	stop()
	return errors.Join(err, <-ended)
}

func (w *walker) joined(ctx context.Context) error {
	member, err := w.Join(ctx, w.topic, w.group)
	if err != nil {
		return err
	}
	polling, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- nothing(polling, member) }()
	err = w.spread(ctx, 2, partitions)
	stop()
	if err = errors.Join(err, <-ended, member.Close()); err != nil {
		return err
	}
	return w.spread(ctx, 1, partitions)
}

// nothing polls a member until the context ends; it must be given nothing.
func nothing(ctx context.Context, member Member) error {
	for ctx.Err() == nil {
		polled, err := member.Poll(ctx)
		if err != nil {
			return err
		}
		if len(polled) > 0 {
			return fmt.Errorf("%d records came again", len(polled))
		}
	}
	return nil
}

// spread waits until the group has so many members, each with partitions, all partitions among them.
func (w *walker) spread(ctx context.Context, members, partitions int) error {
	return until(ctx, func() (bool, any, error) {
		found, err := w.Members(ctx, w.topic, w.group)
		held := map[int32]bool{}
		for _, mine := range found {
			if len(mine) == 0 {
				return false, found, err
			}
			for _, one := range mine {
				held[one] = true
			}
		}
		return len(found) == members && len(held) == partitions, found, err
	})
}

// resume comes back: 30 further records arrive, and nothing else.
func (w *walker) resume(ctx context.Context) error {
	if err := w.Produce(ctx, w.topic, "none", records("none", each, each+further)); err != nil {
		return err
	}
	member, err := w.Join(ctx, w.topic, w.group)
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for _, one := range records("none", each, each+further) {
		missing[string(one.Value)] = true
	}
	for len(missing) > 0 {
		polled, err := member.Poll(ctx)
		if err = errors.Join(err, ctx.Err()); err != nil {
			return errors.Join(err, member.Close())
		}
		for _, one := range polled {
			if !missing[string(one.Value)] {
				return errors.Join(fmt.Errorf("%.20q came again", one.Value), member.Close())
			}
			delete(missing, string(one.Value))
		}
	}
	return member.Close()
}

func (w *walker) byTime(ctx context.Context) error {
	first, err := w.OffsetAt(ctx, w.topic, 0, 0)
	if err != nil || first != 0 {
		return fmt.Errorf("offset %d at time 0 (%v)", first, err)
	}
	if last, err := w.OffsetAt(ctx, w.topic, 0, farFuture); err != nil || last != -1 && last <= first {
		return fmt.Errorf("offset %d in the far future (%v)", last, err)
	}
	return nil
}

// until looks again and again until it holds; the error tells what was seen last.
func until(ctx context.Context, look func() (bool, any, error)) error {
	for {
		holds, found, err := look()
		if err != nil || holds {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("still %v: %w", found, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
