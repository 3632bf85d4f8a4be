internal import Primitives

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Darwin
#endif

/// Clocks and calendars of one time zone: which local hour, day, week or month a moment is in.
///
/// Reaches from 1678 to 2262, as timestamps do. About 30 ns a question.
struct CivilTime: Sendable {
  /// `UTC`, `Europe/Berlin`.
  let name: String
  /// Sorted; `starts[i]` is the second at which `offsets[i]` begins. The first holds from ever on.
  private let starts: [Int64]
  private let offsets: [Int]

  static let utc = CivilTime(name: "UTC", starts: [.min], offsets: [0])

  private init(name: String, starts: [Int64], offsets: [Int]) {
    self.name = name
    self.starts = starts
    self.offsets = offsets
  }

  /// The years of the rule that follows the last transition of the file are written out this far.
  private static let lastYear = 2262

  init?(name: String, file bytes: [UInt8]) {
    guard let file = ZoneFile(bytes) else { return nil }
    var starts: [Int64] = [.min]
    var offsets = [file.firstOffset]
    func add(_ transition: ZoneFile.Transition) {
      // Many only change the name of the time.
      guard transition.offset != offsets[offsets.count - 1] else { return }
      starts.append(transition.time)
      offsets.append(transition.offset)
    }
    file.transitions.forEach(add)
    if !file.rule.isEmpty {
      guard let rule = PosixRule(file.rule) else { return nil }
      let last = file.transitions.last?.time ?? 0
      let year = CivilDate(daysSince1970: Int(last / 86_400)).year
      for year in year...max(year, Self.lastYear) {
        rule.transitions(in: year).filter { $0.time > last }.forEach(add)
      }
    }
    self.init(name: name, starts: starts, offsets: offsets)
  }

  /// Reads the zone's file. Nil when there is none: names never lead out of the directory.
  init?(named name: String, directory: String = "/usr/share/zoneinfo") {
    if name == "UTC" {
      self = .utc
      return
    }
    let isSafe = name.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        || "+-_/".utf8.contains($0)
    }
    guard isSafe, !name.isEmpty, !name.hasPrefix("/"),
      let bytes = Self.read("\(directory)/\(name)")
    else { return nil }
    self.init(name: name, file: bytes)
  }

  /// The offset that holds at a second, and from when to when it does.
  func segment(at second: Int64) -> (offset: Int, start: Int64, end: Int64) {
    var low = 0
    var high = starts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if starts[middle] <= second { low = middle } else { high = middle }
    }
    return (offsets[low], starts[low], low + 1 < starts.count ? starts[low + 1] : .max)
  }

  /// The first second at which the local calendar shows this day or a later one.
  func start(of date: CivilDate) -> Int64 {
    second(ofLocal: Int64(date.daysSince1970) * 86_400)
  }

  /// The first second at which the local clock shows this time, given in seconds as if it were UTC's, or
  /// a later one.
  func second(ofLocal local: Int64) -> Int64 {
    // No zone is further than 26 hours from UTC, so this is before it.
    var at = segment(at: local - 26 * 3600)
    while true {
      let candidate = max(at.start, local - Int64(at.offset))
      if candidate < at.end { return candidate }
      at = segment(at: at.end)
    }
  }

  /// The local day of a second. A day never comes back: where the clock was set back over midnight, the
  /// repeated hour stays with the new day.
  func date(at second: Int64) -> CivilDate {
    let local = second + Int64(segment(at: second).offset)
    let day = Int((local - local.remainder(86_400)) / 86_400)
    let next = CivilDate(daysSince1970: day + 1)
    return start(of: next) <= second ? next : CivilDate(daysSince1970: day)
  }

  /// As `2013-03-10T01:30:00-05:00`, or with `Z`.
  func text(_ second: Int64) -> String {
    let offset = segment(at: second).offset
    // Timestamps end in 2262, and a window may end after them.
    let local = ReportPlan.nanoseconds(second.addingSaturated(Int64(offset)))
    let utc = Timestamp(nanoseconds: local).text.prefix(19)
    guard name != "UTC" else { return utc + "Z" }
    let minutes = abs(offset) / 60
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return utc + (offset < 0 ? "-" : "+") + two(minutes / 60) + ":" + two(minutes % 60)
  }

  private static func read(_ path: String) -> [UInt8]? {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // The largest file of the database has less than 4 KB; a directory cannot be read.
    var bytes = [UInt8](repeating: 0, count: 256 << 10)
    let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return Array(bytes[..<count])
  }
}

extension Int64 {
  /// The remainder that is never negative.
  func remainder(_ divisor: Int64) -> Int64 {
    let rest = self % divisor
    return rest < 0 ? rest + divisor : rest
  }
}
