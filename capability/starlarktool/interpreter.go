// Package starlarktool runs small programs in Starlark, a dialect of Python, for demonstrations (D-61): the interpreter, the
// child process that it runs in, and the capability in front. A program has no files, no network and no clock, and what it
// takes of time, steps and memory is bounded. The package must not know who asks for it.
package starlarktool

import (
	"errors"
	"strings"

	"go.starlark.net/lib/math"
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits of a program.
const (
	MaxCode   = 4000       // characters
	MaxSteps  = 10_000_000 // of the interpreter
	MaxOutput = 16 << 10   // bytes of what it prints, and of its result
)

// fileName is how error positions name the program.
const fileName = "code"

// resultName is the variable that a last expression goes into; no program can name it.
const resultName = "result of the last line"

// Output is what a program did. Its JSON is what the model reads.
type Output struct {
	Dialect string `json:"dialect"`
	Printed string `json:"printed"`
	Cut     bool   `json:"cut,omitempty"` // more was printed, or the result was longer
	Result  string `json:"result,omitempty"`
	Error   *Error `json:"error,omitempty"`
}

// Error is why a program ended early.
type Error struct {
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
}

const dialect = "Starlark"

// interpret runs a program. It bounds steps and output; memory and time are its process's to bound.
func interpret(code string) Output {
	out := Output{Dialect: dialect}
	var printed strings.Builder
	thread := &starlark.Thread{Name: "program", Print: func(_ *starlark.Thread, line string) {
		out.Cut = !appendUpTo(&printed, line+"\n") || out.Cut
	}}
	thread.SetMaxExecutionSteps(MaxSteps)
	result, err := evaluate(thread, code)
	out.Printed = printed.String()
	if err != nil {
		out.Error = explain(err)
		return out
	}
	if result != nil && result != starlark.None {
		var text strings.Builder
		out.Cut = !appendUpTo(&text, result.String()) || out.Cut
		out.Result = text.String()
	}
	return out
}

// evaluate gives the value of a last line that is an expression, else nil.
func evaluate(thread *starlark.Thread, code string) (starlark.Value, error) {
	options := &syntax.FileOptions{Set: true, TopLevelControl: true, GlobalReassign: true}
	file, err := options.Parse(fileName, code, 0)
	if err != nil {
		return nil, err
	}
	if n := len(file.Stmts); n > 0 {
		if last, ok := file.Stmts[n-1].(*syntax.ExprStmt); ok {
			start, _ := last.Span()
			file.Stmts[n-1] = &syntax.AssignStmt{OpPos: start, Op: syntax.EQ, LHS: &syntax.Ident{NamePos: start, Name: resultName}, RHS: last.X}
		}
	}
	predeclared := starlark.StringDict{"math": math.Module}
	program, err := starlark.FileProgram(file, predeclared.Has)
	if err != nil {
		return nil, err
	}
	globals, err := program.Init(thread, predeclared)
	return globals[resultName], err
}

func appendUpTo(b *strings.Builder, text string) (whole bool) {
	if room := MaxOutput - b.Len(); len(text) > room {
		b.WriteString(strings.ToValidUTF8(text[:room], ""))
		return false
	}
	b.WriteString(text)
	return true
}

// explain finds message and line of an error, whichever part of the interpreter it is of.
func explain(err error) *Error {
	var unread syntax.Error
	if errors.As(err, &unread) {
		return &Error{unread.Msg, int(unread.Pos.Line)}
	}
	var unresolved resolve.ErrorList
	if errors.As(err, &unresolved) && len(unresolved) > 0 {
		return &Error{unresolved[0].Msg, int(unresolved[0].Pos.Line)}
	}
	var message strings.Builder
	appendUpTo(&message, err.Error())
	out := &Error{Message: message.String()}
	var broke *starlark.EvalError
	if errors.As(err, &broke) {
		for i := range broke.CallStack { // from the innermost on
			if pos := broke.CallStack.At(i).Pos; pos.Filename() == fileName {
				out.Line = int(pos.Line)
				break
			}
		}
	}
	return out
}
