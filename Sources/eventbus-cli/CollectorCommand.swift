import BusClient
import Collector
import HTTPServer
import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `eventbus collector`.
enum CollectorCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "collector", group: "Services",
      summary: "Takes events over HTTP, as Segment's and Mixpanel's clients send them.",
      options: .service + [
        .option(
          "listen", "HOST:PORT",
          help: "Where clients connect. Default: 127.0.0.1, ten above the bus."),
        .repeated(
          "write-key", "KEY",
          help: "A key that may write. Others see a command line: EVENTBUS_WRITE_KEY or a file is "
            + "safer. Without any key all may write, which only loopback allows."
        ).secret,
        .option("write-key-file", "FILE", help: "Keys that may write, one a line."),
        .option(
          "max-body", "SIZE", help: "Bytes of one body, as it is sent and as it is unpacked.",
          default: "4MiB"),
        .option(
          "rules", "FILE", help: "JSON: properties to drop or hash before anything is stored."),
        .option("tls-certificate", "FILE", help: "Serve TLS: the certificate and its chain, PEM."),
        .option("tls-key", "FILE", help: "The certificate's private key, PEM."),
        .option("connections", "N", help: "Connections at a time.", default: "2048"),
        .option(
          "connections-per-address", "N",
          help: "Of those, from one address; 0: any number, as behind a proxy.", default: "0"),
        .option(
          "client-timeout", "DURATION",
          help:
            "A client that takes longer is cut: for the head of a request, its body, the answer, "
            + "and between two requests.", default: "30s"),
        .option(
          "bus-deadline", "DURATION", help: "How long a request may wait for the bus.",
          default: "10s"),
      ],
      examples: [
        CommandExample(
          "EVENTBUS_WRITE_KEY=abc eventbus collector --listen 0.0.0.0:7410",
          "For other machines, with a key."),
        CommandExample("eventbus collector --rules privacy.json", "Nothing named there is stored."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let arguments = context.arguments
    let ports = try ServicePorts(arguments)
    var configuration = try CollectorOptions.configuration(context)
    let metrics = try ports.metrics(arguments, distance: 11)
    let log = context.log.labelled("collector")
    FileLimit.raise()
    configuration.onPlanTrouble = { text in
      log.warning("trouble with the plan", LogField("what", .text(TerminalText.escape(text))))
    }
    let listen = HostPort(host: configuration.host, port: configuration.port)
    configuration.onFull = { log.allConnectionsTaken($0, on: listen) }
    let collector: Collector
    do {
      collector = try Collector(configuration) { log.note($0) }
    } catch {
      switch error {
      case .needsKeys: throw UsageError("\(error)")
      case .bus: throw UsageError("--bus: \(error)")
      case .server(let error): throw CommandFailure("--listen \(configuration.host)", error)
      case .system: throw CommandFailure(.failed, "--listen \(configuration.host): \(error)")
      }
    }
    if configuration.identity == nil, !Loopback.contains(configuration.host) {
      log.warning(
        "keys and events travel in plain text: give --tls-certificate, or put a proxy before")
    }
    let end = try ServiceEnd(context) {}
    let health: HealthServer
    do {
      health = try HealthServer(
        metrics, CollectorHealth.routes(collector, context.interruption), log: log)
    } catch {
      _ = collector.stop()
      end.finish()
      throw CommandFailure("--metrics \(metrics)", error)
    }
    let scheme = configuration.identity == nil ? "http" : "https"
    let address = HostPort(host: configuration.host, port: collector.port)
    try Readiness.announce(
      [("listen", "\(scheme)://\(address)"), ("metrics", "http://\(health.address)")], context)
    // The producer ends by itself only when trying again is of no use.
    while !context.interruption.isRequested, collector.failure == nil {
      context.interruption.wait(milliseconds: 500)
    }
    let failure = context.interruption.isRequested ? nil : collector.failure
    let result = collector.stop()
    health.stop()
    end.finish()
    if let failure { throw CommandFailure(.failed, "\(failure)") }
    return report(result, log)
  }

  private static func report(_ result: FlushResult, _ log: Log) -> ExitCode {
    guard !result.isComplete else { return .done }
    // Their senders were told so, and send them again.
    log.warning(
      "stopped with events that the bus had not acknowledged",
      LogField("events", .integer(Int64(clamping: result.unacknowledged))))
    return .done
  }
}

/// The options of `eventbus collector` as its configuration.
enum CollectorOptions {
  static func configuration(_ context: Commands.Context) throws -> CollectorConfiguration {
    let arguments = context.arguments
    let ports = try ServicePorts(arguments)
    var configuration = CollectorConfiguration(bus: try ports.bus(arguments))
    let usual = HostPort(host: "127.0.0.1", port: ports.base == 0 ? 0 : UInt16(ports.base + 10))
    let listen = try arguments.optional("listen", as: HostPort.self) ?? usual
    configuration.host = listen.host
    configuration.port = listen.port
    configuration.maximumBodyBytes = try arguments.value(
      "max-body", in: ByteSize(bytes: 1024)...ByteSize(bytes: 1 << 30)
    ).bytes
    // Reading requests is nearly all of the work.
    configuration.threads = max(2, min(16, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    configuration.connections = try arguments.value("connections", in: 1...100_000)
    configuration.connectionsPerAddress = try arguments.value(
      "connections-per-address", in: 0...100_000)
    let timeout = try arguments.value(
      "client-timeout", in: Duration.seconds(1)...Duration.seconds(86_400))
    configuration.clientSeconds = Int(timeout.components.seconds)
    configuration.busDeadline = try arguments.value(
      "bus-deadline", in: Duration.milliseconds(100)...Duration.seconds(3600))
    let grace = try arguments.value("grace", as: Duration.self)
    // Ends before the process is ended.
    configuration.grace = grace * 8 / 10
    configuration.writeKeys = try keys(context)
    configuration.isOpenToAll = arguments.flag("insecure")
    configuration.identity = try identity(context)
    configuration.rules = try rules(context)
    configuration.planDirectory = try arguments.requiredText("data") + "/collector"
    return configuration
  }

  private static func keys(_ context: Commands.Context) throws -> [String] {
    var keys = context.arguments.texts("write-key")
    try check(keys, "--write-key")
    if let path = context.arguments.text("write-key-file") {
      let text = String(
        decoding: try SecretFile.read(path, option: "write-key-file"), as: UTF8.self)
      let given = text.split(whereSeparator: \.isNewline).map(String.init)
      guard !given.isEmpty else {
        throw UsageError("--write-key-file \(path) has no key; write one a line")
      }
      try check(given, "--write-key-file \(path)")
      keys += given
    }
    return keys
  }

  /// A key is the user of Basic authentication, which ends at a colon.
  private static func check(_ keys: [String], _ place: String) throws {
    let isPlain = { (key: String) in
      key.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
    }
    guard keys.allSatisfy({ !$0.isEmpty && isPlain($0) }) else {
      throw UsageError(
        "\(place): a key is a text in ASCII without blanks and colons, and not empty")
    }
  }

  private static func identity(_ context: Commands.Context) throws -> TLSIdentity? {
    let certificate = context.arguments.text("tls-certificate")
    let key = context.arguments.text("tls-key")
    switch (certificate, key) {
    case (nil, nil): return nil
    case (let certificate?, let key?):
      return TLSIdentity(
        certificate: try SmallFile.read(certificate, context, naming: "--tls-certificate"),
        key: try SecretFile.read(key, option: "tls-key"))
    default: throw UsageError("--tls-certificate and --tls-key go together; one is missing")
    }
  }

  private static func rules(_ context: Commands.Context) throws -> PropertyRules {
    guard let path = context.arguments.text("rules") else { return PropertyRules() }
    do {
      return try PropertyRules(json: try SmallFile.read(path, context, naming: "--rules"))
    } catch let error as RulesError {
      throw UsageError("--rules \(path): \(error)")
    }
  }
}
