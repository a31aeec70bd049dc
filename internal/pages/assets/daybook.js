// What scripts add to pages that work without them.

const root = document.documentElement;
const by = (id) => document.getElementById(id);

// Theme, kept for the next page.

function show(name) {
	if (name === "light" || name === "dark") root.dataset.theme = name;
	else delete root.dataset.theme;
}

try {
	show(localStorage.getItem("theme"));
} catch { /* no storage: the theme of the system */ }

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

// A menu closes by Escape and by a click outside.
document.addEventListener("click", (e) => {
	for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(e.target)) menu.open = false;
});
document.addEventListener("keydown", (e) => {
	const menu = e.key === "Escape" && !e.defaultPrevented && (e.target.closest("details.menu[open]") ?? document.querySelector("details.menu[open]"));
	if (!menu) return;
	menu.open = false;
	menu.querySelector("summary").focus();
});

// Copies, and what the system shares.

async function copy(button) {
	const url = button.dataset.copy ?? document.querySelector("link[rel=canonical]")?.href ?? location.href;
	try {
		if (button.dataset.action === "share" && navigator.share) return await navigator.share({ title: document.title, url });
		await navigator.clipboard.writeText(url);
	} catch {
		return; // the browser does not let it, or the reader changed his mind
	}
	const label = button.lastChild, text = label.textContent;
	if (!button.dataset.copied || button.dataset.done) return;
	button.dataset.done = "true";
	label.textContent = button.dataset.copied;
	setTimeout(() => {
		delete button.dataset.done;
		label.textContent = text;
	}, 2000);
}
document.addEventListener("click", (e) => {
	const button = e.target.closest("button[data-copy], button[data-action=share]");
	if (button) copy(button);
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

// mark draws the present time into the hours of today, in place of a label near to it.
function mark() {
	const grid = document.querySelector("[data-from-hour]"), hours = grid?.querySelector(".hours");
	const today = grid?.querySelector("[aria-current] .timed, .is-today .timed");
	if (!today || !hours) return;
	const now = new Date(), zone = grid.dataset.zone, label = hours.firstElementChild?.textContent ?? "";
	let clock, text;
	try {
		clock = new Intl.DateTimeFormat("en-GB", { timeZone: zone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(now).split(":").map(Number);
		text = new Intl.DateTimeFormat(root.lang, { timeZone: zone, hour: "numeric", minute: "2-digit", hourCycle: /^[\d:]*$/.test(label) ? "h23" : "h12" }).format(now).replace(/\s/g, "\u00a0");
	} catch {
		return; // a zone that browsers do not know
	}
	const row = Math.floor((clock[0] - grid.dataset.fromHour) * 4 + clock[1] / 15) + 1;
	if (row < 1 || row > 4 * hours.querySelectorAll("li:not(.now-at)").length) return;
	const add = (to, name, textContent) => {
		to.querySelector(`.${name}`)?.remove();
		to.append(Object.assign(document.createElement("li"), { className: `${name} row-${row}`, ariaHidden: "true", textContent }));
	};
	add(today, "now-line", "");
	for (const hour of hours.querySelectorAll("li:not(.now-at)")) hour.hidden = Math.abs((hour.className.match(/row-(\d+)/)?.[1] ?? -9) - row) < 2;
	add(hours, "now-at", text);
}
setInterval(mark, 60000);

// enrich adds to what may be replaced.
function enrich() {
	const zones = by("tz");
	if (zones) {
		const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
		const same = [...zones.options].find((o) => o.value === own);
		if (same && !same.text.includes(zones.dataset.browser)) same.text += ` (${zones.dataset.browser})`;
		else if (own && !same) zones.add(new Option(`${own} (${zones.dataset.browser})`, own));
	}
	if (navigator.clipboard || navigator.share) for (const button of document.querySelectorAll("button[data-copy], button[data-action=share]")) button.hidden = false;
	by("result-count")?.setAttribute("role", "status");
	// Next to the results the facets are always in sight (by the style), so they are said to be open.
	const facets = document.querySelector(".faceted > #filters > details");
	if (facets && matchMedia("(min-width: 64rem)").matches) facets.open = true;
	for (const form of document.querySelectorAll("form[data-suggest]:not([data-suggests])")) suggest(form);
	mark();
}

// The selection is replaced in the page; where that fails, the page is loaded.

const head = "link[rel=canonical], link[rel=alternate], meta[name=robots]";
let turn = 0, here = location.pathname + location.search;

function addressOf(form) {
	const url = new URL(form.getAttribute("action") ?? location.pathname, location.href);
	url.search = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== "")).toString();
	return url;
}

async function turnTo(url, push) {
	const own = ++turn, count = by("result-count");
	const slow = setTimeout(() => {
		if (own === turn && count?.dataset.loading) count.textContent = count.dataset.loading;
	}, 300);
	let next;
	try {
		const res = await fetch(url, { headers: { Accept: "text/html" } });
		next = new DOMParser().parseFromString(await res.text(), "text/html");
		if (!res.ok || !next.getElementById("results")) throw new Error("no selection");
	} catch {
		if (own === turn) location.assign(url);
		return;
	} finally {
		clearTimeout(slow);
	}
	if (own !== turn) return;
	const main = by("main"), at = document.activeElement, inside = main.contains(at) || at.closest("#zone-switch");
	const same = (e) => e === at || (e.id && e.id === at.id) || (at.name && e.name === at.name && e.value === at.value) || (at.href && e.href === at.href);
	const keyOf = (d, i) => d.id || `${d.className}${d.querySelector("summary")?.textContent.replace(/\d+/g, "")}` || i;
	const open = [...main.querySelectorAll("details")].filter((d) => d.open).map(keyOf);
	// The map stays as it is drawn, and shows other places.
	const map = by("map"), place = next.getElementById("map");
	if (map && place) {
		map.dataset.geojson = place.dataset.geojson;
		place.replaceWith(map);
	}
	main.replaceChildren(...next.getElementById("main").childNodes);
	for (const id of ["views", "language-switch", "zone-switch"]) {
		const was = by(id), is = next.getElementById(id);
		if (was && is) was.replaceWith(is);
	}
	for (const d of main.querySelectorAll("details")) if (open.includes(keyOf(d))) d.open = true;
	document.title = next.title;
	root.dataset.position = next.documentElement.dataset.position;
	for (const e of document.head.querySelectorAll(head)) e.remove();
	document.head.append(...next.head.querySelectorAll(head));
	if (push) history.pushState(null, "", url);
	here = location.pathname + location.search;
	if (map && place) map.dispatchEvent(new Event("selection"));
	enrich();
	if (inside) ([...document.querySelectorAll("input:not([type=hidden]), select, button, summary, a")].find(same) ?? by("result-count"))?.focus();
}

document.addEventListener("change", (e) => {
	const form = e.target.closest("#filters");
	if (form && by("results") && new URL(form.action).pathname === location.pathname) turnTo(addressOf(form), true);
});
document.addEventListener("submit", (e) => {
	if (!e.target.matches("#filters, #zone-switch") || !by("results") || new URL(e.target.action).pathname !== location.pathname) return;
	e.preventDefault();
	turnTo(addressOf(e.target), true);
});
document.addEventListener("click", (e) => {
	const link = e.target.closest("#chips a, #quick a, a[data-drop]");
	if (!link || link.pathname !== location.pathname || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
	e.preventDefault();
	turnTo(link.href, true);
});
addEventListener("popstate", () => here !== location.pathname + location.search && by("results") && turnTo(location.href, false));

// suggest puts suggestions below the field of a search.
function suggest(form) {
	form.dataset.suggests = "true";
	const input = form.querySelector("[name=search]:not([type=hidden])"); // a preview has a hidden one before it
	const list = Object.assign(document.createElement("ul"), { id: `${input.id}-suggestions`, className: "suggestions", role: "listbox", hidden: true, ariaLabel: input.labels[0].textContent });
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
			const option = Object.assign(document.createElement("li"), { id: `${list.id}-${i}`, role: "option", ariaSelected: "false" });
			const about = Object.assign(document.createElement("span"), { textContent: kind === "events" ? dateOf(e.start_date) : (form.dataset[kind] ?? "") });
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
		if (list.hidden || !n) return;
		if (e.key === "Escape") close();
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

// dateOf is a date as people write it, with the year when it is not the present one.
function dateOf(date) {
	const day = new Date(`${date.slice(0, 10)}T00:00:00Z`), now = new Date();
	const text = new Intl.DateTimeFormat(root.lang, { timeZone: "UTC", weekday: "short", month: "short", day: "numeric", year: day.getUTCFullYear() === now.getFullYear() ? undefined : "numeric" }).format(day);
	return root.lang === "fr" ? text.replace(" 1 ", " 1er ") : text;
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
