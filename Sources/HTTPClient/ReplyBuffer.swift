/// An answer as it comes in, within its limits.
///
/// Interim answers (1xx) and the answers of a proxy to CONNECT are followed by another head, which
/// takes their place. Fields behind a chunked body are left out.
struct ReplyBuffer {
  enum Overflow: Hashable { case head, body }

  let headBytes: Int
  let keptBodyBytes: Int
  let readBodyBytes: Int
  private(set) var reply: HTTPReply?
  private(set) var overflow: Overflow?
  private var headCount = 0
  private var bodyCount = 0
  private var isHeadDone = false

  init(_ limits: HTTPClientConfiguration) {
    headBytes = limits.headBytes
    keptBodyBytes = limits.keptBodyBytes
    readBodyBytes = limits.readBodyBytes
  }

  /// Takes one line of the head. False: beyond the limit.
  mutating func takeHead(_ line: RawSpan) -> Bool {
    headCount += line.byteCount
    guard headCount <= headBytes else {
      overflow = .head
      return false
    }
    let text = unsafe line.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    let trimmed = text.trimmed
    if bodyCount == 0, let status = Self.status(trimmed) {
      reply = HTTPReply(status: status)
      isHeadDone = false
    } else if trimmed.isEmpty {
      isHeadDone = true
    } else if !isHeadDone, bodyCount == 0, let colon = trimmed.firstIndex(of: ":") {
      reply?.headers.append(
        HTTPHeader(
          trimmed[..<colon].lowercased(), String(trimmed[trimmed.index(after: colon)...]).trimmed))
    }
    return true
  }

  /// Takes a piece of the body. False: beyond the limit.
  mutating func takeBody(_ piece: RawSpan) -> Bool {
    bodyCount += piece.byteCount
    guard bodyCount <= readBodyBytes else {
      overflow = .body
      return false
    }
    let room = keptBodyBytes - (reply?.body.count ?? 0)
    if piece.byteCount > room { reply?.isBodyCut = true }
    let kept = piece.extracting(first: max(0, min(room, piece.byteCount)))
    unsafe kept.withUnsafeBytes { unsafe reply?.body.append(contentsOf: $0) }
    return true
  }

  /// The status of `HTTP/1.1 200 OK`.
  private static func status(_ line: String) -> Int? {
    guard line.hasPrefix("HTTP/") else { return nil }
    let words = line.split(separator: " ", maxSplits: 2)
    return words.count > 1 ? Int(words[1]) : nil
  }
}

extension String {
  /// Without blanks and line ends around it.
  fileprivate var trimmed: String {
    var bytes = utf8[...]
    while let last = bytes.last, last <= 0x20 { bytes.removeLast() }
    while let first = bytes.first, first <= 0x20 { bytes.removeFirst() }
    return String(decoding: bytes, as: UTF8.self)
  }
}
