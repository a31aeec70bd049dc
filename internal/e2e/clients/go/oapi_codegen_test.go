// The program reads and writes events with the client that oapi-codegen made of the
// documentation. It prints the id of the event that stays, and fails when something is not as
// it should be.
package generated_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"testing"

	client "generated"
)

func want(what string, got, wanted any) {
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		log.Fatalf("%s: got %v, want %v", what, got, wanted)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// decoded reads the body of an answer that has more than one form: the client decodes such
// ones only where Content-Type has no charset.
func decoded[T any](body []byte) (value T) {
	check(json.Unmarshal(body, &value))
	return value
}

func authorize(_ context.Context, r *http.Request) error {
	r.Header.Set("Authorization", "Bearer "+os.Getenv("DAYBOOK_TOKEN"))
	return nil
}

func TestMain(*testing.M) {
	ctx := context.Background()
	events := must(client.NewClientWithResponses(os.Getenv("DAYBOOK_URL"), client.WithRequestEditorFn(authorize)))

	concert := client.EventCreate{
		Title: "Typed concert", StartDate: "2027-07-04", EndDate: "2027-07-05", AllDay: new(true), Status: new(client.EventCreateStatus("publish")),
		Cost: &[]string{"$5", "12"}, Tags: &[]string{"typed"}, Categories: &[]string{"typed music"},
		Venue: &[]client.EventCreate_Venue_Item{{}}, Organizer: &[]client.EventCreate_Organizer_Item{{}},
	}
	check((*concert.Venue)[0].FromVenueCreate(client.VenueCreate{Venue: "Typed hall"}))
	check((*concert.Organizer)[0].FromOrganizerCreate(client.OrganizerCreate{Organizer: "Typed trust"}))
	key := fmt.Sprint("oapi-codegen ", os.Getpid())
	created := must(events.CreateEventWithResponse(ctx, &client.CreateEventParams{IdempotencyKey: &key}, concert))
	want("created", created.StatusCode(), 201)
	made := created.JSON201
	want("venue", made.Venues[0].Venue, "Typed hall")
	want("organizer", made.Organizer[0].Organizer, "Typed trust")
	want("terms", made.Tags[0].Name+", "+made.Categories[0].Name, "typed, typed music")
	want("cost", made.CostDetails.Values, []string{"5", "12"})

	update := must(events.UpdateEventPatchWithResponse(ctx, made.Id, nil, client.EventUpdate{Title: new("Typed recital")}))
	want("updated", update.StatusCode(), 200)
	changed := update.JSON200
	want("changed title", changed.Title, "Typed recital")
	want("what was not sent stays", *changed.AllDay, true)
	want("start", decoded[client.Event](must(events.ReadEventWithResponse(ctx, made.Id, nil)).Body).StartDate, "2027-07-04 00:00:00")
	found := decoded[client.EventList](must(events.ListEventsWithResponse(ctx, &client.ListEventsParams{Include: only(made.Id), PerPage: new(5)})).Body)
	want("list", fmt.Sprint(found.Total, " ", must(found.Events[0].AsEvent()).Title), "1 Typed recital")

	page := decoded[client.HistoryPage](must(events.HistoryEventWithResponse(ctx, made.Id, nil)).Body)
	want("history", page.Entries[0].Action+", "+page.Entries[1].Action, "updated, created")
	difference := decoded[client.Diff](must(events.DiffEventWithResponse(ctx, made.Id, nil)).Body)
	want("difference", difference.To.Version, 2)

	want("unknown", must(events.ReadEventWithResponse(ctx, 99999999, nil)).StatusCode(), 404)
	bad := must(events.CreateEventWithResponse(ctx, nil, client.EventCreate{Title: "x", StartDate: "soonish", EndDate: "2027-07-04"}))
	want("bad date", bad.StatusCode(), 400)
	lost := must(events.CreateEventWithResponse(ctx, nil, client.EventCreate{Title: "Lost", StartDate: "2027-07-04", EndDate: "2027-07-05"})).JSON201
	want("delete", must(events.DeleteEventWithResponse(ctx, lost.Id, nil)).JSON200.Status, "trash")
	fmt.Println(made.Id)
}

func only[T any](value T) *[]T { return &[]T{value} }
