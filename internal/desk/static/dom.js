// Elements. Text from records reaches the document as text alone.

const icons = {
	plus: ["M12 5v14M5 12h14"],
	search: ["M4 11a7 7 0 1 0 14 0a7 7 0 1 0-14 0", "m20 20-4-4"],
	person: ["M8 8a4 4 0 1 0 8 0a4 4 0 1 0-8 0", "M4 20.5c1.5-4 4.5-5.5 8-5.5s6.5 1.5 8 5.5"],
	globe: ["M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0", "M3 12h18M12 3c5 5 5 13 0 18M12 3c-5 5-5 13 0 18"],
	back: ["M8 5 4 9l4 4M4 9h10a5 5 0 0 1 0 10h-4"],
};

const svgSpace = "http://www.w3.org/2000/svg";

// icon draws an icon that stands before words.
export function icon(name) {
	const svg = document.createElementNS(svgSpace, "svg");
	svg.setAttribute("class", "icon");
	svg.setAttribute("viewBox", "0 0 24 24");
	svg.setAttribute("aria-hidden", "true");
	for (const d of icons[name]) {
		const path = document.createElementNS(svgSpace, "path");
		path.setAttribute("d", d);
		svg.append(path);
	}
	return svg;
}

// mark draws the mark of the service.
export function mark() {
	const svg = icon("plus");
	svg.setAttribute("class", "mark");
	svg.setAttribute("viewBox", "0 0 28 28");
	const draw = (name, attributes) => {
		const e = document.createElementNS(svgSpace, name);
		for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
		return e;
	};
	svg.replaceChildren(
		draw("rect", { width: 28, height: 28, rx: 7, fill: "var(--accent)" }),
		draw("path", { d: "M7.5 9h13M7.5 14h13M7.5 19h7", stroke: "var(--on-accent)", "stroke-width": 2.5, "stroke-linecap": "round" }),
		draw("circle", { cx: 19.5, cy: 19, r: 2.2, fill: "var(--on-accent)" }),
	);
	return svg;
}

// h makes an element: properties that begin with on are listeners, false and null leave an
// attribute out, children are nodes and texts.
export function h(name, attributes, ...children) {
	const [tag, ...classes] = name.split(".");
	const e = document.createElement(tag);
	if (classes.length) e.className = classes.join(" ");
	for (const [key, value] of Object.entries(attributes ?? {})) {
		if (value === false || value === null || value === undefined) continue;
		if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
		else if (key === "value" || key === "checked") e[key] = value;
		else e.setAttribute(key, value === true ? "" : value);
	}
	e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
	return e;
}

let ids = 0;

// freshId names an element.
export const freshId = (what = "e") => `${what}-${++ids}`;

// freshKey is a name that nobody else has; randomUUID needs a safe origin.
export const freshKey = () => [...crypto.getRandomValues(new Uint8Array(16))].map((n) => n.toString(16).padStart(2, "0")).join("");

export const button = (label, onclick, attributes) => h("button", { type: "button", onclick, ...attributes }, label);

// unescaped reads a shown name (interface 2.5).
export const unescaped = (text) => String(text ?? "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

// arrows moves the focus in a list of tabs by the arrow keys.
export function arrows(list, options = "[role=tab]") {
	list.addEventListener("keydown", (e) => {
		const tabs = [...list.querySelectorAll(options)];
		const at = tabs.indexOf(e.target.closest(options));
		const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[e.key];
		if (at < 0 || to === undefined) return;
		e.preventDefault();
		const tab = tabs.at(to % tabs.length);
		tab.focus();
		tab.click();
	});
}

export const sameValue = (a, b) => JSON.stringify(a) === JSON.stringify(b);

export const wait = (ms) => new Promise((done) => setTimeout(done, ms));
