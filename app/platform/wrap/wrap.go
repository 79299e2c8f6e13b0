// Package wrap puts functions around a function: what is done at each call of it, without it knowing. It must
// not know what the functions do.
package wrap

// Wrapper makes a function of the same kind that does something before, after or instead of next.
type Wrapper[F any] func(next F) F

// Around puts wrappers around f; the first one is outermost.
func Around[F any](f F, wrappers ...Wrapper[F]) F {
	for i := len(wrappers) - 1; i >= 0; i-- {
		f = wrappers[i](f)
	}
	return f
}
