// A map with the places of a selection, or with one place.

const fineZoom = 4, fineZoomEnd = 10; // where outlines 1:50 m show more than those 1:110 m
const gap = 2, maxRadius = 32; // of markers, in pixels

function style(href) {
	return new Promise((done, failed) => {
		const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: done, onerror: failed });
		document.head.prepend(link); // below the style of the pages
	});
}

// Rings that cross longitude 180 go on beyond it, so that no line runs round the world.
function unroll(ring) {
	if (!ring.some((at, i) => i && Math.abs(at[0] - ring[i - 1][0]) > 180)) return ring;
	return ring.map(([lng, lat]) => [lng < 0 ? lng + 360 : lng, lat]);
}

function unrolled(feature) {
	const g = feature.geometry;
	if (g.type === "Polygon") g.coordinates = g.coordinates.map(unroll);
	else if (g.type === "MultiPolygon") g.coordinates = g.coordinates.map((p) => p.map(unroll));
	return feature;
}

async function outlines(L, topojson, url) {
	const world = await (await fetch(url)).json();
	const countries = topojson.feature(world, world.objects.countries);
	countries.features.forEach(unrolled);
	return L.geoJSON(countries, {
		style: { className: "outline", weight: 0.6, color: null, fillColor: null, fillOpacity: 1, opacity: 1 }, interactive: false,
	});
}

const element = (tag, properties) => Object.assign(document.createElement(tag), properties);
const lang = document.documentElement.lang, number = new Intl.NumberFormat(lang);
// isolated is a name that stands inside a sentence.
const isolated = (s) => (/[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(s) ? `\u2068${s}\u2069` : s);
const plain = (s) => s.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&amp;/g, "&");

// radiusOf is the radius that a number needs.
const radiusOf = (count) => Math.round(Math.min(22, 14 + 3 * Math.log10(count)));

// joined makes one marker of those that would overlap, the nearest ones first. It stands in the
// middle of its places and covers them, unless they are so many that it grew too large.
function joined(places) {
	let all = places.map((p) => ({ ...p, places: [p], radius: radiusOf(p.count) }));
	for (const near of [1, 6, 12, 18, 24, 2 * maxRadius + gap]) {
		for (let changed = true; changed;) {
			changed = false;
			all.sort((a, b) => a.at.x - b.at.x);
			for (let i = 0; i < all.length; i++) {
				for (let j = i + 1; j < all.length && all[j].at.x - all[i].at.x < near; j++) {
					const distance = all[i].at.distanceTo(all[j].at);
					if (distance >= near || distance >= all[i].radius + all[j].radius + gap) continue;
					all[i] = one([...all[i].places, ...all[j].places]);
					all.splice(j, 1);
					changed = true;
					break;
				}
			}
		}
	}
	return all;
}

function one(places) {
	const low = places[0].at.clone(), high = low.clone();
	for (const { at } of places) {
		low.x = Math.min(low.x, at.x); low.y = Math.min(low.y, at.y);
		high.x = Math.max(high.x, at.x); high.y = Math.max(high.y, at.y);
	}
	const at = low.add(high).divideBy(2), count = places.reduce((n, p) => n + p.count, 0);
	return { at, count, places, radius: Math.min(maxRadius, Math.max(radiusOf(count), Math.ceil(Math.max(...places.map((p) => at.distanceTo(p.at)))))) };
}

// tiles lie below the markers; the outlines stay until they come.
function tiles(L, map, box) {
	const d = box.dataset;
	if (!d.tiles) return;
	L.tileLayer(d.tiles, { subdomains: d.tilesHosts.split(","), attribution: element("span", { textContent: d.tilesBy }).innerHTML, maxZoom: 18 })
		.once("tileload", () => box.classList.add("tiled")).addTo(map);
}

const cards = () => [...document.querySelectorAll("#results [data-venue-id]")];
const cardsOf = (venues) => cards().filter((card) => venues.some((v) => String(v.id) === card.dataset.venueId));

const copies = (nodes) => [...nodes].map((node) => node.cloneNode(true));

// popup names venues, and the events of each that stand beside the map.
function popup(venues) {
	const box = document.createElement("div");
	for (const venue of venues) {
		box.append(element("a", { href: venue.url, dir: "auto", textContent: plain(venue.venue) }));
		const list = document.createElement("ul");
		for (const card of cardsOf([venue]).slice(0, 5)) {
			const title = card.querySelector("h3 a"), item = document.createElement("li");
			const link = element("a", { href: title.href, dir: "auto" });
			link.append(...copies(title.childNodes));
			item.append(link, ...copies(card.querySelectorAll("[data-badge=cancelled], [data-badge=postponed]")).flatMap((badge) => [" ", badge]));
			list.append(item);
		}
		box.append(list);
	}
	return box;
}

// neighbours finds the venues of places that several share: of these a cluster tells the number only.
async function neighbours(clusters, shared) {
	if (!shared.length || shared.length > 100) return;
	const url = new URL(clusters, location.href);
	url.pathname = url.pathname.replace(/\/clusters$/, ".geojson");
	url.searchParams.delete("zoom");
	url.searchParams.set("features", "venues");
	const found = await fetch(url).then((res) => res.json()).catch(() => ({}));
	for (const { geometry: { coordinates: [lng, lat] }, properties: venue } of found.features ?? []) {
		shared.find(({ box: [west, south, east, north] }) => west <= lng && lng <= east && south <= lat && lat <= north)?.venues.push(venue);
	}
}

// draw draws the map of an element. data-view says what it shows once the markers are there.
export async function draw(box) {
	const d = box.dataset;
	await Promise.all([style(d.sheet), import(d.leaflet), import(d.topojson)]);
	const { L, topojson } = window;
	const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
	const map = L.map(box, { zoomControl: false, worldCopyJump: true, zoomAnimation: !still, fadeAnimation: !still, markerZoomAnimation: !still, inertia: !still, maxZoom: 18, scrollWheelZoom: false });
	map.attributionControl.setPrefix(false);
	map.setView(d.lat ? [Number(d.lat), Number(d.lng)] : [25, 10], d.lat ? 15 : 2);
	map.on("focus", () => map.scrollWheelZoom.enable()).on("blur", () => map.scrollWheelZoom.disable()); // the page scrolls past it
	controls(L, box, map);

	let shown = (await outlines(L, topojson, d.outlines)).addTo(map), fine = Boolean(d.tiles);
	tiles(L, map, box);
	// refine is for who looks closer, not for the first view.
	const refine = async () => {
		const zoom = map.getZoom();
		if (fine || zoom < fineZoom || zoom > fineZoomEnd) return;
		fine = true;
		const finer = await outlines(L, topojson, d.fine).catch(() => null);
		if (!finer) return; // the coarse ones stay
		shown.remove();
		shown = finer.addTo(map);
	};

	const markers = L.layerGroup().addTo(map);
	let places = [], chosen = [], cut = false, asked = 0;
	const isChosen = (venues) => venues.some((v) => chosen.includes(v.id));
	const choose = (venues) => {
		chosen = venues.map((v) => v.id);
		const marked = cardsOf(venues);
		for (const card of cards()) {
			if (marked.includes(card)) card.setAttribute("aria-current", "true");
			else card.removeAttribute("aria-current");
		}
		markers.eachLayer((m) => m.getElement().toggleAttribute("aria-current", isChosen(m.options.venues)));
	};
	const open = ({ places, at, venues }) => {
		choose(venues);
		const bounds = L.latLngBounds(places.map((p) => p.on));
		const apart = places.length > 1 && !bounds.getNorthEast().equals(bounds.getSouthWest()) || !venues.length;
		if (!apart || map.getZoom() >= map.getMaxZoom()) return map.openPopup(popup(venues), map.unproject(at), { maxHeight: 240 });
		const zoom = Math.max(map.getZoom() + 1, map.getBoundsZoom(bounds, false, L.point(80, 80)));
		return map.setView(bounds.getCenter(), Math.min(zoom, map.getMaxZoom()));
	};
	const name = ({ venues, count }) => {
		const names = venues.slice(0, 2).map((v) => isolated(plain(v.venue)));
		if (venues.length > 2) names.push(`+${venues.length - 2}`);
		const events = (new Intl.PluralRules(lang).select(count) === "one" && d.event || d.events || "{1}").replace("{1}", number.format(count));
		return [new Intl.ListFormat(lang).format(names), events].filter(Boolean).join(d.comma);
	};
	const show = () => {
		const focused = document.activeElement?.dataset?.marker?.split(" ");
		markers.clearLayers();
		for (const m of joined(places.map((p) => ({ ...p, at: map.project(p.on) })))) {
			m.venues = m.places.flatMap((p) => p.venues);
			const marker = L.marker(map.unproject(m.at), { venues: m.venues, icon: L.divIcon({ className: "pin", iconSize: [2 * m.radius, 2 * m.radius], html: d.geojson ? number.format(m.count) : "" }) }).addTo(markers);
			const pin = marker.getElement();
			Object.assign(pin.dataset, { marker: m.venues.map((v) => v.id).join(" "), count: m.count });
			pin.setAttribute("aria-label", name(m));
			pin.toggleAttribute("aria-current", isChosen(m.venues));
			marker.on("click", () => open(m)).on("keypress", (e) => { // Leaflet's markers take the focus, and no keys
				if (!["Enter", " "].includes(e.originalEvent.key)) return;
				e.originalEvent.preventDefault();
				open(m);
			});
			if (focused && m.venues.some((v) => focused.includes(String(v.id)))) pin.focus({ preventScroll: true });
		}
		box.dataset.view = view(map);
	};
	map.on("popupopen", (e) => e.popup.getElement().querySelector(".leaflet-popup-close-button")?.setAttribute("aria-label", d.close ?? "×"));
	map.on("click", () => choose([]));
	if (!d.geojson) {
		places = [{ on: L.latLng(d.lat, d.lng), count: 1, venues: [{ id: d.venue ?? "", venue: d.place ?? "", url: location.href }] }];
		show();
		map.on("moveend", () => { box.dataset.view = view(map) });
		return;
	}

	// load asks for the places of everything, where they are too many for those of the view.
	const load = async (everything) => {
		const own = ++asked, url = new URL(d.geojson, location.href);
		delete box.dataset.view;
		if (!everything) {
			url.searchParams.set("zoom", map.getZoom());
			if (!url.searchParams.has("bbox")) url.searchParams.set("bbox", viewport(map));
		} else url.searchParams.set("zoom", 22);
		const found = await fetch(url).then((res) => res.json()).catch(() => ({}));
		if (own !== asked) return;
		if (found.features) places = found.features.map(({ geometry, properties: p }) => ({ on: L.latLng(geometry.coordinates[1], geometry.coordinates[0]), count: p.point_count, venues: p.venue ? [p.venue] : [], box: p.bbox }));
		if (everything) {
			cut = found.truncated ?? false;
			await neighbours(d.geojson, places.filter((p) => !p.venues.length));
			if (own !== asked) return;
			const [top, right] = roomOfControls(box), edge = 30;
			const bounds = L.latLngBounds(places.map((p) => p.on));
			if (places.length) map.fitBounds(bounds, { paddingTopLeft: [edge, edge + top], paddingBottomRight: [edge + right, edge + 16], maxZoom: d.tiles ? 15 : 13, animate: false });
			if (cut) return load(false);
		}
		show();
	};
	await load(true);
	map.on("zoomend", () => {
		if (!cut) show();
		refine();
	});
	map.on("moveend", () => {
		if (cut) load(false);
		else box.dataset.view = view(map);
	});
	box.addEventListener("selection", () => {
		choose([]);
		load(true);
	});
}

const sides = (b, hold) => [[b.getWest(), 180], [b.getSouth(), 90], [b.getEast(), 180], [b.getNorth(), 90]].map(([n, most]) => hold(n, most)).join(",");
// view is what the map shows, west, south, east, north; viewport as far as there is a world.
const view = (map) => sides(map.getBounds(), (n) => n.toFixed(7));
const viewport = (map) => sides(map.getBounds(), (n, most) => Math.max(-most, Math.min(most, n)).toFixed(5));

// roomOfControls is what those at the top right take from the top, and from the right below.
function roomOfControls(box) {
	const own = box.querySelector(".on-map"), zoom = box.querySelector(".leaflet-control-zoom");
	return [own?.offsetHeight ? own.offsetHeight + 10 : 0, zoom.offsetWidth + 10];
}

// controls search where the map is, and where the reader is.
function controls(L, box, map) {
	const d = box.dataset, bar = element("div", { className: "on-map leaflet-control" });
	L.DomEvent.disableClickPropagation(bar);
	const button = (id, label, act) => bar.append(element("button", { id, type: "button", textContent: label, onclick: act }));
	const go = (values) => {
		const url = new URL(location.href);
		for (const name of ["bbox", "geoloc_lat", "geoloc_lng", "page"]) url.searchParams.delete(name);
		for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
		location.assign(url);
	};
	if (d.here) button("map-here", d.here, () => go({ bbox: viewport(map) }));
	if (d.near && navigator.geolocation) {
		button("map-near", d.near, () => navigator.geolocation.getCurrentPosition(({ coords }) => go({ geoloc_lat: coords.latitude.toFixed(5), geoloc_lng: coords.longitude.toFixed(5) }), () => {}));
	}
	if (bar.childElementCount) box.querySelector(".leaflet-top.leaflet-right").append(bar);
	L.control.zoom({ position: "topright", zoomInTitle: d.in, zoomOutTitle: d.out }).addTo(map);
}
