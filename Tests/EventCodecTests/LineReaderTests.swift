import EventCodec
import Testing

@Suite struct LineReaderTests {
  typealias Numbered = LineReader.Numbered

  @Test(arguments: [1, 2, 3, 5, 1000])
  func `marks, blank lines and ends of lines in pieces of any size`(piece: Int) throws {
    let text: [UInt8] = [0xEF, 0xBB, 0xBF] + Array("a\r\n\n \t\r\nb\n\nlast".utf8)
    let lines = try read(text, piece: piece, maximumBytes: 100)
    #expect(lines == [line(1, "a"), line(4, "b"), line(6, "last")])
  }

  @Test(
    arguments: [
      ([0xFF, 0xFE, 0x7B, 0x00], "UTF-16LE"), ([0xFE, 0xFF, 0x00, 0x7B], "UTF-16BE"),
      ([0x00, 0x00, 0xFE, 0xFF], "UTF-32BE"), ([0xFF, 0xFE], "UTF-16LE"),
    ] as [([UInt8], String)])
  func `other encodings are refused by name`(bytes: [UInt8], name: String) {
    do throws(LineReader.WrongEncoding) {
      _ = try read(bytes, piece: 1, maximumBytes: 100)
      Issue.record("\(name) was read")
    } catch {
      #expect(error.name == name)
    }
  }

  @Test(arguments: [3, 64, 100_000])
  func `a line over the limit is reported with its length and the next one is read`(
    piece: Int
  ) throws {
    let long = String(repeating: "x", count: 50_000)
    let lines = try read(Array("a\n\(long)\nb\n".utf8), piece: piece, maximumBytes: 10)
    #expect(
      lines == [line(1, "a"), Numbered(number: 2, line: .tooLong(bytes: 50_000)), line(3, "b")])
  }

  @Test func `a line of just the limit is taken, with or without a carriage return`() throws {
    let lines = try read(Array("12345\r\n12345\n123456\n".utf8), piece: 4, maximumBytes: 5)
    #expect(
      lines == [line(1, "12345"), line(2, "12345"), Numbered(number: 3, line: .tooLong(bytes: 6))])
  }

  @Test(arguments: ["", "\n", "\r\n\n"])
  func `a stream without text has no lines`(text: String) throws {
    #expect(try read(Array(text.utf8), piece: 1, maximumBytes: 5).isEmpty)
  }

  private func line(_ number: Int, _ text: String) -> Numbered {
    Numbered(number: number, line: .text(Array(text.utf8)))
  }

  private func read(
    _ bytes: [UInt8], piece: Int, maximumBytes: Int
  ) throws(LineReader.WrongEncoding) -> [Numbered] {
    var reader = LineReader(maximumBytes: maximumBytes)
    var lines: [Numbered] = []
    func take(_ line: Numbered) -> Bool {
      lines.append(line)
      return true
    }
    var rest = bytes[...]
    while !rest.isEmpty {
      try reader.feed(rest.prefix(piece), take)
      rest = rest.dropFirst(piece)
    }
    try reader.finish(take)
    return lines
  }
}
