import BusBroker
import CPlatform
import EventJournal
import Primitives
import ServiceRuntime

/// `eventbus broker`.
enum BrokerCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "broker", group: "Services",
      summary: "Takes events, keeps them in the journal and hands them out by name.",
      options: .service + [
        .option(
          "durability", "MODE", help: "What an acknowledgement promises: fsync, os or none.",
          default: "fsync", choices: ["fsync", "os", "none"]),
        .option(
          "retention-age", "DURATION",
          help: "Age of the oldest events kept once all have read them.",
          default: "7d"),
        .option(
          "retention-bytes", "SIZE", help: "Bytes of journal kept once all have read them.",
          default: "10GiB"),
        .option(
          "keep-unread-bytes", "SIZE",
          help: "Bytes kept for subscribers that lag; at the limit new events are refused. "
            + "Default: half of the free disk at start."),
        .flag("drop-unread", help: "At that limit, delete the oldest instead."),
        .option(
          "bind", "HOST", help: "The address of this machine on which clients find the bus.",
          default: "127.0.0.1"),
        .flag(
          "curve",
          help: "Ask every client for a key (`eventbus keys`); all traffic is encrypted. "
            + "Needed, or --insecure, for --bind to other than loopback."),
        .option("segment-bytes", "SIZE", help: "Bytes of one journal file.", default: "128MiB"),
      ],
      examples: [
        CommandExample("eventbus broker --data /var/lib/eventbus", "The bus on its usual ports."),
        CommandExample(
          "eventbus broker --port-base 9400", "Beside another one, on ports 9400 to 9404."),
        CommandExample(
          "eventbus broker --bind 0.0.0.0 --curve", "For other machines that have a key."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let configuration = try configuration(context.arguments)
    let metrics = try ServicePorts(context.arguments).metrics(context.arguments, distance: 4)
    let log = context.log.labelled("broker")
    FileLimit.raise()
    // The tail and what is on its way, with the holes between that no allocator avoids (43 MB after five
    // minutes of 20,000 events a second): it has its size from the start, and who looks for a leak sees
    // a flat line.
    eb_keep_freed_memory(64 << 20)
    eb_reserve_memory(48 << 20)
    let broker: Broker
    do {
      broker = try Broker(configuration, version: Commands.version) { log.note($0) }
    } catch {
      throw CommandFailure(error)
    }
    let end = try ServiceEnd(context) { broker.stop() }
    let health: HealthServer
    do {
      health = try HealthServer(
        metrics, BrokerHealth.routes(broker, context.interruption), log: log)
    } catch {
      broker.stop()
      broker.join()
      end.finish()
      throw CommandFailure("--metrics \(metrics)", error)
    }
    let addresses = broker.addresses
    let key = broker.serverKey
    try Readiness.announce(
      [
        ("bus", addresses.bus), ("live", addresses.live), ("publish", addresses.publish),
        ("push", addresses.push), ("metrics", "http://\(health.address)"),
      ] + (key.isEmpty ? [] : [("serverKey", key)]), context)
    broker.join()
    health.stop()
    end.finish()
    guard let failure = broker.failure else { return .done }
    throw CommandFailure(.diskError, failure)
  }

  private static func configuration(_ arguments: Arguments) throws(UsageError)
    -> BrokerConfiguration
  {
    var configuration = BrokerConfiguration(directory: try arguments.requiredText("data"))
    let ports = try ServicePorts(arguments)
    let host = host(named: try arguments.requiredText("bind"))
    configuration.asksForKeys = arguments.flag("curve")
    if !configuration.asksForKeys {
      try ServicePorts.requireLoopback(
        host, "--bind \(host)", arguments, otherwise: "give --curve")
    }
    configuration.busAddress = ports.address(0, host: host)
    configuration.liveAddress = ports.address(1, host: host)
    configuration.publishAddress = ports.address(2, host: host)
    configuration.pushAddress = ports.address(3, host: host)
    configuration.durability =
      JournalDurability(rawValue: try arguments.requiredText("durability")) ?? .fsync
    configuration.retentionAge = try arguments.value("retention-age", as: Duration.self)
    configuration.retentionBytes = try arguments.value("retention-bytes", as: ByteSize.self).bytes
    configuration.segmentBytes = try arguments.value(
      "segment-bytes", in: ByteSize(bytes: 64 << 10)...ByteSize(bytes: 16 << 30)
    ).bytes
    configuration.keepUnreadBytes =
      try arguments.optional("keep-unread-bytes", as: ByteSize.self)?.bytes ?? 0
    configuration.dropUnread = arguments.flag("drop-unread")
    return configuration
  }

  /// As libzmq takes it: it reads a name as one of a network interface, and brackets are added later.
  private static func host(named text: String) -> String {
    if text == "localhost" { return "127.0.0.1" }
    return text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
  }
}
