package main

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// words are what requests are made of.
type words struct {
	lists map[string][]string // texts by name, which may have names themselves, and ids of records by kind
	turn  atomic.Int64
	seen  atomic.Int64 // position of the newest answer to an attacker
}

func newWords() *words { return &words{lists: read[map[string][]string]("words.json")} }

func pick[T any](from []T) T { return from[rand.IntN(len(from))] }

func digits(number int64) string { return strconv.FormatInt(number, 10) }

// expand replaces names like $n in a text: by a number that comes once, dates, a text of a list,
// and ${60} by a number below 60.
func (words *words) expand(text string) string {
	turn := words.turn.Add(1) - 1
	day := func(months int, days int64) string {
		return time.Now().AddDate(0, months, int(turn*7919%days)).Format(time.DateOnly)
	}
	var value func(name string) string
	value = func(name string) string {
		switch name {
		case "n":
			return digits(turn)
		case "soon":
			return digits(words.seen.Load() + 1 + turn%50)
		case "day": // of two years
			return day(-6, 730)
		case "ahead": // in the year ahead
			return day(0, 347)
		case "month": // a month after it
			return day(1, 347)
		}
		if list := words.lists[name]; list != nil {
			return os.Expand(pick(list), value)
		}
		return strconv.Itoa(rand.IntN(must(strconv.Atoi(name))))
	}
	return os.Expand(text, value)
}
