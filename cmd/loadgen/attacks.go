package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// attack is what one hostile client machine does to the service.
type attack struct {
	name        string
	connections int // at once
	rate        int // requests begun a second at most; of raw connections, connections
	drive       func(ctx context.Context, a *assault)
	// asks, when set, returns the path that a further reader asks for in its turn: what the
	// attack is aimed at.
	asks func(p *prey, turn int) string
}

// attacks are the rows of hostile. Their rates are more than the service should
// work for, and less than what would only measure the attacker, who shares the
// processors with it.
var attacks = []attack{
	{name: "idle connections", connections: 4000, rate: 1000, drive: idle},
	{name: "slow readers", connections: 1200, rate: 500, drive: slowReaders},
	{name: "slow headers and bodies", connections: 1200, rate: 500, drive: slowSenders},
	{name: "waits for a position", connections: 1200, rate: 2000, drive: waits},
	{name: "wrong passwords of an event", connections: 256, rate: 1000, drive: wrongPasswords},
	{name: "wrong credentials", connections: 256, rate: 4000, drive: wrongCredentials},
	{name: "preflights of many names", connections: 32, rate: 100, drive: preflights},
	{name: "documentation for fresh hosts", connections: 64, rate: 500, drive: documentation},
	{name: "lists of 1,000 ids, of empty ones", connections: 64, rate: 400, drive: includes},
	{name: "lists with another window each", connections: 256, rate: 4000, drive: windows},
	{name: "searches, up to 495 characters", connections: 64, rate: 200, drive: searches},
	{name: "large answers", connections: 16, rate: 20, drive: largeAnswers},
	{name: "lists and texts to be compressed", connections: 256, rate: 1000, drive: toCompress},
	{name: "pages of changes", connections: 256, rate: 400, drive: pagesOfChanges},
	{name: "streams of changes", connections: 1000, rate: 1000, drive: streamsOfChanges},
	{name: "slow readers of feeds", connections: 64, rate: 200, drive: slowFeeds, asks: feeds},
	{name: "lists of the past, left at once", connections: 200, rate: 400, drive: leftPast, asks: listsThen},
}

// prey is what an attacker knows of the service.
type prey struct {
	Root      string  // API root
	Host      string  // scheme and host
	Events    []int64 // listed ones
	Large     []int64 // those with large venues
	Protected int64   // one with a password
	User      string  // one that is known; the attacker has no token
	Head      int64   // position of a list
}

// assault is an attack under way.
type assault struct {
	prey
	connections int
	from        net.Addr // of the attacker; nil: any
	tokens      chan struct{}

	mu  sync.Mutex
	got map[string]int // statuses, and what became of connections
}

// What becomes of a connection or request without a status.
const (
	gotHeld    = "held to the end"
	gotClosed  = "closed"
	gotRefused = "no connection"
)

// attackerAddress is another address of this machine than that of the reader and
// the writer, so that what the service allows one address is the attacker's alone.
const attackerAddress = "127.0.0.2"

// runAttack is the process of an attacker: it attacks for a time and prints what it
// got as JSON.
func runAttack(ctx context.Context, args []string, out, errw io.Writer) error {
	fs := flag.NewFlagSet("loadgen attack", flag.ContinueOnError)
	fs.SetOutput(errw)
	name := fs.String("name", "", "one of the attacks")
	span := fs.Duration("for", 0, "time of the attack")
	known := fs.String("prey", "", "JSON of what the attacker knows")
	if err := fs.Parse(args); err != nil {
		return err
	}
	var p prey
	if err := json.Unmarshal([]byte(*known), &p); err != nil {
		return fmt.Errorf("-prey: %w", err)
	}
	for _, at := range attacks {
		if at.name == *name {
			return json.NewEncoder(out).Encode(at.run(ctx, p, *span))
		}
	}
	return fmt.Errorf("-name: no attack %q", *name)
}

// run attacks for a time and gives what came back, and how often.
func (at attack) run(ctx context.Context, p prey, span time.Duration) map[string]int {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	a := &assault{prey: p, connections: at.connections, got: map[string]int{}}
	a.tokens = make(chan struct{}, max(1, at.rate/100))
	if runtime.GOOS == "linux" { // where all of 127.0.0.0/8 is the machine's own
		a.from = &net.TCPAddr{IP: net.ParseIP(attackerAddress)}
	}
	var wg sync.WaitGroup
	wg.Go(func() { a.pace(ctx, at.rate) })
	at.drive(ctx, a)
	cancel()
	wg.Wait()
	return a.got
}

// pace hands out the right to begin, evenly over each second; what nobody takes at
// its time is lost.
func (a *assault) pace(ctx context.Context, rate int) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	begin, given := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			for due := int(now.Sub(begin).Seconds() * float64(rate)); given < due; given++ {
				select {
				case a.tokens <- struct{}{}:
				default:
				}
			}
		}
	}
}

// turn waits for the right to begin; false at the end.
func (a *assault) turn(ctx context.Context) bool {
	select {
	case <-ctx.Done():
	case <-a.tokens:
	}
	return ctx.Err() == nil
}

func (a *assault) count(what string) {
	a.mu.Lock()
	a.got[what]++
	a.mu.Unlock()
}

// each runs one worker for every connection.
func (a *assault) each(work func(worker int)) {
	var wg sync.WaitGroup
	for worker := range a.connections {
		wg.Go(func() { work(worker) })
	}
	wg.Wait()
}

// flood sends requests over all connections, each when the one before it is
// answered. seen, when set, is shown each answer.
func (a *assault) flood(ctx context.Context, next func(worker, turn int) *http.Request, seen func(*http.Response)) {
	t := &http.Transport{
		DialContext:     (&net.Dialer{LocalAddr: a.from}).DialContext,
		MaxConnsPerHost: a.connections, MaxIdleConnsPerHost: a.connections, DisableCompression: true,
	}
	defer t.CloseIdleConnections()
	c := &http.Client{Transport: t}
	a.each(func(worker int) {
		for turn := 0; a.turn(ctx); turn++ {
			resp, err := c.Do(next(worker, turn))
			if err != nil {
				a.count(outcome(ctx, err))
				continue
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			a.count(strconv.Itoa(resp.StatusCode))
			if seen != nil {
				seen(resp)
			}
		}
	})
}

// outcome names what came in place of an answer.
func outcome(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return gotHeld
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return gotRefused
	}
	return gotClosed
}

// get makes a request of the attacker; the parts of the URL are its own.
func get(ctx context.Context, url string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		panic(err) // the URL is one of this file
	}
	return r
}

// hold keeps all connections open: work uses one until it fails, the service ends
// it, or the attack is over, and gives what it got; "" for what has no name.
func (a *assault) hold(ctx context.Context, work func(conn net.Conn, worker int) string) {
	address := strings.TrimPrefix(a.Host, "http://")
	dialer := &net.Dialer{LocalAddr: a.from}
	a.each(func(worker int) {
		for a.turn(ctx) {
			conn, err := dialer.DialContext(ctx, "tcp", address)
			if err != nil {
				a.count(outcome(ctx, err))
				continue
			}
			stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
			got := work(conn, worker)
			switch {
			case got != "":
			case ctx.Err() != nil:
				got = gotHeld
			default:
				got = gotClosed
			}
			a.count(got)
			stop()
			_ = conn.Close()
		}
	})
}

// answered reads until the connection ends and gives the last status, "" for none.
func answered(conn net.Conn) string {
	r := bufio.NewReader(conn)
	status := ""
	for {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return status
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		status = strconv.Itoa(resp.StatusCode)
	}
}

// idle holds connections: one half says nothing, the other asked once.
func idle(ctx context.Context, a *assault) {
	a.hold(ctx, func(conn net.Conn, worker int) string {
		if worker%2 == 0 {
			if _, err := conn.Write([]byte("GET " + a.path() + "/tags?per_page=1 HTTP/1.1\r\nHost: idle\r\n\r\n")); err != nil {
				return ""
			}
		}
		_, _ = io.Copy(io.Discard, conn)
		return ""
	})
}

// path gives the path of the API root.
func (a *assault) path() string { return strings.TrimPrefix(a.Root, a.Host) }

// slowReaders ask for large lists and take a byte now and then.
func slowReaders(ctx context.Context, a *assault) {
	readSlowly(ctx, a, func(worker int) string {
		return fmt.Sprintf("/events?per_page=100&page=%d", 1+worker%max(1, len(a.Events)/100))
	})
}

// slowFeeds do so with feeds of all events.
func slowFeeds(ctx context.Context, a *assault) {
	readSlowly(ctx, a, func(worker int) string { return "/events." + []string{"ics", "rss", "csv", "ndjson"}[worker%4] })
}

// feeds are those of a week, in two formats.
func feeds(_ *prey, turn int) string {
	day := today().AddDate(0, 0, 7*(turn%2))
	return fmt.Sprintf("/events.%s?start_date=%s&end_date=%s", []string{"ics", "rss"}[turn%2], day.Format(time.DateOnly), day.AddDate(0, 0, 6).Format(time.DateOnly))
}

func readSlowly(ctx context.Context, a *assault, path func(worker int) string) {
	a.hold(ctx, func(conn net.Conn, worker int) string {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(2 << 10)
		}
		if _, err := fmt.Fprintf(conn, "GET %s%s HTTP/1.1\r\nHost: slow\r\n\r\n", a.path(), path(worker)); err != nil {
			return ""
		}
		line := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, line); err != nil {
			return ""
		}
		now := time.NewTicker(500 * time.Millisecond)
		defer now.Stop()
		for {
			select {
			case <-ctx.Done():
				return string(line[len(line)-3:]) + ", read to the end of the attack"
			case <-now.C:
				if _, err := conn.Read(line[:1]); err != nil && ctx.Err() == nil {
					return string(line[len(line)-3:]) + ", then closed"
				}
			}
		}
	})
}

// slowSenders send a header or a body byte by byte: without credentials, and with
// wrong ones.
func slowSenders(ctx context.Context, a *assault) {
	post := "POST " + a.path() + "/events HTTP/1.1\r\nHost: slow\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n"
	starts := []string{
		"GET " + a.path() + "/events HTTP/1.1\r\nHost: slow\r\nX-Slow: ",
		post + "\r\n{",
		post + "Authorization: Bearer wrong\r\n\r\n{",
	}
	a.hold(ctx, func(conn net.Conn, worker int) string {
		if _, err := conn.Write([]byte(starts[worker%len(starts)])); err != nil {
			return ""
		}
		got := make(chan string, 1)
		go func() { got <- answered(conn) }()
		now := time.NewTicker(time.Second)
		defer now.Stop()
		for {
			select {
			case status := <-got:
				return status
			case <-now.C:
				_, _ = conn.Write([]byte(" ")) // its failure shows in the answer
			}
		}
	})
}

// waits ask for lists that show what is not there yet: far ahead, and just ahead,
// where a writer soon is.
func waits(ctx context.Context, a *assault) {
	var head atomic.Int64
	a.flood(ctx, func(worker, turn int) *http.Request {
		r := get(ctx, a.Root+"/events?per_page=1")
		position := int64(999_999_999)
		if last := head.Load(); worker%2 == 1 && last > 0 {
			position = last + 1 + int64(worker+turn)%50
		} else if worker%2 == 1 {
			return r
		}
		r.Header.Set("Daybook-Min-Position", strconv.FormatInt(position, 10))
		return r
	}, func(resp *http.Response) {
		if p, err := strconv.ParseInt(resp.Header.Get("Daybook-Position"), 10, 64); err == nil {
			head.Store(p)
		}
	})
}

// wrongPasswords try passwords of one event.
func wrongPasswords(ctx context.Context, a *assault) {
	a.flood(ctx, func(worker, turn int) *http.Request {
		return get(ctx, fmt.Sprintf("%s/events/%d?password=wrong-%d-%d", a.Root, a.Protected, worker, turn))
	}, nil)
}

// wrongCredentials read and write under wrong names and tokens.
func wrongCredentials(ctx context.Context, a *assault) {
	a.flood(ctx, func(worker, turn int) *http.Request {
		r := get(ctx, a.Root+"/events")
		token := fmt.Sprintf("%032d%032d", worker, turn)
		switch turn % 3 {
		case 0:
			r.SetBasicAuth(a.User, token)
		case 1:
			r.SetBasicAuth("nobody-"+token, token)
		default:
			r.Header.Set("Authorization", "Bearer "+token)
		}
		if worker%2 == 1 {
			r.Method = http.MethodPost
			r.Header.Set("Content-Type", "application/json")
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"title":"wrong"}`)), int64(len(`{"title":"wrong"}`))
		}
		return r
	}, nil)
}

// preflights ask for as many header names as fit in 60 KiB, and in a mebibyte.
func preflights(ctx context.Context, a *assault) {
	sizes := []int{60 << 10, 1<<20 - 2<<10}
	values := make([]string, len(sizes))
	for i, size := range sizes {
		var b strings.Builder
		for n := 0; b.Len() < size-8; n++ {
			b.WriteString("x" + strconv.FormatInt(int64(n), 36) + ",")
		}
		values[i] = b.String() + "x"
	}
	a.flood(ctx, func(worker, _ int) *http.Request {
		r := get(ctx, a.Root+"/events")
		r.Method = http.MethodOptions
		r.Header.Set("Origin", "https://attacker.example")
		r.Header.Set("Access-Control-Request-Method", http.MethodGet)
		r.Header.Set("Access-Control-Request-Headers", values[worker%len(values)])
		return r
	}, nil)
}

// documentation asks for the documentation under another host each time.
func documentation(ctx context.Context, a *assault) {
	a.flood(ctx, func(worker, turn int) *http.Request {
		r := get(ctx, a.Root+"/doc")
		r.Host = fmt.Sprintf("h%d-%d.example", worker, turn)
		return r
	}, nil)
}

// includes ask for lists of 1,000 ids, others each time, and of elements without
// one.
func includes(ctx context.Context, a *assault) {
	empty := strings.Repeat(",", 15_000)
	a.flood(ctx, func(worker, turn int) *http.Request {
		first := 1 + (worker*1009+turn*31)%100_000
		if worker%4 == 3 {
			return get(ctx, a.Root+"/events?include="+strconv.Itoa(first)+empty)
		}
		var b strings.Builder
		b.WriteString(a.Root + "/events?per_page=" + strconv.Itoa(1+99*(turn%2)) + "&include=")
		for i := range 1000 {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(first + i))
		}
		return get(ctx, b.String())
	}, nil)
}

// windows ask for lists that no cache has.
func windows(ctx context.Context, a *assault) {
	var n atomic.Int64
	day := today()
	a.flood(ctx, func(int, int) *http.Request {
		return get(ctx, a.Root+"/events"+window(day.Add(time.Duration(n.Add(1)*7919%30_000_000)*time.Second)))
	}, nil)
}

// toCompress asks for what has to be compressed for one request: pages of 100 events of
// windows that no cache has, the documentation under another host each time, and lists of
// large venues.
func toCompress(ctx context.Context, a *assault) {
	var n atomic.Int64
	day := today()
	a.flood(ctx, func(worker, _ int) *http.Request {
		var r *http.Request
		switch i := n.Add(1); i % 8 {
		case 0:
			r = get(ctx, a.Root+"/doc")
			r.Host = fmt.Sprintf("h%d.example", i)
		case 1:
			r = get(ctx, fmt.Sprintf("%s/venues?search=large&per_page=20&_fields=id,description,%d", a.Root, i))
		default:
			r = get(ctx, a.Root+"/events"+window(day.Add(time.Duration(i*7919%30_000_000)*time.Second))+"&per_page=100")
		}
		r.Header.Set("Accept-Encoding", []string{"gzip", "zstd"}[worker%2])
		return r
	}, nil)
}

// pagesOfChanges ask for pages that nothing is on, and for full ones from all over the log.
func pagesOfChanges(ctx context.Context, a *assault) {
	var n atomic.Int64
	a.flood(ctx, func(worker, _ int) *http.Request {
		i := n.Add(1)
		if worker%2 == 0 {
			return get(ctx, fmt.Sprintf("%s/changes?order=asc&id=%d", a.Root, 1_000_000_000+i))
		}
		return get(ctx, fmt.Sprintf("%s/changes?order=asc&limit=1000&after=%d", a.Root, i*7919%int64(max(1, len(a.Events)))))
	}, nil)
}

// leaveAfter is how long the attacker waits for a list of the past.
const leaveAfter = 10 * time.Millisecond

// leftPast asks for lists as of other positions each time, and leaves.
func leftPast(ctx context.Context, a *assault) {
	var n atomic.Int64
	a.flood(ctx, func(int, int) *http.Request {
		one, leave := context.WithCancel(ctx)
		time.AfterFunc(leaveAfter, leave)
		return get(one, fmt.Sprintf("%s/events?as_of=position:%d", a.Root, 1+n.Add(1)*7919%max(1, a.Head)))
	}, nil)
}

// listsThen are lists as of two positions, and now and then as of one that nobody asked for.
func listsThen(p *prey, turn int) string {
	position := p.Head - int64(turn%2)
	if turn%20 == 19 {
		position = p.Head/2 - int64(turn)
	}
	return fmt.Sprintf("/events?as_of=position:%d", max(1, position))
}

// streamsOfChanges want streams from the first change on: one half stay and read nothing,
// the other leaves when it has read a part, and comes again.
func streamsOfChanges(ctx context.Context, a *assault) {
	a.hold(ctx, func(conn net.Conn, worker int) string {
		if _, err := fmt.Fprintf(conn, "GET %s/changes/stream?after=0 HTTP/1.1\r\nHost: stream\r\n\r\n", a.path()); err != nil {
			return ""
		}
		line := make([]byte, len("HTTP/1.1 200"))
		if _, err := io.ReadFull(conn, line); err != nil {
			return ""
		}
		switch status := string(line[len(line)-3:]); {
		case status != "200":
			return status
		case worker%2 == 0:
			<-ctx.Done()
			return "200, read nothing of it"
		default:
			_, _ = io.CopyN(io.Discard, conn, 256<<10)
			return "200, read a part"
		}
	})
}

// maxSearch is the length of a hostile search in characters.
const maxSearch = 495

// searches look for what costs most: many phrases of common words, one of them
// alone, and many short beginnings; each in another window, so that no cache has
// them.
func searches(ctx context.Context, a *assault) {
	var n atomic.Int64
	day := today()
	texts := searchTexts()
	a.flood(ctx, func(_, turn int) *http.Request {
		i := n.Add(1)
		from := day.AddDate(0, 0, -180).Add(time.Duration(i) * time.Minute)
		return get(ctx, a.Root+"/events?search="+url.QueryEscape(texts[turn%len(texts)])+
			"&strict_dates=true&start_date="+url.QueryEscape(from.Format(time.DateTime))+
			"&end_date="+url.QueryEscape(from.AddDate(2, 0, 0).Format(time.DateTime)))
	}, nil)
}

// A search may have so many different words and quoted texts; more is refused.
const (
	searchWords  = 32
	searchQuoted = 8
)

// searchTexts makes the texts of searches: some that are too much, and some with as
// many words and quoted texts as are answered, up to the length that may be.
func searchTexts() []string {
	fill := func(parts []string, most int) string {
		text := parts[0]
		for i := 1; len(text)+1+len(parts[i%len(parts)]) <= most; i++ {
			text += " " + parts[i%len(parts)]
		}
		return text
	}
	phrases, short := make([]string, 0, 2*len(glue)), make([]string, 0, 26*4)
	for i, g := range glue {
		phrases = append(phrases, `"`+g+`"`, `"`+glue[(i+1)%len(glue)]+" "+g+`"`)
	}
	for c := 'a'; c <= 'z'; c++ {
		for _, d := range "aeio" {
			short = append(short, string(c)+string(d))
		}
	}
	without := make([]string, searchQuoted) // texts in which nothing is, so each is read to its end
	for i := range without {
		without[i] = `-"` + fill(glue[i:], maxSearch/searchQuoted-4) + `"`
	}
	return []string{
		fill(phrases, maxSearch), fill(short, maxSearch),
		`"of the"`, strings.Join(phrases[:searchQuoted], " "), strings.Join(without, " "), strings.Join(short[:searchWords], " "),
	}
}

// largeAnswers read events with many large venues, one by one and in lists, and as
// many of these venues as fit in an answer.
func largeAnswers(ctx context.Context, a *assault) {
	all := make([]string, len(a.Large))
	for i, id := range a.Large {
		all[i] = strconv.FormatInt(id, 10)
	}
	a.flood(ctx, func(worker, turn int) *http.Request {
		switch (worker + turn) % 3 {
		case 0:
			return get(ctx, a.Root+"/events?include="+strings.Join(all, ",")+"&per_page="+strconv.Itoa(3+turn%97))
		case 1:
			return get(ctx, a.Root+"/events/"+all[turn%len(all)])
		default:
			return get(ctx, a.Root+"/venues?search=large&per_page="+strconv.Itoa(20+turn%20))
		}
	}, nil)
}
