package calendar

import (
	"archive/zip"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParseZone(t *testing.T) {
	t.Parallel()
	summer := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		in, name, abbr string
		offset         int
	}{
		{"Europe/Rome", "Europe/Rome", "CEST", 7200},
		{"europe/rome", "Europe/Rome", "CEST", 7200},
		{" AMERICA/NEW_YORK ", "America/New_York", "EDT", -14400},
		{"EST", "EST", "EST", -18000},
		{"est", "EST", "EST", -18000},
		{"America/Sao_Paulo", "America/Sao_Paulo", "-03", -10800},
		{"UTC", "UTC", "UTC", 0},
		{"utc", "UTC", "UTC", 0},
		{"Etc/UTC", "Etc/UTC", "UTC", 0},
		{"UTC+0", "UTC+0", "UTC+0", 0},
		{"UTC-5", "UTC-5", "UTC-5", -18000},
		{"UTC+05", "UTC+05", "UTC+05", 18000},
		{"UTC+5:30", "UTC+5:30", "UTC+5:30", 19800},
		{"UTC+5.5", "UTC+5.5", "UTC+5.5", 19800},
		{"UTC-3.75", "UTC-3.75", "UTC-3.75", -13500},
		{"UTC+12.25", "UTC+12.25", "UTC+12.25", 44100},
		{"UTC+14", "UTC+14", "UTC+14", 50400},
		{"UTC-12:00", "UTC-12:00", "UTC-12:00", -43200},
		{"+05:45", "+05:45", "+05:45", 20700},
		{"-12:00", "-12:00", "-12:00", -43200},
	}
	for _, tt := range tests {
		z, ok := ParseZone(tt.in)
		if !ok {
			t.Errorf("ParseZone(%q) refuses it", tt.in)
			continue
		}
		_, offset := summer.In(z.Location).Zone()
		if z.Name != tt.name || z.Abbreviation(summer) != tt.abbr || offset != tt.offset {
			t.Errorf("ParseZone(%q) = %s, %s, %d; want %s, %s, %d",
				tt.in, z.Name, z.Abbreviation(summer), offset, tt.name, tt.abbr, tt.offset)
		}
		if again, ok := ParseZone(z.Name); !ok || !again.Equal(z) {
			t.Errorf("%q does not read back as itself", z.Name)
		}
	}
}

func TestParseZoneAbbreviationFollowsTheDate(t *testing.T) {
	t.Parallel()
	z, _ := ParseZone("Europe/Rome")
	if got := z.Abbreviation(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)); got != "CET" {
		t.Errorf("in winter: got %s, want CET", got)
	}
}

func TestParseZoneRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", "UTC+99", "UTCfoo", "CEST", "Local", "local", "UTC+14.25", "UTC+14:01", "UTC-12.5", "UTC-13", "UTC+", "UTC+5.3",
		"UTC+5.50", "UTC+5:3", "UTC+5:60", "UTC+5:300", "UTC 5", "UTC+005", "+5:30", "+0530", "+05", "+15:00", "5", "GMT+5:30",
		"Europe", "Europe/", "Europe/Nowhere", "../etc/passwd", "Factory", "posixrules", "/Europe/Rome", "UTC+5.", "UTC++5", "UTC\u22125",
	} {
		if z, ok := ParseZone(in); ok {
			t.Errorf("ParseZone(%q) = %s, want it refused", in, z.Name)
		}
	}
}

// Every name of the table loads, and the table is that of the Go release.
func TestZoneNames(t *testing.T) {
	t.Parallel()
	for _, name := range zoneNames {
		if z, ok := ParseZone(strings.ToUpper(name)); !ok || z.Name != name {
			t.Errorf("%s: got %q, %v", name, z.Name, ok)
		}
	}
	//nolint:staticcheck // the tests run where the release is installed
	r, err := zip.OpenReader(filepath.Join(runtime.GOROOT(), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Logf("not compared with the release: %v", err)
		return
	}
	defer r.Close()
	var want []string
	for _, f := range r.File {
		if !strings.HasSuffix(f.Name, "/") && f.Name != "Factory" {
			want = append(want, f.Name)
		}
	}
	slices.SortFunc(want, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	if !slices.Equal(want, zoneNames[:]) {
		t.Error("zoneNames is not the list of the Go release: make it again")
	}
}
