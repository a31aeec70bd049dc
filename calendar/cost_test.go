package calendar

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// costsOf reads the costs of a cell.
func costsOf(cell string) []string {
	if cell == "" {
		return nil
	}
	return strings.Split(cell, " ; ")
}

// The table of interface 3.1.4, and what its rules say beyond it.
func TestReadCost(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "costs.txt", "texts", 4) {
		cost := ReadCost(costsOf(row[0]), Currency{Symbol: "$", Position: "prefix"})
		got := []string{cost.Text, strings.TrimSpace(cost.Symbol + " " + cost.Position), strings.Join(cost.Values, " ; ")}
		if want := row[1:4]; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", row[0], got, want)
		}
	}
}

// TestCostNumbersAndCode: what offers may be made of, and in which currency (interface 3.1.8).
func TestCostNumbersAndCode(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "costs.txt", "codes", 3) {
		got := ReadCost(costsOf(row[0]), Currency{Symbol: "kr", Position: "postfix", Code: "NOK"})
		if numbers := row[1] == "numbers"; (got.Texts == 0 && len(got.Values) > 0) != numbers || got.Code != row[2] {
			t.Errorf("%q: %d texts of %q, code %q; want numbers: %t, %q", row[0], got.Texts, got.Values, got.Code, numbers, row[2])
		}
	}
}

// JSON numbers are taken as written: their point is always a decimal sign.
func TestCostOfNumber(t *testing.T) {
	t.Parallel()
	for _, row := range ReadRows(t, "costs.txt", "numbers", 3) {
		text, reason := costOfNumber(json.Number(row[0]))
		got := []string{string(reason), ""}
		if reason == "" {
			cost := ReadCost([]string{text}, Currency{Symbol: "$"})
			got = []string{cost.Text, strings.Join(cost.Values, " ; ")}
		}
		if want := row[1:3]; !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", row[0], got, want)
		}
	}
}

func FuzzCost(f *testing.F) {
	for _, text := range []string{
		"10", "$10", "20$", "10 EUR", "10,50", "$1,000.50", "10 - 20", "free", "£0", "-5", "1'000.5 kr", "10 – 20€", "1.000.000", ",", "0.0",
		"1 2 3", "$", "5-", "0,125",
	} {
		f.Add(text, "10")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		cost := ReadCost([]string{a, b}, Currency{Symbol: "$", Position: "prefix"})
		if len(cost.Values) == 0 || len(cost.Values) > 4 {
			t.Fatalf("%q, %q: values %q", a, b, cost.Values)
		}
		if (cost.Symbol == "") != (cost.Position == "") {
			t.Fatalf("%q, %q: symbol %q at %q", a, b, cost.Symbol, cost.Position)
		}
		if cost.Symbol != "" && !symbolForm.MatchString(cost.Symbol) {
			t.Fatalf("%q, %q: symbol %q", a, b, cost.Symbol)
		}
		for _, value := range cost.Values {
			again := ReadCost([]string{a, b, value}, Currency{})
			if len(readAmounts(a)) > 0 && len(readAmounts(b)) > 0 && len(again.Values) < len(cost.Values) {
				t.Fatalf("%q, %q: value %q is lost", a, b, value)
			}
		}
		same := ReadCost([]string{a, b, a, b}, Currency{Symbol: "$", Position: "prefix"})
		if diff := cmp.Diff(cost, same); diff != "" {
			t.Fatalf("%q, %q: equal ones count twice:\n%s", a, b, diff)
		}
	})
}
