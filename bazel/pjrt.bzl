"""The XLA CPU plugin and its C header, from the wheel that src/runtime/fetch_plugin.py pins.

$STURNUS_PJRT_DIR, the unpacked wheel, is taken as it is; else fetch_plugin.py brings the wheel into
the cache that CMake's builds use too.
"""

_BUILD = """
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = ["include/pjrt_c_api.h"],
    includes = ["include"],
)

cc_library(
    name = "build_cache",
    defines = ['STURNUS_BUILD_CACHE=\\\\"{build_cache}\\\\"'],
)
"""

def _implementation(ctx):
    unpacked = ctx.os.environ.get("STURNUS_PJRT_DIR")
    build_cache = "%s/xla_plugins/xla_cpu_pjrt" % unpacked
    if not unpacked:
        script = ctx.path(Label("//src/runtime:fetch_plugin.py"))
        result = ctx.execute(["python3", script, "cpu"], timeout = 1800)
        if result.return_code != 0:
            fail(result.stderr)
        unpacked = result.stdout.strip()
        build_cache = str(ctx.path(unpacked).dirname.dirname.dirname)
    ctx.symlink(unpacked + "/xla_plugins/xla_cpu_pjrt/include/pjrt_c_api.h", "include/pjrt_c_api.h")
    ctx.file("BUILD.bazel", _BUILD.format(build_cache = build_cache))

pjrt_plugin_repository = repository_rule(
    implementation = _implementation,
    environ = ["HOME", "STURNUS_CACHE", "STURNUS_PJRT_DIR", "STURNUS_PJRT_WHEEL", "XDG_CACHE_HOME"],
)
