package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestDocumentsNameTests: the tests that the documents name as proof are there, scripts of
// TestScripts with their file.
func TestDocumentsNameTests(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	read := func(path string) string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	declaration := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	there := map[string]bool{}
	for _, goPackage := range packages(t) {
		for _, name := range append(goPackage.TestGoFiles, goPackage.XTestGoFiles...) {
			for _, found := range declaration.FindAllStringSubmatch(read(filepath.Join(goPackage.Dir, name)), -1) {
				there[found[1]] = true
			}
		}
	}
	named := regexp.MustCompile("`(Test[A-Z]\\w+)(?:/(\\w+))?`")
	looked := 0
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		for _, found := range named.FindAllStringSubmatch(read(path), -1) {
			looked++
			if !there[found[1]] {
				t.Errorf("%s: there is no test %s", path, found[1])
			}
			if found[1] == "TestScripts" && found[2] != "" {
				if _, err := os.Stat(filepath.Join(root, "cmd", "daybook", "testdata", "script", found[2]+".txt")); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
		}
		return nil
	})
	if err != nil || looked < 40 {
		t.Errorf("%d names of tests were looked for, want at least 40, %v", looked, err)
	}
}

// TestLinksOfDocuments: files that the documents link to are there.
func TestLinksOfDocuments(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	link := regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	looked := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == "bin" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range link.FindAllSubmatch(text, -1) {
			looked++
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), string(found[1]))); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		return err
	})
	if err != nil || looked < 60 {
		t.Errorf("%d links were looked at, want at least 60, %v", looked, err)
	}
}
