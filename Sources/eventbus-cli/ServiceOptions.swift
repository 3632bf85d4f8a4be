import ServiceRuntime

/// What all services share on the command line.
enum ServiceOptions {
  static let all: [OptionDefinition] = [
    .option("data", "DIR", help: "Where everything is kept.", default: "./eventbus-data"),
    .option(
      "port-base", "N", help: "Port of the bus; the others follow. 0 lets the system choose all.",
      default: "7400"),
    .option(
      "metrics", "HOST:PORT", help: "Where GET /metrics, /healthz, /readyz and /status answer."),
    .option("grace", "DURATION", help: "Time for an orderly end.", default: "10s"),
  ]

  /// The ports that belong together, by their distance from the bus.
  struct Ports {
    let base: Int

    init(_ arguments: Arguments) throws(UsageError) {
      base = try arguments.value("port-base", in: 0...65_000)
    }

    func address(_ distance: Int) -> String {
      base == 0 ? "tcp://127.0.0.1:*" : "tcp://127.0.0.1:\(base + distance)"
    }
  }
}
