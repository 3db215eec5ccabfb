# Each target installs by apt what it misses, and is quiet when nothing is missing (scripts/setup).

PREFIX ?= /usr/local

.PHONY: help demo build test interop check sanitize faults power-cut crash-images trials fuzz bad-store together lost-disk model gallery mutate bench flames reference site install deb try-package try-amazon image clean
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 22

demo: ## photos dropped into folders, stored, archived and brought back, in ./demo
	@scripts/demo

build: ## the program: .build/release/sync-agent
	@scripts/build

test: ## all tests, with the S3 servers that they need
	@scripts/test

interop: ## the store tests against a Ceph RADOS Gateway (Debian's; its daemons are installed, not started)
	@scripts/interop

check: ## format, layering, scripts, documents, build without a warning, metrics
	@scripts/check

sanitize: ## all tests under the thread sanitizer, then under the address sanitizer
	@scripts/test --sanitize=thread
	@scripts/test --sanitize=address

faults: ## each system call of each workflow made to fail, and what is left judged from outside (30 min)
	@scripts/build
	@scripts/setup test
	@scripts/fault-sweep

power-cut: ## what the disk may hold after a power cut at any moment of each workflow, gone on from (30 min)
	@scripts/build
	@scripts/setup test
	@scripts/power-cut

crash-images: ## the same on ext4, xfs and btrfs, on a disk that notes what was flushed; as root (30 min)
	@scripts/build
	@scripts/setup images
	@scripts/crash-images

fuzz: ## each reader of foreign bytes fed by libFuzzer under the address sanitizer (30 min)
	@scripts/fuzz

bad-store: ## the store behind a proxy that answers badly, workflow by workflow (30 min)
	@scripts/build
	@scripts/setup test
	@scripts/bad-store

together: ## three agents and two people on one store, with kills and faults between (30 min)
	@scripts/build
	@scripts/setup test
	@scripts/together

lost-disk: ## lives whose disk is lost at the end, brought back from the store alone (30 min)
	@scripts/build
	@scripts/setup test
	@scripts/lost-disk

trials: ## all trials but crash images in a short form, with the program that the tests have built (20 min)
	@scripts/setup build test
	@scripts/fault-sweep --short
	@scripts/power-cut --short
	@scripts/lost-disk --short
	@scripts/together --short
	@scripts/bad-store --short
	@scripts/model --short
	@scripts/fuzz --short

mutate: ## lines of ledger, upload and embedded store changed, and whether a test fails (30 min, and the builds)
	@scripts/mutate

model: ## random lives of a home against a plain model: files, faults, kills, clocks (30 min, and the builds)
	@scripts/build
	@scripts/setup test
	@scripts/model --limit 22
	@SYNC_AGENT_LIVES=30 scripts/test --filter LifeTests

gallery: ## the gallery used in a browser, over the embedded store and over moto, then clients that mean harm (8 min)
	@scripts/build
	@scripts/setup test
	@SYNC_AGENT_BINARY=.build/release/sync-agent scripts/try-gallery
	@SYNC_AGENT_BINARY=.build/release/sync-agent scripts/hostile-clients

bench: ## the codec and the agent against their bars and peers, and how it grows (40 min, 5 GB)
	@scripts/build
	@scripts/setup bench demo
	@scripts/bench-codec
	@scripts/bench-agent all
	@scripts/test-servers run scripts/bench-peers
	@scripts/test-servers run scripts/bench-line
	@scripts/bench-growth --plot .build/growth.svg

flames: ## flame graphs of the main workflows: .build/flames (as root, or with kernel.perf_event_paranoid ≤ 1)
	@scripts/build
	@scripts/setup bench demo
	@scripts/flame .build/flames

reference: ## docs/reference*.md anew, of what the debug build says of itself
	@swift build --product sync-agent
	@scripts/make-reference

site: ## README and docs as pages for a browser, without a server: .build/site
	@scripts/setup site
	@scripts/make-site
	@echo "open file://$(CURDIR)/.build/site/index.html"

install: ## binary, completions, man page, systemd unit, link handler; PREFIX=/usr/local
	@scripts/install "$(PREFIX)"

deb: ## the Debian package, and that of its debug symbols: .build/deb
	@scripts/make-deb

try-package: ## that package in a fresh Debian: installed, used, removed; the demo; piuparts (15 min)
	@scripts/try-package

try-amazon: ## the whole circle with your Amazon account, for a few cents, told and asked first; a report
	@scripts/build
	@scripts/setup demo
	@scripts/try-amazon

image: ## a container image of it, as an OCI archive: .build/image
	@scripts/make-image

clean: ## every build folder, and the demo's
	rm -rf .build .build-* Benchmarks/.build
	@if [ -e demo/.sync-agent-demo ]; then rm -rf demo; fi
