package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi/admit"
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
	ans := &answer{body: body, media: media, etag: etag, length: []string{strconv.Itoa(len(body))}}
	ans.add(headerLanguage, l.Tag())
	if etag != "" {
		ans.add(headerETag, etag)
	}
	return ans
}

// add adds a header.
func (ans *answer) add(name, value string) {
	ans.headers = append(ans.headers, headerRow{name, []string{value}})
}

// show sets the position that a list shows.
func (ans *answer) show(p calendar.Position) {
	ans.position = p
	ans.add(headerPosition, p.String())
}

// addTotals adds how many there are, of an answer without pages.
func (a *api) addTotals(ans *answer, total int) {
	for _, names := range a.totals {
		ans.add(names[0], strconv.Itoa(total))
	}
}

// packed is an answer as one request gets it.
type packed struct {
	*answer

	tag      string // its ETag in the encoding
	encoding encoding
	body     *answer // its body and length, in the encoding; nil: the client has the answer
}

// pack makes an answer what the request gets. turn reports whether the request has the turn
// of its client.
func (c *call) pack(ctx context.Context, ans *answer, turn bool) (p packed, err error) {
	accepts := acceptanceOf(c.r, c, len(ans.body))
	p = packed{answer: ans, encoding: accepts.best}
	var same bool
	if p.tag, same = accepts.noneMatch(c.r.Header, ans.etag); same || c.unmodified(ans.modified) {
		return p, nil
	}
	if p.body = ans; p.encoding != encodingNone {
		p.body, err = c.encoded(ctx, p.encoding, ans, turn)
	}
	return p, err
}

// sendAnswer sends an answer of a read.
func (c *call) sendAnswer(ans *answer) error {
	p, err := c.pack(c.r.Context(), ans, false)
	if err != nil {
		return err
	}
	return c.sendPacked(p)
}

// sendPacked sends an answer: 304 when the client has it, else 200. It is refused while too
// many bytes are on their way.
func (c *call) sendPacked(p packed) error {
	if p.body != nil && !sendStage(&c.pass, c.r, p.body.body) {
		return calendar.Fail(calendar.CodeUnavailable, 0)
	}
	h := c.w.Header()
	c.setHeaders(h, p.answer)
	if p.tag != p.etag {
		h[headerETag] = []string{p.tag}
	}
	if p.body == nil {
		c.writeStatus(http.StatusNotModified)
		return nil
	}
	h[headerType] = p.media
	setEncoding(h, p.encoding)
	h[headerLength] = p.body.length
	c.writeStatus(http.StatusOK)
	if c.r.Method != http.MethodHead {
		writeBody(c.w, p.body.body)
	}
	return nil
}

// setHeaders sets the headers that an answer has whether the client has it or not.
func (c *call) setHeaders(h http.Header, ans *answer) {
	for i := range ans.headers {
		h[ans.headers[i].name] = ans.headers[i].value
	}
	if shown := c.modifiedShown(ans.modified); shown != "" {
		h[headerModified] = []string{shown}
	}
}

// sendStage brings a request to the sending of its answer.
func sendStage(p *admit.Pass, r *http.Request, body []byte) bool {
	if r.Method == http.MethodHead || len(body) <= admit.SmallAnswer {
		p.Leave()
		return true
	}
	return p.Enter(admit.Answer, int64(len(body)))
}

// How long a client may take for an answer beyond admit.SmallAnswer: what it holds is given
// back then, and its connection is closed.
const (
	answerTime = 20 * time.Second
	answerRate = 100_000 // bytes a second, beside it
)

// writeBody writes the body of an answer. An error says that the client went away, or
// was too slow.
func writeBody(w http.ResponseWriter, body []byte) {
	if len(body) > admit.SmallAnswer {
		control := http.NewResponseController(w)
		most := answerTime + time.Duration(len(body))*time.Second/answerRate
		if control.SetWriteDeadline(time.Now().Add(most)) == nil { // of the connection, so by its clock
			defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
		}
	}
	_, _ = w.Write(body) //nolint:gosec // JSON, under a content type that nobody takes for HTML
}

// buffers are what answers are written into: their length is known at the end only, and
// what is cached should have no room behind it.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 64<<10)) }}

// maxBuffer is the size of the largest buffer that is used again.
const maxBuffer = 1 << 20

// written returns what write appends to a buffer.
func written(write func(b []byte) ([]byte, error)) ([]byte, error) {
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool makes nothing else
	b, err := write((*buffer)[:0])
	var out []byte
	if err == nil {
		out = bytes.Clone(b)
	}
	if cap(b) <= maxBuffer {
		*buffer = b
		buffers.Put(buffer)
	}
	return out, err
}

// answerSize is what an answer takes that is kept under a key.
func answerSize(key string, ans *answer) int {
	n := len(key) + cap(ans.body)
	for _, h := range ans.headers {
		n += len(h.value[0])
	}
	return n
}

// The first byte of keys: what is cached under it.
const (
	aliasKey     = 'a' // the key of the answer to the query string of a list
	listKey      = 'l'
	pastKey      = 'p' // a list of the past
	singleKey    = 's'
	severalKey   = 'v' // several lists
	textsKey     = 't' // index and documentation
	lastKey      = 'g' // the last good answer of a list
	encodedSpace = 'z' // an answer in an encoding, by its key
)
