internal import EventModel
internal import Primitives

/// One value of a mapping file with its place, for errors.
struct MappingReader {
  let value: PropertyValue
  let place: String

  func fail(_ text: String) -> MappingError { MappingError(place: place, text) }

  /// The members of an object whose keys must be among `known`.
  func members(known: [String]) throws(MappingError) -> [(String, MappingReader)] {
    guard let object = value.objectValue else { throw fail("this must be an object: {...}") }
    var members: [(String, MappingReader)] = []
    for member in object.members {
      let inner = child(member.key, member.value)
      guard known.contains(where: { $0.utf8.elementsEqual(member.key.utf8) }) else {
        let words = known.map { "\"\($0)\"" }.joined(separator: ", ")
        let near = EditDistance.nearest(to: member.key, in: known.filter { $0 != "*" })
        throw inner.fail(
          "no such word" + (near.map { "; did you mean \"\($0)\"?" } ?? "") + " (known: \(words))")
      }
      members.append((member.key, inner))
    }
    return members
  }

  func mapping() throws(MappingError) -> DestinationMapping {
    var mapping = DestinationMapping()
    for (word, inner) in try members(known: ["include", "exclude", "rename", "properties"]) {
      switch word {
      case "include": mapping.include = try inner.patterns()
      case "exclude": mapping.exclude = try inner.patterns()
      case "rename": mapping.rename = try inner.eventNames()
      default:
        for element in try inner.elements() { mapping.properties.append(try element.rule()) }
      }
    }
    return mapping
  }

  private func rule() throws(MappingError) -> DestinationMapping.PropertyRule {
    var rule = DestinationMapping.PropertyRule()
    for (word, inner) in try members(known: ["events", "keep", "drop", "rename"]) {
      switch word {
      case "events": rule.events = try inner.patterns()
      case "keep": rule.keep = try inner.patterns()
      case "drop": rule.drop = try inner.patterns()
      default: rule.rename = try inner.names()
      }
    }
    return rule
  }

  /// Exact names of tracks, old to new.
  private func eventNames() throws(MappingError) -> [[UInt8]: [UInt8]] {
    let names = try names()
    for (old, new) in names {
      let inner = child(String(decoding: old, as: UTF8.self), .null)
      if EventName.typeTopics.contains(old) {
        throw inner.fail("only tracks have names; an event of another type is called by its type")
      }
      for name in [old, new] {
        do throws(EventNameError) {
          try unsafe EventName.validate(name.span.bytes)
        } catch { throw inner.fail("no name for an event: \(error)") }
      }
    }
    return names
  }

  /// Old to new; no two may become one.
  private func names() throws(MappingError) -> [[UInt8]: [UInt8]] {
    guard let object = value.objectValue else {
      throw fail("this must be an object of old and new names: {\"old\": \"new\"}")
    }
    var names: [[UInt8]: [UInt8]] = [:]
    for member in object.members {
      let inner = child(member.key, member.value)
      guard let new = member.value.stringValue, !new.isEmpty, !member.key.isEmpty else {
        throw inner.fail("the new name must be a text that is not empty")
      }
      guard !names.values.contains(Array(new.utf8)) else {
        throw inner.fail("two would be called \"\(new)\"")
      }
      names[Array(member.key.utf8)] = Array(new.utf8)
    }
    return names
  }

  private func patterns() throws(MappingError) -> [EventPattern] {
    var patterns: [EventPattern] = []
    for element in try elements() {
      guard let text = element.value.stringValue, !text.isEmpty else {
        throw element.fail("a pattern must be a text that is not empty")
      }
      patterns.append(EventPattern(text))
    }
    return patterns
  }

  private func elements() throws(MappingError) -> [MappingReader] {
    guard case .array(let values) = value else { throw fail("this must be a list: [...]") }
    guard !values.isEmpty else { throw fail("an empty list says nothing: leave it out") }
    return values.enumerated().map { MappingReader(value: $1, place: "\(place)[\($0)]") }
  }

  private func child(_ key: String, _ value: PropertyValue) -> MappingReader {
    MappingReader(value: value, place: place.isEmpty ? key : "\(place).\(key)")
  }
}
