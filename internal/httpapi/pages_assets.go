package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"daybook/calendar"
	public "daybook/internal/pages"
)

// pageFile is a file that pages load, encoded once for each coding.
type pageFile struct {
	media  []string
	etag   string
	packed bool // as it is; no encoding makes it smaller
	body   [encodings]func() []byte
}

// PageFiles are the files that pages load, by their paths.
type PageFiles map[string]*pageFile

// NewPageFiles gives the files of pages. What is asked for before Run has encoded it is
// encoded then.
func NewPageFiles(p *public.Pages) PageFiles {
	out := PageFiles{}
	for _, file := range p.Files() {
		packed := strings.HasPrefix(file.Media, "image/") && !strings.HasPrefix(file.Media, "image/svg") || strings.HasPrefix(file.Media, "font/")
		f := &pageFile{media: []string{file.Media}, packed: packed, etag: strconv.Quote(path.Base(file.Path))}
		for e := range encodings {
			f.body[e] = sync.OnceValue(func() []byte {
				var b bytes.Buffer
				// Level 9 of gzip takes four times as long for a hundredth.
				if w, err := newEncoder(&b, e, zstd.SpeedBetterCompression, 8); err == nil {
					_, _ = w.Write(file.Body) // a buffer takes everything
					_ = w.Close()
				}
				return b.Bytes()
			})
		}
		out[file.Path] = f
	}
	return out
}

// Run encodes the files, beside whatever else is done at the start, and ends with the context.
func (f PageFiles) Run(ctx context.Context) error {
	for _, file := range f {
		for _, encode := range file.body {
			if ctx.Err() == nil && !file.packed {
				encode()
			}
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

// sendAsset sends a file that pages load. Under another hash it is the present one, which
// is not to be kept, so that pages of another version work.
func (c *call) sendAsset() error {
	name, present := c.o.Pages.FilePath(c.page.req.Route)
	f := c.files[name]
	if f == nil {
		return calendar.Fail(calendar.CodeNoRoute, 0)
	}
	h := c.w.Header()
	h.Set(headerCache, "no-cache")
	if present {
		h.Set(headerCache, cacheForever)
	}
	takes := acceptanceOf(c.r, c, len(f.body[encodingNone]()))
	if f.packed {
		takes = acceptanceOf(c.r, c, 0)
	}
	tag, same := takes.noneMatch(c.r.Header, f.etag)
	h.Set(headerETag, tag)
	if same {
		c.writeStatus(http.StatusNotModified)
		return nil
	}
	body := f.body[takes.best]()
	setEncoding(h, takes.best)
	h[headerType], h[headerLength] = f.media, []string{strconv.Itoa(len(body))}
	sendStage(&c.pass, c.r, body)
	c.writeStatus(http.StatusOK)
	if c.r.Method != http.MethodHead {
		writeBody(c.w, body)
	}
	return nil
}
