package shop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	kafkadouble "github.com/kafkadouble/kafkadouble/helpers/go"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// loggedIn gives a client of this user.
func loggedIn(t *testing.T, kafka *kafkadouble.Double, user string) *kgo.Client {
	t.Helper()
	settings, err := kafka.ClientSettings(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	config, err := settings.TLS()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(settings.Brokers()...),
		kgo.DialTLSConfig(config),
		kgo.SASL(plain.Auth{User: settings.User, Pass: settings.Password}.AsMechanism()),
		kgo.RecordDeliveryTimeout(10*time.Second),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func TestAUserMayDoWhatAnACLAllows(t *testing.T) {
	kafka := kafkadouble.New(t,
		kafkadouble.WithSecurity("SASL_SSL"),
		kafkadouble.WithUser("alice", "secret"),
		kafkadouble.WithUser("bob", "other"),
		kafkadouble.WithACL("User:alice allow DESCRIBE topic:orders"),
		kafkadouble.WithACL("User:alice allow WRITE topic:invoices"), // lets an idempotent producer begin
		kafkadouble.WithTopic("orders", 1),
	)
	send := func(user string) error {
		order := &kgo.Record{Topic: "orders", Value: []byte("two pears")}
		return loggedIn(t, kafka, user).ProduceSync(t.Context(), order).FirstErr()
	}
	if err := send("alice"); !errors.Is(err, kerr.TopicAuthorizationFailed) {
		t.Fatal(err)
	}
	if err := kafka.CreateACLs(t.Context(), []string{"User:alice allow WRITE topic:orders"}); err != nil {
		t.Fatal(err)
	}
	if err := send("alice"); err != nil {
		t.Fatal(err)
	}
	records, err := kafka.WaitForRecords(t.Context(), "orders")
	if err != nil || records[0].Value.String() != "two pears" {
		t.Fatal(records, err)
	}
	seen, err := kafka.AssertSeen(t.Context(), kafkadouble.APIs("Produce"), kafkadouble.Principal("User:alice"))
	if err != nil || seen[0].Principal != "User:alice" {
		t.Fatal(seen, err)
	}
}

func TestALoginFailsOnDemand(t *testing.T) {
	kafka := kafkadouble.New(t, kafkadouble.WithSecurity("SASL_PLAINTEXT"), kafkadouble.WithUser("alice", "secret"))
	rule, err := kafka.Fail(t.Context(), "SaslAuthenticate", "SASL_AUTHENTICATION_FAILED",
		kafkadouble.Principal("User:alice"), kafkadouble.EveryTime())
	if err != nil {
		t.Fatal(err)
	}
	client := loggedIn(t, kafka, "alice")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := client.Ping(ctx); !errors.Is(err, kerr.SaslAuthenticationFailed) {
		t.Fatal(err)
	}
	if err := rule.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	if err := client.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	ended, err := kafka.ExpireSASLSessions(ctx, kafkadouble.Principal("User:alice"))
	if err != nil || ended == 0 {
		t.Fatal(ended, err)
	}
	if err := client.Ping(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestNoTextShowsAPassword(t *testing.T) {
	kafka := kafkadouble.New(t, kafkadouble.WithSecurity("SASL_PLAINTEXT"), kafkadouble.WithUser("alice", "hidden"))
	settings, err := kafka.ClientSettings(t.Context(), "alice")
	if err != nil || settings.Password != "hidden" {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", settings, settings, settings), kafka.Stderr()} {
		if strings.Contains(text, "hidden") {
			t.Fatal(text)
		}
	}
}
