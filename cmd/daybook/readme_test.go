package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// readmeCommands returns the commands of the sh blocks of a text, block by block;
// lines that end in a backslash are joined.
func readmeCommands(t *testing.T, path string) [][]string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	var blocks [][]string
	inside, joined := false, ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, "\n")
		switch {
		case line == "```sh":
			inside = true
			blocks = append(blocks, nil)
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && strings.HasSuffix(line, `\`):
			joined += strings.TrimSuffix(line, `\`)
		case inside && strings.TrimSpace(line) != "":
			last := len(blocks) - 1
			blocks[last] = append(blocks[last], joined+line)
			joined = ""
		}
	}
	return blocks
}

// TestReadme runs every command of the README as a reader would, but for the ports and the
// directory: with what the demo exports, and what the commands before it set.
func TestReadme(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	for _, name := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s did not run, it needs %s: %v", t.Name(), name, err)
		}
	}
	root := filepath.Join("..", "..")
	dir := t.TempDir()
	env := slices.DeleteFunc(os.Environ(), func(text string) bool { return strings.HasPrefix(text, "DAYBOOK_") })
	shell := func(where, command string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", "curl() { command curl -sf \"$@\"; }\n"+command)
		cmd.Dir, cmd.Env = where, env
		var out, errText bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errText
		if err := cmd.Run(); err != nil {
			t.Errorf("%s: %v\n%s%s", command, err, out.String(), errText.String())
		}
		return out.String()
	}

	var demo, own *server
	var all strings.Builder
	run := 0
	for _, block := range readmeCommands(t, filepath.Join(root, "README.md")) {
		for _, command := range block {
			run++
			name, value, sets := strings.Cut(command, "=")
			switch {
			case command == "go run ./cmd/daybook demo":
				demo = startServerOf(t, exec.Command("go", "run", "./cmd/daybook", "demo", "--listen", "127.0.0.1:0"), root, env)
				_, line, _ := strings.Cut(demo.announced, "\nexport ")
				line, _, _ = strings.Cut(line, "\n")
				env = append(env, strings.Fields(line)...)
			case command == "go test ./...":
				data, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
				if err != nil || !strings.Contains(string(data), "go test -json") || !strings.Contains(string(data), " ./...)\n") {
					t.Errorf("CI does not run the tests by the README's command: %v", err)
				}
			case strings.HasPrefix(command, "go build -o bin/daybook "):
				shell(root, strings.Replace(command, "bin/daybook", filepath.Join(dir, "bin", "daybook"), 1))
			case strings.HasPrefix(command, "bin/daybook serve "):
				own = startServerOf(t, exec.Command(filepath.Join(dir, "bin", "daybook"), append(strings.Fields(command)[1:], "--listen", "127.0.0.1:0")...), dir, env)
				if !strings.Contains(own.announced, "pages: "+own.host+"/\n") {
					t.Errorf("%s prints\n%s", command, own.announced)
				}
			case sets && !strings.ContainsAny(name, " -"):
				set := shell(dir, strings.Replace(command, "http://127.0.0.1:8081", own.host, 1)+"; echo $"+name)
				if env = append(env, name+"="+strings.TrimSpace(set)); strings.TrimSpace(set) == "" {
					t.Errorf("%s: nothing in %s", name, value)
				}
			case strings.Contains(command, "/changes/stream"): // it goes on until somebody ends it
				all.WriteString(shell(dir, command+" | grep -m 1 '^event: change' || true"))
			default:
				out := shell(dir, command)
				if all.WriteString(out); out == "" || strings.Contains(out, `"events":[]`) {
					t.Errorf("%s printed nothing: %s", command, out)
				}
			}
		}
	}
	for _, want := range []string{"event: change", `"title":"Oratorio de la baie`, ",nora,", "The last ferry", `"title":"Quay concert"`} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("nothing shows %q", want)
		}
	}
	if demo == nil || own == nil || run < 16 {
		t.Errorf("ran %d commands only", run)
	}
	for _, s := range []*server{demo, own} {
		if s != nil {
			s.drain()
		}
	}
}

// TestImportGuide imports the example of the import guide.
func TestImportGuide(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "import.md"))
	must(t, err)
	_, rest, ok := strings.Cut(string(b), "```json\n")
	lines, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("the guide has no example")
	}
	data := filepath.Join(t.TempDir(), "data")
	out, errText, status := tool(t, strings.NewReader(lines), "import", "-", "--source", "guide", "--data", data)
	if status != exitOK || !strings.Contains(out, " 0 refused") {
		t.Errorf("the example: status %d\n%s%s", status, out, errText)
	}
	out, errText, status = tool(t, strings.NewReader(lines+"{\"action\":\"dance\"}\n"), "import", "-", "--source", "guide", "--data", data)
	if status != exitRefusals || !strings.Contains(errText, "refused") || !strings.Contains(out, " 0 applied") {
		t.Errorf("again with a bad line: status %d\n%s%s", status, out, errText)
	}
}

// TestHistoryGuide walks the way of docs/history.md, from a doubt about one event to a
// proof that needs no service, on the demo: everything is there when it is announced.
func TestHistoryGuide(t *testing.T) {
	t.Parallel()
	skipIfShort(t)
	for _, name := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s did not run, it needs %s: %v", t.Name(), name, err)
		}
	}
	dir := t.TempDir()
	server := startServer(t, "demo")
	if status, data := server.try("GET", server.root+"/checkpoint", "", ""); status != 200 || sizeOf(t, string(data)) != fmt.Sprint(server.state()["head"]) {
		t.Errorf("the first checkpoint of the demo: %d %s", status, data)
	}
	// An event that was moved: its second version has another start.
	id := ""
	for _, value := range server.want(200, "GET", "/changes?kind=event&field=start_date&action=updated&limit=1", "", "")["entries"].([]any) {
		id = idOf(value.(map[string]any))
	}
	want := []string{
		`"summary":"Changed: start: from `, "position,time,kind", "event: change",
		`"version":1`, `"op":`, `"opening"`, "c2sp.org/tlog-proof@v1", "intact: ", "; " + sizeOf(t, checkpointOf(server)) + " signed, 0 unsigned", "100 entries",
	}
	var all strings.Builder
	run := 0
	for _, block := range readmeCommands(t, filepath.Join("..", "..", "docs", "history.md")) {
		for _, command := range block {
			run++
			cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", `curl() { command curl -sSf "$@"; }
daybook() { env `+childEnv+`=1 `+os.Args[0]+` "$@"; }
`+command)
			cmd.Dir = dir
			cmd.Env = append(child(t.Context()).Env, "R="+server.root, "ID="+id, "DAYBOOK_DATA="+server.data)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", command, err, out)
			}
			all.Write(out)
		}
	}
	for _, name := range []string{"checkpoint.txt", "proof.json", "entry.tlog-proof", "log.ndjson.gz"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || len(data) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
		if name != "log.ndjson.gz" {
			all.Write(data)
		}
	}
	for _, text := range want {
		if !strings.Contains(all.String(), text) {
			t.Errorf("the walk does not show %q:\n%.5000s", text, all.String())
		}
	}
	if run < 12 {
		t.Errorf("ran %d commands only", run)
	}
	server.drain()
}

func checkpointOf(server *server) string {
	_, data := server.try("GET", server.root+"/checkpoint", "", "")
	return string(data)
}
