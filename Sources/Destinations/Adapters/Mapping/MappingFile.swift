internal import EventCodec
internal import EventModel
internal import Primitives

// A mapping file is one JSON object: the name of a destination, or "*" for those that have no section of
// their own, and what is special there. Each word may be left out.
//
//   {
//     "segment": {
//       "include": ["Game *"],                                events that go there; none: all
//       "exclude": ["Game Reset"],                            events that do not
//       "rename": {"Game Started": "Round Started"},          names of tracks
//       "properties": [
//         {"events": ["Game *"], "drop": ["email", "phone*"]},
//         {"keep": ["value", "Opponent Type"], "rename": {"Opponent Type": "opponent"}}
//       ]
//     }
//   }
//
// Names of events and properties in lists are patterns: `*` stands for any run of characters, `\*` and
// `\\` for themselves. Keys of "rename" are exact.

/// A mapping file, read and checked.
public struct MappingFile: Sendable {
  private var sections: [String: DestinationMapping]

  /// - Parameter destinations: the names that a section may have.
  /// - Throws: `MappingError` with the place of the first fault.
  public init(_ text: [UInt8], destinations: [String] = Self.destinations) throws(MappingError) {
    let root: PropertyValue
    do throws(CodecError) {
      root = try unsafe PropertyValue(json: text.span.bytes)
    } catch {
      throw MappingError(
        place: MappingError.lineAndColumn(of: error.position, in: text), error.reason.rawValue)
    }
    sections = [:]
    let reader = MappingReader(value: root, place: "")
    for (name, section) in try reader.members(known: destinations + ["*"]) {
      sections[name] = try section.mapping()
    }
  }

  public static let destinations = ["segment", "mixpanel", "gameanalytics", "webhook"]

  /// What the file says for a destination.
  public func mapping(for destination: String) -> DestinationMapping {
    sections[destination] ?? sections["*"] ?? DestinationMapping()
  }
}

/// What is wrong in a mapping file, and where.
public struct MappingError: Error, Hashable, Sendable, CustomStringConvertible {
  /// As `segment.properties[1].drop`, or `line 3, column 7` where the text is no JSON.
  public var place: String
  public var text: String

  init(place: String, _ text: String) {
    self.place = place.isEmpty ? "the file" : place
    self.text = text
  }

  public var description: String { "\(place): \(text)" }

  static func lineAndColumn(of position: Int, in text: [UInt8]) -> String {
    let before = text.prefix(position)
    let line = before.count { $0 == 10 } + 1
    let column = position - (before.lastIndex(of: 10).map { $0 + 1 } ?? 0) + 1
    return "line \(line), column \(column)"
  }
}
