package agent

// Page says which part of a list is wanted: at most Limit items, after the place where the part before
// ended. Places are the store's words, opaque to whoever carries them; the empty one is the beginning.
type Page struct {
	Limit int
	After string
}
