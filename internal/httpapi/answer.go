package httpapi

import (
	"bytes"
	"context"
	"hash/maphash"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/query"
)

// answer is a whole answer to a read, ready to be sent to anybody who asks the
// same. It is never changed.
type answer struct {
	body []byte
	etag string
	// headers are those of 200 and 304; the length and type of the body come
	// beside them.
	headers  []headerRow
	length   []string
	media    []string          // value of Content-Type
	position calendar.Position // that a list shows; 0 elsewhere
	key      string            // under which it is kept, and its encodings may be; "" for none
	passing  bool              // the state went over to another one meanwhile: it is not kept
	values   []string          // those of the headers lie here, one after the other
	// modified is the moment of Last-Modified of answers in other formats than JSON; zero:
	// there is none.
	modified time.Time
	until    time.Time // of a page: when it looks otherwise by time alone; zero: never
}

type headerRow struct {
	name  string
	value []string
}

// newAnswer makes an answer with the headers that all reads have.
func newAnswer(body []byte, media []string, etag string, l calendar.Lang) *answer {
	ans := &answer{body: body, media: media, etag: etag, headers: make([]headerRow, 0, usualHeaders), values: make([]string, 0, usualHeaders+1)}
	ans.length = ans.value(strconv.Itoa(len(body)))
	ans.add(headerLanguage, l.Tag())
	if etag != "" {
		ans.add(headerETag, etag)
	}
	return ans
}

// usualHeaders is how many headers a list has, for which answers have room.
const usualHeaders = 6

func (ans *answer) value(v string) []string {
	ans.values = append(ans.values, v)
	n := len(ans.values)
	return ans.values[n-1 : n : n]
}

// add adds a header.
func (ans *answer) add(name, value string) {
	ans.headers = append(ans.headers, headerRow{name, ans.value(value)})
}

// show sets the position that a list shows.
func (ans *answer) show(p calendar.Position) {
	ans.position = p
	ans.add(headerPosition, p.String())
}

// parcel is an answer as one request gets it.
type parcel struct {
	of       *answer
	etag     string
	encoding encoding
	body     *answer // its body and length, in the encoding; nil: the client has the answer
}

// pack makes an answer what the request gets, which need not be all that was made for it:
// the buffer is given back where the body does not lie in it.
func (a *api) pack(r *http.Request, c *call, ans *answer) (err error) {
	accepts := acceptanceOf(r, c, len(ans.body))
	p := parcel{of: ans, encoding: accepts.best}
	var same bool
	p.etag, same = accepts.noneMatch(r.Header, ans.etag)
	if same = same || a.unmodified(r, c, ans.modified); !same {
		if p.body = ans; p.encoding != encodingNone {
			if p.body, err = a.encoded(r, c, p.encoding, ans); err != nil {
				return err
			}
		}
	}
	if c.written != nil && (same || len(p.body.body) == 0 || &p.body.body[0] != &(*c.written)[:1][0]) {
		giveBuffer(c.written)
		c.written = nil
	}
	c.parcel = p
	return nil
}

// sendAnswer sends an answer of a read: 304 when the client has it, else 200, in the
// encoding that it takes. It is refused while too many bytes are on their way.
func (a *api) sendAnswer(w http.ResponseWriter, r *http.Request, ans *answer) error {
	c := callOf(r)
	if c.parcel.of != ans {
		if err := a.pack(r, c, ans); err != nil {
			return err
		}
	}
	sent := c.parcel.body
	if sent != nil && !c.pass.send(r, sent.body) {
		return calendar.Fail(calendar.CodeUnavailable, 0)
	}
	h := w.Header()
	for i := range ans.headers {
		h[ans.headers[i].name] = ans.headers[i].value
	}
	if shown := a.modifiedShown(c, ans.modified); shown != "" {
		h[headerModified] = []string{shown}
	}
	if c.parcel.etag != ans.etag {
		h[headerETag] = []string{c.parcel.etag}
	}
	if sent == nil {
		a.status(w, r, http.StatusNotModified)
		return nil
	}
	h[headerType] = ans.media
	if c.parcel.encoding != encodingNone {
		h[headerEncoding] = valuesEncoding[c.parcel.encoding]
	}
	h[headerLength] = sent.length
	a.status(w, r, http.StatusOK)
	if r.Method != http.MethodHead {
		writeBody(w, sent.body)
	}
	return nil
}

// send brings a request to the sending of its answer.
func (p *pass) send(r *http.Request, body []byte) bool {
	if r.Method == http.MethodHead || len(body) <= smallAnswer {
		p.leave()
		return true
	}
	return p.enter(stageAnswer, int64(len(body)))
}

// How long a client may take for an answer beyond smallAnswer: what it holds is given
// back then, and its connection is closed.
const (
	answerTime = 20 * time.Second
	answerRate = 100_000 // bytes a second, beside it
)

// writeBody writes the body of an answer. An error says that the client went away, or
// was too slow.
func writeBody(w http.ResponseWriter, body []byte) {
	if len(body) > smallAnswer {
		control := http.NewResponseController(w)
		most := answerTime + time.Duration(len(body))*time.Second/answerRate
		if control.SetWriteDeadline(time.Now().Add(most)) == nil { // of the connection, so by its clock
			defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
		}
	}
	_, _ = w.Write(body) //nolint:gosec // JSON, under a content type that nobody takes for HTML
}

// buffers are what answers are written into: how long one gets is known at its end
// only, and what is kept should have no room behind it.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 64<<10)) }}

// Larger buffers are not kept.
const maxBuffer = 1 << 20

func takeBuffer() *[]byte {
	b := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool makes nothing else
	*b = (*b)[:0]
	return b
}

// buffer is what the answer to a request is written into; it holds until the
// answer is packed, or else until the end of it.
func (c *call) buffer() *[]byte {
	if c.written == nil {
		c.written = takeBuffer()
	}
	return c.written
}

func giveBuffer(b *[]byte) {
	if cap(*b) <= maxBuffer {
		buffers.Put(b)
	}
}

// answerSize is what an answer takes that is kept under a key.
func answerSize(key string, ans *answer) int {
	n := len(key) + cap(ans.body)
	for _, v := range ans.values {
		n += len(v)
	}
	if key != ans.key {
		n += len(ans.key)
	}
	return n
}

// The first byte of keys: what is kept under it.
const (
	aliasKey     = 'a' // the key of the answer to the query string of a list
	listKey      = 'l'
	pastAliasKey = 'b' // as aliasKey, for a list of the past
	pastKey      = 'p' // a list of the past
	singleKey    = 's'
	severalKey   = 'v' // several lists
	textsKey     = 't' // index and documentation
	lastKey      = 'g' // the last good answer of a list
	encodedSpace = 'z' // an answer in an encoding, by its key
)

// once gives the answer of a key: the one that is kept, else the one that produce
// makes, once for all who ask at the same time. The work goes on when the first of
// them goes away. Without keep the answer stays with that one, in whose buffer it is,
// unless others asked meanwhile. What was made while lists went over from the state of
// the key to another one may be of both, and the state may come again; nil is no state.
func (a *api) once(ctx context.Context, c *call, key string, state *query.Generation, keep bool, produce func(ctx context.Context) (*answer, error)) (*answer, error) {
	if ans, ok := a.answers.Get(key); ok {
		c.cache = CacheHit
		return ans, nil
	}
	c.cache = CacheShared
	return a.flights.do(ctx, &c.pass, key, func() (*answer, error) {
		c.cache = CacheMiss
		work := a.workContext(context.WithoutCancel(under(ctx)), c, a.o.ReadDeadline)
		defer work.end()
		ans, err := produce(work) //nolint:contextcheck // a workContext stands on the context of the request
		if err != nil {
			return nil, err
		}
		if state != nil {
			now, err := a.Queries.Generation(work) //nolint:contextcheck // as above
			ans.passing = err != nil || now != *state || ans.position != 0 && ans.position < state.Position
		}
		if keep {
			a.keepAnswer(key, ans)
		}
		return ans, nil
	}, func(ans *answer) {
		if !keep {
			a.keepAnswer(key, ans)
		}
	})
}

// keepAnswer keeps an answer that nobody else has seen, with a body of its own.
func (a *api) keepAnswer(key string, ans *answer) {
	ans.body = bytes.Clone(ans.body)
	if !ans.passing {
		ans.key = key
		a.answers.Set(key, ans)
	}
}

// keepAlias keeps under which key the answer is. An alias that held the answer itself
// would hold it when that key has gone, and nobody would count its bytes.
func (a *api) keepAlias(alias string, ans *answer) { a.answers.Set(alias, &answer{key: ans.key}) }

// aliased gives the answer of an alias, and whether both are kept.
func (a *api) aliased(alias string) (*answer, bool) {
	if of, ok := a.answers.Get(alias); ok {
		return a.answers.Get(of.key)
	}
	return nil, false
}

// askedTable remembers which lists were asked for before, the last some thousand
// of them. It is no promise: it may forget one, or take one for another.
type askedTable struct {
	seed  maphash.Seed
	marks [1 << 13]atomic.Uint64
}

func newAskedTable() *askedTable { return &askedTable{seed: maphash.MakeSeed()} }

// before tells whether a list was asked for before, and remembers it.
func (t *askedTable) before(list string) bool {
	mark := maphash.String(t.seed, list) | 1 // 0 is none
	at := &t.marks[mark>>32%uint64(len(t.marks))]
	if at.Load() == mark {
		return true
	}
	at.Store(mark)
	return false
}
