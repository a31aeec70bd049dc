package feed

import (
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
	"daybook/eventstore"
)

// The topology of the feed. Subscribers outside the program build on it: a name
// here never changes its meaning.
const (
	// Stream is the JetStream stream that holds the entries. The sequence number
	// of a message is the position of its entry.
	Stream = "DAYBOOK_CHANGES"

	// Subjects admits all subjects of the stream:
	// daybook.changes.<kind>.<id mod Partitions>.
	Subjects = "daybook.changes.*.*"

	// Partitions is the number that the last token of a subject counts to: all
	// entries of one record have one subject.
	Partitions = 64

	subjectPrefix = "daybook.changes."
)

// The keys of the stream's metadata.
const (
	// MetaForm is the form of the messages, now "1".
	MetaForm = "daybook_form"
	// MetaOrigin tells which event store the stream is made from: the leaf of
	// the store's first entry, in hexadecimal digits.
	MetaOrigin = "daybook_origin"

	form = "1"
)

// Sizes of a stream, in bytes.
const (
	DefaultMaxBytes = 1 << 30
	MinMaxBytes     = 1 << 20
)

// Subject gives the subject that the entries of a record travel on.
func Subject(k calendar.Kind, id calendar.ID) string {
	return subjectPrefix + k.String() + "." + strconv.FormatInt(int64(id%Partitions), 10)
}

// streamConfig is the stream as the relay makes it. first is the position of
// the first entry that it will hold.
func streamConfig(o *RelayOptions, first calendar.Position, origin string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        Stream,
		Description: "changes of daybook; sequence = position; made again from the event store when lost",
		Subjects:    []string{Subjects},
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardOld,
		MaxBytes:    o.MaxBytes,
		Replicas:    o.Replicas,
		FirstSeq:    uint64(first),
		Metadata:    map[string]string{MetaForm: form, MetaOrigin: origin},
	}
}

// misfit says why a stream cannot carry the entries of a store, "" when it can.
func misfit(c *jetstream.StreamConfig, origin string) string {
	switch {
	case c.Metadata[MetaOrigin] != origin:
		return "made from another event store"
	case c.Metadata[MetaForm] != form:
		return "messages of another form"
	case c.Retention != jetstream.LimitsPolicy:
		return "retention is not by limits"
	case c.Sealed:
		return "sealed"
	case c.Mirror != nil || len(c.Sources) > 0:
		return "a copy of another stream"
	case len(c.Subjects) != 1 || c.Subjects[0] != Subjects:
		return "other subjects"
	default:
		return ""
	}
}

// checkDense makes sure that the store gave the next entry: positions have no
// gap, so another one is a defect that never goes away by waiting.
func checkDense(after, got calendar.Position) error {
	if got != after+1 {
		return fmt.Errorf("%w: entry %d after %d", eventstore.ErrDamaged, got, after)
	}
	return nil
}
