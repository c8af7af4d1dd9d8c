"""Outside libraries, under the same labels from the network or, with --config=system, from the system."""

load("//bazel:bazel4.bzl", "bazel4_stand_ins")

_PUBLIC = 'package(default_visibility = ["//visibility:public"])\n'

def _link_options(ctx, modules):
    """The libraries as pkg-config knows them; options (-l...) are taken as they are."""
    options = []
    for module in modules:
        if module.startswith("-"):
            options.append(module)
            continue
        result = ctx.execute(["pkg-config", "--libs", module])
        if result.return_code != 0:
            fail("pkg-config does not know %s: install its package, or build without --config=system if that fetches it.\n%s" %
                 (module, result.stderr))
        options += [option for option in result.stdout.strip().split(" ") if option]
    return options

def _implementation(ctx):
    if ctx.attr.url and ctx.os.environ.get("STURNUS_DEPS") != "system":
        ctx.download_and_extract(
            url = ctx.attr.url,
            sha256 = ctx.attr.sha256,
            stripPrefix = ctx.attr.strip_prefix,
        )
        if ctx.attr.build_file:
            ctx.file("BUILD.bazel", _PUBLIC + ctx.attr.build_file)
        return
    packages = {}
    for label, modules in ctx.attr.system_libraries.items():
        package, _, target = label.rpartition(":")
        rule = "cc_library(name = %r, linkopts = %r)\n" % (target, _link_options(ctx, modules))
        packages[package] = packages.get(package, _PUBLIC) + rule
    for folder, target in ctx.attr.system_folders.items():
        ctx.symlink(target, folder)
        packages[""] = _PUBLIC + ctx.attr.build_file
    for package, text in packages.items():
        ctx.file(package + "/BUILD.bazel" if package else "BUILD.bazel", text)

_repository = repository_rule(
    implementation = _implementation,
    attrs = {
        # Empty for those that come from the system alone.
        "url": attr.string(),
        "sha256": attr.string(),
        "strip_prefix": attr.string(),
        # For libraries that come without one.
        "build_file": attr.string(),
        # Labels, and the pkg-config modules they link; the headers stand in /usr/include.
        "system_libraries": attr.string_list_dict(),
        # Folders that the build file speaks of, and where the system has them.
        "system_folders": attr.string_dict(),
    },
    environ = ["STURNUS_DEPS", "PKG_CONFIG_PATH"],
)

def sturnus_dependencies():
    """Defines a repository for each outside library; the pins are those of cmake/Dependencies.cmake."""
    _repository(
        name = "com_google_absl",
        url = "https://github.com/abseil/abseil-cpp/releases/download/20240722.0/abseil-cpp-20240722.0.tar.gz",
        sha256 = "f50e5ac311a81382da7fa75b97310e4b9006474f9560ac46f54a9967f07d4ae3",
        strip_prefix = "abseil-cpp-20240722.0",
        system_libraries = {
            "absl/container:flat_hash_map": ["absl_flat_hash_map"],
            "absl/container:flat_hash_set": ["absl_flat_hash_set"],
            "absl/container:inlined_vector": ["absl_inlined_vector"],
            "absl/hash:hash": ["absl_hash"],
            "absl/strings:str_format": ["absl_str_format"],
            "absl/strings:strings": ["absl_strings"],
        },
    )
    _repository(
        name = "boost",
        url = "https://archives.boost.io/release/1.84.0/source/boost_1_84_0.tar.gz",
        sha256 = "a5800f405508f5df8114558ca9855d2640a2de8f0445f051fa1c7c3383045724",
        strip_prefix = "boost_1_84_0",
        build_file = 'cc_library(name = "headers", hdrs = glob(["boost/**"]), includes = ["."])\n',
        system_libraries = {":headers": []},
    )
    _repository(
        name = "cli11",
        url = "https://github.com/CLIUtils/CLI11/archive/refs/tags/v2.5.0.tar.gz",
        sha256 = "17e02b4cddc2fa348e5dbdbb582c59a3486fa2b2433e70a0c3bacb871334fd55",
        strip_prefix = "CLI11-2.5.0",
        build_file = 'cc_library(name = "cli11", hdrs = glob(["include/**"]), includes = ["include"])\n',
        system_libraries = {":cli11": []},
    )
    _repository(
        name = "eigen",
        url = "https://gitlab.com/libeigen/eigen/-/archive/3.4.0/eigen-3.4.0.tar.gz",
        sha256 = "8586084f71f9bde545ee7fa6d00288b264a2b7ac3607b974e54d13e7162c1c72",
        strip_prefix = "eigen-3.4.0",
        build_file = 'cc_library(name = "eigen", hdrs = glob(["Eigen/**", "unsupported/Eigen/**"]), includes = ["."])\n',
        system_folders = {
            "Eigen": "/usr/include/eigen3/Eigen",
            "unsupported": "/usr/include/eigen3/unsupported",
        },
    )
    _repository(
        name = "nlohmann_json",
        url = "https://github.com/nlohmann/json/archive/refs/tags/v3.11.3.tar.gz",
        sha256 = "0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406",
        strip_prefix = "json-3.11.3",
        build_file = 'cc_library(name = "json", hdrs = glob(["include/**"]), includes = ["include"])\n',
        system_libraries = {":json": []},
    )

    # It stands on HDF5, and both have builds of their own.
    _repository(
        name = "netcdf",
        system_libraries = {":netcdf": ["netcdf"]},
    )
    _repository(
        name = "com_google_googletest",
        url = "https://github.com/google/googletest/archive/refs/tags/v1.14.0.tar.gz",
        sha256 = "8ad598c73ad796e0d8280b082cebd82a630d73e73cd3c70057938a6501bba5d7",
        strip_prefix = "googletest-1.14.0",
        system_libraries = {
            ":gtest": ["gmock"],
            ":gtest_main": ["gmock", "gtest_main"],
        },
    )
    _repository(
        name = "com_github_google_benchmark",
        url = "https://github.com/google/benchmark/archive/refs/tags/v1.8.3.tar.gz",
        sha256 = "6bc180a57d23d4d9515519f92b0c83d61b05b5bab188961f36ac7b06b0d9e9ce",
        strip_prefix = "benchmark-1.8.3",
        system_libraries = {
            ":benchmark": ["benchmark"],
            ":benchmark_main": ["-lbenchmark_main", "benchmark"],
        },
    )

    # Not ours: Abseil's build files load it.
    _repository(
        name = "bazel_skylib",
        url = "https://github.com/bazelbuild/bazel-skylib/releases/download/1.5.0/bazel-skylib-1.5.0.tar.gz",
        sha256 = "cd55a062e763b9349921f0f5db8c3933288dc8ba4f76dd9416aac68acee3cb94",
    )

    bazel4_stand_ins()
