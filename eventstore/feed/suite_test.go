package feed_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore/feed"
	"daybook/internal/testkit"
)

// suite is what holds wherever JetStream is.
var suite = map[string]func(t *testing.T, p place){
	"every position once, in order":                testEveryPositionOnceInOrder,
	"source follows the stream":                    testSourceFollowsTheStream,
	"two sources":                                  testTwoSources,
	"relay killed between publish and acknowledge": testRelayKilledBetweenPublishAndAcknowledge,
	"two relays":                                   testTwoRelays,
	"two relays make the stream":                   testTwoRelaysMakeTheStream,
	"relay that was paused while it published":     testRelayPausedPublishing,
	"relay that was paused before it deleted":      testRelayPausedDeleting,
	"stream damaged":                               testStreamDamaged,
	"stream with settings that refuse entries":     testSettingsThatRefuse,
	"other store":                                  testOtherStore,
	"stream of somebody else":                      testStreamOfSomebodyElse,
	"two prefixes":                                 testTwoPrefixes,
	"restored store":                               testRestoredStore,
	"lost tail":                                    testLostTail,
	"lost while reading":                           testLostWhileReading,
	"lost in hand":                                 testLostInHand,
	"lost between":                                 testLostBetween,
	"lost between two questions":                   testLostBetweenQuestions,
	"stream without marks":                         testStreamWithoutMarks,
	"standby finds lost tail":                      testStandbyFindsLostTail,
	"hand over":                                    testHandOver,
	"stream made again begins with the newest":     testStreamMadeAgainBeginsWithTheNewest,
	"relay down":                                   testRelayDown,
	"large entry":                                  testLargeEntry,
	"a record is erased":                           testErased,
	"settings are adjusted":                        testSettingsAreAdjusted,
	"too many replicas":                            testTooManyReplicas,
	"broken twins are seen":                        testBrokenTwinsAreSeen,
	"server refuses":                               testServerRefuses,
	"gap in the store":                             testGapInTheStore,
	"bad transport":                                testBadTransport,
	"consumer that gives nothing":                  testDeafConsumer,
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
	return embedded(t, t.TempDir())
}

func (inside) replicas() int { return 1 }

// outside is one server, or a cluster.
type outside struct{ *testkit.NATSServers }

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
	run(t, outside{testkit.StartNATS(t, 1)}, suite)
}

func TestCluster(t *testing.T) {
	t.Parallel()
	p := outside{testkit.StartNATS(t, 3)}
	run(t, p, clustered)
	run(t, p, suite)
}
