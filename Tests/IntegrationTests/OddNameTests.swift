import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// Names that are options, patterns, paths or not names at all somewhere else.
  @Suite struct OddNameTests {
    static let names = [
      "Game: Started", "Game/Started", "a|b", "🎮 Started", "👩‍👩‍👧 Joined", "ゲーム開始",
      "لعبة بدأت", "Caf\u{E9} Opened", "Cafe\u{301} Opened", "Zero\u{200B}Width",
      "Bidi \u{202E}override", "Tab\\tName", "  padded  ", "%s %n %d", "$pageview", "-rf", "--help",
      "*", "?", "[a-z]*", "quote\\\"name", "quote'name", "back\\\\slash", "<script>", "${HOME}",
      "NULL", "true", "0", "NaN",
    ]

    @Test func `each odd name is one event and selects only itself`() throws {
      let broker = try TestBroker()
      let lines =
        try Inputs.lines("N01.ndjson")
        ?? Self.names.enumerated().map { EventLine.track($1, id: "N01-\($0)") }
      let names = try lines.map { try JSONValue(text: $0) }.names
      #expect(try broker.publish(lines: lines).status == .exited(0))
      let stored = try broker.stored().names
      #expect(stored.map { Array($0.utf8) } == names.map { Array($0.utf8) })
      for name in names {
        let alone = try broker.stored(["--exact=\(name)"]).names
        #expect(alone.map { Array($0.utf8) } == [Array(name.utf8)])
      }
    }

    @Test func `a name with NUL is stored whole or refused and matches no shorter one`() throws {
      let broker = try TestBroker()
      let lines = [
        EventLine.track("Nul\\u0000Inside", id: "0"),
        EventLine.track("Search Done", id: "1", properties: "{\"q\":\"shoes\\u0000\"}"),
        EventLine.track("Search Done", id: "2", properties: "{\"a\\u0000b\":1}", user: "u\\u00001"),
        EventLine.track("Search Done", id: "3"),
      ]
      let run = try broker.publish(lines: lines)
      let stored = try broker.stored()
      let refused = run.errorLines.filter { $0.hasPrefix("line ") }
      #expect(stored.count + refused.count == 4, "\(run.errors)")
      #expect(stored.messageIDs.contains("3"))
      let byID = Dictionary(grouping: stored) { $0["messageId"]?.text ?? "" }
      if let text = byID["1"]?.first { #expect(text["properties"]?["q"]?.text == "shoes\0") }
      if let text = byID["2"]?.first {
        #expect(text["userId"]?.text == "u\u{0}1")
        #expect(text["properties"]?["a\0b"]?.int == 1)
      }
      #expect(try broker.stored(["--exact", "Nul"]).isEmpty)
    }

    @Test func `a name is kept whole up to 200 bytes and refused above`() throws {
      let broker = try TestBroker()
      let text = String(repeating: "x", count: 199)
      let accepted = [
        text, text + "y", String(repeating: "é", count: 100), String(repeating: "🎮", count: 50),
      ]
      let refused = [
        text + "yz", String(repeating: "x", count: 255), String(repeating: "x", count: 255) + "a",
        String(repeating: "é", count: 101), String(repeating: "🎮", count: 75),
        String(repeating: "x", count: 1000),
      ]
      let run = try broker.publish(
        lines: (accepted + refused).map { EventLine.track($0, id: "N05") })
      #expect(run.status == .exited(3))
      #expect(try broker.stored().names == accepted)
      for (index, name) in refused.enumerated() {
        let line = run.errorLines.first { $0.hasPrefix("line \(accepted.count + index + 1): ") }
        #expect(line?.contains("200") == true, "\(name.utf8.count) bytes: \(line ?? "not told")")
      }
    }

    @Test func `an event without a name is refused on entry by its line`() throws {
      let broker = try TestBroker()
      let events = ["\"\"", "\"   \"", nil, "null", "5", "[\"a\"]", "{}", "\"Good One\""]
      let lines = events.map { event in
        "{\"type\":\"track\"," + (event.map { "\"event\":\($0)," } ?? "") + "\"userId\":\"u1\"}"
      }
      let run = try broker.publish(lines: lines)
      #expect(run.status == .exited(3))
      #expect(try broker.stored().names == ["Good One"])
      for number in 1...7 {
        #expect(run.errorLines.contains { $0.hasPrefix("line \(number): ") }, "\(run.errors)")
      }
    }
  }
}
