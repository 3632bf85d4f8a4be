import EventCodec
import EventModel
import Hashing
import Primitives
import SinkState
import Testing

@Suite struct EventFieldsTests {
  @Test func `fields are found wherever they stand`() throws {
    let event = SampleEvent(
      messageId: "m-1", userId: "u-1", anonymousId: .int(7), timestamp: 42)
    let payload = event.payload
    let fields = try event.fields
    #expect(Array(payload[fields.messageId]) == Array("m-1".utf8))
    #expect(Array(payload[fields.userId].dropFirst()) == Array("u-1".utf8))
    #expect(Array(payload[fields.anonymousId]) == [7])
    #expect(fields.timestamp == 42)
  }

  @Test func `the content leaves out when it was sent and received`() throws {
    let plain = try SampleEvent(messageId: "m").fields
    let sent = try SampleEvent(messageId: "m", sentAt: "2026-01-01").fields
    let received = try SampleEvent(messageId: "m", sentAt: "later", receivedAt: 99).fields
    let other = try SampleEvent(messageId: "m", value: 1).fields
    #expect(plain.content == sent.content)
    #expect(plain.content == received.content)
    #expect(plain.content != other.content)
  }

  @Test func `ids that are absent, null or no text are empty`() throws {
    #expect(try SampleEvent().fields.messageId.isEmpty)
    #expect(try SampleEvent(messageId: .int(3)).fields.messageId.isEmpty)
    #expect(try SampleEvent(userId: .null).fields.userId.isEmpty)
  }

  @Test func `where a line's writer found the fields, they are the same`() throws {
    var samples = [
      SampleEvent(
        messageId: "m", userId: "u", anonymousId: .int(7), previousId: "p", sentAt: "x",
        receivedAt: 9
      ).payload, SampleEvent(messageId: .int(3), userId: .null).payload, SampleEvent().payload,
    ]
    // Keys twice, and more of them than a table of places holds.
    for count in [2, 12] {
      var writer = MessagePackWriter()
      writer.writeMapHeader(count * 2 + 1)
      writer.write("before")
      writer.write(Int64(1))
      for number in 0..<count {
        writer.write("userId")
        writer.write("u\(number)")
        writer.write("sentAt")
        writer.write(Int64(number))
      }
      samples.append(writer.bytes)
    }
    for payload in samples {
      var (line, places) = ([UInt8](), FieldPlaces())
      let payload = unsafe payload.span.bytes
      try CanonicalJSON.append(payload, .init(), to: &line, noting: &places)
      #expect(try EventFields(places, of: payload) == EventFields(reading: payload))
    }
  }

  @Test(arguments: [[], [0xC0], [0x81], [0x82, 0xA1, 0x61], [0xFF]] as [[UInt8]])
  func `bytes that are no event are refused`(bytes: [UInt8]) {
    #expect(throws: MessagePackError.self) { try unsafe EventFields(reading: bytes.span.bytes) }
  }

  @Test func `a number and its text are one person`() throws {
    let key = KeyedHash(key: [UInt8](repeating: 1, count: 16))
    func person(_ event: SampleEvent) throws -> Hash128? {
      let payload = event.payload
      return try unsafe PersonHash.hash(
        event.fields.userId, in: payload.span.bytes, by: key)
    }
    let number = try person(SampleEvent(userId: .int(42)))
    #expect(try number == person(SampleEvent(userId: "42")))
    #expect(number == PersonHash.hash("42", by: key))
    #expect(number != PersonHash.hash("43", by: key))
    #expect(try person(SampleEvent(userId: "")) == nil)
    #expect(try person(SampleEvent()) == nil)
  }
}
