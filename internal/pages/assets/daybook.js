// What scripts add to pages that work without them.

const root = document.documentElement;
const theme = document.getElementById("theme-switch");

function show(name) {
	if (name === "light" || name === "dark") root.dataset.theme = name;
	else delete root.dataset.theme;
}

try {
	show(localStorage.getItem("theme"));
} catch { /* no storage: the theme of the system */ }

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

const zones = document.getElementById("tz");
if (zones) {
	const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
	if (own && ![...zones.options].some((o) => o.value === own)) {
		zones.add(new Option(`${own} (${zones.dataset.browser})`, own));
	}
}

for (const button of document.querySelectorAll("button[data-copy]")) {
	if (!navigator.clipboard) break;
	button.hidden = false;
	button.addEventListener("click", async () => {
		await navigator.clipboard.writeText(button.dataset.copy);
		button.dataset.done = "true";
	});
}

// Arrow keys move between the days of a month.
const month = document.getElementById("month");
month?.addEventListener("keydown", (e) => {
	const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };
	const step = steps[e.key];
	const cell = e.target.closest("td");
	if (!step || !cell || e.altKey || e.ctrlKey || e.metaKey || e.shiftKey) return;
	const cells = [...month.querySelectorAll("td")];
	const next = cells[cells.indexOf(cell) + step];
	if (!next) return;
	e.preventDefault();
	next.querySelector("a").focus();
});

// The map is loaded when it comes into view.
const map = document.getElementById("map");
if (map?.dataset.script) {
	new IntersectionObserver((seen, observer) => {
		if (!seen.some((s) => s.isIntersecting)) return;
		observer.disconnect();
		import(map.dataset.script).then((m) => m.draw(map), () => map.remove());
	}).observe(map);
}
