package e2e

import (
	"net/http"
	"strings"
)

// The past of records over the network, on both sizes.

func pastOfRecords(scene *scene) {
	caller, nobody := scene.editor, scene.nobody
	text := newWord()
	venue := caller.add("venues", text+" mill")
	event := caller.with("Daybook-Reason", "first").event(text+" words", obj{"status": "draft", "venue": venue.ID(), "start_date": "2030-07-04 18:30", "end_date": "2030-07-06 18:30"})
	path := event.Path()
	from := event.position()
	caller.update(path, obj{"title": text + " quay", "status": "publish"})
	caller.update(venue, obj{"venue": text + " hall"})
	caller.update(path, obj{"start_date": "2030-07-05 19:00", "venue": ""})
	// HISTORY 20.1, 20.3, 20.5, 20.6.
	caller.read(path + "/history").fields(obj{
		"entries.0.version": 3, "entries.0.actor.name": "editor", "entries.2.reason": "first", "entries.2.action": "created", "looked_to": 1,
		"entries.0.summary": "Changed: start: from 4 July 2030 18:30 to 5 July 2030 19:00; venues: removed “" + text + " hall”",
	})
	public := nobody.read(path+"/history").lacks(text+" words", `"actor"`, `"reason"`)
	public.fields(obj{"entries.1.action": "published", "entries.1.changes": list{}, "entries.0.action": "updated"})
	if n := public.len("entries"); n != 2 {
		scene.t.Errorf("anonymous gets %d entries, want 2", n)
	}
	nobody.with("If-None-Match", public.ETag()).get(path + "/history").want(304)
	caller.read(path+"/history?order=asc&field=venue&limit=1").field("entries.0.changes.0.field", "author")
	// HISTORY 20.21.
	nobody.read(path + "/diff?from=2&to=3").fields(obj{"patch.0": obj{"op": "replace", "path": "/start_date", "value": "2030-07-05 19:00:00"}, "patch.1.op": "remove"})
	nobody.get(path+"/diff?from=1&to=2").code(403, "event-not-accessible")
	caller.get(path+"/diff?to=9").code(404, "rest_version_not_found")
	// HISTORY 20.22, 20.24.
	changes := caller.read("/changes?order=asc&limit=1000&after=" + from + "&id=" + event.ID().String() + "," + venue.ID().String())
	changes.fields(obj{"entries.0.version": 2, "entries.1.kind": "venue", "entries.2.version": 3})
	rows := string(caller.read("/changes?order=asc&format=csv&limit=1000&after=" + from + "&id=" + event.ID().String() + "," + venue.ID().String()).plain())
	if n := strings.Count(rows, "\r\n"); n != 4 {
		scene.t.Errorf("csv has %d lines, want 4: %s", n, rows)
	}
	nobody.get("/changes?after=99999999999").bad("after")
	nobody.get("/changes?actor=1").bad("actor")
	// HISTORY 20.25: HEAD of the stream tells its type; its events are read elsewhere.
	nobody.do(http.MethodHead, "/changes/stream", nil).want(200).head("Content-Type", "text/event-stream; charset=utf-8")
	nobody.with("Last-Event-ID", "99999999999").get("/changes/stream").bad("Last-Event-ID")
	// HISTORY 20.8.
	caller.delete(path)
	nobody.get(path+"/history").code(403, "event-no-longer-available")
	caller.update(path, obj{})
	nobody.read(path+"/history").field("entries.0.version", 5)
}
