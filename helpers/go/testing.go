package kafkadouble

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

const reportTime = 10 * time.Second

// New starts a kafkadouble for a test, and stops it after the test. When the test fails, its log has
// the last requests that the brokers received.
func New(t testing.TB, given ...Option) *Double {
	t.Helper()
	d, err := Start(context.Background(), given...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.report(t)
		d.Stop()
	})
	return d
}

// SharedDouble is a kafkadouble for all tests of a package. It starts with the first test that needs
// it.
type SharedDouble struct {
	given []Option
	mutex sync.Mutex
	made  *Double
}

// Shared describes a kafkadouble for all tests of a package. It ends with the test process; to end it
// before, call its Stop in TestMain:
//
//	var shared = kafkadouble.Shared()
//
//	func TestMain(m *testing.M) {
//		code := m.Run()
//		shared.Stop()
//		os.Exit(code)
//	}
func Shared(given ...Option) *SharedDouble {
	return &SharedDouble{given: given}
}

// Get returns the shared kafkadouble, as empty as at its start: the topics of [WithTopic], no records,
// no rules, every broker running. When the test fails, its log has the last requests.
//
// It fails a test that is parallel, or part of a parallel one: that would empty the kafkadouble while
// another test uses it. Such a test calls [New]. A test that called Get cannot become parallel.
func (s *SharedDouble) Get(t testing.TB) *Double {
	t.Helper()
	refuseParallel(t)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.made == nil {
		d, err := Start(context.Background(), s.given...)
		if err != nil {
			t.Fatal(err)
		}
		s.made = d
	} else if err := s.made.Reset(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.made.report(t) })
	return s.made
}

// refuseParallel fails a parallel test. Only Setenv tells which tests are; it also refuses that this
// test becomes parallel later.
func refuseParallel(t testing.TB) {
	t.Helper()
	defer func() {
		t.Helper()
		if problem := recover(); problem != nil {
			t.Fatal("kafkadouble: a parallel test cannot get a shared double, which others use: call kafkadouble.New(t)")
		}
	}()
	t.Setenv("KAFKADOUBLE_SHARED_BY", t.Name())
}

// Stop ends the program, if a test started it.
func (s *SharedDouble) Stop() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.made != nil {
		s.made.Stop()
		s.made = nil
	}
}

// report logs what happened in a failed test. The context of the test has ended already.
func (d *Double) report(t testing.TB) {
	if !t.Failed() {
		return
	}
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), reportTime)
	defer cancel()
	text, err := d.Report(ctx, Count(d.options.requests))
	if err != nil {
		text = fmt.Sprintf("what happened is not known: %v; its stderr:\n%s", err, d.Stderr())
	}
	t.Log("kafkadouble: " + text)
}
