// secure is what a client in Go meets on a broker that asks who it is: `secure CLIENT`, an attempt for each line of its input.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const patience = 30 * time.Second

// attempt is one line: its fields are separated by tabs.
type attempt struct {
	bootstrap, protocol, mechanism, user, secret, authority, certificate, topic string

	count, size int
}

// ended is how it went: what the client says of the first record that failed, and ms of throttling, -1 where it does not say.
type ended struct {
	Error      string  `json:"error"`
	Seconds    float64 `json:"seconds"`
	ThrottleMs float64 `json:"throttle_ms"`
	About      string  `json:"about"`
}

// clients give the name of an error, in the library's own words, and the time for which a broker has throttled them.
var clients = map[string]func(ctx context.Context, a attempt) (throttleMs float64, err error){
	"franz-go": franz,
	"sarama":   shopify,
	"kafka-go": segmentio,
}

func main() {
	client := clients[strings.Join(os.Args[1:], " ")]
	if client == nil {
		fmt.Fprintln(os.Stderr, "usage: secure franz-go|sarama|kafka-go")
		os.Exit(2)
	}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		began := time.Now()
		throttleMs, err := client(ctx, parsed(lines.Text()))
		cancel()
		end := ended{Seconds: time.Since(began).Seconds(), ThrottleMs: throttleMs}
		if err != nil {
			end.Error, end.About = nameOf(err), err.Error()
		}
		if err := json.NewEncoder(os.Stdout).Encode(end); err != nil {
			os.Exit(1)
		}
	}
}

func parsed(line string) attempt {
	f := strings.Split(line, "\t")
	count, _ := strconv.Atoi(f[8])
	size, _ := strconv.Atoi(f[9])
	return attempt{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], count, size}
}

// nameOf is the name that one of the libraries gives an error of the broker, or what it says.
func nameOf(err error) string {
	for _, known := range names {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	return err.Error()
}

func (a attempt) hasTLS() bool  { return strings.HasSuffix(a.protocol, "SSL") }
func (a attempt) hasSASL() bool { return strings.HasPrefix(a.protocol, "SASL") }

func (a attempt) tls() (*tls.Config, error) {
	pem, err := os.ReadFile(a.authority)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{RootCAs: x509.NewCertPool()}
	config.RootCAs.AppendCertsFromPEM(pem)
	if a.certificate != "" {
		pair, err := tls.LoadX509KeyPair(a.certificate, a.certificate)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func (a attempt) value() []byte { return []byte(strings.Repeat("x", a.size)) }
