internal import EventCodec
internal import EventModel
internal import Primitives

/// Turns the nodes of a file into values, and says what is wrong where.
struct PlanReader {
  let bytes: [UInt8]
  let path: String

  func wrong(_ offset: Int, _ text: String) -> PlanError {
    let line = 1 + bytes[..<max(0, min(offset, bytes.count))].count { $0 == 10 }
    return PlanError(path: path, line: line, text: text)
  }

  func root() throws(PlanError) -> JSONNode {
    guard bytes.count <= PlanLimits.maximumBytes else {
      throw wrong(0, "the plan has \(bytes.count) bytes; \(PlanLimits.maximumBytes) are allowed")
    }
    do throws(JSONSyntaxError) {
      return try JSONDocumentParser.parse(bytes)
    } catch {
      throw wrong(error.offset, error.text)
    }
  }

  /// The members of an object, none of which has a key that is not among `keys`.
  func object(
    _ node: JSONNode, _ what: String, keys: [String]
  ) throws(PlanError) -> [String: JSONNode] {
    var members: [String: JSONNode] = [:]
    for member in try self.members(node, what) {
      guard keys.contains(member.key) else {
        throw wrong(member.offset, unknown(member.key, "in \(what)", keys))
      }
      members[member.key] = member.value
    }
    return members
  }

  /// The members of an object whose keys are names that people chose, in their order.
  func members(_ node: JSONNode, _ what: String) throws(PlanError) -> [JSONNode.Member] {
    guard case .object(let members) = node.value else {
      throw wrong(node.offset, "\(what) is an object, not \(node.kind)")
    }
    return members
  }

  /// Says that a word is not known, and which one was most likely meant.
  func unknown(_ word: String, _ place: String, _ known: [String]) -> String {
    let start = "\"\(word)\" is not known \(place)"
    if let nearest = EditDistance.nearest(to: word, in: known) {
      return "\(start); did you mean \"\(nearest)\"?"
    }
    let some = known.prefix(20).map { "\"\($0)\"" }.joined(separator: ", ")
    return "\(start); there \(known.count == 1 ? "is" : "are") \(some)"
  }

  func list(_ node: JSONNode, _ what: String) throws(PlanError) -> [JSONNode] {
    guard case .list(let nodes) = node.value else {
      throw wrong(node.offset, "\(what) is a list, not \(node.kind)")
    }
    return nodes
  }

  func text(_ node: JSONNode, _ what: String) throws(PlanError) -> String {
    guard case .text(let text) = node.value else {
      throw wrong(node.offset, "\(what) is a text, not \(node.kind)")
    }
    return text
  }

  func texts(_ node: JSONNode, _ what: String) throws(PlanError) -> [String] {
    var texts: [String] = []
    for element in try list(node, what) { texts.append(try text(element, "each of \(what)")) }
    return texts
  }

  func boolean(_ node: JSONNode, _ what: String) throws(PlanError) -> Bool {
    guard case .boolean(let value) = node.value else {
      throw wrong(node.offset, "\(what) is true or false, not \(node.kind)")
    }
    return value
  }

  func eventName(_ name: String, at offset: Int) throws(PlanError) -> EventType {
    do throws(EventNameError) {
      try EventName.validate(name)
    } catch {
      throw wrong(offset, "\"\(name)\" is no name of an event: \(error)")
    }
    return EventType(name)
  }

  func pattern(_ node: JSONNode, _ what: String) throws(PlanError) -> EventPathPattern {
    let text = try text(node, what)
    do throws(EventPathError) {
      return try EventPathPattern(parsing: text)
    } catch {
      throw wrong(node.offset, "\"\(text)\" is no path: \(error)")
    }
  }

  /// A text, a number with all its digits, true or false.
  func constant(_ node: JSONNode, _ what: String) throws(PlanError) -> PropertyValue {
    switch node.value {
    case .text(let text): return .string(text)
    case .boolean(let value): return .bool(value)
    case .number:
      let word = bytes[node.offset...].prefix { "+-.eE0123456789".utf8.contains($0) }
      do throws(CodecError) {
        return try unsafe PropertyValue(json: Array(word).span.bytes)
      } catch {
        throw wrong(node.offset, "\(what): \(error)")
      }
    default:
      throw wrong(node.offset, "\(what) is a text, a number, true or false, not \(node.kind)")
    }
  }
}
