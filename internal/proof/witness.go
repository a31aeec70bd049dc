package proof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"

	"daybook/calendar"
	"daybook/eventstore"
)

const (
	// MaxWitnesses is how many witnesses a log asks.
	MaxWitnesses = 16

	witnessWait    = 10 * time.Second // for all that one is asked about a checkpoint
	witnessTries   = 3                // after 409, which names the size that it has
	witnessMaxBody = 64 << 10
)

// Witness is one that is asked to cosign checkpoints (C2SP tlog-witness).
type Witness struct {
	Key *Key
	URL string // prefix of add-checkpoint

	mu   sync.Mutex        // held while it is asked
	size calendar.Position // of the checkpoint that it signed last, as far as known
}

// ParseWitness reads <vkey>@<URL>. Errors: ErrForm.
func ParseWitness(text string) (*Witness, error) {
	index := max(strings.LastIndex(text, "@http://"), strings.LastIndex(text, "@https://"))
	if index < 0 {
		return nil, fmt.Errorf("%w: a witness is VKEY@URL with an http or https URL", ErrForm)
	}
	key, err := ParseKey(text[:index])
	if err != nil {
		return nil, err
	}
	if !key.Cosigns() {
		return nil, fmt.Errorf("%w key %q: that of a witness has type 04 or 06", ErrForm, key)
	}
	address, err := url.Parse(text[index+1:])
	if err != nil || address.Host == "" || address.RawQuery != "" || address.Fragment != "" {
		return nil, fmt.Errorf("%w: the URL of a witness has a host and neither query nor fragment", ErrForm)
	}
	return &Witness{Key: key, URL: strings.TrimRight(address.String(), "/")}, nil
}

// cosign asks the witness for its signature of a checkpoint, and returns the line of it,
// verified.
func (witness *Witness) cosign(ctx context.Context, tree *Tree, checkpoint *eventstore.Checkpoint) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, witnessWait)
	defer cancel()
	head, err := ReadHead(checkpoint.Note)
	if err != nil {
		return nil, err
	}
	for range witnessTries {
		if witness.size > checkpoint.Size {
			return nil, fmt.Errorf("it has seen a tree of %d entries", witness.size)
		}
		consistency, err := tree.Consistency(ctx, witness.size, checkpoint.Size)
		if err != nil {
			return nil, err
		}
		body := appendHashes(fmt.Appendf(nil, "old %d\n", witness.size), consistency.Hashes)
		status, answer, err := post(ctx, witness.URL+"/add-checkpoint", append(append(body, '\n'), checkpoint.Note...))
		switch {
		case err != nil:
			return nil, err
		case status == http.StatusOK:
			signed, err := note.Open([]byte(head.Text()+"\n"+answer), verifiers{witness.Key})
			if err != nil {
				return nil, err
			}
			witness.size = checkpoint.Size
			return fmt.Appendf(nil, "\u2014 %s %s\n", signed.Sigs[0].Name, signed.Sigs[0].Base64), nil
		case status != http.StatusConflict:
			return nil, fmt.Errorf("it answers %d", status)
		}
		size, err := strconv.ParseUint(strings.TrimSuffix(answer, "\n"), 10, 63)
		if err != nil {
			return nil, errors.New("it names no size with 409")
		}
		witness.size = calendar.Position(size)
	}
	return nil, errors.New("it names another size each time")
}

// witnessClient follows no redirection.
var witnessClient = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func post(ctx context.Context, address string, body []byte) (status int, answer string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Content-Type", "text/plain; charset=utf-8")
	response, err := witnessClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(response.Body, witnessMaxBody))
	return response.StatusCode, string(data), err
}
