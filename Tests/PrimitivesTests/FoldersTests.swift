internal import Primitives
internal import TestSupport
internal import Testing

struct FoldersTests {
  @Test func `what is missing above a folder is made, and what is there stays`() throws {
    let folder = try TemporaryFolder()
    try Folders.make(folder.file("a/b/c"))
    try PrivateFile.write([1], to: folder.file("a/b/c/file"))
    try Folders.make(folder.file("a/b/c/"))
    #expect(try PrivateFile.read(folder.file("a/b/c/file")) == [1])
  }

  @Test func `a file in the way is named`() throws {
    let folder = try TemporaryFolder()
    try PrivateFile.write([1], to: folder.file("file"))
    do throws(SystemError) {
      try Folders.make(folder.file("file/b"))
      Issue.record("made a folder in a file")
    } catch {
      #expect("\(error)".contains(folder.file("file/b")))
    }
  }

  @Test(arguments: [
    ("/a/b", "/a"), ("a/b/", "a"), ("/a", nil), ("a", nil), ("/", nil), ("", nil), ("//b", "/"),
  ])
  func `a path's folder is what stands before its last part`(path: String, parent: String?) {
    #expect(Folders.parent(of: path) == parent)
  }
}
