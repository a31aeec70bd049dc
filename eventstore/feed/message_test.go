package feed_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/internal/testkit/golden"
)

// What subscribers outside the program see is frozen in a golden file.
func TestMessageGolden(t *testing.T) {
	t.Parallel()
	entries := []eventstore.Entry{
		{
			Position: 1, Kind: calendar.KindUser, ID: 1, Version: 1, Time: time.UnixMilli(1_772_452_800_000).UTC(),
			Cause: eventstore.Cause{Client: "daybook"}, Change: "user.created",
			Fields: json.RawMessage(`{"name":"admin","role":"administrator"}`), State: json.RawMessage(`{"id":1}`),
			Secret: []byte("never seen"),
		},
		{
			Position: 4711, Kind: calendar.KindEvent, ID: 200, Version: 3, Time: time.UnixMilli(1_772_452_800_123).UTC(), Actor: 1,
			Cause:  eventstore.Cause{Client: "curl/8 <\"ü\">", Request: "01J", Reason: "typing\nerror"},
			Change: "event.updated", Fields: json.RawMessage(`{"title":{"cn":"市集 & <b>"}}`), State: json.RawMessage(`{"id":200,"title":{"cn":"市集 & <b>"}}`),
			Secret: []byte("never seen"),
		},
		{
			Position: 4712, Kind: calendar.KindTag, ID: 64, Version: 2, Time: time.UnixMilli(1_772_452_800_900).UTC(), Actor: 9,
			Change: "tag.deleted", Fields: json.RawMessage(`{}`), State: json.RawMessage(`{"large":"` + string(bytes.Repeat([]byte("x"), 3000)) + `"}`),
		},
	}
	var out bytes.Buffer
	for i := range entries {
		m, err := feed.Encode(&entries[i], feed.History{Prefix: "daybook", Origin: strings.Repeat("0f", 32), Hash: sha256.Sum256([]byte{byte(i)})}, 4000)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(m.Subject + "\n")
		for _, name := range headers(m) {
			out.WriteString(name + ": " + m.Header.Get(name) + "\n")
		}
		out.WriteString("\n" + string(m.Data) + "\n\n")
	}
	if bytes.Contains(out.Bytes(), []byte("never seen")) {
		t.Error("the secret travels")
	}
	golden.Compare(t, "messages.golden", out.String())
}

func headers(m *nats.Msg) []string {
	names := make([]string, 0, len(m.Header))
	for name := range m.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestMessageRoundTrip(t *testing.T) {
	t.Parallel()
	texts := rapid.String()
	rapid.Check(t, func(t *rapid.T) {
		raw := func(name string) json.RawMessage {
			b, err := json.Marshal(map[string]string{"v": texts.Draw(t, name)})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		want := eventstore.Entry{
			Position: calendar.Position(rapid.Uint64Range(1, 1<<62).Draw(t, "position")),
			Kind:     rapid.SampledFrom([]calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindTag, calendar.KindImage, calendar.KindUser}).Draw(t, "kind"),
			ID:       calendar.ID(rapid.Int64Range(1, 1<<62).Draw(t, "id")),
			Version:  rapid.Int64Range(1, 1<<62).Draw(t, "version"),
			Time:     time.UnixMilli(rapid.Int64Range(0, 4_000_000_000_000).Draw(t, "time")).UTC(),
			Actor:    calendar.ID(rapid.Int64Range(0, 1<<62).Draw(t, "actor")),
			Cause:    eventstore.Cause{Client: texts.Draw(t, "client"), Request: texts.Draw(t, "request"), Reason: texts.Draw(t, "reason")},
			Change:   rapid.SampledFrom([]string{"event.created", "tag.deleted"}).Draw(t, "change"),
			Fields:   raw("fields"), State: raw("state"),
			Secret: []byte("secret"),
		}
		small := rapid.Bool().Draw(t, "small")
		size := 1 << 20
		if small {
			size = 0
		}
		m, err := feed.Encode(&want, feed.History{Prefix: feed.DefaultPrefix}, size)
		if err != nil {
			t.Fatal(err)
		}
		got, whole, err := feed.Decode(m.Header, m.Data)
		if err != nil {
			t.Fatal(err)
		}
		want.Secret = nil
		if small {
			want.Fields, want.State = nil, nil
		}
		if diff := cmp.Diff(want, got); diff != "" || whole == small {
			t.Errorf("whole %t (-want +got):\n%s", whole, diff)
		}
	})
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	good := `{"position":7,"kind":"event","id":1,"version":1,"time":"2026-03-02T12:00:00.000Z","actor":0,"cause":{},"change":"event.created","fields":{},"state":{}}`
	cases := map[string]struct{ id, data string }{
		"no JSON":        {"7", "hello"},
		"unknown kind":   {"7", `{"position":7,"kind":"party","time":"2026-03-02T12:00:00.000Z"}`},
		"no time":        {"7", `{"position":7,"kind":"event","time":"noon"}`},
		"other position": {"8", good},
		"no header":      {"", good},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &nats.Msg{Header: nats.Header{}, Data: []byte(c.data)}
			if c.id != "" {
				m.Header.Set(feed.HeaderID, c.id)
			}
			if e, _, err := feed.Decode(m.Header, m.Data); err == nil {
				t.Errorf("got %+v, want an error", e)
			}
		})
	}
	m := &nats.Msg{Header: nats.Header{feed.HeaderID: {"7"}}, Data: []byte(good)}
	if _, whole, err := feed.Decode(m.Header, m.Data); err != nil || !whole {
		t.Errorf("good message: whole %t, %v", whole, err)
	}
}
