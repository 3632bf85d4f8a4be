import Primitives
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// `eventbus up`: everything on one machine, as child processes of this one.
enum UpCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "up", group: "Services",
      summary: "Runs the services on this machine and starts again what dies.",
      options: [
        .flag("demo", help: "Also play games and publish their events."),
        .option(
          "data", "DIR", help: "Where the services keep what must outlive them.",
          default: "./eventbus-data"),
        .option("port-base", "N", help: "Port of the bus; the others follow.", default: "7400"),
      ],
      examples: [
        CommandExample("eventbus up --demo", "A bus with events on it, to look around."),
        CommandExample("eventbus up --data /var/lib/eventbus --port-base 9400", "Beside another."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let arguments = context.arguments
    // Services find each other by their ports, and a restarted one must be where it was.
    let portBase = try arguments.value("port-base", in: 1...65_000)
    let services = Services(
      program: try executable(), data: try arguments.requiredText("data"), portBase: portBase,
      isDemo: arguments.flag("demo"), environment: context.environment,
      logArguments: logArguments(arguments), reports: try demoReports(arguments, context))
    // Set here for all children: their own options come from `services` alone.
    let own = Set(["EVENTBUS_PORT_BASE", "EVENTBUS_DATA", "EVENTBUS_METRICS", "EVENTBUS_BUS"])
    let requests = context.interruption.takeRequests()
    var supervisor = Supervisor(
      services.specifications,
      environment: context.environment.filter { !own.contains($0.key) }
        .merging(ClientKeys.variables(arguments)) { $1 },
      log: context.log.labelled("up"),
      observer: Supervisor.Observer(
        line: { service, line in Terminal.error("\(service): \(line)") },
        allReady: { Terminal.output(UpText.ready($0, portBase: portBase)) }))
    return try supervisor.run(
      until: Supervisor.Requests(
        descriptor: requests.wake.descriptor,
        next: { () throws(SystemError) in requests.next() }))
  }

  /// Written once; whoever changes the file afterwards sees the page change.
  private static func demoReports(
    _ arguments: Arguments, _ context: Commands.Context
  ) throws -> String? {
    guard arguments.flag("demo"), context.environment["EVENTBUS_REPORTS"] == nil else { return nil }
    let path = try arguments.requiredText("data") + "/demo-reports.json"
    if !SmallFile.exists(path) { try DemoReports.write(to: path) }
    return path
  }

  private static func logArguments(_ arguments: Arguments) -> [String] {
    ["log-level", "log-format"].flatMap { name in
      arguments.text(name).map { ["--\(name)", $0] } ?? []
    }
  }

  /// The running program's file, even where it was called by a relative path or through PATH.
  static func executable() throws(SystemError) -> String {
    #if os(Linux)
      var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
      let count = try SystemError.check("readlink", "/proc/self/exe") {
        unsafe readlink("/proc/self/exe", &bytes, bytes.count)
      }
      return String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    #else
      return CommandLine.arguments[0]
    #endif
  }
}

/// What `up` prints once everything runs.
enum UpText {
  static func ready(_ services: [(service: String, line: ReadyLine)], portBase: Int) -> String {
    var text = ""
    for (service, line) in services {
      text += service + "\n"
      for address in line.addresses { text += "  \(address.key)  \(address.value)\n" }
    }
    let bus = portBase == 7400 ? "" : " --bus tcp://127.0.0.1:\(portBase)"
    let metrics = services.lazy.compactMap { $0.line["metrics"] }.first
    text += "\nLook at it:\n"
    if let page = services.first(where: { $0.service == "aggregator" })?.line["listen"] {
      text += "  \(page)   the dashboard, in a browser\n"
    }
    text += "  eventbus tail\(bus)\n  eventbus status\(bus)\n"
    if let metrics { text += "  curl \(metrics)/metrics\n" }
    let addresses = services.flatMap { service, line in
      line.addresses.map { (key: "\(service).\($0.key)", value: $0.value) }
    }
    // Last, so that a script that waits for it has seen everything.
    return text + "Ctrl-C stops everything.\n\(ReadyLine(addresses))\n"
  }
}
