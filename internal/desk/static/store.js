// What the desk keeps in the browser. All keys begin with daybook-desk.

const prefix = "daybook-desk-";

// keep keeps a value, undefined removes it. It reports whether there was room.
export function keep(name, value, which = "localStorage") {
	try {
		const storage = window[which];
		if (value === undefined) storage.removeItem(prefix + name);
		else storage.setItem(prefix + name, JSON.stringify(value));
		return true;
	} catch {
		return false; // no storage, or none left
	}
}

export function kept(name, which = "localStorage") {
	try {
		return JSON.parse(window[which].getItem(prefix + name)) ?? undefined;
	} catch {
		return undefined;
	}
}

// keptNames are the names of what is kept.
export function keptNames() {
	try {
		return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length));
	} catch {
		return [];
	}
}

// forget removes everything.
export function forget() {
	try {
		for (const storage of [localStorage, sessionStorage]) {
			for (const key of Object.keys(storage)) if (key.startsWith(prefix)) storage.removeItem(key);
		}
	} catch { /* no storage */ }
}
