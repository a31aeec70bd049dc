package e2e

import (
	"bytes"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"daybook/internal/testkit/world"
)

// plain returns the body of an answer without its encoding.
func (answer *answer) plain() []byte {
	answer.Helper()
	var (
		reader io.Reader = bytes.NewReader(answer.Body)
		err    error
	)
	switch text := answer.Header.Get("Content-Encoding"); {
	case len(answer.Body) == 0: // of HEAD
	case text == "gzip":
		reader, err = gzip.NewReader(reader)
	case text == "zstd":
		var decoder *zstd.Decoder
		decoder, err = zstd.NewReader(reader)
		must(answer.TB, err)
		defer decoder.Close()
		reader = decoder
	}
	must(answer.TB, err)
	data, err := io.ReadAll(reader)
	must(answer.TB, err)
	return data
}

// encodings: reads in each encoding are the plain ones (2.8, 2.9), whether they are made
// or kept.
func encodings(scene *scene) {
	scene = scene.alone(world.Options{}) // any write changes lists
	ed := scene.editor
	w := newWord()
	text := strings.Repeat("jazz on the river ", 100)
	made := ed.event(w, obj{"description": text, "venue": obj{"venue": w}})
	tag := ed.add("tags", w)
	scene.svc.settle()
	nobody := scene.nobody
	for _, path := range []string{"", "/doc", "/events", "/events?search=" + w, "/venues", "/tags", made.Path(), made.bySlug(), tag.Path(), "/events/99999999"} {
		for _, c := range []*caller{nobody, nobody.under("fr")} {
			want := c.get(path)
			for accept, e := range map[string]string{"gzip": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "zstd;q=0.5, gzip": "gzip", "identity": ""} {
				etag := want.ETag()
				if len(want.Body) < 1024 {
					e = ""
				} else if e != "" && strings.HasPrefix(etag, `"`) {
					etag = strings.TrimSuffix(etag, `"`) + "-" + e + `"`
				}
				in := c.with("Accept-Encoding", accept)
				for range 3 {
					got := in.get(path).want(want.Status).head("Content-Encoding", e).head("ETag", etag)
					if !bytes.Equal(got.plain(), want.Body) || got.Header.Get("Content-Length") != strconv.Itoa(len(got.Body)) {
						scene.t.Fatalf("%s in %s: %d bytes, Content-Length %s: %q, plain %s", got.Request, accept, len(got.Body), got.Header.Get("Content-Length"), got.Body, want.Body)
					}
				}
				in.do("HEAD", path, nil).want(want.Status).head("Content-Encoding", e).head("ETag", etag)
				if etag != "" {
					same := in.with("If-None-Match", etag).get(path).want(304).head("Content-Encoding", "").head("ETag", etag)
					if len(same.Body) > 0 {
						scene.t.Errorf("%s: 304 with a body", same.Request)
					}
				}
			}
		}
	}
}
