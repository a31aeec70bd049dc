// The history of a record, comparing and bringing back versions (E6).

import { Fault, get, query, rootOf, write } from "./api.js";
import { open } from "./dialogs.js";
import { button, h, icon, unescaped } from "./dom.js";
import { labelText } from "./fields.js";
import { preview } from "./preview.js";
import { collectionOf, homeOf, nameField } from "./records.js";
import { address } from "./router.js";
import { escapedAll } from "./save.js";
import { mayEdit, me } from "./session.js";
import { clock, languageNames, languages, moment, t } from "./texts.js";

const kept = ["status", "date", "date_utc", "author", "password"]; // by a restore

const links = { categories: "categories", tags: "tags", parent: "categories", venue: "venues", organizer: "organizers" };

// historyView shows the versions of a record.
export function historyView(kind, id) {
	const path = `/${collectionOf[kind]}/${id}`;
	const element = h("div", null, h("h1", null, t("history")));
	let record = null, etag = null, entries = [], next = "", newest = 0, open_ = new Set(), covered = 0, shownVersion = 0;

	const names = new Map(); // of linked records, as they are now
	const learn = (changes) => Promise.all(changes.filter((c) => links[c.field] && !isOwnName(c.field)).flatMap((c) => [c.before ?? [], c.after ?? []].flat().map(async (link) => {
		if (!link || names.has(link)) return;
		names.set(link, `#${link}`);
		const found = await get(`/${links[c.field]}/${link}`).catch(() => null);
		if (found) names.set(link, unescaped(found.body.name ?? found.body.venue ?? found.body.organizer));
	})));
	const isOwnName = (field) => field === kind; // of venues and organizers
	const words = (v) => unescaped((v ?? "").replace(/<[^>]*>/g, " ").trim());
	const label = (c) => labelText(c.field, kind) + (c.language ? ` (${languageNames[c.language]})` : "");
	function value(c, v) {
		if (v === null || v === undefined || v === "") return t("none");
		if (Array.isArray(v)) return v.map((x) => (typeof x === "number" ? names.get(x) ?? `#${x}` : x)).join(", ");
		if (c.field === "parent") return v ? names.get(v) ?? `#${v}` : t("none");
		if (typeof v === "boolean") return t(v ? "yes" : "no");
		if (/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(v)) return clock(v);
		if (c.field === "description" && words(c.before) !== words(c.after)) return words(v); // else its elements changed
		if (c.field === "status" || c.field === "event_status") return t((c.field === "status" ? "status." : "takes.") + v);
		return String(v);
	}
	const marked = (name, c, v) => (value(c, v) === t("none") ? t("none") : h(name, null, value(c, v)));
	const table = (changes) => (changes.length ? h("table.changes", null, h("thead", null, h("tr", null, ["what", "before", "after"].map((n) => h("th", { scope: "col" }, t("history." + n))))), h("tbody", null, changes.map((c) =>
		h("tr", { "data-field": c.field }, h("th", { scope: "row" }, label(c)), h("td", null, marked("del", c, c.before)), h("td", null, marked("ins", c, c.after)))))) : h("p.hint", null, t("version.nothing")));

	const diff = h("section.reading", { id: "diff", "aria-live": "polite", hidden: true });
	const list = h("ol.timeline", { id: "history" });
	const alert = h("p.note.bad", { id: "message", role: "alert", hidden: true });
	const pane = preview(() => versionPage(shownVersion), () => t("version", shownVersion));
	pane.element.hidden = true;
	const more = button(t("more.load"), () => guarded(read)(next));
	const message = (e) => {
		alert.dataset.code = e.code;
		alert.textContent = e.message || t("network");
		alert.hidden = false;
		alert.scrollIntoView({ block: "nearest" });
	};
	const guarded = (f) => async (...args) => {
		alert.hidden = true;
		try {
			await f(...args);
		} catch (e) {
			if (!(e instanceof Fault)) throw e;
			if (e.status === 401) return;
			if (e.status === 412) await load(); // what differs now is another thing
			message(e);
		}
	};

	const versionPage = (n) => {
		const u = new URL(record.url, location.href);
		u.searchParams.set("as_of", `version:${n}`);
		return u.pathname + u.search;
	};

	const compare = guarded(async () => {
		const from = list.querySelector("[name=from]:checked")?.value;
		const to = list.querySelector("[name=to]:checked")?.value;
		if (!from || !to) return;
		const { body } = await get(`${path}/diff${query({ from, to })}`);
		await learn(body.changes);
		diff.replaceChildren(h("h2", null, `${t("version", from)} → ${t("version", to)}`), body.summary ? h("p.sentence", null, body.summary) : "", table(body.changes));
		diff.hidden = false;
		diff.scrollIntoView();
	});

	const asItWas = guarded(async (n) => {
		diff.hidden = pane.element.hidden = true;
		if (kind === "event" && record) {
			shownVersion = n;
			pane.element.hidden = false;
			const isShown = await pane.show();
			pane.element.hidden = !isShown;
			pane.element.scrollIntoView();
			if (isShown) return;
		}
		const { body } = await get(`${path}/diff${query({ from: n, to: n, records: "true" })}`);
		const fields = Object.entries(body.to.record ?? {}).flatMap(([field, v]) => (v && typeof v === "object" && !Array.isArray(v) ? Object.entries(v).map(([language, after]) => ({ field, language, after })) : [{ field, after: v }]));
		diff.replaceChildren(h("h2", null, t("version", n)), h("dl.facts", null, fields.map((c) => h("div", null, h("dt", null, label(c)), h("dd", null, value(c, c.after))))));
		diff.hidden = false;
		diff.scrollIntoView();
	});

	// restore brings back a version: a write of what differs now, texts of further languages
	// in writes of their own.
	const restore = guarded(async (n) => {
		const { body } = await get(`${path}/diff${query({ from: newest, to: n, records: "true" })}`);
		const stored = body.to.record ?? {};
		const name = nameField[kind];
		const changes = body.changes.filter((c) => !kept.includes(c.field) && !(c.field === name && (c.after === null || c.after === "")));
		const gone = [];
		for (const c of changes) {
			const many = links[c.field];
			if (!many || !c.after || isOwnName(c.field)) continue;
			const ids = [c.after].flat();
			const left = [];
			for (const link of ids) {
				try {
					await get(`/${many}/${link}?_fields=id`);
					left.push(link);
				} catch (e) {
					if (e.status === 403) left.push(link); // there, and not shown
					if (e.status === 403) continue;
					if (e.status !== 404 && e.status !== 410) throw e;
					const then = entries.find((x) => x.version === n);
					const was = then && await get(`/${many}/${link}${query({ as_of: `position:${then.position}` })}`).catch(() => null);
					gone.push(was ? unescaped(was.body.name ?? was.body.venue ?? was.body.organizer) : `#${link}`);
				}
			}
			c.after = c.field === "parent" ? left[0] ?? 0 : left;
		}
		await learn(changes);
		const real = changes.filter((c) => JSON.stringify(c.after) !== JSON.stringify(c.before));
		const got = await open("restore", t("restore.title", n), h("div", null, h("p", null, real.length ? t("restore.text") : t("nothing.restore")), real.length ? table(real) : "", gone.length ? h("p.note.warn", null, t("gone", gone.join(", "))) : ""),
			[...(real.length ? [["ok", t("restore"), { class: "primary" }]] : []), ["cancel", t("cancel")]]);
		if (got !== "ok") return;
		const home = record ? homeOf(record) : Object.keys(stored[name] ?? { en: 1 })[0];
		const reason = `restored version ${n}`;
		let match = etag;
		const langs = [home, ...languages.filter((l) => l !== home)];
		for (const l of langs) {
			const part = real.filter((c) => (c.language ? c.language === l : l === home));
			if (!part.length) continue;
			const sent = Object.fromEntries(part.map((c) => [c.field, c.after === null ? (typeof c.before === "boolean" ? false : "") : escapedAll(c.field, c.after)]));
			const answer = await write("PATCH", path, { lang: l, match, body: JSON.stringify({ ...sent, reason }) });
			match = answer.etag;
		}
		await load();
		list.querySelector("li input")?.focus();
	});

	function item(e) {
		const one = (side) => h("label", null, h("input", { type: "radio", name: side, value: e.version }), " ", t("history." + side));
		const isPublic = open_.has(e.version) && kind === "event" && record?.status === "publish" && e.action !== "trashed";
		const line = h("div.line");
		const canEdit = record ? mayEdit(kind, record) : kind === "event" && me.can.edit_others;
		if (e.version === newest && record?.status === "publish") line.append(h("span.status.good", null, t("status.publish")));
		if (e.version !== newest && canEdit && e.action !== "deleted" && e.action !== "erased") line.append(button([icon("back"), t("restore.version")], () => restore(e.version)));
		if (e.urls.version) line.append(isPublic ? h("a.button.quiet", { href: versionPage(e.version) }, t("as.it.was")) : button(t("as.it.was"), () => asItWas(e.version), { class: "quiet" }));
		if (e.position <= covered) line.append(h("a.button.quiet", { href: `${rootOf("en")}/proof/inclusion?position=${e.position}`, "data-proof": e.position }, t("proof")));
		const changes = h("details", { open: entries.indexOf(e) < 2 }, h("summary", null, t("history.changes")), table(e.changes));
		return h("li", { "data-version": e.version },
			h("div.when", null, h("b", null, t("version", e.version)), h("time", { datetime: e.time }, moment(e.time, me.timezone)), e.actor?.name ? h("span", null, e.actor.name) : "", h("span.versions", { role: "group", "aria-label": t("compare.version", e.version) }, one("from"), one("to"))),
			h("p.sentence", null, e.summary), e.reason ? h("p.reason", null, `“${e.reason}”`) : "", e.changes.length ? changes : "", line);
	}

	async function read(before) {
		const { body } = await get(`${path}/history${query({ limit: 50, before })}`);
		next = body.next_rest_url ? body.looked_to : "";
		await learn(body.entries.flatMap((e) => e.changes));
		if (before) {
			entries.push(...body.entries);
			const items = body.entries.map(item);
			list.append(...items);
			more.hidden = !next;
			items[0]?.querySelector("input").focus();
			return;
		}
		({ entries } = body);
		newest = entries[0]?.version ?? 0;
		list.replaceChildren(...entries.map(item));
		const radio = (side, version) => {
			const input = list.querySelector(`[name=${side}][value="${version}"]`);
			if (input) input.checked = true;
		};
		radio("to", newest);
		radio("from", entries[1]?.version ?? newest);
		more.hidden = !next;
	}

	async function load() {
		const single = await get(path).catch((e) => {
			if (e.code === "event-no-longer-available" || e.status === 404) return null; // in the trash, or deleted
			throw e;
		});
		record = single?.body ?? null;
		etag = single?.etag ?? undefined;
		covered = await get("/checkpoint", { anonymous: true }).then((a) => Number(a.text.split("\n")[1]) || 0, () => 0);
		open_ = new Set(await get(`${path}/history?limit=1000`, { anonymous: true }).then((a) => a.body.entries.map((e) => e.version), () => []));
		await read();
		const title = record ? unescaped(record[nameField[kind]]) : entries[0]?.name ?? `#${id}`;
		element.replaceChildren(
			h("p.crumb", null, h("a", { href: address(collectionOf[kind]) }, t(collectionOf[kind])), " / ", record ? h("a", { href: address(`${kind}/${id}`) }, title) : title),
			h("div.top", null, h("h1", null, t("history")), record ? h("a.button", { href: address(`${kind}/${id}`) }, t("back.form")) : ""), alert,
			h("form.reading", { id: "compare", onsubmit: (e) => {
				e.preventDefault();
				compare();
			} }, h("div.compare-bar", null, h("p", null, t("compare.text")), h("button", null, t("compare"))), diff, pane.element, list, h("p.line", null, more)));
	}
	return { name: "history", element, load };
}
