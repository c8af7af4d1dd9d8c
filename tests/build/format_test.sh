#!/usr/bin/env bash
# Fails when a C++ file is not as clang-format 14 would write it. Mend with: tests/build/format_test.sh -i
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v clang-format-14 >/dev/null || { echo "clang-format-14 is not installed"; exit 1; }
mapfile -t files < <(find src tests examples benchmarks -name '*.cc' -o -name '*.h')
[[ ${1-} == -i ]] && exec clang-format-14 -i "${files[@]}"
clang-format-14 --dry-run -Werror "${files[@]}"
