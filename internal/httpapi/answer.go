package httpapi

import (
	"bytes"
	"cmp"
	"maps"
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
	headers  http.Header
	media    []string                        // value of Content-Type
	encoded  [encodings]atomic.Pointer[body] // the body in the encodings that were asked for
	file     bool                            // it is a file of pages, which is worth more time to encode
	small    bool                            // it is as small as it gets
	position calendar.Position               // that a list shows; 0 elsewhere
	key      string                          // under which it is cached; "" for none
	passing  bool                            // it is not cached: the state went over to another one meanwhile
	first    bool                            // it is cached only if others share it: nobody asked before
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

// newAnswer makes an answer with the headers that all reads have.
func (call *call) newAnswer(data []byte, media []string, etag string) *answer {
	reply := &answer{body: newBody(data), media: media, etag: etag, headers: http.Header{headerLanguage: {call.language.Tag()}}}
	if etag != "" {
		reply.add(headerETag, etag)
	}
	return reply
}

// showRecord makes the answer that shows a record, or returns query.ErrTooLarge.
func (call *call) showRecord(view *query.View, shown render.Answer) (*answer, error) {
	shown.Links, shown.Lang = &call.root.Links, call.language
	body, err := call.write(func(data []byte) ([]byte, error) {
		return call.renderer.Writer(shown).Record(data, view)
	})
	if err != nil {
		return nil, err
	}
	return call.newAnswer(body, valueJSON, call.recordTag(call.root, call.language, view, slices.Sorted(slices.Values(shown.Fields)))), nil
}

// add adds a header.
func (answer *answer) add(name, value string) {
	answer.headers[name] = []string{value}
}

// show sets the position that a list shows.
func (answer *answer) show(position calendar.Position) {
	answer.position = position
	answer.add(headerPosition, position.String())
}

// close ends the selection of an answer.
func (answer *answer) close() {
	if answer.selection != nil {
		answer.selection.Close()
	}
}

// addTotals adds how many there are, and on how many pages; "": on none.
func (api *api) addTotals(answer *answer, total int, pages string) {
	for _, names := range api.totals {
		answer.add(names[0], strconv.Itoa(total))
		if pages != "" {
			answer.add(names[1], pages)
		}
	}
}

// negotiate returns the encoding in which the client is to get an answer to a read and the ETag
// in it, and reports whether the client has the answer.
func (call *call) negotiate(answer *answer) (tag string, best encoding, same bool) {
	size := len(answer.bytes)
	if answer.selection != nil {
		size = leastEncoded
	} else if answer.small {
		size = 0
	}
	accepts := call.acceptanceOf(size)
	if answer.status != 0 {
		return "", accepts.best, false
	}
	tag, same = accepts.noneMatch(call.request.Header, answer.etag)
	return tag, accepts.best, same || call.unmodified(answer.modified)
}

// sendAnswer sends an answer. Where there is no turn to encode it, it is sent as it is. A client
// that went away, or is too slow, does not get all of it.
func (call *call) sendAnswer(answer *answer) error {
	tag, best, same := call.negotiate(answer)
	if same {
		call.setHeaders(answer, tag)
		call.writeStatus(http.StatusNotModified)
		return nil
	}
	if answer.selection != nil {
		return call.sendSelection(answer)
	}
	encoding, shown := call.encodedBody(call.client, best, answer, false)
	if len(shown.bytes) <= admit.SmallAnswer || call.request.Method == http.MethodHead {
		call.pass.Leave()
	} else if err := call.pass.Enter(admit.Answer, int64(len(shown.bytes))); err != nil && answer.status == 0 {
		return err
	}
	call.setHeaders(answer, encodedTag(answer.etag, encoding))
	call.setEncoding(encoding)
	call.header[headerType], call.header[headerLength] = answer.media, shown.length
	call.writeStatus(cmp.Or(answer.status, http.StatusOK))
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
		control := http.NewResponseController(call.writer)
		most := answerTime + time.Duration(len(shown.bytes))*time.Second/answerRate
		if control.SetWriteDeadline(time.Now().Add(most)) == nil { // of the connection, so by its clock
			defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
		}
	}
	_, _ = call.writer.Write(shown.bytes)
}

// setHeaders sets the headers that an answer has whether the client has it or not.
func (call *call) setHeaders(answer *answer, tag string) {
	maps.Copy(call.header, answer.headers)
	if tag != answer.etag {
		call.header[headerETag] = []string{tag}
	}
	if shown := call.modifiedShown(answer.modified); shown != "" {
		call.header[headerModified] = []string{shown}
	}
	if answer.target != nil {
		call.header[headerLocation] = []string{answer.target(call.request.URL.RawQuery)}
	}
	call.code = cmp.Or(answer.code, call.code)
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

// write returns what write appends to a buffer, which is that of the call until the request
// ends: copying each answer would cost more than caching all of them saves.
func (call *call) write(write func(data []byte) ([]byte, error)) ([]byte, error) {
	call.buffer = buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool makes nothing else
	data, err := write((*call.buffer)[:0])
	if *call.buffer = data; call.lastGood != "" {
		data = bytes.Clone(data)
		call.freeBuffer()
	}
	return data, err
}

func (call *call) freeBuffer() {
	if call.buffer != nil && cap(*call.buffer) <= maxBuffer {
		buffers.Put(call.buffer)
	}
	call.buffer = nil
}

// answerSize is what an answer takes that is cached under a key.
func answerSize(key string, answer *answer) int {
	count := len(key) + cap(answer.bytes)
	for _, values := range answer.headers {
		count += len(values[0])
	}
	for i := range answer.encoded {
		if body := answer.encoded[i].Load(); body != nil {
			count += len(body.bytes)
		}
	}
	return count
}

// The first byte of keys: what is cached under it.
const (
	aliasKey  = 'a' // the key of the answer to the query string of a list
	askedKey  = 'q' // nothing: a question was asked in some state
	answerKey = 'l' // the answer to a question
	lastKey   = 'g' // the last good answer of a list
	streamKey = 's' // a piece of streams

	documentKey = 'd' // a document for all hosts
)
