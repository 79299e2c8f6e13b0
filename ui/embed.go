//go:build !noui

package ui

import (
	"embed"
	"io/fs"
	"net/http"
)

//go:embed all:static
var static embed.FS

// Handler serves the page at / and its files below /static/.
func Handler() http.Handler {
	files, err := fs.Sub(static, "static")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	return newPage(files)
}
