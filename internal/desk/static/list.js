// Lists of events and of other records (E3, E7).

import { Fault, get, list, query, write } from "./api.js";
import { offerUndo, sure } from "./dialogs.js";
import { arrows, button, freshId, h, icon, unescaped } from "./dom.js";
import { learnFormer } from "./records.js";
import { address, go, put } from "./router.js";
import { isTerm, mayCreate, mayEdit, me, seesUnpublished } from "./session.js";
import { clock, count, languageTag, number, recent, t } from "./texts.js";

const lasting = { starts_after: "0001-01-01", sort: "start", order: "asc" };
const tabs = {
	upcoming: { ends_after: "now", strict_dates: "true", sort: "start", order: "asc" },
	past: { ends_before: "now", strict_dates: "true", sort: "start", order: "desc" },
	drafts: { status: "draft", ...lasting },
	pending: { status: "pending", ...lasting },
	scheduled: { status: "future", ...lasting },
	private: { status: "private", ...lasting },
	trash: { status: "trash", starts_after: "0001-01-01", sort: "modified", order: "desc" },
};

export const pendingQuery = tabs.pending;

const colours = { publish: "good", pending: "warn", future: "info", trash: "bad" };

export const statusMark = (status) => h("span.status" + (colours[status] ? "." + colours[status] : ""), null, t("status." + status));

// searchBox is the field q; it asks 200 ms after the last key.
function searchBox(label, value, ask) {
	const id = freshId("q");
	let timer;
	const input = h("input", { id, name: "q", type: "search", placeholder: label, value, autocomplete: "off", maxlength: 500, oninput: () => {
		clearTimeout(timer);
		timer = setTimeout(() => ask(input.value.trim()), 200);
	} });
	return { input, element: h("div.box-of", null, icon("search"), h("label.hidden", { for: id }, label), input) };
}

function tabLink(name, href, selected) {
	return h("a", { role: "tab", id: "tab-" + name, href, "data-tab": name, "aria-selected": String(selected), "aria-controls": "listed", tabindex: selected ? "0" : "-1", onkeydown: (e) => {
		if (e.key !== " ") return;
		e.preventDefault();
		e.currentTarget.click();
	} }, t("tab." + name), " ", h("span.number", { hidden: true }));
}

// showSelected scrolls a narrow list of tabs to the chosen one.
function showSelected(tabList) {
	tabList.scrollLeft = tabList.querySelector("[aria-selected=true]").offsetLeft - tabList.offsetLeft - 48;
}

// rows are the parts that all lists have: what is shown, what is selected, and acts on it.
class Rows {
	constructor(kind, collection, columns) {
		Object.assign(this, { kind, collection, columns, isTrash: false, progress: "", records: [], results: new Map(), chosen: new Set() });
		this.all = h("input", { type: "checkbox", onchange: () => this.selectAll() });
		this.body = h("tbody");
		this.head = h("thead");
		this.caption = h("caption.hidden");
		this.sheet = h("div.sheet", { hidden: true }, h("table.desk-table", null, this.caption, this.head, this.body));
		this.selection = h("div.selection", { role: "region", "aria-label": t("selection"), hidden: true });
	}

	selectAll() {
		this.chosen = new Set(this.all.checked ? this.records.filter((r) => mayEdit(this.kind, r)).map((r) => r.id) : []);
		this.draw();
	}

	pick(record) {
		if (!mayEdit(this.kind, record) || isTerm(this.kind)) return h("td.pick");
		const name = h("input", { type: "checkbox", name: "select", checked: this.chosen.has(record.id), onchange: (e) => {
			if (e.target.checked) this.chosen.add(record.id);
			else this.chosen.delete(record.id);
			e.target.closest("tr").classList.toggle("is-selected", e.target.checked);
			this.drawSelection();
		} });
		return h("td.pick", null, h("label", null, name, h("span.hidden", null, t("select", this.title(record)))));
	}

	title(record) {
		return unescaped(record.title ?? record.venue ?? record.organizer ?? record.name);
	}

	// shownColumns are those of the list, of which the trash has room for less.
	shownColumns() {
		return this.columns.filter((c) => !this.isTrash || c.name !== "status" && c.name !== "venue");
	}

	row(record) {
		const result = this.results.get(record.id);
		const done = h("span.result", { "data-result": result?.code ?? null, class: "result " + (result?.code === "ok" ? "good" : "problem"), hidden: !result }, result?.text ?? "");
		const isTrash = record.status === "trash";
		const title = isTrash && this.kind === "event" ? h("span", { lang: languageTag(record.language) }, this.title(record)) : h("a", { href: address(`${this.kind}/${record.id}`), lang: languageTag(record.language) }, this.title(record));
		const acts = h("td.c-act");
		if (isTrash && mayEdit(this.kind, record)) acts.append(button([icon("back"), t("restore")], () => this.act("restore", [record.id])));
		if (isTrash && me.can.read_history) acts.append(h("a.button.quiet", { href: address(`${this.kind}/${record.id}/history`) }, t("history")));
		return h("tr", { "data-id": record.id, class: this.chosen.has(record.id) ? "is-selected" : null }, this.pick(record), h("th", { scope: "row" }, title, done), this.shownColumns().map((c) => c.cell(record)), this.isTrash ? acts : null);
	}

	draw() {
		const { activeElement: focused } = document;
		const at = focused?.closest?.("tr[data-id]");
		const place = at && [at.rowIndex, [...at.querySelectorAll("a, button, input")].indexOf(focused)];
		const any = this.records.some((r) => mayEdit(this.kind, r)) && !isTerm(this.kind);
		this.head.replaceChildren(h("tr", null, h("td.pick", null, any ? h("label", null, this.all, h("span.hidden", null, t("select.all"))) : null), h("th", { scope: "col" }, t(this.kind === "event" ? "column.title" : "name")),
			this.shownColumns().map((c) => h("th", { scope: "col", "aria-sort": c.sorted?.() ?? null }, t("column." + c.name))), this.isTrash ? h("td") : null));
		this.body.parentElement.classList.toggle("trash", this.isTrash);
		this.chosen = new Set(this.records.map((r) => r.id).filter((id) => this.chosen.has(id)));
		this.body.replaceChildren(...this.records.map((r) => this.row(r)));
		this.sheet.hidden = !this.records.length;
		if (focused === this.all || place) this.focusOn(at?.dataset.id, ...(place ?? []));
		this.all.checked = this.chosen.size > 0 && this.chosen.size >= this.body.querySelectorAll("[name=select]").length;
		this.drawSelection();
	}

	// focusOn gives the focus back to what stands where it was: in the row of a record, else
	// in the row of this place, else over the rows.
	focusOn(id, index, n) {
		const row = id && (this.body.querySelector(`tr[data-id="${id}"]`) ?? this.body.rows[Math.min(index, this.body.rows.length) - 1]);
		const all = row ? row.querySelectorAll("a, button, input") : [];
		(all[Math.min(n, all.length - 1)] ?? (this.all.isConnected && !this.sheet.hidden ? this.all : document.getElementById("main"))).focus({ preventScroll: true });
	}

	drawSelection() {
		if (this.progress) {
			this.selection.hidden = false;
			this.selection.replaceChildren(h("b", { role: "status" }, this.progress));
			return;
		}
		const chosen = this.records.filter((r) => this.chosen.has(r.id));
		const ids = (fits) => chosen.filter(fits).map((r) => r.id);
		const acts = [
			["publish", ids((r) => me.can.publish && r.status !== "publish" && r.status !== "trash"), {}],
			["trash", ids((r) => r.status !== "trash"), { class: "danger" }],
			["restore", ids((r) => r.status === "trash"), {}],
		].filter(([, of]) => of.length);
		this.selection.hidden = !chosen.length;
		this.selection.replaceChildren(h("b", null, count("selected", chosen.length)), ...acts.map(([name, of, attributes]) => button(t(name), () => this.act(name, of), attributes)),
			button(t("clear"), () => {
				this.chosen.clear();
				this.draw();
				this.all.focus();
			}, { class: "quiet" }));
	}

	// one does an act to one record, and returns what undoes it.
	async one(act, record, match, former) {
		const path = `/${this.collection}/${record.id}`;
		const { status: before, date } = record;
		let sent = act === "restore" ? {} : { status: act };
		if (before === "future" && act === "publish") sent = { status: act, date: "now" }; // it has a date ahead
		if (act === "future") sent = { status: act, date: former };
		const body = act === "trash" ? undefined : JSON.stringify(sent);
		const progress = this.progress;
		const answer = await write(act === "trash" ? "DELETE" : "PATCH", path, { body, match }, (seconds) => {
			this.progress = seconds ? t("state.retrying", seconds) : progress;
			this.drawSelection();
		});
		if (act === "trash") record.former = before;
		if (answer.body) Object.assign(record, { status: answer.body.status, modified: answer.body.modified, date: answer.body.date });
		else record.status = "trash";
		return { record, act: act === "trash" ? "restore" : act === "restore" ? "trash" : before, match: answer.etag, former: date };
	}

	async several(acts) {
		const undo = [];
		if (this.selection.contains(document.activeElement)) this.all.focus();
		let n = 0;
		for (const { record, act, match, former } of acts) {
			this.progress = t("progress", number(++n), number(acts.length));
			this.drawSelection();
			try {
				const back = await this.one(act, record, match, former);
				if (back.match) undo.push(back);
				this.results.set(record.id, { code: "ok", text: t("done." + (act === "trash" || act === "restore" ? act : "status")) });
			} catch (e) {
				if (!(e instanceof Fault)) throw e;
				if (e.status === 401) break;
				if (e.status === 410 && act === "trash") {
					record.status = "trash";
					this.results.set(record.id, { code: "ok", text: t("done.trash") });
				} else {
					this.results.set(record.id, { code: e.code, text: match && e.status === 412 ? t("undo.changed") : e.message || t("network") });
				}
			}
			this.draw();
		}
		this.progress = "";
		this.drawSelection();
		return undo;
	}

	async act(act, ids) {
		if (this.progress) return;
		this.results.clear();
		const undo = await this.several(this.records.filter((r) => ids.includes(r.id)).map((record) => ({ record, act })));
		this.chosen.clear();
		this.draw();
		this.changed();
		if (this.sheet.isConnected && document.activeElement === document.body) this.focusOn();
		if (!undo.length) return; // each row says why
		if (!await offerUndo(count("said." + act, undo.length))) {
			if (!this.chosen.size && this.sheet.isConnected && this.records.length <= 50 && this.allDone()) this.load();
			return;
		}
		await this.several(undo);
		this.chosen.clear();
		this.draw();
		if (!this.allDone()) return this.changed(); // rows that were left say so
		const { results } = this;
		this.results = new Map();
		await this.load();
		this.results = results;
		return this.draw();
	}

	allDone() {
		return [...this.results.values()].every((r) => r.code === "ok");
	}
}

// tell shows a fault of a list.
function tell(alert, e) {
	if (e.name === "AbortError") return;
	if (!(e instanceof Fault)) throw e;
	alert.dataset.code = e.code;
	alert.textContent = Object.values(e.data.params ?? {}).join(" ") || e.message || t("network");
	alert.hidden = false;
}

function setCount(link, n) {
	link.dataset.count = n;
	const shown = link.querySelector(".number");
	shown.hidden = false;
	shown.textContent = number(Number(n));
}

const changed = { name: "changed", cell: (r) => h("td.c-changed.muted", null, r.modified ? recent(r.modified, me.timezone) : "") };

// eventList is the list of events.
export function eventList(params) {
	const tabsShown = Object.keys(tabs).filter((name) => seesUnpublished() || name === "upcoming" || name === "past");
	let tab, mine, q, controller, next, total = 0;
	const take = (p) => {
		tab = tabsShown.includes(p.get("tab")) ? p.get("tab") : "upcoming";
		mine = p.get("mine") === "1";
		q = p.get("q") ?? "";
	};
	take(params);
	const here = (o = {}) => {
		const at = { tab, mine, q, ...o };
		return address("events", { tab: at.tab === "upcoming" ? "" : at.tab, mine: at.mine ? "1" : "", q: at.q });
	};

	const rows = new Rows("event", "events", [
		{ name: "start", sorted: () => (tab === "trash" ? null : tab === "past" ? "descending" : "ascending"), cell: (r) => h("td.c-when", null, clock(r.start_date, r.all_day)) },
		{ name: "venue", cell: (r) => h("td.c-where", null, (r.venues ?? []).map((v) => unescaped(v.venue)).join(", ")) },
		{ name: "status", cell: (r) => h("td.c-status", null, statusMark(r.status), r.status === "future" ? h("span.hint", null, clock(r.date)) : "") },
		{ ...changed, sorted: () => (tab === "trash" ? "descending" : null) },
	]);
	const box = searchBox(t("events.search"), q, async (text) => {
		q = text;
		put(here());
		drawTabs();
		await load();
	});
	const mineBox = h("input", { type: "checkbox", name: "mine", role: "switch", checked: mine, onchange: async () => {
		mine = mineBox.checked;
		await go(here(), { still: true });
		drawTabs();
		await load();
	} });
	const tabList = h("div.tabs", { role: "tablist", "aria-label": t("events.tabs") });
	const offer = h("p.note", { "data-note": "q", hidden: true });
	const alert = h("p.note.bad", { id: "message", role: "alert", hidden: true });
	const shown = h("p.tools.after", { id: "result-count", role: "status" });
	const more = button(t("more.load"), () => load(true));
	const empty = h("div.empty", { hidden: true });
	const trashHint = h("p.muted.after", { hidden: true }, t("trash.hint"));
	const panel = h("div", { id: "listed", role: "tabpanel" }, rows.sheet, empty, h("p.line.after", null, more, shown));
	const element = h("div", null,
		h("div.top", null, h("h1", null, t("events")), h("div.bar-of-tools", null, box.element, h("label.switch", null, mineBox, " ", t("mine")))),
		tabList, alert, offer, trashHint, panel, rows.selection);
	arrows(tabList);
	tabList.addEventListener("click", (e) => { // with what was typed just now
		const link = e.target.closest("a");
		q = box.input.value.trim();
		if (link) link.href = here({ tab: link.dataset.tab });
	});

	function drawTabs() {
		trashHint.hidden = tab !== "trash";
		const inside = tabList.contains(document.activeElement);
		const before = Object.fromEntries([...tabList.children].map((e) => [e.dataset.tab, e.dataset.count]));
		tabList.replaceChildren(...tabsShown.map((name) => {
			const link = tabLink(name, here({ tab: name }), name === tab);
			if (before[name]) setCount(link, before[name]);
			return link;
		}));
		if (inside) tabList.querySelector("[aria-selected=true]").focus();
		showSelected(tabList);
		panel.setAttribute("aria-labelledby", "tab-" + tab);
	}
	const author = () => (mine ? { author: String(me.id) } : {});

	async function counts() {
		const searches = tabsShown.map((name) => ({ ...tabs[name], ...author(), per_page: 1, _fields: "id" }));
		try {
			const { results } = await list("/events/search", { method: "POST", body: JSON.stringify({ searches }) });
			for (const link of tabList.children) setCount(link, String(results[tabsShown.indexOf(link.dataset.tab)].total));
		} catch (e) {
			if (!(e instanceof Fault)) throw e;
		}
	}

	async function offerNumber() {
		const wanted = /^\d{1,15}$/.test(q) ? q : "";
		offer.hidden = true;
		if (!wanted) return;
		try {
			const { body } = await get(`/events/${wanted}?_fields=id,title,language,hide_from_listings`);
			if (q !== wanted) return;
			offer.replaceChildren(h("span", null, t("number", wanted), " "), h("a", { href: address("event/" + body.id), lang: languageTag(body.language) }, unescaped(body.title)));
			offer.hidden = false;
		} catch (e) {
			if (!(e instanceof Fault)) throw e;
		}
	}

	async function load(further = false) {
		controller?.abort();
		controller = new AbortController();
		const { signal } = controller;
		const asked = { ...tabs[tab], ...author(), search: q, typos: q ? "auto" : "", per_page: 50, cursor: further ? next : "*", _fields: "id,title,language,start_date,all_day,venues,status,date,modified,author" };
		const slow = setTimeout(() => { shown.textContent = t("loading"); }, 300);
		try {
			if (!further) {
				next = ""; // it goes on with the list before
				more.hidden = true;
				counts();
				offerNumber();
			}
			const body = await list("/events" + query(asked), { signal });
			await learnFormer("event", body.events);
			if (signal.aborted) return;
			alert.hidden = true;
			const moved = new Set(body.events.map((e) => e.id)); // since they were shown
			rows.records = further ? [...rows.records.filter((e) => !moved.has(e.id)), ...body.events] : body.events;
			if (!further) rows.results.clear();
			next = body.next_cursor;
			total = body.total;
			const onMore = document.activeElement === more;
			rows.caption.textContent = t("tab." + tab);
			rows.isTrash = tab === "trash";
			rows.draw();
			if (onMore && (body.events.length || !next)) rows.focusOn(body.events[0]?.id, 0, 0);
		} catch (e) {
			tell(alert, e);
		} finally {
			clearTimeout(slow);
			more.hidden = !next;
			shown.textContent = next ? t("of", number(rows.records.length), number(total)) : count("events.count", total);
			empty.hidden = rows.records.length > 0;
			empty.replaceChildren(h("p", null, q ? t("empty.search", q) : t("empty." + tab)), tab === "trash" ? "" : me?.can.create ? h("a.button", { href: "#/event/new" }, t("event.new")) : "");
		}
	}
	Object.assign(rows, { load, changed: counts });

	return {
		name: "events", element,
		load: async () => {
			drawTabs();
			await load();
		},
		take: ({ parts, params: p }) => {
			if (parts.length !== 1 || parts[0] !== "events") return false;
			take(p);
			if (box.input !== document.activeElement || box.input.value.trim() !== q) box.input.value = q;
			mineBox.checked = mine;
			drawTabs();
			load();
			return true;
		},
		back: () => load(),
		close: () => controller?.abort(),
	};
}

const columnsOf = {
	venue: [{ name: "city", cell: (r) => h("td.c-where", null, unescaped(r.city ?? "")) }, { name: "status", cell: (r) => h("td.c-status", null, statusMark(r.status)) }, changed],
	organizer: [{ name: "email", cell: (r) => h("td.c-where", null, r.email ?? "") }, { name: "status", cell: (r) => h("td.c-status", null, statusMark(r.status)) }, changed],
	category: [{ name: "slug", cell: (r) => h("td.c-where", null, r.slug) }, { name: "count", cell: (r) => h("td.c-changed", null, count("events.count", r.count)) }],
	tag: [{ name: "slug", cell: (r) => h("td.c-where", null, r.slug) }, { name: "count", cell: (r) => h("td.c-changed", null, count("events.count", r.count)) }],
};

// recordList is the list of venues, organizers, categories or tags.
export function recordList(kind, collection, params) {
	const withTabs = !isTerm(kind) && seesUnpublished();
	let tab, q, page = 1, total = 0, next = false, controller;
	const take = (p) => {
		tab = withTabs && p.get("tab") === "trash" ? "trash" : "all";
		q = p.get("q") ?? "";
	};
	take(params);
	const here = (o = {}) => {
		const at = { tab, q, ...o };
		return address(collection, { tab: at.tab === "all" ? "" : at.tab, q: at.q });
	};
	const rows = new Rows(kind, collection, columnsOf[kind]);
	const box = searchBox(t("search.of", t(collection)), q, async (text) => {
		q = text;
		put(here());
		drawTabs();
		await load();
	});
	const tabList = h("div.tabs", { role: "tablist", "aria-label": t(collection) });
	arrows(tabList);
	const alert = h("p.note.bad", { id: "message", role: "alert", hidden: true });
	const offer = h("p.note", { "data-note": "q", hidden: true });
	const more = button(t("more.load"), () => load(true));
	const shown = h("p.tools.after", { id: "result-count", role: "status" });
	const empty = h("div.empty", { hidden: true }, h("p", null, t("empty.records")));
	const panel = h("div", withTabs ? { id: "listed", role: "tabpanel" } : { id: "listed" }, rows.sheet, empty, h("p.line.after", null, more, shown));
	const element = h("div", null,
		h("div.top", null, h("h1", null, t(collection)), h("div.bar-of-tools", null, box.element, mayCreate(kind) ? h("a.button", { href: address(kind + "/new") }, icon("plus"), h("span", null, t(kind + ".new"))) : null)),
		withTabs ? tabList : null, alert, offer, panel, rows.selection);

	const asked = (name) => ({ ...(isTerm(kind) ? { hide_empty: "false" } : {}), ...(name === "trash" ? { status: "trash" } : {}) });

	function drawTabs() {
		if (!withTabs) return;
		const inside = tabList.contains(document.activeElement);
		tabList.replaceChildren(...["all", "trash"].map((name) => tabLink(name, here({ tab: name }), name === tab)));
		if (inside) tabList.querySelector("[aria-selected=true]").focus();
		showSelected(tabList);
		panel.setAttribute("aria-labelledby", "tab-" + tab);
	}
	async function counts() {
		for (const link of [...tabList.children]) {
			const body = await list(`/${collection}${query({ ...asked(link.dataset.tab), per_page: 1, _fields: "id" })}`).catch(() => null);
			if (body) setCount(link, body.total);
		}
	}
	async function offerNumber() {
		const wanted = /^\d{1,15}$/.test(q) ? q : "";
		offer.hidden = true;
		if (!wanted) return;
		const { body } = await get(`/${collection}/${wanted}`).catch(() => ({}));
		if (!body || q !== wanted) return;
		offer.replaceChildren(h("span", null, t("number", wanted), " "), h("a", { href: address(`${kind}/${body.id}`) }, rows.title(body)));
		offer.hidden = false;
	}
	async function load(further = false) {
		controller?.abort();
		controller = new AbortController();
		const { signal } = controller;
		const wanted = further ? page + 1 : 1;
		try {
			if (!further) {
				next = false; // it goes on with the list before
				more.hidden = true;
				counts();
				offerNumber();
			}
			// Pages before are read again: a record that came or went since has moved the others.
			const found = new Map();
			let body;
			let n = 0;
			do {
				body = await list(`/${collection}${query({ ...asked(tab), search: q, per_page: 50, page: ++n })}`, { signal });
				for (const record of body[collection]) found.set(record.id, record);
			} while (n < wanted && body.next_rest_url);
			const records = [...found.values()];
			await learnFormer(kind, records);
			if (signal.aborted) return;
			alert.hidden = true;
			const before = new Set(rows.records.map((r) => r.id));
			rows.records = records;
			if (!further) rows.results.clear();
			next = Boolean(body.next_rest_url);
			page = n;
			total = body.total;
			rows.caption.textContent = t(collection);
			rows.isTrash = tab === "trash";
			const onMore = document.activeElement === more;
			rows.draw();
			const fresh = records.find((r) => !before.has(r.id));
			if (onMore && (fresh || !next)) rows.focusOn(fresh?.id, 0, 0);
		} catch (e) {
			tell(alert, e);
		} finally {
			more.hidden = !next;
			empty.hidden = rows.records.length > 0;
			shown.textContent = next ? t("of", number(rows.records.length), number(total)) : t("total", number(total));
		}
	}
	Object.assign(rows, { load, changed: counts });
	const askFirst = rows.act.bind(rows);
	rows.act = async (act, ids) => {
		if (act === "trash" && !await confirmTrash(kind, ids)) return;
		await askFirst(act, ids);
	};
	return {
		name: collection, element,
		load: async () => {
			drawTabs();
			await load();
		},
		take: ({ parts, params: p }) => {
			if (parts.length !== 1 || parts[0] !== collection) return false;
			take(p);
			if (box.input.value.trim() !== q) box.input.value = q;
			drawTabs();
			load();
			return true;
		},
		back: () => load(),
		close: () => controller?.abort(),
	};
}

const filters = { venue: "venue", organizer: "organizer", category: "categories", tag: "tags" };

// linked is how many events link to a record; hidden ones are not in it.
async function linked(kind, ids) {
	if (kind === "event") return 0;
	const body = await list("/events" + query({ [filters[kind]]: ids.join(","), starts_after: "0001-01-01", per_page: 1, _fields: "id" }));
	return body.total;
}

// confirmTrash asks before records go to the trash, or terms for ever.
export async function confirmTrash(kind, ids, name) {
	const n = await linked(kind, ids).catch((e) => {
		if (!(e instanceof Fault)) throw e;
		return 0;
	});
	const text = kind === "event" ? t("trash.text") : [count("linked", n), t(isTerm(kind) ? "delete.final" : "trash.linked")].join(" ");
	return await sure(isTerm(kind) ? "delete" : "trash", t(isTerm(kind) ? "delete.title" : "trash.title", name ?? count("selected", ids.length)), h("p", null, text), t(isTerm(kind) ? "delete" : "trash"), true) === true;
}
