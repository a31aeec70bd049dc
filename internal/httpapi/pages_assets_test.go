package httpapi

import (
	"context"
	"errors"
	"testing"
)

// TestFilesAreEncodedAtTheStart: PAGES P6.1. What is as small as it gets is not encoded.
func TestFilesAreEncodedAtTheStart(t *testing.T) {
	t.Parallel()
	a, err := newAPI(Deps{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	script, picture := &answer{media: []string{"text/javascript"}, file: true}, &answer{media: []string{"image/png"}, file: true}
	a.files = map[string]*answer{"script": script, "picture": picture}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.EncodeFiles(ctx) }()
	for script.encoded[encodingZstd].Load() == nil || script.encoded[encodingGzip].Load() == nil {
		if ctx.Err() != nil {
			t.Fatal("the script is not encoded")
		}
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if picture.encoded[encodingZstd].Load() != nil || picture.encoded[encodingGzip].Load() != nil {
		t.Error("the picture is encoded")
	}
}
