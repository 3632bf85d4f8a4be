internal import BusProtocol
internal import Hashing
internal import Primitives
internal import SinkState

/// Who is to be erased, and before which place.
struct ErasureList: Sendable {
  let erasures: [Erasure]
  private var byPerson: [Hash128: [Erasure]] = [:]

  init(_ erasures: [Erasure]) {
    self.erasures = erasures
    for erasure in erasures { byPerson[erasure.person, default: []].append(erasure) }
  }

  func concerns(_ part: Part, _ people: PeopleIndex) -> Bool {
    erasures.contains { $0.place > part.firstPosition && people.contains($0.person) }
  }

  /// The request by which an event of this person at `place` goes; nil when it stays.
  func erasure(of person: Hash128, at place: Position) -> Erasure? {
    byPerson[person]?.first { place < $0.place }
  }
}

/// Writes one part anew without the events of some persons.
struct PartEraser {
  private let part: Part
  private let list: ErasureList
  private let directory: String
  private var scanner: PersonScanner
  private var topics = TopicScanner()
  private var counts: [[UInt8]: UInt64] = [:]
  private var people = PeopleSet()
  private var first: UInt64?
  private var last: UInt64 = 0
  private var kept: UInt64 = 0
  /// By request, the events that went.
  private(set) var erased: [Int64: UInt64] = [:]

  init(
    _ part: Part, names: [NameCount], _ list: ErasureList, key: KeyedHash, directory: String
  ) {
    self.part = part
    self.list = list
    self.directory = directory
    scanner = PersonScanner(key: key)
    for name in names { counts[name.name] = name.count }
  }

  /// What an erasing gives.
  enum Result {
    /// Nobody of the list is in it: the index is of hashes, and says yes too often.
    case unchanged
    /// Nothing is left.
    case empty
    /// Finished under its temporary name.
    case rewritten(FinishedFile, NewPart)
  }

  mutating func run() throws(ArchiveError) -> Result {
    var writer = try PartWriter(
      directory: directory, folder: ArchiveNames.folder(of: part.path),
      name: "\(ArchiveNames.partPrefix)\(part.epoch)-\(part.first)-erasing")
    do throws(ArchiveError) {
      try copy(to: &writer)
      guard !erased.isEmpty, kept > 0 else {
        writer.discard()
        return erased.isEmpty ? .unchanged : .empty
      }
    } catch {
      writer.discard()
      throw error
    }
    let file = try writer.finish()
    return .rewritten(file, entry(file))
  }

  private mutating func copy(to writer: inout PartWriter) throws(ArchiveError) {
    var reader = try openReader()
    var content: [UInt8] = []
    while try read(&reader, &content) {
      let lines = unsafe content.span.bytes
      var start = 0
      while start < lines.byteCount {
        let end = unsafe lines.withUnsafeBytes { unsafe newline($0, from: start) }
        try take(lines.extracting(start..<end), &writer)
        start = end
      }
    }
  }

  private func openReader() throws(ArchiveError) -> PartReader {
    do throws(PartReadError) {
      return try PartReader(directory, part)
    } catch {
      switch error {
      case .missing: throw ArchiveError(.damaged, "\(part.path) is not there")
      case .failed(let error): throw error
      }
    }
  }

  private func read(
    _ reader: inout PartReader, _ content: inout [UInt8]
  ) throws(ArchiveError) -> Bool {
    do throws(PartDamage) {
      return try reader.next(into: &content)
    } catch {
      throw ArchiveError(.damaged, "\(error)")
    }
  }

  /// Behind the newline that ends the line at `start`.
  private func newline(_ lines: UnsafeRawBufferPointer, from start: Int) -> Int {
    let rest = unsafe UnsafeRawBufferPointer(rebasing: lines[start...])
    return unsafe (rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.count - 1) + start + 1
  }

  private mutating func take(_ line: RawSpan, _ writer: inout PartWriter) throws(ArchiveError) {
    let isKept = try unsafe line.withUnsafeBytes { bytes throws(ArchiveError) in
      try unsafe decide(UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
    }
    guard isKept else { return }
    writer.append(line: line)
    _ = try writer.endLine()
  }

  /// - Parameter line: without its newline.
  private mutating func decide(_ line: UnsafeRawBufferPointer) throws(ArchiveError) -> Bool {
    guard let place = unsafe LineTail.position(line) else {
      throw ArchiveError(.damaged, "\(part.path): a line does not end with its offset and epoch")
    }
    var found: [Hash128] = []
    unsafe scanner.forEach(of: line) { found.append($0) }
    for person in found {
      guard let erasure = list.erasure(of: person, at: place) else { continue }
      erased[erasure.id, default: 0] += 1
      if let topic = unsafe topics.topic(of: line) { counts[topic, default: 1] -= 1 }
      return false
    }
    for person in found { people.insert(person) }
    first = first ?? place.offset
    last = place.offset
    kept += 1
    return true
  }

  private func entry(_ file: FinishedFile) -> NewPart {
    var new = part
    new.first = first ?? part.first
    new.last = last
    new.count = kept
    new.bytes = file.size.bytes
    new.rawBytes = file.size.rawBytes
    new.sha256 = file.sha256
    new.created = SystemClock.realtime()
    let name = ArchiveNames.part(
      epoch: new.epoch, first: new.first, last: new.last,
      revision: ArchiveNames.revision(of: part.path) + 1)
    new.path = "\(file.folder)/\(name)"
    let names = counts.filter { $0.value > 0 }
      .map { NameCount(name: $0.key, count: $0.value) }
      .sorted { $0.name.lexicographicallyPrecedes($1.name) }
    return NewPart(part: new, names: names, people: people.index)
  }
}
