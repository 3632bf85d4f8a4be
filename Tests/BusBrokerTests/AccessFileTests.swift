import BusTransport
import Primitives
import TestSupport
import Testing

@testable import BusBroker

/// The file of keys, and what a key's holder may subscribe to.
struct AccessFileTests {
  let folder: TemporaryFolder
  let file: AccessFile

  init() throws {
    folder = try TemporaryFolder()
    file = AccessFile(directory: folder.path)
  }

  private func entry(_ name: String, publish: [String] = ["*"]) throws -> AccessKey {
    var rights = AccessRights()
    rights.publish = publish
    rights.subscribe = ["Game *", " with blanks ", #"a\*b # c"#]
    rights.administer = ["archiver"]
    return AccessKey(
      name: name, key: try CurveKeyPair.generate().publicKey, since: "2026-11-30T10:00:00Z",
      rights: rights)
  }

  @Test func `what is written is read again`() throws {
    let keys = [try entry("shop"), try entry("two words")]
    try file.change { $0 = keys }
    #expect(try file.load() == keys)
  }

  @Test func `no file is no key`() throws { #expect(try file.load().isEmpty) }

  @Test func `a change of many at once loses none`() async throws {
    let entries = try (0..<20).map { try entry("key \($0)") }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for entry in entries {
        group.addTask { [file] in try file.change { $0.append(entry) } }
      }
      try await group.waitForAll()
    }
    #expect(try Set(file.load()) == Set(entries))
  }

  @Test(arguments: [
    ("nonsense", ":1:"), ("eventbus-keys 2", ":1:"), ("eventbus-keys 1\npublish *", ":2:"),
    ("eventbus-keys 1\nkey short name", ":2:"), ("eventbus-keys 1\n\nrights *", ":3:"),
  ])
  func `a line that is none is named`(text: String, place: String) throws {
    try PrivateFile.write(Array(text.utf8), to: file.path)
    do throws(AccessFile.Failure) {
      _ = try file.load()
      Issue.record("read \(text)")
    } catch {
      #expect("\(error)".hasPrefix(file.path + place))
    }
  }

  @Test func `names and patterns that would not come back are refused`() throws {
    for bad in ["", "a\nkey", "a\u{0}", String(repeating: "x", count: 401)] {
      #expect(throws: AccessFile.Failure.self) {
        let key = try entry("shop", publish: [bad])
        try file.change { $0 = [key] }
      }
    }
    let twice = [try entry("shop"), try entry("shop")]
    #expect(throws: AccessFile.Failure.self) { try file.change { $0 = twice } }
    #expect(try file.load().isEmpty)
  }

  @Test(arguments: [
    ("Game Ended\0", true), ("Game ", true), ("Game Ended", true), ("$HEAD/Game Ended\0", true),
    ("", false), ("Game", false), ("Order\0", false), ("$HEAD/", false), ("$HEAD/Order\0", false),
    ("\0", false), ("$HEAD/Game Ended", false),
  ])
  func `a live topic is measured by the names that it lets through`(topic: String, isAllowed: Bool)
    throws
  {
    let holder = AccessHolder(try entry("shop"))
    #expect(LiveGuard.isAllowed(Array(topic.utf8), holder) == isAllowed)
  }

  @Test func `a user that the authenticator did not name has no key`() throws {
    let key = try entry("shop")
    let control = AccessControl([key])
    let user = Array(control.user(of: key.key).utf8)
    #expect(control.key(in: user) == Array("\(key.key)".utf8))
    #expect(control.key(in: Array("\(key.key)".utf8)) == nil)
    #expect(control.key(in: [UInt8](repeating: 0x30, count: 32) + Array("\(key.key)".utf8)) == nil)
    #expect(AccessControl([key]).key(in: user) == nil)
  }
}
