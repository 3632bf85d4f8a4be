import Destinations
import HTTPClient
import ServiceRuntime

/// A destination that the program can publish to: its own options, and how they make its adapter.
///
/// `eventbus segment` and its siblings are one command each, all alike but for this.
struct DestinationDefinition: Sendable {
  /// What an adapter was made with, as far as the rest of the command must know it.
  struct Setup {
    var adapter: any DestinationAdapter
    var endpoint: HTTPEndpoint
  }

  var name: String
  var summary: String
  /// Ports behind the bus at which its metrics are served, unless `--metrics` says otherwise.
  var portDistance: Int
  var options: [OptionDefinition]
  var examples: [CommandExample]
  var make: @Sendable (Commands.Context, DestinationMapping) throws -> Setup

  static let all: [DestinationDefinition] = [.segment, .mixpanel, .gameAnalytics, .webhook]

  /// Its adapter, by its options and the mapping file.
  func setup(_ context: Commands.Context) throws -> Setup {
    let setup = try make(context, try mapping(context))
    try checkAuthorities(context)
    if !setup.endpoint.isEncrypted, !setup.endpoint.isLoopback {
      context.log.labelled(name).warning(
        "keys and events travel in plain text: use an https:// address",
        LogField("host", .text(setup.endpoint.host)))
    }
    return setup
  }

  /// Told now, and not with each request.
  private func checkAuthorities(_ context: Commands.Context) throws {
    guard let path = context.arguments.text("ca-file") else { return }
    let bytes = try SmallFile.read(path, context, naming: "--ca-file")
    guard bytes.firstRange(of: Array("-----BEGIN CERTIFICATE-----".utf8)) != nil else {
      throw UsageError("--ca-file: \(path) holds no certificate in PEM")
    }
  }

  private func mapping(_ context: Commands.Context) throws -> DestinationMapping {
    guard let path = context.arguments.text("mapping") else { return DestinationMapping() }
    do {
      return try MappingFile(try SmallFile.read(path, context, naming: "--mapping")).mapping(
        for: name)
    } catch let error as MappingError {
      throw UsageError("--mapping \(path): \(error)")
    }
  }
}

extension [OptionDefinition] {
  /// What every destination has besides its own.
  static func destination(endpoint: String, gzip: Int) -> [OptionDefinition] {
    [
      .option("endpoint", "URL", help: endpoint),
      .option(
        "mapping", "FILE",
        help: "JSON: events to include, exclude and rename, properties to keep, drop and rename."),
      .option(
        "ca-file", "FILE", help: "Certificates to trust in place of the system's, PEM."),
      .option(
        "gzip-level", "N", help: "How hard bodies are compressed, 1 to 9; 0: not at all.",
        default: "\(gzip)"),
    ]
  }

  /// A secret: from a file or the environment, which nobody else on the machine sees.
  static func secret(_ name: String, _ what: String) -> [OptionDefinition] {
    let variable = "EVENTBUS_" + name.uppercased().replacing("-", with: "_")
    return [
      .option(
        name, name.split(separator: "-").last.map { $0.uppercased() } ?? "TEXT",
        help: "\(what) \(variable) or a file is safer: others may see a command line."
      ).secret,
      .option("\(name)-file", "FILE", help: "A file with it, alone on its first line."),
    ]
  }
}

/// Reads the options that several destinations have.
struct DestinationOptions {
  let context: Commands.Context

  func endpoint(usual: String? = nil) throws -> HTTPEndpoint {
    guard let text = context.arguments.text("endpoint") ?? usual else {
      throw UsageError("\(context.arguments.command.name) needs --endpoint URL")
    }
    do throws(HTTPEndpointError) {
      return try HTTPEndpoint(text)
    } catch {
      throw UsageError("--endpoint: \(error)")
    }
  }

  func gzipLevel() throws -> Int32 {
    Int32(try context.arguments.value("gzip-level", in: 0...9))
  }

  func requiredSecret(_ name: String) throws -> String {
    guard let secret = try secret(name) else {
      let variable = "EVENTBUS_" + name.uppercased().replacing("-", with: "_")
      throw UsageError(
        "\(context.arguments.command.name) needs --\(name)-file FILE, \(variable) or --\(name)")
    }
    return secret
  }

  /// The file wins over the environment, and what is written on the command line over both.
  func secret(_ name: String) throws -> String? {
    let arguments = context.arguments
    if arguments.isGiven("\(name)-file"), let path = arguments.text("\(name)-file") {
      let text = String(decoding: try SecretFile.read(path, option: "\(name)-file"), as: UTF8.self)
      let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
      return try checked(line, "--\(name)-file \(path)")
    }
    return try arguments.text(name).map { try checked($0, "--\(name)") }
  }

  private func checked(_ secret: String, _ place: String) throws -> String {
    let isPlain = secret.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    guard !secret.isEmpty, isPlain else {
      throw UsageError("\(place) must be a text without blanks, in ASCII, and not empty")
    }
    return secret
  }
}

/// A file that is read as a whole.
enum SmallFile {
  static let mostBytes = 1 << 20

  /// - Parameter place: what asked for the file, as `--rules`; an error begins with it.
  static func read(
    _ path: String, _ context: Commands.Context, naming place: String
  ) throws(UsageError) -> [UInt8] {
    do {
      let file = try InputFile(path, interruption: context.interruption)
      var bytes: [UInt8] = []
      while let chunk = try file.read() {
        bytes += chunk
        guard bytes.count <= mostBytes else {
          throw UsageError("\(place): \(path) is larger than \(mostBytes >> 20) MiB")
        }
      }
      // Some editors begin every file with a byte-order mark.
      return bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
    } catch let error as UsageError {
      throw error
    } catch let error as CommandFailure {
      throw UsageError("\(place): \(error.text)")
    } catch {
      throw UsageError("\(place): \(error)")
    }
  }
}
