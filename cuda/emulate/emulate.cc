#include "emulate.h"

// Fortified, longjmp refuses to go to another stack.
#undef _FORTIFY_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include <memory>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define G16_ADDRESS_SANITIZER 1
#else
#define G16_ADDRESS_SANITIZER 0
#endif

namespace g16 {
namespace emulate {
namespace {

constexpr size_t kStackBytes = 256 << 10;
/// Whether a fibre that has run a thread to its end runs another by a jump: a new context costs system calls, which took as long as
/// small kernels. The sanitizer is told of an end instead, so that it frees what it holds of the stack.
constexpr bool kFibresLast = !G16_ADDRESS_SANITIZER;

enum class State { ready, at_barrier, at_exchange, done };

struct Fibre {
    /// Where it starts, and where it gave way last. A jump costs no system call, as a change of context does.
    ucontext_t context;
    jmp_buf place;
    bool started = false;
    std::unique_ptr<char[]> stack;
    Coordinates coordinates;
    State state = State::done;
    /// What this thread passed to its last two exchanges; a lane may be one ahead of another.
    uint64_t passed[2] = {};
    uint32_t exchanges = 0;
    void* fake_stack = nullptr;
};

struct Block {
    std::vector<std::unique_ptr<Fibre>> fibres;
    std::vector<Quad> shared;
    ucontext_t scheduler;
    jmp_buf scheduler_place;
    void* scheduler_fake_stack = nullptr;
    const void* scheduler_stack = nullptr;
    size_t scheduler_size = 0;
    Fibre* running = nullptr;
    void (*body)(void*) = nullptr;
    void* argument = nullptr;
};

Block block;

[[noreturn]] void fail(const char* what) {
    fprintf(stderr, "emulated kernel: %s\n", what);
    abort();
}

/// Leaves one stack, whose place is kept, for another. The sanitizer takes a jump for the end of functions, so there the
/// context is changed.
void change(bool started, ucontext_t& from, jmp_buf& from_place, ucontext_t& to, jmp_buf& to_place) {
#if G16_ADDRESS_SANITIZER
    (void)started, (void)from_place, (void)to_place;
    swapcontext(&from, &to);
#else
    (void)from;
    if (_setjmp(from_place) != 0) return;
    if (started) _longjmp(to_place, 1);
    setcontext(&to);
#endif
}

void enter(Fibre& fibre) {
    block.running = &fibre;
    bool started = std::exchange(fibre.started, true);
#if G16_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(&block.scheduler_fake_stack, fibre.stack.get(), kStackBytes);
#endif
    change(started, block.scheduler, block.scheduler_place, fibre.context, fibre.place);
#if G16_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(block.scheduler_fake_stack, nullptr, nullptr);
#endif
    block.running = nullptr;
}

void leave(State state) {
    Fibre& fibre = *block.running;
    fibre.state = state;
#if G16_ADDRESS_SANITIZER
    // Without a place for its fake stack, a fibre's is freed: it will not run again.
    void** kept = state == State::done ? nullptr : &fibre.fake_stack;
    __sanitizer_start_switch_fiber(kept, block.scheduler_stack, block.scheduler_size);
#endif
    change(true, fibre.context, fibre.place, block.scheduler, block.scheduler_place);
#if G16_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fibre.fake_stack, &block.scheduler_stack, &block.scheduler_size);
#endif
}

void trampoline() {
#if G16_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(nullptr, &block.scheduler_stack, &block.scheduler_size);
#endif
    do {
        block.body(block.argument);
        leave(State::done);
    } while (kFibresLast);
    fail("a thread ran on after its end");
}

void prepare(Fibre& fibre, const Coordinates& coordinates) {
    if (!fibre.stack) fibre.stack.reset(new char[kStackBytes]);
    fibre.coordinates = coordinates;
    fibre.state = State::ready;
    fibre.exchanges = 0;
    if (kFibresLast && fibre.started) return;
    fibre.started = false;
    getcontext(&fibre.context);
    fibre.context.uc_stack.ss_sp = fibre.stack.get();
    fibre.context.uc_stack.ss_size = kStackBytes;
    fibre.context.uc_link = nullptr;
    makecontext(&fibre.context, trampoline, 0);
}

/// Runs each thread to its next barrier, or its end. True while there are threads left.
bool phase(uint32_t threads, bool backwards) {
    bool exchanging = true;
    while (exchanging) {
        exchanging = false;
        for (uint32_t i = 0; i < threads; i++) {
            Fibre& fibre = *block.fibres[backwards ? threads - 1 - i : i];
            if (fibre.state != State::ready && fibre.state != State::at_exchange) continue;
            enter(fibre);
            exchanging |= fibre.state == State::at_exchange;
        }
    }
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < threads; i++) waiting += block.fibres[i]->state == State::at_barrier;
    if (waiting != 0 && waiting != threads) fail("a barrier that not all threads reach");
    for (uint32_t i = 0; i < threads && waiting != 0; i++) block.fibres[i]->state = State::ready;
    return waiting != 0;
}

}  // namespace

Coordinates& here() {
    return block.running->coordinates;
}

Quad* shared() {
    return block.shared.data();
}

void barrier() {
    leave(State::at_barrier);
}

namespace {

/// Passes a value, and waits until all lanes of the warp have done so. The lanes are those from `warp` to `end`.
uint32_t pass(uint64_t value, uint32_t& warp, uint32_t& end) {
    Fibre& self = *block.running;
    uint32_t turn = self.exchanges++;
    self.passed[turn % 2] = value;
    uint32_t thread = self.coordinates.thread.x, size = self.coordinates.block_size.x;
    warp = thread - thread % 32;
    end = warp + 32 < size ? warp + 32 : size;
    for (bool all = false; !all;) {
        all = true;
        for (uint32_t i = warp; i < end; i++) all &= block.fibres[i]->exchanges > turn;
        if (!all) leave(State::at_exchange);
    }
    return turn % 2;
}

uint64_t exchange_wide(uint64_t value, uint32_t lane) {
    uint32_t warp, end;
    uint32_t turn = pass(value, warp, end);
    uint32_t from = warp + lane % 32;
    return from < end ? block.fibres[from]->passed[turn] : value;
}

}  // namespace

uint32_t exchange(uint32_t value, uint32_t lane) {
    return (uint32_t)exchange_wide(value, lane);
}

const void* exchange_address(const void* value, uint32_t lane) {
    return reinterpret_cast<const void*>(exchange_wide(reinterpret_cast<uint64_t>(value), lane));
}

uint32_t peers(uint32_t value) {
    uint32_t warp, end, out = 0;
    uint32_t turn = pass(value, warp, end);
    for (uint32_t i = warp; i < end; i++) out |= (uint32_t)(block.fibres[i]->passed[turn] == value) << (i - warp);
    return out;
}

void run(uint32_t blocks, uint32_t threads, size_t shared_bytes, void (*body)(void*), void* argument) {
    while (block.fibres.size() < threads) block.fibres.emplace_back(new Fibre);
    block.body = body;
    block.argument = argument;
    for (uint32_t index = 0; index < blocks; index++) {
        // Fresh memory each time: what an earlier block left must not be found, and the sanitizer sees its bounds.
        block.shared = std::vector<Quad>((shared_bytes + 15) / 16, Quad{0xdeadbeef, 0xdeadbeef, 0xdeadbeef, 0xdeadbeef});
        block.shared.shrink_to_fit();
        for (uint32_t i = 0; i < threads; i++) {
            prepare(*block.fibres[i], Coordinates{{i, 0, 0}, {index, 0, 0}, {threads, 1, 1}, {blocks, 1, 1}});
        }
        for (bool backwards = false; phase(threads, backwards); backwards = !backwards) {}
    }
}

}  // namespace emulate
}  // namespace g16
