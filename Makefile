# The two commands of the README, and shortcuts for what a contributor runs often.
.PHONY: demo test nightly format check bench clean
jobs := $(shell nproc)

demo: ; @scripts/setup && scripts/demo
test: ; @scripts/setup --tests && cmake --preset dev && cmake --build --preset dev && ctest --preset dev -j $(jobs)

# Ten times the draws in the tests of the samplers' laws, 100,000 pairs of neighbouring tables, and new cases in property
# tests: a failure names its seed, and RC_PARAMS="seed=..." draws the same cases again.
nightly: ; @RC_PARAMS="$${RC_PARAMS-seed=$$(date +%s)}" SHOAL_DRAWS=1000000000 SHOAL_NEIGHBOR_PAIRS=100000 $(MAKE) test

format: ; @git ls-files '*.cpp' '*.hpp' | xargs clang-format-14 -i
check: ; @scripts/setup --tests && scripts/check_format && scripts/check_layers.py
bench: ; @scripts/setup --tests && cmake --preset bench && cmake --build --preset bench && bench/compare/query/run && bench/compare/noise/run && bench/compare/accounting/run
clean: ; @rm -rf build demo
