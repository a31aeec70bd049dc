// Wall clocks, zones, and the phrases of interface 2.4.

const pad = (n, places = 2) => String(n).padStart(places, "0");

// Of wall clocks as milliseconds of a clock without a zone.

export function wallOf(ms) {
	const d = new Date(ms);
	return `${pad(d.getUTCFullYear(), 4)}-${pad(d.getUTCMonth() + 1)}-${pad(d.getUTCDate())} ${pad(d.getUTCHours())}:${pad(d.getUTCMinutes())}:${pad(d.getUTCSeconds())}`;
}

function make(y, mo, d, hh = 0, mi = 0, s = 0) {
	const date = new Date(0);
	date.setUTCFullYear(y, mo - 1, d);
	date.setUTCHours(hh, mi, s);
	const fits = y >= 1 && y <= 9999 && date.getUTCFullYear() === y && date.getUTCMonth() === mo - 1 && date.getUTCDate() === d;
	return fits ? date.getTime() : null;
}

// msOf reads YYYY-MM-DD HH:MM[:SS]; null: it is none.
export function msOf(wall) {
	const m = /^(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d))?)?$/.exec(wall ?? "");
	return m && make(...m.slice(1).map((n) => Number(n ?? 0)));
}

// offsetOf is the offset of a zone from UTC at an instant, in milliseconds; null: unknown.
function offsetOf(zone, instant) {
	const fixed = /^(?:UTC)?([+-])(\d{1,2})(?::(\d\d)|\.(\d+))?$/.exec(zone);
	if (fixed) return (fixed[1] === "-" ? -1 : 1) * (Number(fixed[2]) * 60 + (fixed[3] ? Number(fixed[3]) : fixed[4] ? Number("0." + fixed[4]) * 60 : 0)) * 60_000;
	try {
		const parts = Object.fromEntries(new Intl.DateTimeFormat("en", { timeZone: zone, hourCycle: "h23", era: "short", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" })
			.formatToParts(new Date(instant)).map((p) => [p.type, p.value]));
		return make(Number(parts.year), Number(parts.month), Number(parts.day), Number(parts.hour), Number(parts.minute), Number(parts.second)) - Math.floor(instant / 1000) * 1000;
	} catch {
		return null;
	}
}

// instantOf is the instant of a wall clock in a zone: the first reading, and in a gap what
// is later by the gap.
export function instantOf(ms, zone) {
	const before = offsetOf(zone, ms - 86_400_000);
	const after = offsetOf(zone, ms + 86_400_000);
	if (before === null) return null;
	for (const offset of [before, after]) if (offsetOf(zone, ms - offset) === offset) return ms - offset;
	return ms - before;
}

export const wallIn = (instant, zone) => instant + (offsetOf(zone, instant) ?? 0);

export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

const months = "january february march april may june july august september october november december".split(" ");
const days = "sunday monday tuesday wednesday thursday friday saturday".split(" ");
const monthOf = (word) => months.findIndex((m) => m === word || m.slice(0, 3) === word) + 1;

// clockOf reads a clock: seconds of the day; null: it is none.
function clockOf(text, only24 = false) {
	let m = /^(\d{1,2}):(\d\d)(?::(\d\d))?$/.exec(text);
	if (m) return Number(m[1]) < 24 && Number(m[2]) < 60 && Number(m[3] ?? 0) < 60 ? Number(m[1]) * 3600 + Number(m[2]) * 60 + Number(m[3] ?? 0) : null;
	m = !only24 && /^(\d{1,2})(?::(\d\d)(?::(\d\d))?)? ?(am|pm)$/.exec(text);
	if (!m || Number(m[1]) < 1 || Number(m[1]) > 12 || Number(m[2] ?? 0) > 59 || Number(m[3] ?? 0) > 59) return null;
	return (Number(m[1]) % 12 + (m[4] === "pm" ? 12 : 0)) * 3600 + Number(m[2] ?? 0) * 60 + Number(m[3] ?? 0);
}

const startOfDay = (ms) => Math.floor(ms / 86_400_000) * 86_400_000;

// resolve reads a date of interface 2.4 in a zone: the wall clock there, which in a gap moves
// forward by it; null: it is none.
export function resolve(text, zone, now = Date.now()) {
	const ms = read(text, zone, now);
	const instant = ms === null ? null : instantOf(ms, zone);
	return instant === null ? ms : wallIn(instant, zone);
}

function read(text, zone, now) {
	const s = text.trim().replace(/ +/g, " ").toLowerCase();
	const here = Math.floor(wallIn(now, zone) / 1000) * 1000;
	const today = startOfDay(here);
	const at = (day, clock, otherwise = 0) => {
		if (day === null) return null;
		if (!clock) return day + otherwise;
		const seconds = clockOf(clock);
		return seconds === null ? null : day + seconds * 1000;
	};
	const zoned = (ms, offset) => {
		if (ms === null || !offset) return ms;
		const m = /^([+-])(\d\d):?(\d\d)$/.exec(offset);
		if (m && (Number(m[2]) > 23 || Number(m[3]) > 59)) return null;
		return wallIn(ms - (m ? (m[1] === "-" ? -1 : 1) * (Number(m[2]) * 60 + Number(m[3])) * 60_000 : 0), zone);
	};
	let m;
	if ((m = /^(\d{4})-(\d\d)-(\d\d)(?:(?:t| )(\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?)(z|[+-]\d\d:?\d\d)?)?$/.exec(s))) return zoned(at(make(Number(m[1]), Number(m[2]), Number(m[3])), m[4]?.replace(/\..*/, "")), m[5]);
	if ((m = /^(\d{4})-(\d\d)-(\d\d) (\d.*)$/.exec(s))) return at(make(Number(m[1]), Number(m[2]), Number(m[3])), m[4]);
	if ((m = /^((?:1[89]|2[01])\d\d)(\d\d)(\d\d)(?:t(\d\d)(\d\d)(\d\d)?(z|[+-]\d\d:?\d\d)?)?$/.exec(s))) {
		return zoned(at(make(Number(m[1]), Number(m[2]), Number(m[3])), m[4] && `${m[4]}:${m[5]}:${m[6] ?? "00"}`), m[7]);
	}
	if (/^\d{5,}$/.test(s)) {
		const ms = wallIn(Number(s) * 1000, zone);
		return ms >= make(1, 1, 1) && ms < make(9999, 12, 31) + 86_400_000 ? ms : null;
	}
	if (s === "now") return here;
	if ((m = /^(today|tomorrow|yesterday)(?: (.+))?$/.exec(s))) return at(today + { today: 0, tomorrow: 1, yesterday: -1 }[m[1]] * 86_400_000, m[2]);
	if ((m = /^([+-]\d{1,7}) (day|week|month|year)s?(?: (.+))?$/.exec(s))) {
		const n = Number(m[1]);
		let day = today;
		if (m[2] === "day" || m[2] === "week") day += n * (m[2] === "week" ? 7 : 1) * 86_400_000;
		else {
			const d = new Date(today);
			const month = d.getUTCFullYear() * 12 + d.getUTCMonth() + n * (m[2] === "year" ? 12 : 1);
			const y = Math.floor(month / 12), mo = month - y * 12 + 1;
			for (let last = d.getUTCDate(); ; last--) if ((day = make(y, mo, last)) !== null || last < 28) break;
		}
		const moved = at(day, m[3], here - today);
		return moved !== null && moved >= make(1, 1, 1) && moved < make(9999, 12, 31) + 86_400_000 ? moved : null;
	}
	if ((m = /^(?:(this|next|last) )?([a-z]+)(?: (.+))?$/.exec(s))) {
		const wanted = days.indexOf(m[2]);
		if (wanted >= 0) {
			const ahead = (wanted - new Date(today).getUTCDay() + 7) % 7;
			return at(today + (m[1] === "next" ? ahead || 7 : m[1] === "last" ? ahead - 7 : ahead) * 86_400_000, m[3]);
		}
	}
	if ((m = /^([a-z]+) (\d{1,2})(?: ?, ?| )(\d{4})(?: (.+))?$/.exec(s)) && monthOf(m[1])) return at(make(Number(m[3]), monthOf(m[1]), Number(m[2])), m[4]);
	if ((m = /^(\d{1,2}) ([a-z]+) (\d{4})(?: (.+))?$/.exec(s)) && monthOf(m[2])) return at(make(Number(m[3]), monthOf(m[2]), Number(m[1])), m[4]);
	if ((m = /^(\d\d)\/(\d\d)\/(\d{4})(?: (.+))?$/.exec(s))) return at(make(Number(m[3]), Number(m[1]), Number(m[2])), m[4]);
	return null;
}

// zones are those that can be chosen.
export const zones = () => ["UTC", ...(Intl.supportedValuesOf?.("timeZone") ?? []).filter((z) => z !== "UTC")];
