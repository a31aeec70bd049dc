package feed_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"daybook/eventstore/feed"
	"daybook/internal/testkit/engines"
)

// The connection to NATS swallows what is sent and says nothing, while a new one
// would be fine: the source goes on from the store, and relay and source find out
// and make another connection.
func TestSilentConnection(t *testing.T) {
	t.Parallel()
	at := "nats://" + listen(t, &server.Options{})
	between := engines.NewProxy(t, at)
	s, direct := newStore(t), connect(t, at, feed.ConnectOptions{})
	if o := direct.Conn().Opts; time.Duration(o.MaxPingsOut+1)*o.PingInterval > 6*time.Second {
		t.Errorf("silence is found out by %d pings, one every %s", o.MaxPingsOut+1, o.PingInterval)
	}
	through := connect(t, between.URL, feed.ConnectOptions{})
	r := relay(t, s, through, feed.RelayOptions{})
	actor(t, r.Run)
	head := add(t, s, 20)
	until(t, direct, head)
	src := source(t, s, through, feed.SourceOptions{Stall: 100 * time.Millisecond})
	mustReadAll(t, s, src, 0, head)

	between.Swallow(false)
	before := head
	head = add(t, s, 20)
	mustReadAll(t, s, src, before, head)
	if st := src.Stats(); st.FromStore == 0 {
		t.Errorf("got %+v, want entries from the store", st)
	}
	for ctx := within(t); r.Stats().Error == ""; { // it is known before the connection is another one
		pause(ctx, t)
	}
	until(t, direct, head)
	untilStream(t, s, through, head)
	for ctx := within(t); r.Stats().Error != ""; {
		pause(ctx, t)
	}
}
