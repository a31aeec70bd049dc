package memindex

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
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

// A snapshot is one file: magic, fingerprint, marks, digest, poison, tombstones, per
// kind the words of the languages and the documents, and the CRC-32C of all that.
// Numbers are of variable length. A number of a word that is free has an empty text. It
// is read only when the checksum and the fingerprint are right, so its content is
// trusted but for lengths.

const snapshotMagic = "daybook index 5\n"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fingerprint names all that the content of a snapshot depends on.
func fingerprint() [sha256.Size]byte {
	h := sha256.New()
	_, _ = io.WriteString(h, readmodel.Fingerprint())
	return [sha256.Size]byte(h.Sum(nil))
}

// image is the state of an Index at one moment. What it refers to is never
// changed in place.
type image struct {
	since  int64
	marks  readmodel.Marks
	writes uint64
	digest readmodel.Digest
	poison []readmodel.Poison
	gone   map[calendar.ID]calendar.Position
	kinds  [calendar.KindUser + 1]kindImage
}

type kindImage struct {
	ids   []calendar.ID
	docs  []doc
	words [len(calendar.Langs)][]word
}

func (x *Index) image() *image {
	x.mu.RLock()
	defer x.mu.RUnlock()
	m := &image{
		since: x.since.Load(), marks: x.marks, writes: x.writes, digest: x.digest, poison: x.sortedPoison(), gone: maps.Clone(x.gone),
	}
	m.digest.Counts = maps.Clone(x.digest.Counts)
	for i := calendar.KindEvent; i <= calendar.KindUser; i++ {
		k := x.kinds[i]
		m.kinds[i] = kindImage{ids: slices.Clone(k.ids), docs: slices.Clone(k.docs)}
		for l, d := range k.texts.dicts {
			m.kinds[i].words[l] = slices.Clone(d.words) // numbers are used again
		}
	}
	return m
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
	x.mu.RLock()
	same := x.saved == x.writes
	x.mu.RUnlock()
	if same {
		return nil
	}
	m := x.image()
	if err := m.save(ctx, x.path); err != nil {
		return fmt.Errorf("write snapshot of position %d: %w", m.marks.All.Position, err)
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
	w := &writer{sum: crc32.New(castagnoli)}
	w.out = bufio.NewWriterSize(io.MultiWriter(f, w.sum), 1<<20)
	if err := m.write(ctx, w); err != nil {
		return err
	}
	if err := w.out.Flush(); err != nil {
		return err
	}
	if _, err := f.Write(binary.LittleEndian.AppendUint32(nil, w.sum.Sum32())); err != nil {
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

// writer writes binary values; the buffer keeps the first error.
type writer struct {
	out *bufio.Writer
	sum hash.Hash32
	num [binary.MaxVarintLen64]byte
}

func (w *writer) raw(b []byte) { _, _ = w.out.Write(b) } // Flush gives the error

func (w *writer) uvarint(v uint64) {
	w.raw(w.num[:binary.PutUvarint(w.num[:], v)])
}

func (w *writer) varint(v int64) {
	w.raw(w.num[:binary.PutVarint(w.num[:], v)])
}

func (w *writer) bytes(b []byte) {
	w.uvarint(uint64(len(b)))
	w.raw(b)
}

func (w *writer) string(s string) {
	w.uvarint(uint64(len(s)))
	_, _ = w.out.WriteString(s)
}

func (m *image) write(ctx context.Context, w *writer) error {
	mark := fingerprint()
	w.raw([]byte(snapshotMagic))
	w.raw(mark[:])
	for _, at := range [...]calendar.Mark{m.marks.All, m.marks.Reach} {
		w.uvarint(uint64(at.Position))
		w.raw(at.Hash[:])
	}
	w.raw(m.digest.Sum[:])
	w.uvarint(uint64(len(m.poison)))
	for _, p := range m.poison {
		w.varint(int64(p.ID))
		w.uvarint(uint64(p.Position))
		w.string(p.Reason)
	}
	w.uvarint(uint64(len(m.gone)))
	for id, p := range m.gone {
		w.varint(int64(id))
		w.uvarint(uint64(p))
	}
	for i := range m.kinds[calendar.KindEvent:] {
		k := &m.kinds[int(calendar.KindEvent)+i]
		for _, words := range k.words {
			w.uvarint(uint64(len(words)))
			for j := range words {
				w.string(words[j].text)
			}
		}
		live := 0
		for _, id := range k.ids {
			if id != 0 {
				live++
			}
		}
		w.uvarint(uint64(live))
		for o, id := range k.ids {
			if id == 0 {
				continue
			}
			if o%4096 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			d := &k.docs[o]
			w.varint(int64(id))
			w.uvarint(uint64(d.position))
			w.varint(d.version)
			w.uvarint(d.sum)
			w.uvarint(uint64(d.home))
			w.uvarint(uint64(d.textAt))
			w.uvarint(uint64(d.bodyAt))
			w.bytes(d.data)
		}
	}
	return nil
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
	if err == nil && x.holds != nil {
		holds, failed := x.holds(ctx, x.marks.Reach)
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
		x.log.Warn("snapshot not used, index starts empty", "path", path, "error", err)
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
	size, err := checkSum(f)
	if err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r := &fileReader{in: bufio.NewReaderSize(io.LimitReader(f, size), 1<<20), left: size}
	if err := x.read(r); err != nil {
		return err
	}
	return r.err
}

// checkSum reads a file once and gives the length before its checksum.
func checkSum(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	size := info.Size() - crc32.Size
	if size < int64(len(snapshotMagic)) {
		return 0, fmt.Errorf("%w: %d bytes", errDamaged, info.Size())
	}
	sum := crc32.New(castagnoli)
	if _, err := io.CopyBuffer(sum, io.LimitReader(f, size), make([]byte, 1<<20)); err != nil {
		return 0, err
	}
	var end [crc32.Size]byte
	if _, err := io.ReadFull(f, end[:]); err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(end[:]) != sum.Sum32() {
		return 0, fmt.Errorf("%w: checksum", errDamaged)
	}
	return size, nil
}

// fileReader reads binary values; it keeps the first error and gives zeros after
// it.
type fileReader struct {
	in   *bufio.Reader
	left int64 // an upper bound of what may still come
	err  error
}

func (r *fileReader) fail(err error) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %w", errDamaged, err)
	}
}

func (r *fileReader) uvarint() uint64 {
	if r.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(r.in)
	if err != nil {
		r.fail(err)
		return 0
	}
	return v
}

func (r *fileReader) varint() int64 {
	if r.err != nil {
		return 0
	}
	v, err := binary.ReadVarint(r.in)
	if err != nil {
		r.fail(err)
		return 0
	}
	return v
}

// count reads a number of things that take at least a byte each.
func (r *fileReader) count() int {
	n := r.uvarint()
	if n > uint64(r.left) {
		r.fail(fmt.Errorf("%d of something", n))
		return 0
	}
	return int(n)
}

func (r *fileReader) bytes(n int) []byte {
	if r.err != nil {
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r.in, b); err != nil {
		r.fail(err)
		return nil
	}
	return b
}

func (x *Index) read(r *fileReader) error {
	if string(r.bytes(len(snapshotMagic))) != snapshotMagic {
		return fmt.Errorf("%w: it begins with something else", errDamaged)
	}
	if mark := fingerprint(); string(r.bytes(len(mark))) != string(mark[:]) {
		return errors.New("snapshot of another schema or analysis")
	}
	for _, at := range [...]*calendar.Mark{&x.marks.All, &x.marks.Reach} {
		at.Position = calendar.Position(r.uvarint())
		copy(at.Hash[:], r.bytes(len(at.Hash)))
	}
	copy(x.digest.Sum[:], r.bytes(len(x.digest.Sum)))
	for range r.count() {
		id := calendar.ID(r.varint())
		p := calendar.Position(r.uvarint())
		x.poison[id] = readmodel.Poison{ID: id, Position: p, Reason: string(r.bytes(r.count()))}
	}
	for range r.count() {
		id := calendar.ID(r.varint())
		x.gone[id] = calendar.Position(r.uvarint())
	}
	for _, k := range x.kinds[calendar.KindEvent:] {
		k.read(r)
		if r.err != nil {
			return r.err
		}
		if err := k.build(); err != nil {
			return err
		}
		if len(k.docs) > 0 {
			x.digest.Counts[k.schema.Kind] = len(k.docs)
		}
		for o, id := range k.ids {
			x.places[id] = place{k.schema.Kind, uint32(o)}
		}
	}
	return nil
}

// read fills the words and the documents.
func (k *kindIndex) read(r *fileReader) {
	for _, d := range k.texts.dicts {
		n := r.count()
		texts := make([]string, 0, n)
		for range n {
			texts = append(texts, string(r.bytes(r.count())))
		}
		if len(texts) == 0 || texts[breakWord] != readmodel.Break {
			r.fail(errors.New("words without a break"))
			return
		}
		d.fill(texts)
	}
	n := r.count()
	k.docs, k.ids = make([]doc, 0, n), make([]calendar.ID, 0, n)
	for range n {
		id := calendar.ID(r.varint())
		d := doc{
			position: calendar.Position(r.uvarint()), version: r.varint(), sum: r.uvarint(), home: calendar.Lang(r.uvarint()),
			textAt: uint32(r.uvarint()), bodyAt: uint32(r.uvarint()),
		}
		d.data = r.bytes(r.count())
		if r.err != nil {
			return
		}
		if id < 1 || int(d.home) >= len(calendar.Langs) || d.textAt > d.bodyAt || int(d.bodyAt) > len(d.data) {
			r.fail(fmt.Errorf("document %d", id))
			return
		}
		k.docs, k.ids = append(k.docs, d), append(k.ids, id)
	}
}
