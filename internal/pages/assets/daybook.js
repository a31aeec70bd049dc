// What scripts add to pages that work without them.

const root = document.documentElement;
const by = (id) => document.getElementById(id);

// Theme, kept for the next page.

function show(name) {
	if (name === "light" || name === "dark") root.dataset.theme = name;
	else delete root.dataset.theme;
	dress();
}

// dress gives the page of the interface the colours of the theme.
function dress() {
	const docs = document.querySelector("rapi-doc");
	if (!docs) return;
	const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();
	const dark = getComputedStyle(root).colorScheme === "dark";
	for (const [name, value] of [["theme", dark ? "dark" : "light"], ["bg-color", colour("--card")], ["text-color", colour("--ink")], ["primary-color", colour("--accent")]]) docs.setAttribute(name, value);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);

try {
	show(localStorage.getItem("theme"));
} catch { /* no storage: the theme of the system */ }
addEventListener("DOMContentLoaded", dress); // when the style is there

const theme = by("theme-switch");
if (theme) {
	theme.hidden = false;
	for (const input of theme.querySelectorAll("input")) input.checked = input.value === (root.dataset.theme ?? "auto");
	theme.addEventListener("change", (e) => {
		show(e.target.value);
		try {
			localStorage.setItem("theme", e.target.value);
		} catch { /* for this page only */ }
	});
}

// A menu closes by Escape and by a click beside it.
for (const menu of document.querySelectorAll("details.menu")) {
	document.addEventListener("click", (e) => menu.contains(e.target) || menu.removeAttribute("open"));
	menu.addEventListener("keydown", (e) => {
		if (e.key !== "Escape" || !menu.open) return;
		menu.open = false;
		menu.querySelector("summary").focus();
	});
}

// enrich adds to what may be replaced.
function enrich() {
	const zones = by("tz");
	if (zones) {
		const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
		const same = [...zones.options].find((o) => o.value === own);
		if (same && !same.text.includes(zones.dataset.browser)) same.text += ` (${zones.dataset.browser})`;
		else if (own && !same) zones.add(new Option(`${own} (${zones.dataset.browser})`, own));
	}
	if (navigator.clipboard) for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
	by("result-count")?.setAttribute("role", "status");
	mark();
}

document.addEventListener("click", async (e) => {
	const button = e.target.closest("button[data-copy]");
	if (!button) return;
	const label = button.textContent;
	try {
		await navigator.clipboard.writeText(button.dataset.copy);
	} catch {
		return; // the browser does not let it: the text stands beside the button
	}
	if (!button.dataset.copied || button.dataset.done) return;
	button.dataset.done = "true";
	button.textContent = button.dataset.copied;
	setTimeout(() => {
		delete button.dataset.done;
		button.textContent = label;
	}, 2000);
});

// Arrow keys move between the days of a month.
document.addEventListener("keydown", (e) => {
	const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[e.key];
	const cell = step && e.target.closest("#month td");
	if (!cell || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
	const cells = [...document.querySelectorAll("#month td")];
	const to = cells[cells.indexOf(cell) + step]?.querySelector("a");
	if (!to) return;
	e.preventDefault();
	to.focus();
});

// mark draws the present time into the hours of today.
function mark() {
	const grid = document.querySelector("[data-from-hour]");
	const hours = grid?.querySelector("[aria-current] .timed, .is-today .timed");
	if (!hours) return;
	let clock;
	try {
		clock = new Intl.DateTimeFormat("en-GB", { timeZone: grid.dataset.zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format().split(":").map(Number);
	} catch {
		return; // a zone that browsers do not know
	}
	const row = Math.floor((clock[0] - grid.dataset.fromHour) * 4 + clock[1] / 15) + 1;
	if (row < 1 || row > 4 * grid.querySelectorAll(".hours li").length) return;
	const line = Object.assign(document.createElement("li"), { className: `now-line row-${row}`, ariaHidden: "true" });
	hours.querySelector(".now-line")?.remove();
	hours.append(line);
}

// The selection is replaced in the page; where that fails, the page is loaded.

const parts = ["chips", "filters", "results", "selection-as", "subscribe", "zone-switch"];
let turn = 0, here = location.pathname + location.search;

function addressOf(form) {
	const url = new URL(form.getAttribute("action") ?? location.pathname, location.href);
	url.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")).toString();
	return url;
}

async function turnTo(url, push) {
	const own = ++turn;
	let next;
	try {
		const res = await fetch(url, { headers: { Accept: "text/html" } });
		next = new DOMParser().parseFromString(await res.text(), "text/html");
		if (!res.ok || !next.getElementById("results")) throw new Error("no selection");
	} catch {
		if (own === turn) location.assign(url);
		return;
	}
	if (own !== turn) return;
	const at = document.activeElement;
	const same = (e) => e === at || (e.id && e.id === at?.id) || (at?.name && e.name === at.name && e.value === at.value) || (at?.href && e.href === at.href);
	const inside = parts.find((id) => by(id)?.contains(at));
	const open = parts.flatMap((id) => [...by(id)?.querySelectorAll("details") ?? []].map((d, i) => [id, i, d.open]));
	// Count, link to past events, and the zone below them.
	document.querySelector("p.zone")?.remove();
	by("result-count").closest(".tools").replaceWith(next.querySelector(".tools"), next.querySelector("p.zone") ?? "");
	for (const id of parts) {
		const was = by(id), is = next.getElementById(id);
		if (was && is) {
			if (was.tagName === "DETAILS") is.open = was.open;
			was.replaceWith(is);
		} else if (was) was.remove();
		else if (is && id === "chips") (by("results").closest(".faceted, .mapped") ?? by("results")).before(is);
	}
	for (const [id, i, is] of open) {
		const d = by(id)?.querySelectorAll("details")[i];
		if (d) d.open = is;
	}
	document.title = next.title;
	for (const link of document.head.querySelectorAll("link[rel=canonical], link[rel=alternate], meta[name=robots]")) link.remove();
	document.head.append(...next.head.querySelectorAll("link[rel=canonical], link[rel=alternate], meta[name=robots]"));
	if (push) history.pushState(null, "", url);
	here = location.pathname + location.search;
	const map = by("map"), places = next.getElementById("map")?.dataset.geojson;
	if (map && places) {
		map.dataset.geojson = places;
		map.dispatchEvent(new Event("selection"));
	}
	enrich();
	if (inside) ([...document.querySelectorAll("input:not([type=hidden]), select, button, a")].find(same) ?? by("result-count")).focus();
}

// Beside the results the facets are always in sight (by the style), so they are said to be open.
const facets = document.querySelector(".faceted > #filters > details");
if (facets && matchMedia("(min-width: 64rem)").matches) facets.open = true;

document.addEventListener("change", (e) => {
	const form = e.target.closest("#filters");
	if (form) turnTo(addressOf(form), true);
});
document.addEventListener("submit", (e) => {
	if (!e.target.matches("#filters, #zone-switch")) return;
	e.preventDefault();
	turnTo(addressOf(e.target), true);
});
document.addEventListener("click", (e) => {
	const link = e.target.closest("#chips a");
	if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
	e.preventDefault();
	turnTo(link.href, true);
});
addEventListener("popstate", () => here !== location.pathname + location.search && by("results") && turnTo(location.href, false));

// Suggestions below the search.

const form = by("search-form");
if (form?.dataset.suggest) {
	const input = form.elements.search; // a preview has a hidden one before it
	const list = Object.assign(document.createElement("ul"), { id: "suggestions", role: "listbox", hidden: true, ariaLabel: input.labels[0].textContent });
	input.after(list);
	for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) input.setAttribute(name, value);
	let asked = 0, timer, chosen = -1;
	const choose = (n) => {
		chosen = n;
		[...list.children].forEach((o, i) => o.setAttribute("aria-selected", String(i === n)));
		if (n < 0) input.removeAttribute("aria-activedescendant");
		else input.setAttribute("aria-activedescendant", list.children[n].id);
	};
	const close = () => {
		asked++;
		list.hidden = true;
		input.setAttribute("aria-expanded", "false");
		choose(-1);
	};
	const ask = async () => {
		const own = ++asked, q = input.value.trim();
		if (!/[\p{L}\p{N}]/u.test(q)) return close();
		const url = new URL(form.dataset.suggest, location.href);
		url.search = new URLSearchParams({ q: q.slice(0, 100), limit: 4 });
		const found = await fetch(url).then((res) => res.json()).catch(() => ({}));
		if (own !== asked) return;
		const entries = ["events", "venues", "organizers", "categories", "tags"].flatMap((kind) => (found[kind] ?? []).map((e) => [kind, e])).slice(0, 8);
		list.replaceChildren(...entries.map(([kind, e], i) => {
			const option = Object.assign(document.createElement("li"), { id: `suggestion-${i}`, role: "option", ariaSelected: "false" });
			const about = Object.assign(document.createElement("span"), { textContent: kind === "events" ? e.start_date.slice(0, 10) : (form.dataset[kind] ?? "") });
			option.append(Object.assign(document.createElement("bdi"), { textContent: e.text }), " ", about);
			option.dataset.url = e.url;
			return option;
		}));
		if (!entries.length) return close();
		list.hidden = false;
		input.setAttribute("aria-expanded", "true");
		choose(-1);
	};
	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(ask, 150);
	});
	input.addEventListener("keydown", (e) => {
		const n = list.children.length;
		if (e.key === "Escape" && !list.hidden) close();
		else if (list.hidden || !n) return;
		else if (e.key === "ArrowDown") choose(chosen + 1 < n ? chosen + 1 : -1);
		else if (e.key === "ArrowUp") choose(chosen < 0 ? n - 1 : chosen - 1);
		else if (e.key === "Enter" && chosen >= 0) location.assign(list.children[chosen].dataset.url);
		else return;
		e.preventDefault();
	});
	list.addEventListener("mousedown", (e) => e.preventDefault()); // keeps the focus in the field
	list.addEventListener("click", (e) => {
		const option = e.target.closest("li");
		if (option) location.assign(option.dataset.url);
	});
	input.addEventListener("blur", close);
}

// The map is loaded when it comes into view.
const map = by("map");
if (map?.dataset.script) {
	new IntersectionObserver((seen, observer) => {
		if (!seen.some((s) => s.isIntersecting)) return;
		observer.disconnect();
		import(map.dataset.script).then((m) => m.draw(map)).catch(() => map.classList.add("is-broken"));
	}).observe(map);
}

enrich();
