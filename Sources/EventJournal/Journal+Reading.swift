internal import Primitives

extension Journal {
  /// Reads records from the one that holds `offset` on: at least one, then as many as fit into
  /// `maximumBytes` of file, all from one segment. Nil when `offset` is not below `limit`.
  ///
  /// `limit` is the core's durable head (or less): nothing at or behind it is returned. The first record
  /// can begin before `offset`. Any thread; blocks on the disk. Every checksum is checked.
  /// - Throws: `.behindRetention` when the offset is gone, `.damaged` when its record does not check,
  ///   `.system` when the system fails a read.
  public func read(
    from offset: UInt64, maximumBytes: Int, upTo limit: UInt64
  ) throws(JournalError) -> JournalChunk? {
    guard offset < limit else { return nil }
    let reading = try reading(at: offset, limit: limit)
    let place = try reading.find(offset)
    let (chunk, end) = try reading.chunk(from: place, maximumBytes: maximumBytes)
    reading.segment.note(end)
    reading.segment.noteRecent(end)
    return chunk
  }

  /// The offset of the first event whose journal time is at least `time`; `limit` when there is none
  /// below it. Any thread; reads at most one index step of one segment.
  public func offset(atOrAfter time: Int64, upTo limit: UInt64) throws(JournalError) -> UInt64 {
    let all = catalog.all
    // The last segment created before that time: those before it are older, those after not.
    guard let at = all.lastIndex(where: { $0.header.time < time }) else {
      return min(limit, all.first?.header.offset ?? 0)
    }
    guard all[at].header.offset < limit else { return limit }
    let reading = try reading(at: all[at].header.offset, limit: limit)
    return try reading.firstOffset(atOrAfter: time)
  }

  private func reading(
    at offset: UInt64, limit: UInt64
  ) throws(JournalError) -> SegmentReading<Storage.File> {
    while true {
      let (segment, end) = try catalog.segment(holding: offset)
      do {
        let (file, opened) = try segment.file { () throws(SystemError) in
          try storage.open(segment.header.name, forWriting: false)
        }
        if opened { catalog.noteOpened(segment) }
        return SegmentReading(segment: segment, file: file, limit: min(limit, end ?? limit))
      } catch {
        // Retention can have deleted the file between the two steps: then the catalog says so.
        guard try catalog.segment(holding: offset).0 !== segment else { throw .system(error) }
      }
    }
  }
}

/// A read of one segment file. Everything below `limit` is in it, or is damage.
struct SegmentReading<File: JournalFile> {
  let segment: Segment<File>
  let file: File
  let limit: UInt64

  /// Where the record begins that holds `offset`.
  func find(_ offset: UInt64) throws(JournalError) -> SegmentPlace {
    let known = segment.place(atOrBefore: offset)
    if known.offset == offset { return known }
    return try scan(from: known) { $0.nextOffset > offset }.place
  }

  func firstOffset(atOrAfter time: Int64) throws(JournalError) -> UInt64 {
    let known = segment.place(olderThan: time)
    return try scan(from: known) { $0.time >= time && $0.count > 0 }.offset
  }

  /// Walks from `start` to the first record that is `wanted`; at the limit, to the limit.
  private func scan(
    from start: SegmentPlace, until wanted: (RecordHeader) -> Bool
  ) throws(JournalError) -> (place: SegmentPlace, offset: UInt64) {
    var place = start
    while place.offset < limit {
      var found = false
      let end = try walk(from: place, bytes: SegmentIndex.spacing) { header, _ in
        found = wanted(header)
        return !found
      }
      segment.note(end.place)
      place = end.place
      if found { return (place, place.offset) }
    }
    return (place, limit)
  }

  func chunk(
    from start: SegmentPlace, maximumBytes: Int
  ) throws(JournalError) -> (JournalChunk, end: SegmentPlace) {
    var place = start
    while true {
      var records: [JournalRecord] = []
      var lost: [Range<UInt64>] = []
      var first = place.offset
      let walked = try walk(from: place, bytes: maximumBytes) { header, position in
        guard header.offset < limit else { return false }
        if records.isEmpty, lost.isEmpty { first = header.offset }
        if header.kind == .batch {
          records.append(JournalRecord(header, at: position))
        } else if header.count > 0 {
          lost.append(header.offset..<header.nextOffset)
        }
        return true
      }
      place = walked.place
      // A window can hold nothing but marks: then the next one has the record.
      if records.isEmpty && lost.isEmpty { continue }
      let chunk = JournalChunk(
        bytes: walked.bytes, records: records, offsets: first..<place.offset, lost: lost)
      return (chunk, place)
    }
  }

  /// Reads a window and calls `visit` for each whole record in it, with its position in the window,
  /// until that returns false or the limit is reached. Returns where it stopped: before a record that
  /// was refused. At least one record is visited.
  private func walk(
    from start: SegmentPlace, bytes count: Int, _ visit: (RecordHeader, Int) -> Bool
  ) throws(JournalError) -> (place: SegmentPlace, bytes: [UInt8]) {
    var wanted = max(count, RecordHeader.byteCount)
    while true {
      let bytes = try read(wanted, at: start.position)
      let reachesEnd = bytes.count < wanted
      var parser = RecordParser(
        segment: segment.header.segment, epoch: start.epoch, offset: start.offset, time: start.time)
      var position = 0
      var judgement: RecordParser.Judgement?
      while parser.offset < limit {
        judgement = unsafe parser.judge(bytes.span.bytes, at: position)
        guard case .record(let header) = judgement, visit(header, position) else { break }
        parser.accept(header)
        position += header.byteCountWithBody
      }
      let place = SegmentPlace(
        offset: parser.offset, position: start.position + position, epoch: parser.epoch,
        time: parser.time)
      if position > 0 { return (place, bytes) }
      switch judgement {
      case .needs(let more) where !reachesEnd: wanted = more
      case .needs: throw damage(place, bytes.isEmpty ? .endsEarly : .torn)
      case .damage(let reason): throw damage(place, reason)
      case .record, nil: return (place, bytes)
      }
    }
  }

  private func read(_ count: Int, at position: Int) throws(JournalError) -> [UInt8] {
    do { return try file.read(count, at: position) } catch { throw .system(error) }
  }

  private func damage(_ place: SegmentPlace, _ reason: JournalDamage.Reason) -> JournalError {
    .damaged(
      JournalDamage(
        file: segment.header.name, position: place.position, length: 0, offset: place.offset,
        resumesAt: nil, reason: reason))
  }
}
