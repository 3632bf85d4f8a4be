import DestinationTestSupport
import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Segment's library → collector → bus → publisher → pretended Segment, with the events of a real web
  /// log where it is there.
  @Suite(.enabled(if: ClientLibraries.has("segment.analytics")))
  struct ChainTests {
    private struct Chain {
      let lines: [String]
      let fake: FakeServer<FakeSegment>
      let broker: TestBroker
      let publisher: TestPublisher
      let library: ChildProcess
      private let folder: TemporaryFolder
      private let collector: TestCollector

      /// - Parameter pause: seconds between two hundreds of events.
      init(pause: Double, script: [FaultStep], _ options: [String]) throws {
        lines = try PublisherTests.lines()
        fake = try FakeServer(FakeSegment(), script: script)
        broker = try TestBroker()
        collector = try TestCollector(broker)
        publisher = try TestPublisher("segment", fake.url, broker, options)
        folder = try TemporaryFolder()
        let file = folder.file("lines.ndjson")
        try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
        library = try ChildProcess(
          ClientLibraries.python, ["-c", Self.program, collector.url, file, "\(pause)"],
          environment: ["PYTHONPATH": ClientLibraries.folder, "no_proxy": "127.0.0.1"])
      }

      private static let program = """
        import json, sys, time
        from datetime import datetime
        import segment.analytics as analytics
        analytics.write_key = 'test-key'; analytics.host = sys.argv[1]; analytics.gzip = True
        analytics.max_queue_size = 20000
        analytics.on_error = lambda error, items: print('error', error, flush=True)
        for number, line in enumerate(open(sys.argv[2], encoding='utf-8')):
            event = json.loads(line)
            isTaken, _ = analytics.track(
                event['userId'], event['event'], event['properties'],
                timestamp=datetime.fromisoformat(event['timestamp'].replace('Z', '+00:00')),
                anonymous_id=event.get('anonymousId'), message_id=event['messageId'])
            if not isTaken: print('not taken', event['messageId'], flush=True)
            if number % 100 == 99: time.sleep(float(sys.argv[3]))
        analytics.shutdown()
        """

      /// The library has sent everything and has nothing to complain of.
      func expectSent() {
        #expect(library.wait(.seconds(120)) == .exited(0), "\(library.errorOutput.text)")
        #expect(library.output.text.isEmpty, "\(library.output.text)")
      }
    }

    @Test func `every event that the library sends reaches Segment once and undisturbed`() throws {
      let chain = try Chain(pause: 0, script: [.serve], [])
      chain.expectSent()
      let fake = chain.fake
      let isThere = waitUntil(.seconds(60)) { fake.ask { $0.stored.count } >= chain.lines.count }
      #expect(isThere, "\(chain.publisher.errors)")
      #expect(chain.publisher.stop() == .exited(0), "\(chain.publisher.errors)")
      let ledger = fake.ledger
      #expect(ledger.ids == (try PublisherTests.ids(chain.lines)))
      #expect(ledger.doubles.isEmpty && ledger.silentDrops.isEmpty && ledger.refused.isEmpty)
      for (receipt, line) in zip(ledger.stored, chain.lines) {
        guard try Self.isUndisturbed(receipt.event, line) else {
          Issue.record("\(line) became \(receipt.event.text)")
          return
        }
      }
    }

    @Test func `with a publisher killed meanwhile, only what was not stored yet comes again`()
      throws
    {
      let chain = try Chain(
        pause: 0.05, script: [.delivery(.hang(milliseconds: 50))], ["--waiting-events", "400"])
      let kills = Kills(chain.publisher, chain.fake, chain.broker)
      try kills.play(20, until: chain.lines.count)
      chain.expectSent()
      let ledger = chain.fake.ledger
      #expect(ledger.ids == (try PublisherTests.ids(chain.lines)), "the first time each, in order")
      #expect(ledger.changed.isEmpty, "a repeat has the same body")
      #expect(ledger.silentDrops.isEmpty && ledger.refused.isEmpty)
      #expect(!ledger.doubles.isEmpty, "no kill met anything under way")
      #expect(try kills.unexplained(ledger).isEmpty)
    }

    /// What the library was given stands in what Segment got; it adds its own context.
    private static func isUndisturbed(_ sent: JSONPiece, _ line: String) throws -> Bool {
      let (sent, given) = (sent.fields, JSONPiece(Array(line.utf8)[...]).fields)
      for key in ["type", "event", "userId", "anonymousId", "timestamp", "messageId"]
      where given[key]?.string != sent[key]?.string { return false }
      let properties = (given["properties"]?.text ?? "", sent["properties"]?.text ?? "")
      // One text may be written in two ways.
      return try properties.0 == properties.1
        || JSONValue(text: properties.0) == JSONValue(text: properties.1)
    }
  }
}
