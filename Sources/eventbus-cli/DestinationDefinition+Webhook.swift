import Destinations
import HTTPClient
import ServiceRuntime

extension DestinationDefinition {
  static let webhook = DestinationDefinition(
    name: "webhook",
    summary: "Posts events as JSON lists to an address of yours, in order, each at least once.",
    portDistance: 43,
    options: .secret("secret", "Signs requests by HMAC-SHA256.")
      + [
        .repeated("header", "'NAME: VALUE'", help: "A header of each request."),
        .option("request-events", "N", help: "Events in one request.", default: "500"),
        .option(
          "request-bytes", "SIZE", help: "Bytes of one request before compression.",
          default: "1MB"),
      ]
      + .destination(endpoint: "Where requests go.", gzip: 0),
    examples: [
      CommandExample(
        "eventbus webhook --endpoint https://example.com/events --secret-file secret",
        "All events, signed."),
      CommandExample(
        "eventbus webhook --endpoint http://127.0.0.1:8080 --header 'X-From: bus'",
        "With a header, to this machine."),
    ],
    make: { context, mapping in
      let options = DestinationOptions(context: context)
      let arguments = context.arguments
      var configuration = WebhookConfiguration(endpoint: try options.endpoint())
      configuration.secret = try options.secret("secret").map { Array($0.utf8) } ?? []
      configuration.headers = try arguments.texts("header").map(webhookHeader)
      configuration.gzipLevel = try options.gzipLevel()
      configuration.events = try arguments.value("request-events", in: 1...10_000)
      configuration.requestBytes = try arguments.value(
        "request-bytes", in: ByteSize(bytes: 1 << 10)...ByteSize(bytes: 16 << 20)
      ).bytes
      configuration.mapping = mapping
      return Setup(adapter: WebhookAdapter(configuration), endpoint: configuration.endpoint)
    })

  private static func webhookHeader(_ text: String) throws -> HTTPHeader {
    guard let colon = text.firstIndex(of: ":") else {
      throw UsageError("--header must be 'NAME: VALUE', not '\(text)'")
    }
    let value = text[text.index(after: colon)...].drop { $0 == " " }
    let header = HTTPHeader(String(text[..<colon]), String(value))
    if let fault = WebhookConfiguration.fault(header) { throw UsageError("--header: \(fault)") }
    return header
  }
}
