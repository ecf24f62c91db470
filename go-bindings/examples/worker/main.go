// The worker loop of a small proving service.
//
//	worker -key K.params -circuit C.r1cs [-in-flight N]
//
// Jobs come as lines `ID WITNESS.wtns` on standard input. Each answer is a line on standard output as soon as it is
// there, in any order: `ID proof HEX` or `ID error TEXT`. Standard error gets the log, and a line of progress if it is
// a terminal. SIGINT and SIGTERM stop the reading, and what is in flight is finished; a second one cancels that, too.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	groth16 "github.com/libgroth16/libgroth16/go-bindings"
)

func main() {
	keyPath := flag.String("key", "", "proving key")
	circuitPath := flag.String("circuit", "", "circuit, iden3 .r1cs")
	inFlight := flag.Int("in-flight", 0, "jobs between start and proof, whose witnesses are in memory; default: by the engine's slots")
	flag.Parse()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if *keyPath == "" || *circuitPath == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(logger, *keyPath, *circuitPath, *inFlight, os.Stdin, os.Stdout); err != nil {
		logger.Error(err.Error())
		os.Exit(1)
	}
}

// twoSignals returns a context that ends at the first signal, for reading, and one that ends at the second, for work.
func twoSignals() (reading, work context.Context, stop func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	reading, stopReading := context.WithCancel(context.Background())
	work, stopWork := context.WithCancel(context.Background())
	go func() {
		select {
		case <-signals:
			stopReading()
		case <-work.Done():
			return
		}
		select {
		case <-signals:
			stopWork()
		case <-work.Done():
		}
	}()
	return reading, work, func() {
		signal.Stop(signals)
		stopReading()
		stopWork()
	}
}

func run(logger *slog.Logger, keyPath, circuitPath string, inFlight int, in io.Reader, out io.Writer) error {
	reading, work, stop := twoSignals()
	defer stop()
	w := &worker{out: out, show: isTerminal(os.Stderr)}

	engine, err := groth16.NewEngine(groth16.EngineOptions{Logger: logger})
	if err != nil {
		return err
	}
	defer engine.Close()
	w.engine = engine
	if w.circuit, err = engine.LoadCircuit(groth16.CircuitOptions{Path: circuitPath}); err != nil {
		return err
	}
	options := groth16.KeyOptions{Path: keyPath, Circuit: w.circuit}
	if w.show {
		options.Progress = func(done, total uint64) {
			fmt.Fprintf(os.Stderr, "\r\033[Kloading the key: %3.0f %%", 100*float64(done)/float64(total))
		}
	}
	if w.key, err = engine.LoadProvingKey(reading, options); err != nil {
		return err
	}
	if inFlight <= 0 {
		info, err := engine.Info()
		if err != nil {
			return err
		}
		inFlight = 2 * info.JobsPerDevice * max(1, info.NumDevices)
	}
	return w.loop(reading, work, inFlight, in)
}

type worker struct {
	engine  *groth16.Engine
	circuit *groth16.Circuit
	key     *groth16.ProvingKey
	show    bool

	mu                     sync.Mutex
	out                    io.Writer
	running, proofs, fails int
}

// loop keeps inFlight jobs in the pipeline until there are no more lines or reading ends, then waits for them.
func (w *worker) loop(reading, work context.Context, inFlight int, in io.Reader) error {
	lines, readError := readLines(reading, in)
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	begin := time.Now()
	slots := make(chan struct{}, inFlight)
	var all sync.WaitGroup
	for open := true; open; {
		var ready <-chan string // nil, which blocks, while all slots are taken
		if len(slots) < inFlight {
			ready = lines
		}
		select {
		case line, ok := <-ready:
			if open = ok; !ok {
				break
			}
			slots <- struct{}{}
			all.Add(1)
			go func() {
				defer all.Done()
				w.answer(work, line)
				<-slots
			}()
		case <-ticks.C:
			w.progress()
		case <-reading.Done():
			open = false
		}
	}
	all.Wait()
	w.progress()
	if w.show {
		fmt.Fprintln(os.Stderr)
	}
	seconds := time.Since(begin).Seconds()
	fmt.Fprintf(os.Stderr, "%d proofs, %d errors in %.2f s\n", w.proofs, w.fails, seconds)
	if reading.Err() != nil {
		return nil
	}
	return <-readError
}

// readLines stops when ctx ends, though perhaps one line later: a read of a terminal cannot be interrupted.
func readLines(ctx context.Context, in io.Reader) (<-chan string, <-chan error) {
	lines, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
		failed <- scanner.Err()
	}()
	return lines, failed
}

// answer does one line. One job's error does not end the service.
func (w *worker) answer(ctx context.Context, line string) {
	id, path, ok := strings.Cut(strings.TrimSpace(line), " ")
	if id == "" {
		return
	}
	w.count(1, 0, 0)
	var proof []byte
	err := errors.New("no path of a witness")
	if ok {
		proof, err = w.prove(ctx, path)
	}
	if err != nil {
		w.print("%s error %v\n", id, err)
		w.count(-1, 0, 1)
		return
	}
	w.print("%s proof %x\n", id, proof)
	w.count(-1, 1, 0)
}

func (w *worker) prove(ctx context.Context, path string) ([]byte, error) {
	info, err := w.key.Info()
	if err != nil {
		return nil, err
	}
	witness, err := groth16.ReadWitness(path)
	if err != nil {
		return nil, err
	}
	split := int(info.NumInputs) * groth16.ScalarSize
	if len(witness) < split {
		return nil, fmt.Errorf("%s: fewer values than public inputs", path)
	}
	// Waits where the queue is full, and cancels the job when ctx ends.
	return w.engine.Prove(ctx, w.key, groth16.JobOptions{
		Circuit: w.circuit, Inputs: witness[:split], Aux: witness[split:],
	})
}

func (w *worker) count(running, proofs, fails int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running += running
	w.proofs += proofs
	w.fails += fails
}

func (w *worker) print(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(w.out, format, args...)
}

func (w *worker) progress() {
	if !w.show {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(os.Stderr, "\r\033[K%d in flight, %d proofs, %d errors", w.running, w.proofs, w.fails)
}

func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
