package feed_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore/feed"
)

// suite is what holds wherever JetStream is.
var suite = map[string]func(t *testing.T, p place){
	"every position once, in order":            testEveryPositionOnceInOrder,
	"source follows the stream":                testSourceFollowsTheStream,
	"two relays make the stream":               testTwoRelaysMakeTheStream,
	"relay that was paused while it published": testRelayPausedPublishing,
	"relay that was paused before it deleted":  testRelayPausedDeleting,
	"stream with settings that refuse entries": testSettingsThatRefuse,
	"stream of another store":                  testOtherStore,
	"stream of somebody else":                  testStreamOfSomebodyElse,
	"lost tail":                                testLostTail,
	"lost while reading":                       testLostWhileReading,
	"lost between":                             testLostBetween,
	"hand over":                                testHandOver,
	"stream made again begins with the newest": testStreamMadeAgainBeginsWithTheNewest,
	"large entry":                              testLargeEntry,
	"a record is erased":                       testErased,
	"settings are adjusted":                    testSettingsAreAdjusted,
	"too many replicas":                        testTooManyReplicas,
	"server refuses":                           testServerRefuses,
	"gap in the store":                         testGapInTheStore,
	"bad transport":                            testBadTransport,
	"consumer that gives nothing":              testDeafConsumer,
}

// restless is what holds of servers apart. The one in the process leaves goroutines behind
// when streams are made and deleted in a row.
var restless = map[string]func(t *testing.T, p place){
	"random kills and losses": testRandom,
}

// clustered is what holds of several servers.
var clustered = map[string]func(t *testing.T, p place){
	"leader moved":     testLeaderMoved,
	"replicas changed": testReplicasChanged,
}

// place is where JetStream is.
type place interface {
	// open gives a JetStream without streams, for one test.
	open(t *testing.T) opened
	// replicas is how many servers are to keep the stream.
	replicas() int
}

type opened interface{ JetStream() jetstream.JetStream }

// inside is the server in the process.
type inside struct{}

func (inside) open(t *testing.T) opened {
	t.Helper()
	return at{embedded(t)}
}

func (inside) replicas() int { return 1 }

// outside is one server, or a cluster.
type outside struct{ *natsServers }

func (p outside) open(t *testing.T) opened {
	t.Helper()
	return at{connected{connect(t, p.Account(t), feed.ConnectOptions{}), p.replicas()}}
}

func (p outside) replicas() int { return len(p.All) }

// connected is a JetStream in which relays want a number of replicas.
type connected struct {
	jetstream.JetStream
	replicas int
}

// at makes an opened of it.
type at struct{ js jetstream.JetStream }

func (a at) JetStream() jetstream.JetStream { return a.js }

func connect(t *testing.T, urls string, o feed.ConnectOptions) jetstream.JetStream {
	t.Helper()
	conn, js, err := feed.Connect(urls, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return js
}

func run(t *testing.T, p place, cases map[string]func(t *testing.T, p place)) {
	t.Helper()
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, p)
		})
	}
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	run(t, inside{}, suite)
}

func TestServer(t *testing.T) {
	t.Parallel()
	p := outside{startNATS(t, 1)}
	run(t, p, restless)
	run(t, p, suite)
}

func TestCluster(t *testing.T) {
	t.Parallel()
	p := outside{startNATS(t, 3)}
	run(t, p, clustered)
	run(t, p, restless)
	run(t, p, suite)
}
