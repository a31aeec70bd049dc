// A map of outlines with the places of a selection, or with one place.

const fineZoom = 4;

function style(href) {
	return new Promise((done, failed) => {
		const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload: done, onerror: failed });
		document.head.append(link);
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

function marker(L, at, count, title) {
	const size = count > 1 ? Math.min(48, 28 + 6 * Math.log10(count) * 2) : 18;
	const text = document.createElement("span");
	text.textContent = count > 1 ? String(count) : "";
	return L.marker(at, { title, alt: title, icon: L.divIcon({ className: "marker", iconSize: [size, size], html: text }) });
}

export async function draw(box) {
	const d = box.dataset;
	await Promise.all([style(d.sheet), import(d.leaflet), import(d.topojson)]);
	const { L, topojson } = window;
	const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
	const map = L.map(box, { zoomControl: false, worldCopyJump: true, zoomAnimation: !still, fadeAnimation: !still, markerZoomAnimation: !still, minZoom: 1, maxZoom: 18 });
	map.attributionControl.setPrefix(false);
	L.control.zoom({ zoomInTitle: d.in, zoomOutTitle: d.out }).addTo(map);
	map.setView(d.lat ? [Number(d.lat), Number(d.lng)] : [25, 10], d.lat ? 5 : 2);

	if (d.tiles) {
		const by = document.createElement("span");
		by.textContent = d.tilesBy;
		const tiles = L.tileLayer(d.tiles, { subdomains: d.tilesHosts.split(","), attribution: by.innerHTML, maxZoom: 18 });
		tiles.once("tileload", () => box.classList.add("tiled")); // outlines stay until then
		tiles.addTo(map);
	}
	let shown = await outlines(L, topojson, d.outlines);
	shown.addTo(map);
	let fine = false;
	const refine = async () => {
		if (fine || map.getZoom() < fineZoom) return;
		fine = true;
		const finer = await outlines(L, topojson, d.fine);
		finer.addTo(map);
		shown.remove();
		shown = finer;
	};
	map.on("zoomend", refine);
	await refine();
	if (!d.geojson) {
		marker(L, [Number(d.lat), Number(d.lng)], 1, "").addTo(map);
		return;
	}

	const places = L.layerGroup().addTo(map);
	let asked = 0;
	const load = async (everything) => {
		const own = ++asked;
		const url = new URL(d.geojson, location.href);
		url.searchParams.set("zoom", String(everything ? 2 : map.getZoom()));
		if (!everything) {
			const b = map.getBounds();
			const hold = (n, most) => Math.max(-most, Math.min(most, n)).toFixed(5);
			url.searchParams.set("bbox", [hold(b.getWest(), 180), hold(b.getSouth(), 90), hold(b.getEast(), 180), hold(b.getNorth(), 90)].join(","));
		}
		const found = await (await fetch(url)).json();
		if (own !== asked || !found.features) return found;
		places.clearLayers();
		for (const f of found.features) {
			const [lng, lat] = f.geometry.coordinates;
			const p = f.properties;
			const m = marker(L, [lat, lng], p.point_count, p.venue ? p.venue.venue : String(p.point_count));
			m.on("click", () => {
				if (p.expansion_zoom) map.setView([lat, lng], p.expansion_zoom);
				else if (p.venue) location.href = p.venue.url;
			});
			m.addTo(places);
		}
		return found;
	};
	const all = await load(true);
	const points = (all.features ?? []).map((f) => [f.geometry.coordinates[1], f.geometry.coordinates[0]]);
	if (points.length) map.fitBounds(points, { padding: [40, 40], maxZoom: 12 });
	map.on("moveend", () => load(false));
	await load(false);
}
