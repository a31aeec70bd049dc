package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"daybook/internal/testkit/engines"
)

// widths are those of windows from a small telephone to a large screen.
var widths = []int{320, 640, 1024, 1280, 1920}

// TestLayout measures pages of calendars that are hard to lay out: of long texts, of very many
// events, of none.
func TestLayout(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	engines.URL(t, engines.Chromium)
	for _, c := range []struct {
		name   string
		start  func(*testing.T) *looked
		langs  []string
		widths []int
	}{
		{"long texts", longTexts, []string{"", "/cn", "/es", "/fr"}, widths},
		{"3000 events in a week", manyEvents, []string{""}, []int{320, 1280}},
		{"no events", noEvents, []string{""}, []int{320, 1280}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l := c.start(t)
			p := openPage(t, "about:blank")
			p.Watch()
			for _, page := range l.pages() {
				// Of a record that is not there, and without the events of the calendar.
				if !strings.HasPrefix(page.path, "/") || len(c.langs) == 1 && slices.Contains([]string{"docs", "directory", "categories", "not-found", "bad"}, page.name) {
					continue
				}
				for i, lang := range c.langs {
					if i > 0 && page.name != "list" { // the header is the same
						continue
					}
					p.Resize(c.widths[0], 900)
					p.Goto(l.host + lang + page.path)
					drawn(p)
					for _, width := range c.widths {
						where := fmt.Sprintf("%s%s at %d", page.name, strings.ReplaceAll(lang, "/", "-"), width)
						p.Resize(width, 900)
						nothing(t, p, where, sideways)
						nothing(t, p, where, misplaced)
						nothing(t, p, where, beyond)
						if page.name == "list" {
							nothing(t, p, where, crowded)
						}
					}
				}
			}
		})
	}
}

// nothing checks that an expression names nothing.
func nothing(t *testing.T, page *browserPage, where, expression string) {
	t.Helper()
	if got := page.Eval(expression); got != "" {
		t.Errorf("%s: %v", where, got)
	}
}

// misplaced names controls that are cut off or outside the window, and what lies on something else.
const misplaced = `(() => {
	const wrong = [], name = (e) => e.tagName + '.' + e.className + '#' + e.id + ' ' + e.textContent.trim().slice(0, 30);
	const shown = (e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}) && e.getBoundingClientRect().width > 2 && !e.closest('#map, .hidden');
	for (const e of document.querySelectorAll('button, input:not([type=hidden]), select, summary, .button, .pills a, .chip, #views a, .brand, #pager a')) {
		if (!shown(e)) continue;
		const r = e.getBoundingClientRect();
		if (e.scrollWidth > e.clientWidth + 1 && !e.matches('input, select') || e.scrollHeight > e.clientHeight + 2 && e.matches('button, .button, .pills a, .chip, #views a')) wrong.push('cut off: ' + name(e));
		if ((r.left < -1 || r.right > document.documentElement.clientWidth + 1) && !e.closest('#views, .quick')) wrong.push('outside: ' + name(e));
	}
	const flows = (e) => shown(e) && ['static', 'relative'].includes(getComputedStyle(e).position) && !['inline', 'contents'].includes(getComputedStyle(e).display) && !e.matches('.now-line');
	for (const parent of document.querySelectorAll('header .bar, #site-nav, .find, main, main *')) {
		if (parent.closest('#map, table.changes, svg') || parent.children.length < 2) continue;
		const all = [...parent.children].flatMap((e) => getComputedStyle(e).display === 'contents' ? [...e.children] : [e]).filter(flows).slice(0, 400).map((e) => [e, e.getBoundingClientRect()]);
		all.forEach(([a, r], i) => all.slice(i + 1, i + 50).forEach(([b, q]) => {
			if (Math.min(r.right, q.right) - Math.max(r.left, q.left) > 2 && Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top) > 2) wrong.push(name(a) + ' lies on ' + name(b));
		}));
	}
	return wrong.slice(0, 8).join('\n');
})()`

// beyond names menus that reach out of the window when they are open.
const beyond = `[...document.querySelectorAll('details.menu:not([open])')].filter((menu) => {
	if (!menu.checkVisibility()) return false;
	menu.open = true;
	const wrong = [menu, ...menu.querySelectorAll('*')].some((e) => !e.closest('.hidden') && (e.getBoundingClientRect().left < -1 || e.getBoundingClientRect().right > document.documentElement.clientWidth + 1));
	menu.open = false;
	return wrong;
}).map((menu) => menu.textContent.trim().slice(0, 30)).join()`

// crowded says what is wrong with a header whose texts are long: its search is small, its parts
// lie on each other, or the name is cut off.
const crowded = `(() => {
	const field = document.getElementById('q'), button = document.querySelector('#search-form button').getBoundingClientRect();
	if (field.checkVisibility() ? field.offsetWidth < 160 : button.width < 24) return 'the search has ' + field.offsetWidth + ' px';
	const all = [...document.querySelectorAll('.brand, #views, #search-form, .find > details')].map((e) => [e, e.getBoundingClientRect()]);
	for (const [a, r] of all) for (const [b, q] of all) if (a !== b && Math.min(r.right, q.right) - Math.max(r.left, q.left) > 0 && Math.min(r.bottom, q.bottom) - Math.max(r.top, q.top) > 0) return a.className + a.id + ' lies on ' + b.className + b.id;
	const text = document.querySelector('.brand b') ?? document.querySelector('.brand');
	return text.scrollHeight > text.clientHeight + 1 || text.scrollWidth > text.clientWidth + 1 ? 'the name is cut off' : '';
})()`

// manyEvents starts a calendar with 3,000 events in the week of today.
func manyEvents(t *testing.T) *looked {
	t.Helper()
	engines.URL(t, engines.Chromium)
	today := time.Now().UTC().Truncate(24 * time.Hour)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	var lines recordLines
	for i := range 20 {
		lines.add("category", fmt.Sprint("c", i), fmt.Sprintf(`"name":"Category %d"`, i))
		lines.add("venue", fmt.Sprint("v", i), fmt.Sprintf(`"venue":"Hall %d","city":"Town","geo_lat":%f,"geo_lng":%f`, i, 45+float64(i%5)/100, 4+float64(i/5)/100))
	}
	lines.add("organizer", "o", `"organizer":"Club"`)
	for i := range 3000 {
		start := monday.Add(time.Duration(i%(7*24*4)) * 15 * time.Minute)
		length := time.Duration(1+i%9) * 30 * time.Minute
		if i%50 == 0 {
			length = 40 * time.Hour
		}
		lines.add("event", fmt.Sprint("e", i), fmt.Sprintf(`"title":"Event number %d of this week","start_date":%q,"end_date":%q,"venue":{"key":"v%d"},"organizer":{"key":"o"},"categories":[{"key":"c%d"}],"tags":["full"],"cost":"%d €"`,
			i, start.Format(clockLayout), start.Add(length).Format(clockLayout), i%20, i%20, i%40))
	}
	looked := lines.serve(t)
	looked.day = today.Format(time.DateOnly)
	return looked
}

// numbers measures what PAGES P5.2 promises in numbers (13.55).
func (looked *looked) numbers(t *testing.T) {
	t.Helper()
	page := openPage(t, "about:blank")
	page.Watch()

	// Lists are dense. That of today is not at each hour: it begins with what is over.
	dense := ""
	for day := 1; dense == "" && day < 60; day++ {
		of := time.Now().UTC().AddDate(0, 0, day).Format(time.DateOnly)
		if looked.want(200, http.MethodGet, "/events?start_date="+of+"&end_date="+of+"T23:59:59", "", "")["total"].(float64) >= 6 {
			dense = of
		}
	}
	for size, least := range map[[2]int]float64{{1280, 900}: 6, {360, 780}: 4} {
		page.Resize(size[0], size[1])
		page.Goto(looked.host + "/events/?start_date=" + dense)
		if got := page.Eval(`[...document.querySelectorAll('#results article')].filter((e) => e.checkVisibility() && e.getBoundingClientRect().bottom <= innerHeight).length`).(float64); got < least {
			t.Errorf("%v: %v events in the first view, want %v", size, got, least)
		}
	}

	// Titles of the month can be read.
	page.Resize(1280, 900)
	page.Goto(looked.host + "/events/month/" + looked.day[:7] + "/")
	nothing(t, page, "titles", `(() => {
		const wrong = [];
		for (const a of document.querySelectorAll('#month a[data-event-id]:not(.is-carried)')) {
			const box = a.getBoundingClientRect(), walker = document.createTreeWalker(a.querySelector('b'), NodeFilter.SHOW_TEXT), range = document.createRange();
			let all = 0, seen = 0;
			for (let text; (text = walker.nextNode());) for (let i = 0; i < text.data.length; i++, all++) {
				range.setStart(text, i);
				range.setEnd(text, i + 1);
				const r = range.getBoundingClientRect();
				if (r.right <= box.right + 1 && r.bottom <= box.bottom + 1) seen++;
			}
			if (seen < Math.min(all, 14) + (seen < all ? 1 : 0)) wrong.push(seen + ' of ' + a.title); // one for the ellipsis
		}
		return wrong.join('\n') || (document.querySelectorAll('#month a[data-event-id]').length > 10 ? '' : 'no events');
	})()`)

	// The page of an event says when, where, how much and how to get in at once.
	page.Resize(360, 780)
	page.Goto(looked.host + looked.event)
	nothing(t, page, "key facts", `['[data-field=start_date]', '[data-field=venue]', '[data-field=cost]', 'a[data-action]'].filter((s) => {
		const e = document.querySelector('#key-facts ' + s), r = e?.getBoundingClientRect();
		return !(r?.height > 0 && r.bottom <= innerHeight);
	}).join()`)

	// The header is a row of 64 px that stays, below 64 rem two that do not.
	page.Goto(looked.host + "/events/")
	for _, width := range widths {
		page.Resize(width, 900)
		got := page.Eval(`((h) => [getComputedStyle(h).position === 'sticky', getComputedStyle(h).position === 'sticky' ? h.offsetHeight <= 65 : true])(document.getElementById('site-header'))`)
		if want := fmt.Sprint([]any{width >= 1024, true}); fmt.Sprint(got) != want {
			t.Errorf("%d: the header is %v, want %s", width, got, want)
		}
	}
}
