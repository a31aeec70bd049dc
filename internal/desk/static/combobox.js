// A combobox with what is chosen beside it, by the ARIA pattern (E4.3).

import { Fault } from "./api.js";
import { freshId, h } from "./dom.js";
import { t } from "./texts.js";

// combobox makes a field that chooses records. Options: name, label, one (at most one),
// find(text) → [{id, name, hint}], create(text) for what is not found, changed.
export function combobox({ name, label, one, find, create, createLabel, changed, placeholder }) {
	const id = freshId(name);
	let chosen = [];
	let options = [];
	let active = -1;
	let timer, asked = 0;
	const input = h("input", { id, name, type: "text", role: "combobox", autocomplete: "off", "aria-expanded": "false", "aria-controls": id + "-list", "aria-autocomplete": "list", "aria-describedby": `note-${name} error-${name}`, placeholder: placeholder ?? t("add") });
	const listbox = h("ul", { id: id + "-list", role: "listbox", "aria-label": label, hidden: true });
	const chips = h("span.chips", { "data-chosen": name });
	const tokens = h("div.tokens", null, chips, input);
	const element = h("div.combo", null, tokens, listbox);

	function draw() {
		chips.replaceChildren(...chosen.map((c) => h("span.chip", { "data-id": c.id ?? "" }, c.name, " ",
			h("button.x", { type: "button", "aria-label": t("remove", c.name), onclick: () => {
				chosen = chosen.filter((other) => other !== c);
				draw();
				changed();
				input.focus();
			} }, "×"))));
	}
	function close() {
		listbox.hidden = true;
		active = -1;
		input.setAttribute("aria-expanded", "false");
		input.removeAttribute("aria-activedescendant");
	}
	function show(found) {
		options = found;
		listbox.replaceChildren(...options.map((o, i) => h("li" + (o.make ? ".new" : ""), { id: `${id}-${i}`, role: "option", "aria-selected": "false", onmousedown: (e) => e.preventDefault(), onclick: () => take(o) }, o.name, o.hint ? h("span", null, o.hint) : "")));
		listbox.hidden = !options.length;
		input.setAttribute("aria-expanded", String(options.length > 0));
		active = -1;
		input.removeAttribute("aria-activedescendant");
	}
	function move(to) {
		if (!options.length) return;
		active = (to + options.length) % options.length;
		for (const [i, li] of [...listbox.children].entries()) li.setAttribute("aria-selected", String(i === active));
		input.setAttribute("aria-activedescendant", `${id}-${active}`);
		listbox.children[active].scrollIntoView({ block: "nearest" });
	}
	async function take(option) {
		const text = input.value.trim();
		input.value = "";
		close();
		if (option.make) {
			create(text);
			return;
		}
		if (!chosen.some((c) => (c.id && c.id === option.id) || c.name.toLowerCase() === option.name.toLowerCase() && !c.id === !option.id)) {
			chosen = one ? [option] : [...chosen, option];
			chosen = chosen.map(({ id: cid, name: cname }) => ({ id: cid, name: cname }));
		}
		draw();
		changed();
	}
	async function look() {
		const text = input.value.trim();
		const mine = ++asked;
		let found = [];
		try {
			found = await find(text);
		} catch (e) {
			if (!(e instanceof Fault)) throw e;
		}
		if (mine !== asked || document.activeElement !== input) return;
		const exact = found.some((o) => o.name.toLowerCase() === text.toLowerCase());
		if (text && create && !exact) found = [...found, { make: true, name: createLabel(text) }];
		show(found);
	}
	input.addEventListener("input", () => {
		clearTimeout(timer);
		timer = setTimeout(look, 150);
	});
	input.addEventListener("keydown", async (e) => {
		if (e.isComposing) return;
		if (e.key === "ArrowDown" || e.key === "ArrowUp") {
			e.preventDefault();
			if (listbox.hidden) await look();
			move(e.key === "ArrowDown" ? active + 1 : (active < 0 ? 0 : active) - 1);
		} else if (e.key === "Enter") {
			e.preventDefault();
			if (active >= 0) take(options[active]);
			else if (input.value.trim()) {
				clearTimeout(timer);
				await look();
				const text = input.value.trim().toLowerCase();
				const best = options.find((o) => !o.make && o.name.toLowerCase() === text) ?? options.find((o) => o.make);
				if (best) take(best);
			}
		} else if (e.key === "Escape" && !listbox.hidden) {
			e.preventDefault();
			e.stopPropagation();
			close();
		} else if (e.key === "Backspace" && !input.value && chosen.length) {
			chosen = chosen.slice(0, -1);
			draw();
			changed();
		}
	});
	input.addEventListener("blur", close);
	return {
		element, input,
		get: () => chosen.map((c) => ({ ...c })),
		set: (list) => {
			chosen = list.map((c) => ({ ...c }));
			draw();
		},
		add: (c) => {
			chosen = one ? [c] : [...chosen, c];
			draw();
			changed();
		},
	};
}
