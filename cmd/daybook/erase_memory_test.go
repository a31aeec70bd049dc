package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

// heapEnv names the file that a child writes its heap to at each SIGUSR1.
const heapEnv = "TEST_HEAP_FILE"

// dumpHeap writes what lives in the heap to a file at each signal.
func dumpHeap(file string) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for range asked {
		for range 3 { // pools give up what they hold after two
			runtime.GC()
		}
		f, err := os.Create(file + ".part")
		if err != nil {
			panic(err)
		}
		debug.WriteHeapDump(f.Fd())
		if err := os.Rename(f.Name(), file); err != nil {
			panic(err)
		}
		_ = f.Close()
	}
}

// heap returns what lives in the heap of the server, with small letters.
func (server *server) heap(file string) []byte {
	server.t.Helper()
	must(server.t, syscall.Kill(server.cmd.Process.Pid, syscall.SIGUSR1))
	eventually(server.t, "the heap", func() bool { _, err := os.Stat(file); return err == nil })
	data, err := os.ReadFile(file)
	must(server.t, err)
	must(server.t, os.Remove(file))
	data = live(data)
	for i, letter := range data {
		if 'A' <= letter && letter <= 'Z' {
			data[i] = letter - 'A' + 'a'
		}
	}
	return data
}

// live returns a heap dump without the ends of its pages. The runtime writes them as objects too
// where the size of an object leaves room, though they hold the bits that mark pointers and what
// lay there in an earlier life of the page.
func live(dump []byte) []byte {
	const page, bits, largest = 8192, 128, 512 // bytes: only objects up to largest have their bits there
	out := make([]byte, 0, len(dump))
	_, dump, _ = bytes.Cut(dump, []byte{'\n'})
	number := func() uint64 {
		n, size := binary.Uvarint(dump)
		dump = dump[size:]
		return n
	}
	text := func() (data []byte) {
		n := number()
		data, dump = dump[:n], dump[n:]
		return data
	}
	for {
		switch dump[0] { // the kind of record
		case 1:
			number()
			address, object := number(), text()
			for number() != 0 { // fields, each a kind and an offset
				number()
			}
			if n := len(object); n > largest || int(address%page)+n <= page-bits {
				out = append(out, object...)
			}
		case 3: // a type: address, size, name, whether it is a pointer
			number()
			number()
			number()
			text()
			number()
		case 6: // order of bytes, size of a pointer, first and last address, names of the machine, processors
			for range 5 {
				number()
			}
			text()
			text()
			number()
		case 8: // a table of methods: its address and that of its type
			number()
			number()
			number()
		default: // stacks and global variables follow the objects
			return append(out, dump...)
		}
	}
}

// TestErasedMemory: whatever was read of a record, no word of it is in the memory of a
// process that serves, soon after it was erased (docs/spec/history.md 14.2).
func TestErasedMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, file := filepath.Join(dir, "data"), filepath.Join(dir, "heap")
	cmd := child(context.Background(), "serve", "--data", data, "--listen", "127.0.0.1:0")
	// Memory that was freed is overwritten: what lives may have room that was never written to.
	server := startServerOf(t, cmd, "", append(cmd.Env, heapEnv+"="+file, "GODEBUG=clobberfree=1"))

	const place = `,"address":"%[1]s lane 7","city":"%[1]s","country":"France","geo_lat":48.85,"geo_lng":2.35,"description":"%[1]s is here"`
	// Shorter strings share a block of memory with others, which hold it as long as they live.
	words := map[string]string{
		"user": "Ubrindalkovarthmelin", "venue": "Xylqorvanthdremmolip", "organizer": "Wubbrizzekfanthorpul", "category": "Qophtallinebruxodane", "tag": "Zegdrimmowpalthivers", "event": "Vorplunkasiquendromel",
	}
	collections := map[string]string{"venue": "venues", "organizer": "organizers", "category": "categories", "tag": "tags", "event": "events"}
	ids := map[string]string{}
	author := strings.TrimSpace(mustTool(t, "user", "add", words["user"], "--role", "administrator", "--data", data))
	create := func(kind, body string) {
		t.Helper()
		ids[kind] = idOf(server.want(201, "POST", "/"+collections[kind], author, fmt.Sprintf(body, words[kind])))
	}
	create("venue", `{"venue":"%[1]s House","slug":"%[1]s-slug","image":"https://pictures.example/%[1]s.png"`+place+`}`)
	create("organizer", `{"organizer":"%[1]s Club","email":"%[1]s@example.org"}`)
	create("category", `{"name":"%[1]s arts","description":"%[1]s all day"}`)
	create("tag", `{"name":"%[1]s tagged"}`)
	links := fmt.Sprintf(`"start_date":"2026-07-04 18:30:00","end_date":"2026-07-04 19:30:00","venue":%s,"organizer":[%s],"categories":[%s],"tags":[%s]`,
		ids["venue"], ids["organizer"], ids["category"], ids["tag"])
	create("event", `{"title":"%[1]s night","description":"%[1]s sings",`+links+`}`)
	stays := server.want(201, "POST", "/events", author, `{"title":"Stays",`+links+`}`)
	ids["user"] = fmt.Sprint(stays["author"])
	erased := map[string]bool{}
	read := func() {
		for kind, collection := range collections {
			path, word := "/"+collection+"/"+ids[kind], words[kind]
			paths := []string{
				path, path + "?as_of=20", path + "/history", path + "/timemap", path + "/diff?from=1&to=1",
				"/" + collection, "/" + collection + "?as_of=20", "/changes",
			}
			if !erased[kind] { // afterwards the word is that of who asks
				paths = append(paths, "/"+collection+"/by-slug/"+word+"-slug", "/"+collection+"?search="+word, "/suggest?q="+word)
			}
			for _, text := range paths {
				server.try("GET", server.root+text, "", "")
				server.try("GET", server.root+text, author, "")
			}
		}
		for _, text := range []string{
			"/events?facets=venue,organizer,categories,tags,city", "/events?lat=48.85&lng=2.35&radius=10", "/events?venue=" + ids["venue"], "/events?categories=" + ids["category"],
			"/events.ics", "/events?format=rss", "/events?format=csv", "/events/map", "/events/" + idOf(stays), "/events/" + idOf(stays) + "/history",
		} {
			server.try("GET", server.root+text, "", "")
		}
		for _, text := range []string{"/", "/events/", "/events/" + idOf(stays), "/events/map/", "/events/month/2026-07/", "/sitemap.xml"} {
			server.try("GET", server.host+text, "", "")
		}
	}
	eventually(t, "lists with the event", func() bool {
		status, b := server.try("GET", server.root+"/events?search="+words["event"]+"&start_date=2026-01-01", "", "")
		return status == 200 && bytes.Contains(b, []byte(`"total":1`))
	})
	read()
	before := server.heap(file)
	for kind, word := range words {
		if len(places(before, word)) == 0 {
			t.Errorf("%s is not in the heap before, so that it is not there afterwards would say nothing", kind)
		}
	}
	for _, kind := range []string{"event", "venue", "organizer", "category", "tag", "user"} {
		if kind != "user" { // what is read between two erasures drops what was cached before the first
			read()
		}
		mustTool(t, "erase", kind, ids[kind], "--data", data, "--reason", "asked for", "--yes")
		erased[kind] = true
	}
	http.DefaultClient.CloseIdleConnections() // their buffers hold what was sent last
	var left []string
	for end := time.Now().Add(limit / 2); time.Now().Before(end); {
		left = nil
		heap := server.heap(file)
		for kind, word := range words {
			for _, at := range places(heap, word) {
				left = append(left, fmt.Sprintf("%s: %q", kind, heap[max(0, at[0]-80):min(len(heap), at[1]+80)]))
			}
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("%d places in the heap hold words of what was erased:\n%s", len(left), strings.Join(left, "\n"))
}

// places returns where a word stands in a heap, whose letters are small.
func places(heap []byte, word string) [][]int {
	return regexp.MustCompile(strings.ToLower(word)).FindAllIndex(heap, -1)
}
