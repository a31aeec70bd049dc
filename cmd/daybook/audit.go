package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/postgres"
	"daybook/eventstore/sqlite"
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

type migrateCommand struct {
	storeSettings

	ServiceRole string `placeholder:"ROLE" pattern:"^[A-Za-z_][A-Za-z0-9_-]{0,62}$" must:"be letters, digits, _ and -, beginning with a letter or _" help:"database role that gets the rights of the service, and no others"`
	To          string `placeholder:"URL" type:"urls" schemes:"postgres,postgresql" must:"be a postgres:// URL" secret:"" help:"postgres://… of an empty store, as the owner of its schema, into which the store in --data is copied"`
}

// Run brings the schema of a PostgreSQL event store to the present form as the role that
// owns it, so that the service can run as one that owns nothing.
func (migrateCommand *migrateCommand) Run(ctx context.Context, console *console) error {
	switch {
	case migrateCommand.To != "" && console.Store != "":
		return usageError("--to carries the store of a data directory, --store names another one")
	case migrateCommand.To != "":
		return perform(ctx, console, migrateCommand)
	case console.Store == "":
		return usageError("needs --store postgres://…, or --to postgres://… to carry the store of a data directory there; the event store in a data directory is brought to the present form when it is opened")
	}
	options := console.Database
	options.Log, options.ServiceRole = console.logger("warn"), migrateCommand.ServiceRole
	err := postgres.Migrate(ctx, console.Store, options)
	if err != nil {
		return fmt.Errorf("schema %s: %w", options.Schema, err)
	}
	return console.print("migrated", options)
}

// work takes the event store of the data directory whole into an empty one in
// PostgreSQL, in one transaction, and verifies both. The directory stays as it is.
func (migrateCommand *migrateCommand) work(ctx context.Context, console *console) error {
	if console.status != nil {
		return fmt.Errorf("%s is %w by the service, which has to end first", console.Data, errLocked)
	}
	before, err := verified(ctx, console, console.file)
	if err != nil {
		return fmt.Errorf("verify the store that is copied: %w", err)
	}
	options := console.Database
	options.ServiceRole, options.PollOnly = migrateCommand.ServiceRole, true
	whole := &eventstore.Copy{From: console.file, Receipts: console.file.Receipts}
	after, err := copied(ctx, console, whole, func() (closingStore, error) {
		if err := postgres.Restore(ctx, migrateCommand.To, options, whole); err != nil {
			return nil, err
		}
		return postgres.Open(ctx, migrateCommand.To, options)
	})
	switch {
	case err != nil:
		return fmt.Errorf("copy: %w", err)
	case after.Entries != before.Entries || after.Head != before.Head:
		return fmt.Errorf("%w: the copy has %d entries and chain head %x, the other store %d and %x",
			eventstore.ErrDamaged, after.Entries, after.Head, before.Entries, before.Head)
	}
	return console.finish(nil, "%d entries were carried as they were written; chain head %x\n"+
		"Serve with --store from now on; the store in %s is not written any more.\n", after.Entries, after.Head, console.Data)
}

type closingStore interface {
	eventstore.Store
	Close() error
}

// copied makes a store that is a copy of another one, and verifies it.
func copied(ctx context.Context, console *console, whole *eventstore.Copy, create func() (closingStore, error)) (found verify.Findings, err error) {
	show, end := progress[calendar.Position](console, "copy", "entries")
	whole.Progress = show
	store, err := create()
	end()
	if err == nil {
		found, err = verified(ctx, console, store)
		err = errors.Join(err, store.Close())
	}
	return found, err
}

// verified verifies a store, and fails when it is not as it was written.
func verified(ctx context.Context, console *console, store eventstore.Store) (verify.Findings, error) {
	show, end := progress[calendar.Position](console, "verify", "entries")
	defer end()
	found, err := verify.Store(ctx, store, show)
	return found, cmp.Or(err, found.Err())
}

type auditReplay struct {
	Until string `required:"" commandline:"" placeholder:"POINT" help:"end of the replay, in the form of as_of for lists: a date or position:N"`
	Into  string `required:"" commandline:"" placeholder:"DIR" type:"directory" help:"empty directory for the new store"`
}

// wantEmpty refuses a directory that holds something else than one name.
func wantEmpty(directory, but string) error {
	found, err := os.ReadDir(directory)
	for _, entry := range found {
		if entry.Name() != but {
			return fmt.Errorf("%s must be empty, it holds %s", directory, entry.Name())
		}
	}
	return err
}

// work fills a store in a directory within directory, which takes its place when it is
// whole: of a run that was cut off there is no store, and directory is not empty.
func (auditReplay *auditReplay) work(ctx context.Context, console *console) (err error) {
	directory := auditReplay.Into
	point, err := console.pointOf(ctx, auditReplay.Until, false)
	if err != nil {
		return err
	}
	if err := cmp.Or(os.MkdirAll(directory, 0o700), wantEmpty(directory, "")); err != nil {
		return err
	}
	at, err := os.MkdirTemp(directory, "replay-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(at)) }()
	part := &eventstore.Copy{From: console.events, Until: eventstore.Point{Position: point.Position, Time: point.Time}}
	found, err := copied(ctx, console, part, func() (closingStore, error) {
		if err := sqlite.Create(ctx, at, part); err != nil {
			return nil, err
		}
		return sqlite.Open(ctx, at, sqlite.Options{})
	})
	claim, twice := errors.AsType[*eventstore.ClaimError](err)
	switch {
	case twice:
		return fmt.Errorf("at %s record %d and another one have the same %s %q by the times of their entries, which one store cannot hold; "+
			"--until position:N takes what the log held", point, claim.Holder, claim.Claim.Space, claim.Claim.Key)
	case err != nil:
		return err
	}
	if err := wantEmpty(directory, filepath.Base(at)); err != nil { // another run was quicker, and its store stays
		return err
	}
	if err := os.Rename(filepath.Join(at, sqlite.FileName), filepath.Join(directory, sqlite.FileName)); err != nil {
		return err
	}
	if file, err := os.Open(directory); err == nil {
		_ = file.Sync() // not every file system can; then the rename lasts when it lasts
		_ = file.Close()
	}
	fmt.Fprintf(console.output, "%s until %s in %s; chain head %x\n", counted(part.Entries, "entry", "entries"), point, directory, found.Head)
	if part.Same < part.Entries {
		fmt.Fprintf(console.output, "renumbered: from entry %d on positions are others than in the log, proofs of it end before that\n", part.Same+1)
	}
	return nil
}
