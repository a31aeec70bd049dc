// What was typed and is not saved, for this user and record (E4.7). Each form has a draft of
// its own, so that two tabs keep both.

import { freshKey, wait } from "./dom.js";
import { keep, kept, keptNames } from "./store.js";
import { me } from "./session.js";

const nameOf = (kind, id) => `draft:${me.id}:${kind}:${id || "new"}:`;

const forms = new Set(); // keys of the forms that are open in this tab
const elsewhere = new Set(); // and in others, as far as they answered
const channel = new BroadcastChannel("daybook-desk");
channel.onmessage = ({ data }) => {
	if (data) for (const key of data) elsewhere.add(key);
	else channel.postMessage([...forms]);
};

// openDraft returns the key of the draft of a new form.
export function openDraft() {
	const key = freshKey();
	forms.add(key);
	return key;
}

export const closeDraft = (key) => forms.delete(key);

// Of the record a draft is: when, the version and the state that was edited, what was typed,
// and the write that has no answer yet. Without a value it goes.
export const writeDraft = (kind, id, key, draft) => keep(nameOf(kind, id) + key, draft);

// leftDrafts are those that no open form has, the last one first, with their keys.
export async function leftDrafts(kind, id) {
	const prefix = nameOf(kind, id);
	const keys = keptNames().filter((n) => n.startsWith(prefix)).map((n) => n.slice(prefix.length)).filter((key) => !forms.has(key));
	if (!keys.length) return [];
	channel.postMessage(null);
	await wait(200);
	return keys.filter((key) => !elsewhere.has(key)).map((key) => [key, kept(prefix + key)]).filter(([, draft]) => draft).toSorted(([, a], [, b]) => b.time - a.time);
}

// hasDrafts reports whether anything that somebody typed is kept.
export const hasDrafts = () => keptNames().some((n) => n.startsWith("draft:"));
