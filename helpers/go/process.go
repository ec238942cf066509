package kafkadouble

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	mostStderr = 64 << 10 // bytes that are kept
	stopTime   = 10 * time.Second
)

// process is a running program. Its output is read all the time, so that it never blocks. It ends
// when its stdin does, of which this process holds the other end: in whatever way this one ends.
type process struct {
	command *exec.Cmd
	lines   *lines
	stderr  *tail
	token   string
	done    chan struct{} // closed once it has ended
	stdin   io.Closer     // kept open
	once    sync.Once
}

func started(program []string, o *options) (*process, error) {
	token := make([]byte, 16)
	if _, err := rand.Read(token); err != nil {
		return nil, err
	}
	p := &process{
		lines:  &lines{values: map[string]string{}, complete: make(chan struct{})},
		stderr: &tail{},
		token:  hex.EncodeToString(token),
		done:   make(chan struct{}),
	}
	words := append(program[1:], "serve", "--port", "0", "--control-port", "0", "--until-stdin-ends")
	p.command = exec.Command(program[0], append(words, o.arguments...)...)
	p.command.Stdout, p.command.Stderr = p.lines, p.stderr
	p.command.Env = append(os.Environ(), "KAFKADOUBLE_CONTROL_TOKEN="+p.token)
	if len(o.users) > 0 { // other users of the machine can read a command line
		p.command.Env = append(p.command.Env, "KAFKADOUBLE_USERS="+strings.Join(o.users, "\n"))
	}
	stdin, err := p.command.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	if err := p.command.Start(); err != nil {
		return nil, &StartError{Message: fmt.Sprintf("%s cannot be started: %v", program[0], err)}
	}
	go func() {
		_ = p.command.Wait()
		close(p.done)
	}()
	return p, nil
}

// stop ends the process, and waits for its end.
func (p *process) stop() {
	p.once.Do(func() {
		_ = p.stdin.Close() // which is all on Windows: it has no SIGTERM
		_ = p.command.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
		case <-time.After(stopTime):
			_ = p.command.Process.Kill()
			<-p.done
		}
	})
}

// lines reads lines of key=value. The last one is control.url.
type lines struct {
	mutex    sync.Mutex
	rest     string
	values   map[string]string
	complete chan struct{}
}

func (l *lines) Write(text []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.rest += string(text)
	for {
		line, rest, found := strings.Cut(l.rest, "\n")
		if !found {
			return len(text), nil
		}
		l.rest = rest
		l.add(strings.TrimSpace(line))
	}
}

func (l *lines) add(line string) {
	name, value, _ := strings.Cut(line, "=")
	if _, complete := l.values[lastLine]; complete {
		return
	}
	l.values[name] = value
	if name == lastLine {
		close(l.complete)
	}
}

const lastLine = "control.url"

// tail keeps the end of what is written.
type tail struct {
	mutex sync.Mutex
	text  []byte
}

var _ io.Writer = (*tail)(nil)

func (t *tail) Write(text []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.text = append(t.text, text...)
	t.text = t.text[max(0, len(t.text)-mostStderr):]
	return len(text), nil
}

func (t *tail) String() string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return string(t.text)
}
