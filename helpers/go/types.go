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

// MarshalJSON writes ["topic", 0].
func (p TopicPartition) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]any{p.Topic, p.Partition})
}

// UnmarshalJSON reads ["topic", 0].
func (p *TopicPartition) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[2]any{&p.Topic, &p.Partition})
}

// Rule is a fault rule. Hits and Spent are those of the moment when the verb returned.
type Rule struct {
	ID         int  `json:"id"`
	Definition any  `json:"rule"` // a map in the JSON form of a rule, or a text for one with a function of Python
	Hits       int  `json:"hits"`
	Spent      bool `json:"spent"`
	client     *Client
}

// Remove disarms the rule, and releases everything that it holds. It may be called again.
func (r *Rule) Remove(ctx context.Context) error {
	return r.client.RemoveRule(ctx, r.ID)
}

// Wait returns once the rule was applied, as often as [Hits] says if it is given.
func (r *Rule) Wait(ctx context.Context, params ...Param) error {
	return r.client.WaitForRule(ctx, r.ID, params...)
}
