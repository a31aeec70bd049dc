package memindex

import (
	"math/bits"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// hint is what a word can be near to, at a glance: its length in the highest bits, and a
// bit for each of its letters, of which some share one. A typo changes the length by one at
// most, and two bits. So of all words only a few are compared letter by letter.
type hint uint32

const (
	hintBits    = 27
	hintLetters = 1<<hintBits - 1
	mostLength  = 1<<(32-hintBits) - 1
)

func hintOf(text string) hint {
	n, letters := 0, hint(0)
	for _, r := range text {
		n++
		letters |= 1 << (uint32(r) % hintBits)
	}
	return hint(min(n, mostLength))<<hintBits | letters
}

// nearWords are the numbers of the words with some typos to a word: with one, with two.
type nearWords struct {
	most  int // up to which they are known
	words [readmodel.MaxTypos][]uint32
}

// near gives the words with at most so many typos to a word.
func (d *dict) near(text string, most int) nearWords {
	out := nearWords{most: most}
	of := hintOf(text)
	shortest := hint(max(1, int(of>>hintBits)-most)) << hintBits
	longest := of | hintLetters
	if of>>hintBits < mostLength {
		longest = hint(min(mostLength, int(of>>hintBits)+most))<<hintBits | hintLetters
	}
	for id, h := range d.hints {
		if h < shortest || h > longest || bits.OnesCount32(uint32((h^of)&hintLetters)) > 2*most {
			continue
		}
		if n := readmodel.Typos(text, d.words[id].text, most); n > 0 && n <= most {
			out.words[n-1] = append(out.words[n-1], uint32(id))
		}
	}
	return out
}

// fitting gives the numbers of the words of a language that a piece fits which is no row,
// some twice. It looks for those with typos once; what comes and goes later is looked at
// with the documents that have changed.
func (r *reading) fitting(l calendar.Lang, p *piece) []uint32 {
	d, text := r.k.texts.dicts[l], p.tokens[0]
	if p.form == formWhole {
		if id, ok := d.ids.get(text); ok {
			return []uint32{id}
		}
		return nil
	}
	out := d.beginning(text)
	if p.typos > 0 {
		near := r.near[l][text]
		if near.most < p.typos {
			near = d.near(text, p.typos)
			r.steps += len(d.hints) / 4
			if r.near[l] == nil {
				r.near[l] = map[string]nearWords{}
			}
			r.near[l][text] = near
		}
		for _, words := range near.words[:p.typos] {
			out = append(out, words...)
		}
	}
	r.steps += len(out)
	return out
}
