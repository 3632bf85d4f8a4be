import BusProtocol
import EventCodec
import Primitives
import SinkState
import TestSupport
import Testing

@testable import Archive

@Suite struct ForgetTests {
  /// Two parts: anna is in both, bert in the first, and anna comes back behind her request at 6.
  static func archive() throws -> WrittenArchive {
    let archive = try WrittenArchive()
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 0, userId: "anna"))
    try writer.take(GivenEvent(offset: 1, name: "Bought", userId: "bert"))
    try writer.take(GivenEvent(offset: 2, userId: "an\"na"))
    try writer.commit()
    try writer.take(GivenEvent(offset: 3, userId: "carl"))
    try writer.take(GivenEvent(offset: 4, name: "Bought", userId: "anna"))
    try writer.commit()
    return archive
  }

  @Test func `a person's events before the request are gone from the files, later ones stay`()
    throws
  {
    let archive = try Self.archive()
    let before = try archive.parts().map(\.path)
    var writer = try archive.open()
    try writer.take(GivenEvent(offset: 5, userId: "anna"))
    try writer.take(GivenEvent(offset: 6, name: "$forget", userId: "anna"))
    try writer.take(GivenEvent(offset: 7, userId: "anna"))
    try writer.commit()
    try writer.eraseForgotten()
    #expect(try archive.offsets() == [1, 2, 3, 7])
    let catalogue = try Catalogue(reading: archive.directory)
    let parts = try catalogue.parts()
    #expect(parts.map(\.count) == [2, 1, 1])
    #expect(try catalogue.nameCounts().map(\.count) == [1, 3])
    let anna = try #require(PersonHash.hash("anna", by: catalogue.hash))
    #expect(try parts.map { try catalogue.people(of: $0).contains(anna) } == [false, false, true])
    let erasure = try #require(try catalogue.erasures().first)
    #expect(erasure.person == anna)
    #expect(erasure.events == 3)
    #expect(erasure.parts == 3)
    #expect(erasure.finished != nil)
    // Their files are gone with them.
    #expect(try ArchiveCrashTests.files(of: archive).count == 3)
    #expect(Set(before).isDisjoint(with: parts.map(\.path)))
  }

  @Test func `a part that held nobody else is removed`() throws {
    let archive = try WrittenArchive()
    var writer = try archive.begin()
    try writer.take(GivenEvent(offset: 0, userId: "anna"))
    try writer.commit()
    try writer.take(GivenEvent(offset: 1, name: "$forget", userId: "anna"))
    try writer.commit()
    try writer.eraseForgotten()
    #expect(try archive.parts().isEmpty)
    #expect(try ArchiveCrashTests.files(of: archive).isEmpty)
  }

  @Test func `an id that JSON escapes is found in the lines`() throws {
    let archive = try Self.archive()
    var writer = try archive.open()
    try writer.take(GivenEvent(offset: 5, name: "$forget", userId: "an\"na"))
    try writer.commit()
    try writer.eraseForgotten()
    #expect(try archive.offsets() == [0, 1, 3, 4])
  }

  @Test func `an erasing that was interrupted goes on at the next start`() throws {
    let archive = try Self.archive()
    do {
      var writer = try archive.open()
      try writer.take(GivenEvent(offset: 5, name: "$forget", userId: "anna"))
      try writer.commit()
    }
    var writer = try archive.open()
    #expect(try writer.catalogue.openErasures().count == 1)
    try writer.eraseForgotten()
    #expect(try archive.offsets() == [1, 2, 3])
    #expect(try writer.catalogue.openErasures().isEmpty)
  }

  @Test func `a damaged part is named, stays as it is, and keeps the request open`() throws {
    let archive = try Self.archive()
    let path = archive.directory + "/" + (try #require(try archive.parts().first)).path
    var bytes = try fileBytes(path)
    bytes[bytes.count / 2] ^= 0xFF
    try writeFile(path, bytes)
    var writer = try archive.open()
    try writer.take(GivenEvent(offset: 5, name: "$forget", userId: "anna"))
    try writer.commit()
    try writer.eraseForgotten()
    #expect(writer.unerasable.count == 1)
    #expect(try writer.catalogue.openErasures().count == 1)
    #expect(try fileBytes(path) == bytes)
    #expect(try archive.parts().map(\.count) == [3, 1])
  }

  @Test func `no id of a forgotten person is left in any file`() throws {
    let archive = try Self.archive()
    var writer = try archive.open()
    try writer.take(GivenEvent(offset: 5, name: "$forget", userId: "anna"))
    try writer.commit()
    try writer.eraseForgotten()
    let id = Array("anna".utf8)
    for name in try FileSystem.list(archive.directory) where name.hasPrefix("catalogue") {
      let bytes = try fileBytes("\(archive.directory)/\(name)")
      #expect(!contains(bytes, id), "\(name)")
    }
    #expect(try !archive.lines().contains { $0.contains("\"anna\"") })
  }

  private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    bytes.indices.contains { bytes[$0...].starts(with: part) }
  }
}
