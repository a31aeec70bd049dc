package httpapi

import (
	"net/http"
	"path"
	"strconv"
	"strings"

	"daybook/calendar"
	public "daybook/internal/pages"
)

// pageFiles returns the files that pages load, by their paths.
func pageFiles(pages *public.Pages) map[string]*answer {
	result := map[string]*answer{}
	for _, file := range pages.Files() {
		tag := strconv.Quote(path.Base(file.Path))
		reply := &answer{body: newBody(file.Body), media: []string{file.Media}, etag: tag, headers: http.Header{headerETag: {tag}}, file: true}
		kind, form, _ := strings.Cut(file.Media, "/")
		reply.small = kind == "font" || kind == "image" && form != "svg+xml"
		result[file.Path] = reply
	}
	return result
}

// sendAsset sends a file that pages load. Under another hash it is the present one, which
// is not to be kept, so that pages of another version work.
func (call *call) sendAsset() error {
	name, present := call.Pages.FilePath(call.page.Route)
	answer := call.files[name]
	if answer == nil {
		return refusal(calendar.CodeNoRoute)
	}
	cached := "no-cache"
	if present {
		cached = cacheForever
	}
	call.header.Set(headerCache, cached)
	return call.sendAnswer(answer)
}
