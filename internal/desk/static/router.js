// Addresses of the desk: what stands behind the # (E3.4).

// parse reads an address: its parts, and what is asked for.
export function parse(hash = location.hash) {
	const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
	return { parts: path.split("/").filter(Boolean), params: new URLSearchParams(query) };
}

export function address(path, params) {
	const q = new URLSearchParams();
	for (const [k, v] of Object.entries(params ?? {})) if (v) q.set(k, v);
	return "#/" + path + (q.size ? "?" + q : "");
}

let changed = () => {};
let mayLeave = async () => true;
let shown = location.hash;

// start calls change for each new address, once leave allows to leave the present one.
export function start(change, leave) {
	changed = change;
	mayLeave = leave;
	window.addEventListener("popstate", follow);
}

async function follow() {
	const wanted = location.hash;
	if (wanted === shown) return;
	if (mayLeave.asks?.() && !wanted.startsWith("#/signin?")) {
		history.pushState(null, "", shown || "#"); // the view stays where it is while it asks
		if (!await mayLeave()) return;
		history.replaceState(null, "", wanted);
	}
	shown = wanted;
	await changed();
}

// go leads to an address, and asks before what was typed is left.
export async function go(hash, o = {}) {
	if (!o.sure && mayLeave.asks?.() && !await mayLeave()) return false;
	if (o.replace) history.replaceState(null, "", hash);
	else if (hash !== location.hash) history.pushState(null, "", hash);
	shown = location.hash;
	if (!o.still) await changed();
	return true;
}

// put changes the address of the present view without an entry.
export function put(hash) {
	history.replaceState(null, "", hash);
	shown = location.hash;
}
