// A pretended provider for runs by hand: `fake-destination segment 8080 429=5 reset 200`. It answers until
// its standard input ends, and then tells on standard output, as one line of JSON, what it has taken.

internal import DestinationTestSupport
internal import Primitives

@main
struct FakeDestination {
  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.count >= 2, let port = UInt16(words[1]),
      let steps = FaultStep.script(words.count > 2 ? words[2...].joined(separator: " ") : "200")
    else { return print("fake-destination segment|mixpanel|gameanalytics PORT [STEP]...") }
    do throws(SystemError) {
      switch words[0] {
      case "segment":
        var provider = FakeSegment()
        // For measuring: the check of JSON costs more than all the rest.
        provider.checksJSON = false
        run(try FakeServer(provider, port: port, script: steps))
      case "mixpanel": run(try FakeServer(FakeMixpanel(), port: port, script: steps))
      case "gameanalytics": run(try FakeServer(FakeGameAnalytics(), port: port, script: steps))
      default: print("no such provider: \(words[0])")
      }
    } catch { print("\(error)") }
  }

  private static func run<Provider>(_ server: FakeServer<Provider>) {
    print("ready \(server.url)")
    while readLine() != nil {}
    let ledger = server.ledger
    print(
      "{\"requests\":\(ledger.requests.count),\"stored\":\(ledger.stored.count),"
        + "\"doubles\":\(ledger.doubles.count),\"changed\":\(ledger.changed.count),"
        + "\"silentDrops\":\(ledger.silentDrops.count),\"refused\":\(ledger.refused.count)}")
  }
}
