package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// probeTime bounds the look at an endpoint before the start.
const probeTime = 5 * time.Second

// Probe asks whether anything answers at the endpoint's address. Any HTTP answer will do: what an
// endpoint offers beside chat completions differs.
func Probe(ctx context.Context, c Config) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.BaseURL, "/")+"/models", http.NoBody)
	if err != nil {
		return errors.New("the address cannot be used")
	}
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	resp, err := c.HTTP.Do(r)
	if err != nil {
		return fmt.Errorf("nothing answers at %s: %w", r.URL.Host, cause(err))
	}
	return resp.Body.Close()
}

// cause leaves out the whole address that net/http puts around an error.
func cause(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
