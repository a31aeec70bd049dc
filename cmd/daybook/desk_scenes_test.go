package main

import "fmt"

// deskScenes are the lines of E10 by their numbers, and what E2 to E7 promise besides.
var deskScenes = []scene{
	{name: "1 headers", run: (*desk).headers},
	{name: "2 sign in and out", run: (*desk).signsIn},
	{name: "3 me", run: (*desk).whoAmI},
	{name: "4 an event, by keyboard alone", steps: `
		make trust /organizers {"organizer": "Keys Trust"}
		make choir /organizers {"organizer": "Keys Choir"}
		make category /categories {"name": "Keyboards"}
		as editor
		do one('#main').focus(); location.hash = '#/event/new'
		wait document.body.dataset.desk === 'event' && one('#status')
		do one('#skip').focus()
		to [role=tab][data-lang=en]
		to input[name=title][data-lang=en]
		type By <keys> & more
		to [data-rich][data-lang=en]
		type Typed words
		do one('[role=tab][data-lang=en]').focus()
		keys ArrowRight ArrowRight ArrowRight
		to input[name=title][data-lang=fr]
		type Au clavier
		to [name=start_words]
		type next friday 7pm
		to [name=end_words]
		type next friday 9pm
		to [role=combobox][name=venue]
		type Keys Hall
		wait all('[role=option]').some((e) => e.checkVisibility())
		keys ArrowDown Enter
		is document.activeElement.name + document.activeElement.labels[0].textContent -> venue.venueName required
		to [name="venue.city"]
		type Lyon
		to [role=combobox][name=organizer]
		type Keys Trust
		wait all('[role=option]').some((e) => e.checkVisibility() && e.textContent.includes('Keys Trust'))
		keys ArrowDown Enter
		type Keys Choir
		wait all('[role=option]').some((e) => e.checkVisibility() && e.textContent.includes('Keys Choir'))
		keys ArrowDown Enter
		to [name=categories][value="$category"]
		keys Space
		to [role=combobox][name=tags]
		type keys
		keys Enter
		wait one('[data-chosen=tags] [data-id]')
		to [name=cost]
		type 12 EUR
		wait one('[name=end_date]').value
		name times ['start', 'end'].map((n) => one('[name=' + n + '_date]').value + ' ' + one('[name=' + n + '_time]').value + ':00').join('|')
		to button[type=submit]
		keys Enter
		state saved
		id id
		has /events/$id start_date end_date -> $times
		has /events/$id title description -> By &lt;keys&gt; &amp; more|<p>Typed words</p>
		has /events/$id venue.venue venue.city organizer.# categories.# tags.# cost -> Keys Hall|Lyon|2|1|1|12EUR
		has /fr/events/$id title -> Au clavier
	`},
	{name: "5 faults, in the language of the desk", steps: `
		let said all('[data-error]').filter((e) => e.checkVisibility()).map((e) => e.dataset.error + ': ' + e.textContent).join('; ')
		as editor #/event/new
		form
		press Save
		wait one('[data-error=title]:not([hidden])') && one('[data-error=end_date]:not([hidden])')
		is document.activeElement.name -> title
		set input[name=title][data-lang=fr] = Tard
		set [name=start_words] = 2031-05-05 19:00
		set [name=end_words] = 2031-05-05 18:00
		set [name=website] = nonsense
		press Save
		is $said -> end_date: must not be before start_date; website: must be an absolute http or https URL
		is document.activeElement.name + one('[name=website]').getAttribute('aria-invalid') -> end_datetrue
		set [name=end_words] = 2031-05-05 21:00
		set [name=website] =
		save
		set [name=website] = nonsense
		press Save
		is $said -> website: must be an absolute http or https URL
		set [name=website] =
		set [name=end_words] = 2031-05-05 18:00
		press Save
		is $said -> end_date: The end is before the start.
		set [name=end_words] = 2031-05-05 21:00
		set input[name=title][data-lang=es] = 0
		click [role=tab][data-lang=cn]
		press Save
		is $said -> title: must not be "0"
		is one('[role=tab][aria-selected=true]').dataset.lang + document.activeElement.dataset.lang -> eses
		press Tags
		press Leave
		make tag /tags {"name": "There before"}
		go #/tag/new
		form
		set input[name=name][data-lang=fr] = there before
		press Save
		is one('#message[data-code=term_exists]')?.textContent -> There is one of this name already.
	`},
	{name: "6 two people", steps: `
		event id editor 3 Argued
		as editor
		open #/event/$id
		set [name=cost] = 5 EUR
		http 200 PATCH /events/$id {"website": "https://a.example/"}
		save
		has /events/$id cost website -> 5EUR|https://a.example/
		set input[name=title][data-lang=fr] = Le mien
		set input[name=title][data-lang=es] = El mío
		set [name=cost] = 3 EUR
		http 200 PATCH /events/$id {"website": "https://theirs.example/"}
		http 200 PATCH /fr/events/$id {"title": "Le leur"}
		press Save
		wait one('[data-dialog=conflict]')
		is all('[data-conflict]').map((e) => e.dataset.conflict + e.dataset.lang + [...e.querySelectorAll('label')].map((l) => l.textContent)).join() -> titlefrKeep mine,Take theirs
		is /the-|administrator|Somebody|admin/i.test(one('[data-dialog=conflict] .said').textContent) -> true
		press Back to the form
		state dirty
		press Save
		wait one('[data-dialog=conflict]')
		do all('[data-dialog] label').find((e) => e.textContent === 'Take theirs').click()
		press Save
		state saved
		has /fr/events/$id title -> Le leur
		has /es/events/$id title cost website -> El mío|3EUR|https://theirs.example/
		let long longlonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglonglong
		size 320 400
		set [name=cost] = 6 EUR
		set [name=website] = https://mine.example/$long
		http 200 PATCH /events/$id {"cost": "7 EUR", "website": "https://theirs.example/$long"}
		press Save
		wait one('[data-dialog=conflict] [data-conflict=cost]')
		is ((e) => [e.scrollHeight > e.clientHeight, e.scrollTop, e.scrollWidth <= e.clientWidth, document.activeElement.tagName].join())(one('[data-dialog=conflict]')) -> true,0,true,H2
		do all('[data-dialog] label').filter((e) => e.textContent === 'Take theirs').forEach((e) => e.click())
		press Save
		state saved
		set [name=cost] = 4 EUR
		http 200 DELETE /events/$id
		press Save
		wait one('[data-dialog=conflict]').textContent.includes('in the trash')
		press Restore
		state saved
		has /events/$id status cost -> publish|4EUR
	`},
	{name: "7 a write is carried out once", steps: `
		as editor #/event/new
		new Retried once
		tap
		do answers.push([503, 1], [429, 1], [504], 'lost')
		press Save
		state retrying
		wait /^Saving … trying again in \d+ s$/.test(one('#status').textContent)
		state saved
		is sent[0].key !== '' && new Set(sent.map((w) => w.key)).size -> 1
		name address location.hash
		set [name=cost] = 3 EUR
		do sent.length = 0; answers.push('lost', [503, 60])
		press Save
		wait sent.length === 2
		state retrying
		press Events
		press Leave
		wait document.body.dataset.desk === 'events'
		go $address
		wait one('[data-dialog=unsaved]')
		press Restore
		save
		is sent.length === 3 && sent[0].key === sent[2].key && sent[0].body === sent[2].body -> true
		go #/events
		wait document.body.dataset.desk === 'events'
		go #/event/new
		new Cut off
		do sent.length = 0; answers.push('lost', [503, 60])
		press Save
		wait sent.length === 2
		state retrying
		do window.onbeforeunload = null; sessionStorage.clear()
		reload
		wait document.body.dataset.desk === 'signin'
		set [name=name] = the-editor
		set [name=token] = $editor
		press Sign in
		wait one('[data-dialog=unsaved]')
		press Restore
		save
		has /events?search=retried total -> 1
		has /events?search=cut total -> 1
	`},
	{name: "8 kept text", steps: `
		user typist editor
		event id typist 4 Kept
		let kept Object.keys(localStorage).filter((k) => k.startsWith("daybook-desk-draft")).length
		as typist
		open #/event/$id
		set [name=cost] = 8 EUR
		set [name=password] = never-in-storage
		is $kept -> 1
		call first
		also typist
		open #/event/$id
		set [name=website] = https://b.example/
		call second
		is $kept -> 2
		is all('[data-dialog]').length -> 0
		use first
		is JSON.stringify({...localStorage, ...sessionStorage}).includes('never-in-storage') -> false
		reload
		wait one('[data-dialog=unsaved] h2')?.textContent.startsWith('Unsaved changes from ')
		press Restore
		is one('[name=cost]').value -> 8 EUR
		save
		is $kept -> 1
		use second
		reload
		wait one('[data-dialog=unsaved]')
		press Discard
		is $kept + all('[data-dialog]').length -> 0
		is one('[name=website]').value ->
		set [name=website] = https://c.example/
		token token typist
		press Save
		wait document.body.dataset.desk === 'signin'
		set [name=token] = $token
		press Sign in
		wait location.hash === '#/event/$id' && one('[name=website]')?.value === 'https://c.example/'
		save
		has /events/$id cost website -> 8EUR|https://c.example/
	`},
	{name: "9 review", steps: `
		as contributor #/event/new
		form
		is [...one('select[name=status]').options].map((o) => o.value).join() -> draft,pending,private
		is all('[name=image]').length -> 0
		new To be reviewed
		set select[name=status] = pending
		save
		is all('button').filter((b) => b.checkVisibility() && b.textContent.includes('Publish')).length -> 0
		id id
		as editor #/events?tab=pending
		click tr[data-id="$id"] a
		wait location.hash === '#/event/$id' && one('#status')
		press Publish and next
		wait location.hash.startsWith('#/events?tab=pending')
		has /events/$id status -> publish
	`},
	{name: "10 trash and undo", steps: `
		event id author 20 Heap 0
		event id author 21 Heap 1
		event id author 22 Heap 2
		event id author 23 Heap 3
		event id author 24 Heap 4
		event id author 25 Heap 5
		event id author 26 Heap 6
		event id author 27 Heap 7
		event id author 28 Heap 8
		event id author 29 Heap 9
		event other editor 29 Heap of somebody else
		as author #/events?mine=1&q=heap
		later
		wait performance.getEntriesByType('resource').some((e) => e.name.includes('search=heap'))
		wait all('tr[data-id] [name=select]').length === 10
		is all('tr[data-id="$other"]').length -> 0
		do all('[name=select]').forEach((e) => e.click())
		press Trash
		wait all('[data-result=ok]').length === 10 && one('.toast button')
		press Undo
		wait all('tr[data-id] .status').filter((e) => e.textContent === 'Published').length === 10
		wait one('[role=tab][data-tab=trash]').dataset.count === '0'
		has /events?search=heap total -> 11
	`},
	{name: "11 restore a version", steps: `
		event id editor 5 Versions
		http 200 PATCH /events/$id {"cost": "2 EUR"}
		http 200 PATCH /events/$id {"cost": "3 EUR"}
		http 200 PATCH /events/$id {"cost": "4 EUR"}
		http 200 PATCH /events/$id {"cost": "5 EUR"}
		as editor #/event/$id/history
		wait all('li[data-version]').length === 5
		do all('li[data-version="2"] button').find((b) => b.textContent.includes('Restore this version')).click()
		wait one('[data-dialog=restore] table')
		click [data-dialog=restore] .primary
		wait one('li[data-version="6"] .reason')?.textContent.includes('restored version 2')
		has /events/$id cost -> 2EUR
	`},
	{name: "12 preview", steps: `
		event id editor 6 Only a draft {"status": "draft"}
		as editor #/event/$id
		form
		press Preview
		wait one('#preview').contentDocument?.querySelector('h1')?.textContent.includes('Only a draft')
		is one('#preview').contentDocument.styleSheets.length > 0 -> true
		is getComputedStyle(one('#preview')).padding -> 0px
		is one('#preview').contentDocument.scripts.length -> 0
		do fetch('/?event=$id').then((r) => { window.found = r.status })
		is window.found -> 404
	`},
	{name: "12 password", steps: `
		as editor #/event/new
		new Secret
		tap
		set [name=password] = pass words
		save
		is sent.length === 1 && sent[0].body.includes('"password":"pass words"') -> true
		id id
		public 403 /events/$id
		set [name=cost] = 1 EUR
		save
		public 403 /events/$id
		do one('details.extra').open = true
		press Remove password
		save
		public 200 /events/$id
	`},
	{name: "13 markup", steps: `
		event id editor 7 &lt;img src=x onerror=alert(1)&gt; {"description": "<p>a</p><script>alert(2)</script><img src=\"https://x.example/y\" onerror=\"alert(3)\">"}
		as editor #/event/$id
		form
		is one('h1').textContent -> <img src=x onerror=alert(1)>
		go #/event/$id/history
		wait one('li[data-version]')
		is all('main img, main script').length -> 0
	`},
	{name: "14 accessibility", run: (*desk).accessible},
	{name: "14 labels", run: (*desk).labels},
	{name: "15 reload and back", steps: `
		event id editor 9 Jazz by night
		as editor
		set [name=q] = jazz
		wait location.hash === '#/events?q=jazz' && all('tr[data-id]').length === 1
		click [data-tab=drafts]
		wait one('[data-tab=drafts]').getAttribute('aria-selected') === 'true'
		reload
		wait one('[data-tab=drafts]')?.getAttribute('aria-selected') === 'true' && one('[name=q]').value === 'jazz'
		do history.back()
		wait one('[data-tab=upcoming]')?.getAttribute('aria-selected') === 'true' && one('[name=q]').value === 'jazz'
	`},
	{name: "16 auditor", steps: `
		event id editor 10 Looked at {"status": "private"}
		as auditor #/events?tab=private
		wait one('tr[data-id="$id"]')
		is $writing -> 0
		go #/event/$id
		wait one('main dl')
		is $writing -> 0
		press History
		wait one('li[data-version]')
		is $writing -> 0
	`},
	{name: "sign out with texts (E2.3)", steps: `
		as editor
		do localStorage.setItem('daybook-desk-draft:99:event:5', '{"time": 1, "values": {"cost": "1"}}')
		click details.menu summary
		press Sign out
		wait one('[data-dialog=unsaved]')
		keys Escape
		wait !one('dialog')
		is document.body.dataset.desk -> events
		click details.menu summary
		press Sign out
		click [data-dialog=unsaved] button:not(.primary)
		wait document.body.dataset.desk === 'signin'
		is Object.keys(localStorage).concat(Object.keys(sessionStorage)).filter((k) => k.startsWith('daybook-desk')).join() ->
		set [name=name] = somebody
		set [name=lang] = fr
		wait document.documentElement.lang === 'fr'
		is one('[name=name]').value -> somebody
		set [name=token] = wrong
		press Se connecter
		wait one('[data-error=name]').textContent.includes('utilisateur')
	`},
	{name: "sign in again (E2.3)", steps: `
		user comer editor
		event id comer 11 Come back
		http 200 PATCH /events/$id {"cost": "2 EUR"}
		as comer #/event/$id/history
		click [data-version="1"] button:not(.quiet)
		wait one('[data-dialog=restore] table')
		token token comer
		click [data-dialog=restore] .primary
		wait document.body.dataset.desk === 'signin'
		is one('dialog') -> null
		is one('[name=name]').value -> the-comer
		set [name=token] = $token
		press Sign in
		wait document.body.dataset.desk === 'history' && one('[data-version="2"]')
		is document.activeElement.id -> main
		token token comer
		press Compare
		wait document.body.dataset.desk === 'signin'
		set [name=name] = the-editor
		set [name=token] = $editor
		press Sign in
		wait document.body.dataset.desk === 'history' && one('#who').textContent.includes('the-editor')
	`},
	{name: "publish and undo (E3.5)", steps: `
		event first author 30 Rack 0 {"status": "draft"}
		event second author 31 Rack 1 {"status": "draft"}
		event third author 32 Rack 2 {"status": "draft"}
		as author #/events?tab=drafts&q=rack
		later
		wait all('tr[data-id] [name=select]').length === 3
		click thead input
		press Publish
		wait all('[data-result=ok]').length === 3 && one('.toast button')
		http 200 PATCH /events/$second {"cost": "2 EUR"}
		press Undo
		wait one('tr[data-id="$second"] [data-result=rest_precondition_failed]').textContent.includes('left as it is') && all('[data-result=ok]').length === 2 && all('.c-status .good').length === 1
		has /events/$first status -> draft
		has /events/$second status -> publish
		has /events/$third status -> draft
		is document.body !== document.activeElement -> true
	`},
	{name: "trash of a contributor (E3.7)", steps: `
		user beginner contributor
		event public beginner 12 Was public {"status": "draft"}
		http 200 PATCH /events/$public {"status": "publish"}
		http 200 DELETE /events/$public
		event own beginner 12 Was a draft {"status": "draft"}
		http 200 DELETE /events/$own
		as beginner #/events?tab=trash
		wait all('tr[data-id]').length === 2
		is all('tr[data-id]:has(button)').map((e) => e.dataset.id).join() -> $own
		is all('tr[data-id] a[href$=history]').length -> 2
		click tr[data-id="$own"] button
		wait one('tr[data-id="$own"] [data-result=ok]')
		is document.body !== document.activeElement -> true
		has /events/$own status -> draft
	`},
	{name: "load more (E3.3)", run: (*desk).pile, steps: `
		event hidden author 40 Behind {"hide_from_listings": true}
		as author #/events?q=pile
		wait all('tr[data-id]').length === 50 && all('tbody th').every((e) => e.textContent.startsWith('Pile'))
		do window.more = all('button').find((b) => b.checkVisibility() && b.textContent === 'Load more'); more.focus(); more.click()
		wait all('tr[data-id]').length === 52
		is document.activeElement.closest('tr').rowIndex -> 51
		set [name=q] = $hidden
		wait one('[data-note=q] a')?.hash === '#/event/$hidden'
		is all('tr[data-id]').length -> 0
	`},
	{name: "load more of a list that changes (E3.3, E7)", run: (*desk).loadsMoreOfOthers},
	{name: "restore all (E6.2)", steps: `
		make category /categories {"name": "Gone for good"}
		event id editor 13 &lt;b&gt; Tea &amp; talk {"categories": $category, "cost": "5 EUR", "status": "draft"}
		http 200 PATCH /events/$id {"title": "Plain", "categories": "", "cost": "", "featured": true, "event_status": "cancelled", "timezone": "Europe/Rome", "status": "publish"}
		http 200 PATCH /fr/events/$id {"title": "Simple", "description": "Un texte"}
		http 200 DELETE /categories/$category
		as editor
		zone Asia/Tokyo
		go #/event/$id/history
		wait one('[data-version="2"]')
		is one('time').textContent === new Intl.DateTimeFormat('en', { timeZone: 'Europe/Berlin', weekday: 'short', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' }).format(new Date(one('time').dateTime)) -> true
		click [data-version="2"] [name=from]
		click [data-version="1"] [name=to]
		size 1280 400
		do one('[data-version="1"]').scrollIntoView()
		press Compare
		wait one('#diff [data-field=cost] ins').textContent.includes('5 EUR')
		is one('#diff h2').getBoundingClientRect().top >= one('.compare-bar').getBoundingClientRect().bottom -> true
		is one('[data-version="2"] a[href*="as_of"]').textContent -> As it was
		do all('[data-version="1"] button').find((b) => b.textContent === 'As it was').click()
		wait one('#preview').contentDocument?.querySelector('h1')?.textContent.includes('<b> Tea & talk')
		click [data-version="1"] button:not(.quiet)
		wait one('[data-dialog=restore]').textContent.includes('Gone for good')
		click [data-dialog=restore] .primary
		wait one('[data-version="5"] .reason') && one('[data-version="4"] .reason').textContent.includes('restored version 1')
		has /events/$id title featured event_status timezone cost status categories.# -> &lt;b&gt; Tea &amp; talk|false|scheduled|Europe/Berlin|5EUR|publish|0
		has /fr/events/$id title languages -> Simple|[en fr]
	`},
	{name: "texts of four languages (E4.4)", steps: `
		as editor #/event/new
		form
		tap
		set input[name=title][data-lang=fr] = Fête
		set input[name=title][data-lang=es] = Fiesta
		set textarea[name=description][data-lang=fr] = <p>Chez nous</p>
		set textarea[name=description][data-lang=en] = <p>At home</p>
		set [name=start_words] = 2031-05-05 19:00
		set [name=end_words] = 2031-05-05 21:00
		is one('input[name=title][data-lang=cn]').placeholder -> Fête
		save
		is sent.splice(0).map((w) => w.method + w.path.split('/api')[0] + (w.match ?? '').slice(0, 2)).join() -> POST/fr,PATCH"1,PATCH/es"2
		id id
		has /fr/events/$id title languages -> Fête|[fr en es]
		is all('[role=tab][data-lang]').map((e) => e.dataset.lang + e.querySelectorAll('.has').length).join() -> en1,cn0,es1,fr1
		set textarea[name=description][data-lang=en] =
		save
		is sent.splice(0).map((w) => w.body).join() -> {"description":""}
		has /fr/events/$id languages -> [fr es]
		set input[name=title][data-lang=es] =
		press Save
		wait one('[data-error=title][data-lang=es]').checkVisibility()
		is document.activeElement.dataset.lang -> es
	`},
	{name: "rich text (E4.5)", steps: `
		let source one("textarea[name=description][data-lang=en]").value
		as editor #/event/new
		new Formats
		paste <html><head><style>p { color: red }</style></head><body><!--StartFragment--><b style="font-weight:normal;" id="docs"><h2 class="x">Head</h2><p class=MsoNormal style="color:red">One <a href="https://a.example/" onclick="x()">link</a><o:p></o:p></p><ul><li>a</li><li>b</li></ul><table border=1><tbody><tr><td style="x">1</td></tr></tbody></table></b><script>alert(1)</script><!--EndFragment--></body></html>
		wait ['<h2>Head</h2>', '<a href="https://a.example/">link</a>', '<li>a</li>', '<td>1</td>'].every((part) => $source.includes(part))
		is /<b>|style|script|alert/.test($source) -> false
		press Undo
		is $source ->
		do one('[data-rich][data-lang=en]').focus()
		type plain words
		is $source -> <p>plain words</p>
		do getSelection().selectAllChildren(one('[data-rich][data-lang=en] p'))
		press Bold
		is $source -> <p><b>plain words</b></p>
		press Italic
		press Heading
		is $source -> <h3><b><i>plain words</i></b></h3>
		press Heading
		press List
		is $source -> <ul><li><b><i>plain words</i></b></li></ul>
		chord b
		is $source -> <ul><li><i>plain words</i></li></ul>
		chord k
		wait document.activeElement.name === 'prompt'
		type a.example/
		keys Enter
		is $source -> <ul><li><i><a href="https://a.example/">plain words</a></i></li></ul>
		chord z
		is $source -> <ul><li><i>plain words</i></li></ul>
		press HTML
		is one('textarea[name=description][data-lang=en]').checkVisibility() && !one('[data-rich][data-lang=en]').checkVisibility() -> true
		set textarea[name=description][data-lang=en] = <section>one</section><p>two <blink>three</blink></p><script>four</script>
		do one('textarea[name=description][data-lang=en]').setSelectionRange(9, 12)
		press Bold
		is $source -> <section><b>one</b></section><p>two <blink>three</blink></p><script>four</script>
		type typed
		is $source.includes('typed') -> true
		press Undo
		is $source.includes('typed') -> false
		save
		is one('[data-note=description]').textContent -> Cleaning removed 3 elements that the calendar does not keep.
		id id
		name cleaned $source
		has /events/$id description -> $cleaned
		press HTML
		save
	`},
	{name: "odd HTML stays (E4.5)", steps: `
		let source one("textarea[name=description][data-lang=en]").value
		let field one("[data-rich][data-lang=en]")
		event id editor 5 Odd {"description": "<div>A<p>b <abbr title=\"t\">c</abbr> <b></b><strong>d</strong> <em>e</em></p></div><dl><dt>f</dt><dd>g</dd></dl><figure><img src=\"https://i.example/x.png\" alt=\"h\"><figcaption>i</figcaption></figure><table><tr><th colspan=\"2\">j</th></tr></table><ol><li>k<ul><li>l</li></ul></li></ol><blockquote cite=\"https://q.example/\"><h5 lang=\"fr\" dir=\"ltr\">m</h5></blockquote><pre>n\n  o</pre><p>last</p>", "excerpt": "1 &lt; 2 &amp; a&lt;b", "cost": "10.50", "website": "https://a.example/?a=1&b=2"}
		as editor
		open #/event/$id
		tap
		do $field.focus()
		press HTML
		press HTML
		do getSelection().collapse(one('[data-rich][data-lang=en] li').firstChild, 0)
		keys Tab
		is Boolean(document.activeElement.closest('[data-rich]')) -> false
		save
		is sent.length -> 0
		do window.before = $field.innerHTML; $field.focus(); getSelection().collapse($field.lastElementChild.firstChild, 4)
		type !
		is $source === before.replace('last', 'last!') -> true
		save
		is sent.length === 1 && !sent[0].body.includes('excerpt') -> true
	`},
	{name: "start and end (E4.2)", steps: `
		let clocks ["start_date", "start_time", "end_date", "end_time"].map((n) => one("[name=" + n + "]").value).join(" ")
		as editor
		zone America/New_York
		go #/event/new
		new Times
		set [name=start_words] = 2031-05-05 7pm
		set [name=end_words] = 2031-05-05 21:30
		is $clocks -> 2031-05-05 19:00 2031-05-05 21:30
		set [name=start_words] = December 31 2031 11pm
		is $clocks -> 2031-12-31 23:00 2032-01-01 01:30
		set [name=start_date] = 2031-12-30
		is $clocks -> 2031-12-30 23:00 2031-12-31 01:30
		set [name=start_time] = 10:15
		is $clocks -> 2031-12-30 10:15 2031-12-30 12:45
		set [name=end_time] = 13:00
		is $clocks -> 2031-12-30 10:15 2031-12-30 13:00
		set [name=start_words] = 2031-03-30 2:30am
		is $clocks -> 2031-03-30 03:30 2031-03-30 06:15
		set [name=end_words] = 2031-03-30T04:00:00Z
		is $clocks -> 2031-03-30 03:30 2031-03-30 06:00
		is one('[data-note=end_words]').textContent.includes('Mar 30, 2031') -> true
		is one('[data-note=start_date]').textContent.replace(/\s/g, ' ') -> In your time zone: Sat, Mar 29, 2031, 9:30 PM (America/New_York)
		set [name=end_words] = 2031-03-30T04:00:00Z
		set [name=timezone] = America/New_York
		is $clocks -> 2031-03-30 02:30 2031-03-30 00:00
		is one('[data-note=start_date]').checkVisibility() -> false
		set [name=start_words] = whenever
		press Save
		wait one('[data-error=start_date]').checkVisibility()
		set [name=start_words] = 2031-05-05 10:00
		click [name=all_day]
		is one('[name=start_time]').checkVisibility() -> false
		set [name=start_date] = 2031-05-07
		save
		id id
		has /events/$id start_date end_date timezone -> 2031-05-07 00:00:00|2031-05-07 23:59:59|America/New_York
	`},
	{name: "links (E4.3)", steps: `
		make kept /venues {"venue": "Kept Hall"}
		make gone /venues {"venue": "Gone Hall"}
		make music /categories {"name": "Music"}
		make jazz /categories {"name": "Jazz", "parent": $music}
		make known /tags {"name": "known"}
		event id author 3 Linked {"venue": ["$kept", "$gone"]}
		http 200 DELETE /venues/$gone
		as author
		open #/event/$id
		choose venue | Brand new place | New venue
		is one('[name="venue.venue"]').value -> Brand new place
		set [name="venue.venue"] = KEPT hall
		is one('[data-note=venue]').textContent.includes('KEPT hall') -> true
		set [name="venue.venue"] = Brand new place
		is one('[data-note=venue]').textContent ->
		is one('[name=categories][value="$jazz"]').closest('ul').closest('li').querySelector('[name=categories]').value -> $music
		click [name=categories][value="$jazz"]
		choose tags | known | known
		do one('[role=combobox][name=tags]').focus()
		type unheard of
		keys Enter
		is one('[data-note=tags]').textContent -> There is no tag “unheard of”.
		set [role=combobox][name=organizer] = half typed
		press Save
		wait one('[data-error=organizer]').textContent.includes('half typed')
		set [role=combobox][name=organizer] =
		save
		http 200 PATCH /venues/$gone {}
		has /events/$id venues.venue tags.# categories.# -> Brand new place, Gone Hall, Kept Hall|1|1
	`},
	{name: "refusals (E5.2)", steps: `
		event id editor 3 Refused
		as editor
		open #/event/$id
		tap
		set [name=cost] = 9 EUR
` + refusals(403, 404, 410, 413, 422) + `
		is one('[name=cost]').value -> 9 EUR
		set [name=slug] = !!!
		set [name=cost] =
		do one('details.extra').open = false
		press Save
		wait one('[data-error=slug]').checkVisibility()
		is document.activeElement.name -> slug
		set [name=slug] = Another Slug
		save
		is one('[name=slug]').value -> another-slug
	`},
	{name: "statuses (E4.1)", steps: `
		as author #/event/new
		new Scheduled
		set select[name=status] = future
		press Save
		wait one('[data-error=date]').checkVisibility()
		is document.activeElement.name -> date
		set [name=date] = 2031-01-02T08:30
		save
		id id
		has /events/$id status date -> future|2031-01-02 08:30:00
		set select[name=event_status] = cancelled
		set [name=event_status_reason] = Rain & storm
		save
		has /events/$id event_status event_status_reason -> cancelled|Rain &amp; storm
	`},
	{name: "duplicate and leave (E4.7, E4.8)", steps: `
		event id editor 3 Twice {"cost": "5 EUR", "tags": ["again"], "featured": true, "description": "<p>same</p>"}
		as editor
		open #/event/$id
		press Duplicate
		wait location.hash === '#/event/new' && one('#status')
		is ['input[name=title]', '[name=cost]', '[name=start_date]', '[name=slug]', '[name=password]'].map((s) => one(s).value).join() -> Twice,5EUR,,,
		is one('[name=featured]').checked && all('[data-chosen=tags] [data-id]').length === 1 -> true
		click #views a[href="#/venues"]
		wait one('[data-dialog=leave]')
		keys Escape
		is location.hash + all('[data-dialog]').length -> #/event/new0
		is !window.dispatchEvent(new Event('beforeunload', { cancelable: true })) -> true
		set [name=start_words] = 2031-05-05 19:00
		set [name=end_words] = 2031-05-05 21:00
		save
		is !window.dispatchEvent(new Event('beforeunload', { cancelable: true })) -> false
		id copy
		has /events/$copy title description featured -> Twice|<p>same</p>|true
		is '$copy' !== '$id' -> true
	`},
	{name: "other records (E7)", run: (*desk).otherRecords},
}

// refusals are steps that save against each of some answers.
func refusals(statuses ...int) (steps string) {
	for _, status := range statuses {
		steps += fmt.Sprintf(`
		do answers.push([%d]); one('#message').hidden = true
		press Save
		wait one('#message[data-code=some_code]').checkVisibility() && one('#message').textContent === 'Some words.'
		state failed`, status)
	}
	return steps
}
