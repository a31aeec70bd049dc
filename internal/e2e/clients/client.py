"""Reads and writes events with the client that openapi-python-client made of the
documentation. Prints the id of the event that stays; ends with an error when
something is not as it should be."""

import os
import time
from http import HTTPStatus

from generated import AuthenticatedClient
from generated.api.events import (
    create_event,
    delete_event,
    list_events,
    read_event,
    read_event_by_slug,
    update_event_patch,
)
from generated.models import (
    Error,
    Event,
    EventCreate,
    EventCreateForm,
    EventCreateMultipart,
    EventCreateStatus,
    EventUpdate,
    OrganizerCreate,
    SparseEvent,
    VenueCreate,
    VenueCreateStatus,
)

client = AuthenticatedClient(base_url=os.environ["DAYBOOK_URL"], token=os.environ["DAYBOOK_TOKEN"])


def want(what, got, wanted):
    if got != wanted:
        raise SystemExit(f"{what}: got {got!r}, want {wanted!r}")


def done(what, status, answer, kind=Event):
    want(what, (answer.status_code, type(answer.parsed)), (status, kind))
    return answer.parsed


dates = {"start_date": "2027-07-04", "end_date": "2027-07-05"}
made = done("create", HTTPStatus.CREATED, create_event.sync_detailed(
    client=client,
    idempotency_key=f"python {time.time_ns()}",
    body=EventCreate(
        title="Typed concert", **dates, all_day=True, status=EventCreateStatus.PUBLISH, cost=["$5", 12],
        venue=VenueCreate(venue="Typed hall", status=VenueCreateStatus.DRAFT),
        organizer=[OrganizerCreate(organizer="Typed trust")], tags=["typed"], categories="typed music",
    ),
))
want("venue", made.venues[0].venue, "Typed hall")
want("slug of a draft", made.venues[0].slug, "")
want("organizer", made.organizer[0].organizer, "Typed trust")
want("terms", [made.tags[0].name, made.categories[0].name], ["typed", "typed music"])
want("cost", made.cost_details.values, ["5", "12"])
want("languages", [l.value for l in made.languages], ["en"])

changed = done("update", HTTPStatus.OK, update_event_patch.sync_detailed(
    made.id, client=client, body=EventUpdate(title="Typed recital"),
))
want("changed title", changed.title, "Typed recital")
want("what was not sent stays", changed.all_day, True)
read = done("read", HTTPStatus.OK, read_event.sync_detailed(made.id, client=client))
want("start", (read.start_date, read.start_date_details.day), ("2027-07-04 00:00:00", "04"))
want("id by slug", read_event_by_slug.sync(made.slug, client=client).id, made.id)

found = list_events.sync(client=client, include=[made.id], per_page=5)
want("list", (found.total, [(type(e), e.title) for e in found.events]), (1, [(Event, "Typed recital")]))
sparse = list_events.sync(client=client, include=[made.id], field_fields=["id", "slug"])
want("sparse list", [(type(e), e.to_dict()) for e in sparse.events], [(SparseEvent, {"id": made.id, "slug": "typed-concert"})])

unknown = done("unknown", HTTPStatus.NOT_FOUND, read_event.sync_detailed(99999999, client=client), Error)
want("unknown", (unknown.code, unknown.data.status), ("rest-event-not-found", 404))
bad = done("bad date", HTTPStatus.BAD_REQUEST, create_event.sync_detailed(
    client=client, body=EventCreate(title="x", start_date="soonish", end_date="2027-07-04"),
), Error)
want("bad date", (bad.code, list(bad.data.params.to_dict())), ("rest_invalid_param", ["start_date"]))

for form in (EventCreateForm, EventCreateMultipart):
    lost = done("create with a form", HTTPStatus.CREATED, create_event.sync_detailed(
        client=client, body=form(title=f"By {form.__name__}", **dates),
    ))
    want("form", lost.title, f"By {form.__name__}")
    want("delete", delete_event.sync(lost.id, client=client).status.value, "trash")

print(made.id)
