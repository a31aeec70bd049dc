package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/verify"
	"daybook/internal/audit"
	"daybook/internal/ground/wholefile"
	"daybook/internal/importer"
	"daybook/internal/proof"
)

type auditCommands struct {
	storeSettings
	*ProofOptions   `group:"proofs" json:"-"`
	*AddressOptions `group:"interface" json:"-"`
	outputSettings
	zoneSettings

	Checkpoint auditCheckpoint `cmd:"" help:"sign a checkpoint if there are new entries, and print the newest one"`
	Proof      auditProof      `cmd:"" help:"print the proof that an entry is in the log (C2SP tlog-proof; with --json also the opening of its leaf)"`
	Key        auditKeys       `cmd:"" help:"list the vkeys that sign, make a key, or allow a key without its note to sign"`
	Export     exportOptions   `cmd:"" help:"print all entries and checkpoints, one JSON object per line"`
	Verify     trustOptions    `cmd:"" help:"check entries and checkpoints, of the store or of an export"`
	Replay     auditReplay     `cmd:"" help:"make a store in a directory from the entries up to a point"`
}

var errNoKey = errors.New("there is no key to sign with: --signing-key names one, daybook audit key new makes one")

type auditCheckpoint struct{}

// work signs a checkpoint where there are new entries, and prints the newest one.
func (*auditCheckpoint) work(ctx context.Context, console *console) error {
	if !console.signer.Signs() {
		return errNoKey
	}
	signed, err := console.signer.Sign(ctx)
	if err != nil {
		return err
	}
	console.signer.Cosign(ctx, signed)
	if signed, err = console.proofs.Checkpoint(ctx, signed.Size); err != nil {
		return err
	}
	head, err := proof.ReadHead(signed.Note)
	if err != nil {
		return err
	}
	return console.print("checkpoint", map[string]any{"origin": head.Origin, "size": head.Size, "root": head.Root, "checkpoint": string(signed.Note)})
}

type auditProof struct {
	Position calendar.Position `arg:"" min:"1" max:"9223372036854775807" help:"position of the entry"`
	Size     calendar.Position `commandline:"" default:"0" min:"0" max:"9223372036854775807" placeholder:"N" help:"size of the tree; 0: that of the newest checkpoint"`
}

// work prints the proof that an entry is in the log.
func (auditProof *auditProof) work(ctx context.Context, console *console) error {
	newest, err := console.proofs.Checkpoint(ctx, 0)
	if err != nil {
		return err
	}
	position, size := auditProof.Position, cmp.Or(auditProof.Size, newest.Size)
	if size > newest.Size || position > size {
		return fmt.Errorf("entry %d of a tree of %d entries: the newest checkpoint covers %d", position, size, newest.Size)
	}
	inclusion, err := console.proofs.Inclusion(ctx, position, size)
	if err != nil {
		return err
	}
	if !console.JSON {
		signed, err := console.proofs.Checkpoint(ctx, size)
		if err != nil {
			return fmt.Errorf("of %d entries: %w", size, err)
		}
		return console.finish(nil, "%s", inclusion.Text(signed.Note))
	}
	inclusion.Origin = newest.Origin
	if inclusion.Opening, err = console.proofs.Opening(ctx, console.reader, console.auditor().Caller, position); err != nil {
		return err
	}
	return console.printJSON(inclusion)
}

type auditKeys struct {
	List    keyList    `cmd:"" help:"print the vkeys that signed or will sign"`
	New     keyNew     `cmd:"" help:"print a new private key; with --origin a new log begins"`
	Confirm keyConfirm `cmd:"" help:"allow a key without its note to sign"`
}

type keyList struct{}

// work prints the vkeys that signed or will sign, each once.
func (*keyList) work(ctx context.Context, console *console) error {
	newest, err := eventstore.CheckpointAt(ctx, console.events, 0)
	if err != nil {
		return err
	}
	known, err := proof.ReadKeys(&newest)
	if err != nil {
		return err
	}
	keys, err := console.signer.PublicKeys(ctx)
	for _, key := range keys {
		known.Keys = append(known.Keys, proof.KeySpan{VKey: key.String()})
	}
	shown := map[string]bool{}
	for _, span := range known.Keys {
		if !shown[span.VKey] {
			fmt.Fprintln(console.output, span.VKey)
		}
		shown[span.VKey] = true
	}
	return err
}

type keyConfirm struct{}

// work lets a key sign on that has no note of what it signed last.
func (*keyConfirm) work(ctx context.Context, console *console) error {
	if !console.signer.Signs() {
		return errNoKey
	}
	size, err := console.signer.Confirm(ctx)
	return console.finish(err, "the key signs on after the checkpoint of %s\n", counted(size, "entry", "entries"))
}

type keyNew struct {
	Origin string `commandline:"" placeholder:"NAME" type:"origin-of-log" help:"name of the new log that begins with the key"`
}

// work prints a new key. With an origin a new log begins with it, where there is one already
// or the key belongs to the data directory.
func (keyNew *keyNew) work(ctx context.Context, console *console) error {
	origin := keyNew.Origin
	var privateKey *proof.PrivateKey
	var err error
	if origin != "" {
		privateKey, err = console.signer.Begin(ctx, origin)
	} else {
		if origin, err = console.signer.Origin(ctx); err == nil && origin == "" {
			err = errors.New("the log has no entry to be named by yet; name it by --origin or --log-origin")
		}
		if err == nil {
			privateKey, err = proof.NewKey(origin)
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(console.err, "vkey for auditors: %s\nkeep what follows in a file that nobody else reads\n", privateKey.Public)
	return console.finish(nil, "%s", privateKey.Text())
}

// trustOptions are what a log is checked against.
type trustOptions struct {
	File string `commandline:"" placeholder:"FILE" help:"export to check, plain or gzip; empty: the event store"`
	audit.Trust
}

type verifyCommand struct {
	storeSettings
	outputSettings
	trustOptions
}

// Run checks entries and checkpoints, of the store or of an export.
func (trustOptions *trustOptions) Run(ctx context.Context, console *console) error {
	if trustOptions.File == "" {
		return perform(ctx, console, trustOptions)
	}
	if len(trustOptions.Keys) == 0 {
		return usageError("--file needs a --key: a log is checked by the key of who signed it")
	}
	f, err := os.Open(trustOptions.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	var verified audit.Verified
	from, err := importer.Open(f)
	if err == nil {
		verified, err = audit.VerifyExport(ctx, from, trustOptions.Trust)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", trustOptions.File, err)
	}
	return printVerified(console, &verified, true)
}

func (trustOptions *trustOptions) work(ctx context.Context, console *console) error {
	show, end := progress[calendar.Position](console, "verify", "entries")
	verified, err := audit.VerifyStore(ctx, console.events, console.proofs.Tree, trustOptions.Trust, show)
	end()
	if err == nil && verified.Result != verify.Tampered && console.file != nil {
		// Last, because what was checked before names the entry.
		if err = console.file.Integrity(ctx); err != nil {
			err = verified.Damage(fmt.Errorf("inspect the store: %w", err))
		}
	}
	if err != nil {
		return err
	}
	if !console.JSON {
		fmt.Fprintf(console.output, "chain head %x\n", verified.Head)
	}
	return printVerified(console, &verified, len(trustOptions.Keys)+len(trustOptions.Checkpoints) > 0)
}

// printVerified prints what was found, and returns the exit status; signed says that
// something signed has to be there.
func printVerified(console *console, verified *audit.Verified, signed bool) error {
	verified.Erasures = append([]verify.Erasure{}, verified.Erasures...) // [], not null
	_ = console.print("verified", verified)
	switch {
	case verified.Err() != nil:
		return &exitError{exitTampered, verified.Err()}
	case signed && verified.Checkpoints == 0:
		return &exitError{exitUnsigned, errors.New("no checkpoint by one of the keys: there is nothing signed to check against")}
	}
	return nil
}

type exportOptions struct {
	File string `commandline:"" placeholder:"FILE" help:"file to write, compressed if its name ends in .gz; empty: standard output"`
}

type exportCommand struct {
	storeSettings
	exportOptions
}

// Run prints the export, or writes it to a file, whole or not at all.
func (exportOptions *exportOptions) Run(ctx context.Context, console *console) error {
	if exportOptions.File == "" {
		return perform(ctx, console, exportOptions)
	}
	return wholefile.Write(exportOptions.File, func(file *os.File) error {
		into := *console
		into.output = file
		if !strings.HasSuffix(exportOptions.File, ".gz") {
			return perform(ctx, &into, exportOptions)
		}
		writer := gzip.NewWriter(file)
		into.output = writer
		return errors.Join(perform(ctx, &into, exportOptions), writer.Close())
	})
}

func (*exportOptions) work(ctx context.Context, console *console) error {
	return audit.Export(ctx, console.events, console.output)
}
