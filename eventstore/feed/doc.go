// Package feed carries the entries of the event store on NATS JetStream: the
// relay publishes them, the source reads them in order.
//
// The stream is transport only. Its sequence numbers are the positions of the
// store, the server itself refuses duplicates, holes and a second relay, and
// whatever is lost or damaged in JetStream is made again from the store. What
// travels is in topology.go and message.go; both are a public interface.
package feed
