package kafkadouble_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"reflect"
	"testing"
)

// rawClient sends requests that are given in hex, each on a connection of its own.
type rawClient struct {
	t       *testing.T
	address string
}

// hold sends a request, and does not wait for its answer.
func (c rawClient) hold(frame string) net.Conn {
	c.t.Helper()
	request, err := hex.DecodeString(frame)
	check(c.t, err)
	connection, err := net.Dial("tcp", c.address)
	check(c.t, err)
	c.t.Cleanup(func() { connection.Close() })
	_, err = connection.Write(request)
	check(c.t, err)
	return connection
}

// ask sends a request until its answer has no error at this offset; 0 takes any answer.
func (c rawClient) ask(frame string, errorAt int) {
	c.t.Helper()
	for {
		connection := c.hold(frame)
		var size uint32
		check(c.t, binary.Read(connection, binary.BigEndian, &size))
		answer := make([]byte, size)
		_, err := io.ReadFull(connection, answer)
		check(c.t, err)
		connection.Close()
		if errorAt == 0 || binary.BigEndian.Uint16(answer[errorAt:]) == 0 {
			return
		}
	}
}

// same compares two values as texts.
func same(t *testing.T, expected, actual any) {
	t.Helper()
	if text(expected) != text(actual) {
		t.Fatalf("expected %s, not %s", text(expected), text(actual))
	}
}

func text(value any) string {
	of := reflect.ValueOf(value)
	if of.Kind() == reflect.Pointer {
		if of.IsNil() {
			return "null"
		}
		return text(of.Elem().Interface())
	}
	return fmt.Sprint(value)
}
