package kafkadouble_test

import (
	"context"
	"crypto/tls"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kafkadouble "github.com/kafkadouble/kafkadouble/helpers/go"
)

var shared = kafkadouble.Shared(kafkadouble.WithTopic("orders", 2))

func TestMain(m *testing.M) {
	code := m.Run()
	shared.Stop()
	os.Exit(code)
}

func must[T any](t *testing.T) func(T, error) T {
	return func(result T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestRecordsComeBackAsTheyWereProduced(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	_, err := kafka.Produce(ctx, "orders", kafkadouble.Value([]byte{0xff}), kafkadouble.Key("pears"),
		kafkadouble.Partition(1), kafkadouble.Headers(map[string]any{"trace": "7"}))
	check(t, err)
	_, err = kafka.ProduceAll(ctx, "orders", [][]byte{{0xfe}, []byte("plain")}, kafkadouble.Partition(0))
	check(t, err)

	found := must[[]kafkadouble.Record](t)(kafka.WaitForRecords(ctx, "orders", kafkadouble.Count(3)))
	if len(found) != 3 || found[0].Value[0] != 0xfe || found[1].Value.String() != "plain" {
		t.Fatalf("found %v", found)
	}
	last := found[2]
	if last.Key.String() != "pears" || last.Value[0] != 0xff || last.Headers[0].Value.String() != "7" || last.Timestamp == 0 {
		t.Fatalf("found %v", last)
	}
}

func TestNullIsNotEmpty(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	must[int](t)(kafka.ProduceAll(ctx, "orders",
		[]map[string]any{{"key": "pears", "value": nil}, {"key": "pears", "value": []byte{}}}, kafkadouble.Partition(0)))
	found := must[[]kafkadouble.Record](t)(kafka.Records(ctx, "orders"))
	if found[0].Value != nil || found[1].Value == nil {
		t.Fatalf("found %v", found)
	}
}

func TestBytesAnywhereAreSentAsTheyAre(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	must[int](t)(kafka.Produce(ctx, "orders", kafkadouble.Headers(map[string][]byte{"trace": {0xff}})))
	must[int](t)(kafka.ProduceAll(ctx, "orders", []map[string][]byte{{"value": {0xfe}}}, kafkadouble.Partition(0)))
	found := must[[]kafkadouble.Record](t)(kafka.WaitForRecords(ctx, "orders", kafkadouble.Count(2)))
	for _, record := range found {
		if record.Value == nil && record.Headers[0].Value[0] != 0xff || record.Value != nil && record.Value[0] != 0xfe {
			t.Fatalf("found %v", found)
		}
	}
}

func TestAParameterWithoutAFormInJSONIsNamed(t *testing.T) {
	kafka := shared.Get(t)
	_, err := kafka.Produce(t.Context(), "orders", kafkadouble.Value(func() {}))
	if err == nil || !strings.Contains(err.Error(), "the parameter value: json: unsupported type: func()") {
		t.Fatal(err)
	}
}

func TestNamesAreConstants(t *testing.T) {
	kafka := shared.Get(t)
	must[*kafkadouble.Rule](t)(kafka.Fail(t.Context(), kafkadouble.APIProduce, kafkadouble.ErrorNotLeaderOrFollower))
}

func TestSharedDoubleIsEmptyForEachTest(t *testing.T) {
	t.Run("first", func(t *testing.T) {
		kafka, ctx := shared.Get(t), t.Context()
		check(t, kafka.CreateTopic(ctx, "other", kafkadouble.Partitions(3)))
		must[*kafkadouble.Rule](t)(kafka.Fail(ctx, "Produce", "NOT_LEADER_OR_FOLLOWER"))
		must[int](t)(kafka.Produce(ctx, "orders", kafkadouble.Value("pears")))
	})
	t.Run("second", func(t *testing.T) {
		kafka, ctx := shared.Get(t), t.Context()
		topics := must[map[string]kafkadouble.TopicDescription](t)(kafka.Topics(ctx))
		if len(topics) != 1 || len(topics["orders"].Partitions) != 2 {
			t.Fatalf("topics %v", topics)
		}
		rules := must[[]*kafkadouble.Rule](t)(kafka.Rules(ctx))
		records := must[[]kafkadouble.Record](t)(kafka.Records(ctx, "orders"))
		if len(rules)+len(records) != 0 {
			t.Fatalf("rules %v, records %v", rules, records)
		}
	})
}

func TestGroupsHaveOffsetsAndLags(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	must[int](t)(kafka.Produce(ctx, "orders", kafkadouble.Value("pears"), kafkadouble.Partition(0)))
	check(t, kafka.CommitOffsets(ctx, "shop", map[string]map[int]int{"orders": {0: 0}}))
	shop := must[kafkadouble.GroupDescription](t)(kafka.WaitForGroup(ctx, "shop", kafkadouble.Lag(1)))
	if shop.Offsets["orders"][0].Offset != 0 || shop.Lags["orders"][0] != 1 || shop.State != "Empty" {
		t.Fatalf("group %+v", shop)
	}
}

func TestRulesAreHandles(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	rule := must[*kafkadouble.Rule](t)(kafka.Delay(ctx, "*", 10*time.Millisecond, kafkadouble.EveryTime()))
	askVersions(t, kafka)
	check(t, rule.Wait(ctx, kafkadouble.Hits(1)))
	seen := must[[]kafkadouble.Request](t)(kafka.AssertSeen(ctx, kafkadouble.APIs("ApiVersions"), kafkadouble.Times(1)))
	if len(seen[0].Rules) != 1 || *seen[0].Took < 10 {
		t.Fatalf("seen %+v", seen[0])
	}
	check(t, rule.Remove(ctx))
	if rules := must[[]*kafkadouble.Rule](t)(kafka.Rules(ctx)); len(rules) != 0 {
		t.Fatalf("rules %v", rules)
	}
}

func TestSnapshotsAreRestoredByName(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	taken := must[kafkadouble.Snapshot](t)(kafka.Snapshot(ctx, kafkadouble.Name("empty")))
	must[int](t)(kafka.Produce(ctx, "orders", kafkadouble.Value("pears")))
	check(t, kafka.Restore(ctx, "empty"))
	if found := must[[]kafkadouble.Record](t)(kafka.Records(ctx, "orders")); len(found) != 0 || taken.Topics != 1 {
		t.Fatalf("found %v", found)
	}
}

func TestTheClockIsAdvanced(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	check(t, kafka.Freeze(ctx))
	before := must[kafkadouble.ClusterDescription](t)(kafka.DescribeCluster(ctx)).NowMs
	check(t, kafka.Advance(ctx, time.Hour))
	if after := must[kafkadouble.ClusterDescription](t)(kafka.DescribeCluster(ctx)).NowMs; after-before != 3_600_000 {
		t.Fatalf("advanced by %d ms", after-before)
	}
}

func TestErrorsAreTyped(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	var (
		refused   *kafkadouble.KafkaError
		usage     *kafkadouble.UsageError
		timeout   *kafkadouble.TimeoutError
		assertion *kafkadouble.AssertionError
	)
	if err := kafka.CreateTopic(ctx, "orders"); !errors.As(err, &refused) || refused.Code != 36 || refused.Name != "TOPIC_ALREADY_EXISTS" {
		t.Fatal(err)
	}
	if err := kafka.CreateTopic(ctx, "more", kafkadouble.Lag(1)); !errors.As(err, &usage) || !strings.Contains(err.Error(), "lag") {
		t.Fatal(err)
	}
	if _, err := kafka.WaitForRecords(ctx, "orders", kafkadouble.Timeout(time.Millisecond)); !errors.As(err, &timeout) {
		t.Fatal(err)
	}
	if _, err := kafka.AssertSeen(ctx, kafkadouble.APIs("Produce")); !errors.As(err, &assertion) {
		t.Fatal(err)
	}
}

func TestAScenarioMayHaveUsers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.toml")
	check(t, os.WriteFile(path, []byte("security = 'SASL_SSL'\nusers = { alice = 'secret' }\n[[topics]]\nname = 'orders'\n"), 0o600))
	kafka := kafkadouble.New(t, kafkadouble.WithScenario(path))
	topics := must[map[string]kafkadouble.TopicDescription](t)(kafka.Topics(t.Context()))
	settings := must[kafkadouble.ClientSettings](t)(kafka.ClientSettings(t.Context(), "alice"))
	config := must[*tls.Config](t)(settings.TLS())
	if len(topics) != 1 || settings.Password != "secret" || config.RootCAs == nil {
		t.Fatal(topics, settings)
	}
}

func TestAnUnknownVerbNamesBothVersions(t *testing.T) {
	kafka := shared.Get(t)
	err := kafka.Call(t.Context(), "fly", nil, nil)
	for _, words := range []string{"fly", "program kafkadouble " + kafka.Version(), "library " + kafkadouble.LibraryVersion} {
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Fatalf("%q is not in %v", words, err)
		}
	}
}

func TestAContextEndsAWait(t *testing.T) {
	kafka := shared.Get(t)
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	_, err := kafka.WaitForRecords(ctx, "orders", kafkadouble.Timeout(time.Minute))
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestAClientConnectsByItsAddress(t *testing.T) {
	kafka := shared.Get(t)
	check(t, kafkadouble.Connect(kafka.ControlURL(), kafka.Token()).CreateTopic(t.Context(), "other"))
	var refused *kafkadouble.CallError
	err := kafkadouble.Connect(kafka.ControlURL(), "wrong").CreateTopic(t.Context(), "more")
	if !errors.As(err, &refused) || refused.Status != 401 {
		t.Fatal(err)
	}
}

func TestTimeStandsStillUntilItIsAdvanced(t *testing.T) {
	kafka, ctx := kafkadouble.New(t, kafkadouble.WithStepped()), t.Context()
	before := must[kafkadouble.ClusterDescription](t)(kafka.DescribeCluster(ctx)).NowMs
	check(t, kafka.Advance(ctx, 45*time.Second))
	if after := must[kafkadouble.ClusterDescription](t)(kafka.DescribeCluster(ctx)).NowMs; after != before+45_000 {
		t.Fatal(before, after)
	}
}

func TestErrorsAreInTheWordsOfGo(t *testing.T) {
	kafka, ctx := shared.Get(t), t.Context()
	for _, each := range []struct {
		err   error
		words string
	}{
		{kafka.Advance(ctx, time.Second), "give WithStepped(), or Freeze() it"},
		{kafka.ExpireSession(ctx, 1), "give WithBrokers(2) or more"},
		{kafka.Call(ctx, "produce", map[string]any{"topic": "orders", "value": 5}, nil), "a []byte, or nil, not 5"},
	} {
		var wrong *kafkadouble.UsageError
		if !errors.As(each.err, &wrong) || !strings.Contains(wrong.Message, each.words) {
			t.Errorf("%v has no %q", each.err, each.words)
		}
	}
}
