import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// What goes in comes out: values, order and times.
  @Suite struct ValueTests {
    @Test func `a real log comes back field for field and in order`() throws {
      guard let archive = Inputs.path("weblog.ndjson.gz") else { return }
      let folder = try TemporaryFolder()
      let file = folder.file("weblog.ndjson")
      let unpack = try Program.shell("exec python3 -m gzip -d < '\(archive)' > '\(file)'")
      try #require(unpack.wait() == .exited(0))
      let broker = try TestBroker()
      let run = try broker.publish([file])
      #expect(run.status == .exited(0), "\(run.errors)")
      let compare = try Program.shell(
        "$EVENTBUS tail --bus \(broker.bus) --since earliest --until-end --format ndjson "
          + "| python3 -c \"$COMPARE\" '\(file)'", environment: ["COMPARE": Self.compare])
      #expect(compare.wait() == .exited(0), "\(compare.errorOutput.text)")
      #expect(compare.output.lines == ["9999 equal"], "\(compare.output.text)")
    }

    /// Another reader of JSON than ours, and one that keeps 9,999 events in a moment in any build.
    private static let compare = """
      import json, sys
      given = [json.loads(line) for line in open(sys.argv[1], encoding='utf-8')]
      stored = [json.loads(line) for line in sys.stdin]
      for index, (before, after) in enumerate(zip(given, stored)):
          assert after.pop('offset') == index, after
          after.pop('receivedAt', None)
          if before.get('userId') is None: before.pop('userId', None); after.pop('userId', None)
          assert json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True), (before, after)
      assert len(given) == len(stored), (len(given), len(stored))
      print(len(stored), 'equal')
      """

    static let digits = [
      "9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740993",
      "9223372036854775807", "9223372036854775808", "18446744073709551615", "4611686018427387905",
    ]

    @Test(arguments: [
      ["--format", "ndjson"], ["--format", "csv"], ["--format", "pretty"],
      ["--template", "{properties.id}"],
    ])
    func `whole numbers keep their digits in every format`(_ format: [String]) throws {
      let broker = try TestBroker()
      let lines = Self.digits.map {
        EventLine.track("Big", id: "V01", properties: "{\"id\":\($0)}")
      }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      let run = try Program.run(
        ["tail", "--bus", broker.bus, "--since", "earliest", "--until-end"] + format)
      let shown = run.lines.suffix(Self.digits.count)
      #expect(shown.count == Self.digits.count)
      for (line, digits) in zip(shown, Self.digits) {
        #expect(line.split { !$0.isNumber && $0 != "-" }.contains(digits[...]), "\(line)")
      }
    }

    @Test(arguments: ["18446744073709551616", "123456789012345678901234567890"])
    func `a number over 64 bits is kept as written or refused`(_ digits: String) throws {
      let broker = try TestBroker()
      let line = EventLine.track("Big", id: "V01", properties: "{\"id\":\(digits)}")
      let run = try broker.publish(lines: [line])
      if run.status == .exited(3) {
        #expect(run.errors.contains("line 1: "), "\(run.errors)")
        #expect(try broker.stored().isEmpty)
      } else {
        #expect(try broker.stored().first?["properties"]?["id"] == JSONValue(text: digits))
      }
    }

    @Test func `what is no JSON number is refused by its line`() throws {
      let broker = try TestBroker()
      let bad = [
        "NaN", "Infinity", "-Infinity", "01", "+1", ".5", "1.", "0x10", "1e", "nan", "--1", "1_000",
      ]
      let lines = (bad + ["99"]).map {
        EventLine.track("Num", id: "V02", properties: "{\"x\":\($0)}")
      }
      let run = try broker.publish(lines: lines)
      #expect(run.status == .exited(3))
      for number in 1...bad.count {
        #expect(run.errorLines.contains { $0.hasPrefix("line \(number): ") }, "\(run.errors)")
      }
      #expect(try broker.stored().map { $0["properties"]?["x"]?.int } == [99])
    }

    @Test func `true and 1 and their texts stay four things`() throws {
      let broker = try TestBroker()
      let values = ["true", "1", "1.0", "\"1\"", "\"true\"", "false", "0", "null", "\"false\""]
      let list = "\"list\":[true,1,false,0,1.0,\"1\",\"true\",null]"
      let lines = values.map {
        EventLine.track("Flag", id: "V03", properties: "{\"on\":\($0),\(list)}")
      }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      let run = try Program.run(
        ["tail", "--bus", broker.bus, "--since", "earliest", "--until-end", "--format", "ndjson"])
      #expect(run.lines.count == values.count)
      for (line, value) in zip(run.lines, values) {
        #expect(line.contains("{\"on\":\(value),\(list)}"), "\(line)")
      }
    }

    @Test func `seconds and milliseconds mean the same instant and none lands in 1970`() throws {
      let broker = try TestBroker()
      let stamps = ["1714564800", "1714564800000", "\"2024-05-01T12:00:00Z\""]
      let odd = ["0", "1", "-1", "\"soon\"", "true", "null", "{}", "1e30", "99999999999999"]
      let lines = (stamps + odd).map {
        "{\"event\":\"Stamp\",\"userId\":\"u1\",\"timestamp\":\($0)}"
      }
      let run = try broker.publish(lines: lines)
      let stored = try broker.stored()
      let refused = run.errorLines.filter { $0.hasPrefix("line ") }.count
      #expect(stored.count + refused == lines.count, "\(run.errors)")
      let times = stored.compactMap { $0["timestamp"]?.text }
      #expect(times.filter { $0.hasPrefix("2024-05-01T12:00:00") }.count == 3, "\(times)")
      for (event, time) in zip(stored, times) where time.hasPrefix("1970") || time.count > 30 {
        Issue.record("unflagged: \(event)")
      }
    }
  }
}
