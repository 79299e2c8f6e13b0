package llmstub

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// piece is one write to the connection, or a pause before the next one.
type piece struct {
	data  []byte
	pause time.Duration
}

// Inside a script, «|» ends a write, «wait 250» pauses for 250 ms and «300×ab» stands for ab 300 times.
var (
	mark  = regexp.MustCompile(`«(\||wait (\d+))»`)
	again = regexp.MustCompile(`«(\d+)×([^»]*)»`)
)

func expand(text string) string {
	return again.ReplaceAllStringFunc(text, func(m string) string {
		part := again.FindStringSubmatch(m)
		n, _ := strconv.Atoi(part[1])
		return strings.Repeat(part[2], n)
	})
}

// cutMarks turns a script's text into writes and pauses.
func cutMarks(text string) []piece {
	var out []piece
	at := 0
	for _, m := range mark.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > at {
			out = append(out, piece{data: []byte(text[at:m[0]])})
		}
		if m[4] >= 0 {
			ms, _ := strconv.Atoi(text[m[4]:m[5]])
			out = append(out, piece{pause: time.Duration(ms) * time.Millisecond})
		}
		at = m[1]
	}
	if at < len(text) {
		out = append(out, piece{data: []byte(text[at:])})
	}
	return out
}

// cutFurther splits each write and puts a pause behind each part.
func cutFurther(pieces []piece, cut func([]byte) [][]byte, gap time.Duration) []piece {
	var out []piece
	for _, p := range pieces {
		if p.data == nil {
			out = append(out, p)
			continue
		}
		parts := [][]byte{p.data}
		if cut != nil {
			parts = cut(p.data)
		}
		for _, part := range parts {
			out = append(out, piece{data: part})
			if gap > 0 {
				out = append(out, piece{pause: gap})
			}
		}
	}
	return out
}

// splitter gives the function that cuts one write further, or nil.
func splitter(spec any) (func([]byte) [][]byte, error) {
	switch v := spec.(type) {
	case nil:
		return nil, nil
	case float64:
		if v >= 1 && v == float64(int(v)) {
			return every(int(v)), nil
		}
	case string:
		switch v {
		case "bytes":
			return every(1), nil
		case "utf8":
			return splitInsideRunes, nil
		}
	}
	return nil, fmt.Errorf("split %v", spec)
}

func every(n int) func([]byte) [][]byte {
	return func(b []byte) (out [][]byte) {
		for len(b) > n {
			out, b = append(out, b[:n]), b[n:]
		}
		return append(out, b)
	}
}

// splitInsideRunes cuts after the first byte of every character of several bytes.
func splitInsideRunes(b []byte) (out [][]byte) {
	start := 0
	for i := 0; i < len(b); {
		_, size := utf8.DecodeRune(b[i:])
		if size > 1 {
			out = append(out, b[start:i+1])
			start = i + 1
		}
		i += size
	}
	if start < len(b) {
		out = append(out, b[start:])
	}
	return out
}
