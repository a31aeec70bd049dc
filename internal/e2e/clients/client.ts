// Reads and writes events with a client whose types openapi-typescript made of the
// documentation. Prints the id of the event that stays; ends with an error when
// something is not as it should be.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

declare const process: { env: Record<string, string> };

type Event = components["schemas"]["Event"];
type Refusal = components["schemas"]["Error"] | components["schemas"]["Problem"];

const api = createClient<paths, "application/json">({
  baseUrl: process.env.DAYBOOK_URL,
  headers: { Authorization: `Bearer ${process.env.DAYBOOK_TOKEN}` },
});

function want(what: string, got: unknown, wanted: unknown): void {
  if (JSON.stringify(got) !== JSON.stringify(wanted)) {
    throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(wanted)}`);
  }
}

function done<T>(what: string, answer: { data?: T; error?: Refusal; response: Response }): T {
  if (answer.data === undefined) {
    throw new Error(`${what}: ${answer.response.status} ${JSON.stringify(answer.error)}`);
  }
  return answer.data;
}

// The form that is answered unless application/problem+json is asked for.
function refused(what: string, error: Refusal | undefined) {
  if (error === undefined || !("data" in error)) {
    throw new Error(`${what}: ${JSON.stringify(error)}`);
  }
  return error;
}

const made: Event = done("create", await api.POST("/events", {
  params: { header: { "Idempotency-Key": `typescript ${Date.now()}` } },
  body: {
    title: "Typed concert", start_date: "2027-07-04", end_date: "2027-07-05", all_day: true, status: "publish", cost: ["$5", "12"],
    venue: [{ venue: "Typed hall", status: "draft" }], organizer: [{ organizer: "Typed trust" }], tags: ["typed"], categories: ["typed music"],
  },
}));
want("venue", made.venues[0].venue, "Typed hall");
want("slug of a draft", made.venues[0].slug, "");
want("organizer", made.organizer[0].organizer, "Typed trust");
want("terms", [made.tags[0].name, made.categories[0].name], ["typed", "typed music"]);
want("cost", made.cost_details.values, ["5", "12"]);
want("languages", made.languages, ["en"]);

const path = { id: made.id };
const changed = done("update", await api.PATCH("/events/{id}", { params: { path }, body: { title: "Typed recital" } }));
want("changed title", changed.title, "Typed recital");
want("what was not sent stays", changed.all_day, true);
const read = done("read", await api.GET("/events/{id}", { params: { path } }));
want("start", [read.start_date, read.start_date_details?.day], ["2027-07-04 00:00:00", "04"]);
const bySlug = done("read by slug", await api.GET("/events/by-slug/{slug}", { params: { path: { slug: made.slug } } }));
want("id by slug", bySlug.id, made.id);

const list = done("list", await api.GET("/events", { params: { query: { include: [made.id], per_page: 5 } } }));
want("list", [list.total, list.events.map((e) => e.title)], [1, ["Typed recital"]]);
const sparse = done("sparse list", await api.GET("/events", { params: { query: { include: [made.id], _fields: ["id", "slug"] } } }));
want("sparse list", sparse.events, [{ id: made.id, slug: "typed-concert" }]);

const none = refused("unknown", (await api.GET("/events/{id}", { params: { path: { id: 99999999 } } })).error);
want("unknown", [none.code, none.data.status], ["rest-event-not-found", 404]);
const bad = refused("bad date", (await api.POST("/events", { body: { title: "x", start_date: "soonish", end_date: "2027-07-04" } })).error);
want("bad date", [bad.code, Object.keys(bad.data.params ?? {})], ["rest_invalid_param", ["start_date"]]);

const lost = done("create another", await api.POST("/events", { body: { title: "Lost", start_date: "2027-07-04", end_date: "2027-07-04" } }));
want("delete", done("delete", await api.DELETE("/events/{id}", { params: { path: { id: lost.id } } })).status, "trash");

console.log(made.id);
