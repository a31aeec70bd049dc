package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"daybook/calendar"
	"daybook/eventstore"
	"daybook/eventstore/memstore"
	"daybook/internal/history"
)

// slowLog is a store whose log takes a moment to read; it notes when a read from its
// beginning begins.
type slowLog struct {
	eventstore.Store
	from time.Time
	mu   sync.Mutex
	at   []time.Duration
}

const slowRead = 20 * time.Millisecond

func (slowLog *slowLog) Read(ctx context.Context, r eventstore.Range) ([]eventstore.Entry, error) {
	if r.Record == 0 && r.After == 0 {
		slowLog.mu.Lock()
		slowLog.at = append(slowLog.at, time.Since(slowLog.from))
		slowLog.mu.Unlock()
	}
	<-time.After(slowRead)
	return slowLog.Store.Read(ctx, r)
}

// TestWorkOfOneClientRests: while requests of one client wait for their turn, that which
// has it rests for as long as it works. No one else waits for that, and who is alone does
// not rest.
func TestWorkOfOneClientRests(t *testing.T) {
	t.Parallel()
	const one, other = "192.0.2.1:1", "192.0.2.2:1"
	for _, path := range []string{"/changes?order=asc", "/changes/stream?after=0"} {
		for _, tt := range []struct {
			name, last string // address of the last of three; the others are of one client
			auth       string // of all
			want       []time.Duration
		}{
			{"one client", one, "", []time.Duration{0, 2 * slowRead, 4 * slowRead}},
			{"two clients", other, "", []time.Duration{0, 0, 2 * slowRead}},
			{"credentials", one, "Bearer good", []time.Duration{0, 0, 0}},
		} {
			t.Run(path+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					kept := memstore.New()
					defer func() { _ = kept.Close() }()
					draft, _, err := eventstore.NewDraft(nil, calendar.Change{
						Name: "tag.created", Kind: calendar.KindTag, ID: 1, Home: calendar.LangEN,
						Fields: calendar.Fields{"name": calendar.Text{calendar.LangEN: "Jazz"}, "slug": "jazz"},
					}, time.Now())
					if err != nil {
						t.Fatal(err)
					}
					if res := kept.Append(t.Context(), eventstore.Append{Drafts: []eventstore.Draft{draft}, Time: time.Now()}); res.Err != nil {
						t.Fatal(res.Err)
					}
					store := &slowLog{Store: kept, from: time.Now()}
					handler, _ := fakeAPI(t, Deps{History: history.New(store, time.Now)}, Options{MakeAtOnce: 1})
					ctx, leave := context.WithTimeout(t.Context(), time.Second)
					defer leave()
					var all sync.WaitGroup
					for _, address := range []string{one, one, tt.last} {
						all.Go(func() {
							request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/api/"+Namespace+path, http.NoBody)
							request.RemoteAddr = address
							if tt.auth != "" {
								request.Header.Set("Authorization", tt.auth)
							}
							var until []time.Time
							recorder := deadlineRecorder{httptest.NewRecorder(), &until}
							if handler.ServeHTTP(recorder, request); recorder.Code != http.StatusOK {
								t.Errorf("%d %s", recorder.Code, recorder.Body)
							}
						})
						synctest.Wait()
					}
					all.Wait()
					if slices.Sort(store.at); !slices.Equal(store.at, tt.want) {
						t.Errorf("the log is read from its beginning after %s, want %s", store.at, tt.want)
					}
				})
			})
		}
	}
}
