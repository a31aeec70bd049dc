package calendar

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The table of interface 3.1.4, and what its rules say beyond it.
func TestReadCost(t *testing.T) {
	t.Parallel()
	const nothing = "\x00" // a shorthand for no symbol and no position
	tests := []struct {
		costs            []string
		text             string
		symbol, position string
		values           []string
	}{
		{[]string{"10"}, "$10", "", "", []string{"10"}},
		{[]string{"$10"}, "$10", "$", "prefix", []string{"10"}},
		{[]string{"20$"}, "20$", "$", "postfix", []string{"20"}},
		{[]string{"10 EUR"}, "10EUR", "EUR", "postfix", []string{"10"}},
		{[]string{"10.50"}, "$10.50", "", "", []string{"10.50"}},
		{[]string{"10,50"}, "$10,50", "", "", []string{"10.50"}},
		{[]string{"1,000"}, "$1,000", "", "", []string{"1000"}},
		{[]string{"$1,000.50"}, "$1,000.50", "$", "prefix", []string{"1000.50"}},
		{[]string{"$5", "$10"}, "$5 – $10", "$", "prefix", []string{"5", "10"}},
		{[]string{"0$", "20$", "30$"}, "Free – 30$", "$", "postfix", []string{"0", "20", "30"}},
		{[]string{"10 - 20"}, "$10 – $20", "", "", []string{"10", "20"}},
		{[]string{"free"}, "free", "", "", []string{"free"}},
		{[]string{"£0"}, "Free", "£", "prefix", []string{"0"}},
		{[]string{"0"}, "Free", "", "", []string{"0"}},
		{nil, "", "", "", []string{}},

		{[]string{"10–20€"}, "10€ – 20€", "€", "postfix", []string{"10", "20"}},
		{[]string{"€ 10 — € 20"}, "€10 – €20", "€", "prefix", []string{"10", "20"}},
		{[]string{"20 - 10"}, "$10 – $20", "", "", []string{"10", "20"}},
		{[]string{"10", "9.5", "100", "2"}, "$2 – $100", "", "", []string{"2", "9.5", "10", "100"}},
		{[]string{"10", "10.00", "$10"}, "$10 – $10.00", "$", "prefix", []string{"10", "10.00"}},
		{[]string{"0.00"}, "Free", "", "", []string{"0.00"}},
		{[]string{"5", "Members free", "10 EUR", "FREE", "free"}, "Members free – 10EUR", "EUR", "postfix", []string{"members free", "free", "5", "10"}},
		{[]string{"Don & Co"}, "Don & Co", "", "", []string{"don & co"}},
		{[]string{"1.000,50 kr"}, "1.000,50kr", "kr", "postfix", []string{"1000.50"}},
		{[]string{"1 000 000,5"}, "$1 000 000,5", "", "", []string{"1000000.5"}},
		{[]string{"1'234.5"}, "$1'234.5", "", "", []string{"1234.5"}},
		{[]string{"1.000.000"}, "$1.000.000", "", "", []string{"1000000"}},
		{[]string{"1.125"}, "$1.125", "", "", []string{"1125"}},
		{[]string{"0.125"}, "$0.125", "", "", []string{"0.125"}},
		{[]string{"0,125"}, "$0,125", "", "", []string{"0.125"}},
		{[]string{"1000,50"}, "$1000,50", "", "", []string{"1000.50"}},
		{[]string{"1000.1234"}, "$1000.1234", "", "", []string{"1000.1234"}},
		{[]string{"US$ 10"}, "US$10", "US$", "prefix", []string{"10"}},
		{[]string{"10 €"}, "10€", "€", "postfix", []string{"10"}},
		{[]string{"CHF 10 – CHF 20"}, "CHF10 – CHF20", "CHF", "prefix", []string{"10", "20"}},
		{[]string{"10 Eur"}, "10Eur", "Eur", "postfix", []string{"10"}},
		{[]string{"10 zł"}, "10zł", "zł", "postfix", []string{"10"}},
		{[]string{"10 kr."}, "10kr.", "kr.", "postfix", []string{"10"}},
		{[]string{"Fr. 10.50"}, "Fr.10.50", "Fr.", "prefix", []string{"10.50"}},
		{[]string{"100 руб"}, "100руб", "руб", "postfix", []string{"100"}},
		{[]string{"10 USDT"}, "10USDT", "USDT", "postfix", []string{"10"}},

		// Not one or two amounts: shown as sent.
		{[]string{"-5"}, "-5", nothing, "", []string{"-5"}},
		{[]string{"from 10"}, "from 10", nothing, "", []string{"from 10"}},
		{[]string{"ab 10"}, "ab 10", nothing, "", []string{"ab 10"}},
		{[]string{"10 each"}, "10 each", nothing, "", []string{"10 each"}},
		{[]string{"10 each", "5"}, "10 each – $5", nothing, "", []string{"10 each", "5"}},
		{[]string{"100 元"}, "100 元", nothing, "", []string{"100 元"}},
		{[]string{"10 Euro"}, "10 Euro", nothing, "", []string{"10 euro"}},
		{[]string{"10 E"}, "10 E", nothing, "", []string{"10 e"}},
		{[]string{"10 ABCDE"}, "10 ABCDE", nothing, "", []string{"10 abcde"}},
		{[]string{"10 ABCD€"}, "10 ABCD€", nothing, "", []string{"10 abcd€"}},
		{[]string{"10 $$"}, "10 $$", nothing, "", []string{"10 $$"}},
		{[]string{"10 KR."}, "10 KR.", nothing, "", []string{"10 kr."}},
		{[]string{"15.00."}, "15.00.", nothing, "", []string{"15.00."}},
		{[]string{"1.500.00"}, "1.500.00", nothing, "", []string{"1.500.00"}},
		{[]string{"31.12."}, "31.12.", nothing, "", []string{"31.12."}},
		{[]string{"..."}, "...", nothing, "", []string{"..."}},
		{[]string{"1000,500"}, "1000,500", nothing, "", []string{"1000,500"}},
		{[]string{"1,00,000"}, "1,00,000", nothing, "", []string{"1,00,000"}},
		{[]string{"1,000.50.20"}, "1,000.50.20", nothing, "", []string{"1,000.50.20"}},
		{[]string{"1,,000"}, "1,,000", nothing, "", []string{"1,,000"}},
		{[]string{"10 20"}, "10 20", nothing, "", []string{"10 20"}},
		{[]string{"10."}, "10.", nothing, "", []string{"10."}},
		{[]string{".50"}, ".50", nothing, "", []string{".50"}},
		{[]string{"10-20-30"}, "10-20-30", nothing, "", []string{"10-20-30"}},
		{[]string{"10 -"}, "10 -", nothing, "", []string{"10 -"}},
		{[]string{"$10 USD"}, "$10 USD", nothing, "", []string{"$10 usd"}},
		{[]string{"10 dollars"}, "10 dollars", nothing, "", []string{"10 dollars"}},
		{[]string{"10  EUR"}, "10  EUR", nothing, "", []string{"10  eur"}},
		{[]string{"From 10 to 20"}, "From 10 to 20", nothing, "", []string{"from 10 to 20"}},
		{[]string{"1e3"}, "1e3", nothing, "", []string{"1e3"}},
		{[]string{"10%"}, "10%", nothing, "", []string{"10%"}},
		{[]string{"$"}, "$", nothing, "", []string{"$"}},
		{[]string{"１０"}, "１０", nothing, "", []string{"１０"}},
	}
	site := Currency{Symbol: "$", Position: "prefix"}
	for _, tt := range tests {
		t.Run(strings.Join(tt.costs, "|"), func(t *testing.T) {
			t.Parallel()
			symbol := strings.TrimPrefix(tt.symbol, nothing)
			want := Cost{Text: tt.text, Symbol: symbol, Position: tt.position, Values: tt.values}
			if diff := cmp.Diff(want, ReadCost(tt.costs, site), cmpopts.IgnoreFields(Cost{}, "Numbers", "Code")); diff != "" {
				t.Errorf("ReadCost (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadCostSiteCurrency(t *testing.T) {
	t.Parallel()
	if got := ReadCost([]string{"10", "12.5"}, Currency{Symbol: "€", Position: "postfix"}).Text; got != "10€ – 12.5€" {
		t.Errorf("got %q", got)
	}
	if got := ReadCost([]string{"10"}, Currency{}).Text; got != "10" {
		t.Errorf("without a site symbol: got %q", got)
	}
}

// TestCostNumbersAndCode: what offers may be made of, and in which currency (interface 3.1.8).
func TestCostNumbersAndCode(t *testing.T) {
	t.Parallel()
	site := Currency{Symbol: "kr", Position: "postfix", Code: "NOK"}
	for _, tt := range []struct {
		costs   []string
		numbers bool
		code    string
	}{
		{[]string{"10"}, true, "NOK"},
		{[]string{"10 kr"}, true, "NOK"},
		{[]string{"10 kr."}, true, ""},
		{[]string{"10 USD"}, true, "USD"},
		{[]string{"usd 10"}, true, "USD"},
		{[]string{"10 BGN"}, true, "BGN"},
		{[]string{"10 USDT"}, true, ""},
		{[]string{"10 лв"}, true, ""},
		{[]string{"£12"}, true, "GBP"},
		{[]string{"€12"}, true, "EUR"},
		{[]string{"US$12"}, true, "USD"},
		{[]string{"$12"}, true, ""},
		{[]string{"A$12"}, true, ""},
		{[]string{"R$12"}, true, "BRL"},
		{[]string{"10 zł", "20 zł"}, true, "PLN"},
		{[]string{"10 Kč"}, true, "CZK"},
		{[]string{"10 Ft"}, true, "HUF"},
		{[]string{"₹1", "₹2"}, true, "INR"},
		{[]string{"₪1"}, true, "ILS"},
		{[]string{"₩1"}, true, "KRW"},
		{[]string{"₺1"}, true, "TRY"},
		{[]string{"₴1"}, true, "UAH"},
		{[]string{"¥1"}, true, ""},
		{[]string{"10 - 20 €"}, true, "EUR"},
		{[]string{"€10", "10 EUR"}, true, "EUR"},
		{[]string{"€10", "£20"}, true, ""},
		{[]string{"€10", "£10"}, true, ""}, // also where they are one value
		{[]string{"10 kr", "10 NOK"}, true, "NOK"},
		{[]string{"£0"}, true, "GBP"},
		{[]string{"free"}, false, "NOK"},
		{[]string{"15.00."}, false, "NOK"},
		{[]string{"€5", "15.00."}, false, "EUR"},
		{[]string{"from 10"}, false, "NOK"},
		{nil, false, "NOK"},
	} {
		if got := ReadCost(tt.costs, site); got.Numbers != tt.numbers || got.Code != tt.code {
			t.Errorf("%q: numbers %t, code %q; want %t, %q", tt.costs, got.Numbers, got.Code, tt.numbers, tt.code)
		}
	}
}

// JSON numbers are taken as written: their point is always a decimal sign.
func TestCostOfNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in    json.Number
		text  string
		value string
	}{
		{"10", "$10", "10"},
		{"10.50", "$10.50", "10.50"},
		{"1.125", "$1.125", "1.125"},
		{"1000.125", "$1000.125", "1000.125"},
		{"0.125", "$0.125", "0.125"},
		{"1e3", "$1000", "1000"},
		{"1.5e1", "$15", "15"},
		{"12e-1", "$1.2", "1.2"},
		{"1.125e0", "$1.125", "1.125"},
		{"5e-3", "$0.005", "0.005"},
		{"0e9", "Free", "0"},
		{"0", "Free", "0"},
		{"-0", "Free", "0"},
		{"-0.0", "Free", "0.0"},
	}
	for _, tt := range tests {
		s, reason := costOfNumber(tt.in)
		if reason != "" {
			t.Errorf("%s is refused: %s", tt.in, reason)
			continue
		}
		got := ReadCost([]string{s}, Currency{Symbol: "$"})
		if got.Text != tt.text || !slices.Equal(got.Values, []string{tt.value}) {
			t.Errorf("%s: got %q, %q; want %q, %q", tt.in, got.Text, got.Values, tt.text, tt.value)
		}
	}
	for in, want := range map[json.Number]Reason{
		"-1": ReasonCost, "-0.01": ReasonCost, "-1e400": ReasonCost, "1e400": ReasonTypeCost, "1e-400": ReasonTypeCost, "x": ReasonTypeCost,
	} {
		if s, got := costOfNumber(in); got != want {
			t.Errorf("%s: got %q, %q; want %q", in, s, got, want)
		}
	}
}

func FuzzCost(f *testing.F) {
	for _, s := range []string{
		"10", "$10", "20$", "10 EUR", "10,50", "$1,000.50", "10 - 20", "free", "£0", "-5", "1'000.5 kr", "10 – 20€", "1.000.000", ",", "0.0",
		"1 2 3", "$", "5-", "0,125",
	} {
		f.Add(s, "10")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		c := ReadCost([]string{a, b}, Currency{Symbol: "$", Position: "prefix"})
		if len(c.Values) == 0 || len(c.Values) > 4 {
			t.Fatalf("%q, %q: values %q", a, b, c.Values)
		}
		if (c.Symbol == "") != (c.Position == "") {
			t.Fatalf("%q, %q: symbol %q at %q", a, b, c.Symbol, c.Position)
		}
		if c.Symbol != "" && !isSymbol(c.Symbol) {
			t.Fatalf("%q, %q: symbol %q", a, b, c.Symbol)
		}
		for _, v := range c.Values {
			again := ReadCost([]string{a, b, v}, Currency{})
			if len(readAmounts(a)) > 0 && len(readAmounts(b)) > 0 && len(again.Values) < len(c.Values) {
				t.Fatalf("%q, %q: value %q is lost", a, b, v)
			}
		}
		same := ReadCost([]string{a, b, a, b}, Currency{Symbol: "$", Position: "prefix"})
		if diff := cmp.Diff(c, same); diff != "" {
			t.Fatalf("%q, %q: equal ones count twice:\n%s", a, b, diff)
		}
	})
}
