package memindex

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"daybook/calendar"
	"daybook/query/readmodel"
)

// A snapshot is one file: magic, frames, a directory of the frames with their lengths
// and CRC-32C, and where that begins, with its own. The first frame has marks, digest,
// quarantine, tombstones and how much there is of everything; the others have the index as
// it is built, so that a start reads each of them once and all of them beside each
// other. Numbers are of variable length. A frame is read only when its checksum and the
// fingerprint are right, so its content is trusted.

const snapshotMagic = "daybook index 6\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fingerprint names all that the content of a snapshot depends on.
func fingerprint() [sha256.Size]byte {
	h := sha256.New()
	_, _ = io.WriteString(h, readmodel.Fingerprint())
	return [sha256.Size]byte(h.Sum(nil))
}

// frameKind tells what a frame has.
type frameKind byte

const (
	frameHead      frameKind = iota
	frameWords               // of a language
	frameField               // a field that is no text
	frameText                // the postings of some words of a text field in a language
	frameDocuments           // what is kept of a block of documents, but their bytes
	frameData                // those, behind it
)

// frame is an entry of the directory.
type frame struct {
	what        frameKind
	kind        calendar.Kind
	field, lang byte
	from, sum   uint32 // the first word or document; the checksum
	size        uint64
}

const (
	frameBytes = 4 + 2*4 + 8 // of an entry
	tailBytes  = 2 * 4       // the length of the directory and its checksum
	// blockDocs is how many documents have their bytes in one piece of memory after a
	// start. It is a multiple of 64, so that blocks share no word of a bitset.
	blockDocs = 1024
	// textFrame is after how many bytes the postings go on in another frame.
	textFrame = 1 << 20
)

func (f *frame) append(b []byte) []byte {
	b = append(b, byte(f.what), byte(f.kind), f.field, f.lang)
	b = binary.LittleEndian.AppendUint32(b, f.from)
	b = binary.LittleEndian.AppendUint32(b, f.sum)
	return binary.LittleEndian.AppendUint64(b, f.size)
}

func frameOf(b []byte) frame {
	n := binary.LittleEndian
	return frame{frameKind(b[0]), calendar.Kind(b[1]), b[2], b[3], n.Uint32(b[4:]), n.Uint32(b[8:]), n.Uint64(b[12:])}
}

// image is the state of an Index at one moment: the index as frames, and the bytes of
// the documents, which are never changed.
type image struct {
	since  int64
	writes uint64
	at     calendar.Position
	frames []frame
	built  [][]byte // of the frames
	docs   [calendar.KindUser + 1][][]byte
}

// image takes the state of the index. Writes wait for it, searches do not.
func (x *Index) image() *image {
	x.writing.Lock()
	defer x.writing.Unlock()
	m := &image{since: x.since.Load(), writes: x.writes, at: x.marks.All.Position}
	m.add(frame{what: frameHead}, x.appendHead(nil))
	for i := calendar.KindEvent; i <= calendar.KindUser; i++ {
		x.kinds[i].addFrames(m)
		docs := make([][]byte, len(x.kinds[i].docs))
		for o := range docs {
			docs[o] = x.kinds[i].docs[o].data
		}
		m.docs[i] = docs
	}
	return m
}

func (m *image) add(f frame, b []byte) {
	f.size, f.sum = uint64(len(b)), crc32.Checksum(b, castagnoli)
	m.frames, m.built = append(m.frames, f), append(m.built, b)
}

// Snapshot writes the state of the index to the path that it was opened with:
// under a temporary name, synced, then renamed, so that there is always a whole
// file. Writes wait only while the state is copied. Without a write since the
// last snapshot it does nothing. The errors are those of files.
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
	x.mu.RLock()
	same := x.saved == x.writes
	x.mu.RUnlock()
	if same {
		return nil
	}
	m := x.image()
	if err := m.save(ctx, x.path); err != nil {
		return fmt.Errorf("write snapshot of position %d: %w", m.at, err)
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

// RemoveCutOff removes what snapshots to a path left that a killed process was
// writing. No index may be writing one meanwhile.
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

// syncDir makes the new name last. Not every file system can sync a directory;
// then the rename lasts when it lasts.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the directory of the operator's path
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

// write writes the file; the writer keeps the first error.
func (m *image) write(ctx context.Context, out *bufio.Writer) error {
	_, _ = out.WriteString(snapshotMagic)
	var dir []byte
	for i, f := range m.frames {
		_, _ = out.Write(m.built[i])
		dir = f.append(dir)
		if f.what != frameDocuments {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		data := frame{what: frameData, kind: f.kind, from: f.from}
		docs := m.docs[f.kind]
		for _, d := range docs[f.from:min(len(docs), int(f.from)+blockDocs)] {
			data.size += uint64(len(d))
			data.sum = crc32.Update(data.sum, castagnoli, d)
			_, _ = out.Write(d)
		}
		dir = data.append(dir)
	}
	_, _ = out.Write(dir)
	tail := binary.LittleEndian.AppendUint32(nil, uint32(len(dir)))
	tail = binary.LittleEndian.AppendUint32(tail, crc32.Checksum(dir, castagnoli))
	_, err := out.Write(tail)
	return err
}

// Open makes an Index that starts from the snapshot at a path and writes its
// snapshots there. A missing or damaged snapshot, or one of another version of
// the program or of another history, is no error: the index starts empty, at
// position 0, and the logger tells why. An error of Options.Holds is given back.
func Open(ctx context.Context, path string, o Options) (*Index, error) {
	x, err := New(o)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, errors.New("memory index: no path for snapshots")
	}
	x.path = path
	err = x.load(path)
	if err == nil && x.o.Holds != nil {
		holds, failed := x.o.Holds(ctx, x.marks.Reach)
		if failed != nil {
			return nil, fmt.Errorf("memory index: %w", failed)
		}
		if !holds {
			err = errHistory
		}
	}
	switch {
	case err == nil:
		x.saved = x.writes
		x.show()
	case errors.Is(err, fs.ErrNotExist):
	default:
		x.o.Logger.Warn("snapshot not used, index starts empty", "path", path, "error", err)
		x.empty()
	}
	return x, nil
}

var (
	errDamaged = errors.New("damaged snapshot")
	errHistory = errors.New("snapshot of another event store, or of entries that this one has not any more")
)

// load fills the index from a snapshot.
func (x *Index) load(path string) error {
	f, err := os.Open(path) //nolint:gosec // the operator's path
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	frames, err := directory(f)
	if err != nil {
		return err
	}
	l := &loader{file: f, at: int64(len(snapshotMagic)), frames: frames}
	b, err := l.read(l.next()[0], nil)
	if err != nil {
		return err
	}
	r := reader{b: b}
	if mark := fingerprint(); string(r.bytes(uint64(len(mark)))) != string(mark[:]) {
		return errors.New("snapshot of another schema or analysis")
	}
	x.readHead(&r)
	if r.bad {
		return fmt.Errorf("%w: head", errDamaged)
	}
	var workers errgroup.Group
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() error { return l.work(x) })
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	x.placeAll()
	return nil
}

// placeAll fills the places, which have room for all documents.
func (x *Index) placeAll() {
	for _, k := range x.kinds[calendar.KindEvent:] {
		for o, id := range k.ids {
			if id != 0 {
				x.places.add(place{k.schema.Kind, uint32(o)}.number())
			}
		}
	}
}

// directory reads the directory and checks that the frames fill the file.
func directory(f *os.File) ([]frame, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	magic, tail := make([]byte, len(snapshotMagic)), make([]byte, tailBytes)
	if size < int64(len(magic)+len(tail)+frameBytes) {
		return nil, fmt.Errorf("%w: %d bytes", errDamaged, size)
	}
	if _, err := f.ReadAt(magic, 0); err != nil {
		return nil, err
	}
	if string(magic) != snapshotMagic {
		return nil, fmt.Errorf("%w: it begins with something else", errDamaged)
	}
	if _, err := f.ReadAt(tail, size-tailBytes); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	at := size - tailBytes - n
	if at < int64(len(magic)) || n%frameBytes != 0 {
		return nil, fmt.Errorf("%w: its end", errDamaged)
	}
	dir := make([]byte, n)
	if _, err := f.ReadAt(dir, at); err != nil {
		return nil, err
	}
	if crc32.Checksum(dir, castagnoli) != binary.LittleEndian.Uint32(tail[4:]) {
		return nil, fmt.Errorf("%w: checksum of the directory", errDamaged)
	}
	frames := make([]frame, 0, n/frameBytes)
	sum := uint64(len(magic))
	for entry := range slices.Chunk(dir, frameBytes) {
		frames = append(frames, frameOf(entry))
		sum += frames[len(frames)-1].size
	}
	if sum != uint64(at) || len(frames) == 0 || frames[0].what != frameHead {
		return nil, fmt.Errorf("%w: its frames", errDamaged)
	}
	return frames, nil
}

// loader gives the frames to those who read them.
type loader struct {
	file *os.File

	mu     sync.Mutex
	at     int64
	frames []frame
}

// placed is a frame and where it lies.
type placed struct {
	frame
	at int64
}

// next gives the next frame, and the bytes of a block of documents with what is kept of
// them. Without one there is none left.
func (l *loader) next() []placed {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []placed
	for len(l.frames) > 0 && (len(out) == 0 || out[0].what == frameDocuments && len(out) == 1) {
		out = append(out, placed{l.frames[0], l.at})
		l.at += int64(l.frames[0].size)
		l.frames = l.frames[1:]
	}
	return out
}

// read reads a frame into b, which is made larger when it is too small.
func (l *loader) read(p placed, b []byte) ([]byte, error) {
	b = slices.Grow(b[:0], int(p.size))[:p.size]
	if _, err := l.file.ReadAt(b, p.at); err != nil {
		return b, err
	}
	if crc32.Checksum(b, castagnoli) != p.sum {
		return b, fmt.Errorf("%w: checksum", errDamaged)
	}
	return b, nil
}

// work reads frames until none is left.
func (l *loader) work(x *Index) (err error) {
	var b []byte // of the last frame, used again
	for {
		next := l.next()
		if len(next) == 0 {
			return nil
		}
		if b, err = l.read(next[0], b); err != nil {
			return err
		}
		var data []byte
		if len(next) > 1 {
			if data, err = l.read(next[1], nil); err != nil {
				return err
			}
		}
		f := next[0].frame
		r := reader{b: b}
		x.kinds[f.kind].readFrame(f, &r, data)
		if r.bad || len(r.b) > 0 {
			return fmt.Errorf("%w: frame %+v", errDamaged, f)
		}
	}
}
