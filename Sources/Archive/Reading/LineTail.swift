internal import BusProtocol

/// Reads where a line's event stands in the journal: the archive's own last fields, found from the
/// line's end, so that nothing before them is looked at and a field of the same name that the event
/// itself has does not matter.
enum LineTail {
  private static let epoch = Array(",\"epoch\":".utf8)
  private static let offset = Array(",\"offset\":".utf8)

  /// Nil when the line does not end in `,"offset":N,"epoch":M}`.
  static func position(_ line: UnsafeRawBufferPointer) -> Position? {
    var end = line.count
    guard end > 0, unsafe line[end - 1] == UInt8(ascii: "}") else { return nil }
    end -= 1
    guard let epoch = unsafe number(line, &end), unsafe takes(Self.epoch, line, &end),
      let offset = unsafe number(line, &end), unsafe takes(Self.offset, line, &end),
      let epoch = UInt32(exactly: epoch)
    else { return nil }
    return Position(epoch: epoch, offset: offset)
  }

  /// The digits before `end`, which goes to their start.
  private static func number(_ line: UnsafeRawBufferPointer, _ end: inout Int) -> UInt64? {
    var value: UInt64 = 0
    var factor: UInt64 = 1
    var digits = 0
    while end > 0 {
      let digit = unsafe line[end - 1] &- 48
      guard digit < 10 else { break }
      // Twenty digits are the longest number, and the twentieth may not fit.
      guard digits < 20 else { return nil }
      let (part, over) = factor.multipliedReportingOverflow(by: UInt64(digit))
      let (sum, overflow) = value.addingReportingOverflow(part)
      if over || overflow { return nil }
      value = sum
      factor = digits < 19 ? factor * 10 : 0
      digits += 1
      end -= 1
    }
    return digits > 0 ? value : nil
  }

  private static func takes(
    _ text: [UInt8], _ line: UnsafeRawBufferPointer, _ end: inout Int
  ) -> Bool {
    let start = end - text.count
    guard start >= 0 else { return false }
    for index in text.indices where unsafe line[start + index] != text[index] { return false }
    end = start
    return true
  }
}
