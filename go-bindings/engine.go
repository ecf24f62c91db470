package groth16

import (
	"context"
	"log/slog"
	"runtime"
	"runtime/cgo"
	"sync"

	"github.com/libgroth16/libgroth16/go-bindings/internal/capi"
)

// Backend says where kernels run.
type Backend uint32

const (
	BackendAuto Backend = capi.BackendAuto // GPUs if there are any, else the CPU
	BackendGPU  Backend = capi.BackendGPU
	BackendCPU  Backend = capi.BackendCPU
)

// String returns "auto", "gpu" or "cpu".
func (b Backend) String() string { return nameOf(b, "auto", "gpu", "cpu") }

// G2Placement says where the G2 MSM runs.
type G2Placement uint32

const (
	G2Auto   G2Placement = capi.G2Auto
	G2CPU    G2Placement = capi.G2CPU
	G2Device G2Placement = capi.G2Device
)

// EngineOptions say how an engine is built. Zero in any field is its default.
type EngineOptions struct {
	// DeviceUUIDs are the GPUs to use; all by default.
	DeviceUUIDs []string
	Backend     Backend
	// JobsPerDevice is the number of slots that share one device, at most 64; 2 by default.
	JobsPerDevice int
	// CPUThreads is the size of the pool for all CPU work, at most 1024; by default all cores that the process may
	// run on.
	CPUThreads  int
	G2Placement G2Placement
	// MaxQueuedJobs may wait; one more is refused with ErrQueueFull. 64 by default.
	MaxQueuedJobs int
	// HostBytesLimit is what keys and jobs may take; a job that does not fit beside what is in use is refused with
	// ErrQueueFull, one that never fits with ErrNoMemory. By default nine tenths of what is free at creation.
	HostBytesLimit uint64
	// PinnedBytesLimit is what buffers may take, besides what HostBytesLimit leaves them; 0 is no limit of their own.
	PinnedBytesLimit uint64
	// DeviceBytesLimit is for each GPU; 0 is no limit.
	DeviceBytesLimit uint64
	// Logger gets the library's log, at the levels that it is enabled for, from a goroutine of the engine's. Lines
	// are dropped and counted if it cannot keep up.
	Logger *slog.Logger
}

// EngineInfo tells what an engine is and does. Limits of 0 are none.
type EngineInfo struct {
	Backend          Backend // BackendGPU or BackendCPU
	NumDevices       int     // GPUs
	JobsPerDevice    int
	CPUThreads       int
	HostBytesLimit   uint64
	PinnedBytesLimit uint64
	DeviceBytesLimit uint64
	HostBytesUsed    uint64
	PinnedBytesUsed  uint64
	DeviceBytesUsed  uint64
	QueuedJobs       uint64
	RunningJobs      uint64
}

// An Engine owns devices, worker threads and a queue of jobs.
type Engine struct {
	core *engineCore
}

// The engineCore is what outlives an Engine that was dropped without having been closed.
type engineCore struct {
	handle *handle[capi.Engine]
	// closing ends when Close begins: loads under way stop.
	closing context.Context
	cancel  context.CancelFunc

	mu sync.Mutex
	// room is closed, and replaced, when a job has ended or was closed.
	room chan struct{}
}

// NewEngine starts an engine.
func NewEngine(options EngineOptions) (*Engine, error) {
	const op = "new engine"
	if loaded := capi.ABIVersion(); loaded>>16 != capi.ABIMajor {
		return nil, &Error{Op: op, Status: ErrUnsupported, Message: "the loaded library " + Version() +
			" has another ABI than the header that this program was built with"}
	}
	for _, uuid := range options.DeviceUUIDs {
		if err := checkText(op, "a device UUID", uuid); err != nil {
			return nil, err
		}
	}
	for name, value := range map[string]int{
		"JobsPerDevice": options.JobsPerDevice,
		"CPUThreads":    options.CPUThreads,
		"MaxQueuedJobs": options.MaxQueuedJobs,
	} {
		if value < 0 || int64(value) > 1<<31 {
			return nil, invalid(op, "%s is %d", name, value)
		}
	}
	o := capi.EngineOptions{
		DeviceUUIDs:      options.DeviceUUIDs,
		Backend:          uint32(options.Backend),
		JobsPerDevice:    uint32(options.JobsPerDevice),
		CPUThreads:       uint32(options.CPUThreads),
		G2Placement:      uint32(options.G2Placement),
		MaxQueuedJobs:    uint64(options.MaxQueuedJobs),
		HostBytesLimit:   options.HostBytesLimit,
		PinnedBytesLimit: options.PinnedBytesLimit,
		DeviceBytesLimit: options.DeviceBytesLimit,
	}
	var log *logRelay
	if options.Logger != nil {
		log = newLogRelay(options.Logger)
		o.LogLevel = log.level()
		o.Log = cgo.NewHandle(capi.LogFunc(log.take))
	}
	endLog := func() {
		if log != nil {
			log.end()
			o.Log.Delete()
		}
	}
	created, failure := capi.EngineCreate(&o)
	if failure != nil {
		endLog()
		return nil, asError(op, failure)
	}
	core := &engineCore{room: make(chan struct{})}
	core.closing, core.cancel = context.WithCancel(context.Background())
	core.handle = newHandle("engine", created, func(engine capi.Engine) {
		engine.Free()
		endLog()
	})
	engine := &Engine{core}
	runtime.AddCleanup(engine, func(core *engineCore) { go core.close() }, core)
	return engine, nil
}

// Close stops the engine: it takes no more jobs, ends those on a device, and fails the rest with ErrShutdown; loads
// under way stop. When it returns every job is terminal. Jobs, keys and circuits stay open, and proofs that were made
// can still be had. It always returns nil.
func (e *Engine) Close() error {
	if e != nil {
		e.core.close()
	}
	return nil
}

func (c *engineCore) close() {
	if c == nil {
		return
	}
	c.cancel()
	c.handle.close()
}

// use is handle.use for an engine that may be nil or zero.
func (e *Engine) use(op string) (capi.Engine, error) {
	if e == nil || e.core == nil {
		return (*handle[capi.Engine])(nil).use(op)
	}
	return e.core.handle.use(op)
}

func (e *Engine) done() { e.core.handle.done() }

// Info tells what the engine is and does now.
func (e *Engine) Info() (EngineInfo, error) {
	const op = "engine info"
	engine, err := e.use(op)
	if err != nil {
		return EngineInfo{}, err
	}
	defer e.done()
	info, failure := engine.Info()
	return EngineInfo{
		Backend:          Backend(info.Backend),
		NumDevices:       int(info.NumDevices),
		JobsPerDevice:    int(info.JobsPerDevice),
		CPUThreads:       int(info.CPUThreads),
		HostBytesLimit:   info.HostBytesLimit,
		PinnedBytesLimit: info.PinnedBytesLimit,
		DeviceBytesLimit: info.DeviceBytesLimit,
		HostBytesUsed:    info.HostBytesUsed,
		PinnedBytesUsed:  info.PinnedBytesUsed,
		DeviceBytesUsed:  info.DeviceBytesUsed,
		QueuedJobs:       info.QueuedJobs,
		RunningJobs:      info.RunningJobs,
	}, asError(op, failure)
}

// Metrics returns queue depth, busy and idle time of devices, histograms of phases and memory as Prometheus text.
func (e *Engine) Metrics() (string, error) {
	const op = "metrics"
	engine, err := e.use(op)
	if err != nil {
		return "", err
	}
	defer e.done()
	text, failure := engine.Metrics()
	return string(text), asError(op, failure)
}

// WriteTrace writes the timeline of what ran where to a file, as a Chrome trace that ui.perfetto.dev opens.
func (e *Engine) WriteTrace(path string) error {
	const op = "write trace"
	if err := checkText(op, "the path", path); err != nil {
		return err
	}
	engine, err := e.use(op)
	if err != nil {
		return err
	}
	defer e.done()
	return asError(op, engine.Trace(path))
}

// MemoryPressure returns how many memory-hungry CPU phases (G2 MSMs) run now: who synthesises on the same cores may
// yield while it is not 0. It is cheap. A closed engine has none.
func (e *Engine) MemoryPressure() int {
	engine, err := e.use("memory pressure")
	if err != nil {
		return 0
	}
	defer e.done()
	return int(engine.MemoryPressure())
}

// roomMade is closed when a job has ended since the call.
func (c *engineCore) roomMade() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.room
}

func (c *engineCore) makeRoom() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.room)
	c.room = make(chan struct{})
}

// nameOf is the name of the value that counts from 0.
func nameOf[T ~uint32 | ~int32](value T, names ...string) string {
	if int64(value) >= 0 && int64(value) < int64(len(names)) {
		return names[value]
	}
	return "unknown"
}

// Version returns the loaded library's version, such as "0.1.0".
func Version() string { return capi.Version() }

// DeviceInfo describes a GPU that the library can use.
type DeviceInfo struct {
	Name         string
	UUID         string // for EngineOptions.DeviceUUIDs
	PCIBusID     string
	MemoryBytes  uint64
	FreeBytes    uint64
	ComputeMajor int
	ComputeMinor int
}

// Devices returns the GPUs that the library can use: none without a GPU, a driver, or a build for them.
func Devices() ([]DeviceInfo, error) {
	const op = "devices"
	count, failure := capi.DeviceCount()
	if failure != nil {
		return nil, asError(op, failure)
	}
	devices := make([]DeviceInfo, 0, count)
	for i := range count {
		d, failure := capi.DeviceGet(i)
		if failure != nil {
			return nil, asError(op, failure)
		}
		devices = append(devices, DeviceInfo{d.Name, d.UUID, d.PCIBusID, d.MemoryBytes, d.FreeBytes,
			int(d.ComputeMajor), int(d.ComputeMinor)})
	}
	return devices, nil
}
