// swift-tools-version: 6.2
import PackageDescription

// The manifest is the architecture: arrows only go down, and `scripts/lint-imports` holds the sources against it.
// docs/modules.md has a paragraph for each target.

/// Set by scripts/check and scripts/test, and so by CI: a warning is an error there. A newer compiler, with warnings that
/// nobody has seen yet, must not keep a user from building.
let warningsAreErrors = Context.environment["SYNC_AGENT_WARNINGS"] == "errors"

/// Set by scripts/build-tests: a release build with assertions, for a sanitizer or not.
let wantedBuild = Context.environment["SYNC_AGENT_BUILD"] ?? ""
let isForTests = ["tests", "sanitized-tests"].contains(wantedBuild)
/// A sanitizer brings an allocator that fills no memory as mallopt(3) is told.
let sanitized: [SwiftSetting] = wantedBuild == "sanitized-tests" ? [.define("SANITIZED")] : []
/// The flags of what takes long to compile and little time in a test: workflows, commands, the tests.
let asInDebug = ["-Onone", "-enable-testing", "-no-whole-module-optimization", "-enable-batch-mode", "-incremental"]
/// Of what looks at every byte of a photo, a listing or a ledger.
let optimised = ["-enable-testing", "-assert-config", "Debug"]

func strict(inTests flags: [String]) -> [SwiftSetting] {
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (warningsAreErrors ? [.treatAllWarnings(as: .error)] : []) + sanitized
        + (isForTests ? [.unsafeFlags(flags)] : [])
}

let systemPackage = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
/// Of swift-service-lifecycle; named here for its exact version only.
let asyncAlgorithms = Target.Dependency.product(name: "AsyncAlgorithms", package: "swift-async-algorithms")
/// Of swift-async-algorithms, likewise.
let collections = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let lifecycleTestKit = Target.Dependency.product(
    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
/// Of swift-nio; named here for its exact version only.
let atomics = Target.Dependency.product(name: "Atomics", package: "swift-atomics")
let mustache = Target.Dependency.product(name: "Mustache", package: "swift-mustache")

/// A C shim over one system library, which may be in C++ behind its header. It is optimised in debug builds too:
/// the pixel loops of the codec are unusable at -O0, and a shim has nothing to step through.
/// What a shim does wrong with a stranger's file ends the process, and does not go on: canaries on the stack, and the
/// checked forms of memcpy(3) and its like.
func shim(_ name: String, _ dependencies: [Target.Dependency] = [], links libraries: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        cSettings: [.unsafeFlags(warningsInC + hardening), .unsafeFlags(["-O2"], .when(configuration: .debug))],
        cxxSettings: [.unsafeFlags(warningsInC + hardening), .unsafeFlags(["-O2"], .when(configuration: .debug))],
        linkerSettings: libraries.map { .linkedLibrary($0) }
    )
}

let warningsInC = ["-Wall", "-Wextra", "-Wno-unused-parameter"] + (warningsAreErrors ? ["-Werror"] : [])
let hardening = ["-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3"]
/// All symbols are bound at the start, and the table of them is read-only from then on (ld(1), `-z now`). Addresses that
/// only move with the program take a bit in place of 24 bytes each, of which there are 131,000 (`pack-relative-relocs`;
/// glibc from 2.36 on). The program shows its symbols to none of its libraries: each of their look-ups would search them.
let boundAtStart = LinkerSetting.unsafeFlags(
    ["-use-ld=lld"]
        + ["-z", "relro", "-z", "now", "-z", "pack-relative-relocs", "--no-export-dynamic"]
        .flatMap { ["-Xlinker", $0] })

/// In the tests' build the program has Swift's libraries in it, as the installed one has: to load them and find what it needs
/// is a third of a short command. The objects name those that are loaded; what they bring is named here.
let runtimeLinkedIn = LinkerSetting.unsafeFlags(
    wantedBuild == "tests"
        ? ["-static-stdlib"]
            + ["CoreFoundation", "_FoundationICU", "_FoundationCShims", "_FoundationCollections"].map { "-l\($0)" }
        : [])

func module(_ name: String, _ dependencies: [Target.Dependency], inTests flags: [String] = optimised) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict(inTests: flags))
}

/// - Parameter flags: ``optimised`` for tests that look at every byte themselves.
func suite(
    _ name: String, in group: String, _ dependencies: [Target.Dependency], inTests flags: [String] = asInDebug
) -> Target {
    .testTarget(
        name: name,
        dependencies: dependencies + ["SyncCore", "SyncSystem", "SyncTestSupport", systemPackage],
        path: "Tests/\(group)/\(name)",
        swiftSettings: strict(inTests: flags)
    )
}

/// Set by scripts/fuzz only, whose sanitizer brings a `main` of its own.
let isFuzzing = Context.environment["SYNC_AGENT_FUZZ"] != nil

/// In C throughout, as the libraries are; what is wrong in them is in this process, and not in the agent. For the trials it is
/// a library, since its decoders are tried without the sandbox.
let decoder: Target = {
    let flags: [CSetting] = [
        .unsafeFlags(warningsInC + hardening), .unsafeFlags(["-O2"], .when(configuration: .debug)),
    ]
    let flagsOfCXX: [CXXSetting] = [.unsafeFlags(warningsInC + hardening)]
    let libraries = ["heif", "de265", "dav1d", "png", "webp", "webpdemux", "tiff", "gif", "raw", "jxl", "m"]
    let links = libraries.map { LinkerSetting.linkedLibrary($0) }
    return isFuzzing
        ? .target(
            name: "sync-agent-decoder", dependencies: ["CSyncDecoder"], exclude: ["main.c"], publicHeadersPath: ".",
            cSettings: flags, cxxSettings: flagsOfCXX, linkerSettings: links)
        : .executableTarget(
            name: "sync-agent-decoder", dependencies: ["CSyncDecoder"], cSettings: flags,
            cxxSettings: flagsOfCXX, linkerSettings: links + [boundAtStart])
}()

/// The reader of a stranger's bytes is in a library; the executable is what libFuzzer calls, in C.
let trials: [Target] =
    !isFuzzing
    ? []
    : [
        .target(
            name: "FuzzTargets",
            dependencies: [
                "SyncCore", "SyncDigest", "SyncPhotos", "SyncS3", "SyncConfig", "SyncPages", "CSyncJPEG", "CSyncExif",
                "CSyncDecoder", "sync-agent-decoder", systemPackage,
            ],
            path: "Tests/Fuzz/FuzzTargets", swiftSettings: strict(inTests: asInDebug)),
        .executableTarget(name: "sync-fuzz", dependencies: ["FuzzTargets"], path: "Tests/Fuzz/sync-fuzz"),
    ]

let package = Package(
    name: "sync-agent",
    products: [
        .executable(name: "sync-agent", targets: ["sync-agent"])
    ] + (isFuzzing ? [] : [.executable(name: "sync-agent-decoder", targets: ["sync-agent-decoder"])]),
    // Exact versions, in place of a lock file: see CONTRIBUTING.md.
    dependencies: [
        .package(url: "https://github.com/apple/swift-system", exact: "1.8.1"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", exact: "1.1.4"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-atomics", exact: "1.3.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
    ],
    targets: [
        // Floor 0: one system library each.
        shim("CSyncJPEG", links: ["jpeg"]),
        shim("CSyncCurl", ["CSyncLibrary"]),
        shim("CSyncCrypto", ["CSyncLibrary"]),
        shim("CSyncExif", links: ["exif"]),
        shim("CSyncPhone", ["CSyncLibrary"]),
        shim("CSyncArchive", ["CSyncLibrary"]),
        shim("CSyncLinux"),
        shim("CSyncZlib", links: ["z"]),
        shim("CSyncQR", links: ["qrencode"]),
        shim("CSyncSQLite", links: ["sqlite3"]),
        shim("CSyncDecoder"),
        // Opens the libraries of the others that are not linked.
        shim("CSyncLibrary"),

        // Floor 1: values, decisions, ports.
        module("SyncCore", [systemPackage]),
        module("SyncDigest", ["CSyncCrypto", "SyncCore"]),
        module("SyncSystem", ["CSyncLinux", "SyncCore", "SyncDigest", systemPackage]),
        module("SyncGzip", ["CSyncZlib"]),
        module("SyncQR", ["CSyncQR"]),

        // Floor 2: one adapter for each part of the world. None imports its neighbour.
        module("SyncWatch", ["SyncCore", "SyncDigest", "SyncSystem", systemPackage]),
        module(
            "SyncPhotos",
            ["SyncCore", "SyncDigest", "SyncSystem", "CSyncJPEG", "CSyncExif", "CSyncDecoder", systemPackage]),
        module("SyncLocalStore", ["SyncCore", "SyncDigest", "SyncSystem", systemPackage]),
        module("SyncS3", ["SyncCore", "SyncDigest", "SyncSystem", "CSyncCurl", systemPackage]),
        .target(
            name: "SyncPages",
            dependencies: ["SyncCore", mustache],
            resources: [.embedInCode("Templates")],
            swiftSettings: strict(inTests: optimised)
        ),
        module("SyncPhone", ["SyncCore", "CSyncPhone"]),
        module("SyncArchive", ["SyncCore", "SyncSystem", "CSyncArchive", systemPackage]),
        module(
            "SyncHTTP",
            ["SyncCore", "SyncSystem", nioCore, nioPosix, nioHTTP1, atomics, logging, systemPackage]),
        .target(
            name: "SyncLedger",
            dependencies: ["SyncCore", "SyncSystem", "CSyncSQLite", grdb, systemPackage],
            resources: [.embedInCode("Schema/ledger.sql")],
            swiftSettings: strict(inTests: optimised)
        ),
        .target(
            name: "SyncConfig",
            dependencies: ["SyncCore", yams, systemPackage],
            resources: [.embedInCode("Prices/prices.yaml")],
            swiftSettings: strict(inTests: optimised)
        ),

        // Floor 3: the workflows.
        module(
            "SyncEngine",
            [
                "SyncCore", "SyncDigest", "SyncSystem", "SyncGzip", "SyncLedger", "SyncPages", systemPackage, logging,
                asyncAlgorithms, collections, serviceLifecycle,
            ],
            inTests: asInDebug
        ),

        // Floors 4 and 5: the program.
        module(
            "SyncCLI",
            [
                "SyncCore", "SyncDigest", "SyncSystem", "SyncWatch", "SyncPhotos", "SyncLocalStore", "SyncS3",
                "SyncLedger",
                "SyncConfig", "SyncPages", "SyncHTTP", "SyncPhone", "SyncArchive", "SyncQR", "SyncEngine",
                systemPackage,
                logging, serviceLifecycle,
                unixSignals, argumentParser,
            ],
            inTests: asInDebug
        ),
        .executableTarget(
            name: "sync-agent", dependencies: ["SyncCLI"], swiftSettings: strict(inTests: asInDebug),
            linkerSettings: [boundAtStart, runtimeLinkedIn]
        ),
        decoder,

        .target(
            name: "SyncTestSupport",
            dependencies: ["SyncCore", "SyncDigest", "SyncLedger", "SyncSystem", systemPackage, logging],
            path: "Tests/Support/SyncTestSupport",
            swiftSettings: strict(inTests: optimised)
        ),
        // Pure: no disk, network or process.
        suite("SyncCoreTests", in: "Pure", []),
        suite("SyncDigestTests", in: "Pure", ["SyncDigest"]),
        suite("SyncS3Tests", in: "Pure", ["SyncS3"]),
        suite("SyncConfigTests", in: "Pure", ["SyncConfig"]),
        suite("SyncLedgerTests", in: "Pure", ["SyncLedger", grdb]),
        suite("SyncPagesTests", in: "Pure", ["SyncPages", "SyncDigest"]),
        suite("SyncPhoneTests", in: "Pure", ["SyncPhone"]),
        suite("SyncQRTests", in: "Pure", ["SyncQR"]),
        suite(
            "SyncEngineTests", in: "Pure", ["SyncEngine", "SyncLedger", "SyncDigest", logging, lifecycleTestKit]),
        suite(
            "SyncCLITests", in: "Pure",
            ["SyncCLI", "SyncEngine", "SyncLedger", "SyncConfig", "SyncS3", argumentParser]),
        // Disk, network and processes.
        suite("ConfigFileTests", in: "Disk", ["SyncConfig"]),
        // Decodes JPEGs by itself, as a second opinion.
        suite("PhotoFileTests", in: "Disk", ["SyncPhotos", "CSyncJPEG", "SyncDigest"], inTests: optimised),
        suite("WatchTests", in: "Disk", ["SyncWatch"]),
        suite("SystemTests", in: "Disk", ["CSyncLibrary"]),
        suite("LedgerFileTests", in: "Disk", ["SyncLedger", grdb]),
        suite("StoreTests", in: "Disk", ["SyncLocalStore", "SyncS3", "SyncDigest"]),
        // Reads back a ZIP file of 66,000 files.
        suite("ArchiveFileTests", in: "Disk", ["SyncArchive"], inTests: optimised),
        suite("HTTPTests", in: "Disk", ["SyncHTTP", logging]),
        suite("MirrorTests", in: "Disk", ["SyncEngine", "SyncS3", "SyncDigest"]),
        suite(
            "GalleryTests", in: "Disk", ["SyncEngine", "SyncLedger", "SyncPhotos", "SyncDigest", "SyncWatch", logging]),
        suite(
            "ProjectTests", in: "Disk", ["SyncEngine", "SyncLedger", "SyncPhotos", "SyncDigest", "SyncWatch", logging]),
        suite(
            "ShareTests", in: "Disk",
            ["SyncEngine", "SyncLedger", "SyncPhotos", "SyncLocalStore", "SyncDigest", "SyncWatch", logging, grdb]),
        suite("LifeTests", in: "Disk", ["SyncEngine", "SyncLedger", "SyncDigest", "SyncWatch", logging, grdb]),
        suite("CatalogTests", in: "Disk", ["SyncEngine", "SyncLedger", "SyncGzip", "SyncDigest", logging, grdb]),
        suite("ScriptedServerTests", in: "Disk", ["SyncDigest"]),
        suite("TransportTests", in: "Disk", ["SyncS3", "SyncDigest"]),
        suite(
            "BadDayTests", in: "Disk",
            ["SyncEngine", "SyncLedger", "SyncS3", "SyncDigest", logging, grdb, lifecycleTestKit]),
        suite("DownloadTests", in: "Disk", ["SyncEngine", "SyncLedger", "SyncS3", "SyncDigest", logging]),
        suite("NoticeTests", in: "Disk", ["SyncCLI", "SyncConfig"]),
        suite("MonitoringTests", in: "Disk", ["SyncEngine", "SyncLedger"]),
        suite("WorkspaceTests", in: "Disk", ["SyncCLI", "SyncEngine", "SyncLedger", "SyncLocalStore", argumentParser]),
        suite("AgentTests", in: "Process", ["SyncDigest"]),
    ] + trials,
    swiftLanguageModes: [.v6]
)
