// Package kafkadouble starts a Kafka-wire-compatible server for a test, and makes it misbehave on
// purpose.
//
//	func TestOrders(t *testing.T) {
//		kafka := kafkadouble.New(t, kafkadouble.WithBrokers(3), kafkadouble.WithTopic("orders", 2))
//		rule, err := kafka.Fail(t.Context(), "Produce", "NOT_LEADER_OR_FOLLOWER", kafkadouble.Times(2))
//		...
//	}
//
// The server is the program kafkadouble (pip install 'kafkadouble[control]'). New starts a process
// for one test, [Shared] one for all tests of a package. Every verb of kafkadouble is a method of
// [Client]; optional parameters are functions such as [Times] and [Partition].
package kafkadouble
