package feed_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"daybook/eventstore/feed"
)

// TestMessages: what subscribers outside the program see is frozen in messages.golden. Each
// message there, decoded and encoded again, is the same text, without the secret.
func TestMessages(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/messages.golden")
	check(t, err)
	parts := strings.Split(strings.TrimSuffix(string(want), "\n\n"), "\n\n")
	for i := 0; i < len(parts); i += 2 {
		header := nats.Header{}
		subject, lines, _ := strings.Cut(parts[i], "\n")
		for line := range strings.SplitSeq(lines, "\n") {
			name, value, _ := strings.Cut(line, ": ")
			header[name] = []string{value}
		}
		entry, whole, err := feed.Decode(header, []byte(parts[i+1]))
		check(t, err)
		limit := 4000
		if !whole {
			limit = 0
		}
		entry.Secret = []byte("never seen")
		msg, err := feed.Encode(&entry, "daybook", header.Get(feed.HeaderOrigin), limit)
		check(t, err)
		if diff := cmp.Diff(parts[i+1], string(msg.Data)) + cmp.Diff(header, msg.Header) + cmp.Diff(subject, msg.Subject); diff != "" {
			t.Errorf("message %d (-want +got):\n%s", i/2, diff)
		}
		header.Set(feed.HeaderID, "1"+header.Get(feed.HeaderID))
		if _, _, err := feed.Decode(header, msg.Data); err == nil {
			t.Errorf("message %d is taken with another position", i/2)
		}
	}
	for _, data := range []string{"hello", `{"position":7,"kind":"party","time":"2026-03-02T12:00:00.000Z"}`, `{"position":7,"kind":"event","time":"noon"}`} {
		if _, _, err := feed.Decode(nats.Header{feed.HeaderID: {"7"}}, []byte(data)); err == nil {
			t.Errorf("%s is taken", data)
		}
	}
}
