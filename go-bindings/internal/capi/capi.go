// Package capi is all of cgo in this module: one thin function for each of groth16.h, in Go's types.
//
// It checks nothing: handles must be live (see groth16.h on threads and ownership), and Go memory that the library
// keeps beyond a call must be pinned by the caller.
package capi

// #include "shim.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// Handles of the library. The zero value is NULL, which every Free takes.
type (
	Engine  struct{ p *C.groth16_engine }
	Circuit struct{ p *C.groth16_circuit }
	Key     struct{ p *C.groth16_pk }
	Buffer  struct{ p *C.groth16_buffer }
	Job     struct{ p *C.groth16_job }
)

func check(result C.shim_result) *Failure {
	if result.status == C.GROTH16_OK {
		return nil
	}
	failure := &Failure{Status: int32(result.status)}
	if result.message != nil {
		failure.Message = C.GoString(result.message)
		C.free(unsafe.Pointer(result.message))
	}
	return failure
}

// growing calls fill with a buffer of cap bytes until what it writes fits, and returns that.
func growing(cap int, fill func(buf *byte, cap int) (int, *Failure)) ([]byte, *Failure) {
	for {
		buf := make([]byte, cap)
		n, failure := fill(unsafe.SliceData(buf), len(buf))
		if failure == nil {
			return buf[:n:n], nil
		}
		if failure.Status != TooSmall || n <= cap {
			return nil, failure
		}
		cap = n
	}
}

// A pointers lends Go memory to option structs, pinned until release.
type pointers struct{ pinner runtime.Pinner }

func (p *pointers) release() { p.pinner.Unpin() }

// data is NULL for an empty slice.
func data[T any](p *pointers, s []T) unsafe.Pointer {
	if len(s) == 0 {
		return nil
	}
	p.pinner.Pin(unsafe.SliceData(s))
	return unsafe.Pointer(unsafe.SliceData(s))
}

// ABIVersion is major << 16 | minor of the loaded library.
func ABIVersion() uint32 { return uint32(C.groth16_abi_version()) }

// Version is the loaded library's version.
func Version() string { return C.GoString(C.groth16_version()) }

// DeviceInfo is groth16_device_info.
type DeviceInfo struct {
	Name, UUID, PCIBusID       string
	MemoryBytes, FreeBytes     uint64
	ComputeMajor, ComputeMinor int32
}

// DeviceCount is how many GPUs the library can use.
func DeviceCount() (int, *Failure) {
	var count C.size_t
	failure := check(C.shim_device_count(&count))
	return int(count), failure
}

// DeviceGet tells of one of them.
func DeviceGet(index int) (DeviceInfo, *Failure) {
	var info C.groth16_device_info
	info.struct_size = C.size_t(unsafe.Sizeof(info))
	if failure := check(C.shim_device_get(C.size_t(index), &info)); failure != nil {
		return DeviceInfo{}, failure
	}
	return DeviceInfo{
		Name:         C.GoString(&info.name[0]),
		UUID:         C.GoString(&info.uuid[0]),
		PCIBusID:     C.GoString(&info.pci_bus_id[0]),
		MemoryBytes:  uint64(info.memory_bytes),
		FreeBytes:    uint64(info.free_bytes),
		ComputeMajor: int32(info.compute_major),
		ComputeMinor: int32(info.compute_minor),
	}, nil
}

// EngineOptions is groth16_engine_options.
type EngineOptions struct {
	DeviceUUIDs      []string
	Backend          uint32
	JobsPerDevice    uint32
	CPUThreads       uint32
	G2Placement      uint32
	MaxQueuedJobs    uint64
	HostBytesLimit   uint64
	PinnedBytesLimit uint64
	DeviceBytesLimit uint64
	LogLevel         int32
	Log              cgo.Handle // of a LogFunc, or 0
}

// EngineCreate starts an engine.
func EngineCreate(options *EngineOptions) (Engine, *Failure) {
	o := C.groth16_engine_options{
		backend:            C.uint32_t(options.Backend),
		jobs_per_device:    C.uint32_t(options.JobsPerDevice),
		cpu_threads:        C.uint32_t(options.CPUThreads),
		g2_placement:       C.uint32_t(options.G2Placement),
		max_queued_jobs:    C.uint64_t(options.MaxQueuedJobs),
		host_bytes_limit:   C.uint64_t(options.HostBytesLimit),
		pinned_bytes_limit: C.uint64_t(options.PinnedBytesLimit),
		device_bytes_limit: C.uint64_t(options.DeviceBytesLimit),
		log_level:          C.int32_t(options.LogLevel),
	}
	o.struct_size = C.size_t(unsafe.Sizeof(o))
	if n := len(options.DeviceUUIDs); n > 0 {
		uuids := make([]*C.char, n)
		for i, uuid := range options.DeviceUUIDs {
			uuids[i] = C.CString(uuid)
			defer C.free(unsafe.Pointer(uuids[i]))
		}
		var p pointers
		defer p.release()
		o.device_uuids = (**C.char)(data(&p, uuids))
		o.num_device_uuids = C.size_t(n)
	}
	var engine Engine
	failure := check(C.shim_engine_create(&o, C.uintptr_t(options.Log), &engine.p))
	return engine, failure
}

// Free stops the engine and joins its threads.
func (e Engine) Free() { C.groth16_engine_free(e.p) }

// EngineInfo is groth16_engine_info.
type EngineInfo struct {
	Backend, NumDevices, JobsPerDevice, CPUThreads     uint32
	HostBytesLimit, PinnedBytesLimit, DeviceBytesLimit uint64
	HostBytesUsed, PinnedBytesUsed, DeviceBytesUsed    uint64
	QueuedJobs, RunningJobs                            uint64
}

// Info tells what the engine is and does.
func (e Engine) Info() (EngineInfo, *Failure) {
	var info C.groth16_engine_info
	info.struct_size = C.size_t(unsafe.Sizeof(info))
	failure := check(C.shim_engine_get_info(e.p, &info))
	return EngineInfo{
		Backend:          uint32(info.backend),
		NumDevices:       uint32(info.num_devices),
		JobsPerDevice:    uint32(info.jobs_per_device),
		CPUThreads:       uint32(info.cpu_threads),
		HostBytesLimit:   uint64(info.host_bytes_limit),
		PinnedBytesLimit: uint64(info.pinned_bytes_limit),
		DeviceBytesLimit: uint64(info.device_bytes_limit),
		HostBytesUsed:    uint64(info.host_bytes_used),
		PinnedBytesUsed:  uint64(info.pinned_bytes_used),
		DeviceBytesUsed:  uint64(info.device_bytes_used),
		QueuedJobs:       uint64(info.queued_jobs),
		RunningJobs:      uint64(info.running_jobs),
	}, failure
}

// Metrics is the engine's record as Prometheus text.
func (e Engine) Metrics() ([]byte, *Failure) {
	return growing(16<<10, func(buf *byte, cap int) (int, *Failure) {
		var n C.size_t
		failure := check(C.shim_engine_metrics(e.p, (*C.char)(unsafe.Pointer(buf)), C.size_t(cap), &n))
		return int(n), failure
	})
}

// Trace writes the engine's timeline to a file.
func (e Engine) Trace(path string) *Failure {
	c := C.CString(path)
	defer C.free(unsafe.Pointer(c))
	return check(C.shim_engine_trace(e.p, c))
}

// MemoryPressure is how many G2 MSMs run now.
func (e Engine) MemoryPressure() uint32 { return uint32(C.groth16_engine_memory_pressure(e.p)) }

// Matrix is groth16_matrix: RowStarts must fit the lengths of the others.
type Matrix struct {
	RowStarts []uint64
	Columns   []uint32
	Values    []byte
}

func (m *Matrix) lend(p *pointers) C.groth16_matrix {
	return C.groth16_matrix{
		row_starts: (*C.uint64_t)(data(p, m.RowStarts)),
		columns:    (*C.uint32_t)(data(p, m.Columns)),
		values:     data(p, m.Values),
	}
}

// CircuitOptions is groth16_circuit_options.
type CircuitOptions struct {
	Path                       string
	Data                       []byte
	A, B, C                    Matrix
	NumRows, NumInputs, NumAux uint64
}

// CircuitLoad loads a circuit.
func (e Engine) CircuitLoad(options *CircuitOptions) (Circuit, *Failure) {
	var p pointers
	defer p.release()
	o := C.groth16_circuit_options{
		data:       data(&p, options.Data),
		data_len:   C.size_t(len(options.Data)),
		a:          options.A.lend(&p),
		b:          options.B.lend(&p),
		c:          options.C.lend(&p),
		num_rows:   C.uint64_t(options.NumRows),
		num_inputs: C.uint64_t(options.NumInputs),
		num_aux:    C.uint64_t(options.NumAux),
	}
	o.struct_size = C.size_t(unsafe.Sizeof(o))
	if options.Path != "" {
		o.path = C.CString(options.Path)
		defer C.free(unsafe.Pointer(o.path))
	}
	var circuit Circuit
	failure := check(C.shim_circuit_load(e.p, &o, &circuit.p))
	return circuit, failure
}

// Free releases a circuit.
func (c Circuit) Free() { C.groth16_circuit_free(c.p) }

// CircuitInfo is groth16_circuit_info.
type CircuitInfo struct{ NumRows, NumInputs, NumAux, NumTerms uint64 }

// Info tells what a circuit holds.
func (c Circuit) Info() (CircuitInfo, *Failure) {
	var info C.groth16_circuit_info
	info.struct_size = C.size_t(unsafe.Sizeof(info))
	failure := check(C.shim_circuit_get_info(c.p, &info))
	return CircuitInfo{
		NumRows:   uint64(info.num_rows),
		NumInputs: uint64(info.num_inputs),
		NumAux:    uint64(info.num_aux),
		NumTerms:  uint64(info.num_terms),
	}, failure
}

// Bits is groth16_bits: Words must hold Count bits.
type Bits struct {
	Words []uint64
	Count int
}

func (b *Bits) lend(p *pointers) C.groth16_bits {
	return C.groth16_bits{words: (*C.uint64_t)(data(p, b.Words)), count: C.size_t(b.Count)}
}

// KeyOptions is groth16_pk_options.
type KeyOptions struct {
	Path                string
	Data                []byte
	Circuit             Circuit
	AAux, BInputs, BAux Bits
	Format              int32
	PointChecks         int32
	BLAKE2b             []byte     // 64 bytes, or empty
	Progress            cgo.Handle // of a ProgressFunc, or 0
	VKPath              string
	VKData              []byte
}

// KeyLoad loads a proving key.
func (e Engine) KeyLoad(options *KeyOptions) (Key, *Failure) {
	var p pointers
	defer p.release()
	o := C.groth16_pk_options{
		data:         data(&p, options.Data),
		data_len:     C.size_t(len(options.Data)),
		circuit:      options.Circuit.p,
		a_aux:        options.AAux.lend(&p),
		b_inputs:     options.BInputs.lend(&p),
		b_aux:        options.BAux.lend(&p),
		format:       C.int32_t(options.Format),
		point_checks: C.int32_t(options.PointChecks),
		blake2b:      (*C.uint8_t)(data(&p, options.BLAKE2b)),
		vk_data:      data(&p, options.VKData),
		vk_data_len:  C.size_t(len(options.VKData)),
	}
	o.struct_size = C.size_t(unsafe.Sizeof(o))
	if options.Path != "" {
		o.path = C.CString(options.Path)
		defer C.free(unsafe.Pointer(o.path))
	}
	if options.VKPath != "" {
		o.vk_path = C.CString(options.VKPath)
		defer C.free(unsafe.Pointer(o.vk_path))
	}
	var key Key
	failure := check(C.shim_pk_load(e.p, &o, C.uintptr_t(options.Progress), &key.p))
	return key, failure
}

// Free releases a key.
func (k Key) Free() { C.groth16_pk_free(k.p) }

// KeyInfo is groth16_pk_info.
type KeyInfo struct {
	NumInputs, NumAux, DomainSize, NumRowsAdded uint64
	HostBytes, DeviceBytes                      uint64
	Format, UnconstrainedInputs                 int32
}

// Info tells what a key holds.
func (k Key) Info() (KeyInfo, *Failure) {
	var info C.groth16_pk_info
	info.struct_size = C.size_t(unsafe.Sizeof(info))
	failure := check(C.shim_pk_get_info(k.p, &info))
	return KeyInfo{
		NumInputs:           uint64(info.num_inputs),
		NumAux:              uint64(info.num_aux),
		DomainSize:          uint64(info.domain_size),
		NumRowsAdded:        uint64(info.num_rows_added),
		HostBytes:           uint64(info.host_bytes),
		DeviceBytes:         uint64(info.device_bytes),
		Format:              int32(info.format),
		UnconstrainedInputs: int32(info.unconstrained_inputs),
	}, failure
}

// VerifyingKey is the verifying key in bellman's encoding.
func (k Key) VerifyingKey() ([]byte, *Failure) {
	return growing(2<<10, func(buf *byte, cap int) (int, *Failure) {
		var n C.size_t
		failure := check(C.shim_pk_get_vk(k.p, unsafe.Pointer(buf), C.size_t(cap), &n))
		return int(n), failure
	})
}

// Verify verifies a proof; inputs are whole scalars.
func (k Key) Verify(inputs, proof []byte) (bool, *Failure) {
	var p pointers
	defer p.release()
	var valid C.int32_t
	scalars := lendScalars(&p, inputs)
	failure := check(C.shim_verify(k.p, scalars, data(&p, proof), C.size_t(len(proof)), &valid))
	return valid == 1, failure
}

// BufferAlloc allocates page-locked memory.
func (e Engine) BufferAlloc(size int) (Buffer, *Failure) {
	var buffer Buffer
	failure := check(C.shim_buffer_alloc(e.p, C.size_t(size), &buffer.p))
	return buffer, failure
}

// Data is where its bytes are.
func (b Buffer) Data() *byte { return (*byte)(C.groth16_buffer_data(b.p)) }

// Free releases a buffer.
func (b Buffer) Free() { C.groth16_buffer_free(b.p) }
