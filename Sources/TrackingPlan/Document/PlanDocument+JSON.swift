internal import EventCodec
internal import Primitives
internal import EventModel

extension PlanDocument {
  /// The plan as a file that reads back the same, for people: one event, one entry a line.
  public var json: [UInt8] { write(isPretty: true) }

  /// The same without blanks and without what apps do not need; ends without a newline.
  public var compactForApps: [UInt8] { forApps.write(isPretty: false) }

  private func write(isPretty: Bool) -> [UInt8] {
    var output = PlanWriter(isPretty: isPretty)
    output.object { output in
      output.key("version")
      output.raw("\(version)")
      // Without events a file allows all, unless it says that there are none.
      if !events.isEmpty || !allowsOthers {
        output.key("events")
        output.object { output in
          for event in events { output.event(event) }
        }
        if allowsOthers { output.flag("others") }
      }
      guard !collection.isEmpty else { return }
      output.key("collection")
      output.object { output in output.collection(collection) }
    }
    if isPretty { output.raw("\n") }
    return output.bytes
  }
}

/// Writes JSON with a line for each member of the outer objects.
struct PlanWriter {
  private(set) var bytes: [UInt8] = []
  private let isPretty: Bool
  private var depth = 0
  private var isFirst = true

  init(isPretty: Bool) { self.isPretty = isPretty }

  mutating func raw(_ text: String) { bytes += Array(text.utf8) }

  mutating func text(_ text: String) {
    let utf8 = Array(text.utf8)
    unsafe CanonicalJSON.text(utf8.span.bytes, &bytes)
  }

  mutating func key(_ name: String) {
    next()
    text(name)
    raw(isPretty ? ": " : ":")
  }

  mutating func flag(_ name: String) {
    key(name)
    raw("true")
  }

  /// Before a member or an element.
  mutating func next() {
    if !isFirst { raw(",") }
    // Deep down a line holds all, as people would write it.
    if isPretty, depth <= 3 {
      raw("\n" + String(repeating: "  ", count: depth))
    } else if isPretty, !isFirst {
      raw(" ")
    }
    isFirst = false
  }

  mutating func object(_ body: (inout PlanWriter) -> Void) { container("{", "}", body) }
  mutating func list(_ body: (inout PlanWriter) -> Void) { container("[", "]", body) }

  mutating func texts(_ texts: [String]) {
    list { output in
      for text in texts {
        output.next()
        output.text(text)
      }
    }
  }

  private mutating func container(
    _ start: String, _ end: String, _ body: (inout PlanWriter) -> Void
  ) {
    raw(start)
    depth += 1
    isFirst = true
    body(&self)
    depth -= 1
    if isPretty, depth <= 2, !isFirst { raw("\n" + String(repeating: "  ", count: depth)) }
    raw(end)
    isFirst = false
  }
}

extension PlanWriter {
  mutating func event(_ event: EventDefinition) {
    key(event.name.rawValue)
    object { output in
      if !event.text.isEmpty {
        output.key("description")
        output.text(event.text)
      }
      if !event.properties.isEmpty {
        output.key("properties")
        output.object { output in
          for property in event.properties { output.property(property) }
        }
      }
      if event.allowsOthers { output.flag("others") }
    }
  }

  private mutating func property(_ property: PropertyDefinition) {
    key(property.name)
    object { output in
      output.key("type")
      let names = property.types.names
      if names.count == 1 { output.text(names[0]) } else { output.texts(names) }
      if property.isRequired { output.flag("required") }
      if let values = property.values {
        output.key("values")
        output.texts(values)
      }
      guard !property.text.isEmpty else { return }
      output.key("description")
      output.text(property.text)
    }
  }

  mutating func collection(_ plan: CollectionPlan) {
    if !plan.entries.isEmpty {
      key("events")
      list { output in
        for entry in plan.entries {
          output.next()
          output.object { output in output.entry(entry) }
        }
      }
    }
    if !plan.excludedScreens.isEmpty || !plan.excludedPaths.isEmpty {
      key("exclude")
      object { output in
        if !plan.excludedScreens.isEmpty {
          output.key("screens")
          output.texts(plan.excludedScreens)
        }
        guard !plan.excludedPaths.isEmpty else { return }
        output.key("paths")
        output.texts(plan.excludedPaths.map(\.text))
      }
    }
    guard !plan.maskedNames.isEmpty else { return }
    key("mask")
    texts(plan.maskedNames)
  }

  private mutating func entry(_ entry: CollectionPlan.Entry) {
    key("event")
    text(entry.event.rawValue)
    key("paths")
    texts(entry.patterns.map(\.text))
    guard !entry.properties.isEmpty else { return }
    key("properties")
    object { output in
      for property in entry.properties {
        output.key(property.name)
        output.source(property.source)
      }
    }
  }

  private mutating func source(_ source: CollectionPlan.Property.Source) {
    switch source {
    case .keyPath(let keys): text(keys.joined(separator: "."))
    case .state(let name):
      object { output in
        output.key("state")
        output.text(name)
      }
    case .constant(let value):
      object { output in
        output.key("value")
        value.appendJSON(to: &output)
      }
    }
  }
}

extension PropertyValue {
  fileprivate func appendJSON(to output: inout PlanWriter) {
    var writer = PropertyWriter()
    writer.write(self)
    var json: [UInt8] = []
    do throws(CodecError) {
      try unsafe CanonicalJSON.append(value: writer.output.bytes.span.bytes, to: &json)
      output.raw(String(decoding: json, as: UTF8.self))
    } catch {
      // What the writer has just written reads back.
      preconditionFailure("a property's own bytes are no value: \(error)")
    }
  }
}
