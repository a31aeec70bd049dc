// The words of the desk, in four languages.

import { wallIn, wallOf } from "./dates.js";
import { keep, kept } from "./store.js";

const files = { en: "./texts.en.json", cn: "./texts.cn.json", es: "./texts.es.json", fr: "./texts.fr.json" };

export const languages = ["en", "cn", "es", "fr"];
export const languageNames = { en: "English", cn: "简体中文", es: "Español", fr: "Français" };
export const languageTag = (lang) => (lang === "cn" ? "zh-Hans" : lang);

export let lang = "en";
let words = {};
let english = {};

const load = async (name) => (await fetch(new URL(files[name], import.meta.url), { credentials: "omit" })).json();

// speak sets the language of the desk.
export async function speak(name) {
	if (!files[name]) name = "en";
	if (!Object.keys(english).length) english = await load("en");
	words = name === "en" ? english : await load(name);
	lang = name;
	document.documentElement.lang = languageTag(name);
}

// choose sets it, and keeps it for the next time.
export async function choose(name) {
	keep("lang", name);
	await speak(name);
}

// preferred is the language that was chosen, else that of the browser.
export function preferred() {
	const wanted = (navigator.languages ?? [navigator.language]).map((l) => l.toLowerCase().split("-")[0]).map((l) => (l === "zh" ? "cn" : l));
	return kept("lang") ?? wanted.find((l) => files[l]) ?? "en";
}

// t returns a text; values stand in the places {1}, {2} and so on.
export function t(key, ...values) {
	const text = words[key] ?? english[key] ?? key;
	return text.replace(/\{(\d)\}/g, (_, n) => values[n - 1] ?? "");
}

// count returns the text of a number: key.one for 1, else key.many.
export const count = (key, n) => t(`${key}.${n === 1 ? "one" : "many"}`, number(n));

export const number = (n) => new Intl.NumberFormat(languageTag(lang)).format(n);

const day = { weekday: "short", day: "numeric", month: "short" };

// clock shows a wall clock, YYYY-MM-DD HH:MM:SS.
export function clock(wall, allDay) {
	const date = new Date(wall.slice(0, 10) + "T" + (wall.slice(11) || "00:00:00") + "Z");
	if (Number.isNaN(date.getTime())) return wall;
	const year = date.getUTCFullYear() === new Date().getFullYear() ? {} : { year: "numeric" };
	const time = allDay ? {} : { hour: "numeric", minute: "2-digit" };
	return new Intl.DateTimeFormat(languageTag(lang), { ...day, ...year, ...time, timeZone: "UTC" }).format(date);
}

// recent shows a wall clock of a zone in short: today its time, else its day.
export function recent(wall, zone) {
	const today = wallOf(wallIn(Date.now(), zone)).slice(0, 10);
	const date = new Date(wall.replace(" ", "T") + "Z");
	const thisYear = wall.slice(0, 4) === String(new Date().getFullYear());
	const parts = wall.slice(0, 10) === today ? { timeStyle: "short" } : { day: "numeric", month: "short", year: thisYear ? undefined : "numeric" };
	return new Intl.DateTimeFormat(languageTag(lang), { ...parts, timeZone: "UTC" }).format(date);
}

// moment shows an instant on the wall clock of a zone.
export const moment = (instant, zone) => clock(wallOf(wallIn(new Date(instant).getTime(), zone)));
