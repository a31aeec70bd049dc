package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore/feed"
	"daybook/internal/testkit"
)

// TestTwoInstallationsOnOneFeed: the second installation on an account leaves the
// stream of the first alone, says what is to be done, and serves on; with a prefix of
// its own all is well.
func TestTwoInstallationsOnOneFeed(t *testing.T) {
	t.Parallel()
	url, prefix := testkit.NATS(t)
	on := []string{"--feed", url, "--feed-prefix", prefix}
	first := startServer(t, append([]string{"serve", "--data", filepath.Join(t.TempDir(), "first")}, on...)...)
	first.want(201, "POST", "/tags", first.token, `{"name":"zebra"}`)
	conn, js, err := feed.Connect(url, feed.ConnectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	look := func() *jetstream.StreamInfo {
		stream, err := js.Stream(t.Context(), feed.StreamName(prefix))
		if err != nil {
			return nil
		}
		return stream.CachedInfo()
	}
	eventually(t, "the stream of the first", func() bool { info := look(); return info != nil && info.State.LastSeq >= 2 })
	before := look()

	data := filepath.Join(t.TempDir(), "second")
	second := startServer(t, append([]string{"serve", "--data", data}, on...)...)
	second.want(201, "POST", "/tags", second.token, `{"name":"okapi"}`)
	eventually(t, "a line in the log", func() bool { return strings.Contains(second.log(), "--feed-prefix") })
	eventually(t, "health", func() bool { return second.state()["status"] == statusDegraded })
	out, _, status := tool(t, nil, "health", "--data", data)
	if status != exitFailed || !strings.Contains(out, "--feed-prefix") {
		t.Errorf("health: status %d, %s", status, out)
	}
	lists := func(s *server, has, hasNot string) {
		t.Helper()
		eventually(t, "a list with "+has, func() bool {
			_, body := s.try("GET", s.root+"/tags?hide_empty=false", "", "")
			return strings.Contains(string(body), has) && !strings.Contains(string(body), hasNot)
		})
	}
	lists(first, "zebra", "okapi")
	lists(second, "okapi", "zebra")
	if after := look(); after == nil || !after.Created.Equal(before.Created) || after.State.Msgs != before.State.Msgs {
		t.Errorf("the stream of the first was %+v, is %+v", before, after)
	}

	token := second.token
	second.drain()
	second = startServer(t, "serve", "--data", data, "--feed", url, "--feed-prefix", prefix+"2")
	second.want(201, "POST", "/tags", token, `{"name":"giraffe"}`)
	lists(second, "giraffe", "zebra")
	eventually(t, "health", func() bool { return second.state()["status"] == statusOK })
	if _, err := js.Stream(t.Context(), feed.StreamName(prefix+"2")); err != nil {
		t.Error(err)
	}
}
