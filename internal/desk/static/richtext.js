// The rich text field of descriptions (E4.5): Squire beside its source.

import Squire from "./squire.js";
import { prompt } from "./dialogs.js";
import { freshId, h } from "./dom.js";
import { t } from "./texts.js";
import { rebuild } from "./trusted.js";

const places = "squire-selection-";

const blockNames = /^(P|DIV|UL|OL|DL|TABLE|BLOCKQUOTE|PRE|H[1-6]|HR|FIGURE)$/;

// blocked puts text that stands alone into paragraphs: an editor needs blocks.
function blocked(fragment) {
	const out = document.createDocumentFragment();
	let open = null;
	for (const node of [...fragment.childNodes]) {
		if (blockNames.test(node.nodeName)) {
			open = null;
			out.append(node);
		} else if (open || node.nodeType !== Node.TEXT_NODE || node.data.trim()) {
			if (!open) out.append(open = document.createElement("p"));
			open.append(node);
		}
	}
	if (!out.childNodes.length) out.append(h("p", null, h("br")));
	return out;
}

// richText makes the field of a language. The textarea always holds the source.
export function richText({ lang, tag, label, changed }) {
	const id = freshId("rich");
	const source = h("textarea", { id, name: "description", "data-lang": lang, lang: tag, "aria-label": label, "aria-describedby": "error-description", rows: 10, hidden: true });
	const field = h("div.text", { role: "textbox", "aria-multiline": "true", "aria-label": label, "aria-describedby": "error-description", "data-rich": "description", "data-lang": lang, lang: tag, contenteditable: "true", tabindex: "0" });
	let editor = null;
	let last = ""; // what was read last
	let stored = "", shown = "";
	let acted = false; // somebody typed, pasted, or pressed a button
	let html = false;

	const mark = () => field.classList.toggle("is-empty", !last);
	const write = (text) => {
		if (editor) editor._ignoreChange = true;
		field.replaceChildren(blocked(rebuild(text)));
		if (editor) begin();
		last = read();
		acted = false;
		mark();
	};
	// begin makes what is shown the state that Undo goes back to, as setHTML does, which would
	// rewrite elements.
	const begin = () => {
		Object.assign(editor, { _undoIndex: -1, _undoStackLength: 0, _isInUndoState: false });
		editor._undoStack.length = 0;
		const range = document.createRange();
		range.setStart(field.firstElementChild ?? field, 0);
		editor.saveUndoState(range);
		editor.setSelection(range);
	};
	const read = () => {
		const text = field.innerHTML.replaceAll("\u200b", "").replace(/<input[^>]*>/g, "");
		return text.replace(/(<(p|div)>(<br>)?<\/\2>)+$/, ""); // the editor ends with an empty line
	};
	// What was only looked at is not changed, whatever the editor does to show it.
	const start = () => {
		if (editor) return;
		editor = new Squire(field, { blockTag: "P", sanitizeToDOMFragment: (text) => rebuild(text), didError: (e) => console.warn(e) });
		editor._imageResizer.destroy(); // which would write its handles into the text
		editor._setRawHTML = (text) => field.replaceChildren(rebuild(text, places));
		write(source.value);
		for (const key of ["Tab", "Shift-Tab"]) editor.setKeyHandler(key, null); // in a list they would keep the focus
		editor.addEventListener("input", () => {
			const text = read();
			if (!acted || text === last) return; // the editor tidies on its own, and tells of attributes
			source.value = last = text;
			mark();
			changed();
		});
		editor.addEventListener("pathChange", pressed);
		for (const key of ["Ctrl-k", "Meta-k"]) {
			editor.setKeyHandler(key, (_, e) => {
				e.preventDefault();
				acts.link();
			});
		}
	};
	for (const name of ["input", "change"]) {
		source.addEventListener(name, () => {
			if (!html) write(source.value);
			changed();
		});
	}

	source.addEventListener("keydown", (e) => {
		const act = (e.ctrlKey || e.metaKey) && { b: "bold", i: "italic", k: "link" }[e.key];
		if (!act) return;
		e.preventDefault();
		acts[act]();
	});

	const wrap = (before, after) => {
		const { selectionStart: from, selectionEnd: to } = source;
		const text = before + source.value.slice(from, to) + after;
		source.focus();
		if (!document.execCommand("insertText", false, text)) source.setRangeText(text, from, to, "end");
		source.dispatchEvent(new Event("input"));
	};
	const toggle = (name, on, off) => {
		start();
		acted = true;
		if (editor.hasFormat(name)) off();
		else on();
	};
	const acts = {
		bold: () => (html ? wrap("<b>", "</b>") : toggle("B", () => editor.bold(), () => editor.removeBold())),
		italic: () => (html ? wrap("<i>", "</i>") : toggle("I", () => editor.italic(), () => editor.removeItalic())),
		link: async () => {
			const url = await prompt(t("link.title"), t("link.url"), "https://");
			if (!url || url === "https://") return;
			if (html) wrap(`<a href="${url.replaceAll('"', "&quot;")}">`, "</a>");
			else {
				start();
				acted = true;
				editor.focus();
				editor.makeLink(url);
			}
		},
		list: () => (html ? wrap("<ul><li>", "</li></ul>") : toggle("UL", () => editor.makeUnorderedList(), () => editor.removeList())),
		heading: () => {
			if (html) return wrap("<h3>", "</h3>");
			start();
			acted = true;
			const to = editor.hasFormat("H3") ? "p" : "h3";
			editor.modifyBlocks((fragment) => {
				for (const block of [...fragment.children]) {
					if (!/^(P|DIV|H[1-6])$/.test(block.nodeName)) continue;
					const other = document.createElement(to);
					other.append(...block.childNodes);
					block.replaceWith(other);
				}
				return fragment;
			});
			editor.focus();
			return undefined;
		},
		undo: () => {
			if (html) {
				source.focus();
				document.execCommand("undo");
			} else {
				start();
				acted = true;
				editor.undo();
			}
		},
		html: () => {
			html = !html;
			if (!html) write(source.value);
			source.hidden = !html;
			field.hidden = html;
			bar.querySelector("[data-act=html]").setAttribute("aria-pressed", String(html));
			if (html) source.focus();
			else field.focus();
		},
	};
	const toggles = new Set(["bold", "italic", "list", "heading", "html"]);
	const bar = h("div.rich-bar", { role: "toolbar", "aria-label": t("format") }, Object.keys(acts).map((name) =>
		h("button" + (name === "html" ? ".end" : ""), { type: "button", "data-act": name, "aria-pressed": toggles.has(name) ? "false" : null, onmousedown: (e) => e.preventDefault(), onclick: () => acts[name]() }, t("rich." + name))));
	const pressed = () => {
		for (const [name, tagName] of [["bold", "B"], ["italic", "I"], ["list", "UL"], ["heading", "H3"]]) {
			bar.querySelector(`[data-act=${name}]`).setAttribute("aria-pressed", String(!html && editor.hasFormat(tagName)));
		}
	};
	field.addEventListener("focus", start);
	for (const name of ["beforeinput", "paste", "cut", "drop", "keydown"]) {
		field.addEventListener(name, (e) => {
			start();
			if (name !== "keydown" || !/^(Tab|Shift|Control|Alt|Meta|Arrow.*|Home|End|Page.*|Escape)$/.test(e.key)) acted = true;
		}, true);
	}
	return {
		element: h("div.rich", null, bar, field, source), source, field, start,
		focus: () => (html ? source : field).focus(),
		get: () => (source.value === shown ? stored : source.value),
		set: (text) => {
			source.value = stored = text;
			shown = source.value; // which has its line breaks written in one way
			write(text);
		},
		placeholder: (text) => {
			source.placeholder = text;
			const plain = text.replace(/<[^>]*>/g, " ").trim();
			if (field.dataset.placeholder !== plain) field.dataset.placeholder = plain;
		},
	};
}
