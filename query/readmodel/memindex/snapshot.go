package memindex

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// A snapshot is one file: a line that names the form, values of encoding/gob, and the
// CRC-32C of all before. The values are a head, and for each kind its columns and then the
// bodies of its documents in blocks. Orders and postings are made when it is read.

const (
	snapshotForm = "daybook index 7\n"
	sumBytes     = 4
	blockDocs    = 1024 // documents whose bodies are one value
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// head is the first value of a snapshot.
type head struct {
	Fingerprint string // readmodel.Fingerprint
	Marks       readmodel.Marks
	Digest      readmodel.Digest
	Quarantined map[calendar.ID]readmodel.Quarantined
	Gone        map[calendar.ID]calendar.Position
	Documents   [calendar.KindUser + 1]int
}

// image is the content of an Index at one moment.
type image struct {
	state  *state
	gone   map[calendar.ID]calendar.Position
	since  int64
	writes uint64
}

func (x *Index) image() *image {
	x.writing.Lock()
	defer x.writing.Unlock()
	return &image{x.current.Load(), maps.Clone(x.gone), x.since.Load(), x.writes}
}

// Snapshot writes the content of the index to the path that it was opened with: under a
// temporary name, synced, then renamed, so that there is always a whole file. Without a
// write since the last snapshot it does nothing. The errors are those of files.
func (x *Index) Snapshot(ctx context.Context) error {
	if x.path == "" {
		return errors.New("memory index: it was not opened with a path for snapshots")
	}
	x.saving.Lock()
	defer x.saving.Unlock()
	return x.snapshot(ctx)
}

// snapshot is Snapshot, where there is a path; saving is held.
func (x *Index) snapshot(ctx context.Context) error {
	if x.path == "" {
		return nil
	}
	m := x.image()
	if x.saved == m.writes {
		return nil
	}
	if err := m.save(ctx, x.path); err != nil {
		return fmt.Errorf("write snapshot of position %d: %w", m.state.marks.All.Position, err)
	}
	x.saved = m.writes
	x.since.Add(-m.since)
	return nil
}

func (m *image) save(ctx context.Context, path string) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	out := bufio.NewWriterSize(f, 1<<20)
	if err := m.write(ctx, out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// RemoveCutOff removes what snapshots to a path left that a killed process was writing. No
// index may be writing one meanwhile.
func RemoveCutOff(path string) error {
	dir, name := filepath.Split(path)
	files, err := os.ReadDir(filepath.Clean(dir))
	if err != nil {
		return err
	}
	var errs []error
	for _, f := range files {
		if strings.HasPrefix(f.Name(), name+".") && strings.HasSuffix(f.Name(), ".tmp") {
			errs = append(errs, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	return errors.Join(errs...)
}

// syncDir makes the new name durable. Not every file system can sync a directory.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the directory of the operator's path
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

func (m *image) write(ctx context.Context, to io.Writer) error {
	sum := crc32.New(castagnoli)
	out := io.MultiWriter(to, sum)
	if _, err := io.WriteString(out, snapshotForm); err != nil {
		return err
	}
	encoder := gob.NewEncoder(out)
	h := head{
		Fingerprint: readmodel.Fingerprint(), Marks: m.state.marks, Digest: m.state.digest,
		Quarantined: m.state.quarantined, Gone: m.gone,
	}
	segments := [len(h.Documents)]*segment{}
	for kind, layers := range m.state.kinds {
		switch {
		case len(layers) == 1 && layers[0].n == len(layers[0].Docs):
			segments[kind] = layers[0].segment
		case len(layers) > 0:
			segments[kind] = mergeLayers(layers)
		default:
			continue
		}
		h.Documents[kind] = len(segments[kind].Docs)
	}
	if err := encoder.Encode(&h); err != nil {
		return err
	}
	for _, s := range segments {
		if s == nil {
			continue
		}
		if err := encoder.Encode(s); err != nil {
			return err
		}
		for docs := range slices.Chunk(s.Docs, blockDocs) {
			if err := ctx.Err(); err != nil {
				return err
			}
			bodies := make([][]byte, len(docs))
			for i := range docs {
				bodies[i] = docs[i].body
			}
			if err := encoder.Encode(bodies); err != nil {
				return err
			}
		}
	}
	_, err := to.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32()))
	return err
}

// Open returns an Index that starts from the snapshot at a path and writes its snapshots
// there. A missing or damaged snapshot, or one of another version of the program or of
// another history, is no error: the index starts empty, at position 0, and the logger gets
// the reason. An error of Options.Holds is returned.
func Open(ctx context.Context, path string, o Options) (*Index, error) {
	x, err := New(o)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, errors.New("memory index: no path for snapshots")
	}
	x.path = path
	s, gone, err := load(path)
	if err == nil && x.o.Holds != nil {
		holds, failed := x.o.Holds(ctx, s.marks.Reach)
		if failed != nil {
			return nil, fmt.Errorf("memory index: %w", failed)
		}
		if !holds {
			err = errHistory
		}
	}
	switch {
	case err == nil:
		x.gone = gone
		x.show(s)
	case errors.Is(err, fs.ErrNotExist):
	default:
		x.o.Logger.Warn("snapshot not used, index starts empty", "path", path, "error", err)
	}
	return x, nil
}

var (
	errDamaged = errors.New("damaged snapshot")
	errHistory = errors.New("snapshot of another event store, or of entries that this one has not any more")
)

// load reads a snapshot.
func load(path string) (*state, map[calendar.ID]calendar.Position, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	size, err := checkSum(f)
	if err != nil {
		return nil, nil, err
	}
	decoder := gob.NewDecoder(bufio.NewReaderSize(io.NewSectionReader(f, int64(len(snapshotForm)), size), 1<<20))
	var h head
	if err := decoder.Decode(&h); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if h.Fingerprint != readmodel.Fingerprint() {
		return nil, nil, errors.New("snapshot of another schema or analysis")
	}
	s := &state{marks: h.Marks, digest: h.Digest, quarantined: h.Quarantined}
	for kind, n := range h.Documents {
		s.stamps[kind] = stamps.Add(1)
		if n == 0 {
			continue
		}
		columns := &segment{}
		if err := decoder.Decode(columns); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		for docs := range slices.Chunk(columns.Docs, blockDocs) {
			var bodies [][]byte
			if err := decoder.Decode(&bodies); err != nil {
				return nil, nil, fmt.Errorf("%w: %w", errDamaged, err)
			}
			for i := range docs {
				docs[i].body = bodies[i]
			}
		}
		columns.schema = readmodel.SchemaOf(calendar.Kind(kind))
		columns.addLazy()
		columns.finish()
		s.kinds[kind] = []layer{newLayer(columns)}
	}
	if h.Gone == nil {
		h.Gone = map[calendar.ID]calendar.Position{}
	}
	return s, h.Gone, nil
}

// checkSum checks the form and the sum of a file, and returns the size of its values.
func checkSum(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	values := info.Size() - int64(len(snapshotForm)) - sumBytes
	form := make([]byte, len(snapshotForm))
	if _, err := io.ReadFull(f, form); err != nil || values < 0 || string(form) != snapshotForm {
		return 0, fmt.Errorf("%w: %d bytes that begin with something else", errDamaged, info.Size())
	}
	sum := crc32.New(castagnoli)
	_, _ = sum.Write(form) // never fails
	if _, err := io.CopyN(sum, f, values); err != nil {
		return 0, err
	}
	var want [sumBytes]byte
	if _, err := io.ReadFull(f, want[:]); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(want[:]) != sum.Sum32() {
		return 0, fmt.Errorf("%w: checksum", errDamaged)
	}
	return values, nil
}
