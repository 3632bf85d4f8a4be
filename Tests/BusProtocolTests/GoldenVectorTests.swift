import Testing

@testable import BusProtocol

/// The bytes of the protocol, written out by hand from its layout tables. A change here is a new
/// version of the protocol, never a corrected test.
@Suite struct GoldenVectorTests {
  @Test func `a header`() {
    let header = MessageHeader(.fetch, flags: 3, token: 0x0102_0304_0506_0708)
    #expect(header.message == [0xEB, 1, 7, 3, 1, 2, 3, 4, 5, 6, 7, 8])
  }

  @Test func `the numbers of the verbs`() {
    #expect(Verb.allCases.map(\.rawValue) == Array(1...9) + Array(65...78))
  }

  @Test func `HELLO`() {
    let hello = HelloMessage(client: "g", producer: Sample.producer, instance: [7])
    let body: [UInt8] =
      [0x83, 0xA6] + Array("client".utf8) + [0xA1, 0x67]
      + [0xA8] + Array("producer".utf8) + [0xC6, 0, 0, 0, 16] + Sample.producer
      + [0xA8] + Array("instance".utf8) + [0xC6, 0, 0, 0, 1, 7]
    #expect(hello.encode() == [0xEB, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0] + body)
  }

  @Test func `PUBLISH before its batch`() {
    var bytes: [UInt8] = []
    PublishMessage(sequence: 0x0102, previous: 0x0101, round: 5).encode(token: 9, into: &bytes)
    #expect(
      bytes == [0xEB, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 9]
        + [0, 0, 0, 0, 0, 0, 1, 2] + [0, 0, 0, 0, 0, 0, 1, 1] + [0, 0, 0, 5])
  }

  @Test func `ACKNOWLEDGE`() {
    let message = AcknowledgeMessage(sequence: 1, nextOffset: 2, windowBytes: 0x0A0B_0C0D)
    #expect(
      message.encode(token: 9) == [0xEB, 1, 66, 0, 0, 0, 0, 0, 0, 0, 0, 9]
        + [0, 0, 0, 0, 0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 2] + [0x0A, 0x0B, 0x0C, 0x0D])
  }

  @Test func `COMMITTED`() {
    let message = CommitMessage(cursor: Position(epoch: 3, offset: 258))
    #expect(
      message.encode(.committed, token: 9) == [0xEB, 1, 72, 0, 0, 0, 0, 0, 0, 0, 0, 9]
        + [0, 0, 0, 0, 0, 0, 1, 2] + [0, 0, 0, 3])
  }

  @Test func `a batch`() {
    #expect(
      BatchContent.plain.encode() == [1, 0, 0, 2] + [0, 0, 0, 3] + [0, 0, 0, 4]
        + [1, 0x61] + [2, 0x62, 0x63]
        + [0, 0, 0, 0, 0, 3] + [0, 1, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 1]
        + [1, 2, 3, 4])
  }

  @Test func `an addressed batch with distances`() {
    let content = BatchContent(
      addressees: [[0x78]], events: [.init(name: [0x61], payload: [5], distance: 258)])
    #expect(
      content.encode() == [1, 3, 0, 1] + [0, 0, 0, 1] + [0, 0, 0, 1]
        + [1, 0x61] + [1, 1, 0x78] + [0, 0, 0, 0, 0, 1, 1, 2] + [5])
  }

  @Test func `the meta frame of a live event`() throws {
    let meta = LiveMeta(epoch: 1, offset: 2, sequence: 3, time: -2)
    var bytes: [UInt8] = []
    meta.encode(into: &bytes)
    #expect(
      bytes == [1, 0, 0, 32] + [0, 0, 0, 1] + [0, 0, 0, 0, 0, 0, 0, 2]
        + [0, 0, 0, 0, 0, 0, 0, 3] + [255, 255, 255, 255, 255, 255, 255, 254])
    #expect(try LiveMeta(decoding: unsafe bytes.span.bytes) == meta)
    let short = Array(bytes.dropLast())
    #expect(throws: ProtocolError.tooShort(bytes: 31)) {
      try LiveMeta(decoding: unsafe short.span.bytes)
    }
    bytes[0] = 0
    #expect(throws: ProtocolError.version(0)) {
      try LiveMeta(decoding: unsafe bytes.span.bytes)
    }
  }

  @Test func `a newer meta frame is read up to what is known`() throws {
    let meta = LiveMeta(epoch: 1, offset: 2, sequence: 3, time: 4)
    var bytes: [UInt8] = []
    meta.encode(into: &bytes)
    bytes[0] = 2
    bytes[3] = 40
    bytes += [UInt8](repeating: 9, count: 8)
    #expect(try LiveMeta(decoding: unsafe bytes.span.bytes) == meta)
  }
}
