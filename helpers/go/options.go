package kafkadouble

import (
	"fmt"
	"time"
)

// Option is a setting of the program that starts.
type Option func(*options)

type options struct {
	program   string
	arguments []string
	users     []string
	timeout   time.Duration
	requests  int
}

// WithProgram is the path of the program kafkadouble. Without it, the path is that of the
// environment variable KAFKADOUBLE, or kafkadouble is looked up on the PATH and in ~/.local/bin; if
// it is nowhere, uv's uvx gets and runs it.
func WithProgram(path string) Option {
	return func(o *options) { o.program = path }
}

// WithBrokers is the number of brokers; without it, there is one.
func WithBrokers(count int) Option {
	return WithArguments("--brokers", fmt.Sprint(count))
}

// WithTopic creates a topic at the start. It exists again after a Reset of [New] and [Shared].
func WithTopic(name string, partitions int) Option {
	return WithArguments("--topic", fmt.Sprintf("%s:%d", name, partitions))
}

// WithReplicatedTopic is [WithTopic] with a number of replicas.
func WithReplicatedTopic(name string, partitions, replicas int) Option {
	return WithArguments("--topic", fmt.Sprintf("%s:%d:%d", name, partitions, replicas))
}

// WithSetting is a setting of Kafka's broker, such as auto.create.topics.enable.
func WithSetting(name, value string) Option {
	return WithArguments("-c", name+"="+value)
}

// WithSecurity is the protocol of the brokers: SSL, SASL_PLAINTEXT or SASL_SSL. Clients get their
// settings from [Client.ClientSettings].
func WithSecurity(protocol string) Option {
	return WithArguments("--security", protocol)
}

// WithUser adds a user that can log in by SASL.
func WithUser(name, password string) Option {
	return func(o *options) { o.users = append(o.users, name+":"+password) }
}

// WithACL creates an ACL, such as "User:alice allow READ,WRITE topic:orders*". Clients may then do
// only what an ACL allows.
func WithACL(acl string) Option {
	return WithArguments("--acl", acl)
}

// WithSuperUser lets a principal, such as "User:admin", do everything.
func WithSuperUser(principal string) Option {
	return WithArguments("--super-user", principal)
}

// WithOAuthBearer is the kind of the tokens with which clients log in by OAUTHBEARER: unsecured, signed or any.
func WithOAuthBearer(kind string) Option {
	return WithArguments("--oauthbearer", kind)
}

// WithCertificate is what the brokers show with TLS: valid, expired, self-signed or wrong-host.
func WithCertificate(kind string) Option {
	return WithArguments("--certificate", kind)
}

// WithStepped lets time stand still until [Client.Advance] moves it.
func WithStepped() Option {
	return WithArguments("--stepped")
}

// WithScenario is the file of a scenario, with which the start and each Reset begin.
func WithScenario(path string) Option {
	return WithArguments("--scenario", path)
}

// WithArguments adds arguments of `kafkadouble serve`, such as "--data-dir", "/tmp/data".
func WithArguments(arguments ...string) Option {
	return func(o *options) { o.arguments = append(o.arguments, arguments...) }
}

// WithStartTimeout is how long the start may take; without it, 30 seconds.
func WithStartTimeout(timeout time.Duration) Option {
	return func(o *options) { o.timeout = timeout }
}

// WithLastRequests is how many requests the log of a failed test shows; without it, 20.
func WithLastRequests(count int) Option {
	return func(o *options) { o.requests = count }
}

func chosen(given []Option) *options {
	made := &options{timeout: 30 * time.Second, requests: 20}
	for _, option := range given {
		option(made)
	}
	return made
}
