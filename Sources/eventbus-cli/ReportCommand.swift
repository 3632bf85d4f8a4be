import EventCodec
import EventModel
import HTTPClient
import Primitives
import ServiceRuntime

/// `eventbus report`.
enum ReportCommand {
  static let entry = Commands.Entry(
    definition: CommandDefinition(
      name: "report", group: "Events",
      summary: "Shows a report of the aggregator; without a name, which there are.",
      positionals: [PositionalDefinition("NAME", help: "The report's name.", count: .optional)],
      options: [
        .option(
          "from", "TIME",
          help:
            "Windows from this time on: a time, a date, or an age as 7d; without a zone in the report's."
        ),
        .option("to", "TIME", help: "Windows that begin before this time."),
        .option(
          "format", "FORMAT", help: "table, json or csv.", default: "table",
          choices: ["table", "json", "csv"]),
        .option("groups", "N", help: "How many groups to list.", default: "20"),
        .option(
          "aggregator", "URL",
          help: "Where the aggregator answers. Default: where the bus is, twenty ports above."),
        .option("token", "TOKEN", help: "The aggregator's token, where it wants one.").secret,
        .option("timeout", "TIME", help: "How long to wait for the answer.", default: "30s"),
      ],
      examples: [
        CommandExample("eventbus report events-by-hour --from 1d", "Events of a day by name."),
        CommandExample(
          "eventbus report users-by-day --format csv > users.csv", "All windows as a file."),
      ]),
    run: run)

  private static func run(_ context: Commands.Context) throws -> ExitCode {
    let arguments = context.arguments
    let base = try endpoint(arguments)
    guard let name = arguments.positionals.first else {
      let isJSON = arguments.text("format") == "json"
      let url = base.url("/api/reports", query: "format=\(isJSON ? "json" : "table")")
      Terminal.output(String(decoding: try fetch(url, arguments), as: UTF8.self))
      return .done
    }
    var query = ["format=\(try arguments.requiredText("format"))"]
    for option in ["from", "to"] {
      guard let text = arguments.text(option) else { continue }
      query.append("\(option)=\(try time(text, naming: "--\(option)"))")
    }
    query.append("groups=\(try arguments.value("groups", in: 1...100_000))")
    let url = base.url(
      "/api/reports/\(PercentEncoding.encode(name))", query: query.joined(separator: "&"))
    Terminal.output(String(decoding: try fetch(url, arguments), as: UTF8.self))
    return .done
  }

  /// An age is one of this machine's clock; what names no zone the aggregator reads in the report's.
  private static func time(_ text: String, naming what: String) throws(UsageError) -> String {
    switch try TimeText.moment(text, naming: what) {
    case .known(let nanoseconds): Timestamp(nanoseconds: nanoseconds).text
    case .local(let nanoseconds):
      String(Timestamp(nanoseconds: nanoseconds).text.dropLast())
    }
  }

  private static func endpoint(_ arguments: Arguments) throws -> HTTPEndpoint {
    do {
      return try HTTPEndpoint(arguments.text("aggregator") ?? besideTheBus(arguments))
    } catch let error as HTTPEndpointError {
      throw UsageError("--aggregator: \(error)")
    }
  }

  private static func besideTheBus(_ arguments: Arguments) throws -> String {
    let bus = try arguments.requiredText("bus")
    guard let place = BusEnvironment.place(ofBus: bus), place.port <= .max - 20 else {
      throw UsageError("--bus \(bus) does not tell where the aggregator is: say --aggregator URL")
    }
    return "http://\(HostPort(host: place.host, port: place.port + 20))"
  }

  private static func fetch(_ url: String, _ arguments: Arguments) throws -> [UInt8] {
    var configuration = HTTPClientConfiguration()
    configuration.totalLimit = try arguments.value("timeout", as: Duration.self)
    // A year of hours by name is tens of megabytes.
    configuration.keptBodyBytes = 1 << 30
    configuration.readBodyBytes = 1 << 30
    let reply: HTTPReply
    do throws(HTTPFailure) {
      var client = try HTTPClient(configuration)
      let headers = arguments.text("token").map { [HTTPHeader("Authorization", "Bearer \($0)")] }
      _ = try client.start(HTTPCall(url, method: "GET", headers: headers ?? []))
      var ended: [HTTPCompletion] = []
      while ended.isEmpty { ended = client.wait(.seconds(60)) }
      reply = try ended[0].result.get()
    } catch {
      // An unknown name says itself what to do.
      let hint = error.kind == .resolve ? "" : ": is `eventbus aggregator` running there?"
      let isThere = error.kind != .connect && error.kind != .resolve
      throw CommandFailure(isThere ? .failed : .busUnreachable, "\(error)\(hint)")
    }
    guard reply.status == 200 else {
      let text = errorText(reply.body) ?? "the aggregator answered \(reply.status)"
      // 400 is about what the options say.
      throw CommandFailure(reply.status == 400 ? .usage : .failed, TerminalText.escape(text))
    }
    return reply.body
  }

  /// What an answer `{"error": "..."}` says.
  private static func errorText(_ body: [UInt8]) -> String? {
    do throws(CodecError) {
      guard case .object(let object) = try unsafe PropertyValue(json: body.span.bytes),
        case .string(let text)? = object["error"]
      else { return nil }
      return text
    } catch { return nil }
  }
}

/// Bytes of a path that have no meaning of their own stay as they are, all others become %XX.
enum PercentEncoding {
  static func encode(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: encoded.append(byte)
      default: encoded += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }
}
