// Who may do what: the file `keys` in the broker's directory, mode 0600, replaced as a whole by `eventbus
// keys`, read by the broker within a second. Lines of UTF-8:
//
//   eventbus-keys 1
//   # a comment; empty lines are skipped too
//   key PUBLIC-KEY NAME        40 characters of Z85; the name is the rest of the line
//     since TIME               the rights of a key are the lines up to the next one
//     publish PATTERN          the pattern is the rest of the line: `*` is any run of characters
//     subscribe PATTERN
//     administer PATTERN       of subscribers' names
//
// Blanks at the beginning of a line do not count; a line that is none of these makes the file invalid,
// and the broker keeps to the last valid one. At most 10,000 keys and 100 rights of a kind for each.
internal import BusTransport
public import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// The broker's file of keys.
public struct AccessFile: Sendable {
  public enum Failure: Error, Sendable, CustomStringConvertible {
    case file(PrivateFile.Failure)
    case line(path: String, number: Int, String)
    case refused(String)

    public var description: String {
      switch self {
      case .file(let failure): failure.description
      case .line(let path, let number, let text): "\(path):\(number): \(text)"
      case .refused(let text): text
      }
    }
  }

  static let head = "eventbus-keys 1"
  static let maximumKeys = 10_000
  static let maximumRights = 100

  public let path: String

  /// - Parameter directory: the broker's.
  public init(directory: String) { path = directory + "/keys" }

  /// The keys in the order of the file; none when there is no file.
  public func load() throws(Failure) -> [AccessKey] {
    let bytes: [UInt8]
    do throws(PrivateFile.Failure) { bytes = try PrivateFile.read(path, limit: 8 << 20) } catch {
      if error.isMissing { return [] }
      throw .file(error)
    }
    return try Self.parse(bytes, path: path)
  }

  /// Changes the keys; waits for another change that is under way.
  public func change(
    _ body: (inout [AccessKey]) throws(Failure) -> Void
  ) throws(Failure) {
    let lock: Int32
    do throws(SystemError) {
      lock = try SystemError.check("open", path + ".lock") {
        unsafe open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      }
    } catch { throw .file(.system(error)) }
    defer { close(lock) }
    do throws(SystemError) {
      try SystemError.check("flock", path + ".lock") { flock(lock, LOCK_EX) }
    } catch { throw .file(.system(error)) }
    var keys = try load()
    try body(&keys)
    try Self.check(keys)
    do throws(PrivateFile.Failure) {
      try PrivateFile.write(Array(Self.text(keys).utf8), to: path)
    } catch { throw .file(error) }
  }

  static func text(_ keys: [AccessKey]) -> String {
    var text = head + "\n# Written by `eventbus keys`; the broker reads it again when it changes.\n"
    for key in keys {
      text += "key \(key.key) \(key.name)\n"
      if !key.since.isEmpty { text += "  since \(key.since)\n" }
      for pattern in key.rights.publish { text += "  publish \(pattern)\n" }
      for pattern in key.rights.subscribe { text += "  subscribe \(pattern)\n" }
      for pattern in key.rights.administer { text += "  administer \(pattern)\n" }
    }
    return text
  }

  static func parse(_ bytes: [UInt8], path: String) throws(Failure) -> [AccessKey] {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw .line(path: path, number: 1, "the file is not UTF-8")
    }
    var keys: [AccessKey] = []
    var number = 0
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      number += 1
      do throws(Failure) {
        try read(line.drop { $0 == " " || $0 == "\t" }, isFirst: number == 1, into: &keys)
      } catch { throw .line(path: path, number: number, "\(error)") }
    }
    do throws(Failure) { try check(keys) } catch {
      throw .line(path: path, number: number, "\(error)")
    }
    return keys
  }

  private static func read(
    _ line: Substring, isFirst: Bool, into keys: inout [AccessKey]
  ) throws(Failure) {
    if isFirst {
      guard line == head else { throw .refused("the first line is not '\(head)'") }
      return
    }
    guard let first = line.first, first != "#" else { return }
    let (word, rest) = split(line)
    if word == "key" {
      let (text, name) = split(rest)
      guard let key = CurvePublicKey(text) else {
        throw .refused("'key' is followed by 40 characters of Z85 and a name")
      }
      return keys.append(AccessKey(name: String(name), key: key, since: "", rights: .init()))
    }
    guard !keys.isEmpty else { throw .refused("a right stands before the first 'key'") }
    let last = keys.count - 1
    switch word {
    case "since": keys[last].since = String(rest)
    case "publish": keys[last].rights.publish.append(String(rest))
    case "subscribe": keys[last].rights.subscribe.append(String(rest))
    case "administer": keys[last].rights.administer.append(String(rest))
    default:
      throw .refused("'\(word)' is none of key, since, publish, subscribe, administer")
    }
  }

  /// The first word and what follows the one blank behind it.
  private static func split(_ line: Substring) -> (Substring, Substring) {
    guard let blank = line.firstIndex(of: " ") else { return (line, "") }
    return (line[..<blank], line[line.index(after: blank)...])
  }

  private static func check(_ keys: [AccessKey]) throws(Failure) {
    guard keys.count <= maximumKeys else {
      throw .refused("\(keys.count) keys; at most \(maximumKeys) are kept: revoke some")
    }
    var names: Set<[UInt8]> = []
    var texts: Set<CurvePublicKey> = []
    for key in keys {
      try checkText(key.name, "a name", 100)
      guard names.insert(Array(key.name.utf8)).inserted else {
        throw .refused("two keys are named '\(key.name)': choose another --name, or revoke one")
      }
      guard texts.insert(key.key).inserted else { throw .refused("key \(key.key) is listed twice") }
      for patterns in [key.rights.publish, key.rights.subscribe, key.rights.administer] {
        guard patterns.count <= maximumRights else {
          throw .refused("'\(key.name)' has more than \(maximumRights) rights of a kind")
        }
        for pattern in patterns { try checkText(pattern, "a pattern", 400) }
      }
    }
  }

  private static func checkText(_ text: String, _ what: String, _ limit: Int) throws(Failure) {
    guard (1...limit).contains(text.utf8.count) else {
      throw .refused("\(what) of \(text.utf8.count) bytes; it has 1 to \(limit)")
    }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw .refused("\(what) holds a control character; write * in its place")
    }
  }
}
