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

	"github.com/maypok86/otter/v2"

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
	headers []headerRow
	length  []string
	key     string   // under which it is kept, and its encodings may be; "" for none
	passing bool     // the state went over to another one meanwhile: it is not kept
	values  []string // those of the headers lie here, one after the other
}

type headerRow struct {
	name  string
	value []string
}

// newAnswer makes an answer with the headers that all reads have.
func newAnswer(body []byte, etag string, l calendar.Lang) *answer {
	ans := &answer{body: body, etag: etag, headers: make([]headerRow, 0, usualHeaders), values: make([]string, 0, usualHeaders+1)}
	ans.length = ans.value(strconv.Itoa(len(body)))
	ans.add(headerLanguage, l.Tag())
	ans.add(headerETag, etag)
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

// ready is an answer as one client gets it.
type ready struct {
	*answer
	etag     string
	same     bool // the client has it
	encoding encoding
	sent     *answer // has the body in the encoding
}

// readyFor makes an answer ready for who asked.
func (a *api) readyFor(r *http.Request, ans *answer) (out ready, err error) {
	c := callOf(r)
	accepts := acceptanceOf(r, c, len(ans.body))
	out = ready{answer: ans, encoding: accepts.best, sent: ans}
	out.etag, out.same = accepts.noneMatch(r.Header, ans.etag)
	if !out.same && out.encoding != encodingNone {
		out.sent, err = a.encoded(r, c, out.encoding, ans)
	}
	return out, err
}

// sendAnswer sends an answer of a read: 304 when the client has it, else 200. It is
// refused while too many bytes are on their way.
func (a *api) sendAnswer(w http.ResponseWriter, r *http.Request, ans *answer) error {
	out, err := a.readyFor(r, ans)
	if err != nil {
		return err
	}
	return a.sendReady(w, r, &out)
}

func (a *api) sendReady(w http.ResponseWriter, r *http.Request, out *ready) error {
	c := callOf(r)
	if !out.same && !c.pass.send(r, out.sent.body) {
		return calendar.Fail(calendar.CodeUnavailable, 0)
	}
	h := w.Header()
	for i := range out.headers {
		h[out.headers[i].name] = out.headers[i].value
	}
	if out.etag != out.answer.etag {
		h[headerETag] = []string{out.etag}
	}
	if out.same {
		a.status(w, r, http.StatusNotModified)
		return nil
	}
	h[headerType] = valueJSON
	if out.encoding != encodingNone {
		h[headerEncoding] = valuesEncoding[out.encoding]
	}
	h[headerLength] = out.sent.length
	a.status(w, r, http.StatusOK)
	if r.Method != http.MethodHead {
		writeBody(w, out.sent.body)
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

// buffers are what lists are written into: how long one gets is known at its end
// only, and what is kept should have no room behind it.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 64<<10)) }}

// Larger buffers are not kept.
const maxBuffer = 1 << 20

func takeBuffer() *[]byte {
	b := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool makes nothing else
	*b = (*b)[:0]
	return b
}

func giveBuffer(b *[]byte) {
	if cap(*b) <= maxBuffer {
		buffers.Put(b)
	}
}

// answerCache keeps answers by a key that names everything they depend on, so
// nothing stale is ever found. A nil cache keeps nothing.
type answerCache struct{ c *otter.Cache[string, *answer] }

// The memory that an entry costs beside its bytes.
const entryOverhead = 256

func newAnswerCache(bytes int) (*answerCache, error) {
	if bytes < 0 {
		return nil, nil // no cache is a choice
	}
	c, err := otter.New(&otter.Options[string, *answer]{
		MaximumWeight: uint64(bytes),
		Weigher: func(key string, ans *answer) uint32 {
			n := len(key) + entryOverhead
			if key[0] != aliasKey {
				n += cap(ans.body)
			}
			return uint32(min(n, 1<<30))
		},
	})
	if err != nil {
		return nil, err
	}
	return &answerCache{c}, nil
}

func (c *answerCache) get(key string) *answer {
	if c == nil {
		return nil
	}
	ans, _ := c.c.GetIfPresent(key)
	return ans
}

func (c *answerCache) set(key string, ans *answer) {
	if c != nil {
		c.c.Set(key, ans)
	}
}

// The first byte of keys: what is kept under it.
const (
	aliasKey     = 'a' // a list by its query string: the answer is kept under another key too
	listKey      = 'l'
	singleKey    = 's'
	textsKey     = 't' // index and documentation
	lastKey      = 'g' // the last good answer of a list
	encodedSpace = 'z' // an answer in an encoding, by its key
)

// once gives the answer of a key: the one that is kept, else the one that
// produce makes, once for all who ask at the same time. The work goes on when the
// first of them goes away. Without keep the answer stays with that one, whose the
// body is, unless others asked meanwhile.
func (a *api) once(ctx context.Context, c *call, key string, keep bool, produce func(ctx context.Context) (*answer, error)) (*answer, error) {
	if ans := a.answers.get(key); ans != nil {
		c.cache = CacheHit
		return ans, nil
	}
	c.cache = CacheShared
	return a.flights.do(ctx, &c.pass, key, func() (*answer, error) {
		c.cache = CacheMiss
		work := a.workContext(context.WithoutCancel(under(ctx)), c, a.o.ReadDeadline)
		defer work.end()
		ans, err := produce(work) //nolint:contextcheck // a workContext stands on the context of the request
		if err == nil && keep {
			a.keepAnswer(key, ans)
		}
		return ans, err
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
		a.answers.set(key, ans)
	}
}

// passed tells whether lists show another state than they did. What was made in
// between may be of both, and the state before may come again.
func (a *api) passed(ctx context.Context, before query.Generation) bool {
	now, err := a.Queries.Generation(ctx)
	return err != nil || now != before
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
