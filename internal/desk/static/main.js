// The desk: its header, and which view an address leads to.

import { Fault, basePath, get, onExpired } from "./api.js";
import { askLeave, closeAll, endOffer } from "./dialogs.js";
import { button, h, icon, mark } from "./dom.js";
import { hasDrafts } from "./drafts.js";
import { eventForm } from "./form.js";
import { historyView } from "./history.js";
import { eventList, recordList } from "./list.js";
import { address, go, parse, put, start } from "./router.js";
import * as session from "./session.js";
import { choose, lang, languageNames, languages, preferred, speak, t } from "./texts.js";

const collections = { events: "event", venues: "venue", organizers: "organizer", categories: "category", tags: "tag" };
const kinds = Object.fromEntries(Object.entries(collections).map(([many, one]) => [one, many]));

const root = document.documentElement;
const main = h("main.wide", { id: "main", tabindex: "-1" });
let header = null;
let site = ""; // the name of the calendar
let view = null; // what is shown: element, isDirty, close
let waiting = null; // a view whose credentials are no longer good

function themed(name) {
	if (name === "light" || name === "dark") root.dataset.theme = name;
	else delete root.dataset.theme;
}

const theme = { // that of the pages, under their key
	get: () => {
		try {
			return localStorage.getItem("theme");
		} catch {
			return null;
		}
	},
	set: (name) => {
		themed(name);
		try {
			localStorage.setItem("theme", name);
		} catch { /* for this page only */ }
	},
};

function languageField() {
	const select = h("select", { id: "lang", name: "lang", onchange: async () => {
		if (view?.isDirty?.() && !await askLeave(t("leave.keep"))) {
			select.value = lang;
			return;
		}
		view?.keep?.();
		await choose(select.value);
		if (session.me && !waiting) await show(true);
		else signIn({ message: document.querySelector("main [role=alert]").textContent, ...Object.fromEntries(new FormData(main.querySelector("form"))) });
		const again = document.getElementById("lang");
		again.closest("details").open = true;
		again.focus();
	} }, languages.map((l) => h("option", { value: l, lang: l === "cn" ? "zh-Hans" : l }, languageNames[l])));
	select.value = lang;
	return h("div.field", null, h("label", { for: "lang" }, t("language")), select);
}

function themeSwitch() {
	const now = root.dataset.theme ?? "auto";
	const one = (value) => h("label.line", null, h("input", { type: "radio", name: "theme", value, checked: value === now }), " ", t("theme." + value));
	return h("fieldset", { id: "theme-switch", onchange: (e) => theme.set(e.target.value) }, h("legend", null, t("theme")), h("div.line", null, ["auto", "light", "dark"].map(one)));
}

function makeHeader() {
	const { me } = session;
	const signedIn = me && !waiting;
	const brand = h("a.brand", { href: signedIn ? "#/events" : "#/signin" }, mark(), h("b", null, site || t("calendar"), " ", h("span", null, t("desk"))));
	const nav = h("nav", { id: "site-nav", "aria-label": t("desk") }, brand);
	const find = h("div.find");
	if (signedIn) {
		const at = parse().parts[0];
		nav.append(h("nav", { id: "views", "aria-label": t("parts") }, h("ul", null, Object.entries(collections).map(([many, one]) =>
			h("li", null, h("a", { href: address(many), "aria-current": at === many || at === one ? "page" : null }, t(many)))))));
		if (me.can.create) find.append(h("a.button.primary", { href: "#/event/new" }, icon("plus"), h("span", null, t("event.new"))));
		find.append(h("details.menu", null,
			h("summary.button", null, icon("person"), h("span", { id: "who", "data-role": me.role }, me.name, " ", h("span.muted", null, t("role." + me.role))), h("span.hidden", null, t("menu"))),
			h("div", null, languageField(), themeSwitch(), h("ul.choices", null,
				h("li", null, h("a", { href: basePath + "/" }, t("public"))),
				h("li", null, button(t("signout"), signOut, { class: "quiet" }))))));
	} else {
		find.append(h("details.menu", null, h("summary.button", null, icon("globe"), h("span", null, languageNames[lang]), h("span.hidden", null, t("menu.out"))), h("div", null, languageField(), themeSwitch())));
	}
	const made = h("header.desk", { id: "site-header" }, h("div.bar", null, nav, find));
	header?.replaceWith(made);
	header = made;
}

// nameCalendar shows the name that the feeds of the calendar have; one without it has the
// name of its list.
async function nameCalendar() {
	const { body } = await get("/events?format=jsonfeed&per_page=1", { anonymous: true }).catch(() => ({}));
	if (!body?.title || body.title === t("events")) return;
	site = body.title;
	header.querySelector(".brand b").firstChild.data = site;
}

async function signOut() {
	if ((view?.isDirty?.() || hasDrafts()) && !await askLeave(t("signout"), "unsaved")) return;
	view?.close?.();
	view = waiting = null;
	session.leave();
	put("#/signin");
	signIn();
}

// signIn shows the form, with what is known of its fields, a message, and the fault of what
// was tried; what was shown before waits for the same user.
function signIn(o = {}) {
	closeAll();
	endOffer();
	document.body.dataset.desk = "signin";
	main.className = "narrow";
	makeHeader();
	const problem = (name) => h("p.problem", { id: "error-" + name, "data-error": name, hidden: true });
	const name = h("input", { id: "name", name: "name", type: "text", autocomplete: "username", autocapitalize: "none", "aria-describedby": "error-name", value: o.name ?? (waiting ? session.me.name : "") });
	const token = h("input", { id: "token", name: "token", type: "password", autocomplete: "current-password", "aria-describedby": "error-token", value: o.token ?? "" });
	const remember = h("input", { type: "checkbox", name: "remember", checked: Boolean(o.remember) });
	const alert = h("p.problem", { id: "message", role: "alert" }, o.message ?? "");
	const errors = { name: problem("name"), token: problem("token") };
	const wrong = (input, text) => {
		input.setAttribute("aria-invalid", "true");
		errors[input.name].textContent = text;
		errors[input.name].hidden = false;
		input.focus();
	};
	const refused = (fault) => {
		if (!(fault instanceof Fault)) throw fault;
		if (fault.code === "invalid_username") wrong(name, fault.message);
		else if (fault.status === 401) wrong(token, fault.message);
		else {
			alert.dataset.code = fault.code;
			alert.textContent = fault.message || t("network");
		}
	};
	const send = h("button.primary", null, t("signin"));
	const form = h("form.sign", { novalidate: true, onsubmit: async (e) => {
		e.preventDefault();
		alert.textContent = "";
		for (const input of [name, token]) {
			input.removeAttribute("aria-invalid");
			errors[input.name].hidden = true;
		}
		if (!token.value) wrong(token, t("signin.token.missing"));
		if (!name.value) wrong(name, t("signin.name.missing"));
		if (!name.value || !token.value) return;
		await enter(name.value.trim(), token.value.trim(), remember.checked).catch(refused);
		if (document.activeElement === document.body) main.focus({ preventScroll: true });
	} },
	h("h1", null, t("signin.title")), h("p.muted", null, t("signin.text")), alert,
	h("div.field", null, h("label", { for: "name" }, t("name")), name, errors.name),
	h("div.field", null, h("label", { for: "token" }, t("token")), token, errors.token),
	h("label.line.plain", null, remember, " ", t("remember")), h("p.hint", null, t("remember.hint")), send, h("p.hint", null, t("signin.hint")));
	main.replaceChildren(form);
	document.title = `${t("signin.title")} – ${t("desk")}`;
	(name.value ? token : name).focus();
	if (o.fault) refused(o.fault);
}

async function enter(name, token, remember) {
	const before = waiting && session.me;
	await session.enter(name, token, remember);
	if (!site) nameCalendar();
	const kept = waiting;
	waiting = null;
	if (kept?.loaded && before.id === session.me.id) { // where one was
		view = kept;
		main.className = "wide";
		main.replaceChildren(view.element);
		document.body.dataset.desk = view.name;
		makeHeader();
		view.back?.();
		return;
	}
	if (kept) {
		kept.ready = false; // what was typed is kept for who typed it
		kept.close?.();
	}
	if (!parse().parts.length || parse().parts[0] === "signin") put("#/events");
	await show(true);
}

function viewOf() {
	const { parts: [first, id, further], params } = parse();
	if (collections[first] && !id) return first === "events" ? eventList(params) : recordList(collections[first], first, params);
	if (!kinds[first] || !(/^[1-9]\d*$/.test(id) || id === "new")) return null;
	if (further === "history" && id !== "new" && session.me.can.read_history) return historyView(first, Number(id));
	return further ? null : eventForm(first, id === "new" ? 0 : Number(id), params);
}

// show shows the view of the address. Where it has the same view, that takes the address.
async function show(anew) {
	if (await byLink()) return;
	if (!session.me) return signIn();
	if (!anew && view?.take?.(parse())) return;
	closeAll();
	view?.close?.();
	view = viewOf();
	if (!view) {
		await go("#/events", { replace: true, sure: true });
		return;
	}
	document.body.dataset.desk = view.name;
	main.className = "wide";
	main.replaceChildren(view.element);
	makeHeader();
	const shown = view;
	try {
		await shown.load?.();
	} catch (e) {
		if (e.name === "AbortError" || e.status === 401) return;
		if (!(e instanceof Fault)) throw e;
		shown.element.replaceChildren(h("h1", null, t("missing")), h("p.note.bad", { id: "message", role: "alert", "data-code": e.code }, e.message || t("network")), h("p", null, h("a.button", { href: address(kinds[parse().parts[0]] ?? "events") }, t("back"))));
	}
	if (shown !== view) return;
	shown.loaded = true;
	document.title = `${shown.element.querySelector("h1")?.textContent ?? t("events")} – ${t("desk")}`;
	if (!anew && !main.contains(document.activeElement) && !document.querySelector("dialog")) main.focus({ preventScroll: true });
}

const mayLeave = () => askLeave();
mayLeave.asks = () => Boolean(!waiting && view?.isDirty?.());

document.addEventListener("click", (e) => {
	for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(e.target) || e.target.closest(".choices")) menu.open = false;
	const link = e.target.closest?.("a[href^='#']");
	if (!link || e.defaultPrevented || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
	e.preventDefault();
	if (link.id === "skip") main.focus();
	else if (link.dataset.to) document.getElementById(link.dataset.to)?.focus();
	else if (session.me && !waiting) go(link.getAttribute("href"));
});
document.addEventListener("keydown", (e) => {
	const menu = e.key === "Escape" && !e.defaultPrevented && document.querySelector("details.menu[open]");
	if (!menu) return;
	menu.open = false;
	menu.querySelector("summary").focus();
});
window.addEventListener("beforeunload", (e) => {
	const dirty = (view ?? waiting)?.isDirty?.();
	view?.keep?.();
	if (dirty) e.preventDefault();
});

onExpired(() => {
	if (waiting || !session.me) return;
	view?.keep?.(true);
	waiting = view;
	view = null;
	session.lose();
	signIn({ message: t("signin.expired") });
});

// byLink signs in by an address that holds name and token, which it does not keep (E9.3).
async function byLink() {
	const { parts, params } = parse();
	if (parts[0] !== "signin" || !params.has("token")) return false;
	put("#/events");
	view?.close?.();
	view = null;
	await tryEntering(params.get("name") ?? "", params.get("token"));
	return true;
}

async function tryEntering(user, token) {
	try {
		await enter(user, token);
	} catch (e) {
		if (!(e instanceof Fault)) throw e;
		if (e.status === 401) session.lose();
		session.nobody();
		signIn({ name: user, fault: e });
	}
}

async function begin() {
	themed(theme.get());
	await speak(preferred());
	document.body.replaceChildren(h("a", { id: "skip", href: "#main" }, t("skip")), h("header", { id: "site-header" }), main);
	header = document.getElementById("site-header");
	start(show, mayLeave);
	if (await byLink()) return;
	const who = session.known();
	if (who) await tryEntering(who.user, who.token);
	else signIn();
}

begin();
