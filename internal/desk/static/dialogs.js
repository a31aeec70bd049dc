// Dialogs: modal, so they keep the focus, and give it back (E8).

import { button, freshId, h } from "./dom.js";
import { t } from "./texts.js";

// open shows a dialog and returns what was chosen, null for Escape. Choices are [value,
// label, attributes]; the first one is the main one.
export function open(name, title, content, choices) {
	const before = document.activeElement;
	return new Promise((done) => {
		const id = freshId("dialog");
		const line = h("div.line.end");
		const heading = h("h2", { id, tabindex: "-1" }, title);
		const box = h("dialog.conflict", { role: "dialog", "data-dialog": name, "aria-labelledby": id, "aria-modal": "true" }, heading, content, line);
		let closed = false;
		const close = (value) => {
			if (closed) return;
			closed = true;
			box.close();
			box.remove();
			(before?.isConnected && before !== document.body ? before : document.getElementById("main")).focus();
			done(value);
		};
		for (const [value, label, attributes] of [...choices].reverse()) {
			line.append(button(label, () => close(value), attributes));
		}
		box.addEventListener("cancel", (e) => {
			e.preventDefault();
			close(null);
		});
		box.addEventListener("keydown", (e) => {
			if (e.key === "Escape") {
				e.preventDefault();
				e.stopPropagation();
				close(null);
			}
			if (e.key !== "Tab") return;
			const stops = [...box.querySelectorAll("a[href], button, input, select")].filter((s) => s.type !== "radio" || s.checked);
			if (document.activeElement !== stops.at(e.shiftKey ? 0 : -1) && !(e.shiftKey && document.activeElement === heading)) return;
			e.preventDefault(); // else the keys of the browser come next
			stops.at(e.shiftKey ? -1 : 0).focus();
		});
		document.body.append(box);
		box.showModal();
		// What destroys never has the focus, and a long dialog is read from its beginning.
		(box.scrollHeight > box.clientHeight ? heading : line.querySelector(".primary") ?? line.firstElementChild).focus();
	});
}

const main = { class: "primary" };

export const sayParagraph = (...texts) => texts.map((text) => h("p", null, text));

// sure asks before something that is not easily undone.
export const sure = (name, title, content, act, danger) => open(name, title, content, [[true, act, danger ? { class: "danger" } : main], [false, t("cancel")]]);

// askLeave asks before unsaved changes are left.
export const askLeave = (act, name = "leave") => open(name, t("leave.title"), sayParagraph(t(name === "leave" ? "leave.text" : "leave.signout")), [[false, t("leave.stay"), main], [true, act ?? t("leave.go")]]);

// prompt asks for a line of text.
export async function prompt(title, label, value) {
	const id = freshId("prompt");
	const input = h("input", { id, name: "prompt", type: "text", value });
	input.addEventListener("keydown", (e) => {
		if (e.key !== "Enter") return;
		e.preventDefault();
		input.closest("dialog").querySelector(".primary").click();
	});
	setTimeout(() => input.focus());
	const got = await open("link", title, h("div.field", null, h("label", { for: id }, label), input), [["ok", t("ok"), main], ["cancel", t("cancel")]]);
	return got === "ok" ? input.value.trim() : null;
}

// closeAll closes all dialogs, as Escape does.
export function closeAll() {
	for (const box of document.querySelectorAll("dialog")) box.dispatchEvent(new Event("cancel", { cancelable: true }));
}

// endOffer ends the message that is shown.
export let endOffer = () => {};

// offerUndo shows a short message for 10 seconds, with a button that has the focus: there is
// no time to look for it. It reports whether to undo.
export function offerUndo(text) {
	endOffer();
	const before = document.activeElement;
	return new Promise((done) => {
		const shown = h("div.toast", { role: "status" }, h("p", null, text), button(t("undo"), () => end(true), { class: "quiet" }));
		const end = (value) => {
			const inside = shown.contains(document.activeElement);
			shown.remove();
			if (inside) (before?.isConnected && before !== document.body ? before : document.getElementById("main")).focus();
			clearTimeout(timer);
			done(value);
		};
		const timer = setTimeout(() => end(false), 10_000);
		endOffer = () => end(false);
		document.body.append(shown);
		if (!before?.matches("input:not([type=checkbox]), textarea, [contenteditable]")) shown.querySelector("button").focus();
	});
}
