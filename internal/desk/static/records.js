// Records as the forms have them: values by field, texts by field and language.

import { get } from "./api.js";
import { unescaped } from "./dom.js";
import { me } from "./session.js";
import { lang as own, languages } from "./texts.js";

export const nameField = { event: "title", venue: "venue", organizer: "organizer", category: "name", tag: "name" };
export const collectionOf = { event: "events", venue: "venues", organizer: "organizers", category: "categories", tag: "tags" };

export const textsOf = (kind) => (kind === "category" || kind === "tag" ? [nameField[kind], "description"] : [nameField[kind], "description", "excerpt"]);

export const homeOf = (record) => record.languages?.[0] ?? record.language;

export const versionOf = (etag) => Number(/^(?:W\/)?"(\d+)/.exec(etag ?? "")?.[1] ?? 0);

const plain = ["address", "city", "country", "province", "state", "zip", "phone", "stateprovince"];

// valuesOf reads what is the same in all languages.
export function valuesOf(kind, r) {
	if (kind === "category") return { slug: r.slug, parent: r.parent };
	if (kind === "tag") return { slug: r.slug };
	const common = { slug: r.slug.replace(/__trashed$/, ""), status: r.status, image: r.image ? r.image.url : "", date: r.date };
	if (kind === "venue") {
		return { ...common, ...Object.fromEntries(plain.map((f) => [f, unescaped(r[f] ?? "")])), website: r.website ?? "", geo_lat: String(r.geo_lat ?? ""), geo_lng: String(r.geo_lng ?? ""), show_map: r.show_map, show_map_link: r.show_map_link };
	}
	if (kind === "organizer") return { ...common, phone: unescaped(r.phone ?? ""), email: r.email ?? "", website: r.website ?? "" };
	const website = unescaped(r.website);
	return {
		...common, start_date: r.start_date, end_date: r.end_date, all_day: r.all_day, timezone: r.timezone, cost: unescaped(r.cost), website: website === r.url ? "" : website,
		venue: r.venues.map((v) => ({ id: v.id, name: unescaped(v.venue) })), organizer: r.organizer.map((o) => ({ id: o.id, name: unescaped(o.organizer) })),
		categories: r.categories.map((c) => c.id).toSorted((a, b) => a - b), tags: r.tags.map((c) => ({ id: c.id, name: unescaped(c.name) })).toSorted((a, b) => a.id - b.id),
		event_status: r.event_status, event_status_reason: unescaped(r.event_status_reason), password: "",
		featured: r.featured, sticky: r.sticky, ticketed: r.ticketed, show_map: r.show_map, show_map_link: r.show_map_link, hide_from_listings: r.hide_from_listings,
	};
}

// plainExcerpt reads an excerpt that is one paragraph of text: it is shown as such a line.
function plainExcerpt(html) {
	const line = /^<p>([^<]*)<\/p>$/.exec(html)?.[1];
	if (line === undefined) return html;
	const text = unescaped(line.replaceAll("&#34;", '"').replaceAll("&quot;", '"').replaceAll("&#39;", "'"));
	return /<[a-z/!?]|&[#\w]+;/i.test(text) ? html : text; // which would be read as HTML
}

// textsIn reads the texts of a language. One that equals that of the home language is none.
export function textsIn(kind, record, lang, home) {
	const out = {};
	for (const name of textsOf(kind)) {
		const shown = name === nameField[kind] ? unescaped(record[name]) : name === "excerpt" ? plainExcerpt(record[name] ?? "") : record[name] ?? "";
		const isOwn = lang === homeOf(record) || (name === nameField[kind] ? record.language === lang : shown !== (name === "excerpt" ? plainExcerpt(home?.[name] ?? "") : home?.[name] ?? ""));
		out[`${name}@${lang}`] = isOwn ? shown : "";
	}
	return out;
}

// readRecord reads a record under all roots: one version of it.
export async function readRecord(kind, id) {
	const path = `/${collectionOf[kind]}/${id}`;
	for (let n = 0; ; n++) {
		const answers = await Promise.all(languages.map((lang) => get(path, { lang }))).catch(async (e) => {
			if (e.status !== 401) await get(path); // which fails in the language of the desk
			throw e;
		});
		if (new Set(answers.map((a) => versionOf(a.etag))).size > 1 && n < 5) continue; // changed meanwhile
		const home = homeOf(answers[0].body);
		const at = answers[languages.indexOf(home)];
		const values = valuesOf(kind, at.body);
		for (const [i, lang] of languages.entries()) Object.assign(values, textsIn(kind, answers[i].body, lang, at.body));
		return { values, home, etag: at.etag, record: answers[languages.indexOf(own)].body };
	}
}

// learnFormer reads what trashed records were before, for whom that makes a difference.
export async function learnFormer(kind, records) {
	if (me.can.publish) return;
	await Promise.all(records.filter((r) => r.status === "trash").map(async (r) => {
		const { body } = await get(`/${collectionOf[kind]}/${r.id}/history?field=status&limit=1`).catch(() => ({}));
		r.former = body?.entries[0]?.changes.find((c) => c.field === "status")?.before;
	}));
}

// hiddenLinks are links of an event that the caller does not see, by field (E4.3).
export async function hiddenLinks(id, shown) {
	try {
		const { body } = await get(`/events/${id}/diff?records=true`);
		const stored = body.to.record ?? {};
		return Object.fromEntries(["venue", "organizer"].map((f) => [f, (stored[f] ?? []).filter((link) => !shown[f].some((s) => s.id === link))]));
	} catch (e) {
		if (e.status !== 403 && e.status !== 404) throw e;
		return {};
	}
}
