/// A text that others have in them or not, whatever the case of their letters. Empty: all have it.
public struct TextSearch: Sendable {
  private let wanted: [UInt8]

  public init(_ text: String) { wanted = Array(text.lowercased().utf8) }

  public var isEmpty: Bool { wanted.isEmpty }

  public func matches(_ text: String) -> Bool {
    let bytes = Array(text.lowercased().utf8)
    guard let first = wanted.first, bytes.count >= wanted.count else { return wanted.isEmpty }
    return (0...(bytes.count - wanted.count)).contains { start in
      bytes[start] == first && bytes[start..<start + wanted.count].elementsEqual(wanted)
    }
  }
}
