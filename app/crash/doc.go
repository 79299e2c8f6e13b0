// Package crash is the crash harness: it runs the real program as processes, kills them at random times
// and at every failpoint while conversations are at work, and judges what is left by what was promised
// (docs/durability.md). It holds nothing but tests.
package crash
