package rundb

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"slices"
	"sync"

	"agentmesh/agent"
)

// A model's request repeats the conversation so far with every round, which makes it most of what a database holds;
// it is seldom read and packs to a third. What is short, and what earlier versions stored, is plain JSON.
const (
	packFrom   = 1024 // bytes
	packedMark = 1    // the first byte of what is packed; JSON begins with none of these
)

// packer packs for several at once; what it has used it keeps for the next, since each takes a megabyte.
type packer struct{ used sync.Pool }

// requests packs what a step stores of a model's rounds. The one writer of the database waits for nobody who packs.
func (p *packer) requests(calls []agent.ModelCall) ([]agent.ModelCall, error) {
	out := slices.Clone(calls)
	for i, c := range out {
		packed, err := p.pack(c.Request)
		if err != nil {
			return nil, fmt.Errorf("request of %s: %w", c.ID, err)
		}
		out[i].Request = packed
	}
	return out, nil
}

// pack makes a text smaller where that is worth it.
func (p *packer) pack(text []byte) ([]byte, error) {
	if len(text) < packFrom {
		return text, nil
	}
	var out bytes.Buffer
	out.WriteByte(packedMark)
	w, err := p.writer(&out)
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	p.used.Put(w)
	return out.Bytes(), nil
}

func (p *packer) writer(into io.Writer) (*flate.Writer, error) {
	if w, ok := p.used.Get().(*flate.Writer); ok {
		w.Reset(into)
		return w, nil
	}
	return flate.NewWriter(into, flate.BestSpeed)
}

// column is the value for a packed text's column: what is plain stays text for whoever looks.
func column(packed []byte) any {
	if len(packed) > 0 && packed[0] == packedMark {
		return packed
	}
	return string(packed)
}

// unpack gives what pack was given.
func unpack(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] != packedMark {
		return stored, nil
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(stored[1:])))
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return text, nil
}
