package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"testing"
)

// maxScripts is the most that all scripts have together, in bytes (docs/spec/desk.md E1.2).
const maxScripts = 200_000

// TestVendored: vendored files equal their manifest, and each has its licence next to it.
func TestVendored(t *testing.T) {
	t.Parallel()
	const folder = "static/vendor"
	var listed []struct {
		Name, Version, Licence string
		Files                  map[string]string
	}
	read(t, path.Join(folder, "manifest.json"), &listed)
	sums := map[string]string{}
	for _, v := range listed {
		for name, sum := range v.Files {
			sums[path.Join(folder, v.Name, name)] = sum
		}
		if v.Files["LICENSE"] == "" || v.Version == "" || v.Licence == "" {
			t.Errorf("%s has no licence or version", v.Name)
		}
	}
	walk(t, folder, func(name string, body []byte) {
		if path.Base(name) == "manifest.json" {
			return
		}
		sum := sha256.Sum256(body)
		if got := hex.EncodeToString(sum[:]); got != sums[name] {
			t.Errorf("%s has the hash %s, the manifest %q", name, got, sums[name])
		}
		delete(sums, name)
	})
	for name := range sums {
		t.Errorf("%s is in the manifest and not there", name)
	}
}

func TestSizeOfScripts(t *testing.T) {
	t.Parallel()
	size := 0
	walk(t, "static", func(name string, body []byte) {
		if path.Ext(name) == ".js" {
			size += len(Served(body))
		}
	})
	if size > maxScripts {
		t.Errorf("all scripts have %d bytes, want at most %d", size, maxScripts)
	}
}

// TestTexts: all languages have the same texts, with the same places for values.
func TestTexts(t *testing.T) {
	t.Parallel()
	var english map[string]string
	read(t, "static/texts.en.json", &english)
	for _, lang := range []string{"cn", "es", "fr"} {
		var other map[string]string
		read(t, "static/texts."+lang+".json", &other)
		for key, text := range english {
			there, ok := other[key]
			if !ok {
				t.Errorf("%s: %s is missing", lang, key)
			}
			for _, place := range []string{"{1}", "{2}"} {
				if strings.Contains(text, place) != strings.Contains(there, place) {
					t.Errorf("%s: %s has other places than the English text", lang, key)
				}
			}
		}
		for key := range other {
			if _, ok := english[key]; !ok {
				t.Errorf("%s: %s is no English text", lang, key)
			}
		}
	}
}

func read(t *testing.T, name string, to any) {
	t.Helper()
	data, err := Files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func walk(t *testing.T, folder string, use func(name string, body []byte)) {
	t.Helper()
	err := fs.WalkDir(Files, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := Files.ReadFile(name)
		use(name, body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
