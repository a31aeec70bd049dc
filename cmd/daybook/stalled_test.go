package main

import (
	"fmt"
	"strings"
	"testing"

	"daybook/internal/status"
	"daybook/internal/testkit/engines"
)

// TestHealthSeesWhatStandsStill: a relay whose stream cannot be made, because one
// server cannot keep three replicas, and a projector whose read model refuses writes
// are stalled, with the error, and daybook health fails.
func TestHealthSeesWhatStandsStill(t *testing.T) {
	t.Parallel()
	store, schema := engines.Postgres(t)
	nats, feedPrefix := engines.NATS(t)
	index, prefix := engines.Elasticsearch(t)
	between := newSearch(t, index, nil)
	on := []string{"--store", store, "--store-schema", schema, "--feed", nats, "--feed-prefix", feedPrefix, "--index", between.URL, "--index-prefix", prefix}
	start := func(role string, more ...string) *server {
		t.Helper()
		return startServer(t, append(append([]string{"serve", "--role", role}, on...), more...)...)
	}
	projects := start("projector")
	relay := start("relay", "--feed-replicas", "3")
	api := start("api")
	if v := relay.state(); v["status"] != "ok" || v["version"] != version {
		t.Errorf("the relay before the first entry: %v", v)
	}
	between.busy.Store(refuseAll)
	api.want(201, "POST", "/tags", api.token, `{"name":"one"}`)
	for s, want := range map[*server]string{relay: "feed replicas 3: the server is not part of a cluster", projects: "write"} {
		role := map[*server]string{relay: "relay", projects: "projector"}[s]
		eventually(t, "a stalled "+role, func() bool { return s.state()["status"] == "degraded" && s.state()[role] == "stalled" })
		v := s.state()
		if why, _ := v["why"].(string); v["code"] != 200 || !strings.Contains(why, "the "+role+" does not come beyond") || !strings.Contains(why, want) {
			t.Errorf("%s: %v, want the reason with %q", role, v, want)
		}
		eventually(t, "a line in the log", func() bool { return strings.Contains(s.log(), "service is degraded") })
	}
	command := append([]string{"health"}, on...)
	wantTool(t, exitFailed, "status: "+"degraded", command...)
	var lines strings.Builder
	for i := range status.MaxLag {
		fmt.Fprintf(&lines, `{"action":"create","kind":"tag","key":"%d","fields":{"name":"tag %[1]d"}}`+"\n", i)
	}
	importText(t, strings.NewReader(lines.String()), "--store", store, "--store-schema", schema)
	eventually(t, "lists that lag", func() bool {
		v := api.state()
		why, _ := v["why"].(string)
		return v["code"] == 200 && v["status"] == "degraded" && strings.Contains(why, "lists lag by 1")
	})
	wantTool(t, exitFailed, "lists lag by 1", command...)
	between.busy.Store(refuseNone)
	eventually(t, "a projector that goes on", func() bool { v := projects.state(); return v["status"] == "ok" && v["projector"] == "active" })
	eventually(t, "lists that caught up", func() bool { return api.state()["status"] == "ok" })
	// Lists are well, the feed is not.
	wantTool(t, exitFailed, "the feed stands at 0 of", command...)
	relay.drain()
	start("relay")
	eventually(t, "health", func() bool { _, _, status := tool(t, nil, command...); return status == exitOK })
}
