/// An answer as it came over the wire.
public struct TestAnswer {
  public var status: Int
  public var headers: [String: String]
  public var body: String

  /// The first whole answer in the bytes and its size; nil when more must come.
  static func parse(_ bytes: [UInt8], head: Bool) -> (TestAnswer, Int)? {
    let end = Array("\r\n\r\n".utf8)
    guard
      let start = bytes.indices.first(where: { bytes[$0...].starts(with: end) })
    else { return nil }
    let lines = String(decoding: bytes[..<start], as: UTF8.self).split(separator: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = String(line[colon...].dropFirst(2))
    }
    let words = lines.first?.split(separator: " ") ?? []
    let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
    let length = head ? 0 : Int(headers["content-length"] ?? "") ?? 0
    let body = start + end.count
    guard bytes.count >= body + length else { return nil }
    let text = String(decoding: bytes[body..<body + length], as: UTF8.self)
    return (TestAnswer(status: status, headers: headers, body: text), body + length)
  }
}
