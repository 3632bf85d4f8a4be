import Foundation
import Primitives
import TestSupport
import Testing

extension IntegrationTests {
  /// The archiver over directories that fail.
  @Suite(.serialized) struct ArchiverDiskTests {
    static let isRoot = geteuid() == 0

    static func run(_ directory: String) throws -> Program.Run {
      try Program.run(
        ["archiver", "--dir", directory, "--bus", "tcp://127.0.0.1:1", "--metrics", "127.0.0.1:0"],
        limit: .seconds(5))
    }

    @Test func `a directory that cannot be one is told in a line at the start`() throws {
      let folder = try TemporaryFolder()
      try "x".write(toFile: folder.file("file"), atomically: true, encoding: .utf8)
      for directory in [folder.file("file"), folder.file("missing/archive"), "/proc/archive"] {
        let run = try Self.run(directory)
        #expect(run.status == .exited(74), "\(directory): \(run.errors)")
        #expect(run.errorLines.count == 1, "\(run.errors)")
        #expect(run.errors.contains(directory))
      }
    }

    @Test func `a directory of somebody else is told in a line at the start`() throws {
      guard Self.isRoot else { return print("archiver: not root: rights of others are not tried") }
      let folder = try TemporaryFolder()
      let directory = folder.file("archive")
      try FileManager.default.createDirectory(
        atPath: directory, withIntermediateDirectories: false,
        attributes: [.posixPermissions: 0o700])
      // Others may run the program and reach the folder, not write to it.
      let line =
        "chmod 755 \(folder.path) && setpriv --reuid 65534 --regid 65534 --clear-groups "
        + "$EVENTBUS archiver --dir \(directory) --bus tcp://127.0.0.1:1 --metrics 127.0.0.1:0"
      let process = try Program.shell(line)
      #expect(process.wait(.seconds(5)) == .exited(74), "\(process.errorOutput.text)")
      let errors = process.errorOutput.text.split(separator: "\n")
      #expect(errors.count == 1, "\(errors)")
    }

    @Test func `a directory that vanishes and comes back costs nothing`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let lines = EventLine.load(0..<300).split(separator: "\n").map(String.init)
      #expect(try broker.publish(lines: Array(lines[..<100])).status == .exited(0))
      #expect(archiver.waitForCursor(100))
      let aside = archiver.directory + ".aside"
      try FileManager.default.moveItem(atPath: archiver.directory, toPath: aside)
      #expect(try broker.publish(lines: Array(lines[100...])).status == .exited(0))
      #expect(try waitUntil { try archiver.status()["state"]?.text == "waiting" })
      #expect(try archiver.status()["troubleKind"]?.text == "missing")
      #expect(try archiver.readiness() == "503")
      try FileManager.default.moveItem(atPath: aside, toPath: archiver.directory)
      #expect(archiver.waitForCursor(300))
      #expect(try archiver.messageIDs().count == 300)
      #expect(try archiver.readiness() == "200")
      let told = archiver.process.errorOutput.text.split(separator: "\n")
        .filter { $0.contains("archiver.") }
      #expect(told.count == 2, "\(told)")
    }

    @Test func `a cleared directory begins anew with what was not stored yet`() throws {
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker)
      let lines = EventLine.load(0..<300).split(separator: "\n").map(String.init)
      #expect(try broker.publish(lines: Array(lines[..<100])).status == .exited(0))
      #expect(archiver.waitForCursor(100))
      for name in try FileManager.default.contentsOfDirectory(atPath: archiver.directory) {
        try FileManager.default.removeItem(atPath: archiver.directory + "/" + name)
      }
      #expect(try broker.publish(lines: Array(lines[100...])).status == .exited(0))
      #expect(archiver.waitForCursor(300))
      #expect(try archiver.messageIDs().count == 200)
    }

    /// A small disk of its own, or nil when this user may not mount one.
    static func smallDisk(_ folder: TemporaryFolder) throws -> String? {
      let path = folder.file("disk")
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      guard isRoot,
        try ChildProcess("mount", ["-t", "tmpfs", "-o", "size=8m", "tmpfs", path]).wait()
          == .exited(0)
      else {
        print("archiver: no tmpfs can be mounted: the full disk is not tried")
        return nil
      }
      return path
    }

    static func unmount(_ path: String) throws {
      try ChildProcess("umount", ["-l", path]).wait()
    }

    @Test(arguments: [false, true])
    func `a full disk loses nothing, and writing goes on by itself`(isKilled: Bool) throws {
      let folder = try TemporaryFolder()
      guard let disk = try Self.smallDisk(folder) else { return }
      defer { try? Self.unmount(disk) }
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker, directory: disk + "/archive")
      let ballast = disk + "/ballast"
      try Data(count: 7 << 20).write(to: URL(fileURLWithPath: ballast))
      let count = 60_000
      #expect(try broker.publish(input: EventLine.load(0..<count)).status == .exited(0))
      #expect(try waitUntil(.seconds(30)) { try archiver.status()["state"]?.text == "waiting" })
      #expect(try archiver.status()["troubleKind"]?.text == "diskFull")
      #expect(try archiver.readiness() == "503")
      if isKilled { archiver.kill() }
      try FileManager.default.removeItem(atPath: ballast)
      if isKilled { try archiver.start() }
      #expect(archiver.waitForCursor(count), "\(archiver.process.errorOutput.text)")
      let ids = try archiver.messageIDs()
      #expect(ids.count == count)
      #expect(Set(ids).count == count)
      #expect(try archiver.status()["ledger"]?["balanced"] == .bool(true))
      #expect(try waitUntil { try archiver.readiness() == "200" })
      #expect(archiver.stop() == .exited(0))
    }

    @Test func `a disk that fills bit by bit is told once when it begins and once when it ends`()
      throws
    {
      let folder = try TemporaryFolder()
      guard let disk = try Self.smallDisk(folder) else { return }
      defer { try? Self.unmount(disk) }
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker, directory: disk + "/archive")
      // Ever less room: after each fault a little is found, and written full again.
      let ballast = (1...2).map { "\(disk)/ballast\($0)" }
      for (file, bytes) in zip(ballast, [6 << 20, 1 << 20]) {
        try Data(count: bytes).write(to: URL(fileURLWithPath: file))
      }
      let count = 60_000
      #expect(try broker.publish(input: EventLine.load(0..<count)).status == .exited(0))
      for (step, file) in ballast.reversed().enumerated() {
        #expect(
          waitUntil(.seconds(60)) {
            let status = try? archiver.status()
            let cursor = status?["cursor"]?["offset"]?.int ?? 0
            return cursor >= count || status?["failures"]?.int ?? 0 > step
          })
        try FileManager.default.removeItem(atPath: file)
      }
      #expect(archiver.waitForCursor(count), "\(archiver.process.errorOutput.text)")
      #expect(try waitUntil { try archiver.readiness() == "200" })
      #expect(archiver.stop() == .exited(0))
      let told = archiver.process.errorOutput.text.split(separator: "\n")
        .filter { $0.contains("archiver.waiting") || $0.contains("archiver.running") }
      #expect(told.count == 2, "\(told)")
      #expect(told.last?.contains("had failed") == true)
    }

    @Test func `a disk that turns read-only is waited for`() throws {
      let folder = try TemporaryFolder()
      guard let disk = try Self.smallDisk(folder) else { return }
      defer { try? Self.unmount(disk) }
      let broker = try TestBroker()
      let archiver = try TestArchiver(broker, directory: disk + "/archive")
      #expect(try broker.publish(input: EventLine.load(0..<100)).status == .exited(0))
      #expect(archiver.waitForCursor(100))
      // What is open for writing keeps it from turning: the archiver has its catalogue open.
      let remounted = try ChildProcess("mount", ["-o", "remount,ro", disk]).wait() == .exited(0)
      guard remounted else { return print("archiver: the disk cannot be turned read-only here") }
      #expect(try broker.publish(input: EventLine.load(100..<200)).status == .exited(0))
      #expect(try waitUntil { try archiver.status()["state"]?.text == "waiting" })
      #expect(try archiver.status()["troubleKind"]?.text == "notWritable")
      try ChildProcess("mount", ["-o", "remount,rw", disk]).wait()
      #expect(archiver.waitForCursor(200))
      #expect(try archiver.messageIDs().count == 200)
    }
  }
}
