//go:build noui

package ui

import "net/http"

// Handler answers every request with 404, because this program was built
// without the page (build tag noui). The API is not affected.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		secure(w.Header())
		http.Error(w, "This program was built without the page.", http.StatusNotFound)
	})
}
