// What tests ask of a driver that fails as they want: driver.cc and faulty.cc are such ones, each the only one of its library.
#ifndef G16_EMULATE_HOOKS_H
#define G16_EMULATE_HOOKS_H

#include <map>
#include <mutex>
#include <string>
#include <utility>

/// Fails calls: the `after`-th from now whose name is `name`, or any if that is empty, and as many as `times`.
struct Fault {
    std::string name;
    long after = -1, times = 0;
    int result = 0;
    bool loses = false;
};

struct Device {
    /// Its memory, what of it was allocated through this driver, and what another program takes.
    size_t bytes = 0, used = 0, hogged = 0;
    /// What every call answers from now on.
    int lost = 0;
};

struct Hooks {
    std::mutex lock;
    std::map<int, Device> devices;
    /// Host memory that was locked, with the context that did.
    std::map<void*, void*> registered;
    Fault fault;
    long calls = 0;
    /// Flips a bit of what the next download gives, if it is long enough.
    long flip = -1;

    /// What a call in a context on `device`, or in none (-1), answers before it does anything; counts it. Under the lock.
    int enter(const char* name, int device) {
        calls++;
        if (device >= 0 && devices[device].lost != 0) return devices[device].lost;
        if (fault.after < 0 || (!fault.name.empty() && fault.name != name)) return 0;
        if (fault.after > 0) {
            fault.after--;
            return 0;
        }
        if (--fault.times <= 0) fault.after = -1;
        if (fault.loses && device >= 0) devices[device].lost = fault.result;
        return fault.result;
    }

    /// The bit that a download of so many bytes flips, or -1. Under the lock.
    long flipped(size_t bytes) {
        if (flip < 0 || (size_t)flip / 8 >= bytes) return -1;
        return std::exchange(flip, -1);
    }
};

/// The driver's own.
Hooks& hooks();

extern "C" {

/// Tests call these. The call named `name`, or any, fails `times` times after `after` successful ones; with `loses` the
/// device whose context it is in answers so for ever.
void g16_driver_fail(const char* name, long after, long times, int result, int loses) {
    std::lock_guard<std::mutex> guard(hooks().lock);
    hooks().fault = {name, after, times, result, loses != 0};
}

/// Nothing fails any more, and lost devices are back.
void g16_driver_mend(void) {
    std::lock_guard<std::mutex> guard(hooks().lock);
    hooks().fault = Fault();
    for (auto& [index, device] : hooks().devices) device.lost = 0;
}

/// How many calls there were.
long g16_driver_calls(void) {
    std::lock_guard<std::mutex> guard(hooks().lock);
    return hooks().calls;
}

/// Another program takes so much of a device's memory, in all, or gives it back.
void g16_driver_hog(int device, size_t bytes, int give_back) {
    std::lock_guard<std::mutex> guard(hooks().lock);
    if (give_back) hooks().devices[device].hogged -= bytes;
    else hooks().devices[device].hogged += bytes;
}

/// Memory of a device that is in use, in bytes.
size_t g16_driver_used(int device) {
    std::lock_guard<std::mutex> guard(hooks().lock);
    return hooks().devices[device].used;
}

/// How many pieces of host memory are locked.
size_t g16_driver_registered(void) {
    std::lock_guard<std::mutex> guard(hooks().lock);
    return hooks().registered.size();
}

/// Flips this bit of what the next long enough download gives; of byte bit / 8, from its lowest.
void g16_driver_flip(long bit) {
    std::lock_guard<std::mutex> guard(hooks().lock);
    hooks().flip = bit;
}

}  // extern "C"

#endif
