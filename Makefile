# shortloop
#
#   make demo        set up, build, start everything, show the loop closing
#   make test        set up, build, unit and integration tests
#
# and then: make help
#
# Variables: CC, CFLAGS, WERROR=1, SANITIZE=address,undefined|thread, PREFIX,
# V=1 (show whole commands)

PROGRAMS := redirector allocator collector aggregator reclaimer
LAYERS   := linkstore codespace common

comma  := ,
Q      := $(if $(V),,@)
say     = @$(if $(V),:,printf '  %-5s %s\n' $(1) '$(2)')
B      := build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))
GEN    := $B/gen
DEPS   := .deps
PREFIX ?= /usr/local
VERSION := $(shell cat VERSION)

PKGS := rdkafka hiredis libcurl yaml-0.1 jansson libsodium libprotobuf-c \
        libzstd liblz4 libmaxminddb libpcre2-8 libcrypto zlib libidn2 libqrencode \
        libpng libpsl libxxhash

# Sanitizers find the same at -O1, which takes half the time to build.
CFLAGS ?= $(if $(SANITIZE),-O1,-O3) -g
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
          -Wmissing-prototypes -Wwrite-strings -Wpointer-arith -Wcast-qual \
          -Wundef -Wvla -Wformat=2 $(if $(WERROR),-Werror)
HARDEN := -fstack-protector-strong -fPIE $(if $(SANITIZE),,-D_FORTIFY_SOURCE=2)

# llhttp is a library with a pkg-config file from Debian 13 on, and a package of
# C sources (node-llhttp) on Debian 12.
LLHTTP_DIR := $(if $(wildcard /usr/share/llhttp/llhttp.c),/usr/share/llhttp)
LLHTTP_INC := $(if $(LLHTTP_DIR),-isystem /usr/share/include/llhttp)
LLHTTP_OBJ := $(if $(LLHTTP_DIR),$(patsubst %,$B/llhttp/%.o,api http llhttp))
LLHTTP_LIB := $(if $(LLHTTP_DIR),,-lllhttp)

ALL_CFLAGS  = -std=c11 -D_GNU_SOURCE -I. -isystem $(GEN) $(LLHTTP_INC) -pthread \
              -fno-common -DVERSION='"$(VERSION)"' \
              -DDATADIR='"$(PREFIX)/share/shortloop"' $(WARN) $(HARDEN) $(CFLAGS)
ALL_LDFLAGS = -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(LDFLAGS)
ifdef SANITIZE
ALL_CFLAGS  += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all \
               -fno-omit-frame-pointer
ALL_LDFLAGS += -fsanitize=$(SANITIZE)
endif
LIBS = $(shell pkg-config --libs $(PKGS)) $(LLHTTP_LIB) -lm

sources = $(filter-out $(1)/main.c,$(wildcard $(1)/*.c $(1)/*/*.c $(1)/*/*/*.c))
objects = $(patsubst %.c,$B/%.o,$(1))

# Generated: protobuf code, and text files quoted to be #included as strings.
PROTO     := $(wildcard schemas/*.proto)
PROTO_C   := $(patsubst %.proto,$(GEN)/%.pb-c.c,$(PROTO))
QUOTED    := $(wildcard linkstore/scripts/*.lua schemas/clickhouse/*.sql \
               schemas/openapi/*.yaml redirector/pages/*.html \
               aggregator/sql/*.sql aggregator/sql/*/*.sql)
MIGRATIONS := $(GEN)/schemas/clickhouse/migrations.inc
SCRIPTS   := $(patsubst %,$(GEN)/linkstore/scripts/%.inc,numbers texts)
GENERATED := $(PROTO_C) $(QUOTED:%=$(GEN)/%.inc) $(MIGRATIONS) $(SCRIPTS)

BINS   := $(PROGRAMS:%=$B/bin/%)
SERVER := $B/bin/clickhouse-embedded
UNIT   := $(patsubst %.c,$B/%,$(wildcard tests/unit/*/test_*.c \
                                         tests/unit/*/*/test_*.c))
MODEL  := $B/tests/model/test_model
BENCH  := $(patsubst %.c,$B/%,$(wildcard tests/bench/bench_*.c))
FAULTS := $B/tests/faults/issue $B/tests/faults/judge
FUZZ   := $(patsubst %.c,$B/%,$(wildcard tests/fuzz/fuzz_*.c))
LIBA   := $(LAYERS:%=$B/lib%.a) $B/libschemas.a $(LLHTTP_OBJ)

all: $(BINS) $(SERVER)

include tools/tasks.mk
include tools/install.mk

# --- build -----------------------------------------------------------------

define library
$B/lib$(1).a: $(call objects,$(call sources,$(1)))
endef
$(foreach l,$(LAYERS) $(PROGRAMS),$(eval $(call library,$l)))
$(eval $(call library,stack/clickhouse))
$B/libschemas.a: $(PROTO_C:%.c=%.o)

define program
$B/bin/$(1): $B/$(1)/main.o $B/lib$(1).a $(LIBA)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$p)))
$(SERVER): $B/stack/clickhouse/main.o $B/libstack/clickhouse.a $(LIBA)
# The engine is loaded with dlopen, so that building needs no 500 MB library.
$(SERVER): LIBS += -ldl

# A test of a program's internals links that program's library; the folder names it:
# tests/unit/<folder>/.
PROGRAM_LIBS := $(PROGRAMS:%=$B/lib%.a) $B/libstack/clickhouse.a
$(BENCH) $(FAULTS): $B/%: $B/%.o $(PROGRAM_LIBS) $(LIBA)
# The programs whose headers the fuzz targets include: everything is built once more for
# fuzzing, with clang and sanitizers.
$(FUZZ): $B/%: $B/%.o $(LIBA)
fuzz_uses := $(shell grep -oE '"[a-z]+/' /dev/null $(wildcard tests/fuzz/*.c) | \
               sed 's|.*/\(.*\)\.c:"\(.*\)/|\1:\2|' | sort -u)
fuzz_of    = $(patsubst %:$(1),$B/tests/fuzz/%,$(filter %:$(1),$(fuzz_uses)))
$(foreach p,$(PROGRAMS),$(if $(call fuzz_of,$p),$(eval $(call fuzz_of,$p): $B/lib$p.a)))
$(UNIT): $B/%: $B/%.o $(LIBA)
# It links only that library: two programs may use the same name.
$(foreach p,$(PROGRAMS),$(eval $(filter $B/tests/unit/$p/%,$(UNIT)): $B/lib$p.a))
$(filter $B/tests/unit/stack/%,$(UNIT)): $B/libstack/clickhouse.a
$(MODEL): $(patsubst %.c,$B/%.o,$(wildcard tests/model/*.c)) \
          $B/libreclaimer.a $(LIBA)
$(UNIT) $(MODEL): LIBS += -lcmocka -ldl
$(BENCH) $(FAULTS): LIBS += -ldl
$B/tests/bench/bench_uring: LIBS += -luring
$(FUZZ): LIBS += -ldl
$(FUZZ): ALL_LDFLAGS += -fsanitize=fuzzer
# ThreadSanitizer does not see threads started by C11's thrd_create, such as librdkafka's.
ifneq ($(findstring thread,$(SANITIZE)),)
$(BINS) $(UNIT) $(MODEL): $B/tests/sanitize/c11_threads.o
endif

$(BINS) $(SERVER) $(UNIT) $(MODEL) $(BENCH) $(FAULTS) $(FUZZ):
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) \
	  -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

%.a:
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$B/%.o: %.c Makefile | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -MD -MP -c -o $@ $<

# Generated code is compiled without our warnings.
$B/gen/%.o: $B/gen/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -w -c -o $@ $<
$B/llhttp/%.o: $(LLHTTP_DIR)/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CFLAGS) -DLLHTTP_STRICT_MODE=1 -w -c -o $@ $<

$(GEN)/%.pb-c.c: %.proto
	@mkdir -p $(GEN)
	$(call say,GEN,$@)
	$(Q)protoc-c --c_out=$(GEN) $<
# A line "-- include: FILE" of a text stands for that text, which others have, too; a line
# "-- @name@: SQL" says what a blank of a statement may be filled with.
$(GEN)/%.inc: %
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)sed -e 's/^ *-- include: \(.*\)/#include "\1.inc"/; t' -e '/^-- @/d' \
	  -e 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $< > $@

# The list of migrations, with their texts, schema_migrations first.  The folder is newer
# when a file is added or removed.
SQL_FIRST := schemas/clickhouse/schema_migrations.sql
$(MIGRATIONS): schemas/clickhouse Makefile
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)for file in $(SQL_FIRST) $(filter-out $(SQL_FIRST),$(sort $(wildcard $</*.sql))); do \
	  printf '{"%s",\n#include "%s.inc"\n},\n' $${file##*/} $$file; done > $@

# The numbers of the Lua scripts, and the texts of which each consists.
$(SCRIPTS): linkstore/scripts $(wildcard linkstore/scripts/*.lua) tools/list-scripts
	@mkdir -p $(@D)
	$(call say,GEN,$@)
	$(Q)tools/list-scripts $(basename $(@F)) $< > $@

-include $(shell find $B -name '*.d' -type f 2>/dev/null)

clean:
	rm -rf build

.PHONY: all clean
.DELETE_ON_ERROR:
.SECONDARY:
