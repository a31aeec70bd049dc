package proof_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strconv"
	"strings"
	"testing"
)

// What follows is written from RFC 6962, RFC 9162, C2SP and HISTORY.md alone, with the
// standard library alone, so that the program is not its own witness.

// digest is a SHA-256.
type digest = [32]byte

func leafNode(input []byte) digest { return sha256.Sum256(append([]byte{0}, input...)) }

func innerNode(left, right digest) digest {
	return sha256.Sum256(append(append([]byte{1}, left[:]...), right[:]...))
}

// treeHash is MTH of RFC 6962 2.1.
func treeHash(inputs []digest) digest {
	switch len(inputs) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leafNode(inputs[0][:])
	}
	k := 1 << (bits.Len(uint(len(inputs)-1)) - 1)
	return innerNode(treeHash(inputs[:k]), treeHash(inputs[k:]))
}

// includes is the algorithm of RFC 9162 2.1.3.2.
func includes(index, size int, leaf digest, path []digest, root digest) bool {
	if index >= size {
		return false
	}
	fn, sn, r := index, size-1, leafNode(leaf[:])
	for _, p := range path {
		if sn == 0 {
			return false
		}
		if fn&1 == 1 || fn == sn {
			r = innerNode(p, r)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			r = innerNode(r, p)
		}
		fn, sn = fn>>1, sn>>1
	}
	return sn == 0 && r == root
}

// consistent is the algorithm of RFC 9162 2.1.4.2; none is needed from 0 and between
// equal sizes.
func consistent(from, to int, path []digest, fromRoot, toRoot digest) bool {
	if from == 0 {
		return len(path) == 0 && fromRoot == sha256.Sum256(nil)
	}
	if from == to {
		return len(path) == 0 && fromRoot == toRoot
	}
	if from&(from-1) == 0 {
		path = append([]digest{fromRoot}, path...)
	}
	if len(path) == 0 {
		return false
	}
	fn, sn := from-1, to-1
	for fn&1 == 1 {
		fn, sn = fn>>1, sn>>1
	}
	fr, sr := path[0], path[0]
	for _, c := range path[1:] {
		if sn == 0 {
			return false
		}
		if fn&1 == 1 || fn == sn {
			fr, sr = innerNode(c, fr), innerNode(c, sr)
			for fn&1 == 0 && fn != 0 {
				fn, sn = fn>>1, sn>>1
			}
		} else {
			sr = innerNode(sr, c)
		}
		fn, sn = fn>>1, sn>>1
	}
	return fr == fromRoot && sr == toRoot && sn == 0
}

// signedBy verifies a checkpoint by an Ed25519 vkey and gives its three lines.
func signedBy(t *testing.T, checkpoint []byte, vkey string) (origin string, size int, root digest) {
	t.Helper()
	parts := strings.SplitN(vkey, "+", 3)
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || key[0] != 1 {
		t.Fatalf("vkey %q", vkey)
	}
	id := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	if hex.EncodeToString(id[:4]) != parts[1] {
		t.Fatalf("the id of vkey %q does not fit", vkey)
	}
	text, signatures, _ := strings.Cut(string(checkpoint), "\n\n")
	text += "\n"
	for line := range strings.Lines(signatures) {
		name, b64, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "— "), " ")
		sig, err := base64.StdEncoding.DecodeString(b64)
		if err != nil || name != parts[0] || binary.BigEndian.Uint32(sig) != binary.BigEndian.Uint32(id[:]) {
			continue
		}
		if !ed25519.Verify(key[1:], []byte(text), sig[4:]) {
			t.Fatalf("the signature of %s does not verify", name)
		}
		lines := strings.Split(text, "\n")
		n, err := strconv.Atoi(lines[1])
		if err != nil || len(lines) != 4 {
			t.Fatalf("checkpoint\n%s", checkpoint)
		}
		data, err := base64.StdEncoding.DecodeString(lines[2])
		if err != nil {
			t.Fatal(err)
		}
		return lines[0], n, digest(data)
	}
	t.Fatalf("%s did not sign\n%s", vkey, checkpoint)
	return "", 0, digest{}
}

// openedLeaf is the leaf that an opening of form 2 gives (HISTORY 13), from its JSON.
func openedLeaf(t *testing.T, opening map[string]any) digest {
	t.Helper()
	number := func(data []byte, n float64) []byte { return binary.BigEndian.AppendUint64(data, uint64(int64(n))) }
	text := func(data []byte, s string) []byte { return append(number(data, float64(len(s))), s...) }
	bytes := func(value any) []byte {
		data, err := base64.StdEncoding.DecodeString(value.(string))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	leaf := text(nil, "daybook entry 2")
	leaf = text(leaf, opening["kind"].(string))
	for _, name := range []string{"id", "version", "time"} {
		leaf = number(leaf, opening[name].(float64))
	}
	leaf = text(leaf, opening["change"].(string))
	for _, name := range []string{"actor", "cause", "fields", "state", "secret"} {
		body := opening["bodies"].(map[string]any)[name].(map[string]any)
		if hash, closed := body["hash"]; closed {
			leaf = append(leaf, bytes(hash)...)
			continue
		}
		var inner []byte
		switch name {
		case "actor":
			inner = number(nil, body["actor"].(float64))
		case "cause":
			for _, part := range []string{"client", "request", "reason"} {
				inner = text(inner, body[part].(string))
			}
		default:
			inner = []byte(body["text"].(string))
		}
		salted := text(text(nil, "daybook body 2"), name)
		salted = text(append(salted, bytes(body["salt"])...), string(inner))
		sum := sha256.Sum256(salted)
		leaf = append(leaf, sum[:]...)
	}
	return sha256.Sum256(leaf)
}
