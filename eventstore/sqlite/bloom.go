package sqlite

import (
	"context"
	"hash/maphash"
	"sync/atomic"

	"daybook/calendar"
	"daybook/eventstore"
)

// bloomFilter knows which claims and idempotency keys are certainly not in the file:
// nearly all that a create asks for. It is a Bloom filter of a fixed size, so
// with some millions of them it lets more and more through to the file. What
// goes from the file stays in it until the next start.
type bloomFilter struct {
	seed  maphash.Seed
	words [filterBits / 64]atomic.Uint64
	ready atomic.Bool // the file was read
}

// At 100,000 claims 5 of a million pass wrongly, at a million 2 of 100.
const (
	filterBits   = 8 << 20
	filterProbes = 4
)

func newBloomFilter() *bloomFilter { return &bloomFilter{seed: maphash.MakeSeed()} }

// keep notes a claim or key. It is to be called before the commit that writes it.
func keep[K calendar.Claim | eventstore.ReceiptKey](s *bloomFilter, k K) {
	h := maphash.Comparable(s.seed, k)
	for range filterProbes {
		s.words[h%filterBits/64].Or(1 << (h % 64))
		h = nextProbe(h)
	}
}

// lacks tells that a claim or key is certainly not in the file.
func lacks[K calendar.Claim | eventstore.ReceiptKey](s *bloomFilter, k K) bool {
	if !s.ready.Load() {
		return false
	}
	h := maphash.Comparable(s.seed, k)
	for range filterProbes {
		if s.words[h%filterBits/64].Load()&(1<<(h%64)) == 0 {
			return true
		}
		h = nextProbe(h)
	}
	return false
}

// nextProbe turns a hash, so that each probe uses other bits of it.
func nextProbe(h uint64) uint64 { return h>>filterTurn | h<<(64-filterTurn) }

const filterTurn = 19

// fill reads what the file has. Commits meanwhile note theirs themselves.
func (s *Store) fill(ctx context.Context) error {
	rows, err := s.readDB.QueryContext(ctx, "SELECT space, key FROM claims")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err tells
	var c calendar.Claim
	for rows.Next() {
		if err := rows.Scan(&c.Space, &c.Key); err != nil {
			return err
		}
		keep(s.filter, c)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	keys, err := s.readDB.QueryContext(ctx, "SELECT user, key FROM receipts")
	if err != nil {
		return err
	}
	defer func() { _ = keys.Close() }() // Err tells
	var k eventstore.ReceiptKey
	for keys.Next() {
		if err := keys.Scan(&k.User, &k.Key); err != nil {
			return err
		}
		keep(s.filter, k)
	}
	if err := keys.Err(); err != nil {
		return err
	}
	s.filter.ready.Store(true)
	return nil
}
