import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// A directory that does not let this user in: what is in it is not taken for missing.
  @Suite struct ClosedDirectoryTests {
    /// Runs the program as somebody else in a folder of root's with a `data` directory; nil where that cannot be.
    private func run(_ words: String) throws -> (status: ChildProcess.Status, text: String)? {
      guard ArchiverDiskTests.isRoot else {
        print("closed directories: not root: rights of others are not tried")
        return nil
      }
      let folder = try TemporaryFolder()
      try FileManager.default.createDirectory(
        atPath: folder.file("data/archive"), withIntermediateDirectories: true)
      let shell = try Program.shell(
        "chmod 755 '\(folder.path)' && chmod 700 '\(folder.file("data"))' && cd '\(folder.path)' && "
          + "setpriv --reuid 65534 --regid 65534 --clear-groups $EVENTBUS \(words) 2>&1")
      let status = shell.wait()
      return (status, shell.output.text)
    }

    @Test(arguments: [
      "journal info", "journal verify", "deadletters list --destination webhook",
      "archive query --dir data/archive", "archive verify --dir data/archive",
      "archive compact --dir data/archive", "aggregator", "keys list",
    ])
    func `a command says that it may not look, not that nothing is there`(_ command: String) throws
    {
      let data = command.hasPrefix("archive") ? "" : " --data data"
      guard let (status, text) = try run(command + data) else { return }
      #expect(status != .exited(0))
      #expect(text.contains("Permission denied"), "\(text)")
      #expect(!text.contains("there is no") && !text.contains("is no archive"), "\(text)")
    }

    @Test func `a service that cannot make its directory names that one`() throws {
      guard let (_, text) = try run("aggregator --data mine --port-base 0") else { return }
      #expect(text.contains("mkdir mine: Permission denied"), "\(text)")
    }

    @Test func `doctor does not call healthy what it may not look at`() throws {
      let doctor = "doctor --data data --bus tcp://127.0.0.1:1 --timeout 100ms"
      guard let (status, text) = try run(doctor) else { return }
      #expect(status == .exited(1))
      #expect(text.contains("data does not let this user in"), "\(text)")
    }
  }
}
