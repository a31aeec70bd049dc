package calendar

import (
	"archive/zip"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseZone(t *testing.T) {
	t.Parallel()
	summer := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, row := range ReadRows(t, "dates.txt", "zones", 4) {
		zone, ok := ParseZone(row[0])
		got := []string{"refused", "", ""}
		if ok {
			_, offset := summer.In(zone.Location).Zone()
			got = []string{zone.Name, zone.Abbreviation(summer), strconv.Itoa(offset)}
			if again, ok := ParseZone(zone.Name); !ok || again.Name != zone.Name {
				t.Errorf("%q does not read back as itself", zone.Name)
			}
		}
		if want := row[1:4]; !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", row[0], got, want)
		}
	}
}

// Every name of the table loads, and the table is that of the Go release.
func TestZoneNames(t *testing.T) {
	t.Parallel()
	for _, name := range zoneNames {
		if zone, ok := ParseZone(strings.ToUpper(name)); !ok || zone.Name != name {
			t.Errorf("%s: got %q, %v", name, zone.Name, ok)
		}
	}
	//nolint:staticcheck // the tests run where the release is installed
	readCloser, err := zip.OpenReader(filepath.Join(runtime.GOROOT(), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Logf("not compared with the release: %v", err)
		return
	}
	defer readCloser.Close()
	var want []string
	for _, file := range readCloser.File {
		if !strings.HasSuffix(file.Name, "/") && file.Name != "Factory" {
			want = append(want, file.Name)
		}
	}
	slices.SortFunc(want, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	if !slices.Equal(want, zoneNames) {
		t.Error("zoneNames is not the list of the Go release: make it again")
	}
}
