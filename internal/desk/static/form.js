// The form of a record (E4, E7).

import { Fault, list, query, write } from "./api.js";
import { arrows, button, h, unescaped } from "./dom.js";
import { closeDraft, leftDrafts, openDraft, writeDraft } from "./drafts.js";
import * as f from "./fields.js";
import { open } from "./dialogs.js";
import { confirmTrash, pendingQuery, statusMark } from "./list.js";
import { preview } from "./preview.js";
import { collectionOf, nameField, readRecord, textsOf, versionOf } from "./records.js";
import { address, go, put } from "./router.js";
import { changedKeys, save } from "./save.js";
import { isTerm, mayCreate, mayEdit, me } from "./session.js";
import { clock, count, lang as ownLang, languageNames, languages, languageTag, number, t } from "./texts.js";

let duplicate = null; // values of a new event

const flags = ["featured", "sticky", "ticketed", "show_map", "show_map_link", "hide_from_listings"];

const empty = {
	event: () => ({ start_date: "", end_date: "", all_day: false, timezone: me.timezone, cost: "", website: "", image: "", slug: "", status: "", date: "", event_status: "scheduled", event_status_reason: "", password: "", venue: [], organizer: [], categories: [], tags: [], featured: false, sticky: false, ticketed: false, show_map: true, show_map_link: true, hide_from_listings: false }),
	venue: () => ({ address: "", city: "", country: "", province: "", state: "", zip: "", phone: "", stateprovince: "", website: "", image: "", geo_lat: "", geo_lng: "", show_map: true, show_map_link: true, slug: "", status: "", date: "" }),
	organizer: () => ({ phone: "", email: "", website: "", image: "", slug: "", status: "", date: "" }),
	category: () => ({ slug: "", parent: 0 }),
	tag: () => ({ slug: "" }),
};

class Form {
	constructor(kind, id, params) {
		Object.assign(this, { name: kind, kind, id, params, fields: [], base: {}, etag: null, home: ownLang, record: {}, filled: [], shownLang: ownLang, pending: null, faults: new Map(), ready: false, isNew: !id, draft: openDraft(), leaving: new AbortController() });
		this.element = h("div", null, h("h1", null, t("loading")));
	}

	labelOfOption(name, id) {
		return this.field(name)?.element.querySelector(`[name=categories][value="${id}"]`)?.parentElement.textContent.trim();
	}

	field(key) { return this.fields.find((x) => x.key === key); }
	value(key) { return this.field(key).get(); }
	isAllDay() { return this.field("all_day")?.get() ?? false; }
	zone() { return this.field("timezone")?.get() || "UTC"; }
	isDirty() { return this.ready && (this.pending !== null || changedKeys(this).length > 0); }

	async load() {
		if (this.id) {
			const read = await readRecord(this.kind, this.id);
			Object.assign(this, { base: read.values, home: read.home, etag: read.etag, record: read.record });
			this.shownLang = this.base[`${nameField[this.kind]}@${ownLang}`] ? ownLang : this.home;
			if (!mayEdit(this.kind, this.record) || this.record.status === "trash") return this.showFacts();
		} else {
			if (!mayCreate(this.kind)) throw new Fault(403, { code: "rest_forbidden", message: t("forbidden") });
			this.base = empty[this.kind]();
			for (const l of languages) for (const name of textsOf(this.kind)) this.base[`${name}@${l}`] = "";
		}
		this.build();
		for (const field of this.fields) if (this.base[field.key] !== undefined) field.set(this.base[field.key]);
		if (this.isNew && this.field("status")) this.field("status").set(me.can.publish ? "publish" : "pending");
		if (this.isNew) this.base.status = this.field("status") ? this.value("status") : undefined;
		if (this.isNew && duplicate && this.kind === "event") {
			for (const [key, v] of Object.entries(duplicate)) this.field(key)?.set(v);
			this.filled = languages.filter((l) => duplicate[`title@${l}`]).toSorted((a, b) => (b === duplicate.home) - (a === duplicate.home));
			this.shownLang = this.filled[0] ?? this.shownLang;
		}
		this.showLang(this.shownLang);
		await Promise.all(this.fields.map((x) => x.load?.()));
		this.ready = true;
		this.state("idle");
		this.changed();
		this.timer = setInterval(() => this.keep(), 1000);
		if (!duplicate) this.offerDraft();
		duplicate = null;
		return undefined;
	}

	// restore brings back a record from the trash: any update does.
	async restore() {
		try {
			await write("PATCH", `/${collectionOf[this.kind]}/${this.id}`, { body: "{}", match: this.etag });
		} catch (e) {
			if (!(e instanceof Fault)) throw e;
		}
		await go(location.hash, { sure: true });
	}

	// showFacts shows a record to who may not change it, and one in the trash.
	showFacts() {
		const value = (name, v) => {
			if (Array.isArray(v)) return v.map((x) => x.name ?? x).join(", ");
			if (typeof v === "boolean") return t(v ? "yes" : "no");
			if (name === "status" || name === "event_status") return t((name === "status" ? "status." : "takes.") + v);
			if (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(v)) return clock(v, this.base.all_day && name !== "date");
			return String(v).replace(/<[^>]*>/g, " ");
		};
		const known = { ...this.base, ...(this.record.categories ? { categories: this.record.categories.map((c) => ({ name: unescaped(c.name) })) } : {}) };
		const shown = Object.entries(known).filter(([key, v]) => v !== "" && v !== null && v !== 0 && key !== "password" && !(Array.isArray(v) && !v.length))
			.toSorted(([a], [b]) => b.includes("@") - a.includes("@")); // texts first
		this.preview = this.record.url && preview(() => this.record.url, () => t("preview.saved"));
		const inTrash = this.record.status === "trash" && mayEdit(this.kind, this.record);
		this.element.replaceChildren(this.heading(false), inTrash ? h("p.line", null, button(t("restore"), () => this.restore(), { class: "primary" })) : "", h("dl.facts.reading", null, shown.map(([key, v]) => {
			const [name, l] = key.split("@");
			return h("div", null, h("dt", null, f.labelText(name, this.kind), l ? ` (${languageNames[l]})` : ""), h("dd", { lang: l ? languageTag(l) : null }, value(name, v)));
		})), this.preview ? this.preview.element : "");
	}

	heading(edits) {
		const name = this.id ? unescaped(this.record[nameField[this.kind]]) : t(this.kind + ".new");
		const line = h("div.line");
		if (this.id) {
			const isPublic = isTerm(this.kind) || this.record.status === "publish";
			if (isPublic && this.record.url) line.append(h("a.button", { href: new URL(this.record.url, location.href).pathname }, t("page")));
			if (me.can.read_history) line.append(h("a.button", { href: address(`${this.kind}/${this.id}/history`) }, t("history")));
			if (edits) {
				if (this.kind === "event" && me.can.create) line.append(button(t("duplicate"), () => this.duplicate()));
				line.append(button(t(isTerm(this.kind) ? "delete" : "trash"), () => this.trash(), { class: "danger" }));
			}
		}
		return h("div", null, h("p.crumb", null, h("a", { href: address(collectionOf[this.kind]) }, t(collectionOf[this.kind]))),
			h("div.edit-head", null, h("h1", { lang: this.id ? languageTag(this.record.language) : null }, name), line,
				this.id ? h("p.tools", null, this.record.status ? statusMark(this.record.status) : "", h("span", null, t("version", versionOf(this.etag)), this.record.modified ? `, ${clock(this.record.modified)}` : "")) : null));
	}

	build() {
		const { kind } = this;
		const panes = languages.flatMap((l) => textsOf(kind).map((name) => f.text(this, name, l, { required: name === nameField[kind], hint: name === "excerpt" && t("excerpt.hint"), max: name === nameField[kind] ? 1000 : undefined })));
		for (const x of panes) if (x.name === nameField[kind]) x.input.addEventListener("input", () => this.fill(x.lang));
		this.tabs = h("div.tabs", { role: "tablist", "aria-label": t("languages.of") }, languages.map((l) => h("a", { href: "#", role: "tab", "data-lang": l, id: "lang-" + l, "aria-controls": "texts", onclick: (e) => {
			e.preventDefault();
			e.stopPropagation();
			this.showLang(l);
		} }, h("span", { lang: languageTag(l) }, languageNames[l]), " ", h("i"), h("span.hidden"))));
		arrows(this.tabs);
		this.panes = h("div.panes", { id: "texts", role: "tabpanel" }, panes.map((x) => x.element), f.noteOf("description"));
		const texts = h("div.langs", null, this.tabs, this.panes);
		this.fields = [...panes];
		const add = (...list) => {
			this.fields.push(...list);
			return list.map((x) => x.element);
		};
		const part = (legend, ...content) => h("fieldset.part", null, h("legend", null, legend), content);
		const more = (...content) => h("details.part.extra", null, h("summary", null, t("more"), " ", h("span.hint", null, t("more.hint." + (kind === "event" ? "event" : "other")))), h("div.extras", null, content));
		const statuses = me.can.publish ? ["publish", "draft", "pending", "future", "private"] : ["draft", "pending", "private"];
		const slug = { hint: t("slug.hint") };
		const image = () => (me.can.publish ? add(f.line(this, "image", { type: "url", max: 2000 })) : []);
		this.status = isTerm(kind) ? null : f.choice(this, "status", statuses.map((s) => [s, t("status." + s)]));
		const parts = [texts];
		if (kind === "event") {
			const start = f.dateTime(this, "start_date", { required: true, moved: (by) => this.moveEnd(by) });
			const end = f.dateTime(this, "end_date", { required: true });
			const zone = f.zone(this);
			zone.input.addEventListener("change", () => {
				this.setting = true;
				for (const x of [start, end]) x.resolve(); // a phrase means another clock there
				this.setting = false;
			});
			parts.push(part(t("when"), h("div.pair", null, add(start, end)), add(f.check(this, "all_day"), zone),
				add(f.choice(this, "event_status", ["scheduled", "cancelled", "postponed"].map((s) => [s, t("takes." + s)]), { hint: t("takes.hint") }), f.line(this, "event_status_reason", { max: 300 }))));
			parts.push(part(t("where"), add(f.link(this, "venue"), f.link(this, "organizer")), h("div.pair", null, add(f.categories(this), f.tags(this)))));
			parts.push(part(t("price"), h("div.pair", null, add(f.line(this, "cost", { hint: t("cost.hint") }), f.line(this, "website", { type: "url", hint: t("website.hint") }))), image()));
			parts.push(more(add(f.line(this, "slug", slug), f.published(this), f.password(this)), h("div.flags", null, add(...flags.map((name) => f.check(this, name))))));
		} else if (kind === "venue") {
			parts.push(part(t("place"), add(f.line(this, "address")), h("div.pair", null, add(f.line(this, "zip"), f.line(this, "city"), f.line(this, "country"), f.line(this, "province"))), h("div.pair", null, add(f.line(this, "phone", { type: "tel" }), f.line(this, "website", { type: "url" }))), image()));
			parts.push(more(h("div.pair", null, add(f.line(this, "state"), f.line(this, "stateprovince"), f.line(this, "geo_lat", { mode: "decimal" }), f.line(this, "geo_lng", { mode: "decimal" }))), add(f.check(this, "show_map"), f.check(this, "show_map_link"), f.line(this, "slug", slug), f.published(this))));
		} else if (kind === "organizer") {
			parts.push(part(t("contact"), h("div.pair", null, add(f.line(this, "email", { type: "email" }), f.line(this, "phone", { type: "tel" }))), add(f.line(this, "website", { type: "url" })), image()));
			parts.push(more(add(f.line(this, "slug", slug), f.published(this))));
		} else {
			parts.push(part(t("place.of"), kind === "category" ? add(f.parent(this, this.id)) : [], add(f.line(this, "slug", slug))));
		}
		if (this.status) this.fields.push(this.status);
		this.alert = h("div.note.bad", { id: "message", role: "alert", hidden: true });
		this.problems = h("p.problem", { hidden: true });
		this.mark = h("p.status", { id: "status", role: "status", "data-state": "idle" });
		this.saveButton = h("button.primary", { type: "submit", form: "edit" }, t("save"));
		this.next = button(t("publish.next"), () => this.publishNext(), { hidden: true });
		this.form = h("form.edit", { id: "edit", novalidate: true, onsubmit: (e) => {
			e.preventDefault();
			this.save();
		} }, parts);
		this.preview = !isTerm(kind) && preview(() => this.record.url, () => t(this.isDirty() ? "preview.unsaved" : "preview.saved", number(changedKeys(this).length)));
		this.side = h("div.side", { hidden: !this.id }, this.preview ? this.preview.element : "");
		this.head = h("div", null, this.heading(true));
		const bar = h("div.save", null, this.problems, this.mark, this.status ? [h("label", { for: this.status.input.id }, t("field.status")), this.status.input, this.status.error] : "", this.next, this.saveButton);
		this.element.replaceChildren(this.head, this.alert, h("div.workbench", null, this.form, this.side), bar);
		this.element.onkeydown = (e) => {
			if (e.key === "s" && (e.ctrlKey || e.metaKey)) {
				e.preventDefault();
				this.save();
			}
		};
	}

	fill(l) {
		if (!this.filled.includes(l)) this.filled.push(l);
	}

	moveEnd(by) {
		const end = this.field("end_date");
		if (!end.get() || this.setting) return;
		const ms = Date.parse(end.get().replace(" ", "T") + "Z") + by;
		if (!Number.isNaN(ms)) end.set(new Date(ms).toISOString().slice(0, 19).replace("T", " "));
	}

	showLang(l) {
		this.shownLang = l;
		for (const tab of this.tabs.children) {
			const on = tab.dataset.lang === l;
			tab.setAttribute("aria-selected", String(on));
			tab.tabIndex = on ? 0 : -1;
		}
		for (const pane of this.panes.querySelectorAll("[data-pane]")) pane.hidden = pane.dataset.pane !== l;
		this.panes.setAttribute("aria-labelledby", "lang-" + l);
	}

	// changed shows what follows from what was typed.
	changed() {
		if (!this.ready) return;
		for (const tab of this.tabs.children) {
			const has = textsOf(this.kind).some((name) => this.value(`${name}@${tab.dataset.lang}`));
			tab.querySelector("i").className = has ? "has" : "";
			tab.lastElementChild.textContent = t(has ? "text.has" : "text.none");
		}
		const home = this.id ? this.home : this.filled[0] ?? this.shownLang;
		for (const l of languages) {
			for (const name of textsOf(this.kind)) {
				const field = this.field(`${name}@${l}`);
				const text = l === home ? "" : this.value(`${name}@${home}`);
				if (field.placeholder) field.placeholder(text);
				else field.input.placeholder = text;
			}
		}
		this.field("start_date")?.tell();
		this.field("end_date")?.tell();
		this.field("password")?.tell();
		const reason = this.field("event_status_reason");
		if (reason) reason.element.hidden = this.value("event_status") === "scheduled";
		const hide = this.field("hide_from_listings");
		if (hide) f.say(hide.note, hide.get() ? t("hide.note") : "");
		if (this.status && this.status.get() === "future" && !this.wasFuture) this.form.querySelector("details.extra").open = true;
		this.wasFuture = this.status?.get() === "future";
		this.next.hidden = !(this.kind === "event" && this.id && this.record.status === "pending" && me.can.publish);
		const n = changedKeys(this).length;
		if (["idle", "dirty", "saved", "failed"].includes(this.mark.dataset.state) && (n || this.mark.dataset.state === "dirty")) this.state(n ? "dirty" : "idle");
		if (this.preview) this.preview.note();
		this.touched = true;
	}

	state(name, seconds) {
		const n = changedKeys(this).length;
		const text = name === "dirty" ? count("changes", n) : name === "retrying" ? t("state.retrying", seconds) : t("state." + name);
		this.mark.dataset.state = name;
		this.mark.className = "status " + ({ saved: "good", dirty: "warn", retrying: "warn", failed: "bad", conflict: "warn" }[name] ?? "");
		if (this.mark.textContent !== text) this.mark.textContent = text;
		this.saveButton.setAttribute("aria-disabled", String(name === "saving" || name === "retrying"));
	}

	withoutSecrets(values) {
		return Object.fromEntries(Object.entries(values).filter(([key]) => !this.field(key)?.secret));
	}

	// keep keeps what was typed.
	keep(now) {
		if (!this.ready || !(this.touched || now)) return;
		this.touched = false;
		const keys = changedKeys(this).filter((key) => !this.field(key).secret);
		if (!keys.length && !this.pending) {
			this.drop();
			return;
		}
		const { pending } = this;
		writeDraft(this.kind, this.id, this.draft, { time: Date.now(), etag: this.etag, base: Object.fromEntries(keys.map((key) => [key, this.base[key]])), home: this.home, filled: this.filled, values: Object.fromEntries(keys.map((key) => [key, this.value(key)])), pending });
	}

	drop(key = this.draft) {
		writeDraft(this.kind, this.id, key);
	}

	async offerDraft() {
		for (const [key, draft] of await leftDrafts(this.kind, this.id)) {
			if (this.leaving.signal.aborted) return;
			const time = new Intl.DateTimeFormat(languageTag(ownLang), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(new Date(draft.time));
			const got = await open("unsaved", t("unsaved.title", time), h("p", null, t("unsaved.text")), [["restore", t("restore"), { class: "primary" }], ["discard", t("discard")]]);
			if (got === "restore") this.adopt(draft);
			if (got) this.drop(key);
			if (got !== "discard") break;
		}
		if (!this.form.contains(document.activeElement)) this.focusFirst(); // else somebody types already
	}

	adopt(draft) {
		if (this.id && draft.etag) {
			this.base = { ...this.base, ...draft.base }; // what others changed meanwhile is found when it is saved
			this.etag = draft.etag;
		}
		for (const [key, v] of Object.entries(draft.values)) this.field(key)?.set(v);
		this.pending = draft.pending ?? null;
		this.filled = draft.filled ?? [];
		this.changed();
		if (this.pending) this.state("dirty");
		this.keep(true);
	}

	focusFirst() {
		const first = this.field(`${nameField[this.kind]}@${this.shownLang}`);
		if (document.body.contains(first?.input)) first.focus();
	}

	clearFaults() {
		this.faults.clear();
		this.note("description", "");
		this.alert.hidden = true;
		for (const field of this.fields) {
			field.error.hidden = true;
			field.error.textContent = "";
			for (const e of [field.input, field.also]) e?.removeAttribute("aria-invalid");
		}
		this.problems.hidden = true;
	}

	fault(key, text) {
		const field = this.field(key);
		this.faults.set(key, text);
		field.error.textContent = text;
		field.error.hidden = false;
		for (const e of [field.input, field.also]) e?.setAttribute("aria-invalid", "true");
	}

	// showFaults opens what hides them, and leads to the first.
	showFaults() {
		this.state("failed");
		const wrong = this.fields.filter((x) => this.faults.has(x.key));
		if (!wrong.length) return;
		for (const x of wrong) x.input.closest("details")?.setAttribute("open", "");
		const of = (x) => {
			if (x.lang) this.showLang(x.lang);
			x.focus();
		};
		this.problems.replaceChildren(count("problems", wrong.length), " ", ...wrong.flatMap((x, i) => [i ? ", " : "", button(f.labelText(x.name, this.kind), () => of(x), { class: "quiet" })]));
		this.problems.hidden = false;
		of(wrong[0]);
	}

	message(code, text) {
		this.alert.dataset.code = code;
		this.alert.replaceChildren(h("p", null, text));
		this.alert.hidden = false;
		this.alert.scrollIntoView({ block: "nearest" });
	}

	note(name, text) {
		const note = this.element.querySelector(`[data-note="${name}"]`);
		if (note && (text || note.textContent)) f.say(note, text);
	}

	// made turns the form of a new record into that of this one.
	made(id, home) {
		this.drop();
		this.id = id;
		this.isNew = false;
		this.home = home;
		put(address(`${this.kind}/${id}`));
	}

	saved() {
		for (const x of this.fields) x.clear?.();
		this.state(changedKeys(this).length ? "dirty" : "saved");
		this.head.replaceChildren(this.heading(true));
		this.side.hidden = !this.id;
		if (this.field("categories")) this.field("categories").load?.().catch(() => {});
		this.changed();
		this.keep(true);
		this.preview?.refresh?.();
		document.title = `${this.element.querySelector("h1").textContent} – ${t("desk")}`;
	}

	async save() {
		if (this.busy) return false;
		this.busy = true;
		try {
			return await save(this);
		} finally {
			this.busy = false;
		}
	}

	async publishNext() {
		this.status.set("publish");
		this.changed();
		this.stopAfterMerge = true;
		const done = await this.save();
		this.stopAfterMerge = false;
		if (!done) return;
		const { events } = await list("/events" + query({ ...pendingQuery, per_page: 100, _fields: "id,start_date" }));
		const others = events.filter((e) => e.id !== this.id);
		const following = others.find((e) => e.start_date >= this.base.start_date) ?? others[0];
		await go(following ? address("event/" + following.id) : address("events", { tab: "pending" }));
	}

	async duplicate() {
		this.keep(true);
		const values = Object.fromEntries(this.fields.map((x) => [x.key, x.get()]));
		for (const key of ["slug", "start_date", "end_date", "date", "status", "password"]) delete values[key];
		if (this.isDirty() && !await go("#/event/new", { still: true })) return;
		duplicate = { ...values, home: this.home };
		this.ready = false;
		await go("#/event/new", { sure: true });
	}

	async trash() {
		if (!await confirmTrash(this.kind, [this.id], unescaped(this.record[nameField[this.kind]]))) return;
		try {
			await write("DELETE", `/${collectionOf[this.kind]}/${this.id}`, { match: this.etag }, (s) => this.state("retrying", s));
		} catch (e) {
			if (!(e instanceof Fault)) throw e;
			if (e.status !== 410) {
				this.state("failed");
				this.message(e.code, e.message || t("network"));
				return;
			}
		}
		if (isTerm(this.kind)) this.drop();
		else this.keep(true); // it may be restored
		this.ready = false;
		await go(address(collectionOf[this.kind]), { sure: true });
	}

	back() {
		this.touched = true;
		this.focusFirst();
	}

	close() {
		this.keep(true);
		closeDraft(this.draft);
		this.leaving.abort();
		clearInterval(this.timer);
	}
}

export const eventForm = (kind, id, params) => new Form(kind, id, params);
