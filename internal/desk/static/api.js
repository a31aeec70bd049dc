// Requests to the interface.

import { lang } from "./texts.js";
import { freshKey, wait } from "./dom.js";

const { base = "", prefix = "api" } = document.documentElement.dataset;

// rootOf is the root of a language.
export const rootOf = (l) => `${base}${l === "en" ? "" : "/" + l}/${prefix}/calendar/events/v1`;

export const basePath = base;

// Fault is an answer that is no success; status 0: there was none.
export class Fault extends Error {
	constructor(status, body, retry) {
		super(body?.message ?? "");
		this.status = status;
		this.code = body?.code ?? (status ? `http_${status}` : "network");
		this.data = body?.data ?? {};
		this.retry = retry;
	}

	// passing reports whether the same request may succeed later.
	get passing() {
		return [0, 429, 502, 503, 504].includes(this.status);
	}
}

let authorization = null;
let position = 0;

// expired is called when an answer says that the credentials are no longer good.
let expired = () => {};
export const onExpired = (f) => { expired = f; };

export function credentials(name, token) {
	authorization = token === undefined ? null : "Basic " + btoa(String.fromCharCode(...new TextEncoder().encode(`${name}:${token}`)));
}

// ask sends one request. Options: lang, body, key, match, signal, quiet (a 401 is for the
// caller), anonymous.
export async function ask(method, path, o = {}) {
	const headers = { Accept: "application/json" };
	if (authorization && !o.anonymous) headers.Authorization = authorization;
	if (o.body !== undefined) headers["Content-Type"] = "application/json";
	if (o.key) headers["Idempotency-Key"] = o.key;
	if (o.match) headers["If-Match"] = o.match;
	if (o.list && position) headers["Daybook-Min-Position"] = String(position);
	let answer, text;
	try {
		answer = await fetch(rootOf(o.lang ?? lang) + path, {
			method, headers, body: o.body, signal: o.signal, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer",
		});
		text = await answer.text();
	} catch (e) {
		if (e.name === "AbortError") throw e;
		throw new Fault(0);
	}
	const at = Number(answer.headers.get("Daybook-Position"));
	if (method !== "GET" && at > position) position = at;
	let body;
	try {
		body = JSON.parse(text);
	} catch { /* not JSON */ }
	if (!answer.ok) {
		const fault = new Fault(answer.status, body, Number(answer.headers.get("Retry-After")) || 0);
		if (answer.status === 401 && !o.quiet && headers.Authorization === authorization) expired();
		throw fault;
	}
	return { body, text, etag: answer.headers.get("ETag"), status: answer.status, replayed: answer.headers.has("Idempotency-Replayed") };
}

export const get = (path, o) => ask("GET", path, o);

// list reads a list. One that does not show the last write yet is asked again.
export async function list(path, o = {}) {
	for (let n = 0; ; n++) {
		try {
			return (await ask(o.method ?? "GET", path, { ...o, list: true })).body;
		} catch (e) {
			if (!(e instanceof Fault) || e.code !== "rest_position_not_reached" || n > 4) throw e;
			await wait(1000 * (e.retry || 1));
		}
	}
}

// write sends a write until there is an answer to it, with one key (E5.1). A repeated
// DELETE that finds it done is done.
export async function write(method, path, o = {}, retrying = () => {}) {
	const key = method === "DELETE" ? undefined : o.key ?? freshKey();
	for (let n = 0; ; n++) {
		try {
			return await ask(method, path, { ...o, key });
		} catch (e) {
			if (method === "DELETE" && n > 0 && (e.status === 410 || e.status === 404)) return { body: null, etag: null };
			if (!(e instanceof Fault) || !e.passing) throw e;
			const seconds = e.retry || Math.min(30, 2 ** n);
			for (let left = seconds; left > 0; left--) {
				retrying(left);
				await wait(1000);
				o.signal?.throwIfAborted();
			}
			retrying(0);
		}
	}
}

// page reads a page of the calendar as the caller sees it.
export async function page(url) {
	const u = new URL(url, location.href);
	const answer = await fetch(u.pathname + u.search, { headers: authorization ? { Authorization: authorization } : {}, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" });
	if (answer.status === 401) expired();
	return { ok: answer.ok, status: answer.status, html: await answer.text() };
}

export const query = (params) => {
	const q = new URLSearchParams();
	for (const [k, v] of Object.entries(params)) if (v !== undefined && v !== "" && v !== null) q.set(k, v);
	return q.size ? "?" + q : "";
};

// all reads all pages of a list.
export async function all(collection, params = {}, o = {}) {
	const out = [];
	for (let n = 1; ; n++) {
		const body = await list(`/${collection}${query({ ...params, per_page: 100, page: n })}`, o);
		out.push(...body[collection]);
		if (!body.next_rest_url || n > 100) return out;
	}
}
