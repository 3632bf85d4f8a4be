internal import BusProtocol
internal import Hashing
internal import Primitives

/// Reads everything in an archive and compares it with the catalogue, also beside the archiver. Nothing
/// is changed.
public struct ArchiveVerification: Sendable {
  public var directory: String
  /// Asked between frames; once true, it ends with what it has.
  public var isCancelled: @Sendable () -> Bool = { false }
  /// Told how many bytes of files are read, of how many.
  public var onProgress: @Sendable (_ bytes: UInt64, _ total: UInt64) -> Void = { _, _ in }

  public init(_ directory: String) { self.directory = directory }

  /// A part as the catalogue describes it.
  struct Listed: Sendable {
    var part: Part
    var names: [NameCount]
    var people: PeopleIndex
  }

  public func run() throws(ArchiveError) -> ArchiveFindings {
    var findings = ArchiveFindings()
    var checked: Set<Int64> = []
    var parts = try list()
    let total = parts.reduce(0) { $0 + $1.bytes }
    // What takes the place of others meanwhile is checked too, once: a part that is no longer in the
    // catalogue is nobody's, so what was wrong with it does not count.
    for _ in 0..<10 {
      for part in parts where !checked.contains(part.id) && !isCancelled() {
        let own = try check(part)
        if own.damageCount > 0, try !isStillThere(part) { continue }
        checked.insert(part.id)
        findings.parts += 1
        findings.events += own.events
        findings.bytes += part.bytes
        for damage in own.damages { findings.add(damage) }
        findings.damageCount += own.damageCount - own.damages.count
        onProgress(findings.bytes, max(total, findings.bytes))
      }
      parts = try list()
      if isCancelled() || parts.allSatisfy({ checked.contains($0.id) }) { break }
    }
    findings.strayFiles = try strayFiles()
    return findings
  }

  private func list() throws(ArchiveError) -> [Part] {
    try CatalogueSnapshot.read(directory) { catalogue throws(ArchiveError) in
      try catalogue.parts()
    }
  }

  private func isStillThere(_ part: Part) throws(ArchiveError) -> Bool {
    try list().contains { $0.id == part.id && $0.path == part.path }
  }

  private func check(_ part: Part) throws(ArchiveError) -> ArchiveFindings {
    let (listed, hash) = try CatalogueSnapshot.read(directory) { catalogue throws(ArchiveError) in
      let listed = Listed(
        part: part, names: try catalogue.nameCounts(of: part),
        people: try catalogue.people(of: part))
      return (listed, catalogue.hash)
    }
    return try check(listed, hash)
  }

  func check(_ listed: Listed, _ hash: KeyedHash) throws(ArchiveError) -> ArchiveFindings {
    let part = listed.part
    var findings = ArchiveFindings()
    if let damage = checksum(part) { findings.add(damage) }
    do throws(PartReadError) {
      var reader = try PartReader(directory, part)
      var account = PartAccount(part, hash)
      let isWhole = read(&reader, part, &account, &findings)
      findings.events = account.count
      if isWhole {
        for text in account.differences(names: listed.names, people: listed.people) {
          findings.add(PartDamage(file: part.path, byte: 0, reason: text))
        }
      }
    } catch {
      switch error {
      case .failed(let error): throw error
      // The checksum said so already.
      case .missing: break
      }
    }
    return findings
  }

  /// Compares the file's bytes with the catalogue's SHA-256.
  private func checksum(_ part: Part) -> PartDamage? {
    do throws(SystemError) {
      guard let digest = try digest(directory + "/" + part.path), digest != part.sha256 else {
        return nil
      }
      return PartDamage(
        file: part.path, byte: 0, reason: "its SHA-256 is another than in the catalogue")
    } catch {
      let reason =
        error.code == SystemCode.absent ? "the file is not there" : "it cannot be read: \(error)"
      return PartDamage(file: part.path, byte: 0, reason: reason)
    }
  }

  /// Nil when it was cancelled.
  private func digest(_ path: String) throws(SystemError) -> [UInt8]? {
    let file = try ReadFile(path)
    var sha = SHA256()
    var chunk: [UInt8] = []
    var at: UInt64 = 0
    while !isCancelled() {
      chunk.removeAll(keepingCapacity: true)
      let count = try file.read(1 << 20, at: at, into: &chunk)
      if count == 0 { return sha.digest() }
      unsafe sha.update(chunk.span.bytes)
      at += UInt64(count)
    }
    return nil
  }

  /// Whether every frame could be read.
  private func read(
    _ reader: inout PartReader, _ part: Part, _ account: inout PartAccount,
    _ findings: inout ArchiveFindings
  ) -> Bool {
    var content: [UInt8] = []
    var isWhole = true
    while !isCancelled() {
      do throws(PartDamage) {
        guard try reader.next(into: &content) else { return isWhole }
        lines(content, at: reader.frameStart, part, &account, &findings)
      } catch {
        isWhole = false
        var damage = error
        damage.lastGood = account.last
        findings.add(damage)
        guard reader.skipToNextFrame() else { return false }
      }
    }
    return false
  }

  private func lines(
    _ content: [UInt8], at frame: UInt64, _ part: Part, _ account: inout PartAccount,
    _ findings: inout ArchiveFindings
  ) {
    var number = 0
    for line in content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .dropLast()
    {
      number += 1
      let before = account.last
      if let fault = unsafe line.withUnsafeBytes({ unsafe account.add($0) }) {
        findings.add(
          PartDamage(
            file: part.path, byte: frame, lastGood: before,
            reason: "line \(number) of this frame \(fault)"))
      }
    }
  }

  /// Lists the files first: what is catalogued meanwhile is known then.
  private func strayFiles() throws(ArchiveError) -> [String] {
    let files: [String]
    do throws(SystemError) {
      files = try FileSystem.filesBelow(directory)
    } catch {
      throw ArchiveError(error)
    }
    let known = Set(try list().map(\.path))
    let unknown = files.filter { !known.contains($0) && !Self.isOwn($0) }.sorted()
    return unknown.filter { !isBeingWritten($0) }
  }

  /// Whether a living process writes this unfinished file: the archiver its open part, or who replaces parts
  /// a new one.
  private func isBeingWritten(_ path: String) -> Bool {
    let name = path.split(separator: "/").last.map(String.init) ?? ""
    guard name.hasPrefix(ArchiveNames.temporaryPrefix), ArchiveNames.isOurs(file: name) else {
      return false
    }
    let isFinal = name.hasSuffix(ArchiveNames.partSuffix)
    return ArchiveLock.isHeld(isFinal ? .maintenance : .archiver, of: directory)
  }

  /// Files of the archive's own that are no parts: at the top of the directory, and what replays remember.
  static func isOwn(_ path: String) -> Bool {
    if path.hasPrefix(ArchiveNames.replays + "/") { return true }
    return !path.contains("/")
      && (path.hasPrefix(ArchiveNames.catalogue) || path.hasPrefix("lock"))
  }
}
