import Archive
import Foundation
import Primitives
import TestSupport
import Testing

struct ImportIdentityTests {
  private static func identity(
    _ digest: UInt8 = 1, archive: UInt8 = 1, _ subscribers: [String] = ["archiver"]
  ) -> ImportIdentity {
    ImportIdentity(
      digest: [UInt8](repeating: digest, count: 32), archive: [archive], subscribers: subscribers)
  }

  @Test func `the same content for the same subscribers is the same producer`() {
    #expect(Self.identity() == Self.identity())
    #expect(Self.identity(1, ["a", "b"]) == Self.identity(1, ["b", "a", "b"]))
    let others = [
      Self.identity(2), Self.identity(archive: 2), Self.identity(1, ["archiver", "aggregator"]),
    ]
    for other in others { #expect(other.producer != Self.identity().producer) }
    #expect(Self.identity().producer.count == 16)
  }

  @Test func `ids go by content and line alone`() {
    let one = Self.identity()
    let ids = Set((1...1000).map { one.messageId(line: $0) })
    #expect(ids.count == 1000)
    #expect(Self.identity(archive: 2, ["x"]).messageId(line: 7) == one.messageId(line: 7))
    #expect(Self.identity(2).messageId(line: 7) != one.messageId(line: 7))
    let text = one.messageId(line: 7).description
    #expect(text.utf8.count == 36)
    #expect(Array(text)[14] == "8")
  }
}

struct ImportFilesTests {
  @Test func `a folder is walked in order and other files are passed over`() throws {
    let folder = try TemporaryFolder()
    let files = [
      "logs/b/2.gz", "logs/b/10.gz", "logs/a/x.ndjson", "logs/a/y.jsonl", "logs/z.json",
      "logs/README.md", "logs/.hidden.gz", "logs/.git/a.gz", "single.txt",
    ]
    for file in files {
      let path = URL(fileURLWithPath: folder.file(file))
      try FileManager.default.createDirectory(
        at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("12345".utf8).write(to: path)
    }
    let found = try ImportFiles([folder.file("logs"), folder.file("single.txt")])
    let expected = ["a/x.ndjson", "a/y.jsonl", "b/10.gz", "b/2.gz", "z.json"].map {
      folder.file("logs/\($0)")
    }
    #expect(found.files.map(\.path) == expected + [folder.file("single.txt")])
    #expect(found.passedOver == 1)
    #expect(found.bytes == 30)
  }

  @Test func `a folder is walked once, however many links lead to it`() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("logs/sub"), withIntermediateDirectories: true)
    try Data("1".utf8).write(to: URL(fileURLWithPath: folder.file("logs/sub/x.gz")))
    // Each level would be twice as wide as the one before.
    for link in ["logs/sub/back", "logs/sub/again", "logs/twice"] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.file(link), withDestinationPath: folder.file("logs"))
    }
    let found = try ImportFiles([folder.file("logs"), folder.file("logs/sub")])
    #expect(found.files.map(\.path) == [folder.file("logs/sub/x.gz")])
  }

  @Test func `a loop of links ends`() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("self"), withDestinationPath: ".")
    try Data("1".utf8).write(to: URL(fileURLWithPath: folder.file("a.gz")))
    #expect(try ImportFiles([folder.file("")]).files.count == 1)
  }

  @Test func `a path that is not there is named`() throws {
    let error = #expect(throws: ArchiveError.self) { try ImportFiles(["/no/such/file.gz"]) }
    #expect(error?.kind == .missing)
    #expect(error?.text.contains("/no/such/file.gz") == true)
  }
}
