internal import Destinations
internal import EventModel
internal import Foundation
internal import Primitives
internal import Testing

@Suite struct MappingTests {
  static func file(_ text: String) throws -> MappingFile { try MappingFile(Array(text.utf8)) }

  /// A Segment adapter with a section of a file.
  static func adapter(_ section: String) throws -> SegmentAdapter {
    try SegmentAdapterTests.adapter(
      mapping: try file("{\"segment\":\(section)}").mapping(for: "segment"))
  }

  @Test(arguments: [
    (#"{"include":["Game *"]}"#, "Game Ended", true), (#"{"include":["Game *"]}"#, "Other", false),
    (#"{"exclude":["Game *"]}"#, "Game Ended", false), (#"{"exclude":["Game *"]}"#, "Other", true),
    (#"{"include":["*"],"exclude":["Game Ended"]}"#, "Game Ended", false),
    (#"{"include":["Game \\*"]}"#, "Game Ended", false), ("{}", "Game Ended", true),
  ])
  func `events are filtered by pattern`(_ sample: (section: String, name: String, goes: Bool))
    throws
  {
    var adapter = try Self.adapter(sample.section)
    let outcome = try adapter.prepared(Sample.track(sample.name)).outcome
    #expect(outcome == (sample.goes ? .ready : .skip))
  }

  @Test func `what is no track is filtered by its type`() throws {
    var adapter = try Self.adapter(#"{"exclude":["$identify"]}"#)
    let event = #"{"type":"identify","userId":"u","timestamp":1714564800}"#
    #expect(try adapter.prepared(event).outcome == .skip)
  }

  @Test(arguments: [
    (#"[{"drop":["b*"]}]"#, #"{"a":1,"d":{"b":4}}"#),
    (#"[{"keep":["a","d"]}]"#, #"{"a":1,"d":{"b":4}}"#),
    (#"[{"rename":{"a":"x"}}]"#, #"{"x":1,"b":2,"bc":3,"d":{"b":4}}"#),
    // A renamed property takes the place of one that is called so.
    (#"[{"rename":{"a":"b"}}]"#, #"{"b":1,"bc":3,"d":{"b":4}}"#),
    (#"[{"rename":{"a":"b","b":"a"}}]"#, #"{"b":1,"a":2,"bc":3,"d":{"b":4}}"#),
    // One rule after another.
    (#"[{"rename":{"a":"x"}},{"drop":["x"]}]"#, #"{"b":2,"bc":3,"d":{"b":4}}"#),
    (#"[{"events":["Other"],"drop":["*"]}]"#, #"{"a":1,"b":2,"bc":3,"d":{"b":4}}"#),
    (#"[{"events":["Game *"],"drop":["*"]}]"#, "{}"),
  ])
  func `properties are kept, dropped and renamed`(_ sample: (rules: String, properties: String))
    throws
  {
    var adapter = try Self.adapter("{\"properties\":\(sample.rules)}")
    let item = try adapter.item(
      Sample.track(with: #""properties":{"a":1,"b":2,"bc":3,"d":{"b":4}}"#))
    #expect(item.hasSuffix("\"properties\":\(sample.properties)}"), "\(item)")
  }

  @Test func `a track is renamed for its destination alone`() throws {
    let file = try Self.file(
      #"{"segment":{"rename":{"Game Ended":"Round Ended"}},"*":{"rename":{"Game Ended":"x:y"}}}"#)
    var segment = try SegmentAdapterTests.adapter(mapping: file.mapping(for: "segment"))
    #expect(try segment.item(Sample.track()).contains("\"event\":\"Round Ended\""))
    var mixpanel = try MixpanelAdapterTests.adapter(file.mapping(for: "mixpanel"))
    #expect(try mixpanel.item(Sample.track()).hasPrefix("{\"event\":\"x:y\""))
    #expect(file.mapping(for: "webhook") == file.mapping(for: "mixpanel"))
  }

  @Test(arguments: [
    (#"{"segmnt":{}}"#, "segmnt: no such word; did you mean \"segment\"?"),
    (
      #"{"segment":{"propertis":[]}}"#,
      "segment.propertis: no such word; did you mean \"properties\"?"
    ),
    (
      #"{"segment":{"properties":[{"drop":["a"]},{"kep":["a"]}]}}"#,
      "segment.properties[1].kep: no such word; did you mean \"keep\"?"
    ),
    (#"{"segment":{"include":"Game"}}"#, "segment.include: this must be a list"),
    (#"{"segment":{"include":[1]}}"#, "segment.include[0]: a pattern must be a text"),
    (#"{"segment":{"include":[]}}"#, "segment.include: an empty list says nothing"),
    (#"{"segment":{"rename":{"a":"b","c":"b"}}}"#, "segment.rename.c: two would be called \"b\""),
    (#"{"segment":{"rename":{"a":""}}}"#, "segment.rename.a: the new name must be a text"),
    (
      #"{"segment":{"rename":{"a":"$forget"}}}"#,
      "segment.rename.a: no name for an event: $forget is reserved"
    ),
    (
      #"{"segment":{"rename":{"$identify":"a"}}}"#,
      "segment.rename.$identify: only tracks have names"
    ),
    (#"[]"#, "the file: this must be an object"),
    ("{\"segment\":{\n  \"include\": [\"a\",]\n}}", "line 2, column 19: this is not JSON"),
    (#"{"segment":{},"segment":{}}"#, "a key stands there twice"),
  ])
  func `a fault is named with its place`(_ sample: (text: String, message: String)) throws {
    let error = #expect(throws: MappingError.self) { try Self.file(sample.text) }
    let text = "\(try #require(error))"
    #expect(text.contains(sample.message), "\(text)")
  }

  @Test func `the guide's mapping is one`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let guide = try String(
      contentsOf: root.appending(path: "Deploy/Guide/Destinations.md"), encoding: .utf8)
    let start = try #require(guide.firstRange(of: "```json\n{\"segment\"")).lowerBound
    let text = guide[start...].dropFirst(8).prefix { $0 != "`" }
    var adapter = try SegmentAdapterTests.adapter(
      mapping: try Self.file(String(text)).mapping(for: "segment"))
    let item = try adapter.item(
      Sample.track(with: #""properties":{"Opponent Type":"human","value":1,"email":"e"}"#))
    #expect(item.hasSuffix(#""properties":{"opponent":"human","value":1}}"#), "\(item)")
    #expect(try adapter.prepared(Sample.track("Game Reset")).outcome == .skip)
  }
}
