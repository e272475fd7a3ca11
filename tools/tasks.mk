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

fuzz-build: $(FUZZ)

#: make check-format  is every file formatted?  make format mends it
check-format:
	clang-format --dry-run --Werror $(C_FILES)
format:
	clang-format -i $(C_FILES)

.PHONY: help deps unit fuzz-build check-format format
