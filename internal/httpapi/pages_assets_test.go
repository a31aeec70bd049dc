package httpapi

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestFilesAreEncodedAtTheStart: each file is encoded by Run in each coding, and what is
// packed as it is is not (PAGES P6.1).
func TestFilesAreEncodedAtTheStart(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	made := map[string]int{}
	files := PageFiles{}
	for _, name := range []string{"script", "style", "picture"} {
		f := &pageFile{packed: name == "picture"}
		for i := range f.body {
			f.body[i] = func() []byte {
				if made[name]++; made["script"]+made["style"] == 2*int(encodings) {
					stop()
				}
				return nil
			}
		}
		files[name] = f
	}
	if err := files.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
	if made["script"] != int(encodings) || made["style"] != int(encodings) || made["picture"] != 0 {
		t.Errorf("encoded %v", made)
	}
}
