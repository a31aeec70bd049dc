package feed_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"
)

// TestCloseWhileStreamsAreMade: nothing stays behind of a server that ends when it was
// just asked for streams. It runs alone, so that what is found is its own.
func TestCloseWhileStreamsAreMade(t *testing.T) {
	others := goleak.IgnoreCurrent()
	for range 5 {
		e := embedded(t, t.TempDir())
		for i := range 20 {
			name := fmt.Sprint("S", i)
			config, err := json.Marshal(jetstream.StreamConfig{Name: name, Subjects: []string{name}, Storage: jetstream.FileStorage})
			check(t, err)
			check(t, e.Conn().PublishRequest("$JS.API.STREAM.CREATE."+name, "nobody", config))
		}
		check(t, e.Close())
	}
	goleak.VerifyNone(t, others)
}
