// Package ui is the page of AgentMesh: static files, embedded as they are
// written, and the handler that serves them. It knows nothing of runs, orders
// or skills; the page's own scripts speak to the API like any other client.
package ui
