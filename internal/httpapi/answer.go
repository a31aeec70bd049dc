package httpapi

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi/admit"
	"daybook/internal/render"
	"daybook/query"
)

// answer is a whole answer, ready to be sent to anybody who asks the same, where it is one
// to a read. It is never changed, but for the encodings that are added to it.
type answer struct {
	body

	etag string
	// headers are those of 200 and 304; the length and type of the body come
	// next to them.
	headers  []headerRow
	media    []string                        // value of Content-Type
	encoded  [encodings]atomic.Pointer[body] // the body in the encodings that were asked for
	file     bool                            // it is a file of pages, which is worth more time to encode
	small    bool                            // it is as small as it gets
	position calendar.Position               // that a list shows; 0 elsewhere
	key      string                          // under which it is cached; "" for none
	passing  bool                            // the state went over to another one meanwhile: it is not cached
	// selection are the events of an answer that is sent while its body is written as the listing;
	// nil: the body is there.
	selection *query.Selection
	listing   *listing
	// modified is the moment of Last-Modified of answers in other formats than JSON; zero:
	// none exists.
	modified time.Time
	until    time.Time // of a page: when it looks otherwise by time alone; zero: never
	// status is that of an answer to a write, of an error, and of a page for its caller alone,
	// which are never refused. 0: that of a read, which is 200.
	status int
	code   calendar.Code                // of an error
	target func(rawQuery string) string // Location of a page that is elsewhere
}

// body is what is sent of an answer in one encoding.
type body struct {
	bytes  []byte
	length []string // value of Content-Length
}

func newBody(data []byte) body { return body{data, []string{strconv.Itoa(len(data))}} }

type headerRow struct {
	name  string
	value []string
}

// newAnswer makes an answer with the headers that all reads have.
func newAnswer(data []byte, media []string, etag string, lang calendar.Lang) *answer {
	ans := &answer{body: newBody(data), media: media, etag: etag}
	ans.add(headerLanguage, lang.Tag())
	if etag != "" {
		ans.add(headerETag, etag)
	}
	return ans
}

// showRecord makes the answer that shows a record, or returns query.ErrTooLarge.
func (call *call) showRecord(view *query.View, shown render.Answer) (*answer, error) {
	shown.Links, shown.Lang = &call.root.Links, call.lang
	body, err := written(func(data []byte) ([]byte, error) {
		return call.renderer.Writer(shown).Record(data, view)
	})
	if err != nil {
		return nil, err
	}
	return newAnswer(body, valueJSON, call.recordTag(call.root, call.lang, view, slices.Sorted(slices.Values(shown.Fields))), call.lang), nil
}

// add adds a header.
func (ans *answer) add(name, value string) {
	ans.headers = append(ans.headers, headerRow{name, []string{value}})
}

// show sets the position that a list shows.
func (ans *answer) show(position calendar.Position) {
	ans.position = position
	ans.add(headerPosition, position.String())
}

// close ends the selection of an answer.
func (ans *answer) close() {
	if ans.selection != nil {
		ans.selection.Close()
	}
}

// addTotals adds how many there are, and on how many pages; "": on none.
func (api *api) addTotals(ans *answer, total int, pages string) {
	for _, names := range api.totals {
		ans.add(names[0], strconv.Itoa(total))
		if pages != "" {
			ans.add(names[1], pages)
		}
	}
}

// negotiate returns the encoding in which the client is to get an answer to a read and the ETag
// in it, and reports whether the client has the answer.
func (call *call) negotiate(ans *answer) (tag string, best encoding, same bool) {
	size := len(ans.bytes)
	if ans.selection != nil {
		size = leastEncoded
	} else if ans.small {
		size = 0
	}
	accepts := call.acceptanceOf(size)
	if ans.status != 0 {
		return "", accepts.best, false
	}
	tag, same = accepts.noneMatch(call.request.Header, ans.etag)
	return tag, accepts.best, same || call.unmodified(ans.modified)
}

// sendAnswer sends an answer. Where there is no turn to encode it, it is sent as it is. A client
// that went away, or is too slow, does not get all of it.
func (call *call) sendAnswer(ans *answer) error {
	tag, best, same := call.negotiate(ans)
	if same {
		call.setHeaders(ans, tag)
		call.writeStatus(http.StatusNotModified)
		return nil
	}
	if ans.selection != nil {
		return call.sendSelection(ans)
	}
	encoding, shown := call.encodedBody(call.client, &call.pass, best, ans, false)
	if len(shown.bytes) <= admit.SmallAnswer || call.request.Method == http.MethodHead {
		call.pass.Leave()
	} else if err := call.pass.Enter(admit.Answer, int64(len(shown.bytes))); err != nil && ans.status == 0 {
		return err
	}
	call.setHeaders(ans, encodedTag(ans.etag, encoding))
	header := call.w.Header()
	setEncoding(header, encoding)
	header[headerType], header[headerLength] = ans.media, shown.length
	call.writeStatus(cmp.Or(ans.status, http.StatusOK))
	call.writeBody(shown)
	return nil
}

// writeBody writes the body of an answer. The client has so much time for a large one, and loses
// its connection then.
func (call *call) writeBody(shown *body) {
	if call.request.Method == http.MethodHead {
		return
	}
	if len(shown.bytes) > admit.SmallAnswer {
		control := http.NewResponseController(call.w)
		most := answerTime + time.Duration(len(shown.bytes))*time.Second/answerRate
		if control.SetWriteDeadline(time.Now().Add(most)) == nil { // of the connection, so by its clock
			defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
		}
	}
	_, _ = call.w.Write(shown.bytes)
}

// setHeaders sets the headers that an answer has whether the client has it or not.
func (call *call) setHeaders(ans *answer, tag string) {
	header := call.w.Header()
	for i := range ans.headers {
		header[ans.headers[i].name] = ans.headers[i].value
	}
	if tag != ans.etag {
		header[headerETag] = []string{tag}
	}
	if shown := call.modifiedShown(ans.modified); shown != "" {
		header[headerModified] = []string{shown}
	}
	if ans.target != nil {
		header[headerLocation] = []string{ans.target(call.request.URL.RawQuery)}
	}
	call.code = cmp.Or(ans.code, call.code)
}

// How long a client may take for an answer beyond admit.SmallAnswer: what it holds is given
// back then, and its connection is closed.
const (
	answerTime = 20 * time.Second
	answerRate = 100_000 // bytes a second, beside it
)

// buffers are what answers are written into: their length is known at the end only, and
// what is cached should have no room behind it.
var buffers = sync.Pool{New: func() any { return new(make([]byte, 0, 64<<10)) }}

// maxBuffer is the size of the largest buffer that is used again.
const maxBuffer = 1 << 20

// written returns what write appends to a buffer.
func written(write func(data []byte) ([]byte, error)) ([]byte, error) {
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool makes nothing else
	data, err := write((*buffer)[:0])
	var out []byte
	if err == nil {
		out = bytes.Clone(data)
	}
	if cap(data) <= maxBuffer {
		*buffer = data
		buffers.Put(buffer)
	}
	return out, err
}

// answerSize is what an answer takes that is cached under a key.
func answerSize(key string, ans *answer) int {
	n := len(key) + cap(ans.bytes)
	for _, headerRow := range ans.headers {
		n += len(headerRow.value[0])
	}
	for i := range ans.encoded {
		if body := ans.encoded[i].Load(); body != nil {
			n += len(body.bytes)
		}
	}
	return n
}

// The first byte of keys: what is cached under it.
const (
	aliasKey  = 'a' // the key of the answer to the query string of a list
	answerKey = 'l' // the answer to a question
	lastKey   = 'g' // the last good answer of a list
	streamKey = 's' // a piece of streams
)
