import EventCodec
import EventModel
import Primitives
import ServiceRuntime

/// A line of `tail --template`: text with `{field}`s, as `{event} {properties.plan}`; `{{` and `}}` are braces.
struct TailTemplate {
  enum Part: Hashable {
    case text([UInt8])
    /// A path from the envelope's root.
    case field([[UInt8]])
    case offset
  }

  let parts: [Part]

  /// - Throws: `UsageError` for a field that no envelope has: it would print nothing, for ever.
  init(_ text: String) throws(UsageError) {
    var parts: [Part] = []
    var plain: [UInt8] = []
    var bytes = Array(text.utf8)[...]
    while let byte = bytes.popFirst() {
      if byte == Self.open || byte == Self.close, bytes.first == byte {
        plain.append(byte)
        _ = bytes.popFirst()
      } else if byte == Self.open {
        guard let end = bytes.firstIndex(of: Self.close) else {
          throw UsageError("--template: '{' without '}'; a brace itself is written '{{'")
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        plain = []
        parts.append(try Self.field(bytes[..<end]))
        bytes = bytes[(end + 1)...]
      } else {
        plain.append(byte)
      }
    }
    self.parts = plain.isEmpty ? parts : parts + [.text(plain)]
  }

  private static let open = UInt8(ascii: "{")
  private static let close = UInt8(ascii: "}")
  private static let offset = "offset"
  private static let fields = EnvelopeField.allCases.map { "\($0.text)" }

  private static func field(_ text: ArraySlice<UInt8>) throws(UsageError) -> Part {
    let path = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map(Array.init)
    let root = String(decoding: path[0], as: UTF8.self)
    let isWhole = !path.contains([])
    if root == offset, path.count == 1 { return .offset }
    if let field = EnvelopeField.allCases.first(where: { "\($0.text)" == root }), isWhole {
      if path.count == 1 || field.holdsFields { return .field(path) }
      throw UsageError("--template: \(root) holds no fields; write {\(root)}")
    }
    let near = EditDistance.nearest(to: root, in: [offset] + fields)
    let inside = "{properties.\(root.isEmpty ? "plan" : root)}"
    throw UsageError(
      "--template: no envelope has a field '\(String(decoding: text, as: UTF8.self))'"
        + (near.map { "; the nearest is {\($0)}" } ?? "") + ", and a property is written \(inside)")
  }
}

extension EnvelopeField {
  fileprivate var holdsFields: Bool {
    switch self {
    case .properties, .traits, .context, .integrations: true
    default: false
    }
  }
}
