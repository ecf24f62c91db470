// Memory and launches, either of a GPU (CUDA runtime) or of the emulator, for the tests and the bench. Any failure ends
// the process with its place.
#ifndef G16_TESTS_DEVICE_H
#define G16_TESTS_DEVICE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utility>
#include <vector>

#include "../kernel/kernels.h"
#include "../kernel/plan.h"

namespace g16 {

[[noreturn]] inline void stop(const char* what, const char* why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(2);
}

#ifdef __CUDACC__
inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) stop(what, cudaGetErrorString(status));
}
#endif

/// Device memory for `count` values of T; new memory holds a pattern that is no reduced element.
template <class T>
class Memory {
  public:
    explicit Memory(size_t count = 0) : count_(count) {
        if (count == 0) return;
#ifdef __CUDACC__
        check(cudaMalloc(&data_, bytes()), "cudaMalloc");
        // A checker of uninitialised memory must see it as it is.
        if (getenv("G16_RAW_MEMORY") == nullptr) check(cudaMemset(data_, 0xcc, bytes()), "cudaMemset");
#else
        data_ = static_cast<T*>(aligned_alloc(16, (bytes() + 15) / 16 * 16));
        memset((void*)data_, 0xcc, bytes());
#endif
    }
    explicit Memory(const std::vector<T>& values) : Memory(values.size()) { write(values.data(), values.size()); }
    Memory(Memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
    Memory& operator=(Memory&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    ~Memory() {
#ifdef __CUDACC__
        cudaFree(data_);
#else
        free(data_);
#endif
    }

    T* data() const { return data_; }
    size_t size() const { return count_; }
    size_t bytes() const { return count_ * sizeof(T); }
    void write(const void* values, size_t count) {
        if (count == 0) return;
#ifdef __CUDACC__
        check(cudaMemcpy(data_, values, count * sizeof(T), cudaMemcpyHostToDevice), "copy to the device");
#else
        memcpy((void*)data_, values, count * sizeof(T));
#endif
    }
    std::vector<T> read(size_t from, size_t count) const {
        std::vector<T> out(count);
        if (count == 0) return out;
#ifdef __CUDACC__
        check(cudaMemcpy(out.data(), data_ + from, count * sizeof(T), cudaMemcpyDeviceToHost), "copy from the device");
#else
        memcpy((void*)out.data(), data_ + from, count * sizeof(T));
#endif
        return out;
    }
    std::vector<T> read() const { return read(0, count_); }
    void copy_from(const Memory& other) {
#ifdef __CUDACC__
        check(cudaMemcpy(data_, other.data_, bytes(), cudaMemcpyDeviceToDevice), "copy on the device");
#else
        memcpy((void*)data_, other.data_, bytes());
#endif
    }

  private:
    T* data_ = nullptr;
    size_t count_;
};

/// Runs a kernel whose arguments are converted to its parameters' types.
template <class... P, class... A>
void launch_shared(void (*kernel)(P...), uint32_t blocks, uint32_t threads, uint32_t shared_bytes, A... arguments) {
#ifdef __CUDACC__
    kernel<<<blocks, threads, shared_bytes>>>((P)arguments...);
    check(cudaGetLastError(), "launch");
#else
    emulate::launch(kernel, blocks, threads, shared_bytes, arguments...);
#endif
}
/// The same without dynamic shared memory.
template <class... P, class... A>
void launch(void (*kernel)(P...), uint32_t blocks, uint32_t threads, A... arguments) {
    launch_shared(kernel, blocks, threads, 0, arguments...);
}

inline void wait() {
#ifdef __CUDACC__
    check(cudaDeviceSynchronize(), "kernels");
#endif
}

/// Carries out plans over these buffers.
struct Buffers {
    Memory<Fr> *a = nullptr, *b = nullptr, *c = nullptr, *u = nullptr, *tables = nullptr;
    Memory<uint32_t>* first = nullptr;

    void* address(const Argument& argument) const {
        Memory<Fr>* elements[] = {a, b, c, u, tables};
        if (argument.buffer == Buffer::first) return first->data();
        Memory<Fr>* memory = elements[(int)argument.buffer];
        if (memory == nullptr || argument.value >= memory->size()) stop("plan", "names memory that is not there");
        return memory->data() + argument.value;
    }

    void run(const Plan& plan) const {
        for (const Launch& launch : plan) run(launch);
    }
    void run(const Launch& launch) const;
};

#ifdef __CUDACC__

inline void Buffers::run(const Launch& launch) const {
    static void* const kernels[] = {
        (void*)g16_domain, (void*)g16_root_powers, (void*)g16_shift_powers, (void*)g16_twists, (void*)g16_radix2_inverse,
        (void*)g16_radix2_forward, (void*)g16_shift, (void*)g16_inverse_pass, (void*)g16_forward_pass,
        (void*)g16_contiguous_pass, (void*)g16_product, (void*)g16_finish};
    void* kernel = kernels[(int)launch.kernel];
    std::vector<uint64_t> values;
    std::vector<void*> pointers;
    for (const Argument& argument : launch.arguments) {
        values.push_back(argument.kind == Argument::address ? (uint64_t)address(argument) : argument.value);
    }
    for (uint64_t& value : values) pointers.push_back(&value);
    if (launch.shared_bytes > 48 << 10) {
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)launch.shared_bytes), "shared");
    }
    check(cudaLaunchKernel(kernel, dim3(launch.blocks), dim3(launch.threads), pointers.data(), launch.shared_bytes, 0),
          name(launch.kernel));
}

#else

template <class T>
T convert(uint64_t value) {
    if constexpr (std::is_pointer_v<T>) return reinterpret_cast<T>(value);
    else return (T)value;
}

template <class... P, size_t... I>
void run_emulated(void (*kernel)(P...), const Launch& launch, const uint64_t* values, std::index_sequence<I...>) {
    if (launch.arguments.size() != sizeof...(P)) stop(name(launch.kernel), "wrong number of arguments");
    emulate::launch(kernel, launch.blocks, launch.threads, launch.shared_bytes, convert<P>(values[I])...);
}

inline void Buffers::run(const Launch& launch) const {
    std::vector<uint64_t> values;
    for (const Argument& argument : launch.arguments) {
        values.push_back(argument.kind == Argument::address ? (uint64_t)address(argument) : argument.value);
    }
    auto call = [&](auto kernel) {
        [&]<class... P>(void (*k)(P...)) {
            run_emulated(k, launch, values.data(), std::make_index_sequence<sizeof...(P)>());
        }(kernel);
    };
    switch (launch.kernel) {
        case Kernel::domain: return call(g16_domain);
        case Kernel::root_powers: return call(g16_root_powers);
        case Kernel::shift_powers: return call(g16_shift_powers);
        case Kernel::twists: return call(g16_twists);
        case Kernel::radix2_inverse: return call(g16_radix2_inverse);
        case Kernel::radix2_forward: return call(g16_radix2_forward);
        case Kernel::shift: return call(g16_shift);
        case Kernel::inverse_pass: return call(g16_inverse_pass);
        case Kernel::forward_pass: return call(g16_forward_pass);
        case Kernel::contiguous_pass: return call(g16_contiguous_pass);
        case Kernel::product: return call(g16_product);
        case Kernel::finish: return call(g16_finish);
    }
}

#endif

}  // namespace g16

#endif
