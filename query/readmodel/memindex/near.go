package memindex

import (
	"math/bits"

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

// near gives the numbers of the words with at most so many typos to a word, of which there
// is at least one.
func (d *dict) near(text string, typos int) (out []uint32) {
	of := hintOf(text)
	shortest := hint(max(1, int(of>>hintBits)-typos)) << hintBits
	longest := of | hintLetters
	if of>>hintBits < mostLength {
		longest = hint(min(mostLength, int(of>>hintBits)+typos))<<hintBits | hintLetters
	}
	for id, h := range d.hints {
		if h < shortest || h > longest || bits.OnesCount32(uint32((h^of)&hintLetters)) > 2*typos {
			continue
		}
		if readmodel.Typos(text, d.words[id].text, typos) <= typos {
			out = append(out, uint32(id))
		}
	}
	return out
}

// nearSteps is what near costs, about.
func (d *dict) nearSteps() int { return len(d.hints) / 4 }
