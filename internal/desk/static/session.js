// Who is signed in, and what they may do (E2).

import { credentials, get } from "./api.js";
import { forget, keep, kept } from "./store.js";

export let me = null;

const name = "session";

// enter signs in. It throws the fault of the interface. What the device remembers stays as
// it is where remember is undefined.
export async function enter(user, token, remember) {
	credentials(user, token);
	try {
		const { body } = await get("/me", { quiet: true });
		me = body;
	} catch (e) {
		credentials();
		throw e;
	}
	keep(name, { user, token }, "sessionStorage");
	if (remember !== undefined) keep(name, remember ? { user, token } : undefined);
	return me;
}

// known returns the credentials that the browser keeps.
export const known = () => kept(name, "sessionStorage") ?? kept(name);

// lose forgets credentials that are no longer good, and nothing else.
export function lose() {
	credentials();
	keep(name, undefined);
	keep(name, undefined, "sessionStorage");
}

// nobody is signed in.
export const nobody = () => { me = null; };

// leave signs out.
export function leave() {
	credentials();
	me = null;
	forget();
}

export const isTerm = (kind) => kind === "category" || kind === "tag";

// mayWrite reports whether the role may make records of a kind.
export function mayCreate(kind) {
	if (kind === "category") return me.can.manage_categories;
	if (kind === "tag") return me.can.manage_tags;
	return me.can.create;
}

// mayEdit reports whether the caller may change a record (interface 6.1). A trashed one
// counts with its former status; where that is not known, the interface decides.
export function mayEdit(kind, record) {
	if (isTerm(kind)) return mayCreate(kind);
	if (me.can.edit_others) return true;
	if (!me.can.create || String(record.author) !== String(me.id)) return false;
	return me.can.publish || ["draft", "pending", "private", "trash"].includes(record.former ?? record.status);
}

export const seesUnpublished = () => me.can.create || me.can.read_all;
