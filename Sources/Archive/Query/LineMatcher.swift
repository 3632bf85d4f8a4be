internal import EventCodec
internal import Primitives

/// Decides about one line after another whether it is wanted, and finds what is shown of it. It belongs
/// to one thread.
struct LineMatcher: Sendable {
  enum Verdict: Sendable {
    case wanted, notWanted
    /// The line is no event.
    case unreadable
  }

  private let filter: ArchiveFilter
  private var scanner: LineScanner
  private var names: NameMatcher
  private let clauses: [(clause: WhereClause, path: Int)]
  private(set) var sights: [QueryReport.ClauseSight]
  private let outputs: [Int]
  private let type: Int
  private let event: Int
  private let timestamp: Int
  private let user: PersonText?

  /// The paths at which a person may stand, and the id as JSON and as it is.
  private struct PersonText: Sendable {
    var paths: [Int]
    var quoted: [UInt8]
    var plain: [UInt8]
  }

  /// - Parameter outputs: what `output` gives.
  init(_ filter: ArchiveFilter, outputs: [QueryField]) {
    var paths = LinePaths()
    let needsName = !filter.patterns.isEmpty || outputs.contains(.name)
    type = needsName ? paths.add("type") : -1
    event = needsName ? paths.add("event") : -1
    timestamp = filter.from != nil || filter.to != nil ? paths.add("timestamp") : -1
    user = filter.user.map { Self.person($0, &paths) }
    clauses = filter.clauses.map { ($0, paths.add($0.path)) }
    sights = clauses.map { _ in .init() }
    self.outputs = outputs.map { if case .path(let path) = $0 { paths.add(path) } else { -1 } }
    scanner = LineScanner(paths)
    names = NameMatcher(filter.patterns)
    self.filter = filter
  }

  private static func person(_ id: String, _ paths: inout LinePaths) -> PersonText {
    var quoted: [UInt8] = []
    let plain = Array(id.utf8)
    unsafe CanonicalJSON.text(plain.span.bytes, &quoted)
    return PersonText(
      paths: ["userId", "anonymousId", "previousId"].map { paths.add($0) }, quoted: quoted,
      plain: plain)
  }

  /// - Parameter line: without its newline.
  mutating func judge(_ line: UnsafeRawBufferPointer, _ unit: QueryPlan.Unit) -> Verdict {
    if let positions = unit.positions {
      guard let position = unsafe LineTail.position(line) else { return .unreadable }
      guard positions.contains(position) else { return .notWanted }
    }
    guard unsafe scanner.scan(line) else { return .unreadable }
    if unit.testsTime {
      guard let time = unsafe LineTime.nanoseconds(value(timestamp, line)) else {
        return .unreadable
      }
      guard filter.holdsAll(time...time) else { return .notWanted }
    }
    let span = unsafe line.bytes
    if unit.testsNames {
      let type = span.extracting(scanner.found[type])
      guard names.matches(type: type, event: span.extracting(scanner.found[event])) else {
        return .notWanted
      }
    }
    if let user, !isAbout(user, span) { return .notWanted }
    for (index, (clause, path)) in clauses.enumerated() {
      let found = scanner.found[path]
      let isSatisfied = clause.matches(json: found.isEmpty ? nil : span.extracting(found))
      if !sights[index].isSeen {
        sights[index].events += 1
        sights[index].isSeen = isSatisfied || !found.isEmpty
      }
      guard isSatisfied else { return .notWanted }
    }
    return .wanted
  }

  /// Appends the value of an output as the last line has it; nothing where it is absent.
  func append(output: Int, of line: RawSpan, to bytes: inout [UInt8]) {
    guard outputs[output] < 0 else { return bytes.append(line.extracting(found(output))) }
    NameMatcher.appendTopic(
      type: line.extracting(scanner.found[type]), event: line.extracting(scanner.found[event]),
      to: &bytes)
  }

  /// Where an output that is a path stands in the last line; empty where it is absent.
  func found(_ output: Int) -> Range<Int> { scanner.found[outputs[output]] }

  private func value(_ path: Int, _ line: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(rebasing: line[scanner.found[path]])
  }

  private func isAbout(_ person: PersonText, _ line: RawSpan) -> Bool {
    for path in person.paths {
      let value = line.extracting(scanner.found[path])
      if unsafe value.isEqual(to: person.quoted.span.bytes) { return true }
      // What is no text counts by its JSON, but nobody is called null.
      let isText = value.byteCount == 0 || value.bigEndian(at: 0, as: UInt8.self) == 0x22
      if !isText, value.byteCount != 4 || value.bigEndian(at: 0, as: UInt8.self) != 0x6E,
        unsafe value.isEqual(to: person.plain.span.bytes)
      {
        return true
      }
    }
    return false
  }
}
