internal import EventCodec
internal import EventModel
internal import Primitives

extension EnvelopeView {
  /// Whether a field holds an identifier: a text that is not empty, or a number.
  func hasID(_ field: EnvelopeField) throws(MessagePackError) -> Bool {
    if !text(field).isEmpty { return true }
    return try id(field) != nil
  }

  /// A time as text; whatever else stands there as it is.
  func appendTime(_ field: EnvelopeField, to output: inout [UInt8]) throws(CodecError) {
    let value = value(field)
    let type = value.isEmpty ? 0xC0 : value.bigEndian(at: 0, as: UInt8.self)
    guard type < 0x80 || type >= 0xE0 || (0xCC...0xD3).contains(type) else {
      return try CanonicalJSON.append(value: value, to: &output)
    }
    var reader = MessagePackReader(value)
    do throws(MessagePackError) {
      let time = Timestamp(nanoseconds: try reader.readInt())
      output.append(UInt8(ascii: "\""))
      time.appendText(to: &output)
      output.append(UInt8(ascii: "\""))
    } catch { throw CodecError(error) }
  }

  /// `properties` or `traits` by a plan; null stays null.
  func appendObject(
    _ field: EnvelopeField, _ plan: PropertyPlan, to output: inout [UInt8]
  ) throws(CodecError) {
    let value = value(field)
    guard isMap(field) else { return try CanonicalJSON.append(value: value, to: &output) }
    try plan.append(value, to: &output)
  }

  func isMap(_ field: EnvelopeField) -> Bool {
    let value = value(field)
    let type = value.isEmpty ? 0 : value.bigEndian(at: 0, as: UInt8.self)
    return type & 0xF0 == 0x80 || type == 0xDE || type == 0xDF
  }
}
