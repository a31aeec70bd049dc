package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"daybook/calendar"
	"daybook/eventstore/verify"
	"daybook/internal/audit"
	"daybook/internal/history"
	"daybook/internal/importer"
	"daybook/internal/proof"
)

type auditCommands struct {
	storeSettings
	*ProofOptions   `group:"proofs"`
	*AddressOptions `group:"interface"`
	outputSettings
	zoneSettings

	Checkpoint auditCheckpoint `cmd:"" help:"sign a checkpoint if there are new entries, and print the newest one"`
	Proof      auditProof      `cmd:"" help:"print the proof that an entry is in the log (C2SP tlog-proof; with --json also the opening of its leaf)"`
	Key        auditKeys       `cmd:"" help:"list the vkeys that sign, make a key, or allow a key without its note to sign"`
	Export     auditExport     `cmd:"" help:"print all entries and checkpoints, one JSON object per line"`
	Verify     auditVerify     `cmd:"" help:"check entries and checkpoints, of the store or of an export"`
	Replay     auditReplay     `cmd:"" help:"make a store in a directory from the entries up to a point"`
}

var errNoKey = errors.New("there is no key to sign with: --signing-key names one, daybook audit key new makes one")

type auditCheckpoint struct{}

// work signs a checkpoint where there are new entries, and prints the newest one.
func (*auditCheckpoint) work(ctx context.Context, b *backend, c *console) error {
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
	if !c.JSON {
		_, _ = c.out.Write(signed.Note)
		return nil
	}
	head, err := proof.ReadHead(signed.Note)
	if err != nil {
		return err
	}
	return c.printJSON(map[string]any{"origin": head.Origin, "size": head.Size, "root": head.Root, "checkpoint": string(signed.Note)})
}

type auditProof struct {
	Position calendar.Position `arg:"" min:"1" max:"9223372036854775807" help:"position of the entry"`
	Size     calendar.Position `commandline:"" default:"0" min:"0" max:"9223372036854775807" placeholder:"N" help:"size of the tree; 0: that of the newest checkpoint"`
}

// work prints the proof that an entry is in the log.
func (cmd *auditProof) work(ctx context.Context, b *backend, c *console) error {
	position := cmd.Position
	newest, err := b.proofs.Checkpoint(ctx, 0)
	if err != nil {
		return err
	}
	size := cmp.Or(cmd.Size, newest.Size)
	if size > newest.Size || position > size {
		return fmt.Errorf("entry %d of a tree of %d entries: the newest checkpoint covers %d", position, size, newest.Size)
	}
	hashes, root, err := b.proofs.Inclusion(ctx, position, size)
	if err != nil {
		return err
	}
	if !c.JSON {
		signed, err := b.proofs.Checkpoint(ctx, size)
		if err != nil {
			return fmt.Errorf("of %d entries: %w", size, err)
		}
		_, _ = c.out.Write(proof.Text(int64(position)-1, hashes, signed.Note))
		return nil
	}
	out := proof.Inclusion{Origin: newest.Origin, Position: position, Index: position - 1, Size: size, Root: root, Hashes: hashes}
	if out.Leaf, err = b.proofs.Leaf(ctx, position); err != nil {
		return err
	}
	if out.Opening, err = b.proofs.Opening(ctx, history.New(b.events, time.Now), c.auditor().Caller, position); err != nil {
		return err
	}
	return c.printJSON(out)
}

type auditKeys struct {
	List    keyList    `cmd:"" help:"print the vkeys that signed or will sign"`
	New     keyNew     `cmd:"" help:"print a new private key; with --origin a new log begins"`
	Confirm keyConfirm `cmd:"" help:"allow a key without its note to sign"`
}

type keyList struct{}

// work prints the vkeys that signed or will sign, each once.
func (*keyList) work(ctx context.Context, b *backend, c *console) error {
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
		for _, keySpan := range known.Keys {
			vkeys = append(vkeys, keySpan.VKey)
		}
	}
	if b.signer != nil {
		keys, err := b.signer.PublicKeys(ctx)
		if err != nil {
			return err
		}
		for _, key := range keys {
			vkeys = append(vkeys, key.String())
		}
	}
	for i, text := range vkeys {
		if !slices.Contains(vkeys[:i], text) {
			fmt.Fprintln(c.out, text)
		}
	}
	return nil
}

type keyConfirm struct{}

// work lets a key sign on that has no note of what it signed last.
func (*keyConfirm) work(ctx context.Context, b *backend, c *console) error {
	if b.signer == nil {
		return errNoKey
	}
	size, err := b.signer.Confirm(ctx)
	if err == nil {
		fmt.Fprintf(c.out, "the key signs on after the checkpoint of %s\n", counted(int(size), "entry", "entries"))
	}
	return err
}

type keyNew struct {
	Origin string `commandline:"" placeholder:"NAME" type:"origin-of-log" help:"name of the new log that begins with the key"`
}

// work prints a new key. With an origin a new log begins with it, where there is one already
// or the key belongs to the data directory.
func (cmd *keyNew) work(ctx context.Context, b *backend, c *console) error {
	signer, origin := b.signer, cmd.Origin
	if signer == nil {
		signer = proof.NewSigner(b.proofs, proof.Keyring{Origin: b.s.LogOrigin, Address: b.s.address()}, proof.SignerOptions{})
	}
	var privateKey *proof.PrivateKey
	var err error
	if origin != "" {
		privateKey, err = signer.Begin(ctx, origin)
	} else {
		if origin, err = signer.Origin(ctx); err == nil && origin == "" {
			err = errors.New("the log has no entry to be named by yet; name it by --origin or --log-origin")
		}
		if err == nil {
			privateKey, err = proof.NewKey(origin)
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.err, "vkey for auditors: %s\nkeep what follows in a file that nobody else reads\n", privateKey.Public)
	fmt.Fprint(c.out, privateKey.Text())
	return nil
}

// trustOptions are what a log is checked against.
type trustOptions struct {
	File       string   `commandline:"" placeholder:"FILE" help:"export to check, plain or gzip; empty: the event store"`
	Key        []string `commandline:"" placeholder:"VKEY" help:"key that signed the log; may be repeated"`
	Checkpoint []string `commandline:"" placeholder:"FILE" help:"file of a checkpoint that was kept elsewhere; may be repeated"`
	Witness    []string `commandline:"" placeholder:"VKEY" help:"key of a witness; may be repeated"`

	Notes [][]byte `kong:"-"` // in the files of checkpoints
}

func (o *trustOptions) trust() (t audit.Trust, err error) {
	t.Checkpoints = o.Notes
	read := func(to *[]*proof.Key, vkeys []string, witness bool) error {
		for _, text := range vkeys {
			key, err := proof.ParseKey(text)
			if err != nil {
				return usageError("%w", err)
			}
			if key.Cosigns() != witness {
				return usageError("%s: --key takes those of logs, --witness those of witnesses", text)
			}
			*to = append(*to, key)
		}
		return nil
	}
	return t, errors.Join(read(&t.Keys, o.Key, false), read(&t.Witnesses, o.Witness, true))
}

type verifyCommand struct {
	storeSettings
	outputSettings
	trustOptions
}

type auditVerify struct{ trustOptions }

// Run checks entries and checkpoints, of the store or of an export.
func (o *trustOptions) Run(ctx context.Context, c *console) error {
	for _, file := range o.Checkpoint {
		data, err := os.ReadFile(file)
		if err != nil {
			return usageError("--checkpoint: %w", err)
		}
		if _, err := proof.ReadHead(data); err != nil {
			return usageError("--checkpoint: %s: %w", file, err)
		}
		o.Notes = append(o.Notes, data)
	}
	trust, err := o.trust()
	if err != nil {
		return err
	}
	if o.File == "" {
		return perform(ctx, c, o, nil)
	}
	if len(o.Key) == 0 {
		return usageError("--file needs a --key: a log is checked by the key of who signed it")
	}
	f, err := os.Open(o.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var verified audit.Verified
	from, err := importer.Open(f)
	if err == nil {
		verified, err = audit.VerifyExport(ctx, from, trust)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.File, err)
	}
	return printVerified(c, &verified, true)
}

func (o *trustOptions) work(ctx context.Context, b *backend, c *console) error {
	trust, err := o.trust()
	if err != nil {
		return err
	}
	bar := newProgress(c, "verify", "entries")
	verified, err := audit.VerifyStore(ctx, b.events, b.proofs.Tree, trust, bar.at)
	bar.end()
	if err == nil && verified.Result != verify.Tampered && b.file != nil {
		// Last, because what was checked before names the entry.
		if err = b.file.Integrity(ctx); err != nil {
			err = verified.Damage(fmt.Errorf("inspect the store: %w", err))
		}
	}
	if err != nil {
		return err
	}
	if !c.JSON {
		fmt.Fprintf(c.out, "chain head %x\n", verified.Head)
	}
	return printVerified(c, &verified, len(trust.Keys)+len(o.Notes) > 0)
}

// printVerified prints what was found, and returns the exit status; signed says that
// something signed has to be there.
func printVerified(c *console, verified *audit.Verified, signed bool) error {
	if c.JSON {
		verified.Erasures = append([]verify.Erasure{}, verified.Erasures...) // [], not null
		_ = c.printJSON(verified)
	} else {
		text := findingsText(&verified.Findings)
		if verified.Err() == nil {
			text += fmt.Sprintf("; %d signed, %d unsigned", verified.Signed, verified.Unsigned)
		}
		fmt.Fprintln(c.out, text)
	}
	switch {
	case verified.Err() != nil:
		return &exitError{exitTampered, verified.Err()}
	case signed && verified.Checkpoints == 0:
		return &exitError{exitUnsigned, errors.New("no checkpoint by one of the keys: there is nothing signed to check against")}
	}
	return nil
}

// findingsText returns findings in one line, which begins with the result.
func findingsText(findings *verify.Findings) string {
	switch {
	case findings.Err() != nil && findings.Position == 0:
		return fmt.Sprintf("%s: %s", findings.Result, findings.Why)
	case findings.Err() != nil:
		return fmt.Sprintf("%s: entry %d: %s", findings.Result, findings.Position, findings.Why)
	}
	text := fmt.Sprintf("%s: %s", findings.Result, counted(int(findings.Entries), "entry", "entries"))
	if findings.Result == verify.Redacted {
		text += fmt.Sprintf(", %d redacted by %s", findings.Redacted, counted(len(findings.Erasures), "erasure", "erasures"))
	}
	return text
}

type exportOptions struct {
	File string `commandline:"" placeholder:"FILE" help:"file to write, compressed if its name ends in .gz; empty: standard output"`
}

type exportCommand struct {
	storeSettings
	exportOptions
}

type auditExport struct{ exportOptions }

// Run prints the export, or writes it to a file, whole or not at all.
func (o *exportOptions) Run(ctx context.Context, c *console) (err error) {
	if o.File == "" {
		return perform(ctx, c, o, nil)
	}
	file, err := os.CreateTemp(filepath.Dir(o.File), filepath.Base(o.File)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	into := *c
	into.out = file
	if strings.HasSuffix(o.File, ".gz") {
		writer := gzip.NewWriter(file)
		into.out = writer
		err = errors.Join(perform(ctx, &into, o, nil), writer.Close())
	} else {
		err = perform(ctx, &into, o, nil)
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), o.File)
}

func (*exportOptions) work(ctx context.Context, b *backend, c *console) error {
	return audit.Export(ctx, b.events, c.out)
}
