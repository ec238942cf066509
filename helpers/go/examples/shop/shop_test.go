package shop_test

import (
	"context"
	"os"
	"testing"
	"time"

	kafkadouble "github.com/kafkadouble/kafkadouble/helpers/go"
	"github.com/kafkadouble/kafkadouble/helpers/go/examples/shop"
)

// One cluster of three brokers for all tests; each test gets it empty.
var shared = kafkadouble.Shared(kafkadouble.WithBrokers(3))

func TestMain(m *testing.M) {
	code := m.Run()
	shared.Stop()
	os.Exit(code)
}

// start gives a cluster with the topics of the service, and the running service.
func start(t *testing.T) *kafkadouble.Double {
	kafka := shared.Get(t)
	for _, topic := range []string{"orders", "invoices"} {
		if err := kafka.CreateTopic(t.Context(), topic, kafkadouble.ReplicationFactor(3)); err != nil {
			t.Fatal(err)
		}
	}
	service, err := shop.NewInvoicing(kafka.Brokers()...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		service.Close()
	})
	return kafka
}

func order(t *testing.T, kafka *kafkadouble.Double, value string) {
	t.Helper()
	if _, err := kafka.Produce(t.Context(), "orders", kafkadouble.Value(value)); err != nil {
		t.Fatal(err)
	}
}

func invoices(t *testing.T, kafka *kafkadouble.Double, count int) []string {
	t.Helper()
	found, err := kafka.WaitForRecords(t.Context(), "invoices", kafkadouble.Count(count), kafkadouble.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{}
	for _, record := range found {
		texts = append(texts, record.Value.String())
	}
	return texts
}

func TestSurvivesAKilledLeader(t *testing.T) {
	kafka := start(t)
	order(t, kafka, "two pears")
	invoices(t, kafka, 1)

	leader, err := kafka.Leader(t.Context(), "invoices", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := kafka.KillBroker(t.Context(), *leader); err != nil {
		t.Fatal(err)
	}
	// The controller notices at once, instead of after 9 seconds, and another broker leads.
	if err := kafka.ExpireSession(t.Context(), *leader); err != nil {
		t.Fatal(err)
	}
	if _, err := kafka.WaitForLeader(t.Context(), "invoices", 0, kafkadouble.Epoch(1)); err != nil {
		t.Fatal(err)
	}
	order(t, kafka, "three pears")

	found := invoices(t, kafka, 2)
	if found[len(found)-1] != "invoice for three pears" {
		t.Fatalf("invoices %q", found)
	}
}

func TestRetriesWhenTheLeaderHasMoved(t *testing.T) {
	kafka := start(t)
	rule, err := kafka.Fail(t.Context(), "Produce", "NOT_LEADER_OR_FOLLOWER",
		kafkadouble.Topic("invoices"), kafkadouble.Times(2))
	if err != nil {
		t.Fatal(err)
	}
	order(t, kafka, "two pears")
	if err := rule.Wait(t.Context(), kafkadouble.Hits(2)); err != nil {
		t.Fatal(err)
	}
	if found := invoices(t, kafka, 1); len(found) != 1 || found[0] != "invoice for two pears" {
		t.Fatalf("invoices %q", found)
	}
}
