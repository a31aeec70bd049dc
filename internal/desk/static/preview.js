// The page of a saved record as the public would see it (E4.6).

import { page } from "./api.js";
import { button, h } from "./dom.js";
import { t } from "./texts.js";
import { showPage } from "./trusted.js";

// preview makes the part of a form that shows a page.
export function preview(urlOf, note) {
	const frame = h("iframe", { id: "preview", sandbox: "allow-same-origin", title: t("preview.frame"), hidden: true });
	const stage = h("div.stage", null, frame);
	const message = h("p.hint", { role: "status" }, note());
	let width = "phone";
	const segments = h("div.segments", { role: "group", "aria-label": t("width") }, ["desktop", "phone"].map((name) => button(t(name), () => {
		width = name;
		size();
	}, { "data-width": name })));
	function size() {
		for (const b of segments.children) b.setAttribute("aria-pressed", String(b.dataset.width === width));
		const wide = width === "desktop" ? 1280 : 375;
		const scale = Math.min(1, stage.clientWidth / wide || 1);
		frame.style.width = `${wide}px`;
		frame.style.height = `${720 / scale}px`;
		frame.style.transform = `scale(${scale})`;
		stage.style.height = frame.hidden ? "" : "720px";
	}
	async function show() {
		const url = new URL(urlOf(), location.href);
		url.searchParams.set("preview", "true");
		const { ok, html, status } = await page(url).catch(() => ({ status: 0 }));
		message.textContent = ok ? note() : t("preview.failed", status);
		frame.hidden = !ok;
		if (ok) showPage(frame, html);
		size();
		return ok;
	}
	const open = button(t("preview"), show);
	new ResizeObserver(size).observe(stage);
	return { element: h("aside.preview", { "aria-label": t("preview") }, h("div.preview-bar", null, h("h2", null, open), segments), message, stage), show, refresh: () => (frame.hidden ? undefined : show()), note: () => { message.textContent = note(); } };
}
