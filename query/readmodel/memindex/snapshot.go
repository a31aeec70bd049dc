package memindex

import (
	"archive/zip"
	"bufio"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// A snapshot is one file in the format of zip, which checks the sum of each part: a head,
// and for each kind its columns and its documents in blocks, each a value of encoding/gob. Where values and words occur is found when it is read.

const (
	snapshotForm = "12 "
	blockDocs    = 8192 // documents that are one value
)

// head is the first value of a snapshot.
type head struct {
	Form        string // snapshotForm and readmodel.Fingerprint
	Marks       readmodel.Marks
	Content     uint64
	Quarantined map[calendar.ID]readmodel.Quarantined
	Gone        map[calendar.ID]calendar.Position
	Documents   [calendar.KindTag + 1]int
}

// stored returns pointers to what is stored of a segment, by name. It has its documents, or
// room for them.
func (segment *segment) stored() map[string]any {
	parts := map[string]any{"home": &segment.Home, "words": &segment.Words}
	for from := 0; from < len(segment.Docs); from += blockDocs {
		block := segment.Docs[from:min(from+blockDocs, len(segment.Docs))]
		parts[strconv.Itoa(from)] = &block
	}
	for name, column := range segment.Keywords {
		parts[name] = column
	}
	for name, column := range segment.Numbers {
		parts[name] = column
	}
	for name, textColumn := range segment.Texts {
		parts[name] = textColumn
	}
	return parts
}

// image is the content of an Index at one moment.
type image struct {
	state  *state
	gone   map[calendar.ID]calendar.Position
	since  int64
	writes uint64
}

// image returns the content. The caller has locked writing.
func (index *Index) image() *image {
	return &image{index.current.Load(), maps.Clone(index.gone), index.since.Load(), index.writes}
}

// Snapshot writes the content of the index to the path that it was opened with: under a
// temporary name, synced, then renamed, so that there is always a whole file. Without a path
// or a write since the last snapshot it does nothing. The errors are those of files.
func (index *Index) Snapshot(ctx context.Context) error {
	index.saving.Lock()
	defer index.saving.Unlock()
	return index.snapshot(ctx)
}

// snapshot is Snapshot; saving is held.
func (index *Index) snapshot(ctx context.Context) error {
	index.writing.Lock()
	image := index.image()
	index.writing.Unlock()
	if index.path == "" || index.saved == image.writes {
		return nil
	}
	if err := image.save(ctx, index.path); err != nil {
		return fmt.Errorf("write snapshot of position %d: %w", image.state.marks.All.Position, err)
	}
	index.saved = image.writes
	index.since.Add(-image.since)
	return nil
}

// save writes a file.
func (image *image) save(ctx context.Context, path string) error {
	file, err := os.OpenFile(path+unfinished, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // the operator's path
	if err != nil {
		return err
	}
	if err = cmp.Or(image.write(ctx, file), file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return syncDir(filepath.Dir(path))
}

// unfinished is behind the name of a file that is being written.
const unfinished = ".tmp"

// remove removes a file, if there is one.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// syncDir makes the new name durable. Not every file system can sync a directory.
func syncDir(directory string) error {
	file, err := os.Open(directory) //nolint:gosec // the directory of the operator's path
	if err != nil {
		return err
	}
	_ = file.Sync()
	return file.Close()
}

func (image *image) write(ctx context.Context, target io.Writer) error {
	buffer := bufio.NewWriterSize(target, 1<<20)
	result := zip.NewWriter(buffer)
	write := func(name string, value any) error {
		writer, err := result.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store}) // bodies are packed
		return cmp.Or(ctx.Err(), err, gob.NewEncoder(writer).Encode(value))
	}
	h := head{
		Form: snapshotForm + readmodel.Fingerprint(), Marks: image.state.marks, Content: image.state.content,
		Quarantined: image.state.quarantined, Gone: image.gone,
	}
	for kind, layers := range image.state.kinds {
		if len(layers) == 0 {
			continue
		}
		segment := layers[0].segment
		if len(layers) > 1 || layers[0].number < len(segment.Docs) {
			segment = build(segment.schema, layers, nil)
		}
		h.Documents[kind] = len(segment.Docs)
		for name, value := range segment.stored() {
			if err := write(segment.schema.Kind.String()+"/"+name, value); err != nil {
				return err
			}
		}
	}
	return cmp.Or(write("head", &h), result.Close(), buffer.Flush())
}

// Open returns an Index that starts from the snapshot at a path and writes its snapshots
// there, which no other index does. A missing or damaged snapshot, or one of another version of
// the program or of another history, is no error: the index starts empty, at position 0, and
// the logger gets the reason. An error of Options.Holds is returned.
func Open(ctx context.Context, path string, options Options) (*Index, error) {
	index := New(options)
	index.path = path
	_ = remove(path + unfinished) // what a killed process left; else the next snapshot replaces it
	state, gone, err := load(path)
	if err == nil && index.options.Holds != nil {
		holds, failed := index.options.Holds(ctx, state.marks.Reach)
		if failed != nil {
			return nil, fmt.Errorf("memory index: %w", failed)
		}
		if !holds {
			err = errors.New("snapshot of another event store, or of entries that this one has not any more")
		}
	}
	switch {
	case err == nil:
		index.gone = gone
		index.show(state)
	case errors.Is(err, fs.ErrNotExist):
	default:
		index.options.Logger.Warn("snapshot not used, index starts empty", "path", path, "error", err)
	}
	return index, nil
}

// load reads a snapshot, on all processors.
func load(path string) (*state, map[calendar.ID]calendar.Position, error) {
	readCloser, err := zip.OpenReader(path)
	if err != nil {
		return nil, nil, err
	}
	defer readCloser.Close() //nolint:errcheck // it was only read
	read := func(name string, value any) error {
		file, err := readCloser.Open(name)
		if err == nil {
			defer file.Close() //nolint:errcheck // it was only read
			if err = gob.NewDecoder(file).Decode(value); err == nil {
				_, err = io.Copy(io.Discard, file) // to the end, where the sum is checked
			}
		}
		return err
	}
	h := head{Gone: map[calendar.ID]calendar.Position{}, Quarantined: map[calendar.ID]readmodel.Quarantined{}}
	if err := read("head", &h); err != nil {
		return nil, nil, err
	}
	if h.Form != snapshotForm+readmodel.Fingerprint() {
		return nil, nil, errors.New("snapshot of another schema or analysis")
	}
	s := &state{marks: h.Marks, content: h.Content, quarantined: h.Quarantined}
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	segments := map[calendar.Kind]*segment{}
	for i, count := range h.Documents {
		kind := calendar.Kind(i)
		s.stamps[kind] = stamps.Add(1)
		if count == 0 {
			continue
		}
		segments[kind] = newSegment(readmodel.SchemaOf(kind))
		segments[kind].Docs = make([]doc, count)
		for name, value := range segments[kind].stored() {
			readers.Go(func() error { return read(kind.String()+"/"+name, value) })
		}
	}
	if err := readers.Wait(); err != nil {
		return nil, nil, err
	}
	for kind, loaded := range segments {
		loaded.finish()
		s.kinds[kind] = []liveSegment{newLayer(loaded)}
	}
	return s, h.Gone, nil
}
