// Saving: what changed, in which language, with which version, and what others changed
// meanwhile (E4.4, E5).

import { Fault, ask as request, get, write } from "./api.js";
import { instantOf, msOf } from "./dates.js";
import { open, sayParagraph } from "./dialogs.js";
import { freshId, freshKey, h, sameValue } from "./dom.js";
import { collectionOf, hiddenLinks, nameField, readRecord, textsIn, textsOf, valuesOf, versionOf } from "./records.js";
import { me } from "./session.js";
import { clock, lang as own, languageNames, languages, moment, t } from "./texts.js";
import { countElements } from "./trusted.js";

const langOf = (key) => key.split("@")[1];
const nameOf = (key) => key.split("@")[0];

// Names are read as HTML (interface 2.5): what was typed is sent as text.
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const raw = new Set(["description", "excerpt", "website", "image", "email", "slug", "status", "password", "timezone", "start_date", "end_date", "date"]);
export const escapedAll = (name, value) => {
	if (typeof value === "string") return raw.has(name) ? value : escaped(value);
	if (Array.isArray(value)) return value.map((v) => escapedAll(name, v));
	if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, escapedAll(k, v)]));
	return value;
};
const apiValue = (field, value) => escapedAll(field.name, field.toApi ? field.toApi(value) : value);

// changedKeys are the fields that differ from what was read.
export const changedKeys = (form) => form.fields.map((f) => f.key).filter((key) => !sameValue(form.value(key), form.base[key]));

// languagesToWrite are the languages of the writes that are needed, the home language first.
function languagesToWrite(form) {
	const keys = changedKeys(form);
	const first = form.id ? form.home : form.filled.find((l) => form.value(`${nameField[form.kind]}@${l}`)) ?? form.shownLang;
	const others = languages.filter((l) => l !== first && keys.some((key) => langOf(key) === l));
	const common = keys.some((key) => !langOf(key) || langOf(key) === first);
	return common || !form.id ? [first, ...others] : others;
}

// bodyOf makes the body of the write of a language. The first one has all that has no
// language, too.
async function bodyOf(form, lang, first) {
	const body = {};
	for (const key of changedKeys(form)) {
		if (langOf(key) ? langOf(key) !== lang : !first) continue;
		const value = apiValue(form.field(key), form.value(key));
		body[nameOf(key)] = value === null ? "" : value;
	}
	if (!form.id && first && form.status) body.status = form.value("status"); // it is not left to the role
	if (body.image !== undefined && /^\d+$/.test(body.image)) body.image = Number(body.image);
	if (form.id && form.kind === "event" && (body.venue || body.organizer)) {
		const hidden = await hiddenLinks(form.id, { venue: form.base.venue.map((v) => v.id), organizer: form.base.organizer.map((v) => v.id) });
		for (const name of ["venue", "organizer"]) if (body[name]) body[name] = [...body[name], ...(hidden[name] ?? [])];
	}
	if (body.all_day !== undefined || !form.isAllDay()) return body;
	for (const name of ["start_date", "end_date"]) if (body[name]) body[name] = body[name].slice(0, 10);
	return body;
}

// absorb takes over what came back from a write: in place of what was sent, and nothing that
// was typed meanwhile.
function absorb(form, answer, lang, sent) {
	const record = answer.body;
	const isHome = lang === form.home;
	const came = { ...valuesOf(form.kind, record), ...textsIn(form.kind, record, lang, isHome ? record : Object.fromEntries(textsOf(form.kind).map((n) => [n, form.base[`${n}@${form.home}`]]))) };
	for (const [key, value] of Object.entries(came)) {
		const field = form.field(key);
		if (field && (sameValue(form.value(key), sent[key]) || field.secret)) {
			if (nameOf(key) === "description") noteCleaning(form, lang, sent[key], value);
			if (!sameValue(form.value(key), value)) field.set(value);
		}
		form.base[key] = value;
	}
	form.etag = answer.etag;
	form.record = { ...form.record, ...record };
}

// noteCleaning tells how many elements of a description were not kept.
function noteCleaning(form, lang, sent, came) {
	if (!sent || sent === came) return;
	const before = countElements(sent);
	const after = countElements(came);
	const gone = before.hasBlocks ? before.all - after.all : before.plain - after.plain;
	if (gone > 0) form.note("description", t(gone === 1 ? "cleaned.one" : "cleaned.many", gone));
}

function refuse(form, key, text) {
	form.fault(key, text);
	form.showFaults();
	return false;
}

// save writes all that changed. It reports whether all of it was written.
export async function save(form) {
	form.clearFaults();
	for (const lang of languages) {
		const key = `${nameField[form.kind]}@${lang}`;
		if (form.id && lang !== form.home && form.base[key] && !form.value(key)) return refuse(form, key, t("title.stays"));
	}
	for (const field of form.fields) {
		if (field.words?.getAttribute("aria-invalid")) return refuse(form, field.key, t("words.unknown"));
		if (field.input.getAttribute("role") === "combobox" && field.input.value.trim()) return refuse(form, field.key, t("not.chosen", field.input.value.trim()));
	}
	if (form.pending?.secret && form.value("password") === "") return refuse(form, "password", t("password.again"));
	if (form.field("date") && form.value("status") === "future" && changedKeys(form).some((key) => key === "status" || key === "date")) {
		const at = msOf(form.value("date"));
		if (at === null || instantOf(at, me.timezone) <= Date.now()) return refuse(form, "date", t("date.ahead"));
	}
	form.state("saving");
	try {
		if (form.pending) await send(form, form.pending, form.pending.sent);
		const langs = languagesToWrite(form);
		for (const [n, lang] of langs.entries()) {
			const first = !form.id || lang === form.home;
			if (form.id && n > 0 && !changedKeys(form).some((key) => langOf(key) === lang)) continue;
			const sent = Object.fromEntries(form.fields.map((f) => [f.key, form.value(f.key)]));
			const { password, ...body } = await bodyOf(form, lang, first);
			const pending = {
				secret: Boolean(password), lang, method: form.id ? "PATCH" : "POST", path: `/${collectionOf[form.kind]}${form.id ? "/" + form.id : ""}`,
				body: JSON.stringify(password === "" ? { ...body, password } : body), key: freshKey(), match: form.id ? form.etag : undefined,
			};
			await send(form, pending, sent);
		}
	} catch (e) {
		if (e.name === "AbortError") return false;
		if (!(e instanceof Fault)) throw e;
		return await failed(form, e);
	}
	form.saved();
	return true;
}

// send sends a write, which is kept with what was typed until there is an answer.
async function send(form, pending, sent) {
	form.pending = { ...pending, sent: form.withoutSecrets(sent) };
	form.keep(true);
	// The password is kept nowhere: of a save that was cut off it is typed again.
	const body = pending.secret ? JSON.stringify({ ...JSON.parse(pending.body), password: form.value("password") ?? "" }) : pending.body;
	let answer;
	try {
		answer = await write(pending.method, pending.path, { ...pending, body, signal: form.leaving.signal }, (seconds) => form.state(seconds ? "retrying" : "saving", seconds));
	} catch (e) {
		if (e.name === "AbortError") throw e; // it is repeated when the draft is
		if (e.status !== 401 && !(e.status === 422 && pending.secret)) form.pending = null; // 422: another password
		form.keep(true);
		e.lang = pending.lang;
		if (pending.lang !== own) await retell(e, pending, body);
		throw e;
	}
	form.pending = null;
	if (pending.method === "POST") form.made(answer.body.id, pending.lang);
	absorb(form, answer, pending.lang, sent);
	form.keep(true);
}

// retell takes the messages of a refused write in the language of the desk: under its root
// the same is asked in a way that is never carried out (interface 7.2).
async function retell(fault, { method, path, key }, body) {
	if (fault.status === 401 || fault.status === 412) return;
	if (fault.code === "term_exists") fault.message = t("term.exists"); // checked last, too
	const { params } = fault.data;
	const words = { end_date: t("end.before"), geo_lat: t("geo.both"), geo_lng: t("geo.both") }; // checked last
	try {
		await request(method, path, method === "POST" ? { body, key: "-".repeat(256) } : { body, key, match: '"0"' });
	} catch (e) {
		if (!(e instanceof Fault)) throw e;
		if (e.code === fault.code) fault.message = e.message;
		Object.assign(words, e.data.params);
	}
	if (params && !Array.isArray(params)) for (const name of Object.keys(params)) params[name] = words[name] ?? params[name];
}

async function failed(form, e) {
	if (e.status === 412) return await merge(form);
	form.state("failed");
	if (e.status === 401) return false;
	if (e.status === 400 && e.data.params) {
		const missing = Array.isArray(e.data.params);
		for (const [name, text] of missing ? e.data.params.map((n) => [n, t("missing.field")]) : Object.entries(e.data.params)) {
			const lang = e.lang ?? form.home;
			const field = form.field(name) ?? form.field(`${name}@${lang}`);
			if (field) form.fault(field.key, text.replace(new RegExp(`^${name} ?[:：] ?`), ""));
			else form.message(e.code, text);
		}
		form.showFaults();
	} else {
		form.message(e.code, e.message || t("network"));
	}
	return false;
}

// nowOf reads a record that somebody else changed; null: it is in the trash.
async function nowOf(form) {
	try {
		const now = await readRecord(form.kind, form.id);
		return now.record.status === "trash" ? null : now;
	} catch (e) {
		if (e.code !== "event-no-longer-available") throw e;
		return null;
	}
}

const shownValue = (form, key, value) => {
	const name = nameOf(key);
	if (value === "" || value === null || value === undefined || Array.isArray(value) && !value.length) return t("none");
	if (Array.isArray(value)) return value.map((v) => v.name ?? v[name] ?? form.labelOfOption?.(name, v) ?? `#${v.id ?? v}`).join(", ");
	if (typeof value === "boolean") return t(value ? "yes" : "no");
	if (name === "status") return t("status." + value);
	if (name === "start_date" || name === "end_date") return clock(value, form.isAllDay());
	return String(value);
};

// merge puts together what both sides changed, and goes on saving (E5.3).
async function merge(form) {
	form.state("conflict");
	let theirs;
	try {
		theirs = await nowOf(form);
		if (!theirs) return await trashed(form);
	} catch (e) {
		if (!(e instanceof Fault)) throw e;
		return await failed(form, e);
	}
	const edited = versionOf(form.etag);
	const both = [], put = [];
	for (const field of form.fields) {
		const { key } = field;
		if (field.secret) continue;
		const [base, mine, other] = [form.base[key], form.value(key), theirs.values[key]];
		const mineChanged = !sameValue(base, mine), theirsChanged = !sameValue(base, other);
		if (mineChanged && theirsChanged && !sameValue(mine, other)) both.push({ key, mine, other });
		else if (theirsChanged && !mineChanged) put.push({ key, other });
	}
	let taken = [];
	if (both.length) {
		taken = await ask(form, both, put, edited);
		if (!taken) {
			form.state("dirty");
			return false;
		}
	}
	for (const { key, other } of [...put, ...taken]) form.field(key).set(other);
	form.base = { ...theirs.values, password: "" };
	form.etag = theirs.etag;
	form.record = { ...form.record, ...theirs.record };
	form.keep(true);
	form.changed();
	if (form.stopAfterMerge) {
		form.message("rest_precondition_failed", t("conflict.look"));
		form.state(changedKeys(form).length ? "dirty" : "idle");
		return false;
	}
	return await save(form);
}

// ask shows the fields that both sides changed, and returns those of which theirs is taken;
// null: back to the form.
async function ask(form, both, put, edited) {
	let entries = [];
	try {
		entries = (await get(`/${collectionOf[form.kind]}/${form.id}/history?after=${edited}`)).body.entries;
	} catch (e) {
		if (!(e instanceof Fault)) throw e;
	}
	const who = [...new Set(entries.map((e) => e.actor?.name).filter(Boolean))].join(", ") || t("somebody");
	const label = (key) => t("field." + nameOf(key)) + (langOf(key) ? ` (${languageNames[langOf(key)]})` : "");
	const parts = both.map(({ key, mine, other }) => {
		const name = freshId("conflict");
		const one = (value, title, text, small, checked) => {
			const id = freshId(name);
			const radio = h("input", { id, type: "radio", name, value, checked, "aria-describedby": id + "-value" });
			return h("div.pickone", { onclick: () => { radio.checked = true; } }, radio, h("span", null, h("label", { for: id }, title), h("span", { id: id + "-value" }, text), h("small", null, small)));
		};
		const set = h("fieldset", { "data-conflict": nameOf(key), "data-lang": langOf(key) }, h("legend", null, label(key)), h("div.pair", null,
			one("mine", t("keep.mine"), shownValue(form, key, mine), t("not.saved"), true), one("theirs", t("take.theirs"), shownValue(form, key, other), who, false)));
		return { key, other, set };
	});
	const content = h("div.conflict-parts", null, sayParagraph(t("conflict.text")),
		entries.length ? h("ul.said", null, entries.map((e) => h("li", null, `${e.actor?.name ?? t("somebody")}, ${moment(e.time, me.timezone)}: ${e.summary}`))) : null,
		parts.map((p) => p.set),
		put.length ? h("div.merged", null, h("h3", null, t("merged")), h("ul", null, put.map(({ key, other }) => h("li", null, h("b", null, label(key)), ": ", shownValue(form, key, other))))) : null);
	const got = await open("conflict", t("conflict.title", who), content, [["save", t("save"), { class: "primary" }], ["back", t("back.form")]]);
	if (got !== "save") return null;
	return parts.filter((p) => p.set.querySelector("input:checked").value === "theirs");
}

// trashed says that the event is in the trash now, and brings it back.
async function trashed(form) {
	const got = await open("conflict", t("trashed.title"), sayParagraph(t("trashed.text")), [["restore", t("restore"), { class: "primary" }], ["back", t("back.form")]]);
	if (got !== "restore") {
		form.state("failed");
		return false;
	}
	try {
		await write("PATCH", `/${collectionOf[form.kind]}/${form.id}`, { body: "{}", lang: form.home }, (s) => form.state("retrying", s));
	} catch (e) {
		if (!(e instanceof Fault)) throw e;
		return await failed(form, e);
	}
	return await merge(form);
}
