// What was typed and is not saved, for this user and record (E4.7). Each form has a draft of
// its own, so that two tabs keep both.

import { freshKey } from "./dom.js";
import { keep, kept, keptNames } from "./store.js";
import { me } from "./session.js";

const nameOf = (kind, id) => `draft:${me.id}:${kind}:${id || "new"}:`;

// An open form holds a lock of the browser with the name of its draft, which ends with its tab.
// Only safe origins have locks: elsewhere drafts of other tabs count as left.
const lockOf = (key) => "daybook-desk-draft-" + key;
const forms = new Map(); // what ends the locks of the forms of this tab

// openDraft returns the key of the draft of a new form.
export function openDraft() {
	const key = freshKey();
	const closed = new Promise((close) => forms.set(key, close));
	navigator.locks?.request(lockOf(key), () => closed);
	return key;
}

export function closeDraft(key) {
	forms.get(key)();
	forms.delete(key);
}

// Of the record a draft is: when, the version and the state that was edited, what was typed,
// and the write that has no answer yet. Without a value it goes.
export const writeDraft = (kind, id, key, draft) => keep(nameOf(kind, id) + key, draft);

// leftDrafts are those that no open form has, the last one first, with their keys.
export async function leftDrafts(kind, id) {
	const prefix = nameOf(kind, id);
	const keys = keptNames().filter((n) => n.startsWith(prefix)).map((n) => n.slice(prefix.length)).filter((key) => !forms.has(key));
	if (!keys.length) return [];
	const locks = await navigator.locks?.query();
	const open = new Set([...locks?.held ?? [], ...locks?.pending ?? []].map((lock) => lock.name));
	return keys.filter((key) => !open.has(lockOf(key))).map((key) => [key, kept(prefix + key)]).filter(([, draft]) => draft).toSorted(([, a], [, b]) => b.time - a.time);
}

// hasDrafts reports whether anything that somebody typed is kept.
export const hasDrafts = () => keptNames().some((n) => n.startsWith("draft:"));
