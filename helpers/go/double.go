package kafkadouble

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Double is a kafkadouble that this process started: a cluster of one broker or more.
type Double struct {
	*Client
	process *process
	options *options
}

// Start starts a kafkadouble, and returns once clients are accepted. The caller must call Stop;
// [New] and [Shared] do that for a test. It also ends when this process ends or is killed.
func Start(ctx context.Context, given ...Option) (*Double, error) {
	o := chosen(given)
	program, err := o.words()
	if err != nil {
		return nil, err
	}
	p, err := started(program, o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	d := &Double{process: p, options: o}
	if err := d.becomeReady(ctx); err != nil {
		p.stop()
		return nil, err
	}
	return d, nil
}

func (d *Double) becomeReady(ctx context.Context) error {
	select {
	case <-d.process.lines.complete:
	case <-d.process.done:
		return &StartError{"the program ended: " + d.process.command.ProcessState.String(), d.process.stderr.String()}
	case <-ctx.Done():
		return &StartError{fmt.Sprintf("the program is not ready: %v", ctx.Err()), d.process.stderr.String()}
	}
	d.Client = Connect(d.value(lastLine), d.process.token)
	d.version = d.value("version")
	var answer struct{}
	for {
		err := d.request(ctx, http.MethodGet, "/ready", nil, &answer)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return &StartError{fmt.Sprintf("the program is not ready: %v", err), d.process.stderr.String()}
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Stop ends the program, and waits for its end. It may be called again.
func (d *Double) Stop() {
	d.process.stop()
	d.http.CloseIdleConnections()
}

// BootstrapServers is HOST:PORT of every broker, separated by commas, as Kafka's clients take it.
func (d *Double) BootstrapServers() string {
	return d.value("bootstrap.servers")
}

// Brokers is HOST:PORT of every broker.
func (d *Double) Brokers() []string {
	return strings.Split(d.BootstrapServers(), ",")
}

// ControlURL is the address of the control plane.
func (d *Double) ControlURL() string {
	return d.value(lastLine)
}

// Token is what each call of the control plane must have: `Authorization: Bearer TOKEN`.
func (d *Double) Token() string {
	return d.process.token
}

// Version is the version of the program.
func (d *Double) Version() string {
	return d.version
}

// Stderr is the end of what the program wrote on stderr: connections, warnings, errors.
func (d *Double) Stderr() string {
	return d.process.stderr.String()
}

func (d *Double) value(name string) string {
	d.process.lines.mutex.Lock()
	defer d.process.lines.mutex.Unlock()
	return d.process.lines.values[name]
}
