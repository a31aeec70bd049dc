package feed

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/calendar"
)

// The topology of the feed. Subscribers outside the program build on it: a name
// here never changes its meaning.
const (
	// DefaultPrefix is the prefix of a feed whose settings name none. Each
	// installation on an account has its own: it is a token of the subjects, by Subject,
	// and in upper case part of the name of the stream, by StreamName.
	DefaultPrefix = "daybook"

	// Partitions is the number that the last token of a subject counts to: all
	// entries of one record have one subject.
	Partitions = 64
)

// StreamName returns the name of the JetStream stream that holds the entries:
// <PREFIX>_CHANGES. The sequence number of a message is the position of its entry.
func StreamName(prefix string) string { return strings.ToUpper(prefix) + "_CHANGES" }

// Subjects admits all subjects of the stream.
func Subjects(prefix string) string { return prefix + ".changes.*.*" }

// Subject returns the subject that the entries of a record travel on:
// <prefix>.changes.<kind>.<id mod Partitions>.
func Subject(prefix string, kind calendar.Kind, id calendar.ID) string {
	return prefix + ".changes." + kind.String() + "." + strconv.FormatInt(int64(id%Partitions), 10)
}

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

	// MaxPayload is the largest message of the feed: what NATS advises at most. Servers may
	// allow less. A larger entry travels without its fields and state.
	MaxPayload = 8 << 20
)

// streamConfig is the stream as the relay makes it. first is the position of
// the first entry that it will hold.
func streamConfig(relayOptions *RelayOptions, first calendar.Position, origin string) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:        StreamName(relayOptions.Prefix),
		Description: "changes of daybook; sequence = position; made again from the event store when lost",
		Subjects:    []string{Subjects(relayOptions.Prefix)},
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		Compression: jetstream.S2Compression,
		Discard:     jetstream.DiscardOld,
		MaxBytes:    relayOptions.MaxBytes,
		Replicas:    relayOptions.Replicas,
		FirstSeq:    uint64(first),
		Metadata:    map[string]string{MetaForm: form, MetaOrigin: origin},
	}
}

// misfit says why a stream cannot carry the entries of a store, "" when it can.
func misfit(streamConfig *jetstream.StreamConfig, prefix, origin string) string {
	switch {
	case streamConfig.Metadata[MetaOrigin] != origin:
		return "not made from this event store"
	case streamConfig.Metadata[MetaForm] != form, streamConfig.Sealed, streamConfig.Retention != jetstream.LimitsPolicy, streamConfig.Mirror != nil, len(streamConfig.Sources) > 0,
		!slices.Equal(streamConfig.Subjects, []string{Subjects(prefix)}):
		return "sealed, a copy, or of another form, other subjects or another retention"
	}
	return ""
}

// foreign returns an error for a stream that another installation may live on: one that
// was made from another event store, or that somebody made who is no daybook and put
// something into. A stream that was made by hand while a relay published has messages of
// this store.
func foreign(info *jetstream.StreamInfo, newest *jetstream.RawStreamMsg, origin string) error {
	have := cmp.Or(info.Config.Metadata[MetaOrigin], newest.Header.Get(HeaderOrigin))
	if have == origin || have == "" && newest.Sequence == 0 {
		return nil
	}
	return fmt.Errorf("the stream is that of another event store: %s was made from %.14s, this event store is %.14s. Give each installation its own feed prefix (--feed-prefix), or delete the stream if nobody needs it any more (nats stream rm %[1]s)",
		info.Config.Name, cmp.Or(have, "something else"), origin)
}
