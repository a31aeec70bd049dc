// What the desk keeps in the browser. All keys begin with daybook-desk.

const prefix = "daybook-desk-";

// keep keeps a value, undefined removes it. It reports whether there was room.
export function keep(name, value, storage = localStorage) {
	try {
		if (value === undefined) storage.removeItem(prefix + name);
		else storage.setItem(prefix + name, JSON.stringify(value));
		return true;
	} catch {
		return false; // no storage, or none left
	}
}

export function kept(name, storage = localStorage) {
	try {
		return JSON.parse(storage.getItem(prefix + name)) ?? undefined;
	} catch {
		return undefined;
	}
}

// forget removes everything.
export function forget() {
	for (const storage of [localStorage, sessionStorage]) {
		for (const key of Object.keys(storage)) if (key.startsWith(prefix)) storage.removeItem(key);
	}
}
