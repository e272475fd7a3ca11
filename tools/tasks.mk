# What one does with a build: set-up, tests, checks, the development stack.
# Included by the Makefile.

C_FILES = $(shell git ls-files '*.c' '*.h')

help:
	@sed -n 's/^#   make/  make/p' Makefile
	@sed -n 's/^#: //p' tools/tasks.mk

#: make deps        install what building, the stack and the tests need
deps:
	@tools/deps.sh

#: make unit        build and run the unit tests (SANITIZE=... for a sanitizer)
unit: $(UNIT)
	@tests/run-unit $(UNIT)

#: make integration T=...   the integration tests; T: arguments for pytest
integration: deps
	@$(MAKE) --no-print-directory all
	@tests/run-integration $(T)

#: make test        set up, build, run unit and integration tests
test: deps
	@$(MAKE) --no-print-directory all unit-programs
	@tests/run $(UNIT)
unit-programs: $(UNIT)

fuzz-build: $(FUZZ)

#: make check-format  is every file formatted?  make format mends it
check-format:
	clang-format --dry-run --Werror $(C_FILES)
format:
	clang-format -i $(C_FILES)

.PHONY: help deps unit unit-programs integration test fuzz-build check-format format
