# Tasks around a build: set-up, tests, checks, the development stack.  Included by the
# Makefile.

C_FILES = $(shell git ls-files '*.c' '*.h')

# A build that another target needs: it uses all processors, unless make was given a number.
BUILD = $(MAKE) --no-print-directory \
        $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

help:
	@cat tools/tasks.mk tools/install.mk | sed -n 's/^#: /  /p'

#: make deps          install what building, the stack and the tests need
deps:
	@tools/deps.sh

#: make unit          build and run the unit tests (SANITIZE=... for a sanitizer)
unit: unit-programs
	@SHORTLOOP_BIN=$(CURDIR)/$(ENGINE_B)/bin tests/run-unit $(UNIT) $(MODEL)

#: make unit-sanitized
#:                    the same with clang's sanitizers of addresses and of what is
#:                    undefined, of the objects that make fuzz uses
SANITIZED = $(MAKE) --no-print-directory B=build/fuzz CC=clang \
            SANITIZE=address,undefined CFLAGS='-O1 -g -fsanitize=fuzzer-no-link'
unit-sanitized:
	@+$(SANITIZED) all unit-programs fault-programs
	@+$(SANITIZED) unit

#: make integration   the integration tests; T=... gives pytest arguments
integration: deps
	@+$(BUILD) all fault-programs
	@SHORTLOOP_BIN=$(CURDIR)/$B/bin tests/run-integration $(T)

#: make test          set up, build, run unit and integration tests; PROOFS=1 runs
#:                    those that take most of the time, too, as .ci/run does
test: deps
	@+$(BUILD) all unit-programs fault-programs
	@SHORTLOOP_BIN=$(CURDIR)/$B/bin PROOFS=$(PROOFS) tests/run $(UNIT) $(MODEL)
unit-programs: $(UNIT) $(MODEL) engine-programs
# Some tests start ClickHouse, and an aggregator that makes its tables.  The engine cannot
# be loaded into a program with sanitizers, so these programs are built without.
ENGINE_B := $(if $(SANITIZE),build,$B)
ENGINE_PROGRAMS := $(ENGINE_B)/bin/clickhouse-embedded $(ENGINE_B)/bin/aggregator
ifdef SANITIZE
engine-programs:
	@+$(MAKE) --no-print-directory SANITIZE= $(ENGINE_PROGRAMS)
else
engine-programs: $(ENGINE_PROGRAMS)
endif
fault-programs: $(FAULTS)

# The programs that tests/run-long runs under ThreadSanitizer.
THREADED := redirector allocator

#: make test-long     four hours: ten million codes under faults, mutants, fuzzing;
#:                    LONG="older races" names some of its parts (PARTS in tests/run-long)
test-long:
	@tools/deps.sh lint engines long
	@+$(BUILD) all fault-programs $(MODEL)
	@+$(BUILD) SANITIZE=thread $(THREADED:%=build/thread/bin/%)
	@SHORTLOOP_BIN=$(CURDIR)/$B/bin FUZZ_SECONDS=$(FUZZ_SECONDS) \
	  tests/run-long

#: make mutants       does each guard have a test that dies without it?  MUTANTS="settling
#:                    lua" names lists of tests/mutants, or files; minutes each
mutants: deps
	@+$(DEPS)/venv/bin/python tests/mutants/run $(MUTANT_ARGS) $(MUTANTS)

#: make fuzz          run each target of tests/fuzz for FUZZ_SECONDS (10) seconds,
#:                    or those that FUZZ_ONLY names ("click ua")
FUZZ_SECONDS ?= 10
FUZZ_RUN = $(if $(FUZZ_ONLY),$(foreach t,$(FUZZ_ONLY),$(filter %/fuzz_$t,$(FUZZ))),$(FUZZ))
fuzz:
	@+$(SANITIZED) fuzz-run
fuzz-run: $(FUZZ_RUN)
	@tests/run-fuzz $(FUZZ_SECONDS) $(FUZZ_RUN)

#: make bench         against peers, on this machine; ROWS="redirect ..." picks
bench:
	@tools/deps.sh bench
	@$(MAKE) --no-print-directory $(BINS) $(BENCH)
	@$(DEPS)/venv/bin/python tests/bench/bench.py $(BENCH_ARGS) $(ROWS)

generated: $(GENERATED)

# Used by tools/lint and .ci/run.
print-cflags:
	@echo $(ALL_CFLAGS)
print-unit:
	@printf '%s\n' $(UNIT)

#: make up            start Redis, Kafka, ClickHouse and the programs
up: deps
	@+$(BUILD) all
	@stack/ctl up

#: make down          stop them; their data stays
down:
	@stack/ctl down

#: make demo          show the loop closing, on real parts; leaves all running
demo: up
	@$(DEPS)/venv/bin/python demo/demo.py

#: make sample        rewrite config/shortloop.yaml from the programs' tables, and the
#:                    lists of dimensions in schemas/openapi/ and docs/
sample:
	@tools/list-dimensions
	@+$(BUILD) $(BINS)
	@tools/sample.py $(BINS) > config/shortloop.yaml.new
	@mv config/shortloop.yaml.new config/shortloop.yaml

#: make man           the manual pages, in build/man
man: $(MANS)

#: make lint          static checks: layers, sizes, cppcheck, clang-tidy
lint: generated
	@tools/lint

#: make check-format  is every file formatted?  make format mends it
check-format:
	@clang-format --dry-run --Werror $(C_FILES)
format:
	clang-format -i $(C_FILES)

.PHONY: help deps bench unit unit-sanitized unit-programs engine-programs fault-programs integration test \
        test-long mutants up down fuzz fuzz-run demo \
        generated print-cflags print-unit lint sample man check-format format
