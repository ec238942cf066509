package kafkadouble

import "fmt"

// KafkaError is an error of Kafka, as a broker would send it to a client.
type KafkaError struct {
	Code    int
	Name    string
	Message string
}

func (e *KafkaError) Error() string {
	return fmt.Sprintf("kafkadouble: %s (%d): %s", e.Name, e.Code, e.Message)
}

// UsageError is a call that makes no sense. The message says what is allowed.
type UsageError struct {
	Status  int
	Message string
}

func (e *UsageError) Error() string {
	return "kafkadouble: " + e.Message
}

// TimeoutError is a wait that ended before its state was reached. The message says what there was.
type TimeoutError struct {
	Message string
}

func (e *TimeoutError) Error() string {
	return "kafkadouble: " + e.Message
}

// Timeout is true, as net.Error has it.
func (e *TimeoutError) Timeout() bool {
	return true
}

// AssertionError is an assertion that does not hold, such as that of AssertSeen.
type AssertionError struct {
	Message string
}

func (e *AssertionError) Error() string {
	return "kafkadouble: " + e.Message
}

// StartError is a program that was not found, or did not start. Stderr is what it wrote.
type StartError struct {
	Message string
	Stderr  string
}

func (e *StartError) Error() string {
	if e.Stderr == "" {
		return "kafkadouble: " + e.Message
	}
	return "kafkadouble: " + e.Message + "; its stderr:\n" + e.Stderr
}

// CallError is any other answer of the control plane, such as one without the right token.
type CallError struct {
	Status  int
	Kind    string
	Message string
}

func (e *CallError) Error() string {
	return fmt.Sprintf("kafkadouble: HTTP status %d (%s): %s", e.Status, e.Kind, e.Message)
}

type problem struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Code    int    `json:"code"`
	Name    string `json:"name"`
}

func (p problem) asError(status int) error {
	switch p.Kind {
	case "kafka":
		return &KafkaError{p.Code, p.Name, p.Message}
	case "usage":
		return &UsageError{status, p.Message}
	case "timeout":
		return &TimeoutError{p.Message}
	case "assertion":
		return &AssertionError{p.Message}
	}
	return &CallError{status, p.Kind, p.Message}
}
