package kafkadouble

import (
	"context"
	"encoding/base64"
	"encoding/json"
)

// Param is an optional parameter of a verb. Functions such as [Times] and [Partition] make them. A
// parameter that a verb does not have is an [UsageError], which lists those that it has.
type Param struct {
	Name  string
	Value any
}

// EveryTime lets a rule apply until it is removed: the parameter times is null.
func EveryTime() Param {
	return Param{"times", nil}
}

// Data is the bytes of a key or a value. Nil is Kafka's null, which is not the same as empty.
type Data []byte

// String returns the bytes as a text.
func (d Data) String() string {
	return string(d)
}

// MarshalJSON writes the form of the control plane: {"base64": "..."}, or null.
func (d Data) MarshalJSON() ([]byte, error) {
	if d == nil {
		return []byte("null"), nil
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(d)})
}

// UnmarshalJSON reads a text, {"base64": "..."}, or null.
func (d *Data) UnmarshalJSON(text []byte) error {
	var plain *string
	if json.Unmarshal(text, &plain) == nil {
		*d = nil
		if plain != nil {
			*d = Data(*plain)
		}
		return nil
	}
	var coded struct {
		Base64 []byte `json:"base64"`
	}
	err := json.Unmarshal(text, &coded)
	*d = coded.Base64
	return err
}

// Record is a record of a topic.
type Record struct {
	Topic     string   `json:"topic"`
	Partition int      `json:"partition"`
	Offset    int      `json:"offset"`
	Timestamp int      `json:"timestamp"` // milliseconds since the epoch
	Key       Data     `json:"key"`
	Value     Data     `json:"value"`
	Headers   []Header `json:"headers"`
}

// Header is a header of a record.
type Header struct {
	Key   string
	Value Data
}

// MarshalJSON writes ["key", "value"].
func (h Header) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]any{h.Key, h.Value})
}

// UnmarshalJSON reads ["key", "value"].
func (h *Header) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[2]any{&h.Key, &h.Value})
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int
}

// UnmarshalJSON reads ["topic", 0].
func (p *TopicPartition) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[2]any{&p.Topic, &p.Partition})
}

// Request is a request that a client sent. The verbs that return requests fill Body and Answer;
// [Client.LastRequests] fills Text, a line for a person.
type Request struct {
	Number        int            `json:"number"`
	Time          int            `json:"time"` // milliseconds since the epoch
	Took          *int           `json:"took"` // milliseconds; nil while the request waits
	Broker        int            `json:"broker"`
	ClientID      *string        `json:"client_id"`
	Principal     string         `json:"principal"`
	API           string         `json:"api"`
	Version       int            `json:"version"`
	CorrelationID int            `json:"correlation_id"`
	Outcome       string         `json:"outcome"`
	Rules         []string       `json:"rules"`
	Errors        []string       `json:"errors"`
	Size          int            `json:"size"`
	AnswerSize    *int           `json:"answer_size"`
	Body          map[string]any `json:"request"`
	Answer        map[string]any `json:"answer"`
	Text          string         `json:"text"`
}

// TopicDescription is a topic with its partitions and the configs that were set.
type TopicDescription struct {
	Name       string                 `json:"name"`
	ID         string                 `json:"id"`
	IsInternal bool                   `json:"is_internal"`
	Partitions map[int]PartitionState `json:"partitions"`
	Configs    map[string]string      `json:"configs"`
}

// PartitionState is a partition at one moment. What is nil is not known: no broker that answers
// leads the partition.
type PartitionState struct {
	Topic            string      `json:"topic"`
	Partition        int         `json:"partition"`
	Leader           *int        `json:"leader"`
	LeaderEpoch      int         `json:"leader_epoch"`
	Replicas         []int       `json:"replicas"`
	ISR              []int       `json:"isr"`
	StartOffset      *int        `json:"start_offset"`
	EndOffset        *int        `json:"end_offset"`
	HighWatermark    *int        `json:"high_watermark"`
	LastStableOffset *int        `json:"last_stable_offset"`
	Epochs           map[int]int `json:"epochs"`
}

// GroupDescription is a group. Offsets and Lags are by topic and partition.
type GroupDescription struct {
	ID       string                    `json:"id"`
	Type     string                    `json:"type"`  // classic, consumer, share or streams
	State    string                    `json:"state"` // Kafka's name, such as Stable
	Protocol string                    `json:"protocol"`
	Members  []Member                  `json:"members"`
	Offsets  map[string]map[int]Offset `json:"offsets"`
	Lags     map[string]map[int]int    `json:"lags"`
}

// Member is a member of a group.
type Member struct {
	ID         string           `json:"id"`
	InstanceID *string          `json:"instance_id"`
	ClientID   string           `json:"client_id"`
	Host       string           `json:"host"`
	Assignment []TopicPartition `json:"assignment"`
}

// Offset is an offset that a group committed.
type Offset struct {
	Offset   int    `json:"offset"`
	Metadata string `json:"metadata"`
}

// Transaction is a transactional id and its latest transaction.
type Transaction struct {
	ID            string           `json:"id"`
	State         string           `json:"state"`
	ProducerID    int              `json:"producer_id"`
	ProducerEpoch int              `json:"producer_epoch"`
	TimeoutMs     int              `json:"timeout_ms"`
	StartedMs     *int             `json:"started_ms"`
	Partitions    []TopicPartition `json:"partitions"`
}

// ClusterDescription is the cluster with its brokers.
type ClusterDescription struct {
	ClusterID        string                    `json:"cluster_id"`
	ControllerID     int                       `json:"controller_id"`
	BootstrapServers string                    `json:"bootstrap_servers"`
	Brokers          map[int]BrokerDescription `json:"brokers"`
	NowMs            int                       `json:"now_ms"`
}

// BrokerDescription is a broker of a cluster.
type BrokerDescription struct {
	ID       int    `json:"id"`
	Address  string `json:"address"`
	State    string `json:"state"`
	IsFenced bool   `json:"is_fenced"`
}

// Snapshot says what a snapshot holds. Restore takes its name.
type Snapshot struct {
	Topics    int `json:"topics"`
	Records   int `json:"records"`
	SizeBytes int `json:"size_bytes"`
	TakenMs   int `json:"taken_ms"`
}

// Rule is a fault rule. Hits and Spent are those of the moment when the verb returned.
type Rule struct {
	ID         int            `json:"id"`
	Definition map[string]any `json:"rule"`
	Hits       int            `json:"hits"`
	Spent      bool           `json:"spent"`
	client     *Client
}

// Remove disarms the rule, and lets go on what it holds. It may be called again.
func (r *Rule) Remove(ctx context.Context) error {
	return r.client.RemoveRule(ctx, r.ID)
}

// Wait returns once the rule was applied, as often as [Hits] says if it is given.
func (r *Rule) Wait(ctx context.Context, params ...Param) error {
	return r.client.WaitForRule(ctx, r.ID, params...)
}

// StepOutcome is a step of a scenario: when it is called, in seconds after the scenario was
// applied, and whether it is "pending", "done" or "failed", with its Problem.
type StepOutcome struct {
	At      float64 `json:"at"`
	Verb    string  `json:"verb"`
	State   string  `json:"state"`
	Problem *string `json:"problem"`
}
