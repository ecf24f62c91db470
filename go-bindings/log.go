package groth16

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/libgroth16/libgroth16/go-bindings/internal/capi"
)

// LevelTrace is the level of the library's most detailed lines.
const LevelTrace = slog.LevelDebug - 4

// A logRelay carries lines from the library's threads, which must not wait, to a logger, which may.
type logRelay struct {
	logger  *slog.Logger
	lines   chan logLine
	dropped atomic.Int64
	ended   chan struct{}
}

type logLine struct {
	level int32
	text  string
}

func newLogRelay(logger *slog.Logger) *logRelay {
	relay := &logRelay{logger: logger, lines: make(chan logLine, 256), ended: make(chan struct{})}
	go relay.run()
	return relay
}

// level is the most detailed that the logger wants.
func (r *logRelay) level() int32 {
	for level := int32(capi.LogTrace); level > capi.LogError; level-- {
		if r.logger.Enabled(context.Background(), slogLevel(level)) {
			return level
		}
	}
	return capi.LogError
}

func (r *logRelay) take(level int32, text string) {
	select {
	case r.lines <- logLine{level, text}:
	default:
		r.dropped.Add(1)
	}
}

func (r *logRelay) run() {
	defer close(r.ended)
	ctx := context.Background()
	for line := range r.lines {
		r.logger.Log(ctx, slogLevel(line.level), line.text)
		if dropped := r.dropped.Swap(0); dropped > 0 {
			r.logger.Log(ctx, slog.LevelWarn, "lines of the log were dropped", "count", dropped)
		}
	}
}

// end waits until all lines are logged. take must not be called any more.
func (r *logRelay) end() {
	close(r.lines)
	<-r.ended
}

func slogLevel(level int32) slog.Level {
	switch level {
	case capi.LogError:
		return slog.LevelError
	case capi.LogWarn:
		return slog.LevelWarn
	case capi.LogInfo:
		return slog.LevelInfo
	case capi.LogDebug:
		return slog.LevelDebug
	default:
		return LevelTrace
	}
}
