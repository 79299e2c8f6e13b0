// Command agentmesh runs governed agent work in one binary; see README.md.
package main

import (
	"os"

	"agentmesh/app"
)

func main() { os.Exit(app.Main(os.Args[1:])) }
