package kafkadouble

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// encoded is the body of a call. A value that has no form in JSON, such as a function, is an error
// that names its parameter.
func encoded(parameters map[string]any) ([]byte, error) {
	made := make(map[string]json.RawMessage, len(parameters))
	for name, value := range parameters {
		text, err := json.Marshal(plain(value))
		if err != nil {
			return nil, fmt.Errorf("kafkadouble: the parameter %s: %w", name, err)
		}
		made[name] = text
	}
	return json.Marshal(made)
}

// plain is the value with durations as seconds, bytes as the control plane has them, and maps by
// [TopicPartition] as maps by topic and partition.
func plain(value any) any {
	switch given := value.(type) {
	case nil:
		return nil
	case time.Duration:
		return given.Seconds()
	case []byte:
		return Data(given)
	case json.Marshaler:
		return given
	}
	of := reflect.ValueOf(value)
	switch of.Kind() {
	case reflect.Slice, reflect.Array:
		made := make([]any, 0, of.Len())
		for index := range of.Len() {
			made = append(made, plain(of.Index(index).Interface()))
		}
		return made
	case reflect.Map:
		return plainMap(of)
	case reflect.Pointer:
		if of.IsNil() {
			return nil
		}
		return plain(of.Elem().Interface())
	}
	return value
}

func plainMap(of reflect.Value) any {
	if of.IsNil() {
		return nil
	}
	made := make(map[string]any, of.Len())
	for entries := of.MapRange(); entries.Next(); {
		key, value := entries.Key().Interface(), plain(entries.Value().Interface())
		at, isPartition := key.(TopicPartition)
		if !isPartition {
			made[fmt.Sprint(key)] = value
			continue
		}
		partitions, _ := made[at.Topic].(map[string]any)
		if partitions == nil {
			partitions = map[string]any{}
			made[at.Topic] = partitions
		}
		partitions[fmt.Sprint(at.Partition)] = value
	}
	return made
}
