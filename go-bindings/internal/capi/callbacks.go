package capi

// #include <stdint.h>
import "C"

import (
	"runtime/cgo"
)

// The functions here run on threads of the library, which they must not hold up: what they find behind their handle
// stores, or sends to a channel that has room, and returns.

// EventFunc takes what a job tells: EventABCReleased or EventTerminal.
type EventFunc func(event int32)

// ProgressFunc takes how far a load is, in bytes; true stops it.
type ProgressFunc func(done, total uint64) (stop bool)

// LogFunc takes a line of the library's log.
type LogFunc func(level int32, text string)

//export goGroth16Event
func goGroth16Event(user C.uintptr_t, event C.int32_t) {
	cgo.Handle(user).Value().(EventFunc)(int32(event))
}

//export goGroth16Progress
func goGroth16Progress(user C.uintptr_t, done, total C.uint64_t) C.int32_t {
	if cgo.Handle(user).Value().(ProgressFunc)(uint64(done), uint64(total)) {
		return 1
	}
	return 0
}

//export goGroth16Log
func goGroth16Log(user C.uintptr_t, level C.int32_t, text *C.char) {
	cgo.Handle(user).Value().(LogFunc)(int32(level), C.GoString(text))
}
