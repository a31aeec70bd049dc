"""Reads and writes events with the client that openapi-generator made of the documentation.
Prints the id of the event that stays; ends with an error when something is not as it should
be."""

import os
import time

import generated
from generated.models import EventCreate, EventCreateOrganizerInner, EventCreateVenueInner, EventUpdate, OrganizerCreate, VenueCreate

client = generated.ApiClient(generated.Configuration(host=os.environ["DAYBOOK_URL"], access_token=os.environ["DAYBOOK_TOKEN"]))
events = generated.EventsApi(client)


def want(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"{what}: got {got!r}, want {wanted!r}")


def refused(what, status, call):
    try:
        call()
    except generated.ApiException as error:
        want(what, error.status, status)
        return error
    raise SystemExit(f"{what}: was taken")


dates = {"start_date": "2027-07-04", "end_date": "2027-07-05"}
made = events.create_event(
    idempotency_key=f"python {time.time_ns()}",
    event_create=EventCreate(
        title="Typed concert", **dates, all_day=True, status="publish", cost=["$5", "12"],
        venue=[EventCreateVenueInner(VenueCreate(venue="Typed hall", status="draft"))],
        organizer=[EventCreateOrganizerInner(OrganizerCreate(organizer="Typed trust"))], tags=["typed"], categories=["typed music"],
    ),
)
want("venue", made.venues[0].venue, "Typed hall")
want("slug of a draft", made.venues[0].slug, "")
want("organizer", made.organizer[0].organizer, "Typed trust")
want("terms", [made.tags[0].name, made.categories[0].name], ["typed", "typed music"])
want("cost", made.cost_details.values, ["5", "12"])
want("languages", made.languages, ["en"])

changed = events.update_event_patch(made.id, event_update=EventUpdate(title="Typed recital"))
want("changed title", changed.title, "Typed recital")
want("what was not sent stays", changed.all_day, True)
read = events.read_event(made.id).actual_instance
want("start", (read.start_date, read.start_date_details.day), ("2027-07-04 00:00:00", "04"))
want("id by slug", events.read_event_by_slug(made.slug).actual_instance.id, made.id)

found = events.list_events(include=[made.id], per_page=5)
want("list", (found.total, [e.actual_instance.title for e in found.events]), (1, ["Typed recital"]))

entries = events.history_event(made.id).entries
want("history", [(e.version, e.action) for e in entries], [(2, "updated"), (1, "created")])
difference = events.diff_event(made.id, var_from=1, to=2)
want("difference", [c.var_field for c in difference.changes if c.var_field == "title"], ["title"])

refused("unknown", 404, lambda: events.read_event(99999999))
refused("bad date", 400, lambda: events.create_event(event_create=EventCreate(title="x", start_date="soonish", end_date="2027-07-04")))

lost = events.create_event(event_create=EventCreate(title="Lost", **dates))
want("delete", events.delete_event(lost.id).status, "trash")

print(made.id)
