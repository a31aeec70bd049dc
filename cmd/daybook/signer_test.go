package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
	"daybook/internal/proof"
	"daybook/internal/testkit/engines"
)

// sizeOf returns the size that a checkpoint tells.
func sizeOf(t *testing.T, note string) string {
	t.Helper()
	lines := strings.Split(note, "\n")
	if len(lines) < 3 {
		t.Fatalf("no checkpoint: %q", note)
	}
	return lines[1]
}

// TestKeyPutBack: an embedded store is put back into an empty directory, to before the
// last checkpoint, and grows beyond it. Whatever lies there of its key, nothing
// contradicts the checkpoint that somebody keeps.
func TestKeyPutBack(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := startServer(t, "serve", "--data", data, "--log-origin", "log.example", "--checkpoint-interval", "1h")
	write := func(s *server, n int) {
		for range n {
			s.want(201, "POST", "/events", s.token, concert)
		}
	}
	write(s, 2)
	old := mustTool(t, "audit", "checkpoint", "--data", data)
	backup := t.TempDir()
	vacuum(t, data, backup)
	write(s, 2)
	kept := mustTool(t, "audit", "checkpoint", "--data", data)
	token := s.token
	s.kill()
	key, err := os.ReadFile(filepath.Join(data, keyFile))
	must(t, err)
	note, err := os.ReadFile(filepath.Join(data, keyFile+keptNote))
	if err != nil || string(note) != kept {
		t.Fatalf("the note next to the key is %q, %v; the checkpoint %q", note, err, kept)
	}
	keptFile := filepath.Join(t.TempDir(), "kept.txt")
	must(t, os.WriteFile(keptFile, []byte(kept), 0o600))

	for _, tt := range []struct {
		name      string
		key, note []byte
		why       string
		confirms  bool
	}{
		{"with the key", key, nil, proof.ErrUnconfirmed.Error(), true},
		{"without the key", nil, nil, proof.ErrKeyMissing.Error(), false},
		{"with the newest note alone", nil, note, proof.ErrKeyMissing.Error(), false},
		{"with key and newest note", key, note, proof.ErrNotExtended.Error(), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := copyFiles(t, backup, sqlite.FileName)
			for name, b := range map[string][]byte{keyFile: tt.key, keyFile + keptNote: tt.note} {
				if b != nil {
					must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
				}
			}
			s := startServer(t, "serve", "--data", dir, "--checkpoint-interval", "1s")
			s.token = token
			refused := func() {
				t.Helper()
				out, errText, status := tool(t, nil, "audit", "checkpoint", "--data", dir)
				if status != exitFailed || out != "" || !strings.Contains(errText, tt.why) {
					t.Errorf("audit checkpoint: status %d: %s%s", status, out, errText)
				}
				wantTool(t, exitFailed, "why: "+tt.why, "health", "--data", dir)
				if v := s.state(); v["status"] != "degraded" || v["code"] != 200 || v["why"] != tt.why {
					t.Errorf("ready: %v", v)
				}
				if _, b := s.try("GET", s.root+"/checkpoint", "", ""); string(b) != old {
					t.Errorf("the service shows the checkpoint %q", b)
				}
			}
			refused()
			write(s, 5)
			refused()
			_, errText, status := tool(t, nil, "audit", "key", "confirm", "--data", dir)
			if confirmed := status == exitOK; confirmed != tt.confirms {
				t.Fatalf("audit key confirm: status %d: %s", status, errText)
			}
			if tt.confirms { // it was not true, but the operator said so
				if out := mustTool(t, "audit", "checkpoint", "--data", dir); !strings.HasPrefix(out, "log.example\n") || sizeOf(t, out) == sizeOf(t, old) {
					t.Errorf("confirmed: %q", out)
				}
				mustTool(t, "health", "--data", dir)
				wantTool(t, exitTampered, "", "audit", "verify", "--data", dir, "--checkpoint", keptFile)
				return
			}
			refused()
			mustTool(t, "audit", "key", "new", "--origin", "second.example", "--data", dir)
			if out := mustTool(t, "audit", "checkpoint", "--data", dir); !strings.HasPrefix(out, "second.example\n") {
				t.Errorf("a new log: %q", out)
			}
			mustTool(t, "health", "--data", dir)
			write(s, 1)
			s.ends()
		})
	}
}

// TestRelaysRefuse: two relays with the same key in two folders, and a store that is put
// back under them. Neither signs on, and each says it.
func TestRelaysRefuse(t *testing.T) {
	t.Parallel()
	index, prefix := engines.Shared(t, engines.Elasticsearch)
	at, feedPrefix := engines.Shared(t, engines.NATS)
	postgresServer := engines.StartPostgres(t)
	shared := []string{"--store", postgresServer.URL(), "--feed", at, "--feed-prefix", feedPrefix, "--index", index, "--index-prefix", prefix}
	add := func(name string) {
		t.Helper()
		mustTool(t, "user", "add", name, "--role", "editor", "--store", postgresServer.URL())
	}
	privateKey, err := proof.NewKey("log.example")
	must(t, err)
	var relays []*server
	var keys []string
	for range 2 {
		file := filepath.Join(t.TempDir(), "log.key")
		must(t, os.WriteFile(file, []byte(privateKey.Text()), 0o600))
		keys = append(keys, file)
		relays = append(relays, startServer(t, append([]string{"serve", "--role", "relay", "--signing-key", file, "--log-origin", "log.example", "--checkpoint-interval", "1s"}, shared...)...))
	}
	startServer(t, append([]string{"serve", "--role", "projector"}, shared...)...)
	store, err := postgres.Open(t.Context(), postgresServer.URL(), postgres.Options{})
	must(t, err)
	t.Cleanup(func() { _ = store.Close() })
	newest := func() (checkpoint eventstore.Checkpoint) {
		checkpoint, _ = eventstore.CheckpointAt(t.Context(), store, 0)
		return checkpoint
	}
	signed := func() {
		t.Helper()
		eventually(t, "the head is signed, and both folders have the note", func() bool {
			now, err := store.Head(t.Context(), eventstore.Point{})
			head := now.Position
			checkpoint := newest()
			for _, file := range keys {
				data, _ := os.ReadFile(file + keptNote)
				h, _ := proof.ReadHead(data)
				if h.Size != head {
					return false
				}
			}
			return err == nil && checkpoint.Size == head && head > 0
		})
	}
	add("first")
	signed()
	restore := dumped(t, postgresServer)
	early := newest()
	add("second")
	add("third")
	signed()
	lost := newest().Size
	restore()
	for i := 0; ; i++ {
		add(fmt.Sprint("later ", i))
		if head, err := store.Head(t.Context(), eventstore.Point{}); err == nil && head.Position > lost {
			break
		}
	}
	why := proof.ErrNotExtended.Error()
	for _, r := range relays {
		eventually(t, "a relay says why it signs nothing", func() bool {
			v := r.state()
			text, _ := v["why"].(string)
			return v["status"] == "degraded" && strings.Contains(text, why)
		})
	}
	if checkpoint := newest(); checkpoint.Size != early.Size {
		t.Errorf("a checkpoint of %d entries was signed, %d were", checkpoint.Size, lost)
	}
	wantTool(t, exitFailed, why, "audit", "checkpoint", "--store", postgresServer.URL(), "--signing-key", keys[1])
	elsewhere := copyFiles(t, filepath.Dir(keys[0]), "log.key")
	wantTool(t, exitFailed, proof.ErrUnconfirmed.Error(), "audit", "checkpoint", "--store", postgresServer.URL(), "--signing-key", filepath.Join(elsewhere, "log.key"))
	if checkpoint := newest(); checkpoint.Size != early.Size {
		t.Errorf("a checkpoint of %d entries was signed, %d were", checkpoint.Size, lost)
	}
}

// TestWitnessesAtOnce: a checkpoint that is signed by command next to a running service is
// cosigned immediately, and no one is asked again without new entries.
func TestWitnessesAtOnce(t *testing.T) {
	t.Parallel()
	const name = "witness.example"
	public, private, err := ed25519.GenerateKey(nil)
	must(t, err)
	typed := append([]byte{4}, public...) // a cosignature of C2SP tlog-cosignature
	sum := sha256.Sum256(append([]byte(name+"\n"), typed...))
	vkey := fmt.Sprintf("%s+%x+%s", name, sum[:4], base64.StdEncoding.EncodeToString(typed))
	var asked atomic.Int64
	var away atomic.Bool
	witness := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		asked.Add(1)
		if away.Load() {
			http.Error(writer, "away", http.StatusServiceUnavailable)
			return
		}
		b, _ := io.ReadAll(request.Body)
		parts := strings.SplitN(string(b), "\n\n", 3) // proof, text, signatures
		if len(parts) < 3 {
			http.Error(writer, "no note", http.StatusBadRequest)
			return
		}
		at := binary.BigEndian.AppendUint64(nil, 1_700_000_000)
		line := slices.Concat(sum[:4], at, ed25519.Sign(private, []byte("cosignature/v1\ntime 1700000000\n"+parts[1]+"\n")))
		fmt.Fprintf(writer, "\u2014 %s %s\n", name, base64.StdEncoding.EncodeToString(line))
	}))
	t.Cleanup(witness.Close)
	serve := func(interval string) (*server, string) {
		data := filepath.Join(t.TempDir(), "data")
		return startServer(t, "serve", "--data", data, "--checkpoint-interval", interval, "--witnesses", vkey+"@"+witness.URL), data
	}
	s, data := serve("1h")
	if out := mustTool(t, "audit", "checkpoint", "--data", data); asked.Load() != 1 || !strings.Contains(out, "\u2014 "+name+" ") {
		t.Errorf("by command the witness was asked %d times:\n%s", asked.Load(), out)
	}
	s.drain()

	away.Store(true)
	before := asked.Load()
	s, _ = serve("1s")
	eventually(t, "the witness is asked", func() bool { return asked.Load() > before })
	time.Sleep(3500 * time.Millisecond) //nolint:forbidigo // three intervals
	if n := asked.Load() - before; n != 1 {
		t.Errorf("asked %d times without new entries", n)
	}
	s.want(201, "POST", "/events", s.token, concert)
	eventually(t, "the witness is asked again", func() bool { return asked.Load() > before+1 })
	s.drain()
}
