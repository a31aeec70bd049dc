package e2e

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	_ "time/tzdata"

	"daybook/internal/httpapi"
	"daybook/internal/testkit/play"
	"daybook/internal/testkit/world"
)

// line is one promise of the interface document and the check that holds the
// service to it. Lines of section 11 have its numbers.
type line struct {
	number int
	name   string
	check  func(s *scene) // nil: the play of this name in testdata/plays
}

// checklist is section 11 of the interface document, line by line.
var checklist = []line{
	{1, "post_put_patch_are_one_and_an_empty_body_is_200", updatesAreOne},
	{2, "update_of_title_leaves_the_rest", titleAlone},
	{3, "update_without_status_leaves_a_draft", nil},
	{4, "start_alone_moves_the_start", nil},
	{5, "timezone_alone_keeps_the_wall_clock", nil},
	{6, "end_before_start_is_400_on_end_date", nil},
	{7, "all_day_in_the_zone_of_the_event", nil},
	{8, "offsets_and_unix_seconds", nil},
	{9, "impossible_dates_and_zones", impossibleDates},
	{10, "types_in_answers", answerTypes},
	{11, "venue_is_an_object_or_empty_list", venueShape},
	{12, "forms_of_venue_and_organizer", nil},
	{13, "inline_venue_of_a_published_name_is_linked", nil},
	{14, "refused_event_leaves_no_inline_records", nil},
	{15, "equal_names_make_two_equal_posts_one", equalPosts},
	{16, "empty_venue_and_organizer_unlink", nil},
	{17, "unknown_tags", nil},
	{18, "tags_by_name_and_objects", nil},
	{19, "empty_categories_remove_all", nil},
	{20, "empty_fields", emptyFields},
	{21, "website_falls_back_to_url", websiteFallsBack},
	{22, "escaping_and_writing_back", writingBack},
	{23, "no_role_stores_scripts", noScripts},
	{24, "paragraphs", paragraphs},
	{25, "json_ld_on_single_reads", jsonLD},
	{26, "no_json_ld_elsewhere", noJSONLD},
	{27, "empty_list", emptyList},
	{28, "page_past_the_end", pastTheEnd},
	{29, "per_page_is_lowered", perPageLowered},
	{30, "links_keep_parameters", nil},
	{31, "default_window", nil},
	{32, "end_date_alone_and_other_bounds", nil},
	{33, "starts_after_and_before_a_day", nil},
	{34, "ends_before_leaves_out_all_day", nil},
	{35, "strict_dates_compare_wall_clocks", nil},
	{36, "offsets_compare_instants", nil},
	{37, "include", nil},
	{38, "hidden_events", nil},
	{39, "category_descendants_and_any_tag", nil},
	{40, "unknown_ids_in_filters", unknownInFilters},
	{41, "search", searching},
	{42, "coordinates", nil},
	{43, "status_filter", statusFilter},
	{44, "drafts_of_others_are_not_listed", nil},
	{45, "unknown_records_are_404", unknownRecords},
	{46, "put_on_a_collection_is_405", nil},
	{47, "rights_before_values", rightsBeforeValues},
	{48, "wrong_credentials", wrongCredentials},
	{49, "missing_alone_invalid_together", missingAlone},
	{50, "by_slug_rights_and_ids_in_bodies", bySlugRights},
	{51, "delete", nil},
	{52, "updates_restore", nil},
	{53, "trashed_organizer", nil},
	{54, "protected_event", nil},
	{55, "password_by_id_only", nil},
	{56, "contributor_never_publishes", contributors},
	{57, "write_under_fr", nil},
	{58, "links_and_languages", nil},
	{59, "preconditions_and_keys", preconditionsAndKeys},
	{60, "errors_and_documentation", errorsAndDocumentation},
}

// TestChecklist is the checklist on the embedded size.
func TestChecklist(t *testing.T) { t.Parallel(); run(t, embedded, checklist) }

// TestChecklistIsWhole says that every line of section 11 has its check.
func TestChecklistIsWhole(t *testing.T) {
	t.Parallel()
	const lines = 60
	count := map[int]int{}
	for _, line := range checklist {
		count[line.number]++
		if !regexp.MustCompile(`^[a-z0-9_]{5,}$`).MatchString(line.name) {
			t.Errorf("line %d %q: no name", line.number, line.name)
		}
	}
	for n := 1; n <= lines; n++ {
		if count[n] != 1 {
			t.Errorf("line %d has %d checks, want 1", n, count[n])
		}
		delete(count, n)
	}
	for n := range count {
		t.Errorf("line %d is none of the checklist", n)
	}
}

// scene is what a check plays on: services that all checks of a run share, so a
// check makes its own records with its own words.
type scene struct {
	t *testing.T
	// svc stands on friday, UTC. york's site zone is America/New_York; it is
	// 2030-05-01, 22:00 there and the next day in UTC.
	svc, york *service
	start     backend

	nobody, editor *caller // of svc
}

// run plays checks on services of a size.
func run(t *testing.T, start backend, lines []line) {
	t.Helper()
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	svc := start(t, world.Options{})
	york := start(t, world.Options{Clock: world.NewClock(time.Date(2030, time.May, 1, 22, 0, 0, 0, zone)), Site: zone})
	for _, line := range lines {
		name := line.name
		if line.number > 0 {
			name = fmt.Sprintf("%02d_%s", line.number, line.name)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := (&scene{t: t, york: york, start: start}).on(svc)
			if line.check == nil {
				s.play(line.name)
				return
			}
			line.check(s)
		})
	}
}

// worlds are the services that plays have for themselves.
var worlds = map[string]func(*world.Options){
	"alone": func(*world.Options) {},
	"leap": func(options *world.Options) {
		options.Clock = world.NewClock(time.Date(2028, time.February, 29, 8, 0, 0, 0, time.UTC))
	},
	"none":   func(options *world.Options) { options.HTTP.PublicHistory = httpapi.PublicHistoryNone },
	"proofs": func(options *world.Options) { options.HTTP.PublicHistory = httpapi.PublicHistoryProofs },
}

// play plays a file of testdata/plays on each service that its first line names, and returns
// the named answers of the last one.
func (scene *scene) play(name string) (answers map[string]*world.Response) {
	scene.t.Helper()
	file := "testdata/plays/" + name + ".txt"
	text, err := os.ReadFile(file)
	must(scene.t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	for _, name := range strings.Fields(first)[1:] {
		svc := map[string]*service{"service": scene.svc, "york": scene.york}[name]
		if svc == nil {
			set := worlds[name]
			if set == nil {
				scene.t.Fatalf("no world %q", name)
			}
			var options world.Options
			set(&options)
			svc = scene.start(scene.t, options)
		}
		answers = play.Play(scene.t, svc.World, file, newWord)
	}
	return answers
}

// alone returns the same scene on a service of its own.
func (scene *scene) alone(options world.Options) *scene {
	scene.t.Helper()
	return scene.on(scene.start(scene.t, options))
}

// on returns the same scene on another service.
func (scene *scene) on(svc *service) *scene {
	scene.t.Helper()
	out := *scene
	out.svc, out.nobody, out.editor = svc, svc.as(scene.t, "nobody"), svc.as(scene.t, "editor")
	return &out
}

// as gives a caller of the shared service.
func (scene *scene) as(name string) *caller {
	scene.t.Helper()
	return scene.svc.as(scene.t, name)
}

var words atomic.Int64

// newWord returns a word that no other record has and that is the beginning of no
// other such word; no stemmer shortens it.
func newWord() string {
	const letters = "bcdfghjlmnpqrtvwxz"
	n := words.Add(1)
	out := []byte("q     k")
	for i := 5; i > 0; i-- {
		out[i] = letters[n%int64(len(letters))]
		n /= int64(len(letters))
	}
	return string(out)
}

// updateMethods are the methods that update a record.
var updateMethods = []string{"POST", "PUT", "PATCH"}

// The collections, and those of posts.
var (
	collections = []string{"events", "venues", "organizers", "categories", "tags"}
	posts       = []string{"events", "venues", "organizers"}
)

// nameField is the field that names a record of a collection.
func nameField(collection string) string {
	return map[string]string{
		"events": "title", "venues": "venue", "organizers": "organizer", "categories": "name", "tags": "name",
	}[collection]
}

// body is what makes a record of a collection with a name.
func body(collection, name string, more obj) obj {
	out := obj{nameField(collection): name}
	if collection == "events" {
		out = eventBody(name, nil)
	}
	maps.Copy(out, more)
	return out
}

// notFound is the code of an unknown record of a collection.
func notFound(collection string) string {
	return map[string]string{
		"events": "rest-event-not-found", "venues": "venue-not-found", "organizers": "organizer-not-found",
		"categories": "category-not-found", "tags": "tag-not-found",
	}[collection]
}

// singular is the name of one record of a collection.
func singular(collection string) string {
	if collection == "categories" {
		return "category"
	}
	return collection[:len(collection)-1]
}
