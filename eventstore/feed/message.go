package feed

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"daybook/calendar"
	"daybook/eventstore"
)

// The headers of a message: CloudEvents 1.0 in binary mode, and some of our own.
// ce-source and ce-id together name the entry.
const (
	HeaderSpecVersion = "ce-specversion" // "1.0"
	HeaderID          = "ce-id"          // position, digits
	HeaderSource      = "ce-source"      // "/" and the prefix of the feed: "/daybook"
	HeaderType        = "ce-type"        // "daybook." and the name of the change: "daybook.event.updated"
	HeaderSubject     = "ce-subject"     // "<kind>/<id>"
	HeaderTime        = "ce-time"        // RFC 3339, UTC, milliseconds
	HeaderContentType = "content-type"   // "application/json"

	// HeaderOrigin names the event store: the leaf of its first entry, in
	// hexadecimal digits. HeaderMark names the history up to the entry: the hash of
	// the commit that the entry is in, in hexadecimal digits, which is chained over
	// all commits before. The same position with another mark is of a history that
	// a failover lost, or that was gone back to: what was read of the other one from
	// there on never was.
	HeaderOrigin = "daybook-origin"
	HeaderMark   = "daybook-mark"

	// HeaderOmitted is "fields,state" on a message whose entry is larger than
	// the feed carries: its payload has neither, and the entry is to be read
	// from the history of the record.
	HeaderOmitted = "daybook-omitted"

	// HeaderRedacted is on a message whose entry was erased: the position of the entry
	// that erased its record. The payload has cause, fields and state no more.
	HeaderRedacted = "daybook-redacted"
)

const (
	timeForm = "2006-01-02T15:04:05.000Z"
	omitted  = "fields,state"
)

// head is the payload but for the two raw parts, in the order of the payload.
type head struct {
	Position calendar.Position `json:"position"`
	Kind     string            `json:"kind"`
	ID       calendar.ID       `json:"id"`
	Version  int64             `json:"version"`
	Time     string            `json:"time"`
	Actor    calendar.ID       `json:"actor"`
	Cause    eventstore.Cause  `json:"cause"`
	Change   string            `json:"change"`
}

// payload is what a message says: the entry but for its secret and salts.
type payload struct {
	head
	Fields json.RawMessage `json:"fields"`
	State  json.RawMessage `json:"state"`
}

// strip takes from an entry of the store what is never on the feed.
func strip(entry *eventstore.Entry) {
	entry.Secret, entry.Salts, entry.Leaf, entry.Commit = nil, eventstore.Salts{}, [32]byte{}, eventstore.Commit{Hash: entry.Commit.Hash}
	if entry.Redacted != nil {
		entry.Redacted = &eventstore.Redacted{By: entry.Redacted.By}
	}
}

// Encode makes the message of an entry for the feed of a prefix, see HeaderOrigin. Secret,
// salts and leaf of the entry do not travel. An entry of which headers and payload would be
// larger than limit bytes travels without its fields and state.
func Encode(entry *eventstore.Entry, prefix, origin string, limit int) (*nats.Msg, error) {
	at := entry.Time.UTC().Format(timeForm)
	data, err := json.Marshal(head{
		Position: entry.Position, Kind: entry.Kind.String(), ID: entry.ID, Version: entry.Version, Time: at,
		Actor: entry.Actor, Cause: entry.Cause, Change: entry.Change,
	})
	if err != nil {
		return nil, fmt.Errorf("encode entry %d: %w", entry.Position, err)
	}
	message := &nats.Msg{
		Subject: Subject(prefix, entry.Kind, entry.ID),
		Header: nats.Header{
			HeaderSpecVersion: {"1.0"},
			HeaderID:          {entry.Position.String()},
			HeaderSource:      {"/" + prefix},
			HeaderType:        {"daybook." + entry.Change},
			HeaderSubject:     {entry.Kind.String() + "/" + entry.ID.String()},
			HeaderTime:        {at},
			HeaderContentType: {"application/json"},
			HeaderOrigin:      {origin},
			HeaderMark:        {hex.EncodeToString(entry.Commit.Hash[:])},
		},
	}
	if entry.Redacted != nil {
		message.Header[HeaderRedacted] = []string{entry.Redacted.By.String()}
	}
	if whole := len(data) + len(entry.Fields) + len(entry.State) + headroom; whole > limit {
		message.Header[HeaderOmitted] = []string{omitted}
		message.Data = data
		return message, nil
	}
	// Byte for byte: these parts are canonical, and are hashed as they are.
	message.Data = fmt.Appendf(data[:len(data)-1], `,"fields":%s,"state":%s}`, orNull(entry.Fields), orNull(entry.State))
	return message, nil
}

// headroom is what headers, key names and the expectations of a publish take at
// most.
const headroom = 1024

// orNull returns the null that stands for a part that is not there.
func orNull(raw []byte) []byte {
	if len(raw) == 0 {
		return null
	}
	return raw
}

var null = []byte("null")

// Decode reads the header and data of a message that Encode made. Of a message with
// HeaderOmitted it returns the entry without fields and state, and whole is false. Of one
// with HeaderRedacted it returns no hashes.
func Decode(header nats.Header, data []byte) (entry eventstore.Entry, whole bool, err error) {
	var p payload
	jsonErr := json.Unmarshal(data, &p)
	instant, timeErr := time.Parse(timeForm, p.Time)
	kind, known := calendar.ParseKind(p.Kind)
	if !known || header.Get(HeaderID) != p.Position.String() {
		err = fmt.Errorf("kind %q, %s %q, position %d", p.Kind, HeaderID, header.Get(HeaderID), p.Position)
	}
	entry = eventstore.Entry{
		Position: p.Position, Kind: kind, ID: p.ID, Version: p.Version, Time: instant,
		Actor: p.Actor, Cause: p.Cause, Change: p.Change,
		Fields: present(p.Fields), State: present(p.State),
	}
	hash, hashErr := hex.DecodeString(header.Get(HeaderMark))
	if copy(entry.Commit.Hash[:], hash) < len(entry.Commit.Hash) {
		hashErr = fmt.Errorf("%s %q", HeaderMark, header.Get(HeaderMark))
	}
	var byErr error
	if by := header.Get(HeaderRedacted); by != "" {
		entry.Redacted = new(eventstore.Redacted)
		_, byErr = fmt.Sscan(by, &entry.Redacted.By)
	}
	if err = errors.Join(jsonErr, timeErr, err, hashErr, byErr); err != nil {
		return entry, false, fmt.Errorf("message of the feed: %w", err)
	}
	return entry, header.Get(HeaderOmitted) == "", nil
}

// present undoes orNull.
func present(raw json.RawMessage) json.RawMessage {
	if bytes.Equal(raw, null) {
		return nil
	}
	return raw
}
