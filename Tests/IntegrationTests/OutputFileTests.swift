import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Where commands write what they are told to keep: a file, or stdout.
  @Suite struct OutputFileTests {
    @Test func `refused lines go to stdout where their file is a hyphen`() throws {
      let broker = try TestBroker()
      let folder = try TemporaryFolder()
      let good = EventLine.track("Step", id: "S-1")
      let shell = try Program.shell(
        "cd '\(folder.path)' && printf '{bad\\n%s\\n{worse\\n' '\(good)' "
          + "| $EVENTBUS publish --bus \(broker.bus) --refused - -")
      #expect(shell.wait() == .exited(3), "\(shell.errorOutput.text)")
      #expect(shell.output.lines == ["{bad", "{worse"])
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
      #expect(try broker.stored().messageIDs == ["S-1"])
    }

    @Test func `refused lines that stdout cannot take are told`() throws {
      let broker = try TestBroker()
      let shell = try Program.shell(
        "echo '{bad' | $EVENTBUS publish --bus \(broker.bus) --refused - - > /dev/full")
      #expect(shell.wait() == .exited(3), "\(shell.errorOutput.text)")
      #expect(shell.errorOutput.text.contains("eventbus: stdout: "), "\(shell.errorOutput.text)")
    }

    @Test(arguments: [
      (
        ["publish", "--refused", "-", "--json", "x"], "--refused: stdout is for the line of --json"
      ),
      (
        ["archive", "import", "--dir", "a", "--refused", "-", "--dry-run", "x"], "--refused: stdout"
      ),
      (["bench", "--histogram", "-"], "--histogram: stdout is for the report"),
      (["keys", "generate", "-"], "two files"),
      (["archive", "import", "--dir", "a", "-"], "stdin cannot be imported"),
    ])
    func `a hyphen that can be no file is refused before anything is made`(
      words: [String], message: String
    ) throws {
      let folder = try TemporaryFolder()
      let line = words.joined(separator: " ")
      let shell = try Program.shell("cd '\(folder.path)' && $EVENTBUS \(line)")
      #expect(shell.wait() == .exited(2))
      #expect(shell.errorOutput.text.contains(message), "\(shell.errorOutput.text)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }
}
