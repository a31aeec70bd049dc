package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// File is one that pages load.
type File struct {
	Path  string // below the base URL, with the hash of the content
	Media string
	Body  []byte `json:"-"`
}

// assets are the files by their names, hashed once.
type assets struct {
	named map[string]*File
	desk  []byte // its document, nil without the desk
	mark  string // of their contents and the brand
}

// manifestName is the list of the vendored files, with their versions and hashes.
const manifestName = "manifest.json"

// medias are those of files by their ending.
var medias = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml", ".json": "application/json",
	".png": "image/png", ".webp": "image/webp", ".woff2": "font/woff2",
}

// Names of files: the style, which names the font, and the logo of a brand, without its ending.
const (
	styleName = "daybook.css"
	fontName  = "figtree-latin.woff2"
	logoName  = "logo"
)

// spaces are what a browser does not need of the style.
var spaces = regexp.MustCompile(`(?s)/\*.*?\*/|\n\t*`)

func newAssets(brand Brand, withDesk bool) (*assets, error) {
	result := &assets{named: map[string]*File{}}
	err := fs.WalkDir(assetFiles, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || medias[path.Ext(name)] == "" || entry.Name() == manifestName {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		result.add(entry.Name(), body)
		return err
	})
	if err != nil {
		return nil, err
	}
	style := spaces.ReplaceAll(result.named[styleName].Body, nil)
	style = bytes.Replace(style, []byte(fontName), []byte(path.Base(result.named[fontName].Path)), 1)
	result.add(styleName, append(style, accentStyle(brand.Accent)...))
	if brand.Logo != nil {
		result.add(logoName+brand.Logo.ext, brand.Logo.body)
	}
	if withDesk {
		if result.desk, err = result.linkDesk("index.html"); err != nil {
			return nil, err
		}
	}
	all, err := json.Marshal([]any{result.named, brand, string(result.desk)})
	result.mark = hash(all)
	return result, err
}

// hash names a content.
func hash(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:])[:10]
}

func (assets *assets) add(name string, body []byte) {
	ext := path.Ext(name)
	folder := "/assets/"
	if path.Dir(name) == "desk" {
		folder = deskAssets
	}
	assets.named[name] = &File{Path: folder + strings.TrimSuffix(path.Base(name), ext) + "." + hash(body) + ext, Media: medias[ext], Body: body}
}

// hashed is the end of the path of a file: a hash and the ending of its name.
var hashed = regexp.MustCompile(`\.[^.]*(\.[^.]*)$`)

// find returns a file by the path that it was asked under, nil for none, and reports whether
// that is the present one.
func (assets *assets) find(asked string) (file *File, present bool) {
	file = assets.named[hashed.ReplaceAllString(strings.TrimPrefix(strings.Replace(asked, deskAssets, "desk/", 1), "/assets/"), "$1")]
	return file, file != nil && file.Path == asked
}

// Colours that an accent is fitted to (PAGES.md P5.1).
const (
	pageLight, cardLight = "#fbfaf8", "#ffffff"
	pageDark, cardDark   = "#14151a", "#1d1f26"
	inkLight, inkDark    = "#ffffff", "#0a1a2f" // on the accent
)

// accentStyle returns the rule that sets the accent of a brand on pages, "" for none. The
// accent can be read on its tint, too.
func accentStyle(accent string) string {
	if accent == "" {
		return ""
	}
	c, _ := readColour(accent) // it was checked
	fit := func(page, card string) (fitted, tint colour, on string) {
		of := func(hex string) colour { c, _ := readColour(hex); return c }
		fitted, on = c.readable(of(page), of(card)), inkLight
		if contrast(fitted, of(inkDark)) > contrast(fitted, of(inkLight)) {
			on = inkDark
		}
		return fitted, fitted.tint(of(card)), on
	}
	light, lightTint, onLight := fit(pageLight, cardLight)
	dark, darkTint, onDark := fit(pageDark, cardDark)
	return fmt.Sprintf("@media screen { :root { --accent: light-dark(%s, %s); --on-accent: light-dark(%s, %s); --accent-tint: light-dark(%s, %s) } }\n",
		light, dark, onLight, onDark, lightTint, darkTint)
}
