package feed_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"daybook/eventstore/feed"
)

// suite is what holds of one server and of a cluster.
var suite = map[string]func(t *testing.T, servers *natsServers){
	"large entry":                              testLargeEntry,
	"a record is erased":                       testErased,
	"bad transport":                            testBadTransport,
	"random kills and losses":                  testRandom,
	"gap in the store":                         testGapInTheStore,
	"too many replicas":                        testTooManyReplicas,
	"stream of another store":                  testOtherStore,
	"stream of somebody else":                  testStreamOfSomebodyElse,
	"relay that was paused before it deleted":  testRelayPausedDeleting,
	"stream with settings that refuse entries": testSettingsThatRefuse,
	"relay that was paused while it published": testRelayPausedPublishing,
	"stream made again begins with the newest": testStreamMadeAgainBeginsWithTheNewest,
}

// clustered is what holds of several servers.
var clustered = map[string]func(t *testing.T, servers *natsServers){
	"replicas changed": testReplicasChanged,
}

// open gives a JetStream without streams, for one test.
func (natsServers *natsServers) open(t *testing.T) jetstream.JetStream {
	t.Helper()
	return connected{connect(t, natsServers.Account(t), feed.ConnectOptions{}), len(natsServers.All)}
}

// connected is a JetStream in which relays want a number of replicas.
type connected struct {
	jetstream.JetStream
	replicas int
}

func connect(t *testing.T, urls string, connectOptions feed.ConnectOptions) jetstream.JetStream {
	t.Helper()
	conn, jetStream, err := feed.Connect(urls, connectOptions)
	check(t, err)
	t.Cleanup(conn.Close)
	return jetStream
}

func run(t *testing.T, natsServers *natsServers, cases map[string]func(t *testing.T, servers *natsServers)) {
	t.Helper()
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, natsServers)
		})
	}
}

func TestServer(t *testing.T) {
	t.Parallel()
	run(t, startNATS(t, 1), suite)
}

func TestCluster(t *testing.T) {
	t.Parallel()
	natsServers := startNATS(t, 3)
	run(t, natsServers, clustered)
	run(t, natsServers, suite)
}
