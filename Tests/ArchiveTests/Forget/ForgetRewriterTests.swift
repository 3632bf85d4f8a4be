import BusProtocol
import Primitives
import Testing

@testable import Archive

struct ForgetRewriterTests {
  private static func event(_ number: Int, user: String) -> String {
    SampleArchive.event(
      "Name \(number % 3)", second: number, user: "\"\(user)\"", properties: "{\"n\":\(number)}")
  }

  /// Three parts of thirty events in the names of ten users, user-7 among them.
  private static func archive() throws -> SampleArchive {
    let archive = try SampleArchive()
    for part in 0..<3 {
      try archive.add(
        (0..<30).map { event(part * 30 + $0, user: "user-\($0 % 10)") }, hour: part)
    }
    return archive
  }

  private static func holds(_ line: String, _ id: String) -> Bool { line.contains("\"\(id)\"") }

  @Test func `just the person's events go, and no file holds the id`() throws {
    let archive = try Self.archive()
    let other = try archive.add((0..<10).map { Self.event(100 + $0, user: "else") }, hour: 4)
    try archive.request("user-7", at: 1000)
    #expect(try archive.forget() == .finished(requests: 1))
    #expect(try archive.stored() == archive.lines.filter { !Self.holds($0, "user-7") })
    try archive.expectAccountsRight()
    #expect(try archive.files(holding: "user-7") == [])
    let catalogue = try Catalogue(reading: archive.path)
    let erasure = try #require(try catalogue.erasures().first)
    #expect((erasure.parts, erasure.events, erasure.finished) == (3, 9, 1000))
    // What does not hold the person is not touched.
    #expect(try catalogue.parts().last?.path == other.path)
    #expect(try Files.list(archive.path).filter { $0.hasSuffix(".zst") }.count == 4)
  }

  @Test func `a person who comes back is kept`() throws {
    let archive = try Self.archive()
    // The fourth event of user-7 has offset 37.
    try archive.request("user-7", at: 37)
    try archive.forget()
    let kept = archive.lines.enumerated().filter {
      $0.offset >= 37 || !Self.holds($0.element, "user-7")
    }
    #expect(try archive.stored() == kept.map(\.element))
    try archive.expectAccountsRight()
    let parts = try Catalogue(reading: archive.path).parts()
    #expect(parts.map { ArchiveNames.revision(of: $0.path) } == [1, 0, 0])
  }

  @Test(arguments: [
    (#""userId":"ID""#, "ID"), (#""anonymousId":"ID""#, "ID"), (#""userId":42"#, "42"),
    (#""userId":"x\"\\\u0001é""#, "x\"\\\u{1}é"), (#""type":"alias","previousId":"ID""#, "ID"),
    (#""type":"identify","userId":"new","anonymousId":"ID""#, "ID"), (#""userId":1.50"#, "1.5"),
  ])
  func `a person is found under every id and spelling`(_ fields: String, _ id: String) throws {
    let archive = try SampleArchive()
    let name = fields.contains("type") ? "" : "\"event\":\"A\","
    let mine = "{\(name)\"messageId\":\"mine\",\"timestamp\":5000000000,\(fields)}"
    try archive.add([Self.event(1, user: "a"), mine, Self.event(2, user: "b")])
    try archive.request(id, at: 1000)
    try archive.forget()
    #expect(try archive.stored() == [archive.lines[0], archive.lines[2]])
    try archive.expectAccountsRight()
    #expect(try archive.files(holding: "\"mine\"") == [])
  }

  @Test func `ids that only look alike stay`() throws {
    let archive = try SampleArchive()
    try archive.add([
      Self.event(1, user: "ID2"), Self.event(2, user: "id"),
      #"{"event":"A","timestamp":5000000000,"properties":{"userId":"ID"},"context":{"x":"ID"}}"#,
      #"{"event":"ID","timestamp":5000000000,"userId":null,"anonymousId":""}"#,
    ])
    try archive.request("ID", at: 1000)
    #expect(try archive.forget() == .finished(requests: 1))
    #expect(try archive.stored() == archive.lines)
  }

  @Test func `a part of which nothing is left goes`() throws {
    let archive = try SampleArchive()
    try archive.add((0..<10).map { Self.event($0, user: "mine") })
    try archive.add((10..<20).map { Self.event($0, user: "other") })
    try archive.request("mine", at: 10)
    try archive.forget()
    #expect(try archive.stored() == Array(archive.lines[10...]))
    #expect(try Files.list(archive.path).filter { $0.hasSuffix(".zst") }.count == 1)
  }

  @Test func `several requests go in one pass, each with its own place and count`() throws {
    let archive = try Self.archive()
    try archive.request("user-1", "user-2", at: 40)
    try archive.request("user-2", at: 1000)
    try archive.request("nobody", at: 1000)
    #expect(try archive.forget() == .finished(requests: 4))
    let kept = archive.lines.enumerated().filter {
      !Self.holds($0.element, "user-2") && !(Self.holds($0.element, "user-1") && $0.offset < 40)
    }
    #expect(try archive.stored() == kept.map(\.element))
    try archive.expectAccountsRight()
    let erasures = try Catalogue(reading: archive.path).erasures()
    #expect(erasures.map(\.events) == [4, 4, 5, 0])
    #expect(erasures.allSatisfy { $0.finished == 1000 })
  }

  @Test func `a finished request is not done again, a later one of the person is`() throws {
    let archive = try Self.archive()
    try archive.request("user-7", at: 1000)
    try archive.forget()
    try archive.add([Self.event(200, user: "user-7")])
    #expect(try archive.forget() == .idle)
    #expect(try archive.files(holding: "user-7").count == 1)
    try archive.request("user-7", at: 1000)
    try archive.forget()
    #expect(try archive.files(holding: "user-7") == [])
  }

  @Test(arguments: ForgetStep.allCases)
  func `killed at any step the next run finishes it`(_ step: ForgetStep) throws {
    for number in 0..<3 {
      let archive = try Self.archive()
      try archive.request("user-7", at: 1000)
      var rewriter = ForgetRewriter()
      var left = number
      rewriter.onStep = { met throws(ArchiveError) in
        guard met == step else { return }
        if left == 0 { throw ArchiveError(.other, "killed") }
        left -= 1
      }
      #expect(throws: ArchiveError(.other, "killed")) { try archive.forget(&rewriter) }
      let expected = archive.lines.filter { !Self.holds($0, "user-7") }
      #expect(try archive.stored().filter { !Self.holds($0, "user-7") } == expected)
      // As the archiver does when it starts.
      _ = try ArchiveCleanup.run(Catalogue(writing: archive.path))
      try archive.forget()
      #expect(try archive.stored() == expected)
      try archive.expectAccountsRight()
      #expect(try archive.files(holding: "user-7") == [])
      #expect(try Files.list(archive.path).filter { $0.hasSuffix(".zst") }.count == 3)
      #expect(try Catalogue(reading: archive.path).erasures().map(\.events) == [9])
    }
  }

  @Test func `an error is passed on and the next call goes on`() throws {
    let archive = try Self.archive()
    try archive.request("user-7", at: 1000)
    var rewriter = ForgetRewriter()
    var failures = 5
    rewriter.onStep = { _ throws(ArchiveError) in
      guard failures > 0 else { return }
      failures -= 1
      throw ArchiveError(.diskFull, "full")
    }
    for _ in 0..<5 {
      #expect(throws: ArchiveError(.diskFull, "full")) { try archive.forget(&rewriter) }
    }
    #expect(try archive.forget(&rewriter) == .finished(requests: 1))
    #expect(try archive.stored() == archive.lines.filter { !Self.holds($0, "user-7") })
    #expect(try archive.files(holding: "user-7") == [])
  }
}
