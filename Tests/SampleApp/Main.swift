import Analytics
import Foundation

/// An app as a user of the library writes one, without a screen: it is told by lines what people do.
///
///     sample-app ENDPOINT KEY FOLDER FIRST      FIRST numbers its first event
///     play N      N events, of registries, typed ones, and by touching views
///     stored      answers `stored` when all that waits is on disk
///     flush       sends what waits; answers `flushed WAITING`
///     metrics     answers with the client's counts
///     end         closes in order
///
/// Of each request that had no answer it prints `cut ID,ID,...`, its messageIds.
@main struct SampleApp {
  @MainActor static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let first = Int(arguments[4]) else {
      say("usage: sample-app ENDPOINT KEY FOLDER FIRST")
      exit(2)
    }
    var configuration = AnalyticsClientConfiguration(
      endpoint: arguments[1], writeKey: arguments[2], storePath: arguments[3] + "/queue.sqlite")
    configuration.flushInterval = .milliseconds(200)
    configuration.retryBase = .milliseconds(50)
    configuration.retryLimit = .milliseconds(500)
    configuration.requestEvents = 50
    // So that what a request holds can be told.
    configuration.gzipFrom = nil
    let client = try AnalyticsClient(
      configuration,
      transport: ReportingTransport(base: try SystemTransport.make(timeout: .seconds(10))))
    let analytics = try AnalyticsService(
      AnalyticsServiceConfiguration(storePath: arguments[3] + "/analytics.sqlite"),
      providers: [client], plugins: [Numbering(first: first)])
    let screen = try SampleScreen(analytics)
    say("ready")
    while let line = readLine() {
      let words = line.split(separator: " ")
      switch words.first {
      case "play": screen.play(Int(words.last ?? "") ?? 0)
      case "stored": await waitUntilStored(analytics, client)
      case "flush":
        _ = await analytics.flush()
        say("flushed \(await client.metrics.waiting)")
      case "metrics":
        let metrics = await client.metrics
        say(
          "restored=\(metrics.restored) tracked=\(metrics.tracked) delivered=\(metrics.delivered)"
            + " refused=\(metrics.refused) shed=\(metrics.shed) waiting=\(metrics.waiting)")
      default:
        _ = await analytics.flush()
        await client.close()
        return say("ended")
      }
    }
  }

  private static func waitUntilStored(
    _ analytics: AnalyticsService, _ client: AnalyticsClient
  ) async {
    _ = await analytics.metrics
    while await !client.metrics.isStored { await Task.yield() }
    say("stored")
  }

  static func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }
}

/// Numbers events in the order of tracking, so that a test sees what is missing.
final class Numbering: AnalyticsPlugin, @unchecked Sendable {
  // Touched on the service's thread alone.
  private var next: Int
  let stage = AnalyticsPluginStage.enrichment

  init(first: Int) { next = first }

  func process(_ event: EventEnvelope) -> EventEnvelope? {
    var event = event
    if event.properties == nil { event.properties = [:] }
    event.properties?["n"] = PropertyValue(next)
    next += 1
    return event
  }
}

/// The system's transport, which tells of requests that got no answer.
struct ReportingTransport: AnalyticsTransport {
  var base: any AnalyticsTransport

  func send(
    _ request: AnalyticsRequest
  ) async throws(AnalyticsTransportError) -> AnalyticsResponse {
    do throws(AnalyticsTransportError) {
      return try await base.send(request)
    } catch {
      SampleApp.say("cut \(Self.ids(request).joined(separator: ","))")
      throw error
    }
  }

  private static func ids(_ request: AnalyticsRequest) -> [String] {
    let body = try? JSONSerialization.jsonObject(with: Data(request.body))
    return (body as? [[String: Any]] ?? []).compactMap { $0["messageId"] as? String }
  }
}
