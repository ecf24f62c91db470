# libgroth16: `make help` lists the targets.
#
# Recipes use paths relative to this directory, so that it may have any name, spaces included. What the caller may
# set reaches the shell through the environment, for the same reason.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := library
.PHONY: help library recorder fixtures install uninstall demo demo-tools test soak bench bench-pipeline header release-abi clean \
  cuda-toolkit gpu-pack gpu-test bench-gnark bench-gpu bench-cpu cpu-pack

# Where `make install` puts things: $(DESTDIR)$(PREFIX)/include, $(DESTDIR)$(PREFIX)/$(LIBDIR), ...
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= lib
# What `make fixtures` records and `make demo` proves.
SPENDS ?= 8
OUTPUTS ?= 8
SEED ?= 1

# CUDA: yes, no, or auto: with an nvcc of CUDA 13 or newer (in the PATH, at CUDA_HOME, or fetched by `make cuda-toolkit`) the
# library serves GPUs. CUDA_ARCHS: machine code for these; fewer build faster.
CUDA ?= auto
CUDA_ARCHS ?= 80 90 100 120

CARGO ?= cargo
PKG_CONFIG ?= pkg-config
STRIP ?= strip
CARGO_TARGET_DIR := $(CURDIR)/target
export PREFIX DESTDIR LIBDIR CARGO_TARGET_DIR

# The version of the package, and of the C ABI (the .so's file name and SONAME).
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
ABI_MAJOR = $(shell sed -n 's/^.define GROTH16_ABI_MAJOR //p' include/groth16.h)
ABI_MINOR = $(shell sed -n 's/^.define GROTH16_ABI_MINOR //p' include/groth16.h)

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | \
	  while IFS=$$'\t' read -r target what; do printf '  make %-15s %s\n' "$$target" "$$what"; done

# Under sudo there is often no cargo: then what was built before is what there is.
library: ## Build the libraries, the command and its man pages (the default)
	@if ! command -v $(CARGO) >/dev/null && [ -e target/static/libgroth16.a ]; then \
	  echo "$(CARGO) is not here: taking what is built"; exit 0; \
	fi; \
	features=cli; nvcc=no; \
	if [ "$(CUDA)" != no ]; then nvcc=$$(cuda/toolkit.sh --find target/cuda/toolkit || echo no); fi; \
	if [ "$$nvcc" != no ]; then features=cli,cuda; export GROTH16_NVCC="$$nvcc" GROTH16_CUDA_ARCHS="$(CUDA_ARCHS)"; \
	elif [ "$(CUDA)" = yes ]; then echo "no nvcc of CUDA 13 or newer: \`make cuda-toolkit\` fetches one" >&2; exit 1; fi; \
	set -x; $(CARGO) build --release --locked --features $$features; { set +x; } 2>/dev/null; \
	if [ "$$nvcc" != no ]; then echo "built for CPUs and GPUs (machine code for $(CUDA_ARCHS))"; \
	else echo "built for CPUs alone: no CUDA (nvcc) is here, or CUDA=no"; fi; \
	mkdir -p target/static; \
	echo | $${RUSTC:-rustc} --crate-type staticlib --crate-name empty -o target/static/empty.a --print native-static-libs - 2>&1 | \
	  sed -n 's/^note: native-static-libs: //p' > target/static/native-libs; \
	rm target/static/empty.a; [ -s target/static/native-libs ] || { echo "rustc does not tell its native libraries" >&2; exit 1; }; \
	[ target/static/libgroth16.a -nt target/release/libgroth16.a ] || \
	  cmake/localise-static.sh target/release/libgroth16.a target/release/libgroth16.so target/static/libgroth16.a; \
	rm -rf target/man; target/release/groth16 man target/man

recorder:
	$(CARGO) build --release --locked -p recorder

fixtures: recorder ## Record keys, circuits and witnesses of real circuits into target/fixtures
	target/release/recorder record --out target/fixtures --spends $(SPENDS) --outputs $(OUTPUTS) --seed $(SEED)

install: library ## Install headers, libraries, groth16.pc, the CMake package, the command, licences (PREFIX= DESTDIR= LIBDIR=)
	@root="$$DESTDIR$$PREFIX"; lib="$$root/$$LIBDIR"; so=libgroth16.so; \
	major=$(ABI_MAJOR); real=$$so.$(ABI_MAJOR).$(ABI_MINOR).0; \
	install -d "$$root/include" "$$root/bin" "$$lib/pkgconfig" "$$lib/cmake/groth16" "$$root/share/doc/libgroth16" \
	  "$$root/share/man/man1"; \
	install -m 644 include/groth16.h include/groth16.hpp "$$root/include/"; \
	install -m 755 target/release/$$so "$$lib/$$real"; \
	install -m 755 target/release/groth16 "$$root/bin/"; \
	if command -v $(STRIP) >/dev/null; then $(STRIP) --strip-debug "$$lib/$$real" "$$root/bin/groth16"; fi; \
	ln -sf $$real "$$lib/$$so.$$major"; \
	ln -sf $$so.$$major "$$lib/$$so"; \
	install -m 644 target/static/libgroth16.a "$$lib/"; \
	install -m 644 target/man/*.1 "$$root/share/man/man1/"; \
	up=$$(sed 's:[^/][^/]*:..:g' <<<"$$LIBDIR"); \
	native=$$(cat target/static/native-libs); \
	fill() { \
	  sed -e "s:@PREFIX_FROM_LIBDIR@:$$up:" -e "s:@LIBDIR@:$$LIBDIR:" -e 's:@VERSION@:$(VERSION):' \
	    -e 's:@ABI_MAJOR@:$(ABI_MAJOR):' -e 's:@ABI_VERSION@:$(ABI_MAJOR).$(ABI_MINOR):' \
	    -e "s:@NATIVE_LIBS@:$$native:" -e "s:@NATIVE_LIBS_LIST@:$${native// /;}:" "cmake/$$2.in" > "$$1/$$2"; \
	  chmod 644 "$$1/$$2"; \
	}; \
	fill "$$lib/pkgconfig" groth16.pc; \
	fill "$$lib/cmake/groth16" groth16Config.cmake; \
	fill "$$lib/cmake/groth16" groth16ConfigVersion.cmake; \
	install -m 644 LICENSE-MIT LICENSE-APACHE "$$root/share/doc/libgroth16/"; \
	echo "installed libgroth16 $(VERSION) into $$root"

uninstall: ## Remove what install put there (the same PREFIX= DESTDIR= LIBDIR=)
	@root="$$DESTDIR$$PREFIX"; lib="$$root/$$LIBDIR"; \
	rm -f "$$root/include/groth16.h" "$$root/include/groth16.hpp" "$$root/bin/groth16" \
	  "$$lib/libgroth16.so" "$$lib/libgroth16.so.$(ABI_MAJOR)" "$$lib/libgroth16.so.$(ABI_MAJOR)".* "$$lib/libgroth16.a" \
	  "$$lib/pkgconfig/groth16.pc" "$$lib/cmake/groth16/groth16Config.cmake" \
	  "$$lib/cmake/groth16/groth16ConfigVersion.cmake" "$$root/share/man/man1/groth16.1" "$$root/share/man/man1/groth16-"*.1 \
	  "$$root/share/doc/libgroth16/LICENSE-MIT" "$$root/share/doc/libgroth16/LICENSE-APACHE"; \
	rmdir "$$root/share/doc/libgroth16" "$$lib/cmake/groth16" 2>/dev/null || true; \
	echo "removed libgroth16 from $$root"

# The host is built as any other would be: against an installed tree, through pkg-config.
demo: demo-tools fixtures ## Prove real Sapling circuits from C and verify the proofs independently
	$(MAKE) --no-print-directory install DESTDIR= PREFIX=target/stage LIBDIR=lib
	mkdir -p target/demo
	$(CC) -std=c99 -O2 -Wall -Wextra -pedantic ffi-tests/demo/host.c -o target/demo/host \
	  $$(PKG_CONFIG_PATH=target/stage/lib/pkgconfig $(PKG_CONFIG) --cflags --libs groth16)
	LD_LIBRARY_PATH=target/stage/lib target/demo/host target/fixtures $(SPENDS) $(OUTPUTS) | \
	  target/release/recorder verify --fixtures target/fixtures

# pkg-config is often missing where a compiler is present: installed where that is simple, else asked for.
demo-tools:
	@missing() { echo "make demo needs $$1, which is not here: $$2" >&2; exit 1; }; \
	command -v $(CARGO) >/dev/null || missing $(CARGO) "install Rust from https://rustup.rs"; \
	command -v $(CC) >/dev/null || missing "a C compiler ($(CC))" "install gcc or clang, or set CC"; \
	if command -v $(PKG_CONFIG) >/dev/null; then exit 0; fi; \
	[ $(PKG_CONFIG) = pkg-config ] || missing $(PKG_CONFIG) "set PKG_CONFIG to a program that is"; \
	command -v apt-get >/dev/null || missing pkg-config "install your system's package pkgconf or pkg-config"; \
	[ "$$(id -u)" = 0 ] || missing pkg-config "sudo apt-get install pkg-config"; \
	echo "installing pkg-config"; \
	{ apt-get update -qq && apt-get install -qq -y --no-install-recommends pkg-config; } >/dev/null \
	  || missing pkg-config "apt-get could not install it"

test: demo-tools ## Run every test suite, short, with a table of seconds a suite
	.ci/suites

soak: ## Run the long versions of the tests
	.ci/soak

bench: library fixtures ## Measure whole proofs against bellman, the prover that Zcash ships, kernels, and calls
	target/release/peer-bench --threads 2
	$(CARGO) run --release --locked -p benches --bin math-bench
	$(CARGO) run --release --locked -p ffi-tests --features libgroth16/cli --bin call-bench

# The peers' sizes as logarithms; above 2^18 a run takes minutes.
CPU_SIZES ?= 12..18
CPU_PACK = target/cpu-pack
bench-cpu: fixtures cpu-pack ## Measure the CPU kernels against blst, arkworks, halo2curves, bellman and gnark-crypto (CPU_SIZES=12..20)
	cp target/fixtures/spend-0.wtns $(CPU_PACK)/spend.wtns
	$(CPU_PACK)/run.sh $(CPU_SIZES)

# Without Go gnark-crypto is left out, and said so.
cpu-pack: ## Make a folder that measures the CPU kernels, and whole proofs against bellman, where no compiler is
	$(CARGO) build --release --locked
	$(CARGO) build --release --locked -p benches --bin cpu-bench --bin tuning-bench --bin sapling-bench
	rm -rf $(CPU_PACK); mkdir -p $(CPU_PACK)
	$(STRIP) -o $(CPU_PACK)/cpu-bench target/release/cpu-bench
	$(STRIP) -o $(CPU_PACK)/tuning-bench target/release/tuning-bench
	$(STRIP) -o $(CPU_PACK)/sapling-bench target/release/sapling-bench
	$(STRIP) -o $(CPU_PACK)/libgroth16.so target/release/libgroth16.so
	if command -v go >/dev/null; then \
	  cd ffi-tests/benches/gnark-crypto && CGO_ENABLED=0 go build -ldflags='-s -w' -o ../../../$(CPU_PACK)/gnark-crypto .; \
	else echo "no go: gnark-crypto is left out"; fi
	cp ffi-tests/benches/cpu.sh $(CPU_PACK)/run.sh

bench-pipeline: library fixtures ## Compare the split pipeline with a monolithic one: scripted, then real proofs on the CPU
	target/release/groth16 bench pipeline --svg target/pipeline-scripted.svg
	target/release/groth16 bench pipeline --device cpu --jobs 60 --waiting 4 --threads 1 --device-threads 1 \
	  --key target/fixtures/output.params --circuit target/fixtures/output.r1cs --witness target/fixtures/output-0.wtns \
	  --svg target/pipeline-cpu.svg --trace target/pipeline-cpu.json
	@echo "pictures: target/pipeline-scripted.svg target/pipeline-cpu.svg"

bench-gnark: ## Compare proofs through the gnark bridge with gnark's own prover
	$(MAKE) --no-print-directory install DESTDIR= PREFIX=target/stage LIBDIR=lib
	ffi-tests/gnark/bench/run.sh target/stage

cuda-toolkit: ## Fetch nvcc (about 300 MB from PyPI) into target/cuda/toolkit, if none is installed
	@cuda/toolkit.sh target/cuda/toolkit

GPU_PACK = target/gpu-pack
gpu-pack: ## Make a folder that tests and measures where there is a GPU and its driver, and nothing else
	@nvcc=$$(cuda/toolkit.sh --find target/cuda/toolkit) || { echo "no nvcc: \`make cuda-toolkit\` fetches one" >&2; exit 1; }; \
	$(MAKE) --no-print-directory -C cuda pack NVCC="$$nvcc" ARCHS="$(CUDA_ARCHS)"; \
	GROTH16_NVCC="$$nvcc" GROTH16_CUDA_ARCHS="$(CUDA_ARCHS)" \
	  $(CARGO) build --release --locked --features cli,cuda --example gpu-test --bin groth16; \
	$(MAKE) --no-print-directory -C cuda faulty; \
	rm -rf $(GPU_PACK); mkdir -p $(GPU_PACK)/kernels $(GPU_PACK)/faulty; \
	cp -r target/cuda/pack/. $(GPU_PACK)/kernels/; \
	cp target/cuda/faulty/libcuda.so.1 $(GPU_PACK)/faulty/; \
	$(STRIP) -o $(GPU_PACK)/gpu-test target/release/examples/gpu-test; \
	$(STRIP) -o $(GPU_PACK)/groth16 target/release/groth16; \
	cp ffi-tests/gpu/run.sh ffi-tests/gpu/bench.sh $(GPU_PACK)/; \
	du -sh $(GPU_PACK)

gpu-test: gpu-pack ## Test the kernels and the library on a GPU of this machine
	$(GPU_PACK)/run.sh

bench-gpu: library fixtures ## Measure whole proofs on this machine's GPU: partitions of 2^18 to 2^24 rows, Sapling's circuits
	FIXTURES=target/fixtures ffi-tests/gpu/bench.sh target/release/groth16 target/bench-gpu
	@echo "tables, pictures and traces: target/bench-gpu"

header: ## Generate include/groth16.h from src/ffi
	$(CARGO) run --release --locked -p ffi-tests --features libgroth16/cli --bin make-header

release-abi: ## Freeze the C ABI of this version in include/released (once a release, see include/ABI.md)
	@released=include/released/$(ABI_MAJOR).$(ABI_MINOR); \
	[ ! -e "$$released" ] || { echo "$$released is there: a released ABI does not change" >&2; exit 1; }; \
	mkdir -p "$$released"; \
	cp include/groth16.h ffi-tests/abi-dump/client.c "$$released/"; \
	ffi-tests/abi-dump/run.sh dump "$$released/groth16.abi" || { rm -r "$$released"; exit 1; }; \
	echo "froze ABI $(ABI_MAJOR).$(ABI_MINOR) in $$released: commit it"

clean: ## Remove what was built
	$(CARGO) clean
