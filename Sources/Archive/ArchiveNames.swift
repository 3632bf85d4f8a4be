// An archive's directory:
//
//   catalogue.sqlite (-wal, -shm)                what there is: see Catalogue.swift
//   lock, lock.maintenance                       held by who writes: see ArchiveLock.swift
//   date=YYYY-MM-DD/hour=HH/                     of arrival: journal time of a part's first event, UTC
//     part-<epoch>-<first>-<last>.ndjson.zst     a part; offsets of its first and last event
//     part-<epoch>-<first>-<last>-r<n>.ndjson.zst  what took the place of parts of that range
//     .tmp-*                                     a part that is not finished
//
// A part is a run of zstd frames (level 1, content size, checksum), each of whole lines and about 1 MiB
// of them, the last one shorter. A line is an event's canonical JSON with `receivedAt`, `offset` and
// `epoch` behind its own fields. No part of an event goes into a name.
internal import BusProtocol
internal import Primitives

/// The names of an archive's files.
public enum ArchiveNames {
  public static let catalogue = "catalogue.sqlite"
  /// Where replays remember how far they are.
  static let replays = "replays"
  static let temporaryPrefix = ".tmp-"
  static let partPrefix = "part-"
  static let partSuffix = ".ndjson.zst"

  /// `date=2026-11-30/hour=08`: the folder of what arrived then.
  public static func folder(ofTime nanoseconds: Int64) -> String {
    let text = Timestamp(nanoseconds: nanoseconds).text
    return "date=\(text.prefix(10))/hour=\(text.dropFirst(11).prefix(2))"
  }

  /// The folder of a part's path.
  static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// - Parameter revision: 0 for a part as it was archived; higher where it takes the place of others.
  public static func part(
    epoch: UInt32, first: UInt64, last: UInt64, revision: Int = 0
  ) -> String {
    let mark = revision == 0 ? "" : "-r\(revision)"
    return "\(partPrefix)\(epoch)-\(first)-\(last)\(mark)\(partSuffix)"
  }

  /// The revision in a part's path; 0 for other names.
  public static func revision(of path: String) -> Int {
    let name = path.split(separator: "/").last ?? ""
    guard name.hasSuffix(partSuffix) else { return 0 }
    let words = name.dropLast(partSuffix.count).split(separator: "-")
    guard words.count == 5, let mark = words.last, mark.first == "r" else { return 0 }
    return Int(mark.dropFirst()) ?? 0
  }

  /// What a finished file's name says about its events; nil for other names.
  static func range(of name: String) -> ClosedRange<Position>? {
    guard isOurs(file: name), !name.hasPrefix(temporaryPrefix) else { return nil }
    let words = name.dropLast(partSuffix.count).split(separator: "-")
    guard let epoch = UInt32(words[1]), let first = UInt64(words[2]), let last = UInt64(words[3]),
      first <= last
    else { return nil }
    return Position(epoch: epoch, offset: first)...Position(epoch: epoch, offset: last)
  }

  /// Whether the archiver gives such a name to a file, so that it may remove one that is not catalogued.
  static func isOurs(file name: String) -> Bool {
    guard name.hasSuffix(partSuffix) else { return name.hasPrefix(temporaryPrefix + partPrefix) }
    var words = name.dropLast(partSuffix.count).split(
      separator: "-", omittingEmptySubsequences: false)
    if words.first == ".tmp" { words.removeFirst() }
    guard words.first == "part" else { return false }
    if words.count == 5, let mark = words.popLast() {
      guard mark.first == "r", isNumber(mark.dropFirst()) else { return false }
    }
    return words.count == 4 && words.dropFirst().allSatisfy(isNumber)
  }

  /// Whether a part can have this path below the archive's directory: it never leads out of there.
  static func isOurs(path: String) -> Bool {
    let words = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    return words.count == 3 && words[0].hasPrefix("date=") && isOurs(folder: words[0])
      && words[1].hasPrefix("hour=") && isOurs(folder: words[1]) && range(of: words[2]) != nil
  }

  /// Whether it is a folder that the archiver makes: `date=YYYY-MM-DD` or `hour=HH`.
  static func isOurs(folder name: String) -> Bool {
    let shape = name.map { $0.isASCII && $0.isNumber ? "0" : $0 }
    return String(shape) == "date=0000-00-00" || String(shape) == "hour=00"
  }

  private static func isNumber(_ text: Substring) -> Bool {
    (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }
}
