# make install and make uninstall.  Included by the Makefile.
#
# DESTDIR precedes every path; PREFIX is also in the installed files and in the
# programs' defaults: give the same to `make` and to `make install`.

BINDIR  := $(PREFIX)/bin
DATADIR := $(PREFIX)/share/shortloop
MANDIR  := $(PREFIX)/share/man/man8
DOCDIR  := $(PREFIX)/share/doc/shortloop
UNITDIR := $(PREFIX)/lib/systemd/system
SYSUSERSDIR := $(PREFIX)/lib/sysusers.d

# Files that the programs read while they run.  Only `make deps` makes them: it uses the
# network and must not run by accident as root.
LISTS := $(DEPS)/uap/regexes.yaml $(DEPS)/bots/crawler-user-agents.json \
         $(DEPS)/bots/isbot-patterns.json $(DEPS)/sources/referrers.json
UPLOT := $(DEPS)/uplot/uPlot.iife.min.js $(DEPS)/uplot/uPlot.min.css
MANS  := $(PROGRAMS:%=$B/man/%.8)

DAEMONS   := $(filter-out reclaimer,$(PROGRAMS))
UNITS     := $(wildcard config/systemd/*.service config/systemd/*.timer)
TEMPLATES := $(DAEMONS:%=shortloop-%@.service)
DROPIN    := shortloop-.service.d/10-sandbox.conf
EXAMPLES  := config/cron.d config/front config/kubernetes config/prometheus
# Pages keep their place in the tree, so that their links work.
DOCS := README.md CHANGELOG.md CONTRIBUTING.md LICENSE $(wildcard docs/*.md) \
        config/shortloop.yaml $(wildcard schemas/*.proto schemas/openapi/*)

have-lists:
	@for f in $(LISTS) $(UPLOT); do [ -e $$f ] || { \
	  echo "make: $$f is missing: run 'make deps' first" >&2; exit 1; }; done

$B/man/%.8: $B/bin/%
	@mkdir -p $(@D)
	$(Q)$< --print-man > $@.$$$$ && mv $@.$$$$ $@

# Built with the programs: files that root makes at `make install` only root can remove.
all: $(if $(SANITIZE),,$(MANS))

# Files contain the paths for PREFIX /usr/local.
placed = sed -i 's|/usr/local/|$(PREFIX)/|g'

# put FOLDER FILES: installs the files there, readable by all.
put = install -D -m 644 -t "$(DESTDIR)$(1)" $(2)

#: make install       into DESTDIR/PREFIX (/usr/local); make uninstall
install: have-lists $(BINS) $(MANS)
	install -D -t "$(DESTDIR)$(BINDIR)" $(BINS)
	$(call put,$(MANDIR),$(MANS))
	$(call put,$(DATADIR),$(LISTS))
	$(call put,$(DATADIR)/web,web/*)
	$(call put,$(DATADIR)/pages,redirector/pages/*.html)
	$(call put,$(DATADIR)/web/uplot,$(UPLOT))
	$(call put,$(SYSUSERSDIR),config/sysusers.d/*)
	$(call put,$(UNITDIR),$(UNITS))
	$(call put,$(UNITDIR)/$(dir $(DROPIN)),config/systemd/$(DROPIN))
	# One per configuration: shortloop-redirector@NAME reads NAME.yaml.
	for p in $(DAEMONS); do sed -e 's|^Description=.*|& (%i)|' \
	  -e 's|/etc/shortloop/shortloop.yaml|/etc/shortloop/%i.yaml|' \
	  -e 's|^StateDirectory=.*|& shortloop/%i|' \
	  config/systemd/shortloop-$$p.service | install -m 644 /dev/stdin \
	  "$(DESTDIR)$(UNITDIR)/shortloop-$$p@.service" || exit; done
	$(placed) "$(DESTDIR)$(UNITDIR)"/shortloop-*.service
	for f in $(DOCS); do \
	  install -D -m 644 $$f "$(DESTDIR)$(DOCDIR)/$$f" || exit; done
	for f in $(EXAMPLES); do install -D -m 644 -t \
	  "$(DESTDIR)$(DOCDIR)/examples/$${f##*/}" $$f/* || exit; done
	$(placed) "$(DESTDIR)$(DOCDIR)"/config/* "$(DESTDIR)$(DOCDIR)"/examples/*/*

# Keeps /etc, /var and the user shortloop.
uninstall:
	for p in $(PROGRAMS); do rm -f "$(DESTDIR)$(BINDIR)/$$p" \
	  "$(DESTDIR)$(MANDIR)/$$p.8"; done
	for f in $(notdir $(UNITS)) $(TEMPLATES) $(DROPIN); do \
	  rm -f "$(DESTDIR)$(UNITDIR)/$$f"; done
	rm -f "$(DESTDIR)$(SYSUSERSDIR)/shortloop.conf"
	-rmdir "$(DESTDIR)$(UNITDIR)/$(dir $(DROPIN))"
	rm -rf "$(DESTDIR)$(DATADIR)" "$(DESTDIR)$(DOCDIR)"

.PHONY: have-lists install uninstall

#: make deb           Debian packages of this release, in build/deb/packages
deb: have-lists
	@dpkg-checkbuilddeps || { \
	  echo "make: run 'tools/deps.sh deb' first" >&2; exit 1; }
	debian/rules clean
	rm -rf build/deb/packages
	DEB_BUILD_OPTIONS="parallel=$(shell nproc) $(DEB_BUILD_OPTIONS)" debian/rules binary
	@ls build/deb/packages
.PHONY: deb

#: make image-context what the Containerfile is given, in build/image
image-context:
	rm -rf $B/image
	tools/image.sh context $B/image
.PHONY: image-context
