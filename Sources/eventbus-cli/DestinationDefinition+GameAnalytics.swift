import Destinations
import ServiceRuntime

extension DestinationDefinition {
  static let gameAnalytics = DestinationDefinition(
    name: "gameanalytics",
    summary: "Sends tracks to GameAnalytics as design events, in order, each at least once.",
    portDistance: 42,
    options: [.option("game-key", "KEY", help: "The game's key.")]
      + .secret("secret-key", "The game's secret key, which signs requests.")
      + [
        .flag("sandbox", help: "Send to the provider's sandbox."),
        .option(
          "platform", "NAME", help: "The platform of events whose context has none.",
          default: "linux"),
        .option(
          "device", "NAME", help: "The device of events whose context has none.",
          default: "unknown"),
        .option(
          "manufacturer", "NAME", help: "Its maker, likewise.", default: "unknown"),
      ]
      + .destination(
        endpoint: "Server, without a path, that requests go to. Default: the provider's own.",
        gzip: 4),
    examples: [
      CommandExample(
        "eventbus gameanalytics --game-key 5c6b --secret-key-file secret", "All tracks."),
      CommandExample(
        "eventbus gameanalytics --game-key 5c6b --secret-key-file secret --sandbox",
        "To the sandbox."),
    ],
    make: { context, mapping in
      let options = DestinationOptions(context: context)
      let arguments = context.arguments
      let endpoint = try options.endpoint(
        usual: arguments.flag("sandbox")
          ? GameAnalyticsConfiguration.sandboxAddress : GameAnalyticsConfiguration.address)
      let key = try arguments.requiredText("game-key")
      if let fault = GameAnalyticsConfiguration.fault(gameKey: key) {
        throw UsageError("--game-key: \(fault)")
      }
      return Setup(
        adapter: GameAnalyticsAdapter(
          GameAnalyticsConfiguration(
            endpoint: endpoint, gameKey: key,
            secretKey: Array(try options.requiredSecret("secret-key").utf8),
            gzipLevel: try options.gzipLevel(), defaults: try gameDefaults(arguments),
            mapping: mapping)), endpoint: endpoint)
    })

  private static func gameDefaults(_ arguments: Arguments) throws -> GameAnalyticsDefaults {
    let platform = try arguments.requiredText("platform")
    guard GameAnalyticsRules.platforms.contains(platform) else {
      let known = GameAnalyticsRules.platforms.joined(separator: ", ")
      throw UsageError("--platform must be one of \(known), not '\(platform)'")
    }
    var defaults = GameAnalyticsDefaults(platform: platform)
    for (option, path) in [
      ("device", \GameAnalyticsDefaults.device), ("manufacturer", \.manufacturer),
    ] {
      let text = try arguments.requiredText(option)
      guard (1...64).contains(text.utf8.count) else {
        throw UsageError("--\(option) must have 1 to 64 bytes")
      }
      defaults[keyPath: path] = text
    }
    return defaults
  }
}
