package flow

import (
	"context"
	"io"

	"github.com/rs/zerolog"
)

// Logger is the program's logger; other packages name it without importing zerolog.
type Logger = zerolog.Logger

type loggerKey struct{}

// NewLogger makes a logger that writes JSON lines with UTC times. Level is one of debug, info, warn,
// error, off.
func NewLogger(w io.Writer, level string) Logger {
	parsed, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		parsed = zerolog.InfoLevel
	}
	if level == "off" {
		parsed = zerolog.Disabled
	}
	return zerolog.New(w).Level(parsed).With().Timestamp().Logger()
}

// WithLogger puts a logger into a context; servers do it once for all their requests.
func WithLogger(ctx context.Context, l Logger) context.Context {
	return context.WithValue(ctx, loggerKey{}, l)
}

// Log gives the logger of a context with the identifiers of that context on every line. Without a
// logger in the context it writes nothing.
func Log(ctx context.Context) *Logger {
	base, ok := ctx.Value(loggerKey{}).(Logger)
	if !ok {
		base = zerolog.Nop()
	}
	ids := From(ctx)
	with := base.With()
	for _, f := range [][2]string{
		{"traceId", ids.TraceID},
		{"runId", ids.RunID},
		{"threadId", ids.ThreadID},
		{"userId", ids.UserID},
		{"llmCallId", ids.LLMCallID},
		{"toolInvocationId", ids.ToolInvocationID},
		{"rpcId", ids.RPCID},
		{"contextId", ids.ContextID},
	} {
		if f[1] != "" {
			with = with.Str(f[0], f[1])
		}
	}
	l := with.Logger()
	return &l
}
