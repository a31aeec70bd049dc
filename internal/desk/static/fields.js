// The fields of the forms: each reads and writes its value as the interface has it.

import { all, list, query } from "./api.js";
import { combobox } from "./combobox.js";
import { msOf, ownZone, instantOf, resolve, wallOf, zones } from "./dates.js";
import { button, freshId, h, unescaped } from "./dom.js";
import { richText } from "./richtext.js";
import { me } from "./session.js";
import { clock, languageNames, languageTag, moment, t } from "./texts.js";

export const errorOf = (name, lang) => h("p.problem", { id: `error-${name}${lang ? "-" + lang : ""}`, "data-error": name, "data-lang": lang, hidden: true });
export const noteOf = (name) => h("p.hint", { id: `note-${name}`, "data-note": name, hidden: true });

const labelOf = (name, required, kind) => [labelText(name, kind), required ? [" ", h("span.need", null, t("required"))] : ""];

// labelText names a field of a record of a kind; the field of its own name may be called as the kind.
export const labelText = (name, kind) => t("field." + (name === kind ? "name" : name));

// say shows a note.
export function say(note, text) {
	note.textContent = text ?? "";
	note.hidden = !text;
}

// line is an input of one line.
export function line(form, name, o = {}) {
	const id = freshId(name.replace(".", "-"));
	const input = h("input", { id, name, type: o.type ?? "text", lang: o.tag, "data-lang": o.lang, "aria-required": o.required ? "true" : null, "aria-describedby": `error-${name}${o.lang ? "-" + o.lang : ""}`, autocomplete: o.autocomplete ?? "off", step: o.step, maxlength: o.max, inputmode: o.mode, oninput: () => form.changed() });
	const error = errorOf(name, o.lang);
	return {
		key: o.key ?? name, name, lang: o.lang, error, input, focus: () => input.focus(),
		element: h("div.field", o.lang ? { "data-pane": o.lang } : null, h("label", { for: id }, o.label ?? labelOf(name, o.required, form.kind)), input, error, o.note ? noteOf(name) : null, o.hint ? h("p.hint", null, o.hint) : null),
		...unchanged(input),
	};
}

// unchanged reads and writes an input that may not show all of a value, as line breaks: what
// nobody typed in comes back as it was.
export function unchanged(input) {
	let stored = "", shown = "";
	return {
		get: () => (input.value.trim() === shown ? stored : input.value.trim()),
		set: (v) => {
			input.value = stored = v ?? "";
			shown = input.value.trim();
		},
	};
}

// check is a flag.
export function check(form, name) {
	const input = h("input", { type: "checkbox", name, "aria-describedby": "error-" + name, onchange: () => form.changed() });
	const error = errorOf(name);
	const note = noteOf(name);
	return { key: name, name, input, error, focus: () => input.focus(), note, element: h("div.field", null, h("label.line.plain", null, input, " ", t("field." + name)), error, note), get: () => input.checked, set: (v) => { input.checked = Boolean(v); } };
}

// choice is a select.
export function choice(form, name, options, o = {}) {
	const id = freshId(name);
	const select = h("select", { id, name, "aria-describedby": "error-" + name, onchange: () => form.changed() });
	const fill = (list) => select.replaceChildren(...list.map(([value, label]) => h("option", { value }, label)));
	fill(options);
	const error = errorOf(name);
	return {
		key: name, name, input: select, error, fill, focus: () => select.focus(),
		element: h("div.field", null, h("label", { for: id }, labelOf(name)), select, error, noteOf(name), o.hint ? h("p.hint", null, o.hint) : null),
		get: () => (o.number ? Number(select.value) : select.value),
		set: (v) => {
			const value = String(v ?? "");
			if (value === "" && !options.some(([known]) => known === "")) return; // the first one stays
			if (![...select.options].some((option) => option.value === value)) select.append(h("option", { value }, value));
			select.value = value;
		},
	};
}

// text is a text in a language.
export function text(form, name, lang, o = {}) {
	if (name !== "description") return line(form, name, { ...o, lang, tag: languageTag(lang), key: `${name}@${lang}` });
	const tag = languageTag(lang);
	const error = errorOf("description", lang);
	const rich = richText({ lang, tag, label: `${t("field.description")} (${languageNames[lang]})`, changed: () => form.changed() });
	for (const e of [rich.source, rich.field]) e.setAttribute("aria-describedby", error.id);
	return { key: `description@${lang}`, name, lang, error, input: rich.field, also: rich.source, focus: rich.focus, element: h("div.field", { "data-pane": lang }, h("label", { for: rich.source.id, onclick: rich.focus }, t("field.description")), rich.element, error), get: rich.get, set: rich.set, load: rich.start, placeholder: rich.placeholder };
}

// dateTime is a wall clock: date, time, and a phrase beside them.
export function dateTime(form, name, o = {}) {
	const part = name.replace("_date", "");
	const date = h("input", { id: freshId(name), name, type: "date", "aria-required": o.required ? "true" : null, "aria-describedby": `error-${name} note-${name}`, max: "9999-12-31" });
	const time = h("input", { id: freshId(part), name: part + "_time", type: "time", step: 60 });
	const words = h("input", { id: freshId(part), name: part + "_words", type: "text", placeholder: t("words.example"), autocomplete: "off", "aria-describedby": `error-${part}_words note-${part}_words` });
	const error = errorOf(name);
	const wordsError = errorOf(part + "_words");
	const note = noteOf(name);
	const wordsNote = noteOf(part + "_words");
	const group = freshId("label");
	const box = (input, what) => h("div", null, h("label.hint", { for: input.id }, t(`field.${part}.${what}`)), input);
	const timeBox = box(time, "time");
	let seconds = "00";
	const field = {
		key: name, name, input: date, error, note, focus: () => date.focus(), time, words,
		element: h("div.field", { role: "group", "aria-labelledby": group }, h("span.label", { id: group }, labelOf(name, o.required)), h("div.two", null, box(date, "date"), timeBox), error, note,
			h("label.hint", { for: words.id }, t("words")), words, wordsError, wordsNote),
		get: () => {
			if (!date.value) return "";
			const ofDay = form.isAllDay();
			if (ofDay) return `${date.value} ${part === "end" ? "23:59:59" : "00:00:00"}`;
			return `${date.value} ${time.value ? (time.value.length === 5 ? `${time.value}:${seconds}` : time.value) : "00:00:00"}`;
		},
		// clear takes away a phrase that is no longer what the clock says.
		clear: () => {
			words.value = "";
			read();
		},
		set: (v) => {
			field.clear();
			date.value = v?.slice(0, 10) ?? "";
			time.value = v ? v.slice(11, 16) : "";
			seconds = v?.slice(17, 19) || "00";
			before = msOf(field.get());
		},
	};
	let before = null;
	const moved = () => {
		const now = msOf(field.get());
		if (now !== null && before !== null && now !== before) o.moved?.(now - before);
		if (now !== null) before = now;
		form.changed();
	};
	for (const input of [date, time]) {
		input.addEventListener("input", () => {
			if (input === time) seconds = "00";
			field.clear();
			moved();
		});
	}
	words.addEventListener("keydown", (e) => { if (e.key === "Enter") e.preventDefault(); });
	const read = () => {
		const typed = words.value.trim();
		const ms = typed ? resolve(typed, form.zone()) : null;
		if (typed && ms === null) words.setAttribute("aria-invalid", "true");
		else words.removeAttribute("aria-invalid");
		say(wordsError, typed && ms === null ? t("words.unknown") : "");
		say(wordsNote, ms === null ? "" : t("words.means", clock(wallOf(ms))));
		return ms;
	};
	field.resolve = () => {
		const ms = read();
		if (ms === null) return;
		date.value = wallOf(ms).slice(0, 10);
		time.value = wallOf(ms).slice(11, 16);
		seconds = wallOf(ms).slice(17);
		moved();
	};
	words.addEventListener("input", field.resolve);
	// The same instant in the reader's zone.
	field.tell = () => {
		const ms = msOf(field.get());
		const instant = ms === null || form.isAllDay() ? null : instantOf(ms, form.zone());
		let own = "";
		if (instant !== null) {
			const theirs = instantOf(ms, ownZone());
			if (theirs !== instant) own = t("zone.own", moment(instant, ownZone()), ownZone());
		}
		say(note, own);
		timeBox.hidden = form.isAllDay();
		if (ms !== null) before = ms;
	};
	return field;
}

export function zone(form) {
	return choice(form, "timezone", zones().map((z) => [z, z]));
}

// link chooses venues or organizers; new ones are made with the event (E4.3).
export function link(form, kind) {
	const collection = kind + "s";
	const box = combobox({
		name: kind, label: t("field." + kind), changed: () => form.changed(),
		find: async (typed) => (await list(`/${collection}${query({ search: typed, per_page: 8 })}`))[collection].map((r) => ({ id: r.id, name: unescaped(r[kind]), hint: unescaped(r.city ?? r.email ?? "") })),
		create: me.can.create ? (typed) => open(typed) : null, createLabel: (typed) => t(kind + ".create", typed),
	});
	const error = errorOf(kind);
	const note = noteOf(kind);
	const inline = h("div.inlines");
	const details = kind === "venue" ? ["address", "city", "zip", "province", "country", "phone", "website"] : ["phone", "email", "website"];

	function open(typed = "") {
		const names = [kind, ...details];
		const fields = names.map((name) => {
			const id = freshId(name);
			return [name, h("input", { id, name: `${kind}.${name}`, type: "text", autocomplete: "off", "aria-required": name === kind ? "true" : null, oninput: () => form.changed() })];
		});
		const set = h("fieldset.part.inline", null, h("legend", null, t(kind + ".new")), fields.map(([name, input]) => h("div.field", null, h("label", { for: input.id }, labelOf(name, name === kind, kind)), input)),
			h("p.line", null, button(t("remove.new"), () => {
				set.remove();
				say(note);
				form.changed();
				box.input.focus();
			}, { class: "quiet" })));
		const input = fields[0][1];
		input.value = typed;
		let timer;
		input.addEventListener("input", () => {
			clearTimeout(timer);
			timer = setTimeout(() => look(input), 300);
		});
		set.read = () => Object.fromEntries(fields.filter(([, e]) => e.value.trim()).map(([name, e]) => [name, e.value.trim()]));
		set.write = (v) => fields.forEach(([name, e]) => { e.value = v[name] ?? ""; });
		inline.append(set);
		if (typed) look(input);
		form.changed();
		input.focus();
		return set;
	}
	async function look(input) {
		const name = input.value.trim();
		if (!name) return say(note);
		const body = await list(`/${collection}${query({ search: `"${name.replaceAll('"', " ")}"`, status: "publish", per_page: 50, _fields: `id,${kind},status` })}`).catch(() => null);
		if (input.value.trim() !== name) return undefined;
		return say(note, body?.[collection].some((r) => unescaped(r[kind]).normalize("NFC").toLowerCase() === name.normalize("NFC").toLowerCase()) ? t("linked.as", name) : "");
	}
	return {
		key: kind, name: kind, input: box.input, error, focus: () => box.input.focus(),
		element: h("div.field", null, h("label", { for: box.input.id }, labelOf(kind)), box.element, error, note, inline, me.can.create ? h("p.line", null, button(t(kind + ".new"), () => open(box.input.value.trim()), { class: "quiet" })) : null),
		get: () => [...box.get(), ...[...inline.children].map((set) => set.read()).filter((v) => Object.keys(v).length)],
		set: (v) => {
			box.set(v.filter((r) => r.id));
			inline.replaceChildren();
			const focused = document.activeElement;
			for (const r of v.filter((one) => !one.id)) open().write(r);
			if (focused !== document.activeElement) focused?.focus?.();
			say(note);
		},
		toApi: (v) => v.map((r) => r.id ?? r),
	};
}

// tags chooses tags; who may makes new ones.
export function tags(form) {
	const note = noteOf("tags");
	const error = errorOf("tags");
	const box = combobox({
		name: "tags", label: t("field.tags"), changed: () => {
			say(note);
			form.changed();
		},
		find: async (typed) => (await list(`/tags${query({ search: typed, hide_empty: "false", per_page: 8 })}`)).tags.map((r) => ({ id: r.id, name: unescaped(r.name) })),
		create: (typed) => {
			if (me.can.manage_tags) box.add({ name: typed });
			else say(note, t("tag.unknown", typed));
		},
		createLabel: (typed) => t(me.can.manage_tags ? "tag.create" : "tag.unknown", typed),
	});
	return {
		key: "tags", name: "tags", input: box.input, error, focus: () => box.input.focus(),
		element: h("div.field", null, h("label", { for: box.input.id }, labelOf("tags")), box.element, error, note, me.can.manage_tags ? h("p.hint", null, t("tags.hint")) : null),
		get: () => box.get().toSorted((a, b) => (a.id ?? Infinity) - (b.id ?? Infinity)), set: (v) => box.set(v), toApi: (v) => v.map((r) => r.id ?? r.name),
	};
}

// categories is their nested list.
export function categories(form) {
	const error = errorOf("categories");
	const holder = h("div");
	let wanted = [];
	const build = (records, parent) => {
		const own = records.filter((r) => (records.some((p) => p.id === r.parent) ? r.parent : 0) === parent);
		return own.length ? h("ul", parent ? null : { class: "tree" }, own.map((r) => h("li", null, h("label", null, h("input", { type: "checkbox", name: "categories", value: String(r.id), "aria-describedby": error.id, onchange: () => form.changed() }), " ", unescaped(r.name)), build(records, r.id)))) : null;
	};
	const boxes = () => [...holder.querySelectorAll("[name=categories]")];
	const field = {
		key: "categories", name: "categories", error, focus: () => boxes()[0]?.focus(),
		get input() { return boxes()[0] ?? holder; },
		element: h("fieldset.field", null, h("legend", null, t("field.categories")), holder, error),
		get: () => (boxes().length ? boxes().filter((b) => b.checked).map((b) => Number(b.value)).toSorted((a, b) => a - b) : wanted),
		set: (v) => {
			wanted = v.toSorted((a, b) => a - b);
			for (const b of boxes()) b.checked = wanted.includes(Number(b.value));
		},
		load: async () => {
			const records = await all("categories", { hide_empty: "false" });
			wanted = field.get();
			holder.replaceChildren(build(records, 0) ?? h("p.hint", null, t("categories.none")));
			field.set(wanted);
		},
	};
	return field;
}

// parent chooses the parent of a category.
export function parent(form, id) {
	const field = choice(form, "parent", [["0", t("parent.none")]], { number: true });
	field.load = async () => {
		const value = field.get();
		const records = await all("categories", { hide_empty: "false" });
		const below = (at, depth) => records.filter((r) => r.parent === at && r.id !== id).flatMap((r) => [[String(r.id), "– ".repeat(depth) + unescaped(r.name)], ...below(r.id, depth + 1)]);
		field.fill([["0", t("parent.none")], ...below(0, 0)]);
		field.set(value);
	};
	return field;
}

// published is the publication date, a clock of the site.
export function published(form) {
	const field = line(form, "date", { type: "datetime-local", hint: t("date.hint", me.timezone) });
	let stored = "";
	field.get = () => (field.input.value ? (stored.startsWith(field.input.value.slice(0, 16).replace("T", " ")) ? stored : field.input.value.slice(0, 16).replace("T", " ") + ":00") : "");
	field.set = (v) => {
		stored = v ?? "";
		field.input.value = stored.slice(0, 16).replace(" ", "T");
	};
	return field;
}

// password is sent when there is one; a button takes it away.
export function password(form) {
	const field = line(form, "password", { type: "password", autocomplete: "new-password", hint: t("password.hint"), max: 255 });
	let removed = false;
	const remove = button(t("password.remove"), () => {
		removed = !removed;
		remove.setAttribute("aria-pressed", String(removed));
		field.input.value = "";
		field.input.disabled = removed;
		form.changed();
	}, { "aria-pressed": "false" });
	field.element.append(h("p.line", null, remove));
	field.tell = () => {
		remove.hidden = !form.id;
		field.element.querySelector(".hint").textContent = t(form.id ? "password.hint" : "password.new");
	};
	const read = field.get;
	field.get = () => (removed ? null : read());
	field.set = (v) => {
		removed = v === null;
		remove.setAttribute("aria-pressed", String(removed));
		field.input.disabled = removed;
		field.input.value = v ?? "";
	};
	field.secret = true;
	return field;
}
