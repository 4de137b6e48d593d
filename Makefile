# dbio: build, test, install. Variants live under build/: make VARIANT=asan, tsan, coverage, fuzz.

VERSION := 1.0
PREFIX  ?= /usr/local
CC      ?= gcc
VARIANT ?=
B       := build$(if $(VARIANT),/$(VARIANT))

# Inputs of users, kept beside the project where present; the tests that read them skip without.
CASES   ?= $(abspath ../shared/cases)

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla -Wundef
WERROR  ?= $(if $(CI),-Werror)
OPT     ?= -O2 -g
SAN_    :=
SAN_asan     := -fsanitize=address,undefined -fno-omit-frame-pointer
SAN_tsan     := -fsanitize=thread -fno-omit-frame-pointer
SAN_coverage := --coverage -O0
SAN_fuzz     := -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer
ifeq ($(VARIANT),fuzz)
CC := clang
endif

PKGS    := yaml-0.1 sqlite3 liburing jansson blkid mount zlib libcrypto expat
CFLAGS_ALL = -std=c17 -D_GNU_SOURCE -DDBIO_VERSION='"$(VERSION)"' -I. -I$(B) $(OPT) $(WARN) $(WERROR) $(SAN_$(VARIANT)) \
             -pthread $(shell pkg-config --cflags $(PKGS) 2>/dev/null) $(CFLAGS)
LIBS    = $(shell pkg-config --libs $(PKGS) 2>/dev/null) -laio -lm -pthread
CHECK_LIBS = $(shell pkg-config --libs check 2>/dev/null)

SRC     := $(wildcard engine/*.c patterns/*.c results/*.c replay/*.c)
LIB_SRC := $(filter-out replay/main.c,$(SRC)) $(B)/embedded.c
LIB_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out $(B)/embedded.c,$(LIB_SRC))) $(B)/embedded.o
CONFIGS := $(shell find configs -name '*.yaml' 2>/dev/null | LC_ALL=C sort)
ASSETS  := $(wildcard results/*.css results/*.js)
# The report's charts, out of Debian's libjs-chart.js.
CHART   := $(firstword $(wildcard $(addprefix /usr/share/,javascript/chart.js/chart.min.js nodejs/chart.js/dist/chart.min.js \
             javascript/chart.js/Chart.min.js)) chart-js-is-missing)
TESTS   := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/test_*.c))
HELPERS := $(filter-out tests/test_%.c tests/bench_%.c tests/fuzz_%.c tests/fuzzmain.c,$(wildcard tests/*.c))
BENCHES := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/bench_*.c))
FUZZERS := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/fuzz_*.c))

# One short line a step; make V=1 shows the commands.
say = $(if $(V),,@echo '  $(1) $@';)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all deps demo check check-fast bench studies kills check-asan check-tsan fuzz fuzz-build coverage reference format tidy install clean FORCE

all: $(B)/dbio

$(B)/dbio: $(B)/replay/main.o $(B)/libdbio.a
	$(call say,LD)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LIBS)

$(B)/libdbio.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

# A stamp that changes with the flags, so that changed flags rebuild.
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(subst ','\'',$(CFLAGS_ALL)) $(LIBS)' | cmp -s - $@ || echo '$(CC) $(subst ','\'',$(CFLAGS_ALL)) $(LIBS)' > $@

$(B)/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(B)/embedded.o: $(B)/embedded.c $(B)/flags
	$(call say,CC)$(CC) $(CFLAGS_ALL) -c -o $@ $<

# configs/ and the report's assets, compiled in.
$(B)/embedded.c: tests/embed.sh $(CONFIGS) $(ASSETS) $(CHART)
	@mkdir -p $(@D)
	$(call say,EMBED)sh tests/embed.sh $(CONFIGS) $(ASSETS) chart.js=$(CHART) > $@

chart-js-is-missing:
	@echo 'libjs-chart.js is not installed: make deps' >&2; false

$(B)/tests/test_%: $(B)/tests/test_%.o $(patsubst tests/%.c,$(B)/tests/%.o,$(HELPERS)) $(B)/libdbio.a
	$(call say,LD)$(CC) $(CFLAGS_ALL) -o $@ $^ $(CHECK_LIBS) $(LIBS)

$(B)/tests/bench_%: $(B)/tests/bench_%.o $(B)/libdbio.a
	$(call say,LD)$(CC) $(CFLAGS_ALL) -o $@ $^ $(LIBS)

# Outside VARIANT=fuzz a fuzz target is a program that replays the files it is given.
$(B)/tests/fuzz_%: $(B)/tests/fuzz_%.o $(if $(filter fuzz,$(VARIANT)),,$(B)/tests/fuzzmain.o) $(B)/libdbio.a
	$(call say,LD)$(CC) $(CFLAGS_ALL) $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer) -o $@ $^ $(LIBS)

deps:
	@sh tests/deps.sh

# After deps in a make of its own, so that pkg-config is asked once the packages are there.
demo check check-fast bench studies kills: deps
	@$(MAKE) --no-print-directory do-$@

.PHONY: do-demo do-check do-check-fast do-bench do-studies do-kills
do-demo: $(B)/dbio
	sh tests/demo.sh $(B)/dbio

do-check: $(B)/dbio $(TESTS) $(FUZZERS)
	@DBIO=$(abspath $(B)/dbio) DBIO_BUILD=$(abspath $(B)) DBIO_CASES=$(CASES) sh tests/run.sh $(TESTS) tests/*.test

do-check-fast: $(B)/dbio $(TESTS)
	@DBIO=$(abspath $(B)/dbio) DBIO_BUILD=$(abspath $(B)) DBIO_CASES=$(CASES) sh tests/run.sh $(TESTS)

do-bench: $(B)/dbio $(BENCHES)
	@DBIO=$(abspath $(B)/dbio) DBIO_BUILD=$(abspath $(B)) sh tests/bench.sh

do-kills: $(B)/dbio
	@DBIO=$(abspath $(B)/dbio) sh tests/kills.sh

do-studies: $(B)/dbio
	@DBIO=$(abspath $(B)/dbio) sh tests/studies.sh

check-asan check-tsan: check-%: deps
	@$(MAKE) --no-print-directory VARIANT=$* do-check

fuzz-build: $(FUZZERS)

fuzz: deps
	@$(MAKE) --no-print-directory VARIANT=fuzz fuzz-build
	@sh tests/fuzz.sh build/fuzz/tests

coverage: deps
	@$(MAKE) --no-print-directory VARIANT=coverage do-check
	@gcov -n $$(find build/coverage -name '*.gcno') 2>/dev/null | grep -A1 "^File '[epr]" | grep -v '^--'

# The reference of keys and the schema for editors, from the tables.
reference: $(B)/dbio
	$(B)/dbio describe keys --markdown > configs/README.md
	$(B)/dbio describe keys --json-schema > configs/dbio.schema.json

format:
	clang-format -i $(SRC) $(wildcard engine/*.h patterns/*.h results/*.h replay/*.h tests/*.c tests/*.h)

tidy:
	@for file in $(SRC); do clang-tidy --quiet $$file -- $(CFLAGS_ALL) || exit 1; done

install: $(B)/dbio
	install -D -m 755 $(B)/dbio $(DESTDIR)$(PREFIX)/bin/dbio
	install -D -m 644 replay/dbio.1 $(DESTDIR)$(PREFIX)/share/man/man1/dbio.1
	$(B)/dbio completion bash | install -D -m 644 /dev/stdin $(DESTDIR)$(PREFIX)/share/bash-completion/completions/dbio

clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
