import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Names are bytes: one subscriber gets exactly what it asked for.
  @Suite struct NameTests {
    @Test func `who asks for a name gets no longer and no shorter one`() throws {
      let broker = try TestBroker()
      let names = ["Game", "Game Start", "Game Started", "G", "game started"]
      let tails = try names.map { try broker.tail(["--exact", $0]) }
      let published = [
        "Game", "Game Start", "Game Started", "Game Started ", "game started",
        "Game Started Again", "G", "Game Start", "End",
      ]
      let run = try broker.publish(
        lines: published.enumerated().map { EventLine.track($1, id: "B01-\($0)") })
      #expect(run.status == .exited(0), "\(run.errors)")
      let stored = try broker.stored()
      #expect(stored.names == published)
      for (name, tail) in zip(names, tails) {
        let expected = published.filter { $0.utf8.elementsEqual(name.utf8) }
        #expect(waitUntil { tail.output.lines.count >= expected.count }, "\(name)")
        tail.signal(SIGTERM)
        #expect(tail.wait() == .exited(143))
        let events = try tail.output.lines.map { try JSONValue(text: $0) }
        #expect(events.names == expected)
      }
    }
  }
}
