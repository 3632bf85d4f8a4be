import Foundation
import TestSupport
import Testing

extension IntegrationTests {
  /// Backups as the runbook has them made.
  @Suite struct BackupTests {
    @Test(.enabled(if: hasTools))
    func `a backup of an archive is whole, though somebody is forgotten while it is made`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let lines = (0..<40).map { EventLine.track("Step", id: "S-\($0)", user: "u\($0 % 4)") }
      #expect(try broker.publish(lines: lines).status == .exited(0))
      #expect(archiver.waitForCursor(40))
      let copy = broker.folder.file("copy")
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
      let (directory, forget) = (archiver.directory, "\(Program.path) archive forget --yes")
      // The request comes when the catalogue is copied and the parts are not.
      let backup = try Program.shell(
        """
        set -e
        flock '\(directory)/lock.maintenance' sh -ec '
          sqlite3 "\(directory)/catalogue.sqlite" ".backup \(copy)/catalogue.sqlite"
          \(forget) --dir "\(directory)" --bus \(broker.bus) --user u1 --timeout 1s || true
          cp -a "\(directory)"/date=* "\(copy)"'
        """)
      #expect(backup.wait() == .exited(0), "\(backup.errorOutput.text)")
      let verified = try Program.run(["archive", "verify", "--dir", copy])
      #expect(verified.status == .exited(0), "\(verified.output)\(verified.errors)")
      // Put back, it forgets what the journal still asks for.
      #expect(archiver.stop() == .exited(0))
      let again = try TestArchiver(broker, directory: copy)
      #expect(again.waitForCursor(41))
      let isForgotten = waitUntil(.seconds(60)) { (try? again.messageIDs().count) == 30 }
      #expect(isForgotten, "\(again.process.errorOutput.text)")
    }

    private static let hasTools =
      (try? Program.shell("command -v sqlite3 && command -v flock").wait()) == .exited(0)
  }
}
