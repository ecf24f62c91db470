/// @file groth16.hpp
/// C++17 over groth16.h: header only, RAII, move only.
///
///     groth16::engine engine = groth16::engine::create();
///     groth16::circuit circuit = engine.load_circuit("circuit.r1cs");
///     groth16::proving_key key = engine.load_key("key.params", &circuit);
///     groth16::job job = engine.start(key, options);    // returns at once
///     groth16::bytes proof = job.proof();               // waits for it
///
/// What groth16.h says of threads, ownership and callbacks holds here too; this file tells what C++ adds.
///
/// @par Errors
/// A function whose type is `outcome<T>` returns T and throws groth16::error. With GROTH16_NO_EXCEPTIONS defined, or where
/// exceptions are switched off (-fno-exceptions), it returns `result<T>` instead, which holds a T or an error. Both kinds,
/// and both kinds of span, live in inline namespaces of their own, so that one program may be built of all of them.
///
/// @par Handles
/// engine, circuit, proving_key, buffer and job own a handle. They may be destroyed in any order. A default constructed or
/// moved-from one is empty: destroying it does nothing, and a call on it is an error with status::invalid.
///
/// @par Callbacks
/// An exception never leaves a callback towards the library: it is caught and kept, see job::callback_exception and
/// pk_options::progress. While a callback runs, calls that could wait are errors with status::invalid.
#ifndef GROTH16_HPP
#define GROTH16_HPP

#include <groth16.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#if __cplusplus >= 202002L && __has_include(<span>)
#include <span>
#endif

// Whether errors are thrown, which name that and the kind of span give the inline namespace.
#if defined(GROTH16_NO_EXCEPTIONS) || !defined(__cpp_exceptions)
#define GROTH16_HPP_THROWS 0
#define GROTH16_HPP_ERRORS results
#else
#define GROTH16_HPP_THROWS 1
#define GROTH16_HPP_ERRORS throws
#endif
#if defined(__cpp_lib_span)
#define GROTH16_HPP_SPAN std
#else
#define GROTH16_HPP_SPAN own
#endif
#define GROTH16_HPP_JOIN_(major, minor, errors, span) v##major##_##minor##_##errors##_##span
#define GROTH16_HPP_JOIN(major, minor, errors, span) GROTH16_HPP_JOIN_(major, minor, errors, span)
#define GROTH16_HPP_NAMESPACE GROTH16_HPP_JOIN(GROTH16_ABI_MAJOR, GROTH16_ABI_MINOR, GROTH16_HPP_ERRORS, GROTH16_HPP_SPAN)

namespace groth16 {
inline namespace GROTH16_HPP_NAMESPACE {

// ---- constants ----

/// Status of a call or a job; negative numbers that have no name here are errors, too.
enum class status : std::int32_t {
  ok = GROTH16_OK,
  invalid = GROTH16_E_INVALID,
  unsupported = GROTH16_E_UNSUPPORTED,
  no_memory = GROTH16_E_NO_MEMORY,
  device_memory = GROTH16_E_DEVICE_MEMORY,
  no_device = GROTH16_E_NO_DEVICE,
  device = GROTH16_E_DEVICE,
  io = GROTH16_E_IO,
  format = GROTH16_E_FORMAT,
  unsatisfied = GROTH16_E_UNSATISFIED,
  self_check = GROTH16_E_SELF_CHECK,
  queue_full = GROTH16_E_QUEUE_FULL,
  timeout = GROTH16_E_TIMEOUT,
  too_small = GROTH16_E_TOO_SMALL,
  cancelled = GROTH16_E_CANCELLED,
  shutdown = GROTH16_E_SHUTDOWN,
  forked = GROTH16_E_FORKED,
  internal = GROTH16_E_INTERNAL,
};

/// Where a job is; from done on, terminal.
enum class state : std::int32_t {
  queued = GROTH16_QUEUED,
  preparing = GROTH16_PREPARING,
  on_device = GROTH16_ON_DEVICE,
  finishing = GROTH16_FINISHING,
  done = GROTH16_DONE,
  failed = GROTH16_FAILED,
  cancelled = GROTH16_CANCELLED,
};

/// What a job tells; numbers that have no name here are to be ignored.
enum class event : std::int32_t {
  abc_released = GROTH16_EVENT_ABC_RELEASED,
  terminal = GROTH16_EVENT_TERMINAL,
};

enum class backend : std::uint32_t {
  automatic = GROTH16_BACKEND_AUTO,
  gpu = GROTH16_BACKEND_GPU,
  cpu = GROTH16_BACKEND_CPU,
};

enum class g2_placement : std::uint32_t {
  automatic = GROTH16_G2_AUTO,
  cpu = GROTH16_G2_CPU,
  device = GROTH16_G2_DEVICE,
};

enum class log_level : std::int32_t {
  error = GROTH16_LOG_ERROR,
  warn = GROTH16_LOG_WARN,
  info = GROTH16_LOG_INFO,
  debug = GROTH16_LOG_DEBUG,
  trace = GROTH16_LOG_TRACE,
};

enum class key_format : std::int32_t {
  automatic = GROTH16_FORMAT_AUTO,
  bellman = GROTH16_FORMAT_BELLMAN,
  zkey = GROTH16_FORMAT_ZKEY,
  gnark = GROTH16_FORMAT_GNARK,
  arkworks = GROTH16_FORMAT_ARKWORKS,
};

enum class point_checks : std::int32_t {
  subgroup = GROTH16_CHECK_SUBGROUP,
  on_curve = GROTH16_CHECK_ON_CURVE,
  nothing = GROTH16_CHECK_NOTHING,
};

enum class scalar_form : std::int32_t {
  canonical = GROTH16_SCALARS_CANONICAL,
  montgomery = GROTH16_SCALARS_MONTGOMERY,
};

enum class proof_format : std::int32_t {
  compressed = GROTH16_PROOF_COMPRESSED,
  uncompressed = GROTH16_PROOF_UNCOMPRESSED,
  json = GROTH16_PROOF_JSON,
};

/// The name in C, such as "GROTH16_E_FORMAT"; also for numbers that are no status.
inline std::string_view name(status s) noexcept { return groth16_status_name(static_cast<groth16_status>(s)); }

// ---- views ----

#if defined(__cpp_lib_span)
template <class T>
using span = std::span<T>;
#else
/// As much of std::span as is needed here.
template <class T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;
  constexpr span() noexcept = default;
  constexpr span(T* data, std::size_t size) noexcept : data_(data), size_(size) {}
  template <std::size_t N>
  constexpr span(T (&array)[N]) noexcept : data_(array), size_(N) {}
  template <class C, class = std::enable_if_t<std::is_convertible_v<
                         std::remove_pointer_t<decltype(std::declval<C&>().data())> (*)[], T (*)[]>>>
  constexpr span(C&& container) noexcept : data_(container.data()), size_(container.size()) {}
  constexpr T* data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T* begin() const noexcept { return data_; }
  constexpr T* end() const noexcept { return data_ + size_; }
  constexpr T& operator[](std::size_t i) const noexcept { return data_[i]; }
  constexpr span first(std::size_t count) const noexcept { return {data_, count}; }
  constexpr span subspan(std::size_t from) const noexcept { return {data_ + from, size_ - from}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};
#endif

/// What this library gives out: proofs, verifying keys.
using bytes = std::vector<std::uint8_t>;

/// Borrowed scalars of 32 bytes each, little-endian: any contiguous container of bytes, or of types of 32 bytes.
class scalars {
 public:
  constexpr scalars() noexcept = default;
  constexpr scalars(const void* data, std::size_t count) noexcept : data_(data), count_(count) {}
  template <class C, class E = std::remove_pointer_t<decltype(std::declval<const C&>().data())>>
  constexpr scalars(const C& container) noexcept
      : data_(container.data()),
        count_(sizeof(E) == 32 ? container.size() : container.size() / 32),
        whole_(sizeof(E) == 32 || container.size() % 32 == 0) {
    static_assert(sizeof(E) == 1 || sizeof(E) == 32, "scalars are 32 bytes each");
    static_assert(std::is_trivially_copyable_v<E>, "scalars are read as bytes");
  }
  constexpr const void* data() const noexcept { return data_; }
  /// In scalars, not in bytes.
  constexpr std::size_t count() const noexcept { return count_; }
  /// False if it was made from bytes whose number is no multiple of 32: such scalars are refused.
  constexpr bool whole() const noexcept { return whole_; }
  /// The first ones; all if there are fewer.
  constexpr scalars first(std::size_t count) const noexcept { return {data_, count < count_ ? count : count_, whole_}; }
  /// Those that first(count) leaves.
  scalars after(std::size_t count) const noexcept {
    if (count >= count_) return {nullptr, 0, whole_};
    return {static_cast<const unsigned char*>(data_) + 32 * count, count_ - count, whole_};
  }

 private:
  constexpr scalars(const void* data, std::size_t count, bool whole) noexcept : data_(data), count_(count), whole_(whole) {}
  const void* data_ = nullptr;
  std::size_t count_ = 0;
  bool whole_ = true;
};

// ---- errors ----

/// Why a call failed: what() is the library's message.
class error : public std::runtime_error {
 public:
  error(status code, const std::string& message) : std::runtime_error(message), code_(code) {}
  status code() const noexcept { return code_; }

 private:
  status code_;
};

/// A T or an error. Asking for the one that is not there ends the program.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  result(groth16::error why) : content_(std::in_place_index<1>, std::move(why)) {}
  bool has_value() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  T& value() & noexcept { return *check(std::get_if<0>(&content_)); }
  const T& value() const& noexcept { return *check(std::get_if<0>(&content_)); }
  T&& value() && noexcept { return std::move(*check(std::get_if<0>(&content_))); }
  T& operator*() & noexcept { return value(); }
  const T& operator*() const& noexcept { return value(); }
  T&& operator*() && noexcept { return std::move(*this).value(); }
  T* operator->() noexcept { return &value(); }
  const T* operator->() const noexcept { return &value(); }
  const groth16::error& error() const noexcept { return *check(std::get_if<1>(&content_)); }

 private:
  template <class U>
  static U* check(U* content) noexcept {
    if (content == nullptr) std::terminate();
    return content;
  }
  std::variant<T, groth16::error> content_;
};

template <>
class [[nodiscard]] result<void> : public result<std::monostate> {
 public:
  result() : result<std::monostate>(std::monostate{}) {}
  result(groth16::error why) : result<std::monostate>(std::move(why)) {}
};

#if GROTH16_HPP_THROWS
/// T, or groth16::error is thrown.
template <class T>
using outcome = T;
#else
/// T or groth16::error.
template <class T>
using outcome = result<T>;
#endif

namespace detail {

/// The text of this thread's last failed call.
inline std::string last_error() {
  std::string text(groth16_last_error(nullptr, 0), '\0');
  groth16_last_error(text.data(), text.size() + 1);  // its NUL takes the place of the string's own
  return text;
}

/// The one place where an error is thrown or returned.
template <class T>
outcome<T> fail(status code, const std::string& message) {
#if GROTH16_HPP_THROWS
  throw error(code, message);
#else
  return error(code, message);
#endif
}

/// What make() gives if the call went well.
template <class T, class Make>
outcome<T> finish(groth16_status code, Make make) {
  if (code != GROTH16_OK) return fail<T>(static_cast<status>(code), last_error());
  return make();
}

inline outcome<void> finish(groth16_status code) {
  return finish<void>(code, [] { return outcome<void>(); });
}

/// Fills an out-struct of C by call(&info).
template <class Info, class Call>
outcome<Info> fill(Call call) {
  Info info;
  GROTH16_INIT(&info);
  const groth16_status code = call(&info);
  return finish<Info>(code, [&] { return info; });
}

/// All that call(data, capacity, &length) writes, however long it is.
template <class Container, class Call>
outcome<Container> read_all(std::size_t capacity, Call call) {
  Container out;
  groth16_status code = GROTH16_E_TOO_SMALL;
  while (code == GROTH16_E_TOO_SMALL) {
    out.resize(capacity);
    code = call(out.data(), out.size(), &capacity);
  }
  return finish<Container>(code, [&] {
    out.resize(capacity);
    return std::move(out);
  });
}

/// How many callbacks of this file are running on this thread.
inline int& callback_depth() noexcept {
  thread_local int depth = 0;
  return depth;
}

/// Runs functions of the user and keeps the first exception that one of them throws.
class catcher {
 public:
  /// Whether it returned.
  template <class Function>
  bool run(Function function) noexcept {
    ++callback_depth();
    const bool returned = attempt(function);
    --callback_depth();
    return returned;
  }
  std::exception_ptr exception() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return exception_;
  }

 private:
  template <class Function>
  bool attempt(Function& function) noexcept {
#if defined(__cpp_exceptions)
    try {
      function();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!exception_) exception_ = std::current_exception();
      return false;
    }
#else
    function();
#endif
    return true;
  }
  mutable std::mutex mutex_;
  std::exception_ptr exception_;
};

/// A handle and the function that frees it.
template <class T, void (*Free)(T*)>
class handle {
 public:
  handle() noexcept = default;
  explicit handle(T* raw) noexcept : raw_(raw) {}
  /// The handle of C, which stays owned here; nullptr if empty.
  T* get() const noexcept { return raw_.get(); }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

 private:
  struct deleter {
    void operator()(T* raw) const noexcept { Free(raw); }
  };
  std::unique_ptr<T, deleter> raw_;
};

}  // namespace detail

// ---- the library ----

/// The version of the library that is loaded, such as "0.1.0".
inline std::string_view version() noexcept { return groth16_version(); }

/// Whether the library that is loaded has all that this header knows: the same ABI major, and no older minor.
inline outcome<void> check_version() {
  const std::uint32_t got = groth16_abi_version();
  if (got >> 16 == GROTH16_ABI_MAJOR && (got & 0xffff) >= GROTH16_ABI_MINOR + 0U) return outcome<void>();
  return detail::fail<void>(status::unsupported, "groth16.hpp is of ABI " + std::to_string(GROTH16_ABI_MAJOR) + "." +
                                                     std::to_string(GROTH16_ABI_MINOR) + ", the library of " +
                                                     std::to_string(got >> 16) + "." + std::to_string(got & 0xffff));
}

/// The structs of C that the library fills; groth16.h tells of their fields.
using device_info = ::groth16_device_info;
using engine_info = ::groth16_engine_info;
using circuit_info = ::groth16_circuit_info;
using pk_info = ::groth16_pk_info;

/// How many GPUs the library can use.
inline outcome<std::size_t> device_count() {
  std::size_t count = 0;
  const groth16_status code = groth16_device_count(&count);
  return detail::finish<std::size_t>(code, [&] { return count; });
}

/// One of them; index is below their count.
inline outcome<device_info> device(std::size_t index) {
  return detail::fill<device_info>([&](device_info* info) { return groth16_device_get(index, info); });
}

// ---- options: every default is the library's ----
// Each member has an initializer, so that compilers do not warn of those that designated initializers leave out.

struct engine_options {
  std::vector<std::string> device_uuids{};  ///< empty: all devices; with none, the CPU
  groth16::backend backend = groth16::backend::automatic;
  std::uint32_t jobs_per_device = 0;
  std::uint32_t cpu_threads = 0;
  groth16::g2_placement g2_placement = groth16::g2_placement::automatic;
  std::uint64_t max_queued_jobs = 0;
  std::uint64_t host_bytes_limit = 0;
  std::uint64_t pinned_bytes_limit = 0;
  std::uint64_t device_bytes_limit = 0;
  /// Called on library threads, perhaps several at once; lives as long as the engine. What it throws is lost.
  std::function<void(groth16::log_level, std::string_view)> log{};
  groth16::log_level log_level = groth16::log_level::info;
};

/// Compressed rows; the lengths of columns and of values (32 bytes each, canonical) are the last of row_starts.
struct matrix {
  span<const std::uint64_t> row_starts{};
  span<const std::uint32_t> columns{};
  scalars values{};
};

/// One of path, data and matrices.
struct circuit_options {
  std::string path{};
  span<const std::uint8_t> data{};
  matrix a{}, b{}, c{};
  std::uint64_t num_rows = 0;
  std::uint64_t num_inputs = 0;  ///< the constant one included
  std::uint64_t num_aux = 0;
};

/// Bit i is (words[i / 64] >> (i % 64)) & 1.
struct bits {
  span<const std::uint64_t> words{};
  std::size_t count = 0;
};

class circuit;

/// One of path and data.
struct pk_options {
  std::string path{};
  span<const std::uint8_t> data{};
  const groth16::circuit* circuit = nullptr;  ///< gives the densities that bellman files lack, or ...
  bits a_aux{}, b_inputs{}, b_aux{};          ///< ... the densities themselves
  key_format format = key_format::automatic;
  groth16::point_checks point_checks = groth16::point_checks::subgroup;
  span<const std::uint8_t> blake2b{};  ///< 64 bytes: the file's digest, or empty
  /// Bytes done of total, from a library thread; false stops the work with status::cancelled. What it throws stops it too,
  /// and load_key throws that again.
  std::function<bool(std::uint64_t done, std::uint64_t total)> progress{};
  /// For a key of gnark, which lacks it: the verifying key that gnark wrote, in a file or as bytes. Without it proofs cannot be
  /// verified, and jobs must say skip_self_check.
  std::string vk_path{};
  span<const std::uint8_t> vk_data{};
};

class job_ref;

/// What a job proves. The scalars are borrowed until the job is terminal (or, for a, b and c, event::abc_released).
struct job_options {
  const groth16::circuit* circuit = nullptr;  ///< with it a, b, c stay empty
  scalars a{}, b{}, c{};
  scalars inputs{};                           ///< the first is one
  scalars aux{};
  span<const std::uint8_t> r{}, s{};  ///< 32 bytes each, canonical, copied; empty: the system's random numbers
  groth16::scalar_form scalar_form = groth16::scalar_form::canonical;
  std::int32_t priority = 0;
  groth16::proof_format proof_format = groth16::proof_format::compressed;
  bool skip_self_check = false;
  /// Called on a library thread, perhaps before start has returned; kept until event::terminal. At that event it may take
  /// the proof, and destroy the job. What it throws is kept: see job::callback_exception.
  std::function<void(const job_ref&, event)> on_event{};
  /// What owns the scalars, if anything does: kept until event::terminal.
  std::shared_ptr<const void> keep_alive{};
};

// ---- circuits, keys, buffers ----

/// R1CS matrices: immutable, shareable.
class circuit : public detail::handle<groth16_circuit, groth16_circuit_free> {
 public:
  using handle::handle;
  outcome<circuit_info> info() const {
    return detail::fill<circuit_info>([&](circuit_info* out) { return groth16_circuit_get_info(get(), out); });
  }
};

/// A proving key: immutable, shareable.
class proving_key : public detail::handle<groth16_pk, groth16_pk_free> {
 public:
  using handle::handle;
  outcome<pk_info> info() const {
    return detail::fill<pk_info>([&](pk_info* out) { return groth16_pk_get_info(get(), out); });
  }
  /// The verifying key in bellman's encoding.
  outcome<bytes> verifying_key() const {
    return detail::read_all<bytes>(2048, [&](void* data, std::size_t capacity, std::size_t* length) {
      return groth16_pk_get_vk(get(), data, capacity, length);
    });
  }
  /// Whether the proof holds for canonical inputs, of which the first is one; bytes that are no proof are an error.
  outcome<bool> verify(scalars inputs, span<const std::uint8_t> proof) const {
    if (!inputs.whole()) return detail::fail<bool>(status::invalid, "inputs: the bytes are no whole number of scalars");
    std::int32_t valid = 0;
    const groth16_status code = groth16_verify(get(), {inputs.data(), inputs.count()}, proof.data(), proof.size(), &valid);
    return detail::finish<bool>(code, [&] { return valid == 1; });
  }
};

/// Host memory, zeroed, that GPUs read directly: page-locked where the engine has any, so it is dear to make and worth
/// keeping. A job whose scalars lie in one keeps it alive.
class buffer : public detail::handle<groth16_buffer, groth16_buffer_free> {
 public:
  buffer() noexcept = default;
  buffer(groth16_buffer* raw, std::size_t size) noexcept : handle(raw), size_(size) {}
  /// All of its bytes; none of an empty one.
  span<std::uint8_t> data() const noexcept {
    auto* const first = static_cast<std::uint8_t*>(groth16_buffer_data(get()));
    return {first, first == nullptr ? 0 : size_};
  }
  std::size_t size() const noexcept { return data().size(); }

 private:
  std::size_t size_ = 0;
};

// ---- jobs ----

/// Where a job is. Times of a phase that has not ended count up to now.
struct progress {
  groth16::state state = groth16::state::queued;
  status result = status::ok;  ///< ok until the job has failed
  std::int64_t device = -1;    ///< index, or -1 for the CPU or before one was chosen
  bool abc_released = false;
  std::uint32_t retries = 0;
  std::chrono::nanoseconds queued{}, prepare{}, on_device{}, finish{};
  bool terminal() const noexcept { return state >= groth16::state::done; }
};

/// A job that something else owns: what a callback gets.
class job_ref {
 public:
  job_ref() noexcept = default;
  explicit job_ref(groth16_job* raw) noexcept : raw_(raw) {}
  groth16_job* get() const noexcept { return raw_; }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

  /// Where it is; never waits.
  outcome<groth16::progress> poll() const {
    groth16_progress now;
    GROTH16_INIT(&now);
    const groth16_status code = groth16_poll(raw_, &now);
    return detail::finish<groth16::progress>(code, [&] {
      const auto time = [](std::uint64_t ns) { return std::chrono::nanoseconds(static_cast<std::int64_t>(ns)); };
      groth16::progress out;
      out.state = static_cast<groth16::state>(now.state);
      out.result = static_cast<status>(now.result);
      out.device = now.device;
      out.abc_released = now.abc_released != 0;
      out.retries = now.retries;
      out.queued = time(now.queued_ns);
      out.prepare = time(now.prepare_ns);
      out.on_device = time(now.device_ns);
      out.finish = time(now.finish_ns);
      return out;
    });
  }

  /// Waits until it is terminal, whatever its result.
  outcome<void> wait() const { return detail::finish(groth16_wait(raw_, -1)); }

  /// The same, no longer than that; whether it is terminal. Durations below zero only look.
  template <class Rep, class Period>
  outcome<bool> wait_for(std::chrono::duration<Rep, Period> limit) const {
    const groth16_status code = groth16_wait(raw_, whole_nanoseconds(limit));
    if (code == GROTH16_E_TIMEOUT) return false;
    return detail::finish<bool>(code, [] { return true; });
  }

  /// Waits until it is terminal, then gives the proof, or the error of the job; may be repeated.
  outcome<bytes> proof() const {
    return detail::read_all<bytes>(384, [&](void* data, std::size_t capacity, std::size_t* length) {
      return groth16_finalize(raw_, data, capacity, length);
    });
  }

  /// Asks: the job becomes terminal soon, perhaps still with a proof.
  void cancel() const noexcept { groth16_cancel(raw_); }

 protected:
  groth16_job* raw_ = nullptr;

 private:
  /// Rounded up, and no more than there is: in C a number below zero would wait for ever.
  template <class Rep, class Period>
  static std::int64_t whole_nanoseconds(std::chrono::duration<Rep, Period> limit) {
    using floating = std::chrono::duration<long double, std::nano>;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    const long double wanted = floating(limit).count();
    if (!(wanted > 0)) return 0;
    if (wanted >= static_cast<long double>(most)) return most;
    const auto down = static_cast<std::int64_t>(wanted);
    return static_cast<long double>(down) < wanted ? down + 1 : down;
  }
};

namespace detail {

/// What a job calls back and keeps. It owns itself from the start of the job to its terminal event, since a job that is
/// freed in the callback of another one ends later.
struct job_callbacks {
  std::function<void(const job_ref&, event)> on_event;
  std::shared_ptr<const void> keep_alive;
  catcher caught;
  std::shared_ptr<job_callbacks> self;

  static void call(void* user, groth16_job* raw, groth16_event what) {
    auto* const state = static_cast<job_callbacks*>(user);
    const bool last = what == GROTH16_EVENT_TERMINAL;
    // The user's function may destroy the job, but not what is running.
    const std::shared_ptr<job_callbacks> alive = last ? std::move(state->self) : nullptr;
    if (state->on_event) state->caught.run([&] { state->on_event(job_ref(raw), static_cast<event>(what)); });
    if (last) {
      state->caught.run([&] {
        state->on_event = nullptr;
        state->keep_alive.reset();
      });
    }
  }
};

}  // namespace detail

/// One proof. The destructor cancels it if need be, and returns only when the library is done with its scalars and its
/// callback (except in a callback, where it never waits: there the scalars must live on, see job_options::keep_alive).
class job : public job_ref {
 public:
  job() noexcept = default;
  job(job&& other) noexcept
      : job_ref(std::exchange(other.raw_, nullptr)), callbacks_(std::move(other.callbacks_)) {}
  job& operator=(job&& other) noexcept {
    job taken(std::move(other));
    std::swap(raw_, taken.raw_);
    std::swap(callbacks_, taken.callbacks_);
    return *this;
  }
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  ~job() { groth16_free(raw_); }

  /// The first exception that on_event threw, or null. Settled once the callback of event::terminal has returned, which
  /// may be a moment after wait() has.
  std::exception_ptr callback_exception() const { return callbacks_ ? callbacks_->caught.exception() : nullptr; }

 private:
  friend class engine;
  job(groth16_job* raw, std::shared_ptr<detail::job_callbacks> callbacks) noexcept
      : job_ref(raw), callbacks_(std::move(callbacks)) {}
  std::shared_ptr<detail::job_callbacks> callbacks_;
};

// ---- engines ----

/// Devices, worker threads, queue. The destructor ends the jobs that are on a device, fails the rest with status::shutdown
/// and joins all threads; jobs, keys and circuits may outlive it. Not to be destroyed in a callback: there it stays.
class engine {
 public:
  engine() noexcept = default;

  static outcome<engine> create(const engine_options& options = {}) {
    std::vector<const char*> uuids;
    for (const std::string& uuid : options.device_uuids) uuids.push_back(uuid.c_str());
    groth16_engine_options c;
    GROTH16_INIT(&c);
    c.device_uuids = uuids.data();
    c.num_device_uuids = uuids.size();
    c.backend = static_cast<std::uint32_t>(options.backend);
    c.jobs_per_device = options.jobs_per_device;
    c.cpu_threads = options.cpu_threads;
    c.g2_placement = static_cast<std::uint32_t>(options.g2_placement);
    c.max_queued_jobs = options.max_queued_jobs;
    c.host_bytes_limit = options.host_bytes_limit;
    c.pinned_bytes_limit = options.pinned_bytes_limit;
    c.device_bytes_limit = options.device_bytes_limit;
    c.log_level = static_cast<std::int32_t>(options.log_level);
    std::unique_ptr<log_function> log;
    if (options.log) {
      log = std::make_unique<log_function>(options.log);
      c.log = call_log;
      c.log_user = log.get();
    }
    groth16_engine* raw = nullptr;
    const groth16_status code = groth16_engine_create(&c, &raw);
    return detail::finish<engine>(code, [&] { return engine(raw, std::move(log)); });
  }

  groth16_engine* get() const noexcept { return raw_.get(); }
  explicit operator bool() const noexcept { return raw_ != nullptr; }

  outcome<engine_info> info() const {
    return detail::fill<engine_info>([&](engine_info* out) { return groth16_engine_get_info(get(), out); });
  }
  /// Prometheus text.
  outcome<std::string> metrics() const {
    return detail::read_all<std::string>(16384, [&](char* data, std::size_t capacity, std::size_t* length) {
      return groth16_engine_metrics(get(), data, capacity, length);
    });
  }
  /// Writes the timeline of what ran where, as a Chrome trace (JSON) that Perfetto opens.
  outcome<void> trace(const std::string& path) const {
    return detail::finish(groth16_engine_trace(get(), path.c_str()));
  }
  /// How many memory-hungry CPU phases run now.
  std::uint32_t memory_pressure() const noexcept { return groth16_engine_memory_pressure(get()); }

  outcome<circuit> load_circuit(const circuit_options& options) {
    for (const matrix* m : {&options.a, &options.b, &options.c}) {
      if (!complete(*m, options.num_rows)) {
        return detail::fail<circuit>(status::invalid, "a matrix's row_starts, columns and values do not fit together");
      }
    }
    groth16_circuit_options c;
    GROTH16_INIT(&c);
    c.path = path_or_null(options.path);
    c.data = options.data.data();
    c.data_len = options.data.size();
    c.a = to_c(options.a);
    c.b = to_c(options.b);
    c.c = to_c(options.c);
    c.num_rows = options.num_rows;
    c.num_inputs = options.num_inputs;
    c.num_aux = options.num_aux;
    groth16_circuit* raw = nullptr;
    const groth16_status code = groth16_circuit_load(get(), &c, &raw);
    return detail::finish<circuit>(code, [&] { return circuit(raw); });
  }
  /// From an iden3 .r1cs file; Path is anything that becomes a std::string. (A template, so that {...} means options.)
  template <class Path, class = std::enable_if_t<std::is_convertible_v<const Path&, std::string>>>
  outcome<circuit> load_circuit(const Path& path) {
    circuit_options options;
    options.path = path;
    return load_circuit(options);
  }

  outcome<proving_key> load_key(const pk_options& options) {
    if (!options.blake2b.empty() && options.blake2b.size() != 64) {
      return detail::fail<proving_key>(status::invalid, "blake2b: a digest has 64 bytes");
    }
    for (const bits* b : {&options.a_aux, &options.b_inputs, &options.b_aux}) {
      if (b->count / 64 + (b->count % 64 != 0) > b->words.size()) {
        return detail::fail<proving_key>(status::invalid, "densities: fewer words than count asks for");
      }
    }
    groth16_pk_options c;
    GROTH16_INIT(&c);
    c.path = path_or_null(options.path);
    c.data = options.data.data();
    c.data_len = options.data.size();
    c.circuit = options.circuit == nullptr ? nullptr : options.circuit->get();
    c.a_aux = {options.a_aux.words.data(), options.a_aux.count};
    c.b_inputs = {options.b_inputs.words.data(), options.b_inputs.count};
    c.b_aux = {options.b_aux.words.data(), options.b_aux.count};
    c.format = static_cast<std::int32_t>(options.format);
    c.point_checks = static_cast<std::int32_t>(options.point_checks);
    c.blake2b = options.blake2b.empty() ? nullptr : options.blake2b.data();
    c.vk_path = path_or_null(options.vk_path);
    c.vk_data = options.vk_data.data();
    c.vk_data_len = options.vk_data.size();
    loading load{options.progress, {}};
    if (options.progress) {
      c.progress = call_progress;
      c.progress_user = &load;
    }
    groth16_pk* raw = nullptr;
    const groth16_status code = groth16_pk_load(get(), &c, &raw);
    proving_key key(raw);
#if GROTH16_HPP_THROWS
    if (const std::exception_ptr thrown = load.caught.exception()) std::rethrow_exception(thrown);
#endif
    return detail::finish<proving_key>(code, [&] { return std::move(key); });
  }
  /// From a file; a circuit gives the densities that bellman files lack.
  template <class Path, class = std::enable_if_t<std::is_convertible_v<const Path&, std::string>>>
  outcome<proving_key> load_key(const Path& path, const circuit* densities = nullptr) {
    pk_options options;
    options.path = path;
    options.circuit = densities;
    return load_key(options);
  }

  outcome<buffer> allocate(std::size_t size) {
    groth16_buffer* raw = nullptr;
    const groth16_status code = groth16_buffer_alloc(get(), size, &raw);
    return detail::finish<buffer>(code, [&] { return buffer(raw, size); });
  }

  /// Checks sizes and queues a job; never waits for a device.
  outcome<job> start(const proving_key& key, job_options options) {
    for (const scalars* s : {&options.a, &options.b, &options.c, &options.inputs, &options.aux}) {
      if (!s->whole()) return detail::fail<job>(status::invalid, "the bytes of scalars are no multiple of 32");
    }
    for (const span<const std::uint8_t>* s : {&options.r, &options.s}) {
      if (!s->empty() && s->size() != 32) return detail::fail<job>(status::invalid, "r and s have 32 bytes each");
    }
    groth16_job_options c;
    GROTH16_INIT(&c);
    c.circuit = options.circuit == nullptr ? nullptr : options.circuit->get();
    c.a = {options.a.data(), options.a.count()};
    c.b = {options.b.data(), options.b.count()};
    c.c = {options.c.data(), options.c.count()};
    c.inputs = {options.inputs.data(), options.inputs.count()};
    c.aux = {options.aux.data(), options.aux.count()};
    c.r = options.r.empty() ? nullptr : options.r.data();
    c.s = options.s.empty() ? nullptr : options.s.data();
    c.scalar_form = static_cast<std::int32_t>(options.scalar_form);
    c.priority = options.priority;
    c.proof_format = static_cast<std::int32_t>(options.proof_format);
    c.skip_self_check = options.skip_self_check ? 1 : 0;
    std::shared_ptr<detail::job_callbacks> callbacks;
    if (options.on_event || options.keep_alive) {
      callbacks = std::make_shared<detail::job_callbacks>();
      callbacks->on_event = std::move(options.on_event);
      callbacks->keep_alive = std::move(options.keep_alive);
      callbacks->self = callbacks;
      c.event = detail::job_callbacks::call;
      c.event_user = callbacks.get();
    }
    groth16_job* raw = nullptr;
    const groth16_status code = groth16_start(get(), key.get(), &c, &raw);
    if (code != GROTH16_OK && callbacks) callbacks->self.reset();  // a job that was refused has no event
    return detail::finish<job>(code, [&] { return job(raw, std::move(callbacks)); });
  }

 private:
  using log_function = std::function<void(log_level, std::string_view)>;
  struct deleter {
    std::unique_ptr<log_function> log;
    void operator()(groth16_engine* raw) noexcept {
      groth16_engine_free(raw);
      // In a callback that did nothing, and the engine goes on to log.
      if (detail::callback_depth() > 0) log.release();
    }
  };
  struct loading {
    const std::function<bool(std::uint64_t, std::uint64_t)>& progress;
    detail::catcher caught;
  };

  engine(groth16_engine* raw, std::unique_ptr<log_function> log) noexcept : raw_(raw, deleter{std::move(log)}) {}

  static void call_log(void* user, std::int32_t level, const char* text) {
    detail::catcher ignored;
    ignored.run([&] { (*static_cast<log_function*>(user))(static_cast<log_level>(level), text); });
  }
  static std::int32_t call_progress(void* user, std::uint64_t done, std::uint64_t total) {
    auto* const load = static_cast<loading*>(user);
    bool go_on = false;
    load->caught.run([&] { go_on = load->progress(done, total); });
    return go_on ? 0 : 1;
  }
  static const char* path_or_null(const std::string& path) noexcept { return path.empty() ? nullptr : path.c_str(); }
  static groth16_matrix to_c(const matrix& m) noexcept {
    return {m.row_starts.data(), m.columns.data(), m.values.data()};
  }
  /// C takes the lengths of a matrix's parts on trust; here they are known.
  static bool complete(const matrix& m, std::uint64_t num_rows) noexcept {
    if (m.row_starts.empty()) return m.columns.empty() && m.values.count() == 0;
    if (m.row_starts.size() - 1 != num_rows || !m.values.whole()) return false;
    const std::uint64_t terms = m.row_starts[m.row_starts.size() - 1];
    return m.columns.size() == terms && m.values.count() == terms;
  }

  std::unique_ptr<groth16_engine, deleter> raw_;
};

}  // inline namespace
}  // namespace groth16

#undef GROTH16_HPP_JOIN_
#undef GROTH16_HPP_JOIN
#undef GROTH16_HPP_NAMESPACE
#undef GROTH16_HPP_SPAN
#undef GROTH16_HPP_ERRORS

#endif  // GROTH16_HPP
