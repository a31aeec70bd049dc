package proof_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math/bits"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// What follows is written from RFC 6962, C2SP and HISTORY.md, with the standard library and
// the verifiers of sumdb alone, so that the program is not its own witness.

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

// signedBy verifies a checkpoint by an Ed25519 vkey and gives its three lines.
func signedBy(t *testing.T, checkpoint []byte, vkey string) (origin string, size int, root digest) {
	t.Helper()
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		t.Fatalf("vkey %q: %v", vkey, err)
	}
	opened, err := note.Open(checkpoint, note.VerifierList(verifier))
	if err != nil {
		t.Fatalf("%s did not sign\n%s", vkey, checkpoint)
	}
	tree, err := tlog.ParseTree([]byte("go.sum database tree" + opened.Text[strings.Index(opened.Text, "\n"):]))
	if err != nil {
		t.Fatalf("checkpoint\n%s", checkpoint)
	}
	return strings.SplitN(opened.Text, "\n", 2)[0], int(tree.N), digest(tree.Hash)
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
