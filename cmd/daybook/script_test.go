package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"daybook/internal/testkit/engines"
)

// TestScripts plays the scenarios of testdata/script/*.txt. They are written in the
// language of testscript, with the commands of scriptCommands. The data directory is
// $WORK/data unless a setting names another one.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.RunT(scriptT{t}, testscript.Params{
		Dir:  filepath.Join("testdata", "script"),
		Cmds: scriptCommands(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("CONCERT", concert)
			env.Values[scriptKey{}] = &script{
				t: env.T().(scriptT).T, settings: []string{"DAYBOOK_DATA=" + filepath.Join(env.WorkDir, "data")}, servers: map[string]*server{},
			}
			return nil
		},
	})
}

// scriptT hands the testing.T of a script to its commands.
type scriptT struct{ *testing.T }

func (t scriptT) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(scriptT{t}) })
}

func (scriptT) Verbose() bool { return testing.Verbose() }

type scriptKey struct{}

// script is the state of one scenario.
type script struct {
	t        *testing.T
	settings []string // NAME=VALUE, for every program that it runs
	servers  map[string]*server
	*server  // the one that commands are about
}

// scriptCommands are the commands of scenarios besides those of testscript.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*testscript.TestScript, bool, []string){}
	for name, run := range map[string]func(*script, *testscript.TestScript, []string){
		// daybook STATUS [<FILE] ARG... runs the program in this process, with a file as its input.
		"daybook": (*script).run,
		// refuse TEXT SETTING... gives settings that are refused with a text. Secrets, which are
		// "hush" in all scenarios, are not in it.
		"refuse": func(s *script, testScript *testscript.TestScript, args []string) {
			s.run(testScript, append([]string{strconv.Itoa(exitUsage), "config", "print"}, args[1:]...))
			if out := testScript.Stderr().(fmt.Stringer).String(); !strings.Contains(out, args[0]) || strings.Contains(out, "hush") {
				testScript.Fatalf("it says %q", out)
			}
		},
		// settings NAME=VALUE... are the settings of what follows, in the place of those before.
		"settings": func(s *script, _ *testscript.TestScript, args []string) {
			s.settings = append(s.settings[:1:1], args...)
		},
		// serve ARG... starts a server and prints its token: TOKEN is the last one that was shown.
		"serve": func(s *script, testScript *testscript.TestScript, args []string) {
			s.server = s.begin(args)
			s.awaitReady()
			fmt.Fprintf(testScript.Stdout(), "token: %s\n", s.token)
			testScript.Setenv("ADDRESS", strings.TrimPrefix(s.host, "http://"))
			testScript.Setenv("PID", strconv.Itoa(s.cmd.Process.Pid))
			testScript.Setenv("TOKEN", cmp.Or(s.token, testScript.Getenv("TOKEN")))
		},
		// begin is serve that does not wait until the server is ready.
		"begin": func(s *script, _ *testscript.TestScript, args []string) { s.server = s.begin(args) },
		// vacuum DATA TO makes a backup of the store of a directory in another one.
		"vacuum": func(s *script, testScript *testscript.TestScript, args []string) {
			testScript.Check(os.MkdirAll(testScript.MkAbs(args[1]), 0o700))
			vacuum(s.t, testScript.MkAbs(args[0]), testScript.MkAbs(args[1]))
		},
		// call NAME names the server, use NAME goes back to it.
		"call": func(s *script, _ *testscript.TestScript, args []string) { s.servers[args[0]] = s.server },
		"use":  func(s *script, _ *testscript.TestScript, args []string) { s.server = s.servers[args[0]] },
		// drain ends the server by SIGTERM, crash by SIGKILL.
		"drain": func(s *script, testScript *testscript.TestScript, _ []string) {
			if status := s.drain(); status != exitOK {
				testScript.Fatalf("drained with status %d\n%s", status, s.log())
			}
		},
		"crash": func(s *script, _ *testscript.TestScript, _ []string) { s.kill() },
		// http STATUS METHOD PATH [NAME:VALUE]... [BODY] sends a request to a path below the
		// root, or below the host when it begins with "=". The answer is stdout, its header
		// stderr. "anonymous:" leaves the token out.
		"http": func(s *script, testScript *testscript.TestScript, args []string) { s.request(testScript, args, "") },
		// until REGEXP STATUS METHOD PATH... is http, again and again until the answer matches.
		"until": func(s *script, testScript *testscript.TestScript, args []string) {
			s.request(testScript, args[1:], args[0])
		},
		// logged REGEXP waits for a line in the log of the server.
		"logged": func(s *script, _ *testscript.TestScript, args []string) {
			eventually(s.t, args[0], func() bool { return regexp.MustCompile(args[0]).MatchString(s.log()) })
		},
		// capture NAME REGEXP sets NAME to what the group matches in stdout.
		"capture": func(_ *script, testScript *testscript.TestScript, args []string) {
			found := regexp.MustCompile("(?m)" + args[1]).FindStringSubmatch(testScript.ReadFile("stdout"))
			if found == nil {
				testScript.Fatalf("stdout does not match %s", args[1])
			}
			testScript.Setenv(args[0], found[1])
		},
		// flip FILE changes a byte in the middle.
		"flip": func(_ *script, testScript *testscript.TestScript, args []string) {
			data := []byte(testScript.ReadFile(args[0]))
			data[len(data)/2] ^= 0x10
			testScript.Check(os.WriteFile(testScript.MkAbs(args[0]), data, 0o600))
		},
		// engine NAME URL SPACE sets URL and SPACE to those of a server of the tests.
		"engine": func(s *script, testScript *testscript.TestScript, args []string) {
			url, space := engines.Shared(s.t, args[0])
			testScript.Setenv(args[1], url)
			testScript.Setenv(args[2], space)
		},
	} {
		commands[name] = func(testScript *testscript.TestScript, _ bool, args []string) {
			run(testScript.Value(scriptKey{}).(*script), testScript, args)
		}
	}
	return commands
}

func (script *script) begin(args []string) *server {
	cmd := child(context.WithoutCancel(script.t.Context()), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	return beginServerOf(script.t, cmd, "", append(cmd.Env, script.settings...))
}

func (script *script) run(testScript *testscript.TestScript, args []string) {
	want, args, in := args[0], args[1:], ""
	if file, ok := strings.CutPrefix(args[0], "<"); ok {
		in, args = testScript.ReadFile(file), args[1:]
	}
	ctx, cancel := context.WithTimeout(script.t.Context(), limit)
	defer cancel()
	if got := run(ctx, args, script.settings, strings.NewReader(in), testScript.Stdout(), testScript.Stderr()); strconv.Itoa(got) != want {
		testScript.Fatalf("status %d, want %s", got, want)
	}
}

func (script *script) request(testScript *testscript.TestScript, args []string, until string) {
	url, token, body, header := script.root+args[2], testScript.Getenv("TOKEN"), "", map[string]string{}
	if path, ok := strings.CutPrefix(args[2], "="); ok {
		url = script.host + path
	}
	for _, arg := range args[3:] {
		switch name, value, _ := strings.Cut(arg, ":"); {
		case strings.HasPrefix(arg, "{"):
			body = arg
		case name == "anonymous":
			token = ""
		default:
			header[name] = strings.TrimSpace(value)
		}
	}
	var (
		status int
		h      http.Header
		data   []byte
	)
	eventually(script.t, strings.Join(args, " "), func() bool {
		status, h, data = script.full(args[1], url, token, body, header)
		return until == "" || strconv.Itoa(status) == args[0] && regexp.MustCompile(until).Match(data)
	})
	_, _ = testScript.Stdout().Write(data)
	_ = h.Write(testScript.Stderr())
	if strconv.Itoa(status) != args[0] {
		testScript.Fatalf("status %d, want %s\n%s", status, args[0], script.log())
	}
}
