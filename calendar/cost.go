package calendar

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The positions of a currency symbol.
const (
	positionPrefix  = "prefix"
	positionPostfix = "postfix"
)

// freeText is how a cost of zero is shown, in every language.
const freeText = "Free"

// numberMark precedes a stored cost that was sent as a JSON number and that
// would read otherwise as text: in 1.125 the point is a decimal sign, in "1.125"
// it groups thousands. Texts never contain control characters.
const numberMark = "\x01"

// Cost is what the costs of an event show (interface 3.1.4).
type Cost struct {
	Text     string   // "cost" of the answer, not escaped
	Symbol   string   // currency_symbol
	Position string   // currency_position: "prefix", "postfix" or ""
	Values   []string // values
	Texts    int      // how many of Values, the first ones, are no numbers
	Code     string   // ISO 4217 code of the amounts; "": unknown, or several
}

// Currency is the site's currency: the symbol, its position ("prefix",
// also when empty, or "postfix"), and its ISO 4217 code.
type Currency struct {
	Symbol   string `name:"currency-symbol" default:"$" placeholder:"TEXT" help:"symbol of costs without one"`
	Position string `name:"currency-position" default:"prefix" choices:"prefix or postfix" placeholder:"WHERE" help:"prefix or postfix"`
	Code     string `name:"price-currency" default:"USD" placeholder:"CODE" pattern:"^[A-Z]{3}$" must:"be three capital letters, as EUR" help:"ISO 4217 code, in linked data, of costs with the currency symbol or without any"`
}

// codeOf returns the ISO 4217 code that a symbol stands for, "" for none.
func (site Currency) codeOf(symbol string) string {
	if symbol == "" || symbol == site.Symbol {
		return site.Code
	}
	if wordCurrency.MatchString(symbol) || len(symbol) == 3 && strings.Trim(symbol, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
		return strings.ToUpper(symbol)
	}
	return currencyCodes[symbol]
}

// currencyCodes are the symbols of one currency only (interface 3.1.8).
var currencyCodes = map[string]string{
	"€": "EUR", "£": "GBP", "US$": "USD", "zł": "PLN", "Kč": "CZK", "Ft": "HUF", "R$": "BRL", "₹": "INR", "₪": "ILS", "₩": "KRW", "₺": "TRY", "₴": "UAH",
}

// wordCurrency are the codes that may be written in any case.
var wordCurrency = regexp.MustCompile(`^(?i:eur|usd|gbp|chf)$`)

// symbolForm are the currency symbols (interface 3.1.4): such a code, a local symbol, two to
// four capitals, or a currency sign with three at most.
var symbolForm = regexp.MustCompile(wordCurrency.String() + `|^(?:kr\.?|zł|Kč|Ft|lei|лв|Fr\.|Rs|руб|\p{Lu}{2,4}|` +
	`\p{Sc}\p{Lu}{0,3}|\p{Lu}\p{Sc}\p{Lu}{0,2}|\p{Lu}{2}\p{Sc}\p{Lu}?|\p{Lu}{3}\p{Sc})$`)

// amount is one number of a cost, or a cost that is none.
type amount struct {
	typed    string // as typed, without the symbol
	value    string // decimal point, no thousands separators; of a text in lower case
	symbol   string
	position string // "" without a symbol
	isText   bool
}

// ReadCost returns the Cost of stored costs.
func ReadCost(costs []string, site Currency) Cost {
	var cost Cost
	var texts, numbers []amount // each value once
	var symbols []string        // of all numbers
	seen := make(map[string]bool, len(costs))
	for _, text := range costs {
		for _, price := range readAmounts(text) {
			if !price.isText {
				symbols = append(symbols, price.symbol)
			}
			if cost.Symbol == "" {
				cost.Symbol, cost.Position = price.symbol, price.position
			}
			switch {
			case seen[price.value]:
			case price.isText:
				texts = append(texts, price)
			default:
				numbers = append(numbers, price)
			}
			seen[price.value] = true
		}
	}
	slices.SortStableFunc(numbers, func(a, b amount) int { return compareDecimals(a.value, b.value) })
	all := append(texts, numbers...)
	cost.Values = make([]string, len(all))
	for i, price := range all {
		cost.Values[i] = price.value
	}
	cost.Texts = len(texts)
	cost.Code = site.codeOf(cost.Symbol)
	if slices.ContainsFunc(symbols, func(text string) bool { return site.codeOf(cmp.Or(text, cost.Symbol)) != cost.Code }) {
		cost.Code = ""
	}
	if len(all) > 0 {
		cost.Text = cost.show(all[0], site)
	}
	if len(all) > 1 {
		cost.Text += " – " + cost.show(all[len(all)-1], site)
	}
	return cost
}

// show returns what is shown of an amount: with its own symbol, else that of the cost,
// else that of the site.
func (cost *Cost) show(amount amount, site Currency) string {
	if amount.symbol == "" {
		amount.symbol, amount.position = cost.Symbol, cost.Position
	}
	if amount.symbol == "" {
		amount.symbol, amount.position = site.Symbol, site.Position
	}
	switch {
	case amount.isText:
		return amount.typed
	case strings.Trim(amount.value, "0.") == "":
		return freeText
	case amount.position == positionPostfix:
		return amount.typed + amount.symbol
	default:
		return amount.symbol + amount.typed
	}
}

// compareDecimals compares two numbers of digits and a decimal point.
func compareDecimals(first, second string) int {
	wholeA, fracA, _ := strings.Cut(strings.TrimLeft(first, "0"), ".")
	wholeB, fracB, _ := strings.Cut(strings.TrimLeft(second, "0"), ".")
	return cmp.Or(cmp.Compare(len(wholeA), len(wholeB)), strings.Compare(wholeA, wholeB),
		strings.Compare(strings.TrimRight(fracA, "0"), strings.TrimRight(fracB, "0")))
}

// costOfNumber returns the stored cost of a JSON number; the reason says why it is
// refused.
func costOfNumber(n json.Number) (string, Reason) {
	const limit = 30 // digits on either side of the point
	number, ok := rational(string(n))
	if !ok {
		return "", ReasonTypeCost
	}
	decimals, _ := number.FloatPrec()
	switch {
	case number.Sign() < 0:
		return "", ReasonCost
	case decimals > limit || len(number.FloatString(0)) > limit:
		return "", ReasonTypeCost
	}
	text := strings.TrimPrefix(string(n), "-")
	if strings.ContainsAny(text, "eE") {
		text = number.FloatString(decimals)
	}
	whole, frac, _ := strings.Cut(text, ".")
	if len(frac) == 3 && whole != "0" {
		text = numberMark + text
	}
	return text, ""
}

// readAmounts reads one amount, or two with a dash between them; any other text is an
// amount that is none.
func readAmounts(text string) []amount {
	if number, ok := strings.CutPrefix(text, numberMark); ok {
		return []amount{{typed: number, value: number}}
	}
	if price, ok := readAmount(text); ok {
		return []amount{price}
	}
	if i := strings.IndexAny(text, "-–—"); i >= 0 {
		_, size := utf8.DecodeRuneInString(text[i:])
		low, okLow := readAmount(Trim(text[:i]))
		high, okHigh := readAmount(Trim(text[i+size:]))
		if okLow && okHigh {
			return []amount{low, high}
		}
	}
	return []amount{{typed: text, value: strings.ToLower(text), isText: true}}
}

// readAmount reads a number, alone or with one symbol before or after it and at
// most one space between them.
func readAmount(text string) (amount, bool) {
	start := strings.IndexFunc(text, isASCIIDigit)
	end := strings.LastIndexFunc(text, isASCIIDigit) + 1
	if start < 0 {
		return amount{}, false
	}
	price := amount{typed: text[start:end]}
	before, okBefore := readSymbol(text[:start], strings.TrimSuffix)
	after, okAfter := readSymbol(text[end:], strings.TrimPrefix)
	switch {
	case !okBefore || !okAfter || before != "" && after != "":
		return amount{}, false
	case before != "":
		price.symbol, price.position = before, positionPrefix
	case after != "":
		price.symbol, price.position = after, positionPostfix
	}
	var ok bool
	price.value, ok = readCostNumber(price.typed)
	return price, ok
}

// readSymbol reads what is on one side of a number: nothing, or a symbol with
// at most one space towards the number.
func readSymbol(text string, trim func(text, part string) string) (string, bool) {
	if text == "" {
		return "", true
	}
	for _, space := range []string{" ", "\u00a0", "\u202f"} {
		if t := trim(text, space); t != text {
			text = t
			break
		}
	}
	return text, text == "$" || currencyCodes[text] != "" || symbolForm.MatchString(text) // the form takes long
}

// readCostNumber returns the value of a number with separators, which begins and
// ends with a digit.
func readCostNumber(text string) (string, bool) {
	whole, frac := text, ""
	if i := decimalSign(text); i >= 0 {
		whole, frac = text[:i], "."+text[i+1:]
		if strings.Contains(whole, text[i:i+1]) || !IsDigits(frac[1:]) {
			return "", false
		}
	}
	if IsDigits(whole) {
		return whole + frac, true
	}
	return groupSigns.ReplaceAllString(whole, "") + frac, groupedForm.MatchString(whole)
}

// decimalSign returns the index of the decimal sign, -1 if none exists.
func decimalSign(text string) int {
	point, comma := strings.LastIndexByte(text, '.'), strings.LastIndexByte(text, ',')
	if point >= 0 && comma >= 0 {
		return max(point, comma)
	}
	i := max(point, comma)
	switch {
	case i < 0 || strings.IndexAny(text, ".,") != i: // none, or several: they group thousands
		return -1
	case len(text)-i-1 == 3 && IsDigits(text[i+1:]) && text[:i] != "0":
		return -1
	default:
		return i
	}
}

func isASCIIDigit(letter rune) bool { return letter >= '0' && letter <= '9' }

// groupSigns are the signs that group thousands, and groupedForm is digits with them.
var (
	groupSigns  = regexp.MustCompile(`[., \x{a0}\x{202f}'’]`)
	groupedForm = regexp.MustCompile(`^\d{1,3}(?:` + groupSigns.String() + `\d{3})+$`)
)
