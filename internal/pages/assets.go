package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

//go:embed assets
var assetFiles embed.FS

// asset is a file that pages load.
type asset struct {
	media string
	body  []byte
	path  string // with the hash of its content
}

// assets are the files by their name, hashed once.
type assets struct {
	named map[string]*asset
	mark  string
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

func newAssets(b Brand) (*assets, error) {
	out := &assets{named: map[string]*asset{}}
	all := sha256.New()
	err := fs.WalkDir(assetFiles, "assets", func(name string, d fs.DirEntry, err error) error {
		media := medias[path.Ext(name)]
		if err != nil || d.IsDir() || media == "" || d.Name() == manifestName || d.Name() == styleName {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		all.Write(out.add(d.Name(), media, body))
		return nil
	})
	if err != nil {
		return nil, err
	}
	style, err := assetFiles.ReadFile("assets/" + styleName)
	if err != nil {
		return nil, err
	}
	accent, err := accentStyle(b.Accent)
	if err != nil {
		return nil, err
	}
	style = spaces.ReplaceAll(style, nil)
	style = bytes.Replace(style, []byte(fontName), []byte(path.Base(out.path(fontName))), 1)
	all.Write(out.add(styleName, medias[".css"], append(style, accent...)))
	if b.Logo != nil {
		all.Write(out.add(logoName+b.Logo.ext, medias[b.Logo.ext], b.Logo.body))
	}
	fmt.Fprintf(all, "%q %q", b.Name, b.Home)
	for _, f := range b.Footer {
		if f.Lang != nil {
			fmt.Fprintf(all, "%d", *f.Lang)
		}
		fmt.Fprintf(all, "%q%q", f.Label, f.URL)
	}
	out.mark = hex.EncodeToString(all.Sum(nil))[:16]
	return out, nil
}

// add adds a file, and gives the hash of its content.
func (a *assets) add(name, media string, body []byte) []byte {
	sum := sha256.Sum256(body)
	ext := path.Ext(name)
	a.named[name] = &asset{media: media, body: body, path: "/assets/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:])[:10] + ext}
	return sum[:]
}

// path is where a file is.
func (a *assets) path(name string) string {
	if f := a.named[name]; f != nil {
		return f.path
	}
	return ""
}

// find gives a file by the path that it was asked under, and whether that is the present
// one.
func (a *assets) find(asked string) (f *asset, present bool) {
	base := strings.TrimPrefix(asked, "/assets/")
	ext := path.Ext(base)
	name := strings.TrimSuffix(base, ext)
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		name = name[:i]
	}
	if f = a.named[name+ext]; f == nil {
		return nil, false
	}
	return f, f.path == asked
}

// Colours that an accent is fitted to (PAGES.md P5.1).
const (
	pageLight, cardLight = "#fbfaf8", "#ffffff"
	pageDark, cardDark   = "#14151a", "#1d1f26"
	inkLight, inkDark    = "#ffffff", "#0a1a2f" // on the accent
)

// accentStyle returns the rule that gives the pages the accent of a brand, "" for none. The
// accent can be read on its tint, too.
func accentStyle(accent string) (string, error) {
	if accent == "" {
		return "", nil
	}
	c, err := readColour(accent)
	if err != nil {
		return "", fmt.Errorf("accent: %w", err)
	}
	of := func(hex string) colour { c, _ := readColour(hex); return c }
	light, dark := c.readable(of(pageLight), of(cardLight)), c.readable(of(pageDark), of(cardDark))
	on := func(c colour) colour { return c.on(of(inkDark), of(inkLight)) }
	return fmt.Sprintf("@media screen { :root { --accent: light-dark(%s, %s); --on-accent: light-dark(%s, %s); --accent-tint: light-dark(%s, %s) } }\n",
		light, dark, on(light), on(dark), light.tint(of(cardLight)), dark.tint(of(cardDark))), nil
}
