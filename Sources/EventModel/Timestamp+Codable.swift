// Programs name the type of times without knowing where it is made.
@_exported public import struct Primitives.Timestamp
public import Primitives

/// As text, like every time on the bus.
extension Timestamp: Codable {
  public init(from decoder: any Decoder) throws {
    let text = try decoder.singleValueContainer().decode(String.self)
    guard let time = Timestamp(text: text) else { throw EventDecodingError(.notATime, key: "") }
    self = time
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
