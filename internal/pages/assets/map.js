// A map of outlines with the places of a selection, or with one place.

const fineZoom = 4;

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

const text = (s) => Object.assign(document.createElement("span"), { textContent: s });

const sizeOf = (count) => count > 1 ? Math.round(Math.min(48, 28 + 10 * Math.log10(count))) : 24;

function marker(L, at, count, title) {
	const size = sizeOf(count);
	const m = L.marker(at, { title, alt: title, icon: L.divIcon({ className: `marker${count > 1 ? "" : " is-single"}`, iconSize: [size, size], html: text(count > 1 ? String(count) : "") }) });
	return m.on("keypress", (e) => { // Leaflet's markers take the focus, and no keys
		if (!["Enter", " "].includes(e.originalEvent.key)) return;
		e.originalEvent.preventDefault();
		m.fire("click");
	});
}

// tiles lie below the markers; the outlines stay until they come.
function tiles(L, map, box) {
	const d = box.dataset;
	if (!d.tiles) return;
	L.tileLayer(d.tiles, { subdomains: d.tilesHosts.split(","), attribution: text(d.tilesBy).innerHTML, maxZoom: 18 })
		.once("tileload", () => box.classList.add("tiled")).addTo(map);
}

// popup tells of a venue: its name, and the events of it that stand beside the map.
function popup(venue, cards, count) {
	const box = document.createElement("div");
	const name = Object.assign(document.createElement("a"), { href: venue.url, dir: "auto", textContent: plain(venue.venue) });
	box.append(name);
	const list = document.createElement("ul");
	for (const card of cards.slice(0, 5)) {
		const title = card.querySelector("h3 a");
		const item = document.createElement("li");
		item.append(Object.assign(document.createElement("a"), { href: title.href, dir: "auto", textContent: title.textContent }));
		list.append(item);
	}
	if (cards.length) box.append(list);
	else box.append(" ", text(`(${count})`));
	return box;
}

const plain = (s) => s.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&amp;/g, "&");

// draw draws the map of an element. It says in data-drawn when what it asked for is there.
export async function draw(box) {
	await drawIn(box, box.dataset);
	box.dataset.drawn = "true";
}

async function drawIn(box, d) {
	await Promise.all([style(d.sheet), import(d.leaflet), import(d.topojson)]);
	const { L, topojson } = window;
	const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
	const map = L.map(box, { zoomControl: false, worldCopyJump: true, zoomAnimation: !still, fadeAnimation: !still, markerZoomAnimation: !still, inertia: !still, minZoom: 1, maxZoom: 18, scrollWheelZoom: false });
	map.attributionControl.setPrefix(false);
	L.control.zoom({ zoomInTitle: d.in, zoomOutTitle: d.out }).addTo(map);
	map.setView(d.lat ? [Number(d.lat), Number(d.lng)] : [25, 10], d.lat ? 5 : 2);
	map.on("focus", () => map.scrollWheelZoom.enable()).on("blur", () => map.scrollWheelZoom.disable()); // the page scrolls past it

	let shown = (await outlines(L, topojson, d.outlines)).addTo(map);
	tiles(L, map, box);
	let fine = Boolean(d.tiles);
	const refine = async () => {
		if (fine || map.getZoom() < fineZoom) return;
		fine = true;
		const finer = await outlines(L, topojson, d.fine).catch(() => null);
		if (!finer) return; // the coarse ones stay
		shown.remove();
		shown = finer.addTo(map);
	};
	map.on("zoomend", refine);
	await refine();
	if (!d.geojson) {
		marker(L, [Number(d.lat), Number(d.lng)], 1, d.place ?? "").addTo(map);
		return;
	}

	const places = L.layerGroup().addTo(map);
	let asked = 0, opened;
	const choose = (venue) => {
		for (const card of document.querySelectorAll(".card")) card.classList.toggle("is-chosen", venue !== undefined && card.dataset.venueId === String(venue));
	};
	// load shows the places of the viewport, or of everything. Where another one began
	// meanwhile, it gives nothing; where no answer comes, the places stay.
	const load = async (everything) => {
		const own = ++asked;
		delete box.dataset.drawn;
		const url = new URL(d.geojson, location.href);
		url.searchParams.set("zoom", String(everything ? 2 : map.getZoom()));
		if (!everything && !url.searchParams.has("bbox")) url.searchParams.set("bbox", viewport(map));
		const found = await fetch(url).then((res) => res.json()).catch(() => ({}));
		if (own !== asked) return undefined;
		box.dataset.drawn = "true";
		if (!found.features) return found;
		places.clearLayers();
		for (const { f, at } of apart(map, found.features)) {
			const [lng, lat] = f.geometry.coordinates;
			const p = f.properties;
			const m = marker(L, map.unproject(at), p.point_count, p.venue ? plain(p.venue.venue) : String(p.point_count));
			if (p.venue) {
				const show = () => m.bindPopup(popup(p.venue, [...document.querySelectorAll(".card")].filter((c) => c.dataset.venueId === String(p.venue.id)), p.point_count), { maxHeight: 240 }).openPopup();
				m.on("click", () => {
					opened = p.venue.id;
					choose(opened);
					show();
				});
				m.addTo(places);
				if (opened === p.venue.id) show();
				continue;
			}
			m.on("click", () => map.setView([lat, lng], Math.max(p.expansion_zoom ?? 0, map.getZoom() + 1)));
			m.addTo(places);
		}
		return found;
	};
	map.on("popupopen", (e) => e.popup.getElement().querySelector(".leaflet-popup-close-button")?.setAttribute("aria-label", d.close ?? "×"));
	map.on("click", () => {
		opened = undefined;
		choose();
	});
	const fit = async () => {
		const all = await load(true);
		if (!all) return;
		const points = (all.features ?? []).map((f) => [f.geometry.coordinates[1], f.geometry.coordinates[0]]);
		if (points.length) map.fitBounds(points, { padding: [40, 40], maxZoom: d.tiles ? 12 : 6, animate: false });
		await load(false);
	};
	controls(box, map); // at once: they need no answer
	await fit();
	map.on("moveend", () => load(false));
	box.addEventListener("selection", fit);
}

// apart moves markers that would lie on each other, so that each can be hit. One for both
// would count the events twice that are at places of both.
function apart(map, features) {
	const out = features.map((f) => {
		const [lng, lat] = f.geometry.coordinates;
		return { f, at: map.project([lat, lng]), size: sizeOf(f.properties.point_count) };
	}).sort((a, b) => a.at.x - b.at.x);
	for (let turn = 0, moved = true; moved && turn < 50; turn++) {
		moved = false;
		out.forEach((a, i) => {
			for (let j = i + 1; j < out.length; j++) {
				const b = out[j];
				const x = b.at.x - a.at.x, y = b.at.y - a.at.y;
				if (x > 100) break; // none that lies farther comes so near
				const distance = Math.hypot(x, y), lacks = (a.size + b.size) / 2 + 4 - distance;
				if (lacks < 0.5) continue;
				moved = true;
				const by = [distance ? x / distance : 1, y / (distance || 1)].map((n) => n * lacks / 2);
				a.at = a.at.subtract(by);
				b.at = b.at.add(by);
			}
		});
	}
	return out;
}

// viewport is what the map shows, west, south, east, north.
function viewport(map) {
	const b = map.getBounds();
	const hold = (n, most) => Math.max(-most, Math.min(most, n)).toFixed(5);
	return [hold(b.getWest(), 180), hold(b.getSouth(), 90), hold(b.getEast(), 180), hold(b.getNorth(), 90)].join(",");
}

// controls search where the map is, and where the reader is.
function controls(box, map) {
	const bar = Object.assign(document.createElement("div"), { className: "map-tools" });
	const button = (id, label, act) => {
		const b = Object.assign(document.createElement("button"), { id, type: "button", textContent: label });
		b.addEventListener("click", act);
		bar.append(b);
	};
	const go = (values) => {
		const url = new URL(location.href);
		for (const name of ["bbox", "geoloc_lat", "geoloc_lng", "page"]) url.searchParams.delete(name);
		for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
		location.assign(url);
	};
	if (box.dataset.here) button("map-here", box.dataset.here, () => go({ bbox: viewport(map) }));
	if (box.dataset.near && navigator.geolocation) {
		button("map-near", box.dataset.near, () => navigator.geolocation.getCurrentPosition(({ coords }) => go({ geoloc_lat: coords.latitude.toFixed(5), geoloc_lng: coords.longitude.toFixed(5) }), () => {}));
	}
	box.parentElement.append(bar);
}
