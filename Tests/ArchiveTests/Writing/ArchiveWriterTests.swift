import BusProtocol
import EventModel
import Primitives
import SinkState
import TestSupport
import Testing

@testable import Archive

@Suite struct ArchiveWriterTests {
  let archive: WrittenArchive

  init() throws { archive = try WrittenArchive() }

  @Test func `an event becomes a line with where and when it came`() throws {
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 0, userId: "anna", value: 7))
    try writer.commit()
    #expect(
      try archive.lines() == [
        #"{"type":"track","event":"Sold","messageId":"m-1-0","userId":"anna","#
          + #""timestamp":"2023-11-14T22:13:20.000Z","properties":{"value":7},"#
          + #""receivedAt":"2025-11-30T10:53:20.000Z","offset":0,"epoch":1}"#
      ])
    #expect(
      try archive.parts().map(\.path) == ["date=2025-11-30/hour=10/part-1-0-0.ndjson.zst"])
  }

  @Test func `nothing is entered before the commit, and all of it after`() throws {
    var writer = try archive.begin()
    for offset in 0..<10 as Range<UInt64> { try writer.take(GivenEvent(offset: offset)) }
    #expect(try archive.parts().isEmpty)
    try writer.commit()
    #expect(try archive.offsets() == Array(0..<10))
    let progress = try #require(try Catalogue(reading: archive.directory).progress())
    #expect(progress.cursor == Position(epoch: 1, offset: 10))
    #expect(progress.ledger.applied == 10)
    #expect(progress.ledger.isBalanced(at: progress.cursor))
  }

  @Test func `an hour and an epoch begin parts of their own, old events do not`() throws {
    var writer = try archive.begin()
    let hour: Int64 = 3_600_000_000_000
    try writer.take(GivenEvent(offset: 0))
    try writer.take(GivenEvent(offset: 1, timestamp: 86_400_000_000_000 * 400))
    try writer.take(GivenEvent(offset: 2, time: GivenEvent(offset: 0).time + hour))
    try writer.take(GivenEvent(offset: 3, epoch: 2, time: GivenEvent(offset: 0).time + hour))
    try writer.commit()
    #expect(try archive.parts().map(\.count) == [2, 1, 1])
    #expect(try archive.offsets() == [0, 1, 2, 3])
  }

  @Test func `a part ends at its number of events`() throws {
    var archive = archive
    archive.configuration.limits.events = 3
    var writer = try archive.begin()
    for offset in 0..<8 as Range<UInt64> { try writer.take(GivenEvent(offset: offset)) }
    try writer.commit()
    #expect(try archive.parts().map(\.count) == [3, 3, 2])
  }

  @Test func `a part ends at its number of people`() throws {
    var archive = archive
    archive.configuration.limits.people = 32
    var writer = try archive.begin()
    // Few people are no reason.
    for offset in 0..<200 as Range<UInt64> {
      try writer.take(GivenEvent(offset: offset, userId: "u\(offset % 20)"))
    }
    for offset in 200..<300 as Range<UInt64> {
      try writer.take(GivenEvent(offset: offset, userId: "v\(offset)"))
    }
    try writer.commit()
    let people = try archive.parts().map {
      try Catalogue(reading: archive.directory).people(of: $0).count
    }
    #expect(people.count > 2 && people.allSatisfy { $0 <= 64 })
    #expect(try archive.offsets() == Array(0..<300))
  }

  @Test func `a part is due at its size and at its age`() throws {
    var archive = archive
    archive.configuration.limits.bytes = 1
    archive.configuration.limits.age = .seconds(60)
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 0))
    let opened = writer.openPart?.opened ?? 0
    let (isYoung, isOld) = (writer.isDue(at: opened), writer.isDue(at: opened + 60_000_000_000))
    #expect(!isYoung && isOld)
    // The size counts whole frames.
    for offset in 1..<9000 as Range<UInt64> { try writer.take(GivenEvent(offset: offset)) }
    let isLarge = writer.isDue(at: opened)
    #expect(isLarge)
  }

  @Test func `every seventh event sent twice is stored once`() throws {
    var writer = try archive.begin()
    var offset: UInt64 = 0
    for number in 0..<70 {
      for _ in 0..<(number % 7 == 0 ? 2 : 1) {
        try writer.take(GivenEvent(offset: offset, messageId: "m\(number)"))
        offset += 1
      }
      if number % 20 == 0 { try writer.commit() }
    }
    try writer.commit()
    #expect(try archive.lines().count == 70)
    #expect(writer.progress?.ledger.duplicate == 10)
  }

  @Test func `doubles are known after a restart`() throws {
    do {
      var writer = try archive.begin()
      try writer.take(GivenEvent(offset: 0, messageId: "a"))
      try writer.commit()
    }
    var writer = try archive.open()
    try writer.take(GivenEvent(offset: 1, messageId: "a"))
    try writer.commit()
    #expect(try archive.offsets() == [0])
    #expect(writer.progress?.ledger.duplicate == 1)
  }

  @Test func `what is no event is refused, counted, and costs nothing else`() throws {
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 0))
    let (name, junk) = (Array("Junk".utf8), [0x81, 0xA1] as [UInt8])
    try unsafe writer.take(
      GivenEvent(offset: 1).place, name: name.span.bytes, payload: junk.span.bytes)
    // A binary value has no JSON.
    let binary: [UInt8] = [0x81, 0xA1, 0x61, 0xC4, 0x01, 0x00]
    try unsafe writer.take(
      GivenEvent(offset: 2).place, name: name.span.bytes, payload: binary.span.bytes)
    try writer.take(GivenEvent(offset: 3))
    try writer.commit()
    #expect(try archive.offsets() == [0, 3])
    #expect(writer.progress?.ledger.refused == 2)
    #expect(writer.progress?.ledger.applied == 2)
  }

  @Test func `an operator's seek back archives nothing twice`() throws {
    var writer = try archive.begin()
    try writer.pass(gapTo: Position(epoch: 1, offset: 10))
    for offset in 10..<20 as Range<UInt64> { try writer.take(GivenEvent(offset: offset)) }
    try writer.seek(to: Position(epoch: 1, offset: 5), generation: 3)
    for offset in 5..<25 as Range<UInt64> {
      try writer.take(GivenEvent(offset: offset, messageId: "again-\(offset)"))
    }
    try writer.commit()
    #expect(try archive.offsets() == Array(5..<25))
    #expect(try archive.parts().map(\.first) == [5, 10, 20])
    let stored = writer.progress
    let progress = try #require(stored)
    #expect(progress.seekGeneration == 3)
    #expect(progress.ledger.isBalanced(at: progress.cursor))
    #expect(progress.ledger.missing == 10)
  }

  @Test func `a name never becomes a path`() throws {
    var writer = try archive.begin()
    for (offset, name) in ["../../etc/passwd", "/tmp/x", "a/b", "part-1-0-0", "$HOME"].enumerated()
    {
      try writer.take(GivenEvent(offset: UInt64(offset), name: name))
    }
    try writer.commit()
    #expect(try FileSystem.list(archive.folder.path) == ["archive"])
    #expect(try archive.parts().count == 1)
    #expect(try Catalogue(reading: archive.directory).nameCounts().count == 5)
  }

  @Test func `a replay of a forgotten person is left out, new events are kept`() throws {
    var writer = try archive.begin()
    let asked = GivenEvent(offset: 1).time
    try writer.take(GivenEvent(offset: 0, userId: "anna"))
    try writer.take(GivenEvent(offset: 1, name: "$forget", userId: "anna"))
    try writer.take(GivenEvent(offset: 2, userId: "anna", timestamp: asked, isAddressed: true))
    try writer.take(GivenEvent(offset: 3, userId: "anna", timestamp: asked + 1, isAddressed: true))
    try writer.take(GivenEvent(offset: 4, userId: "anna"))
    let isDue = writer.isDue(at: 0)
    #expect(isDue)
    try writer.commit()
    // What lies before is erased from the parts afterwards.
    #expect(try archive.offsets() == [0, 3, 4])
    #expect(writer.progress?.ledger.forgotten == 1)
    #expect(try writer.catalogue.openErasures().map(\.place.offset) == [1])
  }
}
