// swift-tools-version: 6.2
import PackageDescription

// Every flag earns its place; they hold for all targets alike.
let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),  // `any` costs: it must be seen where it is used.
  .enableUpcomingFeature("InternalImportsByDefault"),  // No module leaks another's API by accident.
  .enableUpcomingFeature("MemberImportVisibility"),  // A file says what it uses.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // async helpers stay on their caller.
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  .strictMemorySafety(),  // Each unsafe expression is marked, so `grep unsafe` is the audit list.
  .treatAllWarnings(as: .error),
]
// `@_lifetime` is experimental: only the modules that hand out spans of their own may use it.
let spans: [SwiftSetting] = strict + [.enableExperimentalFeature("Lifetimes")]

/// A library target; `tests: true` adds `Tests/<name>Tests`.
struct Module {
  var name: String
  var uses: [String] = []
  /// What Apple's systems bring themselves.
  var usesOnLinux: [String] = []
  var settings = strict
  var testsUse: [String] = []
  /// Files that become part of the program, in `PackageResources`.
  var embedded: [String] = []

  var dependencies: [Target.Dependency] {
    uses.map { .init(stringLiteral: $0) }
      + usesOnLinux.map { .target(name: $0, condition: .when(platforms: [.linux])) }
  }
}

// Dependencies point down only; siblings never import each other.
let modules: [Module] = [
  // 0
  Module(name: "Primitives", uses: ["CPlatform"], settings: spans),
  // 1
  Module(name: "EventModel", uses: ["Primitives"], settings: spans),
  Module(name: "BusProtocol", uses: ["Primitives"]),
  Module(name: "Gzip", uses: ["Primitives", "CZlib"]),
  Module(name: "Hashing", uses: ["Primitives", "CSodium", "CCrypto"]),
  // 2
  Module(name: "Compression", uses: ["Primitives", "Gzip", "CZstd"]),
  Module(name: "EventCodec", uses: ["Primitives", "EventModel", "BusProtocol"], settings: spans),
  Module(name: "EventObservation", uses: ["EventModel"]),
  Module(name: "EventJournal", uses: ["Primitives"], testsUse: ["JournalTestSupport"]),
  Module(name: "BusTransport", uses: ["Primitives", "CZeroMQ"], settings: spans),
  Module(name: "Database", uses: ["Primitives", "CSQLite"]),
  Module(name: "HTTPServer", uses: ["Primitives", "CMicroHTTPD"]),
  Module(
    name: "HTTPClient", uses: ["Primitives", "CCurl"],
    testsUse: ["HTTPServer", "DestinationTestSupport"]),
  // 3
  Module(
    name: "BusBroker",
    uses: [
      "Primitives", "EventModel", "BusProtocol", "EventCodec", "EventJournal", "BusTransport",
      "Database", "CPlatform",
    ]),
  Module(
    name: "BusClient",
    uses: ["Primitives", "EventModel", "BusProtocol", "EventCodec", "BusTransport", "Database"],
    testsUse: ["BusBroker", "EventBus", "EventJournal", "EventBusTestSupport"]),
  Module(
    name: "SinkState",
    uses: ["Primitives", "EventModel", "BusProtocol", "EventCodec", "Hashing", "Database"],
    settings: spans),
  // What apps import: nothing outside the system on Apple's, so curl on Linux only.
  Module(
    name: "Analytics",
    uses: ["Primitives", "EventModel", "EventObservation", "EventCodec", "Database", "Gzip"],
    usesOnLinux: ["HTTPClient"], testsUse: ["AnalyticsTestSupport", "HTTPServer"]),
  // What events and paths are agreed on: read by apps, the collector and the tools.
  Module(
    name: "TrackingPlan", uses: ["Primitives", "EventModel", "EventCodec"], settings: spans),
  // 4
  Module(
    name: "Archive",
    uses: [
      "Primitives", "EventModel", "BusProtocol", "EventCodec", "Compression", "Hashing", "Database",
      "BusClient", "SinkState",
    ], settings: spans, testsUse: ["BusBroker", "EventJournal"]),
  Module(
    name: "Collector",
    uses: [
      "Primitives", "EventModel", "BusProtocol", "EventCodec", "Compression", "Hashing",
      "HTTPServer", "BusClient", "TrackingPlan",
    ], settings: spans, testsUse: ["BusBroker", "EventJournal"]),
  Module(
    name: "Destinations",
    uses: [
      "Primitives", "EventModel", "BusProtocol", "EventCodec", "Compression", "Hashing", "Database",
      "HTTPClient", "BusClient", "SinkState",
    ], settings: spans,
    testsUse: ["BusBroker", "EventJournal", "HTTPServer", "DestinationTestSupport"]),
  Module(
    name: "Aggregation",
    uses: [
      "Primitives", "EventModel", "BusProtocol", "EventCodec", "Hashing", "Database", "BusClient",
      "SinkState",
    ], settings: spans, testsUse: ["BusBroker", "EventJournal"]),
  // Both for apps: nothing outside the system in them.
  Module(
    name: "AnalyticsBus",
    uses: ["Primitives", "EventModel", "Database", "BusClient", "Analytics"],
    testsUse: ["BusBroker", "EventJournal", "BusProtocol", "EventCodec"]),
  Module(
    name: "AutoTracking",
    uses: ["Primitives", "EventModel", "EventCodec", "TrackingPlan", "Analytics"],
    testsUse: ["AnalyticsTestSupport", "Collector", "BusBroker", "BusClient"]),
  Module(
    name: "AnalyticsUI", uses: ["EventModel", "Analytics"], testsUse: ["AnalyticsTestSupport"]),
  Module(
    name: "LoadTest", uses: ["Primitives", "BusProtocol", "BusClient", "CPlatform"],
    testsUse: ["EventCodec", "EventModel"]),
  Module(
    name: "Dashboard", uses: ["Primitives", "Hashing", "HTTPServer"],
    embedded: [
      "Page/index.html", "Page/login.html", "Page/style.css", "Page/icon.svg", "Page/app.js",
      "Page/dom.js", "Page/format.js", "Page/source.js", "Page/charts.js", "Page/period.js",
      "Page/live.js", "Page/overview.js", "Page/reports.js", "Page/health.js",
    ]),
  // 5
  Module(name: "ServiceRuntime", uses: ["Primitives", "HTTPServer", "CPlatform"]),
  Module(name: "DropFour", uses: ["Primitives"]),
  // 6
  Module(
    name: "Inspection", uses: ["Primitives", "BusProtocol", "SinkState", "ServiceRuntime"]),
]

var targets: [Target] = [
  .target(name: "CPlatform"),
  .systemLibrary(name: "CZeroMQ", providers: [.apt(["libzmq3-dev"]), .brew(["zeromq"])]),
  .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
  .systemLibrary(
    name: "CMicroHTTPD", providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]),
  .systemLibrary(name: "CZstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
  .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
  .systemLibrary(name: "CCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
  .systemLibrary(name: "CSodium", providers: [.apt(["libsodium-dev"]), .brew(["libsodium"])]),
  .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
]
for module in modules {
  targets.append(
    .target(
      name: module.name, dependencies: module.dependencies,
      resources: module.embedded.map { .embedInCode($0) }, swiftSettings: module.settings))
  targets.append(
    .testTarget(
      name: module.name + "Tests",
      dependencies: module.dependencies
        + ([module.name, "TestSupport"] + module.testsUse).map { .init(stringLiteral: $0) },
      swiftSettings: module.settings))
}
targets += [
  // What programs on the bus import: the model and the client under one name.
  .target(
    name: "EventBus",
    dependencies: ["EventModel", "EventObservation", "BusClient", "BusProtocol"],
    swiftSettings: strict),
  // A recorder and fakes for the tests of apps, which need no bus.
  .target(
    name: "AnalyticsTestSupport",
    dependencies: ["Analytics", "EventModel", "EventCodec", "Gzip", "Primitives"],
    swiftSettings: strict),
  // The same, and a recorder for the tests of programs that publish.
  .target(
    name: "EventBusTestSupport",
    dependencies: ["EventModel", "BusClient", "AnalyticsTestSupport"], swiftSettings: strict),
  .executableTarget(
    name: "eventbus",
    dependencies: [
      "EventBus", "BusBroker", "ServiceRuntime", "DropFour", "Primitives", "EventModel",
      "BusProtocol", "EventCodec", "EventJournal", "BusTransport", "BusClient", "Database",
      "HTTPServer", "CPlatform", "Compression", "Hashing", "SinkState", "Archive",
      "Collector",
      "Destinations", "Aggregation", "HTTPClient", "LoadTest",
      "Inspection", "Dashboard",
      "TrackingPlan",
    ],
    path: "Sources/eventbus-cli",
    swiftSettings: strict),
  .target(
    name: "TestSupport", dependencies: ["Primitives", "CPlatform"], path: "Tests/TestSupport",
    swiftSettings: strict),
  // A disk in memory that crashes, tears and fills up.
  .target(
    name: "JournalTestSupport", dependencies: ["Primitives", "EventJournal"],
    path: "Tests/JournalTestSupport", swiftSettings: strict),
  // Pretended providers, which refuse what the real ones refuse and play their faults.
  .target(
    name: "DestinationTestSupport", dependencies: ["Primitives", "Compression", "Hashing"],
    path: "Tests/DestinationTestSupport", swiftSettings: strict),
  // One of them as a program of its own: `fake-destination segment 8080 429=5 200`.
  .executableTarget(
    name: "fake-destination", dependencies: ["DestinationTestSupport", "Primitives"],
    path: "Tests/FakeDestination", swiftSettings: strict),
  // Producers, a broker, its journal and subscribers without sockets and threads, by seeds.
  .testTarget(
    name: "SimulationTests",
    dependencies: [
      "Primitives", "BusProtocol", "EventJournal", "BusBroker", "BusClient", "JournalTestSupport",
    ],
    swiftSettings: strict),
  // Figures of single parts: `swift run -c release benchmarks`.
  .executableTarget(
    name: "benchmarks",
    dependencies: [
      "Primitives", "EventModel", "EventCodec", "BusClient", "BusProtocol", "TestSupport",
      "CPlatform", "Aggregation", "Archive", "Destinations", "HTTPClient", "Analytics",
    ],
    path: "Tests/Benchmarks", swiftSettings: strict),
  // An app that uses the library's public interface alone; integration tests play with it.
  .executableTarget(
    name: "sample-app", dependencies: ["Analytics", "AutoTracking", "TrackingPlan"],
    path: "Tests/SampleApp", swiftSettings: strict),
  // What the README shows, compiled and run.
  .testTarget(
    name: "ReadmeTests",
    dependencies: [
      "TestSupport", "EventBus", "BusBroker", "BusProtocol", "Primitives", "Analytics",
      "AnalyticsTestSupport", "AutoTracking",
    ],
    swiftSettings: strict),
  // The built program as people run it: processes, sockets, disks.
  .testTarget(
    name: "IntegrationTests",
    dependencies: [
      "eventbus", "TestSupport", "Primitives", "BusProtocol", "BusTransport",
      "DestinationTestSupport", "sample-app",
    ],
    swiftSettings: strict),
  // Every decoder as a function of any bytes, for libFuzzer (Deploy/fuzz) and for a short test.
  .target(
    name: "FuzzTargets",
    dependencies: [
      "Primitives", "EventModel", "EventCodec", "BusProtocol", "Compression", "EventJournal",
      "JournalTestSupport", "Hashing", "HTTPServer", "HTTPClient", "TrackingPlan", "BusBroker",
      "Archive", "BusClient", "Collector", "Destinations", "Aggregation", "ServiceRuntime",
      "Analytics", "BusTransport", "Dashboard", "Database", "LoadTest", "SinkState",
    ],
    path: "Tests/FuzzTargets", exclude: ["Corpus"], swiftSettings: strict),
  .testTarget(
    name: "FuzzTests", dependencies: ["FuzzTargets", "Primitives"], swiftSettings: strict),
  .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
  .executableTarget(
    name: "fuzz", dependencies: ["FuzzTargets", "CFuzzer"], path: "Tests/Fuzz",
    swiftSettings: strict),
  // Our style as tests over the source tree.
  .testTarget(name: "TidyTests", swiftSettings: strict),
]

let package = Package(
  name: "eventbus",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .executable(name: "eventbus", targets: ["eventbus"]),
    .library(name: "EventBus", targets: ["EventBus"]),
    .library(name: "Analytics", targets: ["Analytics"]),
    .library(name: "AnalyticsBus", targets: ["AnalyticsBus"]),
    .library(name: "AnalyticsUI", targets: ["AnalyticsUI"]),
    .library(name: "AutoTracking", targets: ["AutoTracking"]),
    .library(name: "AnalyticsTestSupport", targets: ["AnalyticsTestSupport"]),
    .library(name: "EventBusTestSupport", targets: ["EventBusTestSupport"]),
  ],
  targets: targets,
  swiftLanguageModes: [.v6]
)
