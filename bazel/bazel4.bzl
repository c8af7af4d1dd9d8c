"""Stand-ins for what Bazel 4 (Debian's bazel-bootstrap) would otherwise download.

Debian's own package of rules_cc does not load in its Bazel, so these are the parts of rules_cc and
rules_java that Bazel's toolchains ask for, by way of the rules that are built in.
"""

_PUBLIC = 'package(default_visibility = ["//visibility:public"])\n'

_RULES_CC = "cc_binary cc_import cc_library cc_proto_library cc_test cc_toolchain cc_toolchain_suite objc_library"

_RULES_JAVA = "java_binary java_import java_library java_lite_proto_library java_package_configuration " + \
              "java_plugin java_proto_library java_runtime java_test java_toolchain"

def _built_in(rules):
    return "".join(["%s = native.%s\n" % (rule, rule) for rule in rules.split(" ")])

def _write_files(ctx):
    for path, content in ctx.attr.files.items():
        ctx.file(path, content)

_files_repository = repository_rule(
    implementation = _write_files,
    attrs = {"files": attr.string_dict()},
)

def bazel4_stand_ins():
    """Defines rules_cc, rules_java and remote_coverage_tools, on Bazel 4 only."""
    version = native.bazel_version  # empty in Debian's build of 4.2.3
    if version and not version.startswith("4."):
        return
    _files_repository(name = "rules_cc", files = {
        "cc/BUILD.bazel": _PUBLIC + """
alias(name = "current_cc_toolchain", actual = "@bazel_tools//tools/cpp:current_cc_toolchain")
alias(name = "toolchain_type", actual = "@bazel_tools//tools/cpp:toolchain_type")
""",
        "cc/defs.bzl": _built_in(_RULES_CC),
    })
    _files_repository(name = "rules_java", files = {
        "java/BUILD.bazel": _PUBLIC,
        "java/defs.bzl": _built_in(_RULES_JAVA),
    })
    _files_repository(name = "remote_coverage_tools", files = {
        "BUILD.bazel": _PUBLIC + """
filegroup(name = "coverage_report_generator")
filegroup(name = "lcov_merger")
alias(name = "coverage_output_generator", actual = ":coverage_report_generator")
""",
    })
