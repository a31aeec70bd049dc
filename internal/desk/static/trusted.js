// The one policy for HTML, and all that passes it (E1.5).

const policy = globalThis.trustedTypes?.createPolicy("desk", { createHTML: (html) => html });

// detached parses HTML into a document that runs and loads nothing.
const detached = (html) => new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");

const blocks = "p, div, ul, ol, dl, table, blockquote, pre, h1, h2, h3, h4, h5, h6, hr, figure";

// countElements counts the elements of a description. Paragraphs that are made of plain
// text on output do not count where the other one has no block of its own.
export function countElements(html) {
	const body = detached("<body>" + html).body;
	return { all: body.querySelectorAll("*").length, plain: body.querySelectorAll("*:not(p, br)").length, hasBlocks: Boolean(body.querySelector(blocks)) };
}

// safe is the subset of interface 2.5.
const safe = {
	a: ["href", "title", "rel"], abbr: ["title"], blockquote: ["cite"], img: ["src", "alt", "title", "width", "height"],
	td: ["colspan", "rowspan"], th: ["colspan", "rowspan"],
};
for (const name of "b br caption cite code dd del div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 hr i ins kbd li ol p pre q s small span strong sub sup table tbody tfoot thead tr u ul".split(" ")) safe[name] = [];

const dropped = new Set(["script", "style", "template", "noscript", "iframe", "object", "embed", "svg", "math", "title", "head"]);

function allowed(name, attribute, value) {
	if (attribute === "href" || attribute === "cite" && name === "blockquote") {
		const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(value)?.[1].toLowerCase();
		return !scheme || ["http", "https", "mailto", "tel"].includes(scheme);
	}
	return attribute !== "src" || /^https?:\/\//i.test(value);
}

// rebuild makes a fragment of HTML from the elements and attributes of the safe subset. An
// editor may have places of its own in it, by the beginning of their ids.
export function rebuild(html, places = "") {
	const copy = (from, to) => {
		for (const node of from.childNodes) {
			if (node.nodeType === Node.TEXT_NODE) {
				to.append(node.data);
				continue;
			}
			const name = node.nodeName.toLowerCase();
			if (node.nodeType !== Node.ELEMENT_NODE || dropped.has(name)) continue;
			const isPlace = places && name === "input" && node.id.startsWith(places);
			const isWrapper = name === "b" && /font-weight:\s*normal/.test(node.getAttribute("style")); // as copied from Google Docs
			if (isWrapper || !safe[name] && !isPlace) {
				copy(node, to);
				continue;
			}
			const e = document.createElement(name);
			if (isPlace) {
				e.id = node.id;
				e.type = "hidden";
			} else {
				for (const attribute of [...safe[name], "lang", "dir"]) {
					const value = node.getAttribute(attribute);
					if (value !== null && allowed(name, attribute, value)) e.setAttribute(attribute, value);
				}
			}
			copy(node, e);
			to.append(e);
		}
		return to;
	};
	return copy(detached("<body>" + html).body, document.createDocumentFragment());
}

// showPage shows a page of the calendar in a frame that runs no script: links lead nowhere.
export function showPage(frame, html) {
	const page = detached(html);
	for (const e of page.querySelectorAll("script, noscript, base, meta[http-equiv], link:not([rel=stylesheet]), iframe, object, embed")) e.remove();
	for (const e of page.querySelectorAll("*")) {
		for (const { name } of [...e.attributes]) if (name.startsWith("on")) e.removeAttribute(name);
		if (e.localName === "a" || e.localName === "area") e.removeAttribute("href");
		e.removeAttribute("action");
		e.removeAttribute("formaction");
	}
	const text = "<!doctype html>" + page.documentElement.outerHTML;
	frame.srcdoc = policy ? policy.createHTML(text) : text;
}
