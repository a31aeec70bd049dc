// The program reads and writes events with the client that openapi-generator made of the
// documentation. It prints the id of the event that stays, and fails when something is not as
// it should be.
package generated_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing"

	client "generated"
)

func want(what string, got, wanted any) {
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		log.Fatalf("%s: got %v, want %v", what, got, wanted)
	}
}

func must[T, R any](value T, _ R, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func only[T any](value T) []T { return []T{value} }

func TestMain(*testing.M) {
	ctx := context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("DAYBOOK_TOKEN"))
	settings := client.NewConfiguration()
	settings.Servers = client.ServerConfigurations{{URL: os.Getenv("DAYBOOK_URL")}}
	events := client.NewAPIClient(settings).EventsAPI

	concert := client.NewEventCreate("2027-07-05", "2027-07-04", "Typed concert")
	concert.SetAllDay(true)
	concert.SetCost([]string{"$5", "12"})
	concert.SetTags([]string{"typed"})
	concert.SetCategories([]string{"typed music"})
	concert.Venue = []client.EventCreateVenueInner{{VenueCreate: client.NewVenueCreate("Typed hall")}}
	concert.Organizer = []client.EventCreateOrganizerInner{{OrganizerCreate: client.NewOrganizerCreate("Typed trust")}}
	made := must(events.CreateEvent(ctx).IdempotencyKey(fmt.Sprint("openapi-generator ", os.Getpid())).EventCreate(*concert).Execute())
	want("venue", made.Venues[0].Venue, "Typed hall")
	want("organizer", made.Organizer[0].Organizer, "Typed trust")
	want("terms", made.Tags[0].Name+", "+made.Categories[0].Name, "typed, typed music")
	want("cost", made.CostDetails.Values, []string{"5", "12"})

	change := client.NewEventUpdate()
	change.SetTitle("Typed recital")
	changed := must(events.UpdateEventPatch(ctx, made.Id).EventUpdate(*change).Execute())
	want("changed title", changed.Title, "Typed recital")
	want("what was not sent stays", *changed.AllDay.Get(), true)
	read := must(events.ReadEvent(ctx, made.Id).Execute())
	want("start", read.Event.StartDate, "2027-07-04 00:00:00")
	found := must(events.ListEvents(ctx).Include(only(made.Id)).PerPage(5).Execute())
	want("list", fmt.Sprint(found.Total, " ", found.Events[0].Event.Title), "1 Typed recital")

	page := must(events.HistoryEvent(ctx, made.Id).Execute())
	want("history", page.Entries[0].Action+", "+page.Entries[1].Action, "updated, created")
	difference := must(events.DiffEvent(ctx, made.Id).From(1).To(2).Execute())
	want("difference", difference.To.Version, 2)

	_, answer, err := events.ReadEvent(ctx, 99999999).Execute()
	want("unknown", fmt.Sprint(err != nil, answer.StatusCode), "true 404")
	_, answer, err = events.CreateEvent(ctx).EventCreate(*client.NewEventCreate("2027-07-04", "soonish", "x")).Execute()
	want("bad date", fmt.Sprint(err != nil, answer.StatusCode), "true 400")
	lost := must(events.CreateEvent(ctx).EventCreate(*client.NewEventCreate("2027-07-05", "2027-07-04", "Lost")).Execute())
	want("delete", must(events.DeleteEvent(ctx, lost.Id).Execute()).Status, "trash")
	fmt.Println(made.Id)
}
