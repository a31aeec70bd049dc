package httpapi

import (
	"bytes"
	"cmp"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daybook/calendar"
	"daybook/internal/httpapi/admit"
	"daybook/internal/param"
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
	return call.newAnswer(body, valueJSON, call.recordTag(&call.root, call.language, view, slices.Sorted(slices.Values(shown.Fields)))), nil
}

// recordTag is the ETag of one record (2.9): version and mark. The content of the
// record counts too: another history may have the version with another one.
func (api *api) recordTag(root *root, language calendar.Lang, view *query.View, fields []string) string {
	hash := calendar.HashStart.Number(view.Record.Sum).Number(view.Mark).Number(root.mark).Number(uint64(language)).Text(string(view.Status))
	for _, text := range fields {
		hash = hash.Text(text)
	}
	var b [40]byte
	tag := append(strconv.AppendInt(append(b[:0], '"'), view.Record.Version, 10), '-')
	return string(append(strconv.AppendUint(tag, uint64(hash), 16), '"'))
}

// weakTag is the ETag of an answer that a key names.
func (api *api) weakTag(key string) string {
	var b [24]byte
	tag := strconv.AppendUint(append(b[:0], `W/"`...), uint64(calendar.HashStart.Number(api.roots.seed).Text(key)), 16)
	return string(append(tag, '"'))
}

// noneMatch reports whether If-None-Match fits an ETag: weakly, a list allowed,
// "*" fits always.
func noneMatch(header http.Header, etag string) bool {
	etag = strings.TrimPrefix(etag, "W/")
	for tag := range tagsOf(header["If-None-Match"]) {
		if tag == "*" || tag == etag {
			return true
		}
	}
	return false
}

// tagsOf yields the members of a list of entity tags without W/. A comma in one of another
// service separates, too: none of its parts is a tag of this one.
func tagsOf(values []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for tag := range strings.SplitSeq(strings.Join(values, ","), ",") {
			if !yield(strings.TrimPrefix(strings.TrimSpace(tag), "W/")) {
				return
			}
		}
	}
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

// acceptanceOf tells how an answer of so many bytes may be sent. Who sends a secret
// gets it as it is: text next to the secret that a stranger has chosen would tell it by
// the length.
func (call *call) acceptanceOf(size int) acceptance {
	plain := acceptance{takes: [encodings]bool{encodingNone: true}}
	if size < leastEncoded || !isRead(call.request.Method) {
		return plain
	}
	if call.sendsCredentials() || call.page == nil && call.sentPassword() {
		return plain
	}
	return readAcceptance(call.request.Header["Accept-Encoding"])
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

// writeStatus sends the headers of an answer.
func (call *call) writeStatus(status int) {
	call.status = status
	if call.page == nil {
		if texts := call.cacheControl(status); texts != nil {
			call.header[headerCache] = texts
		}
	}
	call.writer.WriteHeader(status)
}

// cacheControl is the value of Cache-Control (2.8), nil for none.
func (call *call) cacheControl(status int) []string {
	route := call.route
	reads := call.feed() || route != nil && route.Kind == calendar.KindEvent && route.Single // a password, whatever becomes of it
	if _, sent := call.request.Header["Authorization"]; sent || reads && call.sentPassword() {
		return valuePrivate
	}
	if !isRead(call.request.Method) {
		return nil
	}
	switch status {
	case http.StatusOK, http.StatusNotModified:
		if call.fresh != nil {
			return call.fresh
		}
		if call.feed() {
			return call.feedFresh
		}
		return call.readFresh
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return valueNoStore
	default:
		if call.fresh != nil {
			return valueNoStore
		}
		return valueAskBack
	}
}

// sentPassword reports whether a password is sent to whatever there is. An empty one
// counts as not sent.
func (call *call) sentPassword() bool {
	for _, pair := range call.query {
		if base, path := param.SplitName(pair.Name); base == "password" && (path != nil || calendar.Trim(pair.Value) != "") {
			return true
		}
	}
	return false
}

// freshness is Cache-Control of answers that anybody may keep for so many seconds, and where
// stale is set for as many more while it asks for a new one: of reads (2.8), of feeds
// (LISTINGS 1.4), and of versions of records (HISTORY 7.1), which never change, but may be
// closed later, so they are not immutable.
func freshness(maxAge int, stale bool) []string {
	if maxAge <= 0 {
		return valueAskBack
	}
	seconds := strconv.Itoa(maxAge)
	if stale {
		seconds += ", stale-while-revalidate=" + seconds
	}
	return []string{"public, max-age=" + seconds}
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
