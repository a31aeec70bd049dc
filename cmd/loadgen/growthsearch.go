package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// growthSearch measures lists, projection and rebuild with the read model in
// Elasticsearch; the store is SQLite, the feed in the process.
func growthSearch(ctx context.Context, o options, dir string, r *report, errw io.Writer) error {
	e := &searchServer{"Elasticsearch", "elasticsearch", o.servers.elasticsearch}
	h, err := e.usage(ctx, "")
	if err != nil {
		return err
	}
	fmt.Fprintf(r, "\ngrowth with the read model in Elasticsearch, light events, one node with a heap of %.0f MB, one shard, no copies\n", h.heap)
	o.servers, o.weights = servers{elasticsearch: e.url}, []weight{light}
	for _, n := range o.sizes {
		begin := time.Now()
		o.distributed = n
		if err := growthSearchAt(ctx, o, e, filepath.Join(dir, strconv.Itoa(n)), r, errw); err != nil {
			return fmt.Errorf("%d events: %w", n, err)
		}
		fmt.Fprintf(r, "this size took %s\n", time.Since(begin).Round(time.Second))
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

func growthSearchAt(ctx context.Context, o options, e *searchServer, dir string, r *report, errw io.Writer) (err error) {
	n := o.distributed
	fmt.Fprintf(r, "\n%d events\n", n)
	c, drop, err := fillServers(ctx, o, dir, errw)
	if err != nil {
		return err
	}
	prefix := e.prefix(0)
	defer func() { err = errors.Join(err, e.drop(ctx, prefix), drop()) }()
	rate, err := c.project(ctx, e, e.url, prefix)
	if err != nil {
		return fmt.Errorf("projection: %w", err)
	}
	r.fact("projection into new indices", rate, "%10.0f documents a second", "")
	h, err := e.usage(ctx, prefix)
	if err != nil {
		return err
	}
	r.fact("indices", h.store, "%10.0f MB", "")
	r.fact("the same for each event", h.store*1000/float64(n), "%10.2f kB", "")
	if err := c.searchLists(ctx, e, prefix, r); err != nil {
		return err
	}
	if err := c.throughSearch(ctx, e, prefix, r); err != nil {
		return err
	}
	begin := time.Now()
	if _, err := c.tool(ctx, append([]string{"rebuild"}, e.args(e.url, prefix)...)...); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	took := time.Since(begin).Seconds()
	r.fact("rebuild beside it, compared, moved", took, "%10.1f s", "")
	r.fact("the same", float64(n)/took, "%10.0f documents a second", "")
	if h, err = e.usage(ctx, prefix); err != nil {
		return err
	}
	r.fact("heap of the node in use", h.used, "%10.0f MB", "")
	return nil
}

// throughSearch measures each list and write of growth.
func (c *calendarOn) throughSearch(ctx context.Context, e *searchServer, prefix string, r *report) (err error) {
	s, err := c.serveComplete(ctx, e, prefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	a, err := newAuthor(ctx, s, light)
	if err != nil {
		return err
	}
	k := newAsker(a, c.o.distributed)
	k.bound = 0 // they are for the embedded size
	if err := growthRows(ctx, c.o, k, nil, r); err != nil {
		return err
	}
	memory, err := s.resident()
	if err != nil {
		return err
	}
	r.fact("resident memory of the service", memory, "%10.0f MB", "")
	return nil
}

// usage is what a search server takes, in MB.
type usage struct{ heap, used, store float64 }

// usage reads what the node has of memory, and its indices of the disk when there is
// a prefix.
func (e *searchServer) usage(ctx context.Context, prefix string) (u usage, err error) {
	c := client(1)
	defer c.CloseIdleConnections()
	b, err := e.send(ctx, c, &recorded{method: http.MethodGet, path: "/_nodes/stats/jvm"})
	if err != nil {
		return u, err
	}
	var v struct {
		Nodes map[string]struct {
			JVM struct {
				Mem struct {
					Used float64 `json:"heap_used_in_bytes"`
					Max  float64 `json:"heap_max_in_bytes"`
				}
			}
		}
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return u, err
	}
	for _, node := range v.Nodes {
		u.heap, u.used = u.heap+node.JVM.Mem.Max/1e6, u.used+node.JVM.Mem.Used/1e6
	}
	if prefix == "" {
		return u, nil
	}
	if b, err = e.send(ctx, c, &recorded{method: http.MethodGet, path: "/" + prefix + "-*/_stats/store"}); err != nil {
		return u, err
	}
	var w struct {
		All struct {
			Primaries struct {
				Store struct {
					Size float64 `json:"size_in_bytes"`
				}
			}
		} `json:"_all"`
	}
	err = json.Unmarshal(b, &w)
	u.store = w.All.Primaries.Store.Size / 1e6
	return u, err
}
