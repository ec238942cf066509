package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

const (
	shortTimeout = time.Second
	longTimeout  = time.Minute
)

// transactions writes ten records that are committed, ten that are aborted and ten that are committed; a consumer with read_committed gets
// twenty. Offsets are committed with a transaction, a producer is fenced by a newer one, and the broker aborts a transaction whose timeout is
// over.
func (w *walker) transactions(ctx context.Context) error {
	client, able := w.Client.(Transactor)
	switch {
	case !able:
		w.Behaviours["transactions"] = "not offered"
	case os.Getenv("TRANSACTIONS") != "1":
		w.Behaviours["transactions"] = "not tried"
	default:
		topic := w.topic + "-transactions"
		return w.step("transactions", errors.Join(w.transact(ctx, client, topic), w.offsets(ctx, client, topic), w.fenced(ctx, client, topic)))
	}
	return nil
}

func (w *walker) transact(ctx context.Context, client Transactor, topic string) error {
	if err := w.Create(ctx, topic, 1); err != nil {
		return err
	}
	for part, commit := range []bool{true, false, true} {
		if err := whole(ctx, client, topic, commit, records("none", 10*part, 10*part+10)); err != nil {
			return err
		}
	}
	return committed(ctx, client, topic, append(records("none", 0, 10), records("none", 20, 30)...))
}

func whole(ctx context.Context, client Transactor, topic string, commit bool, records []Record) error {
	transaction, err := begun(ctx, client, topic, topic, longTimeout, records)
	if err != nil {
		return err
	}
	return transaction.End(ctx, commit)
}

// begun is a transaction that is open.
func begun(ctx context.Context, client Transactor, topic, id string, timeout time.Duration, records []Record) (Transaction, error) {
	transaction, err := client.Begin(ctx, topic, id, timeout)
	if err != nil {
		return nil, err
	}
	return transaction, transaction.Send(ctx, records)
}

func committed(ctx context.Context, client Transactor, topic string, expected []Record) error {
	found, err := client.ReadCommitted(ctx, topic, len(expected))
	if err != nil {
		return err
	}
	for at, one := range expected {
		if string(found[at].Value) != string(one.Value) {
			return fmt.Errorf("%.20q is at %d", found[at].Value, at)
		}
	}
	return nil
}

// offsets aborts a transaction with an offset, and commits one.
func (w *walker) offsets(ctx context.Context, client Transactor, topic string) error {
	for _, commit := range []bool{false, true} {
		group := fmt.Sprintf("%s-%t", topic, commit)
		if err := client.TransactOffset(ctx, topic, group, commit); err != nil {
			return err
		}
	}
	// The coordinator answers before it has written its markers, first those of the aborted transaction.
	for sum := int64(0); sum != 1; {
		var err error
		if sum, err = w.Client.Committed(ctx, topic, topic+"-true", 1); err != nil {
			return err
		}
	}
	if sum, err := w.Client.Committed(ctx, topic, topic+"-false", 1); err != nil || sum > 0 {
		return fmt.Errorf("an aborted transaction has committed offset %d %w", sum, err)
	}
	return nil
}

// fenced also leaves a transaction open, which holds back the last record until the broker has aborted it.
func (w *walker) fenced(ctx context.Context, client Transactor, topic string) error {
	zombie, err := begun(ctx, client, topic, topic, longTimeout, records("gzip", 0, 10))
	if err != nil {
		return err
	}
	late, err := begun(ctx, client, topic, topic+"-late", shortTimeout, records("lz4", 0, 10))
	if err != nil {
		return err
	}
	last := records("zstd", 0, 1)
	if err := whole(ctx, client, topic, true, last); err != nil {
		return err
	}
	if zombie.End(ctx, true) == nil {
		return errors.New("a fenced producer has committed")
	}
	all := append(append(records("none", 0, 10), records("none", 20, 30)...), last...)
	if err := committed(ctx, client, topic, all); err != nil {
		return err
	}
	if late.End(ctx, true) == nil {
		return errors.New("a transaction was committed after its timeout")
	}
	return nil
}
