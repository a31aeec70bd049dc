// <daybook-calendar>: events of a daybook calendar on any page. docs/pages.md tells what
// this file promises as long as it is served below /embed/v1/.

const config = "CONFIG"; // of the service: namespace, parameters that select, words

const day = 86_400_000;
const tags = { cn: "zh-Hans", en: "en", es: "es", fr: "fr" };
const base = new URL("../..", import.meta.url).href.replace(/\/$/, "");
const settings = ["src", "lang", "view", "date", "limit", "tz", "theme", "live", "target"];

const sheet = new CSSStyleSheet();
sheet.replaceSync(`
:host { --ink: var(--daybook-ink, light-dark(#1b1a17, #f2f1ee)); --muted: var(--daybook-muted, light-dark(#5c5850, #b3b0a8)); --ground: var(--daybook-background, light-dark(#fff, #1d1f26)); --edge: var(--daybook-edge, light-dark(#e3dfd6, #32343d));
	--accent: var(--daybook-accent, light-dark(#0b5fae, #82b8ff)); --corner: var(--daybook-corner, 10px); --mark: var(--accent); display: block; container-type: inline-size; color-scheme: light dark; color: var(--ink);
	font: 400 1rem/1.5 var(--daybook-font, Figtree, system-ui, sans-serif) }
:host([theme="light"]) { color-scheme: light }
:host([theme="dark"]) { color-scheme: dark }
:host([hidden]) { display: none }
section { padding: 16px; background: var(--ground); border: 1px solid var(--edge); border-radius: var(--corner); overflow-wrap: anywhere }
* { box-sizing: border-box }
h2, h3, p, ul, ol { margin: 0; padding: 0; list-style: none }
h2 { flex: 1 1 auto; font-size: 1.375rem; line-height: 1.2; letter-spacing: -0.01em }
h3 { font-size: 1rem; font-weight: 600; line-height: 1.375 }
a { color: var(--accent); text-underline-offset: 0.18em }
h3 a { color: var(--ink); text-decoration: none }
h3 a::after { content: ""; position: absolute; inset: 0 }
[part~=item]:hover h3 a, [part~=chip]:hover bdi { text-decoration: underline }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 6px }
[part~=header] { display: flex; gap: 8px; align-items: center; margin-bottom: 12px }
button { min-width: 40px; min-height: 40px; padding: 0 10px; font: inherit; color: inherit; background: none; border: 1px solid light-dark(#847f74, #82858f); border-radius: 10px; cursor: pointer }
button:disabled { opacity: 0.5; cursor: default }
@media (pointer: coarse) { button { min-width: 44px; min-height: 44px } }
[part~=item] { position: relative; display: grid; grid-template-columns: 6.5rem 5.5rem minmax(0, 1fr) fit-content(9rem); gap: 0 16px; padding: 12px 0; border-top: 1px solid var(--edge) }
[part~=item].first { border-color: var(--ink) }
[part~=item].first ~ .first { margin-top: 16px }
[part~=date], .cost { font-weight: 600; line-height: 1.375 }
.today [part~=date] { color: var(--accent) }
li [part~=time], .cost { font-size: 0.875rem; line-height: 1.375rem }
.cost { text-align: end }
[part~=place], [part~=footer] { color: var(--muted); font-size: 0.875rem }
[part~=place] > * + *, .badge { margin-inline-start: 12px }
.dot::before { content: ""; display: inline-block; width: 0.6em; height: 0.6em; margin-inline-end: 0.4rem; border-radius: 50%; background: var(--mark) }
.badge { padding: 1px 8px; border-radius: 6px; background: light-dark(#fdecea, #3b1a18); color: light-dark(#b3261e, #ff9d94); font-weight: 600; font-size: 0.8125rem; white-space: nowrap }
.badge.postponed { background: light-dark(#fdf1dc, #35260c); color: light-dark(#8a4b00, #f2b66d) }
time { font-variant-numeric: tabular-nums }
[part~=footer] { margin-top: 12px }
[part~=empty], [part~=error] { padding: 16px 0 }
table { width: 100%; border-collapse: collapse; table-layout: fixed }
th { padding: 4px 8px; text-align: start; font-size: 0.8125rem; font-weight: 600; color: var(--muted) }
td { height: 6rem; padding: 0 0 8px; vertical-align: top; border: 1px solid var(--edge) }
td.other [part~=number] { color: var(--muted); font-weight: 400 }
td[aria-current] { background: color-mix(in srgb, var(--accent) 8%, transparent) }
[part~=number] { display: inline-block; min-width: 28px; min-height: 28px; margin: 3px; line-height: 28px; font-size: 0.875rem; text-align: center; color: inherit; text-decoration: none; border-radius: 14px; font-weight: 600 }
td[aria-current] [part~=number] { background: var(--accent); color: var(--ground) }
[part~=chip] { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; min-height: 24px; margin: 0 0 4px 5px; padding: 0 4px 0 8px; border-left: 3px solid var(--mark); color: var(--ink); font-size: 0.8125rem; line-height: 1.3; text-decoration: none; hyphens: auto; align-content: center }
[part~=chip] time { color: var(--muted) }
[part~=chip] bdi { font-weight: 500 }
summary { min-height: 24px; padding-inline: 16px; font-size: 0.8125rem; font-weight: 600; color: var(--accent); cursor: pointer }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
.long { display: none }
.c0 { --mark: light-dark(#2273cc, #5ba3f5) } .c1 { --mark: light-dark(#0d857a, #35b8a9) } .c2 { --mark: light-dark(#3c8a35, #6cb862) } .c3 { --mark: light-dark(#b07a00, #dba53a) } .c4 { --mark: light-dark(#cf5a17, #f0844a) } .c5 { --mark: light-dark(#cf353b, #f0716f) } .c6 { --mark: light-dark(#7a52cc, #a585ec) } .c7 { --mark: light-dark(#667183, #8c97a9) }
@container (max-width: 36rem) {
	[part~=item] { grid-template-columns: 4.5rem minmax(0, 1fr) fit-content(30%); gap: 0 12px }
	[part~=date] { grid-column: 1 / -1; padding-bottom: 8px }
	table, tbody, tr, td { display: block }
	thead, td.bare { display: none }
	td { height: auto; border-width: 1px 0 0; padding: 8px 0 }
	[part~=number] { min-width: 0; margin-inline: 0 }
	td[aria-current] [part~=number] { padding: 0 8px }
	.short { display: none }
	.long { display: inline }
	[part~=chip] { display: block; margin-left: 0; font-size: 1rem }
}
@media (forced-colors: active) { td[aria-current] [part~=number] { outline: 2px solid } .badge { border: 1px solid } }
`);

// make makes an element; texts are texts, never HTML.
function make(name, attributes, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(attributes)) if (value !== undefined && value !== null && value !== false) e.setAttribute(key, value);
	e.append(...children.filter((c) => c !== null && c !== undefined && c !== false));
	return e;
}

// plain undoes the escaping of names.
const plain = (s) => String(s ?? "").replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&#0?39;/g, "'").replace(/&amp;/g, "&");

// isolated is a title that stands inside a sentence.
const isolated = (s) => (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(s) ? `\u2068${s}\u2069` : s);
const fill = (s, ...values) => values.reduce((all, v) => all.replace("%s", () => v), s);

// Clocks are kept as the milliseconds that they would show in UTC.
const clock = (s) => Date.parse(`${s.replace(" ", "T")}Z`);
const dateOf = (ms) => new Date(ms).toISOString().slice(0, 10);
const isDate = (s) => /^\d{4}-\d\d-\d\d$/.test(s) && !Number.isNaN(clock(`${s}T00:00:00`)) && dateOf(clock(`${s}T00:00:00`)) === s;

class Refused extends Error {
	constructor(code, status) {
		super(code);
		Object.assign(this, { code, status });
	}
}

// readZone gives null for the events' own clocks, else the name of a zone or its offset.
function readZone(text) {
	if (!text || text === "event") return null;
	if (text === "browser") return Intl.DateTimeFormat().resolvedOptions().timeZone;
	const fixed = /^(?:UTC)?([+-])(\d{1,2})(?::(\d\d)|\.(25|5|75))?$/i.exec(text);
	if (fixed) return (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) + Number(fixed[3] ?? 0) / 60 + Number(`0.${fixed[4] ?? 0}`)) * 3_600_000;
	try {
		return Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone;
	} catch {
		throw new Refused("rest_invalid_param", 400);
	}
}

const formats = {}; // by zone

// offset is that of a zone at a moment.
function offset(zone, at) {
	if (typeof zone === "number") return zone;
	const p = {};
	const f = formats[zone] ??= new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" });
	for (const { type, value } of f.formatToParts(at)) p[type] = Number(value);
	return Date.UTC(p.year, p.month - 1, p.day, p.hour, p.minute, p.second) - at;
}

// instant is the moment at which a zone's clock shows a time, or passes over it.
function instant(zone, shown) {
	const near = shown - offset(zone, shown), at = shown - offset(zone, near);
	return at + offset(zone, at) === shown ? at : Math.max(at, near);
}

class DaybookCalendar extends HTMLElement {
	static observedAttributes = [...settings, ...config.selecting];
	#root = this.attachShadow({ mode: "open" });
	#due = null;
	#load = null; // AbortController of the one under way
	#page = 1;

	constructor() {
		super();
		this.#root.adoptedStyleSheets = [sheet];
		this.#root.append(document.createElement("slot"));
		this.#root.addEventListener("keydown", (e) => this.#move(e));
	}

	connectedCallback() {
		this.#later();
	}

	disconnectedCallback() {
		this.#load?.abort();
		this.#load = null;
	}

	attributeChangedCallback(name, was, is) {
		if (was === is || !this.isConnected) return;
		this.#page = 1;
		this.#later();
	}

	// refresh loads anew.
	refresh() {
		return this.#later();
	}

	#later() {
		this.#due ??= Promise.resolve().then(() => {
			this.#due = null;
			return this.isConnected ? this.#show() : undefined;
		});
		return this.#due;
	}

	get #lang() {
		const tag = (this.getAttribute("lang") || this.closest("[lang]")?.lang || "").toLowerCase();
		return /^(zh|cn)\b/.test(tag) ? "cn" : (["es", "fr"].find((l) => tag === l || tag.startsWith(`${l}-`)) ?? "en");
	}

	#fire(name, detail, cancelable = false) {
		return this.dispatchEvent(new CustomEvent(`daybook-${name}`, { detail, cancelable, bubbles: true, composed: true }));
	}

	async #show() {
		this.#load?.abort();
		const load = (this.#load = new AbortController());
		const lang = this.#lang;
		try {
			const s = this.#selection(lang);
			const found = await this.#fetch(s, load.signal);
			if (load !== this.#load) return;
			this.#render(s, found);
			this.#fire("load", { total: found.total, position: found.position });
		} catch (e) {
			if (load !== this.#load) return;
			const words = config.words[lang];
			this.#replace(make("section", { lang: tags[lang] }, make("slot", { name: "error" }, make("p", { part: "error", role: "alert" }, words.error))));
			this.#fire("error", { code: e.code ?? "network", status: e.status ?? 0 });
		}
	}

	// #selection is what the attributes ask for.
	#selection(lang) {
		const get = (name) => this.getAttribute(name)?.trim() ?? "";
		const src = get("src").replace(/\/+$/, "");
		const s = { lang, words: config.words[lang], month: get("view") === "month", zone: readZone(get("tz")), params: new URLSearchParams() };
		s.root = src ? new URL(src, document.baseURI).href : `${base}${lang === "en" ? "" : `/${lang}`}${config.namespace}`;
		s.pages = s.root.endsWith(config.namespace) ? s.root.slice(0, -config.namespace.length) : null;
		if (src && get("lang")) s.params.set("multilang_language", lang);
		for (const name of config.selecting) if (get(name)) s.params.set(name, get(name));
		const date = get("date");
		if (date && !isDate(date)) throw new Refused("rest_invalid_param", 400);
		const free = (name) => !s.params.has(name) && !s.params.has("when"); // it takes no dates beside it
		const now = Date.now();
		s.today = dateOf(now + offset(s.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, now));
		if (!s.month) {
			const limit = Math.round(Number(get("limit"))) || 10;
			s.params.set("per_page", Math.min(100, Math.max(1, limit)));
			if (this.#page > 1) s.params.set("page", this.#page);
			if (date && free("start_date")) s.params.set("start_date", date);
			return s;
		}
		const [year, month] = (date || s.today).split("-").map(Number);
		const at = (y, m) => new Date(Date.UTC(2000, m - 1, 1)).setUTCFullYear(y + Math.floor((m - 1) / 12));
		s.first = at(year, month);
		s.next = at(year, month + 1);
		s.before = at(year, month - 1);
		const bound = (ms, less) => (s.zone === null ? new Date(ms - less).toISOString().slice(0, 19) : `${new Date(instant(s.zone, ms) - less).toISOString().slice(0, 19)}Z`);
		s.params.set("overlap", "true");
		s.params.set("strict_dates", "true");
		s.params.set("per_page", 50); // what every service allows
		if (free("start_date")) s.params.set("start_date", bound(s.first, 0));
		if (free("end_date")) s.params.set("end_date", bound(s.next, 1000));
		return s;
	}

	async #fetch(s, signal) {
		const found = { events: [], total: 0, pages: 1, position: 0 };
		for (let page = 1; page <= (s.month ? found.pages : 1); page++) {
			if (s.month && page > 1) s.params.set("page", page);
			const res = await fetch(`${s.root}/events?${s.params}`, { signal, credentials: "omit" });
			const body = await res.json().catch(() => ({}));
			if (!res.ok) throw new Refused(body.code ?? `http_${res.status}`, res.status);
			found.events.push(...body.events);
			Object.assign(found, { total: body.total, pages: body.total_pages, position: Number(res.headers.get("Daybook-Position")) });
		}
		return found;
	}

	// #span is when an event is, as clocks.
	#span(s, e) {
		if (s.zone === null || e.all_day) return [clock(e.start_date), clock(e.end_date)];
		return [e.utc_start_date, e.utc_end_date].map((t) => clock(t) + offset(s.zone, clock(t)));
	}

	// #last is the last second of an event, as a clock.
	#last(s, e, end) {
		const at = clock(e.utc_end_date) - 1000;
		if (e.all_day || at < clock(e.utc_start_date)) return end;
		try {
			return at + offset(s.zone ?? readZone(e.timezone), at);
		} catch { // a zone that the browser does not know
			return end - 1000;
		}
	}

	#format(s, ms, options) {
		return new Intl.DateTimeFormat(tags[s.lang], { timeZone: "UTC", ...options }).format(ms);
	}

	// #time is a time of day; short ones are those of the month: 6:30p, 7p.
	#time(s, e, ms, short) {
		if (e.all_day) return s.words.allDay;
		if (short && s.words.twelve) {
			const [hour, minute] = new Date(ms).toISOString().slice(11, 16).split(":");
			return `${hour % 12 || 12}${minute === "00" ? "" : `:${minute}`}${hour < 12 ? "a" : "p"}`;
		}
		return this.#format(s, ms, s.words.twelve ? { hour: "numeric", minute: "2-digit", hourCycle: "h12" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
	}

	// #stamp is the value of datetime: the moment with its offset, or the day.
	#stamp(s, e, ms, utc) {
		if (e.all_day) return dateOf(ms);
		const away = Math.round((ms - clock(utc)) / 60_000);
		const two = (n) => String(n).padStart(2, "0");
		return `${new Date(ms).toISOString().slice(0, 19)}${away < 0 ? "-" : "+"}${two(Math.floor(Math.abs(away) / 60))}:${two(Math.abs(away) % 60)}`;
	}

	#link(e, part, ...children) {
		const target = this.getAttribute("target");
		const a = make("a", { part, href: e.url, target, rel: target ? "noopener" : null, "data-event-id": e.id }, ...children);
		a.addEventListener("click", (click) => {
			if (!this.#fire("select", { event: e }, true)) click.preventDefault();
		});
		return a;
	}

	// #title is the title of an event, struck through where it is cancelled.
	#title(e) {
		return e.event_status === "cancelled" ? make("s", {}, plain(e.title)) : plain(e.title);
	}

	// #mark is the class with the colour of an event.
	#mark(e) {
		return e.categories?.length ? `c${e.categories[0].id % 8}` : null;
	}

	#count(s, n) {
		return fill(s.words[new Intl.PluralRules(tags[s.lang]).select(n)] || s.words.other, new Intl.NumberFormat(tags[s.lang]).format(n));
	}

	#header(s, title, previous, next) {
		const button = (part, sign, step) => {
			const b = make("button", { part, type: "button", "aria-label": step.label }, sign);
			b.disabled = !step.go;
			b.addEventListener("click", () => step.go());
			return b;
		};
		return make("div", { part: "header" }, make("h2", { part: "title", id: "title", tabindex: -1 }, title),
			previous && button("previous", "‹", previous), next && button("next", "›", next));
	}

	#render(s, found) {
		const inner = s.month ? this.#month(s, found) : this.#list(s, found);
		const zone = s.zone === null ? "" : fill(s.words.zone, typeof s.zone === "number" ? this.getAttribute("tz") : s.zone);
		const told = [s.month ? "" : this.#count(s, found.total), zone].filter(Boolean).join(" · ");
		const nothing = found.total ? null : make("slot", { name: "empty" }, make("p", { part: "empty" }, s.month ? s.words.emptyMonth : s.words.empty));
		this.#replace(make("section", { lang: tags[s.lang], "aria-labelledby": "title" }, ...inner, nothing, make("p", { part: "footer", role: "status" }, told)));
	}

	#list(s, found) {
		const turn = (by) => ({
			label: by < 0 ? s.words.previousPage : s.words.nextPage,
			go: this.#page + by >= 1 && this.#page + by <= found.pages && (() => {
				this.#page += by;
				this.#later();
			}),
		});
		const paged = found.pages > 1 || this.#page > 1;
		const list = make("ol", { part: "list" });
		let before;
		for (const e of found.events) {
			const [start, end] = this.#span(s, e), date = dateOf(start), first = date !== before;
			before = date;
			const year = date.slice(0, 4) === s.today.slice(0, 4) ? undefined : "numeric";
			const short = (ms) => this.#format(s, ms, { weekday: "short", month: "short", day: "numeric", year });
			let time = this.#time(s, e, start);
			if (!e.all_day && end > start) time += `${s.words.until}${date === dateOf(end) ? "" : `${short(end)} `}${this.#time(s, e, end)}`;
			if (e.all_day && date !== dateOf(end)) time += `${s.words.until}${short(end)}`;
			if (!e.all_day && s.zone === null) time += ` ${e.timezone_abbr}`;
			const place = [e.venue?.venue, e.venue?.city].filter(Boolean).flatMap((name) => [s.words.comma, make("bdi", {}, plain(name))]).slice(1);
			const badge = s.words[e.event_status], category = e.categories?.[0];
			list.append(make("li", { part: "item", class: `${first ? "first" : ""}${date === s.today ? " today" : ""}` },
				make("p", { part: "date", class: !first && "hidden" }, make("time", { datetime: this.#stamp(s, e, start, e.utc_start_date) }, short(start))),
				make("p", { part: "time" }, time),
				make("div", {}, make("h3", { dir: "auto" }, this.#link(e, null, this.#title(e))),
					make("p", { part: "place" }, place.length > 0 && make("span", {}, ...place), category && make("bdi", { class: `dot ${this.#mark(e)}` }, plain(category.name)), badge && make("span", { class: `badge ${e.event_status}` }, badge))),
				e.cost && make("p", { class: "cost", dir: "auto" }, plain(e.cost))));
		}
		return [this.#header(s, s.words.title, paged && turn(-1), paged && turn(1)), found.events.length ? list : null];
	}

	#month(s, found) {
		const name = (ms) => this.#format(s, ms, { year: "numeric", month: "long" });
		const step = (ms, words) => ({ label: fill(words, name(ms)), go: () => this.setAttribute("date", dateOf(ms)) });
		const days = new Map();
		for (const e of found.events) {
			const [start, end] = this.#span(s, e);
			const several = end - start >= day; // what is shorter stands on its first day in the month
			const last = Math.max(start, this.#last(s, e, end)), from = Math.floor(start / day) * day;
			const first = several ? from : Math.max(from, s.first);
			for (let d = first; d <= (several ? last : Math.min(first, last)); d += day) days.set(d, [...(days.get(d) ?? []), { e, start, several }]);
		}
		for (const of of days.values()) of.sort((a, b) => b.several - a.several || b.e.all_day - a.e.all_day || a.start - b.start || a.e.id - b.e.id);
		const chip = ({ e, start, several }) => {
			const badge = s.words[e.event_status];
			const time = this.#time(s, e, start, true), link = this.#link(e, "chip", !several && make("time", { part: "time", datetime: this.#stamp(s, e, start, e.utc_start_date) }, time), " ", make("bdi", {}, this.#title(e)), badge && make("span", { class: `badge ${e.event_status}` }, badge));
			link.title = [!several && time, isolated(plain(e.title)), badge].filter(Boolean).join(" ");
			return make("li", { class: this.#mark(e) }, link);
		};
		const cell = (ms) => {
			const date = dateOf(ms);
			const of = ms >= s.first && ms < s.next ? (days.get(ms) ?? []) : [];
			const long = this.#format(s, ms, { weekday: "long", year: "numeric", month: "long", day: "numeric" });
			const number = [make("span", { class: "short", "aria-hidden": "true" }, String(new Date(ms).getUTCDate())), make("span", { class: "long", "aria-hidden": "true" }, long),
				make("span", { class: "hidden" }, `${long}${s.words.comma}${this.#count(s, of.length)}`)];
			const shown = of.slice(0, 3), more = of.slice(3);
			return make("td", { part: "day", "data-date": date, class: `${ms < s.first || ms >= s.next ? "other " : ""}${of.length ? "" : "bare"}`, "aria-current": date === s.today && "date" },
				s.pages === null ? make("span", { part: "number" }, ...number)
					: make("a", { part: "number", href: `${s.pages}/events/day/${date}/`, target: this.getAttribute("target") }, ...number),
				shown.length ? make("ul", {}, ...shown.map(chip)) : null,
				more.length ? make("details", {}, make("summary", {}, fill(more.length === 1 && s.words.moreOne || s.words.more, String(more.length))), make("ul", {}, ...more.map(chip))) : null);
		};
		const begins = s.words.sunday ? 0 : 1;
		const from = s.first - ((new Date(s.first).getUTCDay() - begins + 7) % 7) * day;
		const head = make("tr", {}), body = make("tbody", {});
		for (let i = 0; i < 7; i++) {
			head.append(make("th", { scope: "col" }, make("span", { "aria-hidden": "true" }, this.#format(s, from + i * day, { weekday: "short" })),
				make("span", { class: "hidden" }, this.#format(s, from + i * day, { weekday: "long" }))));
		}
		for (let week = from; week < s.next; week += 7 * day) body.append(make("tr", {}, ...Array.from({ length: 7 }, (_, i) => cell(week + i * day))));
		return [
			this.#header(s, name(s.first), step(s.before, s.words.previous), step(s.next, s.words.next)),
			make("table", { part: "table" }, make("caption", { class: "hidden" }, `${name(s.first)}${s.words.comma}${this.#count(s, found.total)}`), make("thead", {}, head), body),
		];
	}

	// #replace shows something else and keeps the focus where it was.
	#replace(content) {
		const part = this.#root.activeElement?.getAttribute("part");
		this.#root.replaceChildren(content);
		if (!part) return;
		const same = this.#root.querySelector(`[part="${part}"]:not(:disabled)`) ?? this.#root.getElementById("title");
		same?.focus();
	}

	// #move moves the focus between the days of a month.
	#move(e) {
		const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[e.key];
		const cell = e.target.closest("td");
		if (!step || !cell || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
		const cells = [...this.#root.querySelectorAll("td")];
		const to = cells[cells.indexOf(cell) + step]?.querySelector("a");
		if (!to) return;
		e.preventDefault();
		to.focus();
	}
}

if (!customElements.get("daybook-calendar")) customElements.define("daybook-calendar", DaybookCalendar);
