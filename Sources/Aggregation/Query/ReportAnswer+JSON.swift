internal import Primitives

// Written as it goes, without a tree of values first: a year of hours by name is megabytes.
extension ReportAnswer {
  /// One JSON document.
  public var json: [UInt8] {
    var output = AnswerWriter()
    output.object { output in
      describe(to: &output)
      output.key("total")
      Self.write(total, to: &output)
      output.key("groups")
      output.list(groups) { Self.write($1, to: &$0) }
      output.member("groupsLeftOut", .whole(Int128(groupsLeftOut)))
      output.key("windows")
      output.list(windows) { write($1, to: &$0) }
    }
    return output.bytes
  }

  /// Each window's part of the document, by its first second.
  var windowTexts: [Int64: [UInt8]] {
    var texts: [Int64: [UInt8]] = [:]
    for window in windows {
      var output = AnswerWriter()
      write(window, to: &output)
      texts[window.range.lowerBound] = output.bytes
    }
    return texts
  }

  private func describe(to output: inout AnswerWriter) {
    output.member("report", .text(definition.name))
    output.member("title", .text(definition.title))
    output.member("kind", .text(kind))
    output.member("window", .text(definition.window.rawValue))
    output.member("zone", .text(definition.zone))
    output.member("by", .list(dimensions.map { .text($0) }))
    output.member("from", from.map { .text(zone.text($0)) } ?? .null)
    output.member("to", to.map { .text(zone.text($0)) } ?? .null)
    let isKnown = watermark > .min
    output.member(
      "watermark", isKnown ? .text(Timestamp(nanoseconds: watermark).text) : .null)
    output.member("events", .count(counters.events))
    output.member("expired", .count(counters.expired))
    output.member("late", .count(counters.late))
    output.member("withoutUser", .count(counters.withoutUser))
    output.member("unreadable", .count(counters.unreadable))
    output.member("trimmed", .count(counters.trimmed))
  }

  private func write(_ window: Window, to output: inout AnswerWriter) {
    output.object { output in
      if definition.window != .all {
        output.member("start", .text(zone.text(window.range.lowerBound)))
        output.member("end", .text(zone.text(window.range.upperBound)))
      }
      output.member("state", .text(window.state))
      output.key("total")
      Self.write(window.total, to: &output)
      guard !dimensions.isEmpty else { return }
      output.key("groups")
      output.list(window.groups) { Self.write($1, to: &$0) }
    }
  }

  private static func write(_ group: Group, to output: inout AnswerWriter) {
    output.object { output in
      if let name = group.name { output.member("by", .json(name.json)) }
      if group.isOther {
        output.member("other", .boolean(true))
        output.member("folded", .count(group.folded))
      }
      if group.mayMiss > 0 { output.member("mayMiss", .count(group.mayMiss)) }
      for index in group.members.indices {
        output.member(label: group.members[index].key, group.members[index].value)
      }
    }
  }
}

/// Puts commas and brackets where they belong.
private struct AnswerWriter {
  private(set) var bytes: [UInt8] = []
  /// Something stands before what comes next in the same object or list.
  private var isBehind = false

  /// - Parameter key: has nothing to be escaped.
  mutating func key(_ key: StaticString) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    unsafe bytes.append(
      contentsOf: UnsafeBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount))
    bytes += "\":".utf8
    isBehind = false
  }

  mutating func member(_ key: StaticString, _ value: AnswerValue) {
    self.key(key)
    value.append(to: &bytes)
    isBehind = true
  }

  mutating func member(label: String, _ value: AnswerValue) {
    comma()
    JSONString.append(label, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    value.append(to: &bytes)
    isBehind = true
  }

  mutating func object(_ body: (inout AnswerWriter) -> Void) {
    comma()
    bytes.append(UInt8(ascii: "{"))
    isBehind = false
    body(&self)
    bytes.append(UInt8(ascii: "}"))
    isBehind = true
  }

  mutating func list<T>(_ elements: [T], _ body: (inout AnswerWriter, T) -> Void) {
    comma()
    bytes.append(UInt8(ascii: "["))
    isBehind = false
    for element in elements { body(&self, element) }
    bytes.append(UInt8(ascii: "]"))
    isBehind = true
  }

  private mutating func comma() { if isBehind { bytes.append(UInt8(ascii: ",")) } }
}
