// What was typed and is not saved, for this user and record (E4.7).

import { keep, kept, keptNames } from "./store.js";
import { me } from "./session.js";

const name = (kind, id) => `draft:${me.id}:${kind}:${id || "new"}`;

// Of the record a draft is: when, the version and the state that was edited, what was typed,
// and the write that has no answer yet.
export const readDraft = (kind, id) => kept(name(kind, id));

export const writeDraft = (kind, id, draft) => keep(name(kind, id), draft);

export const dropDraft = (kind, id) => keep(name(kind, id), undefined);

// hasDrafts reports whether anything that the caller typed is kept.
export const hasDrafts = () => keptNames().some((n) => n.startsWith(`draft:${me.id}:`));
