package kafkadouble_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	kafkadouble "github.com/kafkadouble/kafkadouble/helpers/go"
)

// inner is set in test processes that a test starts: these tests fail, or never end.
const inner = "KAFKADOUBLE_INNER_TEST"

// askVersions sends an ApiVersions request as the client "by-hand", and waits for the answer.
func askVersions(t *testing.T, kafka *kafkadouble.Double) {
	t.Helper()
	connection, err := net.Dial("tcp", kafka.Brokers()[0])
	check(t, err)
	defer connection.Close()
	_, err = connection.Write([]byte("\x00\x00\x00\x11\x00\x12\x00\x00\x00\x00\x00\x01\x00\x07by-hand"))
	check(t, err)
	_, err = connection.Read(make([]byte, 4))
	check(t, err)
}

func TestInnerFails(t *testing.T) {
	if os.Getenv(inner) != "fails" {
		t.Skip("another test starts this one")
	}
	askVersions(t, kafkadouble.New(t))
	t.Error("on purpose")
}

func TestInnerWaits(t *testing.T) {
	if os.Getenv(inner) != "waits" {
		t.Skip("another test starts this one")
	}
	fmt.Println("address=" + kafkadouble.New(t).BootstrapServers())
	select {}
}

func TestInnerEnds(t *testing.T) {
	how := os.Getenv(inner)
	if how != "exits" && how != "panics" {
		t.Skip("another test starts this one")
	}
	fmt.Println("address=" + kafkadouble.New(t).BootstrapServers())
	if how == "exits" {
		os.Exit(3)
	}
	panic("on purpose")
}

func TestInnerGetsTheSharedDouble(t *testing.T) {
	switch os.Getenv(inner) {
	case "parallel":
		t.Parallel()
		shared.Get(t)
	case "parallel subtests":
		for _, name := range []string{"a", "b"} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				shared.Get(t)
			})
		}
	case "below a parallel one":
		t.Parallel()
		t.Run("a", func(t *testing.T) { shared.Get(t) })
	default:
		t.Skip("another test starts this one")
	}
}

func TestAParallelTestCannotGetTheSharedDouble(t *testing.T) {
	for _, kind := range []string{"parallel", "parallel subtests", "below a parallel one"} {
		output, err := innerTest("TestInnerGetsTheSharedDouble", kind).CombinedOutput()
		if err == nil || !strings.Contains(string(output), "call kafkadouble.New(t)") ||
			strings.Contains(string(output), "goroutine") {
			t.Errorf("%s: %v: %s", kind, err, output)
		}
	}
}

func TestSubtestsCanGetTheSharedDouble(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			if found := must[map[string]kafkadouble.TopicDescription](t)(shared.Get(t).Topics(t.Context())); len(found) != 1 {
				t.Fatal(found)
			}
		})
	}
}

func innerTest(name, kind string) *exec.Cmd {
	command := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v")
	command.Env = append(os.Environ(), inner+"="+kind)
	return command
}

func TestAFailedTestShowsTheLastRequests(t *testing.T) {
	output, err := innerTest("TestInnerFails", "fails").CombinedOutput()
	if err == nil || !strings.Contains(string(output), "the last requests:") ||
		!strings.Contains(string(output), "ApiVersions v0 #1 of 'by-hand'") {
		t.Fatalf("%v: %s", err, output)
	}
}

func TestTheProgramEndsWithAKilledTest(t *testing.T) {
	command := innerTest("TestInnerWaits", "waits")
	output, err := command.StdoutPipe()
	check(t, err)
	check(t, command.Start())
	address := ""
	for lines := bufio.NewScanner(output); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "address=")
	}
	check(t, command.Process.Kill())
	_ = command.Wait()
	untilRefused(t, address)
}

func TestTheProgramEndsWithAProcessThatExitsOrPanics(t *testing.T) {
	for _, how := range []string{"exits", "panics"} {
		output, err := innerTest("TestInnerEnds", how).CombinedOutput()
		_, rest, _ := strings.Cut(string(output), "address=")
		address, _, found := strings.Cut(rest, "\n")
		if err == nil || !found {
			t.Fatalf("%s: %v: %s", how, err, output)
		}
		untilRefused(t, address)
	}
}

func untilRefused(t *testing.T, address string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		connection, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		connection.Close()
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s still accepts connections", address)
}

func TestStopEndsTheProgram(t *testing.T) {
	kafka, err := kafkadouble.Start(t.Context())
	check(t, err)
	kafka.Stop()
	kafka.Stop()
	untilRefused(t, kafka.BootstrapServers())
}

func TestSeveralDoublesAtOnce(t *testing.T) {
	first, second := kafkadouble.New(t), kafkadouble.New(t, kafkadouble.WithBrokers(3))
	check(t, first.CreateTopic(t.Context(), "orders"))
	check(t, second.CreateTopic(t.Context(), "orders", kafkadouble.ReplicationFactor(3)))
	if len(first.Brokers()) != 1 || len(second.Brokers()) != 3 {
		t.Fatalf("brokers %v and %v", first.Brokers(), second.Brokers())
	}
}

func TestAMissingProgramSaysHowToInstallIt(t *testing.T) {
	t.Setenv("KAFKADOUBLE", "/nowhere/kafkadouble")
	_, err := kafkadouble.Start(t.Context())
	var start *kafkadouble.StartError
	if !errors.As(err, &start) || !strings.Contains(err.Error(), "pip install 'kafkadouble[control]'") {
		t.Fatal(err)
	}
}

func TestAFailedStartShowsStderr(t *testing.T) {
	_, err := kafkadouble.Start(t.Context(), kafkadouble.WithSetting("log.segment.bytes", "many"))
	var start *kafkadouble.StartError
	if !errors.As(err, &start) || !strings.Contains(start.Stderr, "log.segment.bytes") {
		t.Fatal(err)
	}
}
