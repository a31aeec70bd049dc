package memindex

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// A snapshot is one file of values of encoding/gob in the frame of gzip, which checks their
// sum: a head, and for each kind its columns and then the bodies of its documents in blocks.
// Where values and words occur is found when it is read.

const (
	snapshotForm = "8 "
	blockDocs    = 1024 // documents whose bodies are one value
)

// head is the first value of a snapshot.
type head struct {
	Form        string // snapshotForm and readmodel.Fingerprint
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

// image returns the content. The caller has locked writing.
func (x *Index) image() *image {
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
	x.writing.Lock()
	m := x.image()
	x.writing.Unlock()
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

// save writes a file.
func (m *image) save(ctx context.Context, path string) (err error) {
	f, err := os.OpenFile(path+unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // the operator's path
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := m.write(ctx, f); err != nil {
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
	return syncDir(filepath.Dir(path))
}

// unfinished is behind the name of a file that is being written.
const unfinished = ".tmp"

// RemoveCutOff removes what a killed process left that was writing to a path. No index may
// be writing there meanwhile.
func RemoveCutOff(path string) error {
	if err := os.Remove(path + unfinished); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
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
	buffer := bufio.NewWriterSize(to, 1<<20)
	out, err := gzip.NewWriterLevel(buffer, gzip.NoCompression) // bodies are packed
	if err != nil {
		return err
	}
	encoder := gob.NewEncoder(out)
	h := head{
		Form: snapshotForm + readmodel.Fingerprint(), Marks: m.state.marks, Digest: m.state.digest,
		Quarantined: m.state.quarantined, Gone: m.gone,
	}
	segments := [len(h.Documents)]*segment{}
	for kind, layers := range m.state.kinds {
		switch {
		case len(layers) == 1 && layers[0].n == len(layers[0].Docs):
			segments[kind] = layers[0].segment
		case len(layers) > 0:
			segments[kind] = mergeLayers(layers[0].schema, layers, nil)
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
	if err := out.Close(); err != nil {
		return err
	}
	return buffer.Flush()
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
	errForm    = errors.New("snapshot of another schema or analysis")
	errHistory = errors.New("snapshot of another event store, or of entries that this one has not any more")
)

// load reads a snapshot.
func load(path string) (*state, map[calendar.ID]calendar.Position, error) {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	in, err := gzip.NewReader(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return nil, nil, err
	}
	values := bufio.NewReaderSize(in, 1<<20)
	decoder := gob.NewDecoder(values) // which reads no further than it has to
	var h head
	if err := decoder.Decode(&h); err != nil {
		return nil, nil, err
	}
	if h.Form != snapshotForm+readmodel.Fingerprint() {
		return nil, nil, errForm
	}
	segments := [len(h.Documents)]*segment{}
	for kind, n := range h.Documents {
		if n == 0 {
			continue
		}
		segments[kind] = &segment{schema: readmodel.SchemaOf(calendar.Kind(kind))}
		if err := decoder.Decode(segments[kind]); err != nil {
			return nil, nil, err
		}
		for docs := range slices.Chunk(segments[kind].Docs, blockDocs) {
			var bodies [][]byte
			if err := decoder.Decode(&bodies); err != nil {
				return nil, nil, err
			}
			for i := range docs {
				docs[i].body = bodies[i]
			}
		}
	}
	if _, err := io.Copy(io.Discard, values); err != nil { // at the end the sum is checked
		return nil, nil, err
	}
	s := &state{marks: h.Marks, digest: h.Digest, quarantined: h.Quarantined}
	for kind, columns := range segments {
		s.stamps[kind] = stamps.Add(1)
		if columns != nil {
			columns.finish()
			s.kinds[kind] = []layer{newLayer(columns)}
		}
	}
	if h.Gone == nil {
		h.Gone = map[calendar.ID]calendar.Position{}
	}
	return s, h.Gone, nil
}
