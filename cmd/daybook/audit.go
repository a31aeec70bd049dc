package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/verify"
	"daybook/internal/audit"
	"daybook/internal/proof"
)

// auditActs are the acts of daybook audit.
var auditActs = []act{
	{"checkpoint", "", "sign a checkpoint where there are new entries, and print the newest one"},
	{"proof", "POSITION", "print the proof that an entry is in the log (C2SP tlog-proof; --json: with what its leaf is made from)"},
	{"key", "list | new | confirm", "print the vkeys that sign, or a new private key, with --origin a new log begins; confirm lets a key sign whose note is lost"},
	{"export", "", "print all entries and checkpoints, one JSON object a line"},
	{"verify", "", "check entries and checkpoints, of the store or of an export"},
	{"replay", "", "make a store in a directory with the entries that count at a point"},
}

// manyTimes are flags that may stand several times, each time with another value.
var manyTimes = []string{"--key", "--witness", "--checkpoint"}

// gathered puts the values of flags that stand several times into one, with commas.
func gathered(args []string) []string {
	values := make(map[string][]string)
	out := make([]string, 0, len(args))
	for i := 0; i < len(args); i++ {
		name, value, joined := strings.Cut(args[i], "=")
		if !slices.Contains(manyTimes, name) || !joined && i+1 == len(args) {
			out = append(out, args[i])
			continue
		}
		if !joined {
			i++
			value = args[i]
		}
		if values[name] == nil {
			out = append(out, name)
		}
		values[name] = append(values[name], value)
	}
	for i, arg := range out {
		if v := values[arg]; v != nil {
			out[i] = arg + "=" + strings.Join(v, ",")
		}
	}
	return out
}

func runAudit(ctx context.Context, c *console, s *settings, args []string) error {
	if len(args) == 0 {
		return auditUsage()
	}
	what, rest := args[0], args[1:]
	switch {
	case what == "export" && len(rest) == 0:
		return runExport(ctx, c, s, nil)
	case what == "verify" && len(rest) == 0:
		return runVerify(ctx, c, s, nil)
	case what == "replay" && len(rest) == 0:
		return runReplay(ctx, c, s)
	case what == "checkpoint" && len(rest) == 0:
	case what == "proof" && len(rest) == 1:
		if n, err := strconv.ParseInt(rest[0], 10, 64); err != nil || n < 1 {
			return usageError("POSITION must be a number above 0, not %q", rest[0])
		}
	case what == "key" && len(rest) == 1 && slices.Contains([]string{"list", "new", "confirm"}, rest[0]):
	default:
		return auditUsage()
	}
	return runTask(ctx, withoutInput(c), s, "audit", args)
}

func auditUsage() error {
	return usageError("usage: daybook audit checkpoint | proof POSITION | key list | key new | key confirm | export | verify | replay --until POINT --into DIR")
}

func auditTask(ctx context.Context, b *backend, c *console, s *settings, args []string) error {
	switch args[0] {
	case "checkpoint":
		return checkpointTask(ctx, b, c, s)
	case "proof":
		n, _ := strconv.ParseInt(args[1], 10, 64)
		return proofTask(ctx, b, c, s, calendar.Position(n))
	case "replay":
		return replayTask(ctx, b, c, s, args[1])
	default:
		switch args[1] {
		case "list":
			return keysTask(ctx, b, c)
		case "confirm":
			return confirmTask(ctx, b, c)
		}
		return newKeyTask(ctx, b, c, s.newOrigin)
	}
}

var errNoKey = errors.New("there is no key to sign with: --signing-key names one, daybook audit key new makes one")

func checkpointTask(ctx context.Context, b *backend, c *console, s *settings) error {
	if b.signer == nil {
		return errNoKey
	}
	signed, err := b.signer.Sign(ctx)
	if err != nil {
		return err
	}
	b.signer.Cosign(ctx, signed)
	if signed, err = b.proofs.Checkpoint(ctx, signed.Size); err != nil {
		return err
	}
	if !s.json {
		_, err = c.out.Write(signed.Note)
		return err
	}
	head, err := proof.ReadHead(signed.Note)
	if err != nil {
		return err
	}
	return json.NewEncoder(c.out).Encode(map[string]any{"origin": head.Origin, "size": head.Size, "root": head.Root, "checkpoint": string(signed.Note)})
}

func proofTask(ctx context.Context, b *backend, c *console, s *settings, p calendar.Position) error {
	newest, err := b.proofs.Checkpoint(ctx, 0)
	if err != nil {
		return err
	}
	size := newest.Size
	if s.proofSize > 0 {
		size = calendar.Position(s.proofSize)
	}
	if size > newest.Size || p > size {
		return fmt.Errorf("entry %d of a tree of %d entries: the newest checkpoint covers %d", p, size, newest.Size)
	}
	hashes, root, err := b.proofs.Inclusion(ctx, p, size)
	if err != nil {
		return err
	}
	if !s.json {
		signed, err := b.proofs.Checkpoint(ctx, size)
		if err != nil {
			return fmt.Errorf("of %d entries: %w", size, err)
		}
		_, err = c.out.Write(proof.Text(int64(p)-1, hashes, signed.Note))
		return err
	}
	out := proof.Inclusion{Origin: newest.Origin, Position: p, Index: p - 1, Size: size, Root: root, Hashes: hashes}
	if out.Leaf, err = b.proofs.Leaf(ctx, p); err != nil {
		return err
	}
	entries, err := b.store.Read(ctx, eventstore.Range{After: uint64(p - 1), Limit: 1})
	if err != nil {
		return err
	}
	out.Opening = proof.OpeningOf(&entries[0], true)
	enc := json.NewEncoder(c.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(out)
}

// keysTask prints the vkeys that signed or will sign, each once.
func keysTask(ctx context.Context, b *backend, c *console) error {
	var vkeys []string
	newest, err := b.proofs.Checkpoint(ctx, 0)
	switch {
	case errors.Is(err, proof.ErrNoCheckpoint):
	case err != nil:
		return err
	default:
		known, err := proof.ReadKeys(&newest)
		if err != nil {
			return err
		}
		for _, k := range known.Keys {
			vkeys = append(vkeys, k.VKey)
		}
	}
	if b.signer != nil {
		keys, err := b.signer.PublicKeys(ctx)
		if err != nil {
			return err
		}
		for _, k := range keys {
			vkeys = append(vkeys, k.String())
		}
	}
	for i, v := range vkeys {
		if !slices.Contains(vkeys[:i], v) {
			fmt.Fprintln(c.out, v)
		}
	}
	return nil
}

// confirmTask lets a key sign on that has no note of what it signed last.
func confirmTask(ctx context.Context, b *backend, c *console) error {
	if b.signer == nil {
		return errNoKey
	}
	size, err := b.signer.Confirm(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "the key signs on after the checkpoint of %s\n", counted(int(size), "entry", "entries"))
	return err
}

// newKeyTask prints a new key. With an origin a new log begins with it, where there is
// one already or the key belongs to the data directory.
func newKeyTask(ctx context.Context, b *backend, c *console, origin string) error {
	signer := b.signer
	if signer == nil {
		signer = proof.NewSigner(b.proofs, proof.Keyring{Origin: b.s.logOrigin, Address: b.s.address()}, proof.SignerOptions{})
	}
	var k *proof.PrivateKey
	var err error
	if origin != "" {
		k, err = signer.Begin(ctx, origin)
	} else {
		if origin, err = signer.Origin(ctx); err == nil && origin == "" {
			err = errors.New("the log has no entry to be named by yet; name it by --origin or --log-origin")
		}
		if err == nil {
			k, err = proof.NewKey(origin)
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "vkey for auditors: %s\nkeep what follows in a file that nobody else reads\n", k.Public)
	_, err = io.WriteString(c.out, k.Text())
	return err
}

// trust returns what the settings check a log against.
func (s *settings) trust(notes [][]byte) (t audit.Trust, err error) {
	t.Checkpoints = notes
	read := func(to *[]*proof.Key, vkeys []string, witness bool) error {
		for _, v := range vkeys {
			k, err := proof.ParseKey(v)
			if err != nil {
				return usageError("%w", err)
			}
			if k.Cosigns() != witness {
				return usageError("%s: --key takes those of logs, --witness those of witnesses", v)
			}
			*to = append(*to, k)
		}
		return nil
	}
	return t, errors.Join(read(&t.Keys, s.verifyKeys, false), read(&t.Witnesses, s.verifyWitnesses, true))
}

func runVerify(ctx context.Context, c *console, s *settings, args []string) error {
	if len(args) != 0 {
		return usageError("takes no argument, not %q", args)
	}
	var notes []string
	for _, file := range s.verifyCheckpoints {
		b, err := os.ReadFile(file)
		if err != nil {
			return usageError("--checkpoint: %w", err)
		}
		if _, err := proof.ReadHead(b); err != nil {
			return usageError("--checkpoint: %s: %w", file, err)
		}
		notes = append(notes, string(b))
	}
	if s.verifyFile == "" {
		return runTask(ctx, withoutInput(c), s, "verify", notes)
	}
	if len(s.verifyKeys) == 0 {
		return usageError("--file needs a --key: a log is checked by the key of who signed it")
	}
	trust, err := s.trust(bytesOf(notes))
	if err != nil {
		return err
	}
	f, err := os.Open(s.verifyFile)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var from io.Reader = f
	if strings.HasSuffix(s.verifyFile, ".gz") {
		if from, err = gzip.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", s.verifyFile, err)
		}
	}
	v, err := audit.VerifyExport(ctx, from, trust)
	if err != nil {
		return fmt.Errorf("%s: %w", s.verifyFile, err)
	}
	return printVerified(c, s, &v, true)
}

func bytesOf(texts []string) [][]byte {
	out := make([][]byte, len(texts))
	for i, t := range texts {
		out[i] = []byte(t)
	}
	return out
}

func verifyTask(ctx context.Context, b *backend, c *console, s *settings, notes []string) error {
	trust, err := s.trust(bytesOf(notes))
	if err != nil {
		return err
	}
	bar := newProgress(c, "verify", "entries")
	v, err := audit.VerifyStore(ctx, b.events, b.proofs.Tree, trust, func(done, total calendar.Position) { bar.set(int(done), int(total)) })
	bar.done()
	if err == nil && v.Result != verify.Tampered && b.file != nil {
		// Last, because what was checked before names the entry.
		if err = b.file.Integrity(ctx); err != nil {
			err = v.Damage(fmt.Errorf("inspect the store: %w", err))
		}
	}
	if err != nil {
		return err
	}
	if !s.json {
		fmt.Fprintf(c.out, "chain head %x\n", v.Head)
	}
	return printVerified(c, s, &v, len(trust.Keys)+len(notes) > 0)
}

// printVerified prints what was found, and returns the exit status; signed says that
// something signed has to be there.
func printVerified(c *console, s *settings, v *audit.Verified, signed bool) (err error) {
	if s.json {
		v.Erasures = append([]verify.Erasure{}, v.Erasures...) // [], not null
		err = json.NewEncoder(c.out).Encode(v)
	} else {
		text := findingsText(&v.Findings)
		if v.Err() == nil {
			text += fmt.Sprintf("; %d signed, %d unsigned", v.Signed, v.Unsigned)
		}
		_, err = fmt.Fprintln(c.out, text)
	}
	switch {
	case err != nil:
		return err
	case v.Err() != nil:
		return &exitError{exitTampered, v.Err()}
	case signed && v.Checkpoints == 0:
		return &exitError{exitUnsigned, errors.New("no checkpoint by one of the keys: there is nothing signed to check against")}
	}
	return nil
}

// findingsText returns findings in one line, which begins with the result.
func findingsText(f *verify.Findings) string {
	switch {
	case f.Err() != nil && f.Position == 0:
		return fmt.Sprintf("%s: %s", f.Result, f.Why)
	case f.Err() != nil:
		return fmt.Sprintf("%s: entry %d: %s", f.Result, f.Position, f.Why)
	}
	text := fmt.Sprintf("%s: %s", f.Result, counted(int(f.Entries), "entry", "entries"))
	if f.Result == verify.Redacted {
		text += fmt.Sprintf(", %d redacted by %s", f.Redacted, counted(len(f.Erasures), "erasure", "erasures"))
	}
	return text
}

// runExport prints the export, or writes it to a file, whole or not at all.
func runExport(ctx context.Context, c *console, s *settings, args []string) (err error) {
	if len(args) != 0 {
		return usageError("takes no argument, not %q", args)
	}
	if s.verifyFile == "" {
		return runPlain(ctx, c, s, "export", nil)
	}
	f, err := os.CreateTemp(filepath.Dir(s.verifyFile), filepath.Base(s.verifyFile)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	into := *c
	into.out = f
	if strings.HasSuffix(s.verifyFile, ".gz") {
		z := gzip.NewWriter(f)
		into.out = z
		err = errors.Join(runPlain(ctx, &into, s, "export", nil), z.Close())
	} else {
		err = runPlain(ctx, &into, s, "export", nil)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), s.verifyFile)
}

func exportTask(ctx context.Context, b *backend, c *console, _ *settings, _ []string) error {
	return audit.Export(ctx, b.events, c.out)
}
