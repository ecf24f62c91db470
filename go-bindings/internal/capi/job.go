package capi

// #include "shim.h"
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// ScalarSize is the number of bytes of a scalar.
const ScalarSize = 32

func lendScalars(p *pointers, s []byte) C.groth16_scalars {
	return C.groth16_scalars{data: data(p, s), count: C.size_t(len(s) / ScalarSize)}
}

// JobOptions is groth16_job_options; scalars are whole, R and S empty or one scalar.
type JobOptions struct {
	Circuit       Circuit
	A, B, C       []byte
	Inputs, Aux   []byte
	R, S          []byte
	ScalarForm    int32
	Priority      int32
	ProofFormat   int32
	SkipSelfCheck bool
	Event         cgo.Handle // of an EventFunc
}

// Start queues a job. On success the library reads the scalars until it has told that they are released; Start pins
// them for its own time only.
func (e Engine) Start(key Key, options *JobOptions) (Job, *Failure) {
	var p pointers
	defer p.release()
	o := C.groth16_job_options{
		circuit:      options.Circuit.p,
		a:            lendScalars(&p, options.A),
		b:            lendScalars(&p, options.B),
		c:            lendScalars(&p, options.C),
		inputs:       lendScalars(&p, options.Inputs),
		aux:          lendScalars(&p, options.Aux),
		r:            (*C.uint8_t)(data(&p, options.R)),
		s:            (*C.uint8_t)(data(&p, options.S)),
		scalar_form:  C.int32_t(options.ScalarForm),
		priority:     C.int32_t(options.Priority),
		proof_format: C.int32_t(options.ProofFormat),
	}
	o.struct_size = C.size_t(unsafe.Sizeof(o))
	if options.SkipSelfCheck {
		o.skip_self_check = 1
	}
	var job Job
	failure := check(C.shim_start(e.p, key.p, &o, C.uintptr_t(options.Event), &job.p))
	return job, failure
}

// Progress is groth16_progress.
type Progress struct {
	State, Result                           int32
	Device                                  int64
	ABCReleased                             bool
	Retries                                 uint32
	QueuedNs, PrepareNs, DeviceNs, FinishNs uint64
}

// Poll tells where a job is.
func (j Job) Poll() (Progress, *Failure) {
	var progress C.groth16_progress
	progress.struct_size = C.size_t(unsafe.Sizeof(progress))
	failure := check(C.shim_poll(j.p, &progress))
	return Progress{
		State:       int32(progress.state),
		Result:      int32(progress.result),
		Device:      int64(progress.device),
		ABCReleased: progress.abc_released != 0,
		Retries:     uint32(progress.retries),
		QueuedNs:    uint64(progress.queued_ns),
		PrepareNs:   uint64(progress.prepare_ns),
		DeviceNs:    uint64(progress.device_ns),
		FinishNs:    uint64(progress.finish_ns),
	}, failure
}

// Cancel asks a job to stop.
func (j Job) Cancel() { C.groth16_cancel(j.p) }

// Finalize waits for a job and copies its proof out.
func (j Job) Finalize() ([]byte, *Failure) {
	return growing(384, func(buf *byte, cap int) (int, *Failure) {
		var n C.size_t
		failure := check(C.shim_finalize(j.p, unsafe.Pointer(buf), C.size_t(cap), &n))
		return int(n), failure
	})
}

// Free releases a job; it waits until the library is done with it.
func (j Job) Free() { C.groth16_free(j.p) }
