public import BusProtocol

/// One place of the archive that is not what it was written as.
public struct PartDamage: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file, below the archive's directory.
  public var file: String
  /// Where in the file: the start of the frame that is damaged, or the end where something is missing.
  public var byte: UInt64
  /// The last event before it, of this file; nil when there is none.
  public var lastGood: Position?
  public var reason: String

  public init(file: String, byte: UInt64, lastGood: Position? = nil, reason: String) {
    self.file = file
    self.byte = byte
    self.lastGood = lastGood
    self.reason = reason
  }

  public var description: String {
    let last =
      lastGood.map { "the last good event has offset \($0.offset) of epoch \($0.epoch)" }
      ?? "no event before it"
    return "\(file), byte \(byte): \(reason); \(last)"
  }
}
