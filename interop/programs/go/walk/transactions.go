package walk

import (
	"context"
	"fmt"
	"os"
)

// transactions writes ten records that are committed, ten that are aborted and ten that are committed; a consumer with read_committed gets
// twenty.
func (w *walker) transactions(ctx context.Context) error {
	client, able := w.Client.(Transactor)
	switch {
	case !able:
		w.Behaviours["transactions"] = "not offered"
	case os.Getenv("TRANSACTIONS") != "1":
		w.Behaviours["transactions"] = "not tried"
	default:
		return w.step("transactions", w.transact(ctx, client, w.topic+"-transactions"))
	}
	return nil
}

func (w *walker) transact(ctx context.Context, client Transactor, topic string) error {
	if err := w.Create(ctx, topic, 1); err != nil {
		return err
	}
	for part, commit := range []bool{true, false, true} {
		if err := client.Transact(ctx, topic, commit, records("none", 10*part, 10*part+10)); err != nil {
			return err
		}
	}
	found, err := client.ReadCommitted(ctx, topic, 20)
	if err != nil {
		return err
	}
	for at, one := range append(records("none", 0, 10), records("none", 20, 30)...) {
		if string(found[at].Value) != string(one.Value) {
			return fmt.Errorf("%.20q is at %d", found[at].Value, at)
		}
	}
	return nil
}
