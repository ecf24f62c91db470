package capi

// #include "shim.h"
import "C"

// The values of groth16_status.
const (
	OK           = C.GROTH16_OK
	Invalid      = C.GROTH16_E_INVALID
	Unsupported  = C.GROTH16_E_UNSUPPORTED
	NoMemory     = C.GROTH16_E_NO_MEMORY
	DeviceMemory = C.GROTH16_E_DEVICE_MEMORY
	NoDevice     = C.GROTH16_E_NO_DEVICE
	Device       = C.GROTH16_E_DEVICE
	IO           = C.GROTH16_E_IO
	Format       = C.GROTH16_E_FORMAT
	Unsatisfied  = C.GROTH16_E_UNSATISFIED
	SelfCheck    = C.GROTH16_E_SELF_CHECK
	QueueFull    = C.GROTH16_E_QUEUE_FULL
	Timeout      = C.GROTH16_E_TIMEOUT
	TooSmall     = C.GROTH16_E_TOO_SMALL
	Cancelled    = C.GROTH16_E_CANCELLED
	Shutdown     = C.GROTH16_E_SHUTDOWN
	Forked       = C.GROTH16_E_FORKED
	Internal     = C.GROTH16_E_INTERNAL
)

// The values of groth16_state.
const (
	StateQueued    = C.GROTH16_QUEUED
	StatePreparing = C.GROTH16_PREPARING
	StateOnDevice  = C.GROTH16_ON_DEVICE
	StateFinishing = C.GROTH16_FINISHING
	StateDone      = C.GROTH16_DONE
	StateFailed    = C.GROTH16_FAILED
	StateCancelled = C.GROTH16_CANCELLED
)

// The values of groth16_event.
const (
	EventABCReleased = C.GROTH16_EVENT_ABC_RELEASED
	EventTerminal    = C.GROTH16_EVENT_TERMINAL
)

// The choices of option structs.
const (
	BackendAuto = C.GROTH16_BACKEND_AUTO
	BackendGPU  = C.GROTH16_BACKEND_GPU
	BackendCPU  = C.GROTH16_BACKEND_CPU

	G2Auto   = C.GROTH16_G2_AUTO
	G2CPU    = C.GROTH16_G2_CPU
	G2Device = C.GROTH16_G2_DEVICE

	LogError = C.GROTH16_LOG_ERROR
	LogWarn  = C.GROTH16_LOG_WARN
	LogInfo  = C.GROTH16_LOG_INFO
	LogDebug = C.GROTH16_LOG_DEBUG
	LogTrace = C.GROTH16_LOG_TRACE

	FormatAuto     = C.GROTH16_FORMAT_AUTO
	FormatBellman  = C.GROTH16_FORMAT_BELLMAN
	FormatZkey     = C.GROTH16_FORMAT_ZKEY
	FormatGnark    = C.GROTH16_FORMAT_GNARK
	FormatArkworks = C.GROTH16_FORMAT_ARKWORKS

	CheckSubgroup = C.GROTH16_CHECK_SUBGROUP
	CheckOnCurve  = C.GROTH16_CHECK_ON_CURVE
	CheckNothing  = C.GROTH16_CHECK_NOTHING

	ScalarsCanonical  = C.GROTH16_SCALARS_CANONICAL
	ScalarsMontgomery = C.GROTH16_SCALARS_MONTGOMERY

	ProofCompressed   = C.GROTH16_PROOF_COMPRESSED
	ProofUncompressed = C.GROTH16_PROOF_UNCOMPRESSED
	ProofJSON         = C.GROTH16_PROOF_JSON

	ABIMajor = C.GROTH16_ABI_MAJOR
)

// A Failure is a call's status other than OK with the library's text.
type Failure struct {
	Status  int32
	Message string
}

// StatusName returns a name such as "GROTH16_E_FORMAT".
func StatusName(status int32) string {
	return C.GoString(C.groth16_status_name(C.groth16_status(status)))
}
