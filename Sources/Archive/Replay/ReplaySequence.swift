public import BusProtocol

/// An archive's positions as a producer's sequence numbers, and back.
///
/// The number says the place itself, so that it is the same in every run, whatever was compacted, erased
/// or added meanwhile, and the broker's last number of the replay is the place where it goes on. Bits 44
/// to 63 are the epoch, the others the offset and one, since a sequence is never 0.
public enum ReplaySequence {
  static let offsetBits: UInt64 = 44

  /// Nil beyond a million epochs or 17 million million offsets.
  public static func number(of position: Position) -> UInt64? {
    guard position.offset < 1 << offsetBits - 1, UInt64(position.epoch) < 1 << (64 - offsetBits)
    else { return nil }
    return UInt64(position.epoch) << offsetBits | (position.offset + 1)
  }

  /// The position of the event with this number; nil for 0, which is none.
  public static func position(of number: UInt64) -> Position? {
    place(behind: number).map { Position(epoch: $0.epoch, offset: $0.offset - 1) }
  }

  /// The place behind the event with this number; nil for 0, which is none.
  public static func place(behind number: UInt64) -> Position? {
    guard number > 0 else { return nil }
    return Position(
      epoch: UInt32(number >> offsetBits), offset: number & (1 << offsetBits - 1))
  }
}
