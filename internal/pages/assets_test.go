package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestVendored: vendored files equal their manifest, and each has its licence next to it
// (PAGES P7, P13.53).
func TestVendored(t *testing.T) {
	t.Parallel()
	const folder = "assets/vendor"
	data, err := assetFiles.ReadFile(path.Join(folder, manifestName))
	if err != nil {
		t.Fatal(err)
	}
	var listed []struct {
		Name, Version, Licence string
		Files                  map[string]string
	}
	if err := json.Unmarshal(data, &listed); err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for _, v := range listed {
		licensed := false
		for name, sum := range v.Files {
			sums[path.Join(folder, v.Name, name)] = sum
			licensed = licensed || strings.HasPrefix(name, "LICENSE")
		}
		if !licensed || v.Version == "" || v.Licence == "" {
			t.Errorf("%s has no licence or version", v.Name)
		}
	}
	err = fs.WalkDir(assetFiles, folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == manifestName {
			return err
		}
		body, err := assetFiles.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(body)
		if got := hex.EncodeToString(sum[:]); got != sums[name] {
			t.Errorf("%s has the hash %s, the manifest %q", name, got, sums[name])
		}
		delete(sums, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range sums {
		t.Errorf("%s is in the manifest and not there", name)
	}
}

// TestAssetPaths: a file has a path of its content; another hash of its name finds the
// present one (PAGES P6.1, P13.27).
func TestAssetPaths(t *testing.T) {
	t.Parallel()
	assets, err := newAssets(Brand{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range assets.named {
		if got, present := assets.find(file.Path); got != file || !present {
			t.Errorf("%s is not found under %s", name, file.Path)
		}
		ext, folder := path.Ext(name), "/assets/"
		if other, ok := strings.CutPrefix(name, "desk/"); ok {
			name, folder = other, deskAssets
		}
		if got, present := assets.find(folder + strings.TrimSuffix(name, ext) + ".0123456789" + ext); got != file || present {
			t.Errorf("%s is not found under an old hash", name)
		}
	}
	if got, _ := assets.find("/assets/nothing.0123456789.css"); got != nil {
		t.Error("there is no such file")
	}
	branded, err := newAssets(Brand{Accent: "#ff0000"}, false)
	if err != nil || branded.named["daybook.css"].Path == assets.named["daybook.css"].Path {
		t.Errorf("an accent leaves the style as it is: %v", err)
	}
}

// TestDeskLinks: all that the files of the desk name is there, under the hash of its content
// (docs/spec/desk.md E9.1).
func TestDeskLinks(t *testing.T) {
	t.Parallel()
	assets, err := newAssets(Brand{}, true)
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, file := range assets.named {
		served[path.Base(file.Path)] = true
	}
	for _, name := range []string{"main.js", "squire.js", "texts.cn.json", "desk.css"} {
		if assets.named["desk/"+name] == nil {
			t.Errorf("%s is not served", name)
		}
	}
	bodies := [][]byte{assets.desk}
	for name, file := range assets.named {
		if strings.HasPrefix(name, "desk/") {
			bodies = append(bodies, file.Body)
		}
	}
	named := regexp.MustCompile(`"(?:\.\.?/assets/|\./|assets/)([a-z-]+(?:\.[a-z0-9]+)+)"`)
	for _, body := range bodies {
		for _, datas := range named.FindAllSubmatch(body, -1) {
			if !served[string(datas[1])] {
				t.Errorf("%s is named and not served", datas[1])
			}
		}
	}
}
