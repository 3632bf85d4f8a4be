public import BusProtocol

/// An archive's positions as sequence numbers of a producer, and back.
///
/// The number says the place itself, so that it is the same in every run, whatever was compacted, erased
/// or added meanwhile, and the broker's last number is the place where a replay goes on. Offsets begin
/// anew with an epoch, so each epoch has a producer of its own. A sequence is never 0, hence the one more.
public enum ReplaySequence {
  /// Nil for the one offset that no journal reaches.
  public static func number(of position: Position) -> UInt64? {
    position.offset < .max ? position.offset + 1 : nil
  }

  /// The place behind the event with this number; 0 is before all of them.
  public static func place(behind number: UInt64, epoch: UInt32) -> Position {
    Position(epoch: epoch, offset: number)
  }

  /// The position of the event with this number; nil for 0, which is none.
  public static func position(of number: UInt64, epoch: UInt32) -> Position? {
    number > 0 ? Position(epoch: epoch, offset: number - 1) : nil
  }
}
