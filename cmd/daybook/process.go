package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	group "github.com/oklog/run"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/feed"
	"daybook/eventstore/sqlite"
	"daybook/internal/ground/lifecycle"
	"daybook/internal/ground/pause"
	"daybook/internal/htmltext"
	"daybook/internal/httpapi"
	"daybook/internal/pages"
	"daybook/internal/telemetry"
	"daybook/projector"
	"daybook/query"
	"daybook/query/past"
	"daybook/query/readmodel"
)

// holder names this process for leases: unique among all that ever ran.
var holder = func() string {
	host, _ := os.Hostname() // "" where it has no name
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text())
}()

// process is one process that serves: it opens what its roles need, runs them
// and closes it.
type process struct {
	*console // its backend is open while it works

	address   string // that it listens on
	base      string // base URL, without one in the settings that of the address
	readiness *readiness
	metrics   *telemetry.Metrics // nil: no one reads them
	prepare   preparation        // nil: there is nothing to prepare

	g group.Group // of its roles
}

// preparation is what is to be done before requests are let in, for the process with a base URL. It
// returns what answers them.
type preparation func(ctx context.Context, base string, api http.Handler) (http.Handler, error)

// work opens what the roles need, runs them until the context ends, and closes
// it.
//
//	HTTP ─► command ─► event store ─┬─► relay ─► JetStream ─┬─► projector ─► read model
//	  │                             └───────────────────────┘                     │
//	  └───► query ◄───────────────────────────────────────────────────────────────┘
func (process *process) work(ctx context.Context) (err error) {
	serves, relays, projects := process.does(servesAPI), process.does(servesRelay), process.does(servesProjector)
	if err := process.awaitStore(ctx, func(ctx context.Context) error { return process.open(ctx, false) }); err != nil {
		return err
	}
	closing := func(what func() error) { err = errors.Join(err, what()) }
	defer closing(process.close)
	if process.file != nil {
		process.wrote(process.file.ReadOnly())
	}
	if err := process.awaitStore(ctx, process.checkOrigin); err != nil {
		return err
	}
	process.g.Add(group.ContextHandler(ctx))
	if (relays || projects) && process.Feed != "" {
		if process.feed, err = process.openFeed(); err != nil { //nolint:contextcheck // its log lines come long after this call
			return err
		}
		defer process.feed.Conn().Close()
	}
	if serves || projects {
		var source projector.Source // none for a role that does not project
		if projects {
			followed := process.feed
			if process.leases == nil {
				followed = nil // all that is written passes through this process
			}
			of := feed.NewSource(process.events, followed, feed.SourceOptions{Log: process.log, Prefix: process.FeedPrefix})
			defer of.Close()
			source = of
		}
		if process.model, err = process.openModel(ctx, source); err != nil {
			return err
		}
		defer closing(process.model.Index().Close)
	}
	if process.holdsData() {
		defer removeSocket(process.Data)
		socket, err := listenControl(ctx, process.Data)
		switch {
		case err == nil:
			defer func() { _ = socket.Close() }() // when the group does not come to run
			process.g.Add(lifecycle.Server(ctx, process.log, "control", newControl(context.WithoutCancel(ctx), process.backend), socket, taskDrain+tellWait))
		case sqlite.Unwritable(err):
			process.log.WarnContext(ctx, "commands cannot reach this process", "error", err)
		default:
			return err
		}
	}
	process.status = process.reporter(process.model)
	process.status.Role = process.Role
	process.sign(ctx) // behind what takes writes: it ends with a checkpoint of the last of them
	if process.model != nil && !process.localIndex() {
		process.add(ctx, "index", process.reach)
	}
	if process.feed != nil && relays {
		relay, work, state := process.relay(process.feed)
		process.status.Relay, process.status.FeedConnected, process.status.RelayLease = relay.Stats, process.feed.Conn().IsConnected, state
		process.add(ctx, "relay", work)
	}
	if projects {
		work := process.model.Project
		process.status.Projector = process.model.Stats
		if !process.localIndex() {
			work, process.status.ProjectorLease = process.leased("projector/"+process.Engine.Prefix, work, process.model.Progress)
		}
		process.add(ctx, "projector", work)
		process.add(ctx, "read model", process.model.Index().Keep)
	}
	process.add(ctx, "health", func(ctx context.Context) error { return process.status.Watch(ctx, process.log, lookEvery) })
	handler, err := httpapi.Closed(process.config.api(process.log), calendar.CodeNoRoute)
	name, token := "", ""
	if serves {
		if handler, err = process.api(ctx); err != nil {
			return err
		}
		// The administrator's token is shown once, so he is made when nothing but
		// showing it can fail.
		if name, token, err = process.users.EnsureAdministrator(ctx); err != nil {
			return fmt.Errorf("first administrator: %w", err)
		}
		if process.prepare != nil {
			handler, err = process.prepare(ctx, process.base, handler)
		}
	}
	if err != nil {
		return err
	}
	process.metrics.Watch(process.status.Look) //nolint:contextcheck // each reading of the metrics has its own
	process.readiness.open(handler, process.status)
	_ = process.print("service", map[string]any{ // who reads up to the last line has read all
		"config": process.config, "version": version, "base": process.base, "root": process.base + "/" + process.APIPrefix + "/" + httpapi.Namespace,
		"name": name, "token": token, "address": process.address,
	})
	return lifecycle.Drained(process.g.Run())
}

// Waits before a server that is not there is tried again.
const (
	minServerWait = 250 * time.Millisecond
	maxServerWait = 5 * time.Second
)

// await does something again and again while its server is not there.
func (process *process) await(ctx context.Context, what, where string, open func(context.Context) error) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = minServerWait, maxServerWait
	outage := lifecycle.Outage{Log: process.log, Message: "waiting for a server"}
	_, err := backoff.Retry(ctx, func() (none struct{}, _ error) {
		err := open(ctx)
		unavailable := errors.Is(err, eventstore.ErrUnavailable) || errors.Is(err, readmodel.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded)
		if err != nil && !unavailable {
			return none, backoff.Permanent(err)
		}
		if ctx.Err() == nil {
			outage.Note(ctx, err, "for", what, "at", where)
		}
		return none, err
	}, backoff.WithBackOff(wait), backoff.WithMaxElapsedTime(0))
	return err
}

func (process *process) awaitStore(ctx context.Context, open func(context.Context) error) error {
	return process.await(ctx, "event store", cmp.Or(redactedURLs(process.Store), process.Data), open)
}

// add adds a loop. Only the group ends it, so all of them end in order.
func (process *process) add(ctx context.Context, name string, loop func(context.Context) error) {
	process.g.Add(lifecycle.Actor(context.WithoutCancel(ctx), process.log, name, loop))
}

// reach asks the servers of the read model until they are there.
func (process *process) reach(ctx context.Context) error {
	if err := process.await(ctx, "read model", redactedURLs(process.Index), process.model.Index().Reach); err != nil {
		return fmt.Errorf("read model: %w", err)
	}
	<-ctx.Done()
	return nil
}

// api makes the REST interface.
func (process *process) api(ctx context.Context) (http.Handler, error) {
	if process.Demo != nil {
		process.PageOptions.Images = append(process.PageOptions.Images, strings.Split(process.base, "/")[2]) // its host
	}
	options := process.config.api(process.log)
	options.Sunday, options.Clean, options.LocalIndex = process.PageOptions.WeekStart == "sunday", htmltext.New(), process.localIndex()
	service := query.New(process.model.Index(), process.records, options.Options)
	then := past.New(process.events, process.reader, service, past.Options{Query: options.Options, Memory: process.HistoryMemory, Points: process.HistoryImages, Log: process.log})
	process.status.Past = then.Stats
	if options.LocalIndex {
		options.MakeAtOnce = max(1, runtime.GOMAXPROCS(0)/2) // one client leaves processors to others
	}
	options.Draining = process.readiness.draining
	options.ListFailed = process.status.ListFailed
	options.Observe = process.hooks.Requests
	if process.Pages {
		var err error
		if options.Pages, err = pages.New(pages.Deps{Lists: service, History: process.reader, Past: then, Records: process.records, Proofs: process.proofs}, process.pageOptions()); err != nil {
			return nil, err
		}
	}
	api, err := httpapi.New(httpapi.Deps{
		Commands: process.command, Queries: process.hooks.Queries(service), History: process.reader, Past: then, Records: process.records, Users: process.users, Proofs: process.proofs,
	}, options)
	if err != nil {
		return nil, err
	}
	process.status.Streams = api.Streams
	process.add(ctx, "erasures", func(ctx context.Context) error {
		return whenErased(ctx, process.events.Epoch, api.Forget, service.Forget, then.Forget, process.records.Forget)
	})
	return api, nil
}

// whenErased calls functions after records were erased, by this process or another one:
// nothing of them may stay in memory. It does so again a while later, because of requests
// that had begun before.
func whenErased(ctx context.Context, epoch func() eventstore.Epoch, forget ...func()) error {
	for first, second := epoch(), epoch(); ; {
		if err := pause.For(ctx, lookEvery); err != nil {
			return err
		}
		now := epoch()
		if now != first {
			for _, f := range forget {
				f()
			}
		}
		first, second = second, now
	}
}

// How far the heap of the service grows before it is collected (ADR 23): up to
// heapRoom as long as that is within the two percentages of what lives. A small
// calendar is collected seldom, a large one does not take much more than it needs.
const (
	heapRoom      = 160 << 20 // bytes
	gcPercentMost = 200
	gcPercent     = 15
)

// tuneCollector sets the percentage for what lives after each collection: what was built in a
// moment, and left, does not make the heap grow by as much again.
func tuneCollector(ctx context.Context) error {
	heap := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var collected func(int)
	collected = func(int) {
		metrics.Read(heap)
		live := max(1, int(heap[0].Value.Uint64()))
		debug.SetGCPercent(min(max((heapRoom-live)*100/live, gcPercent), gcPercentMost))
		if ctx.Err() == nil {
			runtime.AddCleanup(new(*int), collected, 0) // the next collection finds it dead
		}
	}
	collected(0)
	<-ctx.Done()
	return ctx.Err()
}

// lastSignature bounds the checkpoint at the end of a drain.
const lastSignature = 5 * time.Second

// sign adds what signs checkpoints: under a lease when the store is shared.
func (process *process) sign(ctx context.Context) {
	if !process.signer.Signs() {
		return
	}
	process.status.Signer = process.signer.Stats
	work, state := process.leased("checkpoint", process.signUntilDrained, nil)
	process.add(ctx, "signer", work)
	if state != nil {
		process.add(ctx, "checkpoints", func(ctx context.Context) error {
			for { // what others sign is stored next to the keys of a process that stands by
				if !state.Held() {
					_ = process.signer.Follow(ctx) // health shows it
				}
				if err := pause.For(ctx, process.CheckpointInterval); err != nil {
					return err
				}
			}
		})
	}
}

func (process *process) signUntilDrained(ctx context.Context) error {
	err := process.signer.Run(ctx)
	if errors.Is(context.Cause(ctx), context.Canceled) { // no lost lease: who signs next would sign much later
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSignature)
		defer cancel()
		_, _ = process.signer.Sign(last) // it tells the log what is wrong
	}
	return err
}
