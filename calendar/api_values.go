package calendar

// ---- decoding (decode.go) ----

// Missing names the required fields that were not sent (null counts as not
// sent), in the order of the table.
func (s *Spec) Missing(in Input) []string { return nil }

// Language gives the language of a request: the selector in the input, else
// that of the root. A bad selector is a problem of "multilang_language".
func Language(in Input, root Lang, p *Problems) Lang { return root }

// Decode reads an input by the table; refused values are added to p. Links with
// inline data are decoded by the spec of their kind.
func (s *Spec) Decode(in Input, op Op, l Lang, rules *Rules, c Caller, p *Problems) *Attrs {
	return nil
}

// ---- cost (cost.go) ----

// Cost is what the costs of an event show (3.1.4).
type Cost struct {
	Text     string   // "cost" of the answer, not escaped
	Symbol   string   // currency_symbol
	Position string   // currency_position: "prefix", "postfix" or ""
	Values   []string // values
}

// Currency is the site's currency: the symbol and where it stands.
type Currency struct{ Symbol, Position string }

// ReadCost makes the Cost of stored costs.
func ReadCost(costs []string, site Currency) Cost { return Cost{} }
