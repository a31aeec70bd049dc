export function daybookClient(root, fixed = {}) {
  const known = {}; // facet → value → label, each label for one value
  const plain = (s) => s.replace(/&lt;/g, '<').replace(/&gt;/g, '>').replace(/&quot;/g, '"').replace(/&amp;/g, '&');
  const marks = (s) => plain(s.replace(/<mark>/g, '__ais-highlight__').replace(/<\/mark>/g, '__/ais-highlight__'));
  const map = (object, f) => Object.fromEntries(Object.entries(object || {}).map(([k, v]) => [k, f(v, k)]));
  const ask = ({ params: p = {} }) => {
    const s = { ...fixed, page: (p.page || 0) + 1, per_page: p.hitsPerPage || 1, facet_limit: Math.min(p.maxValuesPerFacet || 20, 100) };
    if (p.query) Object.assign(s, { search: p.query, typos: 'auto', highlight: true, sort: 'relevance' });
    const facets = [].concat(p.facets || []).filter((f) => f !== '*');
    if (facets.length) s.facets = facets;
    for (const f of [].concat(p.facetFilters || []).flat()) {
      const [, name, label] = /^(\w+):([^]*)$/.exec(f);
      const [value] = Object.entries(known[name] || {}).find(([, l]) => l === label) || [label];
      s[name] = [...(s[name] || []), value];
    }
    return s;
  };
  // Of values with one name, as two venues “Town Hall”, the label holds the value too.
  const facet = (f, name) => {
    const labels = known[name] ||= {};
    const taken = (v) => f.values.some((w) => w.value !== v.value && w.label === v.label) || Object.values(labels).includes(v.label);
    return Object.fromEntries(f.values.map((v) => [labels[v.value] ??= taken(v) ? `${v.label} (${v.value})` : v.label, v.count]));
  };
  const hit = (e) => ({ ...e, objectID: String(e.id), title: plain(e.title),
    _highlightResult: map(e.highlight, (v) => ({ value: marks(v), matchLevel: 'full', matchedWords: [] })) });
  const give = (r, { params: p = {} }) => ({ hits: p.hitsPerPage === 0 ? [] : r.events.map(hit), facets: map(r.facets, facet),
    nbHits: r.total, page: p.page || 0, nbPages: r.total_pages, hitsPerPage: p.hitsPerPage || 1, query: p.query || '', params: '',
    processingTimeMS: 1, exhaustiveNbHits: true, exhaustiveFacetsCount: true });
  return { search: async (requests) => {
    const body = JSON.stringify({ searches: requests.map(ask) });
    const answer = await (await fetch(root + '/events/search', { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body })).json();
    if (!answer.results) throw new Error(answer.message);
    return { results: answer.results.map((r, i) => give(r, requests[i])) };
  } };
}
