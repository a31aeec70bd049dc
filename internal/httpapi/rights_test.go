package httpapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"daybook/calendar"
	"daybook/internal/testkit/world"
)

// answered is what the table of section 6.1 says about one act on a post.
func answered(k calendar.Kind, role calendar.Role, own, trashed bool, status, act string) string {
	edits := role == calendar.Editor || role == calendar.Administrator
	posts := edits || role == calendar.Author || role == calendar.Contributor
	if act == http.MethodGet {
		switch {
		case trashed && k == calendar.KindEvent:
			return "403 event-no-longer-available"
		case !trashed && status == "publish", edits, role == calendar.Auditor, own && posts:
			return "200"
		default:
			return "403 " + k.String() + "-not-accessible"
		}
	}
	mayOwn := role == calendar.Author || role == calendar.Contributor && status != "publish" && status != "future"
	switch {
	case role == calendar.Anonymous:
		return "401 rest_forbidden"
	case !edits && (!own || !mayOwn):
		return "403 rest_forbidden"
	case act == http.MethodDelete && trashed:
		return "410 " + k.String() + "-is-in-trash"
	default:
		return "200"
	}
}

// TestRightsOnPosts: every role, kind, status and act, own and foreign posts,
// trashed and not; by id and by slug the same (6.1).
func TestRightsOnPosts(t *testing.T) {
	t.Parallel()
	world.Slow(t)
	w := world.New(t, world.Options{Unchecked: true})
	admin := w.As(calendar.Administrator)
	n := 0
	try := func(k calendar.Kind, c *world.Client, own, trashed bool, status, act string, bySlug bool) string {
		t.Helper()
		n++
		slug := "r" + strconv.Itoa(n)
		body := obj{k.NameField(): slug, "status": status}
		if status == "draft" || status == "pending" {
			body["slug"] = slug // others get theirs
		}
		if status == "future" {
			body["date"] = "2027-01-01"
		}
		if own {
			body["author"] = c.User
		}
		if k == calendar.KindEvent {
			body["start_date"], body["end_date"] = "2026-06-01", "2026-06-01"
		}
		path := admin.Create(k, body).Path(k)
		if trashed {
			slug = admin.Delete(path).Want(http.StatusOK).String("slug")
		}
		if bySlug {
			path = "/" + k.Collection() + "/by-slug/" + slug
		}
		got := c.Do(act, path, nil)
		if got.Status < http.StatusBadRequest {
			return strconv.Itoa(got.Status)
		}
		return strconv.Itoa(got.Status) + " " + got.String("code")
	}
	for _, k := range []calendar.Kind{calendar.KindEvent, calendar.KindVenue, calendar.KindOrganizer} {
		for role := calendar.Anonymous; role <= calendar.Auditor; role++ {
			c := w.As(role)
			for _, status := range []string{"publish", "future", "draft", "pending", "private"} {
				for _, act := range []string{http.MethodGet, http.MethodPatch, http.MethodDelete} {
					for i := range 8 {
						own, trashed, bySlug := i&1 > 0, i&2 > 0, i&4 > 0
						if own && role == calendar.Anonymous {
							continue
						}
						want := answered(k, role, own, trashed, status, act)
						if got := try(k, c, own, trashed, status, act, bySlug); got != want {
							t.Errorf("%s by %s: got %s, want %s", fmt.Sprintf("%s %s %s, own %v, trashed %v, by slug %v", act, status, k, own, trashed, bySlug), role, got, want)
						}
					}
				}
			}
		}
	}
}
