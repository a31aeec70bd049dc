package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
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
	".png": "image/png", ".webp": "image/webp",
}

// logoName is the logo of a brand among the files, without its ending.
const logoName = "logo"

func newAssets(b Brand) (*assets, error) {
	out := &assets{named: map[string]*asset{}}
	all := sha256.New()
	err := fs.WalkDir(assetFiles, "assets", func(name string, d fs.DirEntry, err error) error {
		media := medias[path.Ext(name)]
		if err != nil || d.IsDir() || media == "" || d.Name() == manifestName {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		if err == nil && d.Name() == "daybook.css" {
			body, err = brandStyle(body, b)
		}
		if err != nil {
			return err
		}
		all.Write(out.add(d.Name(), media, body))
		return nil
	})
	if err != nil {
		return nil, err
	}
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

// The colours of the standard accent, and what it stands on (PAGES.md P5.1).
const (
	accentLight, accentDark     = "#0b5fae", "#82b8ff"
	onAccentLight, onAccentDark = "#ffffff", "#0a1a2f"
)

// brandStyle puts the accent of a brand into the style.
func brandStyle(css []byte, b Brand) ([]byte, error) {
	if b.Accent == "" {
		return css, nil
	}
	accent, err := readColour(b.Accent)
	if err != nil {
		return nil, fmt.Errorf("accent: %w", err)
	}
	of := func(hex string) colour { c, _ := readColour(hex); return c }
	light := accent.readable(of("#fbfaf8"), of("#ffffff"))
	dark := accent.readable(of("#14151a"), of("#1d1f26"))
	for from, to := range map[string]string{
		accentLight: light.String(), accentDark: dark.String(),
		"--on-accent: " + onAccentLight: "--on-accent: " + light.on(of(onAccentDark), of(onAccentLight)).String(),
		"--on-accent: " + onAccentDark:  "--on-accent: " + dark.on(of(onAccentDark), of(onAccentLight)).String(),
	} {
		css = bytes.ReplaceAll(css, []byte(from), []byte(to))
	}
	return css, nil
}
