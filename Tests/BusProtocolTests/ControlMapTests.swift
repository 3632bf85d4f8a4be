import Testing

@testable import BusProtocol

/// Tests of the bounds of a control map: no count is believed, no depth followed without end.
@Suite struct ControlMapTests {
  static func read(_ body: [UInt8]) throws -> ControlMap {
    let message = MessageHeader(.reply).message + body
    return try ControlMap(body: unsafe message.span.bytes, of: .reply)
  }

  /// `{"k": value}` with the value's bytes as given.
  static func value(_ bytes: [UInt8]) throws -> ControlValue? {
    try read([0x81, 0xA1, 0x6B] + bytes)["k"]
  }

  @Test(
    arguments: [
      ([0x7F], .number(127)),
      ([0xCC, 200], .number(200)),
      ([0xCD, 1, 0], .number(256)),
      ([0xCE, 0, 1, 0, 0], .number(65536)),
      ([0xCF, 255, 255, 255, 255, 255, 255, 255, 255], .number(.max)),
      ([0xD0, 5], .number(5)),
      ([0xD0, 0x80], .negative(-128)),
      ([0xD1, 0x80, 0], .negative(-32768)),
      ([0xD2, 0x80, 0, 0, 0], .negative(-2_147_483_648)),
      ([0xD3, 0x80, 0, 0, 0, 0, 0, 0, 0], .negative(.min)),
      ([0xE0], .negative(-32)),
      ([0xC0], .null),
      ([0xC2], .flag(false)),
      ([0xC3], .flag(true)),
      ([0xCA, 0x3F, 0, 0, 0], .double(0.5)),
      ([0xCB, 0x3F, 0xE0, 0, 0, 0, 0, 0, 0], .double(0.5)),
      ([0xA1, 0x78], .text("x")),
      ([0xD9, 1, 0x78], .text("x")),
      ([0xDA, 0, 1, 0x78], .text("x")),
      ([0xDB, 0, 0, 0, 1, 0x78], .text("x")),
      ([0xC4, 1, 9], .bytes([9])),
      ([0xC5, 0, 1, 9], .bytes([9])),
      ([0xC6, 0, 0, 0, 1, 9], .bytes([9])),
      ([0xDC, 0, 1, 9], .list([.number(9)])),
      ([0xDD, 0, 0, 0, 1, 9], .list([.number(9)])),
      ([0xDE, 0, 0], .map(ControlMap())),
      ([0xDF, 0, 0, 0, 0], .map(ControlMap())),
    ] as [([UInt8], ControlValue)])
  func `each form of a value is read`(_ form: (bytes: [UInt8], value: ControlValue)) throws {
    #expect(try Self.value(form.bytes) == form.value)
    for length in 0..<form.bytes.count {
      #expect(throws: ProtocolError.self) { try Self.value(Array(form.bytes[..<length])) }
    }
  }

  @Test(arguments: [0xC1, 0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8] as [UInt8])
  func `a type that the protocol does not use is refused`(_ type: UInt8) {
    #expect(throws: ProtocolError.self) {
      try Self.value([type] + [UInt8](repeating: 0, count: 20))
    }
  }

  @Test(
    arguments: [
      [0xC6, 255, 255, 255, 255], [0xDB, 255, 255, 255, 255], [0xDD, 255, 255, 255, 255],
      [0xDF, 255, 255, 255, 255], [0xDC, 255, 255], [0xDE, 255, 255], [0x9F], [0x8F],
    ] as [[UInt8]])
  func `a count that the bytes cannot hold is refused`(_ bytes: [UInt8]) {
    #expect(throws: ProtocolError.self) { try Self.value(bytes + [0]) }
  }

  @Test func `eight levels are read and nine refused`() throws {
    // The map itself is the first level.
    let lists = [UInt8](repeating: 0x91, count: 7)
    #expect(throws: Never.self) { try Self.value(lists + [1]) }
    #expect(throws: ProtocolError.self) { try Self.value([0x91] + lists + [1]) }
    let deep = [UInt8](repeating: 0x91, count: 1 << 20)
    #expect(throws: ProtocolError.self) { try Self.value(deep) }
  }

  @Test(arguments: [(1000, true), (1001, false)])
  func `a map has at most a thousand keys`(_ count: Int, _ isRead: Bool) {
    var map = ControlMap()
    for index in 0..<count { map["\(index)"] = .null }
    let message = map.message(MessageHeader(.reply))
    let read = try? ControlMap(body: unsafe message.span.bytes, of: .reply)
    #expect((read == map) == isRead)
  }

  @Test(
    arguments: [
      [0x82, 0xA1, 0x6B, 1, 0xA1, 0x6B, 2],  // the same key twice
      [0x81, 0x01, 0x01],  // a key that is a number
      [0x81, 0xA1, 0xFF, 0x01],  // a key that is not UTF-8
      [0x81, 0xA1, 0x6B, 0xA2, 0xC3, 0x28],  // a text that is not UTF-8
      [0x80, 0x00],  // a byte behind the map
      [0x90],  // a list
      [],
    ] as [[UInt8]])
  func `a body that is not one good map is refused`(_ body: [UInt8]) {
    #expect(throws: ProtocolError.self) { try Self.read(body) }
  }

  @Test func `a field is set, replaced and removed in its place`() {
    var map = ControlMap()
    map["a"] = .number(1)
    map["b"] = .number(2)
    map["a"] = .number(3)
    #expect(map.fields.map(\.key) == ["a", "b"])
    #expect(map.number("a") == 3)
    map["a"] = nil
    map["c"] = nil
    #expect(map.fields.map(\.key) == ["b"])
  }

  @Test func `a field of another type counts as missing`() {
    var map = ControlMap()
    map["a"] = .text("7")
    #expect(map.number("a", or: 5) == 5)
    #expect(map.text("b", or: "x") == "x")
    #expect(!map.flag("a"))
    #expect(map.list("a").isEmpty)
    #expect(map.bytes("a") == [0x37])
  }
}
